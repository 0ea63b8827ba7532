"""friend-train theory: what the error of agreed pseudo-labels should be, before any model is trained."""

import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from friend_training.analysis.error_rates import (
    corrected_error_rate,
    match_probability,
    needed_friend_accuracy,
    needed_size,
    printed_error_rate,
    simulate_agreement,
    uniform_epsilon,
)
from friend_training.bridges.bridge import Bridge, PredicateFinder
from friend_training.cli.options import DataDir, PageFormat, PageOption, tell_page
from friend_training.errors import ConfigError, DataError
from friend_training.report.progress import counting
from friend_training.runs.files import read_json_lines
from friend_training.types import ROLES, Sentence, SentenceRoles

# `friend-train agreement`: how wrong agreed pseudo-labels are, measured and by the formula.


COLUMNS = {
    "eta_a": "η_a",
    "eta_b": "η_b",
    "epsilon": "ε",
    "agreed": "agreed",
    "expected_agreed": "expected",
    "error": "error",
    "corrected_error": "formula",
    "printed_error": "as printed",
    "agreed_when_both_right": "agreed if both right",
    "rho": "ρ",
}


def agreement(
    runs: Annotated[list[Path], typer.Argument(help="Run folders, or one .jsonl file that --out wrote before.")],
    method: Annotated[str, typer.Option(help="The method whose store is read.")] = "fdt",
    out: Annotated[Path | None, typer.Option(help="Also append the records to this file.")] = None,
    data_dir: Annotated[Path | None, typer.Option(help="The folder of public datasets.")] = None,
    format: PageOption = PageFormat.TERMINAL,
) -> None:
    """Compare the error of agreed pseudo-labels with the theory's formula (docs/theory.md).

    η_a and η_b are the shares of right predictions, ε how often the friends agree on different dialogues; 'error' is
    the share of wrong ones among what they agree on, beside what the corrected and the printed formula give for these
    η_a, η_b and ε. ρ is the dependence that would explain how often friends agree where the first is wrong.
    """
    if len(runs) == 1 and runs[0].suffix == ".jsonl":
        records = read_json_lines(runs[0], "a record of this command", needed=("iteration", *COLUMNS))
    else:
        from friend_training.study.agreement import agreement_of_run

        records = []
        for run in runs:
            with counting(Console(stderr=True), f"data of {run.name}") as progress:
                records += agreement_of_run(run, method, data_dir, progress)
    if out is not None:
        with out.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(record, sort_keys=True) + "\n" for record in records)
    tell_page("\n".join(_markdown(records)), format)


def _markdown(records: list[dict[str, Any]]) -> list[str]:
    """One row per iteration, means over the runs."""
    lines = [f"| iteration | runs | {' | '.join(COLUMNS.values())} |", "|--:|" + "--:|" * (len(COLUMNS) + 1)]
    for iteration in sorted({record["iteration"] for record in records}):
        rows = [record for record in records if record["iteration"] == iteration]
        cells = []
        for column in COLUMNS:
            values = [row[column] for row in rows if row[column] is not None]
            cells.append(f"{fmean(values):.3f}" if values else "")
        lines.append(f"| {iteration} | {len(rows)} | {' | '.join(cells)} |")
    return lines


# `friend-train bridges`: what each sentence-level SRL parser makes of a sentence, side by side.


LTP_FOLDER = "ltp-tiny-zh-srl"

WIDTH = 80


