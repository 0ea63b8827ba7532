"""friend-train predict: label dialogues with a trained model, a few hundred at a time."""

import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from friend_training.analysis.metrics import metric_spec
from friend_training.cli.options import Device, config_with
from friend_training.core.task import Prediction
from friend_training.data.jsonl import csagn_object, rast_plus_line, to_line
from friend_training.data.read import FORMATS, Loaded, read_examples, sniff, stream_examples
from friend_training.data.text_io import Problems
from friend_training.errors import ConfigError, DataError
from friend_training.report.progress import counting
from friend_training.runs.files import atomic_file, check_output
from friend_training.study.config import FriendsConfig
from friend_training.tasks.rewriting.edits import rewrite_or_utterance
from friend_training.types import SPEAKER, CsrlExample, Dialogue, Predicate, RewritingExample, Roles

if TYPE_CHECKING:
    from friend_training.nn.task import TorchTask
    from friend_training.study.open import OpenedTask


# friend-train evaluate: score a trained model on somebody's test file.


REWRITING = ("rouge_l", "em", "wer", "bleu", "restored_f1")

PUBLISHED = ("rouge_l_distinct", "wer_joined", "restoration_1", "restoration_2", "restoration_3")
"""The same by the formulas of published tools, to stand beside the numbers of papers."""

CSRL = {
    "": "all arguments",
    "within_": "inside the utterance",
    "cross_": "in earlier turns",
    "string_": "as strings per role (CSAGN)",
}

_SHOWN_PROBLEMS = 3


TaskName = Annotated[str, typer.Option("--task", metavar="NAME", help="Which task of the run.", show_default=False)]

Method = Annotated[
    str | None, typer.Option(help="Whose model to take.", show_default="fdt, else the last method of the config")
]


def evaluate(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder.", show_default=False)],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Labelled examples, plain or gzip.", show_default=False)],
    task: TaskName,
    method: Method = None,
    format: Annotated[
        str | None, typer.Option(metavar="F", help=f"Told by the first line unless given: {', '.join(FORMATS)}.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail at the first bad line instead of skipping it.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
    device: Device = "auto",
) -> None:
    """Score a model of a run on a labelled file.

    Takes the model of the iteration that was best on dev. For a task
    with files of your own the file has the columns that gold had: CSV,
    TSV, JSONL or Parquet. For the paper's pair it may be our own JSONL
    (docs/data-formats.md) or any of the public formats as it was
    published. Long dialogues lose their oldest turns.

    CSRL is scored by exact role and span: in total, inside the
    utterance, in earlier turns, and as strings per role. Rewriting is
    scored on all cases and on those that edits can build at all, by
    our formulas and by those of published tools.

    Try: friend-train evaluate runs/demo test.jsonl --task rewriting
    """
    config = config_with(run, task)
    if isinstance(config, FriendsConfig):
        refuse_for_dialogues(config.name, {"--format": format})
        _evaluate_own(config, run, task, file, method=method, as_json=as_json, device=device)
        return
    loaded: Loaded[Any] = read_examples(file, cast("Any", task), format=format, strict=strict)
    notes = Console(stderr=True)
    _tell_problems(loaded, file, notes)
    # Only now torch: a bad file is told at once.
    from friend_training.study.open import open_task

    opened = open_task(run, task, method, device=device)
    trained = cast("TorchTask", opened.task)
    with counting(notes, f"scoring {len(loaded.examples):,} dialogues") as trained.progress:
        columns = _score(trained, loaded.examples)
    source = {"method": opened.method, "iteration": opened.iteration}
    if as_json:
        record = {"task": task, **source, "file": file.name, "format": loaded.format, "skipped": len(loaded.problems)}
        typer.echo(json.dumps(record | {"scores": columns}, ensure_ascii=False))
        return
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"{task} of {_which(opened)}, on {file.name}", markup=False)
    console.print(_csrl_table(columns["all"]) if task == "csrl" else _rewriting_table(columns))


def refuse_for_dialogues(name: str, options: Mapping[str, object]) -> None:
    """Options that only dialogues of the paper's pair have."""
    given = [option for option, value in options.items() if value not in (None, "jsonl")]
    if given:
        raise ConfigError(f"{' and '.join(given)}: this is for CSRL and rewriting, and {name} has other tasks")


def _which(opened: "OpenedTask") -> str:
    """The method of a model, and which iteration was its best: none, if Base was."""
    iteration = f"iteration {opened.iteration}" if opened.iteration else "its Base"
    return "base" if opened.method == "base" else f"{opened.method}, {iteration}"


