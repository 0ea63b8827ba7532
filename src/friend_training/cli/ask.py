"""friend-train ask: the pseudo-labels that a person should look at, and the answers that come back."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from friend_training.errors import ConfigError, DataError
from friend_training.runs.files import read_json_lines, write_text

_QUESTIONS = "questions.jsonl"


def ask(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder, or that of one of its methods.")],
    n: Annotated[int, typer.Option("--n", min=0, help="The units of each task whose answer would tell most.")] = 50,
    audit: Annotated[int, typer.Option(min=0, help="Chosen units of each task, drawn at random.")] = 20,
    answers: Annotated[
        Path | None, typer.Option(help="First take in this file: questions that a person has answered.")
    ] = None,
    method: Annotated[str, typer.Option(help="The method whose pseudo-labels are asked about.")] = "fdt",
    task: Annotated[str | None, typer.Option(help="Ask about this task.", show_default="all")] = None,
    iteration: Annotated[int | None, typer.Option(min=1, help="Of which iteration.", show_default="the last")] = None,
    within: Annotated[float, typer.Option(help="Say how many checks pin the precision down this closely.")] = 0.05,
    seed: Annotated[int, typer.Option(help="Of the random sample; keep it from round to round.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Write the questions here.", show_default=f"RUN/{_QUESTIONS}")
    ] = None,
) -> None:
    """Write down the pseudo-labels that a person should look at.

    Two kinds. Of some the answer would tell most: the friends disagree
    and the model is unsure, the best of each kind of label in turn.
    Others are drawn at random from what was chosen: they alone say how
    precise the choice is.

    The file has one JSON object per line. To answer, set "verdict" to
    "accepted", "rejected" or "corrected", and then "right" to the right
    label in the form of "label". Give the file back with --answers: the
    answers are kept as corrections, which count from the next selection
    on, and the precision of what was chosen is estimated from all
    answers to random ones so far.

    Try: friend-train ask runs/demo --n 20
         friend-train ask runs/demo --answers runs/demo/questions.jsonl
    """
    import pyarrow.compute as pc

    from friend_training.analysis.audit import answers_of, audit_so_far, questions
    from friend_training.study.folders import selected_run, whole_run

    opened = selected_run(run, method)
    if answers is not None:
        typer.echo(f"{_take_in(opened.folder, answers)} answers of {answers} are corrections of this run now.")
    rows = opened.store.read(iteration or opened.store.iterations()[-1])
    names = sorted(set(rows["task"].to_pylist()))
    if task is not None and task not in names:
        raise ConfigError(f"--task {task}: this run has {', '.join(names)}")
    asked, table = [], Table("task", "unit", "label", "conf.", "match", "asked because", box=box.SIMPLE_HEAD)
    for name in names if task is None else [task]:
        of_task = rows.filter(pc.equal(rows["task"], name))
        known = answers_of(opened.folder, name)
        typer.echo(audit_so_far(name, of_task, known, seed=seed).in_words(within))
        asked += questions(of_task, n, audit=audit, seed=seed, answered=known)
    for one in asked:
        match = "" if one.match is None else f"{one.match:.2f}"
        label = one.label if len(one.label) <= _LABEL_WIDTH else f"{one.label[: _LABEL_WIDTH - 1]}…"
        table.add_row(one.task, Text(one.unit), Text(label), f"{one.confidence:.2f}", match, one.why)
    if asked:
        path = out or run / _QUESTIONS
        write_text(path, "".join(_lines_of(asked, whole_run(run))))
        Console().print(table)
        typer.echo(f"{len(asked)} questions are in {path}. Answer there, then: friend-train ask {run} --answers {path}")


_LABEL_WIDTH = 30


def _lines_of(asked: Sequence[Any], folder: Path) -> list[str]:
    """The questions with the text they are about, where the run has it, and room for the answer."""
    from friend_training.runs.inputs import saved_inputs

    texts = saved_inputs(folder, (one.input for one in asked))
    lines = []
    for one in asked:
        given = json.loads(texts[one.input]) if one.input in texts else None
        record = {"verdict": None, "right": None, **asdict(one), "label": json.loads(one.label), "text": given}
        lines.append(json.dumps(record, ensure_ascii=False) + "\n")
    return lines


def _take_in(folder: Path, path: Path) -> int:
    """Keep the answers of a file as corrections; all of them are checked before the first is kept."""
    from friend_training.runs.corrections import Correction, save_correction

    found = []
    records = read_json_lines(path, "a question of friend-train ask", needed=("task", "unit", "label", "verdict"))
    for number, record in enumerate(records, start=1):
        verdict, label, right = record["verdict"], record["label"], record.get("right")
        if verdict is None:
            continue
        if verdict not in ("accepted", "rejected", "corrected"):
            message = f"verdict {verdict!r}: expected accepted, rejected, corrected or null"
            raise DataError(message, path=path, line=number)
        if (right is not None) != (verdict == "corrected") or (right is not None and _form(right) != _form(label)):
            message = f"right is {right!r}: a corrected unit needs the right label, in the form of {label!r}"
            raise DataError(message[:300], path=path, line=number)
        kept = {"accepted": label, "corrected": right, "rejected": None}[verdict]
        found.append(Correction(record["task"], record["unit"], verdict, kept))
    for correction in found:
        save_correction(folder, correction)
    return len(found)


def _form(label: Any) -> Any:
    return (type(label), sorted(label) if isinstance(label, dict) else None)
