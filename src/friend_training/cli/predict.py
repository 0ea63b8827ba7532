"""friend-train predict: label dialogues with a trained model, a few hundred at a time."""

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from friend_training.cli.device import Device
from friend_training.cli.evaluate import Method, TaskName
from friend_training.cli.prediction_lines import PredictionFormat, check_format, prediction_line
from friend_training.cli.progress import counting
from friend_training.core.files import atomic_file, check_output
from friend_training.corpora.problems import Problems
from friend_training.corpora.read import stream_examples
from friend_training.corpora.sniff import sniff
from friend_training.errors import DataError
from friend_training.examples import Dialogue, Predicate

if TYPE_CHECKING:
    from friend_training.core.task import Prediction
    from friend_training.nn.torch_task import TorchTask

CHUNK = 256
"""Dialogues labelled at a time: enough to fill batches of equal length, few enough for any memory."""

STANDARD_INPUT = Path("-")

Labelled = tuple[Dialogue, list["Prediction"]]
Finder = Callable[[list[str]], list[tuple[Predicate, ...]]]


def predict(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder.", show_default=False)],
    task: TaskName,
    file: Annotated[
        Path, typer.Argument(metavar="[FILE]", help="Dialogues, plain or gzip; - reads standard input.")
    ] = STANDARD_INPUT,
    method: Method = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The file to write; it appears when all is done.", show_default="standard output"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is already there.")] = False,
    format: Annotated[PredictionFormat, typer.Option(help="What to write, see above.")] = "jsonl",
    input_format: Annotated[
        str | None, typer.Option(metavar="F", help="Told by the first line unless given; standard input: jsonl.")
    ] = None,
    ltp: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Find predicates with the LTP parser in this folder where none are given."),
    ] = None,
    device: Device = "auto",
) -> None:
    """Label dialogues with a model of a run.

    Reads one JSON object per line (docs/data-formats.md), such as
    {"id": "1", "turns": [{"speaker": "A", "text": "…"}, …]}, or a public
    format. The last turn is labelled. For CSRL a dialogue names the
    predicates that it asks about, "predicates": [{"start": 2, "end": 3}],
    or --ltp finds them. All lines are checked before the first is
    labelled.

    --format jsonl: the dialogue with its label in the same format, and a
    "confidence" from 0 to 1: one in every predicate, or one beside
    "rewrite". --format rast-plus (rewriting): rewritten utterances,
    characters parted by spaces. --format csagn (csrl): one JSON object
    per dialogue with sentid, sent and srl in token indices.

    Try: friend-train predict runs/demo --task rewriting < chat.jsonl
    """
    check_format(task, format)
    if out is not None:
        check_output(out, force=force)
    notes = Console(stderr=True, highlight=False, soft_wrap=True)
    with _file(file) as path:
        name = "standard input" if file == STANDARD_INPUT else str(file)
        known = input_format or ("jsonl" if file == STANDARD_INPUT else sniff(path))
        total, without = _look_through(path, name, known, notes)
        if task == "csrl" and ltp is None:
            _expect_predicates(name, total, without, notes)
        # Only now torch: what is wrong with the input is told at once.
        from friend_training.scenarios.opening import open_task

        opened = open_task(run, task, method, device=device).task
        dialogues = _dialogues(path, name, known)
        asked = (
            dialogues if task == "rewriting" or ltp is None else _with_predicates(dialogues, _ltp_finder(ltp, device))
        )
        with counting(notes, f"labelling {total:,} dialogues") as progress:
            labelled = _label(opened, asked, lambda done: progress(done, total))
            _write((prediction_line(*one, format) for one in labelled), out)


def _look_through(path: Path, name: str, format: str, notes: Console) -> tuple[int, int]:
    """How many dialogues there are and how many of them ask about no predicate; a bad line is an error or a note."""
    problems = Problems(Path(name), strict=format == "jsonl", most=1)
    total = without = 0
    for dialogue in stream_examples(path, "dialogue", problems, format=format):
        total += 1
        without += not dialogue.predicates
    if problems.found:
        first = problems.found[0]
        said = f"{name}: {problems.count} bad lines are left out, first line {first.line}: {first.message}"
        notes.print(said, markup=False)
    if not total:
        raise DataError("there is no dialogue in it; expected one JSON object per line", path=name)
    return total, without


def _expect_predicates(name: str, total: int, without: int, notes: Console) -> None:
    hint = 'CSRL labels the predicates that a dialogue names, "predicates": [{"start": 2, "end": 3}]; or give --ltp DIR'
    if without == total:
        raise DataError(f"no dialogue names a predicate. {hint}", path=name)
    if without:
        notes.print(f"{name}: {without} of {total} dialogues name no predicate and get no label. {hint}", markup=False)


def _dialogues(path: Path, name: str, format: str) -> Iterator[Dialogue]:
    yield from stream_examples(path, "dialogue", Problems(Path(name)), format=format)


def _chunks(dialogues: Iterable[Dialogue]) -> Iterator[list[Dialogue]]:
    stream = iter(dialogues)
    while chunk := list(islice(stream, CHUNK)):
        yield chunk


def _with_predicates(dialogues: Iterable[Dialogue], find: Finder) -> Iterator[Dialogue]:
    for chunk in _chunks(dialogues):
        found = find([dialogue.utterance.text for dialogue in chunk])
        for dialogue, predicates in zip(chunk, found, strict=True):
            yield dialogue if dialogue.predicates else replace(dialogue, predicates=predicates)


def _ltp_finder(folder: Path, device: str) -> Finder:
    from friend_training.tasks.srl.ltp import LtpParser
    from friend_training.tasks.srl.predicates import VerbFinder

    return VerbFinder(LtpParser.load(folder, device=device)).find


def _label(task: "TorchTask", dialogues: Iterable[Dialogue], advanced: Callable[[int], None]) -> Iterator[Labelled]:
    done = 0
    for chunk in _chunks(dialogues):
        yield from zip(chunk, task.predict(chunk), strict=True)
        done += len(chunk)
        advanced(done)


def _write(lines: Iterable[str], out: Path | None) -> None:
    if out is None:
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
        sys.stdout.writelines(line + "\n" for line in lines)
        return
    with atomic_file(out) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(line + "\n" for line in lines)


@contextmanager
def _file(given: Path) -> Iterator[Path]:
    """The file itself, or a copy of standard input: it is read twice."""
    if given != STANDARD_INPUT:
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="friend-train-") as folder:  # Windows opens no temporary file twice
        copy = Path(folder) / "dialogues.jsonl"
        with copy.open("wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream)
        yield copy