def bridges(
    sentences: Annotated[list[str] | None, typer.Argument(help="Sentences, each in quotes.")] = None,
    models: Annotated[
        Path | None,
        typer.Option(envvar="FRIEND_TRAINING_MODELS", help=f"Folder that holds the models, {LTP_FOLDER} among them."),
    ] = None,
    file: Annotated[Path | None, typer.Option(help="A file with one sentence per line.")] = None,
    own: Annotated[
        Path | None, typer.Option(help="Also ask a bridge of ours: the folder 'bridge' that a run or experiment made.")
    ] = None,
    ltp_package: Annotated[
        str | None, typer.Option(help="Also ask the package ltp with this model: a hub name or a folder.")
    ] = None,
    hanlp: Annotated[
        str | None, typer.Option(help="Also ask the package hanlp with this model: a name of hanlp.pretrained.mtl.")
    ] = None,
) -> None:
    """Print the arguments that each bridge finds for the predicates of the given sentences."""
    # Torch and the parsers take seconds to import: `friend-train --help` should not.
    from friend_training.bridges.bridge import FramedVerbFinder
    from friend_training.bridges.ltp import LtpParser
    from friend_training.tasks.csrl.task import open_bridge

    texts = [*(sentences or ()), *(_lines(file) if file is not None else ())]
    if not texts:
        raise ConfigError("no sentence given: put sentences in quotes, or name a file with --file")
    if models is None:
        raise ConfigError("no models given: name their folder with --models or FRIEND_TRAINING_MODELS")
    ltp = LtpParser.load(models / LTP_FOLDER)
    trained = [] if own is None else [open_bridge(own)]
    asked: list[Bridge] = [ltp, *trained, *_packages(ltp_package=ltp_package, hanlp=hanlp)]
    show(texts, asked, finder=FramedVerbFinder(ltp), console=Console(width=min(WIDTH, Console().width)))


def show(texts: Sequence[str], bridges: Sequence[Bridge], *, finder: PredicateFinder, console: Console) -> None:
    """One table per sentence: a row for each predicate found, a column for each bridge."""
    found = zip(texts, finder.find(texts), strict=True)
    asked = [Sentence(str(i), text, predicates) for i, (text, predicates) in enumerate(found)]
    labelled = [bridge.label(asked) for bridge in bridges]
    for i, sentence in enumerate(asked):
        console.print(Text(sentence.text, style="bold"))
        if not sentence.predicates:
            console.print(Text("  no predicate found", style="dim"))
            continue
        table = Table("predicate", *(bridge.name for bridge in bridges), show_lines=True)
        for k, predicate in enumerate(sentence.predicates):
            cells = [_arguments(sentence.text, answers[i][k]) for answers in labelled]
            table.add_row(Text(sentence.text[predicate.start : predicate.end]), *cells)
        console.print(table)


def _arguments(text: str, roles: SentenceRoles) -> Text:
    ordered = sorted(roles.arguments, key=lambda argument: (ROLES.index(argument.role), argument.start))
    lines = [f"{argument.role:<4} {text[argument.start : argument.end]}" for argument in ordered]
    return Text("\n".join(lines)) if lines else Text("-", style="dim")


def _packages(*, ltp_package: str | None, hanlp: str | None) -> list[Bridge]:
    from friend_training.bridges.bridge import ParserBridge
    from friend_training.bridges.hanlp import HanlpParser
    from friend_training.bridges.ltp import LtpPackageParser

    asked: list[Bridge] = []
    if ltp_package is not None:
        asked.append(ParserBridge(LtpPackageParser(ltp_package)))
    if hanlp is not None:
        asked.append(ParserBridge(HanlpParser(hanlp)))
    return asked


