"""friend-train labels and ask: the pseudo-labels of a run as a file or a dataset, and those that a person should look
at.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import yaml
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from friend_training.cli.options import DataDir, Push, config_with
from friend_training.errors import ConfigError, DataError, RunError
from friend_training.runs.files import atomic_file, atomic_folder, check_output, read_json_lines, write_text
from friend_training.tasks.label_text import label_line, turns_of

if TYPE_CHECKING:
    from friend_training.runs.run import Run
    from friend_training.study.data import KnownData


COLUMNS = {
    "task": "string",
    "iteration": "int64",
    "input": "string",
    "unit": "string",
    "text": "string",  # the turns of a dialogue one below the other
    "data": "string",  # the input as JSON, where it is more than a text
    "label": "string",  # a class as its name, any other label as JSON
    "confidence": "double",
    "match": "double",
    "overall": "double",
    "threshold": "double",
    "chosen": "bool",
    "reason": "string",
    "correct": "bool",
}
FROM_STORE = ("task", "input", "unit", "confidence", "match", "overall", "threshold", "chosen", "reason", "correct")


def labels(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder.", show_default=False)],
    out: Annotated[
        Path,
        typer.Option(metavar="FILE", help="A .jsonl or .parquet file, or a folder to make.", show_default=False),
    ],
    task: Annotated[
        str | None, typer.Option(metavar="NAME", help="Labels of this task alone.", show_default="all tasks")
    ] = None,
    chosen: Annotated[bool, typer.Option("--chosen", help="Only those that the next model learnt from.")] = False,
    method: Annotated[
        str | None, typer.Option(help="Whose pseudo-labels.", show_default="fdt, else the last that has some")
    ] = None,
    iteration: Annotated[
        int | None, typer.Option(min=1, help="Of which iteration.", show_default="the last one")
    ] = None,
    push: Push = None,
    data_dir: DataDir = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a FILE that is already there.")] = False,
) -> None:
    """Write the pseudo-labels of a run, with their texts and scores.

    One line or row per unit: text, label, confidence, match, overall
    score, threshold, whether it was chosen and why, and, where the data
    can tell, whether it is right. A folder becomes a dataset that
    datasets.load_dataset opens, with a card; --push uploads it too.

    Try: friend-train labels runs/demo --out labels.jsonl --chosen
    """
    from friend_training.cli.results import ensure_inputs_of, labelled_method
    from friend_training.study.folders import files_of, run_config, whole_run

    folder = whole_run(run)
    config = run_config(folder) if task is None else config_with(folder, task)
    endings = {".jsonl": _write_jsonl, ".parquet": _write_parquet}
    if out.suffix and out.suffix not in endings:
        raise ConfigError(f"{out}: a file that ends in .jsonl or .parquet, or a folder without an ending, was expected")
    if push is not None and out.suffix:
        raise ConfigError(f"--push: a dataset is a folder; {out} is a file")
    name, of_method = labelled_method(folder, method)
    number = iteration or max(of_method.store.iterations())
    notes = Console(stderr=True, highlight=False, soft_wrap=True)
    ensure_inputs_of(folder, data_dir, notes)
    rows = _rows(folder, of_method, number, task, chosen)
    if out.suffix:
        check_output(out, force=force)
        with atomic_file(out) as temporary:
            count = endings[out.suffix](rows, temporary)
    else:
        if out.exists():
            raise RunError(f"{out} is already there; choose another folder")
        # Only now: they load torch.
        from friend_training.inference.export import push_folder
        from friend_training.study.data import known_data

        with atomic_folder(out) as new:
            count = _write_parquet(rows, new / "labels.parquet")
            known = known_data(config, files_of(folder, data_dir) or Path())
            card = _card(config.name, name, number, count, known, chosen=chosen)
            (new / "README.md").write_text(card, encoding="utf-8")
    notes.print(f"{out}: {count:,} pseudo-labels of {name}, iteration {number}", markup=False)
    if push is not None:
        notes.print(f"uploaded: {push_folder(out, push, 'dataset')}", markup=False)


def _rows(folder: Path, run: "Run", iteration: int, task: str | None, chosen: bool) -> Iterator[list[dict[str, Any]]]:
    """A shard at a time."""
    from friend_training.runs.inputs import saved_inputs

    for shard in run.store.shards(iteration) or [0]:
        found = [
            row
            for row in run.store.selected(iteration, shard, [*FROM_STORE, "label"]).to_pylist()
            if (task is None or row["task"] == task) and (row["chosen"] or not chosen)
        ]
        inputs = saved_inputs(folder, (row["input"] for row in found))
        yield [_row(row, iteration, inputs) for row in found]


def _row(row: Mapping[str, Any], iteration: int, inputs: Mapping[str, str]) -> dict[str, Any]:
    given = json.loads(inputs[row["input"]]) if row["input"] in inputs else None
    label = json.loads(row["label"])
    lines = [f"{speaker}: {said}" if speaker else said for speaker, said in turns_of(given)]
    plain = given is None or given.keys() <= {"id", "text"}
    return {
        **{name: row[name] for name in FROM_STORE},
        "iteration": iteration,
        "text": "\n".join(lines) if given is not None else None,
        "data": None if plain else inputs[row["input"]],
        "label": label if isinstance(label, str) else row["label"],
    }


def _write_jsonl(shards: Iterator[list[dict[str, Any]]], path: Path) -> int:
    """Structured labels and inputs are JSON here, not text."""
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for rows in shards:
            for row in rows:
                told = {name: row[name] for name in COLUMNS}
                told["data"] = None if row["data"] is None else json.loads(row["data"])
                if row["label"][:1] in ("{", "["):
                    told["label"] = json.loads(row["label"])
                file.write(json.dumps(told, ensure_ascii=False) + "\n")
            count += len(rows)
    return count


def _write_parquet(shards: Iterator[list[dict[str, Any]]], path: Path) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema, count = pa.schema(list(COLUMNS.items())), 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for rows in shards:
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))
            count += len(rows)
    return count


def _card(name: str, method: str, iteration: int, count: int, known: "KnownData", *, chosen: bool) -> str:
    """README.md in the form that dataset hubs read."""
    files = [{"config_name": "default", "data_files": "labels.parquet"}]
    front = yaml.safe_dump(
        {"tags": ["friend-training", "pseudo-labels"], **known.front, "configs": files}, sort_keys=False
    )
    origin = f" (known datasets that the run learnt from: {known})" if known.corpora else ""
    kind = "chosen pseudo-labels" if chosen else "pseudo-labels, chosen or not"
    return f"""\
