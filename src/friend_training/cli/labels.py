"""friend-train labels: the pseudo-labels of a run as a file, or as a dataset with its card."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import yaml
from rich.console import Console

from friend_training.cli.options import DataDir, config_with
from friend_training.errors import ConfigError, RunError
from friend_training.runs.files import atomic_file, atomic_folder, check_output
from friend_training.tasks.label_text import turns_of

if TYPE_CHECKING:
    from friend_training.runs.run import Run

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
    data_dir: DataDir = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a FILE that is already there.")] = False,
) -> None:
    """Write the pseudo-labels of a run, with their texts and scores.

    One line or row per unit: text, label, confidence, match, overall
    score, threshold, whether it was chosen and why, and, where the data
    can tell, whether it is right. A folder becomes a dataset that
    datasets.load_dataset opens, with a card.

    Try: friend-train labels runs/demo --out labels.jsonl --chosen
    """
    from friend_training.cli.results import ensure_inputs_of, labelled_method
    from friend_training.study.folders import run_config, whole_run

    folder = whole_run(run)
    config = run_config(folder) if task is None else config_with(folder, task)
    endings = {".jsonl": _write_jsonl, ".parquet": _write_parquet}
    if out.suffix and out.suffix not in endings:
        raise ConfigError(f"{out}: a file that ends in .jsonl or .parquet, or a folder without an ending, was expected")
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
        with atomic_folder(out) as new:
            count = _write_parquet(rows, new / "labels.parquet")
            card = _card(config.name, name, number, count, chosen=chosen)
            (new / "README.md").write_text(card, encoding="utf-8")
    notes.print(f"{out}: {count:,} pseudo-labels of {name}, iteration {number}", markup=False)


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


def _card(name: str, method: str, iteration: int, count: int, *, chosen: bool) -> str:
    """README.md in the form that dataset hubs read."""
    files = [{"config_name": "default", "data_files": "labels.parquet"}]
    front = yaml.safe_dump({"tags": ["friend-training", "pseudo-labels"], "configs": files}, sort_keys=False)
    kind = "chosen pseudo-labels" if chosen else "pseudo-labels, chosen or not"
    return f"""\
---
{front}---
# Pseudo-labels of {name}

{count:,} {kind}, made by `{method}` in iteration {iteration}. No person has checked them: `confidence` is the model's
own, `match` how far its friend agrees, `correct`, where it is known, comes from gold that no model has seen.

The texts are those of the run's unlabeled data: their licence is that of where they came from.
"""