def _evaluate_own(
    config: FriendsConfig, run: Path, task: str, file: Path, *, method: str | None, as_json: bool, device: str
) -> None:
    # Only now torch.
    from friend_training.study.kinds import read_file
    from friend_training.study.open import open_task

    examples = read_file(config, task, file)
    if not examples:
        raise DataError(f"no example of task {task} is in this file", path=file)
    opened = open_task(run, task, method, device=device)
    with counting(Console(stderr=True), f"scoring {len(examples):,} examples"):
        scores = dict(opened.task.evaluate(examples))
    source = {"method": opened.method, "iteration": opened.iteration}
    if as_json:
        record = {"task": task, **source, "file": file.name, "scores": {"all": {"examples": len(examples), **scores}}}
        typer.echo(json.dumps(record, ensure_ascii=False))
        return
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"{task} of {_which(opened)}, on {file.name}", markup=False)
    table = _table("", f"all {len(examples):,}")
    for metric, value in scores.items():
        table.add_row(metric_spec(metric).title_and_direction, metric_spec(metric).text(value))
    console.print(table)


def _score(task: "TorchTask", examples: list[Any]) -> dict[str, dict[str, float]]:
    """Metrics in percent, for all examples and, in rewriting, for those that edits can build."""
    definition = task.definition
    predictions = task.predict(definition.inputs_of(examples))
    if definition.name != "rewriting":
        return {"all": _column(definition.score(examples, predictions), len(examples))}
    from friend_training.tasks.rewriting.edits import build_script
    from friend_training.tasks.rewriting.metrics import published_scores

    def scored(numbers: Sequence[int]) -> dict[str, float]:
        asked, answers = [examples[n] for n in numbers], [predictions[n] for n in numbers]
        texts = definition.texts(asked, answers)  # type: ignore[attr-defined]
        gold, before = [e.rewrite for e in asked], [e.dialogue.utterance.text for e in asked]
        return _column({**definition.score(asked, answers), **published_scores(texts, gold, before)}, len(asked))

    source = definition.span_source  # type: ignore[attr-defined]
    built = [n for n, e in enumerate(examples) if build_script(e.dialogue, e.rewrite, span_source=source) is not None]
    return {"all": scored(range(len(examples))), "buildable": scored(built) if built else _column({}, 0)}


def _column(metrics: Mapping[str, float], examples: int) -> dict[str, float]:
    return {"examples": examples, **metrics}


def _csrl_table(scores: Mapping[str, float]) -> Table:
    metrics = ("precision", "recall", "f1")
    table = _table(f"{scores['examples']:,} dialogues", *(metric_spec(name).title for name in metrics))
    for prefix, words in CSRL.items():
        table.add_row(words, *(metric_spec(name).text(scores[prefix + name]) for name in metrics))
    return table


def _rewriting_table(columns: Mapping[str, Mapping[str, float]]) -> Table:
    table = _table("", *(f"{name} {scores['examples']:,}" for name, scores in columns.items()))
    for metric in (*REWRITING, *PUBLISHED):
        spec = metric_spec(metric)
        cells = [spec.text(scores[metric]) if metric in scores else "–" for scores in columns.values()]
        table.add_row(spec.title_and_direction, *cells)
    return table


