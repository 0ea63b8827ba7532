"""`friend-train experiment`: a table or figure of the results page from nothing, one run per variant and seed."""

import io
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from friend_training.cli.__main__ import STOPPED
from friend_training.cli.options import DataDir, listed, listed_seeds, tell_page
from friend_training.errors import ConfigError, DataError
from friend_training.report.names import duration
from friend_training.report.progress import watching
from friend_training.runs.files import check_output, write_text

if TYPE_CHECKING:
    from friend_training.experiments.experiment import Piece
    from friend_training.experiments.results import Groups, Result


# `friend-train compare`: results as a table, for the terminal, a page or a paper.


class TableFormat(StrEnum):
    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    LATEX = "latex"
    CSV = "csv"


class Shown(StrEnum):
    SCORES = "scores"
    DEV = "dev"
    CHOSEN = "chosen"
    DETAILS = "details"
    DIFFERENCES = "differences"
    SEEDS = "seeds"
    PAPER = "paper"
    SUMMARY = "summary"


def compare(
    places: Annotated[
        list[Path], typer.Argument(metavar="FOLDER...", help="An experiment's folder, or finished run folders.")
    ],
    show: Annotated[
        Shown,
        typer.Option(
            help="Scores on test, on dev by iteration, how precise the chosen were, every score on test, how far FDT is"
            " ahead of each method with 95 % intervals, the same for each seed, the scores beside those of the paper's"
            " Table 1, or a line per folder and task: Base, self-training, friends and the strongest control."
        ),
    ] = (Shown.SCORES),
    format: Annotated[TableFormat, typer.Option(help="How the table is written.")] = TableFormat.TERMINAL,
    against: Annotated[
        str,
        typer.Option(help="The method that the others are tested against; for a summary one, or one for each folder."),
    ] = "fdt",
    seeds: Annotated[str | None, typer.Option(help="Only these seeds, such as 1,2: methods on equal terms.")] = None,
) -> None:
    """Compare methods, from the results of an experiment or of runs.

    Means and standard deviations over seeds; the best of each column in
    bold; a star where a method differs from FDT in a paired bootstrap
    that draws seeds, then test dialogues. With fewer than five seeds no
    star is given. Runs of one config with different seeds make one
    table; every other config, or variant of an experiment, has a table
    of its own. Where methods were run with different seeds, the table
    says with how many.

    Try: friend-train compare runs/mine-seed1 runs/mine-seed2
    """
    from friend_training.experiments.results import gather

    if show is not Shown.SCORES and format in (TableFormat.LATEX, TableFormat.CSV):
        raise ConfigError(f"--format {format}: only --show scores is written so; the others are terminal or markdown")
    if show is Shown.SUMMARY:
        tell_page(_summary(places, against.split(","), seeds), format)
        return
    groups = _only(gather(places), seeds)
    if show is Shown.SCORES:
        _scores(groups, format, against)
        return
    written: dict[Shown, Callable[[list[Result]], str]] = {
        Shown.DEV: _dev,
        Shown.CHOSEN: _chosen,
        Shown.DETAILS: _details,
        Shown.DIFFERENCES: partial(_differences, against=against),
        Shown.SEEDS: partial(_by_seed, against=against),
        Shown.PAPER: partial(_paper, against=against),
    }
    tables = [_heading(title) + written[show](results) for title, results in groups.items()]
    tell_page("\n\n".join(tables), format)


def _only(groups: "Groups", seeds: str | None) -> "Groups":
    wanted = listed_seeds(seeds)
    if wanted is None:
        return groups
    kept = {title: [result for result in results if result.seed in wanted] for title, results in groups.items()}
    return {title: results for title, results in kept.items() if results}


def _scores(groups: "Groups", format: TableFormat, against: str) -> None:
    from friend_training.experiments.comparison import comparison_table
    from friend_training.experiments.tables import to_csv, to_latex, to_markdown, to_rich

    tables = [comparison_table(results, title=title, against=against) for title, results in groups.items()]
    if format is TableFormat.CSV:
        typer.echo(to_csv(*tables))
        return
    for table in tables:
        if format is TableFormat.TERMINAL:
            Console().print(to_rich(table))
        elif format is TableFormat.MARKDOWN:
            typer.echo(_heading(table.title) + to_markdown(table))
        else:
            typer.echo((f"% {table.title}\n" if table.title else "") + to_latex(table))


