"""friend-train evaluate: score a trained model on somebody's test file."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from friend_training.cli.device import Device
from friend_training.cli.progress import counting
from friend_training.corpora.read import Loaded, read_examples
from friend_training.corpora.sniff import FORMATS

if TYPE_CHECKING:
    from friend_training.nn.torch_task import TorchTask

REWRITING = {
    "rouge_l": "ROUGE-L",
    "em": "EM (exact match)",
    "wer": "WER (less is better)",
    "bleu": "BLEU",
    "restored_f1": "restored F1",
}
CSRL = {
    "": "all arguments",
    "within_": "inside the utterance",
    "cross_": "in earlier turns",
    "string_": "as strings per role (CSAGN)",
}
_SHOWN_PROBLEMS = 3

TaskName = Annotated[
    Literal["csrl", "rewriting"], typer.Option("--task", help="Which of the run's two tasks.", show_default=False)
]
Method = Annotated[
    str | None, typer.Option(help="Whose model to take.", show_default="fdt, else the last method of the config")
]


def evaluate(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder.", show_default=False)],
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Labelled dialogues, plain or gzip.", show_default=False)
    ],
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
    """Score a model of a run on a file of labelled dialogues.

    Takes the model of the iteration that was best on dev. The file may
    be our own JSONL (docs/data-formats.md) or any of the public formats
    as it was published. Long dialogues lose their oldest turns.

    CSRL is scored by exact role and span: in total, inside the
    utterance, in earlier turns, and as strings per role. Rewriting is
    scored on all cases and on those that edits can build at all.

    Try: friend-train evaluate runs/demo test.jsonl --task rewriting
    """
    loaded: Loaded[Any] = read_examples(file, task, format=format, strict=strict)
    notes = Console(stderr=True)
    _tell_problems(loaded, file, notes)
    # Only now torch: a bad file is told at once.
    from friend_training.scenarios.opening import open_task

    opened = open_task(run, task, method, device=device)
    with counting(notes, f"scoring {len(loaded.examples):,} dialogues") as opened.task.progress:
        columns = _score(opened.task, loaded.examples)
    source = {"method": opened.method, "iteration": opened.iteration}
    if as_json:
        record = {"task": task, **source, "file": file.name, "format": loaded.format, "skipped": len(loaded.problems)}
        typer.echo(json.dumps(record | {"scores": columns}, ensure_ascii=False))
        return
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"{task} of {opened.method}, iteration {opened.iteration}, on {file.name}", markup=False)
    console.print(_csrl_table(columns["all"]) if task == "csrl" else _rewriting_table(columns))


def _score(task: "TorchTask", examples: list[Any]) -> dict[str, dict[str, float]]:
    """Metrics in percent, for all examples and, in rewriting, for those that edits can build (DESIGN 5.10)."""
    definition = task.definition
    predictions = task.predict(definition.inputs_of(examples))
    columns = {"all": _column(definition.score(examples, predictions), len(examples))}
    if definition.name == "rewriting":
        from friend_training.tasks.rewriting.edits import build_script

        source = definition.span_source  # type: ignore[attr-defined]
        built = [
            n for n, e in enumerate(examples) if build_script(e.dialogue, e.rewrite, span_source=source) is not None
        ]
        scores = definition.score([examples[n] for n in built], [predictions[n] for n in built]) if built else {}
        columns["buildable"] = _column(scores, len(built))
    return columns


def _column(metrics: Mapping[str, float], examples: int) -> dict[str, float]:
    return {"examples": examples, **metrics}


def _csrl_table(scores: Mapping[str, float]) -> Table:
    table = _table(f"{scores['examples']:,} dialogues", "P", "R", "F1")
    for prefix, words in CSRL.items():
        table.add_row(words, *(f"{scores[prefix + name]:.1f}" for name in ("precision", "recall", "f1")))
    return table


def _rewriting_table(columns: Mapping[str, Mapping[str, float]]) -> Table:
    table = _table("", *(f"{name} {scores['examples']:,}" for name, scores in columns.items()))
    for metric, words in REWRITING.items():
        table.add_row(words, *(f"{scores[metric]:.1f}" if metric in scores else "–" for scores in columns.values()))
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