def _lines(file: Path) -> list[str]:
    if not file.is_file():
        raise DataError("no such file; expected a text file with one sentence per line", path=file)
    return [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


# friend-train diagnose: a finished run looked into with dev, whose gold is known.


def diagnose(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder.")],
    method: Annotated[str, typer.Option(help="The method whose models are looked at.")] = "fdt",
    examples: Annotated[int, typer.Option(min=0, metavar="N", help="Show N examples of each kind of error.")] = 10,
    data_dir: DataDir = None,
    audited: Annotated[
        bool, typer.Option("--audited", help="Only say how precise the choice is, by the answers to friend-train ask.")
    ] = False,
    within: Annotated[float, typer.Option(help="With --audited: how closely it is to be known.")] = 0.05,
    seed: Annotated[int, typer.Option(help="With --audited: the --seed of friend-train ask.")] = 0,
    format: PageOption = PageFormat.TERMINAL,
) -> None:
    """Say what the models of a run would choose on dev, and why it is wrong.

    The models of each iteration label the dev dialogues as if they had
    no labels. Tables: how many pseudo-labels matching and confidence
    choose and how many of those are right, and how many would be if
    fewer were chosen; how often the friends agree by chance (ε) and how
    far their errors hang together; of the paper's pair, what the bridge
    gets wrong. Then N examples each of errors that only matching
    catches, of those that only confidence catches, of right labels that
    matching throws away, and of the bridge's failures.

    All of it is kept in RUN/diagnosis/: the page, and the numbers alone.

    With --audited no model is asked: of what the last iteration chose
    for each task, the share that is right with its interval, from the
    random checks of friend-train ask that a person has answered, and
    how many more checks would pin it down.
    """
    if audited:
        for line in _audits(run, method, within, seed):
            typer.echo(line)
        return
    from friend_training.inference.diagnosis import diagnosis_of
    from friend_training.study.folders import whole_run

    folder = whole_run(run)
    with counting(Console(stderr=True), f"dev of {folder.name}") as progress:
        page = diagnosis_of(folder, method, data_dir, progress, examples=examples)
    tell_page(page, format)


def _audits(run: Path, method: str, within: float, seed: int) -> list[str]:
    import pyarrow.compute as pc

    from friend_training.analysis.audit import answers_of, audit_so_far
    from friend_training.study.folders import selected_run

    opened = selected_run(run, method)
    rows = opened.store.read(opened.store.iterations()[-1])
    found = []
    for task in sorted(set(rows["task"].to_pylist())):
        of_task = rows.filter(pc.equal(rows["task"], task))
        found.append(audit_so_far(task, of_task, answers_of(opened.folder, task), seed=seed).in_words(within))
    return found


# friend-train friends: which tasks would make good friends, before anything is trained.


def friends(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Predictions, a .jsonl file for each task.")],
    means: Annotated[
        Path | None, typer.Option(help="A YAML file: what labels of one task mean to another.", show_default="learned")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the shuffles by which agreement by chance is counted.")] = 0,
) -> None:
    """Rank possible friends by predictions that you already have.

    Each file has the predictions of one task, called after the file:
      {"id": "12.3", "label": "joy", "confidence": 0.8, "gold": "joy"}
    The same id is the same text in every file. Confidence and gold may
    be missing; with the gold of some 100 dev texts the table says what a
    friend is worth, without it only whether the two agree more often
    than predictions for different texts do (excess).

    In per cent: "wrong" of a task's labels are wrong, "agreed" of those
    that the friend agrees with, "by chance" of those that it would agree
    with if it looked at other texts. Lift is what the friend's word
    tells: the last less the one before. φ is the correlation of errors:
    friends that err together check each other badly, however good they
    are (friend-train theory).

    --means has a table for each pair of files, others are learned, each
    text's from the other texts:
      emotion-polarity: {joy: positive, anger: negative, surprise: null}

    Try: friend-train friends emotion.jsonl polarity.jsonl stars.jsonl
    """
    from friend_training.core.limits import read_yaml
    from friend_training.friendships.candidates import means_of, rank_friends, read_predictions

    tasks = [read_predictions(file) for file in files]
    given = {}
    if means is not None:
        text = means.read_text(encoding="utf-8")
        given = means_of(read_yaml(text, str(means)), [one.task for one in tasks])
    ranked = rank_friends(tasks, given, seed=seed)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for column in ("task", "friend"):
        table.add_column(column, overflow="fold")
    for column in ("texts", "agree", "excess", "wrong", "agreed", "by\nchance", "lift", "φ"):
        table.add_column(column, justify="right", no_wrap=True)
    for one in ranked:
        excess = f"{100 * one.excess:.1f}" + ("?" if one.by_chance_alone else "")
        shares = (one.wrong, one.wrong_if_agreed, one.wrong_if_shuffled, one.lift)
        cells = ["" if share is None else f"{100 * share:.1f}" for share in shares]
        phi = "" if one.correlation is None else f"{one.correlation:.2f}"
        names = (Text(one.task), Text(one.friend))
        table.add_row(*names, f"{one.texts:,}", f"{100 * one.agreed:.1f}", excess, *cells, phi)
    Console().print(table)
    if any(one.by_chance_alone for one in ranked):
        typer.echo("?: these agree no more often than by chance; such a friend has little to say.")
    if all(one.lift is None for one in ranked):
        typer.echo("No file has gold for 50 texts, so what a friend is worth is not known: excess ranks them.")


_ACCURACIES = [0.7]

_SIZES = [10]

_SIMULATION_SEED = 0


def theory(
    eta_a: Annotated[list[float], typer.Option(help="η_a, accuracy of the task. Repeat for a grid.")] = _ACCURACIES,
    eta_b: Annotated[list[float], typer.Option(help="η_b, accuracy of its friend. Repeat for a grid.")] = _ACCURACIES,
    sigma: Annotated[list[int], typer.Option(help="|Σ|, size of the common space. Repeat for a grid.")] = _SIZES,
    rho: Annotated[float, typer.Option(help="ρ, how often the friend merely copies: 0 never, 1 always.")] = 0.0,
    target_error: Annotated[
        float | None, typer.Option(help="Also say what |Σ| or what η_b reaches this error.")
    ] = None,
    simulate: Annotated[
        int | None, typer.Option(min=1, help="Also simulate so many inputs, with explicit labels and tables.")
    ] = None,
) -> None:
    """Say how often a pseudo-label is wrong although two friends agree on it.

    Without a friend, 1 − η_a of a model's own labels are wrong.
    Friend-training keeps what two models of different tasks agree on
    after both answers are translated into a common space Σ. Wrong
    answers meet there only by chance, ε = 1/|Σ|: the larger Σ and the
    better the friend, the cleaner the labels that are kept. A friend
    that copies (ρ) is no check, however large Σ is.

    Columns: "agreed" is the share that is kept; "printed" the error
    by the paper's Eq. 3; "corrected" the error with its both-wrong
    term put right (only this one knows ρ). --simulate draws labels and
    translation tables, and shows which of the two holds.

    Try: friend-train theory --eta-a 0.3 --eta-b 0.3 --simulate 200000
    """
    table = Table(
        title=_title(rho, target_error),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    columns = ["η_a", "η_b", "|Σ|", "agreed", "printed", "corrected"]
    columns += [] if simulate is None else ["simulated\n± s.e."]
    columns += [] if target_error is None else ["needs\n|Σ|", "needs\nη_b"]
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    settings = list(product(eta_a, eta_b, sigma))
    progress = Console(stderr=True)
    for a, b, size in track(settings, "simulating", console=progress, transient=True, disable=simulate is None):
        table.add_row(*_row(a, b, size, rho=rho, target_error=target_error, simulate=simulate))
    Console().print(table)


def _title(rho: float, target_error: float | None) -> str:
    target = "" if target_error is None else f", target error {target_error:g}"
    return f"Error of agreed pseudo-labels (ρ = {rho:g}{target})"


def _row(
    eta_a: float, eta_b: float, size: int, *, rho: float, target_error: float | None, simulate: int | None
) -> list[str]:
    epsilon = uniform_epsilon(size)
    cells = [
        f"{eta_a:g}",
        f"{eta_b:g}",
        str(size),
        f"{match_probability(eta_a, eta_b, epsilon, rho=rho):.3f}",
        f"{printed_error_rate(eta_a, eta_b, epsilon):.4f}",
        f"{corrected_error_rate(eta_a, eta_b, epsilon, rho=rho):.4f}",
    ]
    if simulate is not None:
        labels = max(100_000, 20 * size)
        seen = simulate_agreement(
            eta_a,
            eta_b,
            size,
            inputs=simulate,
            seed=_SIMULATION_SEED,
            rho=rho,
            labels=labels,
            tables=max(1 + 1_000_000 // labels, simulate // 1_000_000),  # about a million inputs or labels at a time
        )
        cells.append("none agreed" if seen.error is None else f"{seen.error:.4f} ± {seen.error_se:.4f}")
    if target_error is not None:
        needed_sigma = needed_size(target_error, eta_a, eta_b, rho=rho)
        needed_eta = needed_friend_accuracy(target_error, eta_a, epsilon, rho=rho)
        cells.append("none" if needed_sigma is None else str(needed_sigma))
        cells.append("none" if needed_eta is None else f"{needed_eta:.3f}")
    return cells