---
{front}---
# Pseudo-labels of {name}

{count:,} {kind}, made by `{method}` in iteration {iteration}. No person has checked them: `confidence` is the model's
own, `match` how far its friend agrees, `correct`, where it is known, comes from gold that no model has seen.

The texts are those of the run's unlabeled data: their licence is that of where they came from{origin}.
"""


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
    from friend_training.runs.inputs import saved_inputs
    from friend_training.study.folders import selected_run, whole_run

    opened = selected_run(run, method)
    if answers is not None:
        typer.echo(f"{_take_in(opened.folder, answers)} answers of {answers} are corrections of this run now.")
    rows = opened.store.read(iteration or opened.store.iterations()[-1])
    names = sorted(set(rows["task"].to_pylist()))
    if task is not None and task not in names:
        raise ConfigError(f"--task {task}: this run has {', '.join(names)}")
    asked, table = [], Table("task", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for title in ("unit", "label", "conf.", "match", "asked because"):
        table.add_column(title, overflow="fold")
    for name in names if task is None else [task]:
        of_task = rows.filter(pc.equal(rows["task"], name))
        known = answers_of(opened.folder, name)
        typer.echo(audit_so_far(name, of_task, known, seed=seed).in_words(within))
        asked += questions(of_task, n, audit=audit, seed=seed, answered=known)
    if asked:
        path = out or run / _QUESTIONS
        texts = saved_inputs(whole_run(run), (one.input for one in asked))
        for one in asked:
            match = "" if one.match is None else f"{one.match:.2f}"
            given = json.loads(texts[one.input]) if one.input in texts else None
            label = Text(label_line(json.loads(one.label), given))
            table.add_row(one.task, Text(one.unit), label, f"{one.confidence:.2f}", match, one.why)
        write_text(path, "".join(_lines_of(asked, texts)))
        Console().print(table)
        typer.echo(f"{len(asked)} questions are in {path}. Answer there, then: friend-train ask {run} --answers {path}")


def _lines_of(asked: Sequence[Any], texts: Mapping[str, str]) -> list[str]:
    """The questions with the text they are about, where the run has it, and room for the answer."""
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