def _heading(title: str) -> str:
    return f"**{title}**\n\n" if title else ""


def _dev(results: "list[Result]") -> str:
    from friend_training.experiments.comparison import dev_rows

    titles, rows = dev_rows(results)
    lines = [f"| Method | Iteration | {' | '.join(titles)} |", f"|---|--:|{'--:|' * len(titles)}"]
    for method, iteration, values in rows:
        cells = " | ".join("" if value is None else f"{value:.1f}" for value in values)
        lines.append(f"| {method} | {iteration or 'Base'} | {cells} |")
    return "\n".join(lines)


def _details(results: "list[Result]") -> str:
    from friend_training.experiments.comparison import detail_rows

    methods, rows = detail_rows(results)
    lines = [f"| Score on test | {' | '.join(methods)} |", f"|---|{'--:|' * len(methods)}"]
    for name, values in rows:
        cells = " | ".join("" if value is None else f"{value:.1f}" for value in values)
        lines.append(f"| {name} | {cells} |")
    return "\n".join(lines)


def _chosen(results: "list[Result]") -> str:
    from friend_training.experiments.comparison import chosen_rows

    lines = ["| Method | Task | Iteration | chosen | with content | precision |", "|---|---|--:|--:|--:|--:|"]
    for method, task, iteration, chosen, content, precision in chosen_rows(results):
        right = "" if precision is None else f"{100 * precision:.1f}"
        lines.append(f"| {method} | {task} | {iteration} | {chosen:,.0f} | {content:,.0f} | {right} |")
    return "\n".join(lines)


def _differences(results: "list[Result]", against: str) -> str:
    from friend_training.experiments.comparison import difference_rows

    star = "\\*"
    titles, rows = difference_rows(results, against=against)
    lines = [f"| {titles[0]} minus | {' | '.join(titles[1:])} |", f"|---|{'--:|' * len(titles[1:])}"]
    for method, found in rows:
        cells = [
            "" if one is None else f"{one.difference:+.1f} [{one.low:+.1f}, {one.high:+.1f}]" + star * one.significant
            for one in found
        ]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _by_seed(results: "list[Result]", against: str) -> str:
    from statistics import fmean, stdev

    from friend_training.experiments.comparison import seed_rows

    titles, rows = seed_rows(results, against=against)
    lines = [
        f"| {titles[0]} minus | score | {' | '.join(titles[1:])} | mean ± deviation |",
        f"|---|---|{'--:|' * len(titles)}",
    ]
    for method, score, found in rows:
        cells = ["" if one is None else f"{one:+.1f}" for one in found]
        known = [one for one in found if one is not None]
        mean = f"{fmean(known):+.1f}" + (f" ± {stdev(known):.1f}" if len(known) > 1 else "")
        lines.append(f"| {method} | {score} | {' | '.join(cells)} | {mean} |")
    return "\n".join(lines)


def _paper(results: "list[Result]", against: str) -> str:
    from friend_training.experiments.comparison import beside_the_paper
    from friend_training.experiments.tables import to_markdown

    return to_markdown(beside_the_paper(results, against=against))


def _summary(places: Sequence[Path], against: Sequence[str], seeds: str | None) -> str:
    from friend_training.experiments.comparison import summaries
    from friend_training.experiments.results import gather
    from friend_training.methods.registry import METHODS

    if len(against) not in (1, len(places)):
        raise ConfigError(
            f"--against names {len(against)} methods; expected one, or one for each of {len(places)} folders"
        )
    lines = [
        "| setting | score | Base | SST | FDT | friends | over SST | strongest control | over it | seeds |",
        "|---|---|--:|--:|--:|---|--:|---|--:|--:|",
    ]
    for place, friends in zip(places, list(against) * (len(places) if len(against) == 1 else 1), strict=True):
        [(_, results)] = _only(gather([place]), seeds).items()
        for one in summaries(results, friends=friends):
            ours, control = (f"{METHODS[name].title} **{one.cell(name)}**" for name in (one.friends, one.control))
            cells = [place.name, one.title, *(one.cell(name) for name in ("base", "sst", "fdt"))]
            cells += [ours, one.ahead_of("sst"), control, one.ahead_of(one.control), str(one.seeds[friends])]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


