"""`friend-train compare`: results as a table, for the terminal, a page or a paper."""

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from friend_training.cli.lists import listed_seeds

if TYPE_CHECKING:
    from friend_training.scenarios.gathering import Groups, Result


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


def compare(
    places: Annotated[
        list[Path], typer.Argument(metavar="FOLDER...", help="An experiment's folder, or finished run folders.")
    ],
    show: Annotated[
        Shown,
        typer.Option(
            help="Scores on test, on dev by iteration, how precise the chosen were, every score on test, how far FDT is"
            " ahead of each method with 95 % intervals, the same for each seed, or the scores beside those of the"
            " paper's Table 1."
        ),
    ] = (Shown.SCORES),
    format: Annotated[TableFormat, typer.Option(help="How the table is written.")] = TableFormat.TERMINAL,
    against: Annotated[str, typer.Option(help="The method that the others are tested against.")] = "fdt",
    seeds: Annotated[str | None, typer.Option(help="Only these seeds, such as 1,2: methods on equal terms.")] = None,
) -> None:
    """Compare methods, from the results of an experiment or of runs.

    Means and standard deviations over seeds; the best of each column in
    bold; a star where a method differs from FDT in a paired bootstrap
    over the test dialogues, seeds pooled. Runs of one config with
    different seeds make one table; every other config, or variant of an
    experiment, has a table of its own. Where methods were run with
    different seeds, the table says with how many.

    Try: friend-train compare runs/mine-seed1 runs/mine-seed2
    """
    from friend_training.scenarios.gathering import gather

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
    typer.echo("\n\n".join(tables))


def _only(groups: "Groups", seeds: str | None) -> "Groups":
    wanted = listed_seeds(seeds)
    if wanted is None:
        return groups
    kept = {title: [result for result in results if result.seed in wanted] for title, results in groups.items()}
    return {title: results for title, results in kept.items() if results}


def _scores(groups: "Groups", format: TableFormat, against: str) -> None:
    from friend_training.evaluation.tables import to_csv, to_latex, to_markdown, to_rich
    from friend_training.scenarios.comparing import comparison_table

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
    from friend_training.scenarios.comparing import dev_rows

    titles, rows = dev_rows(results)
    lines = [f"| Method | Iteration | {' | '.join(titles)} |", f"|---|--:|{'--:|' * len(titles)}"]
    for method, iteration, values in rows:
        cells = " | ".join("" if value is None else f"{value:.1f}" for value in values)
        lines.append(f"| {method} | {iteration} | {cells} |")
    return "\n".join(lines)


def _details(results: "list[Result]") -> str:
    from friend_training.scenarios.comparing import detail_rows

    methods, rows = detail_rows(results)
    lines = [f"| Score on test | {' | '.join(methods)} |", f"|---|{'--:|' * len(methods)}"]
    for name, values in rows:
        cells = " | ".join("" if value is None else f"{value:.1f}" for value in values)
        lines.append(f"| {name} | {cells} |")
    return "\n".join(lines)


def _chosen(results: "list[Result]") -> str:
    from friend_training.scenarios.comparing import chosen_rows

    lines = ["| Method | Task | Iteration | chosen | with content | precision |", "|---|---|--:|--:|--:|--:|"]
    for method, task, iteration, chosen, content, precision in chosen_rows(results):
        right = "" if precision is None else f"{100 * precision:.1f}"
        lines.append(f"| {method} | {task} | {iteration} | {chosen:,.0f} | {content:,.0f} | {right} |")
    return "\n".join(lines)


def _differences(results: "list[Result]", against: str) -> str:
    from friend_training.scenarios.comparing import SIGNIFICANT, difference_rows

    star = "\\*"
    titles, rows = difference_rows(results, against=against)
    lines = [f"| {titles[0]} minus | {' | '.join(titles[1:])} |", f"|---|{'--:|' * len(titles[1:])}"]
    for method, found in rows:
        cells = [
            ""
            if one is None
            else f"{one.difference:+.1f} [{one.low:+.1f}, {one.high:+.1f}]" + star * (one.p_value < SIGNIFICANT)
            for one in found
        ]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _by_seed(results: "list[Result]", against: str) -> str:
    from statistics import fmean, stdev

    from friend_training.scenarios.comparing import seed_rows

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
    from friend_training.evaluation.tables import to_markdown
    from friend_training.scenarios.papers_table import beside_the_paper

    return to_markdown(beside_the_paper(results, against=against))
