"""`friend-train bridges`: what each sentence-level SRL parser makes of a sentence, side by side."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from friend_training.errors import ConfigError, DataError
from friend_training.examples import ROLES, Sentence, SentenceRoles
from friend_training.tasks.srl.bridge import Bridge
from friend_training.tasks.srl.predicates import PredicateFinder

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
    from friend_training.tasks.srl.ltp import LtpParser
    from friend_training.tasks.srl.predicates import VerbFinder
    from friend_training.tasks.srl.task import open_bridge

    texts = [*(sentences or ()), *(_lines(file) if file is not None else ())]
    if not texts:
        raise ConfigError("no sentence given: put sentences in quotes, or name a file with --file")
    if models is None:
        raise ConfigError("no models given: name their folder with --models or FRIEND_TRAINING_MODELS")
    ltp = LtpParser.load(models / LTP_FOLDER)
    trained = [] if own is None else [open_bridge(own)]
    asked: list[Bridge] = [ltp, *trained, *_packages(ltp_package=ltp_package, hanlp=hanlp)]
    show(texts, asked, finder=VerbFinder(ltp), console=Console(width=min(WIDTH, Console().width)))


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
    from friend_training.tasks.srl.hanlp import HanlpParser
    from friend_training.tasks.srl.ltp_package import LtpPackageParser
    from friend_training.tasks.srl.parsed import ParserBridge

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