def _table(first: str, *others: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right")
    return table


def _tell_problems(loaded: Loaded[Any], file: Path, notes: Console) -> None:
    if loaded.problems:
        notes.print(
            f"{file}: {len(loaded.problems)} bad lines are left out", markup=False, highlight=False, soft_wrap=True
        )
    for problem in loaded.problems[:_SHOWN_PROBLEMS]:
        notes.print(f"  line {problem.line}: {problem.message}", markup=False, highlight=False, soft_wrap=True)


# A labelled dialogue as one line, in our own format with confidences or as public evaluation scripts read it.


PredictionFormat = Literal["jsonl", "rast-plus", "csagn"]

_ONLY_FOR = {"rast-plus": "rewriting", "csagn": "csrl"}


def check_format(task: str, format: PredictionFormat) -> None:
    only = _ONLY_FOR.get(format, task)
    if only != task:
        raise ConfigError(
            f"--format {format} is for --task {only}; for {task} there is " + " and ".join(_formats(task))
        )


def prediction_line(dialogue: Dialogue, predictions: Sequence[Prediction], format: PredictionFormat) -> str:
    """The line without its line feed. A dialogue that asked for nothing has no predictions and is written as it is."""
    if predictions and not isinstance(predictions[0].label, Roles):
        [prediction] = predictions
        text = rewrite_or_utterance(dialogue, prediction.label)
        if format == "rast-plus":
            return rast_plus_line(text)
        example = RewritingExample(dialogue, text)
        return _dumped(json.loads(to_line(example)) | {"confidence": _rounded(prediction)})
    example_ = CsrlExample(dialogue, tuple(_writable(prediction.label) for prediction in predictions))
    if format == "csagn":
        return _dumped(csagn_object(example_))
    line = json.loads(to_line(example_))
    for predicate, prediction in zip(line["predicates"], predictions, strict=True):
        predicate["confidence"] = _rounded(prediction)
    return _dumped(line)


def _writable(roles: Roles) -> Roles:
    """A span from a speaker token into the words is written as its words: the formats know only bare speaker tokens."""
    arguments = (replace(a, start=0) if a.start == SPEAKER and a.end > 0 else a for a in roles.arguments)
    return replace(roles, arguments=tuple(arguments))


def _rounded(prediction: Prediction) -> float:
    """Six digits that count: the product of many decisions may be very small."""
    return float(f"{prediction.confidence:.6g}")


def _dumped(line: dict[str, object]) -> str:
    return json.dumps(line, ensure_ascii=False)


def _formats(task: str) -> list[str]:
    return ["jsonl", *(name for name, only in _ONLY_FOR.items() if only == task)]


CHUNK = 256
"""Dialogues labelled at a time: enough to fill batches of equal length, few enough for any memory."""


STANDARD_INPUT = Path("-")


Labelled = tuple[Dialogue, list["Prediction"]]

Finder = Callable[[list[str]], list[tuple[Predicate, ...]]]


def predict(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder.", show_default=False)],
    task: TaskName,
    file: Annotated[
        Path, typer.Argument(metavar="[FILE]", help="Inputs, plain or gzip; - reads standard input.")
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
    """Label inputs with a model of a run.

    For a task with files of your own the inputs stand in the column that
    gold had them in, or in "text" or "words": CSV, TSV, JSONL, Parquet or
    plain text, one a line (standard input: JSONL). Written is one JSON
    object per input: id, text or words, label, and a confidence from 0 to
    1; where a task has no answer the label is null.

    For the paper's pair it reads dialogues, one JSON object per line (docs/data-formats.md), such as
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
    if out is not None:
        check_output(out, force=force)
    config = config_with(run, task)
    notes = Console(stderr=True, highlight=False, soft_wrap=True)
    if isinstance(config, FriendsConfig):
        refuse_for_dialogues(config.name, {"--format": format, "--input-format": input_format, "--ltp": ltp})
        with _file(file) as path:
            _write(_predict_own(config, run, task, path, method=method, device=device, notes=notes), out)
        return
    check_format(task, format)
    with _file(file) as path:
        name = "standard input" if file == STANDARD_INPUT else str(file)
        known = input_format or ("jsonl" if file == STANDARD_INPUT else sniff(path))
        total, without = _look_through(path, name, known, notes)
        if task == "csrl" and ltp is None:
            _expect_predicates(name, total, without, notes)
        # Only now torch: what is wrong with the input is told at once.
        from friend_training.study.open import open_task

        opened = cast("TorchTask", open_task(run, task, method, device=device).task)
        dialogues = _dialogues(path, name, known)
        asked = (
            dialogues if task == "rewriting" or ltp is None else _with_predicates(dialogues, _ltp_finder(ltp, device))
        )
        with counting(notes, f"labelling {total:,} dialogues") as progress:
            labelled = _label(opened, asked, lambda done: progress(done, total))
            _write((prediction_line(*one, format) for one in labelled), out)


def _predict_own(
    config: FriendsConfig, run: Path, task: str, path: Path, *, method: str | None, device: str, notes: Console
) -> Iterator[str]:
    """All rows are read before the first is labelled: what is wrong with one is told at once."""
    from friend_training.inference.trained_tasks import labelled_inputs
    from friend_training.study.kinds import read_inputs
    from friend_training.study.open import open_task

    inputs = read_inputs(config, task, path)
    if not inputs:
        raise DataError("there is nothing to label in it", path=path)
    opened = open_task(run, task, method, device=device).task
    with counting(notes, f"labelling {len(inputs):,} inputs") as progress:
        yield from map(_dumped, labelled_inputs(opened, inputs, lambda done: progress(done, len(inputs))))


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
    from friend_training.bridges.bridge import FramedVerbFinder
    from friend_training.bridges.ltp import LtpParser

    return FramedVerbFinder(LtpParser.load(folder, device=device)).find


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
        copy = Path(folder) / "input.jsonl"
        with copy.open("wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream)
        yield copy