Todo = list[tuple["Piece", list[str]]]


def experiment(
    folder: Annotated[Path, typer.Argument(help="The experiment's folder, such as experiments/synthetic-few-shot.")],
    runs: Annotated[Path, typer.Option(help="Where run folders go; they can be resumed and inspected.")] = Path("runs"),
    seeds: Annotated[str | None, typer.Option(help="Only these seeds, such as 1,2.")] = None,
    variants: Annotated[str | None, typer.Option(help="Only these variants of the config.")] = None,
    only: Annotated[
        str | None, typer.Option(help="Only these methods, such as sst,fdt, and what they start from.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="So many runs at once, each in a process of its own.")] = 1,
    data_dir: DataDir = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be run and how long it will take.")
    ] = False,
) -> None:
    """Run a whole table or figure.

    Every method of a config, or of several variants of it, for several
    seeds. Each result is appended to FOLDER/results.jsonl as soon as it
    is there, with its config, seed, data fingerprints, code version and
    seconds. What is finished is never run again; what was stopped goes
    on where it stood.

    Try: friend-train experiment experiments/synthetic-few-shot --dry-run
    """
    from friend_training.experiments.experiment import left, pieces

    made = pieces(folder, runs, seeds=listed_seeds(seeds), variants=listed(variants), only=listed(only))
    todo: Todo = [(piece, left(folder, piece)) for piece in made]
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    if dry_run:
        _tell_time(folder, todo, jobs, console)
        return
    for piece, methods in todo:
        console.print(f"{piece.name}: {', '.join(methods) or 'finished'}", markup=False)
    unfinished = [piece.only(methods) for piece, methods in todo if methods]
    try:
        if jobs > 1 and len(unfinished) > 1:
            _prepare(unfinished, data_dir, console)
            extra = [] if data_dir is None else ["--data-dir", str(data_dir)]
            _in_processes(folder, runs, unfinished, jobs, extra + ([] if only is None else ["--only", only]))
        else:
            _one_by_one(folder, unfinished, data_dir, console)
    except KeyboardInterrupt:
        console.print("Stopped. The same command goes on where it stood.")
        raise typer.Exit(STOPPED) from None


def _tell_time(folder: Path, todo: Todo, jobs: int, console: Console) -> None:
    from friend_training.experiments.estimate import estimate
    from friend_training.experiments.experiment import to_run, unprepared
    from friend_training.experiments.results import read_results

    missing = unprepared([piece.only(methods) for piece, methods in todo if methods])
    expected = estimate([(piece, to_run(piece, m)) for piece, m in todo], read_results(folder), unprepared=missing)
    for (piece, methods), seconds in zip(todo, expected.pieces, strict=True):
        words = f"{', '.join(methods)}: about {duration(seconds)}" if methods else "finished"
        console.print(f"{piece.name}: {words}", markup=False)
    if any(methods for _, methods in todo):
        if expected.resources:
            console.print(f"encoder and bridge: about {duration(expected.resources)}")
        source = f"by {expected.known} earlier results" if expected.known else "by steps and dialogues to label"
        all_of_it = duration(expected.together(1))
        beside = f", with --jobs {jobs} {duration(expected.together(jobs))}" if jobs > 1 else ""
        console.print(f"about {all_of_it} in all{beside} ({source})")


def _one_by_one(folder: Path, todo: Sequence["Piece"], data_dir: Path | None, console: Console) -> None:
    from friend_training.experiments.experiment import run_piece
    from friend_training.report.page import write_report

    for piece in todo:
        with watching(console, piece.config) as listener:
            run_piece(folder, piece, version=_code_version(), data_dir=data_dir, listener=listener, say=console.print)
        write_report(piece.folder)


def _prepare(todo: Sequence["Piece"], data_dir: Path | None, console: Console) -> None:
    """Encoder and bridge, once for all runs that share them."""
    from friend_training.experiments.experiment import prepare, unprepared

    for piece in unprepared(todo):
        with watching(console) as listener:
            prepare(piece, data_dir=data_dir, listener=listener)


def _in_processes(folder: Path, runs: Path, todo: Sequence["Piece"], jobs: int, extra: list[str]) -> None:
    """Runs side by side: torch uses a second core badly on networks this small, a second run uses it well."""
    command = [sys.executable, "-m", "friend_training.cli", "experiment", str(folder), "--runs", str(runs)]

    def work(piece: "Piece") -> int:
        variant = [] if piece.variant is None else ["--variants", piece.variant.name]
        return subprocess.run([*command, *extra, "--seeds", str(piece.config.seed), *variant]).returncode

    workers = ThreadPoolExecutor(jobs)
    try:
        failed = [code for code in workers.map(work, todo) if code]
    finally:
        workers.shutdown(cancel_futures=True)
    if failed:
        raise typer.Exit(1)


def _code_version() -> str:
    """The commit of the code, where it is run from a checkout."""
    here = Path(__file__).parent
    found = subprocess.run(["git", "-C", str(here), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return found.stdout.strip() or "unknown"


# `friend-train figure`: a figure of the paper, drawn from the results of an experiment.


def figure(
    folder: Annotated[Path, typer.Argument(help="The experiment's folder, such as experiments/synthetic-strength.")],
    out: Annotated[Path, typer.Option(help="The file to write: .svg, .png or .pdf.", show_default=False)],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is already there.")] = False,
) -> None:
    """Draw the figure of an experiment from its results.jsonl.

    The experiment says which one: pick thresholds (the paper's figure
    3a), strength of the base model (3b and 3c), co-updating (4); one
    that names none has its methods drawn side by side, task by task.
    Points are means over seeds, bars their standard deviation. Whatever
    has been run so far is drawn.

    Try: friend-train figure experiments/synthetic-strength --out fig.svg
    """
    from friend_training.experiments.figures import draw, panels

    check_output(out, force=force)
    draw(panels(folder), out)
    typer.echo(f"{out} is drawn", err=True)


# `friend-train page`: the tables of a results page, made anew from the results they stand for.


BLOCK = re.compile(r"(<!-- made by: (friend-train|python) (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)


def page(
    context: typer.Context,
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PAGE...", help="Markdown pages with marked tables, such as docs/results.md."),
    ],
    check: Annotated[bool, typer.Option("--check", help="Only say whether the pages are up to date.")] = False,
) -> None:
    """Make every marked table of some pages anew.

    A table stands between '<!-- made by: friend-train COMMAND -->' and '<!-- end -->'; what the command prints takes
    its place. 'python experiments/…' or 'python benchmarks/…' is a program that prints tables of its own. Run it from
    the folder that the commands' paths are meant from.
    """
    made: dict[str, str] = {}

    def table(found: re.Match[str], path: Path) -> str:
        command = f"{found[2]} {found[3]}"
        if command not in made:
            made[command] = _made(context, found[2], found[3], path)
        return f"{found[1]}{made[command]}\n{found[4]}"

    for path in paths:
        before = path.read_text(encoding="utf-8")
        after = BLOCK.sub(partial(table, path=path), before)
        if check and after != before:
            raise DataError("its tables are not those of the results; run the same without --check", path=path)
        if after != before:
            write_text(path, after)


def _made(context: typer.Context, program: str, command: str, page: Path) -> str:
    return _output(context, command) if program == "friend-train" else _printed_by_program(command, page)


def _printed_by_program(command: str, page: Path) -> str:
    """What a program of an experiment or benchmark prints.

    It is run in this process, so that several need torch once; modules of its own folder are forgotten afterwards.
    """
    program, *arguments = shlex.split(command)
    folder = Path(program).parent.resolve()
    if not command.startswith(("experiments/", "benchmarks/")) or not Path(program).is_file():
        raise DataError(f"python {command}: expected a program below experiments/ or benchmarks/", path=page)
    printed, known, before = io.StringIO(), set(sys.modules), (sys.argv, sys.path)
    sys.argv, sys.path = [program, *arguments], [str(folder), *sys.path]
    try:
        with redirect_stdout(printed):
            runpy.run_path(program, run_name="__main__")
    finally:
        sys.argv, sys.path = before
        for name in set(sys.modules) - known:
            if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(folder)):
                del sys.modules[name]
    return printed.getvalue().strip()


def _output(context: typer.Context, command: str) -> str:
    """What another command of this program prints."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        context.find_root().command.main(shlex.split(command), prog_name="friend-train", standalone_mode=False)
    return printed.getvalue().strip()
