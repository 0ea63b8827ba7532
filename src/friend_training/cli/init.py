"""friend-train init: a config for files of your own, after a look at them."""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import yaml
from rich.console import Console

from friend_training.errors import ConfigError
from friend_training.runs.files import check_output, write_text

if TYPE_CHECKING:
    from friend_training.data.tables import Row

LOOKED_AT = 2000
"""Rows that are enough to tell the columns and the labels of a file."""

MOST_LABELS = 50
"""A column with more different values is no column of labels."""

METHODS = ["base", "base-same-steps", "sst", "fdt", "fdt-shuffled", "friend-labels"]
KINDS = ("text-classification", "estimator", "token-classification")
ENOUGH = 0.2
"""A meaning that so many of the texts with both labels have."""

WORDS = """\
# {tasks}: written by friend-train init. `friend-train config show {name}` explains every setting.
#
# friend-train run {name} --out runs/{run}

"""


def init(
    out: Annotated[Path, typer.Argument(metavar="CONFIG", help="The config to write, such as reviews.yaml.")],
    task: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND:NAME", help=f"A task; KIND is {', '.join(KINDS)}. Give two or more."),
    ] = None,
    gold: Annotated[list[str] | None, typer.Option(metavar="FILE", help="Labels to train on, one per task.")] = None,
    dev: Annotated[list[str] | None, typer.Option(metavar="FILE", help="Dev, one per task or one for all.")] = None,
    test: Annotated[list[str] | None, typer.Option(metavar="FILE", help="Test, one per task or one for all.")] = None,
    text: Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="The column of texts or words.")] = None,
    label: Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="The column of labels or tags.")] = None,
    pool: Annotated[str | None, typer.Option(metavar="FILE", help="Unlabeled inputs.", show_default=False)] = None,
    encoder: Annotated[
        str | None, typer.Option(metavar="NAME", help="For tasks with an encoder: a folder, or a name on the hub.")
    ] = None,
    means: Annotated[
        str | None,
        typer.Option(
            metavar="A=B,C=D",
            help="What labels of the first task mean to the second; 'learned' estimates it.",
            show_default="by texts that have both labels, else by name, else learned",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a CONFIG that is already there.")] = False,
) -> None:
    """Write a config for your own files, after a look at them.

    Finds the columns of texts and labels, and what the labels of one
    task mean to its friend. What it cannot tell it asks for, in a
    terminal, or names the option that says it. Paths begin where you
    are.

    Try: friend-train init reviews.yaml --task estimator:mood --gold
    mood.csv --task estimator:polarity --gold polarity.csv --dev dev.csv
    --test test.csv --pool texts.csv
    """
    check_output(out, force=force)
    names = task or _asked("--task", "The tasks, as KIND:NAME, parted by blanks").split()
    if len(names) < 2:
        raise ConfigError("--task: friend-training takes two tasks or more, such as --task estimator:mood")
    sections: dict[str, dict[str, Any]] = {}
    labels: dict[str, list[str]] = {}
    rows: dict[str, list[Row]] = {}
    taken: set[str] = set()
    for number, given in enumerate(names):
        kind, _, name = given.rpartition(":")
        if kind not in KINDS or not name:
            raise ConfigError(f"--task {given}: KIND:NAME was expected, where KIND is {', '.join(KINDS)}")
        section: dict[str, Any] = {"kind": kind}
        if kind != "estimator":
            section["encoder"] = encoder or _asked("--encoder", "The encoder: a folder, or a name on the hub")
        for part, files in (("gold", gold), ("dev", dev), ("test", test)):
            section[part] = _of_task(files, number, len(names), f"--{part}", f"The file of {part} for {name}")
        rows[name] = _rows(section["gold"])
        words = kind == "token-classification"
        first, second = ("words", "tags") if words else ("text", "label")
        section[first] = _column(text, number, len(names), "--text", name, _text_columns(rows[name]), "texts")
        candidates = [column for column in _label_columns(rows[name], words=words) if column != section[first]]
        section[second] = _label_column(label, number, len(names), name, candidates, taken)
        taken.add(section[second])
        labels[name] = sorted({one for row in rows[name] for one in _labels(row, section[second], words=words)})
        sections[name] = section | ({} if words else {"metric": "macro_f1"})
    first, *others = sections
    pool = pool or _asked("--pool", "The file of unlabeled inputs")
    friendships = [
        {"first": first, "second": other, **_friendship(first, other, sections, labels, rows, means)}
        for other in others
    ]
    inputs = _rows(pool)
    column = next((one["text"] for one in sections.values() if one.get("text") in inputs[0].cells), None)
    in_words = next((one["words"] for one in sections.values() if one.get("words") in inputs[0].cells), None)
    of_pool = {"file": pool, "text": column or ("text" if in_words else _text_columns(inputs)[0])}
    config = {
        "name": out.stem,
        "tasks": sections,
        "friendships": friendships,
        "pool": of_pool if in_words is None else {"file": pool, "words": in_words},
        "methods": METHODS,
    }
    front = WORDS.format(tasks=", ".join(sections), name=out, run=out.stem)
    written = front + yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=110, default_flow_style=None)
    from friend_training.study.config import parse_config

    parse_config(written, str(out))
    write_text(out, written)
    notes = Console(stderr=True, highlight=False, soft_wrap=True)
    for name, found in labels.items():
        notes.print(f"{name}: {len(rows[name])} examples, labels {', '.join(found)}", markup=False)
    for one in friendships:
        notes.print(f"{one['first']}-{one['second']}: means {one['means']}", markup=False)
    notes.print(f"{out} is written. Run it: friend-train run {out}", markup=False)


def _asked(option: str, question: str) -> str:
    """What nobody has given: asked for in a terminal, an error elsewhere."""
    if not sys.stdin.isatty():
        raise ConfigError(f"{option} is needed: {question[0].lower()}{question[1:]}")
    answer: str = typer.prompt(question)
    return answer


def _of_task(given: Sequence[str] | None, number: int, tasks: int, option: str, question: str) -> str:
    """The value of one task: there is one for each, or one for all."""
    if not given:
        return _asked(option, question)
    if len(given) not in (1, tasks):
        raise ConfigError(f"{option}: {len(given)} were given, expected one for all or {tasks}, in the order of --task")
    return given[number] if len(given) == tasks else given[0]


def _rows(file: str) -> "list[Row]":
    from itertools import islice

    from friend_training.data.tables import rows_of

    found = list(islice(rows_of(Path(file)), LOOKED_AT))
    if not found:
        raise ConfigError(f"{file}: there is no row in it")
    return found


def _text_columns(rows: "Sequence[Row]") -> list[str]:
    """Those that may hold texts or words, the longest first."""
    lengths = {column: sum(len(str(row.cells[column] or "")) for row in rows) for column in rows[0].cells}
    return sorted(lengths, key=lambda column: -lengths[column])


def _label_columns(rows: "Sequence[Row]", *, words: bool) -> list[str]:
    """Those whose values repeat: a few classes, or tags."""
    found = []
    for column in rows[0].cells:
        values = {one for row in rows for one in _labels(row, column, words=words)}
        if 2 <= len(values) <= min(MOST_LABELS, max(2, len(rows) // 2 if not words else MOST_LABELS)):
            found.append(column)
    return found


def _labels(row: "Row", column: str, *, words: bool) -> list[str]:
    value = row.cells.get(column)
    if value is None or value == "":
        return []
    if not words:
        return [str(value)]
    return value.split() if isinstance(value, str) else [str(one) for one in value]


def _column(
    given: Sequence[str] | None, number: int, tasks: int, option: str, name: str, found: Sequence[str], what: str
) -> str:
    if not given:
        return found[0]
    column = _of_task(given, number, tasks, option, what)
    if column not in found:
        raise ConfigError(f"{option} {column}: gold of {name} has no such column; there are {', '.join(found)}")
    return column


def _label_column(
    given: Sequence[str] | None, number: int, tasks: int, name: str, found: Sequence[str], taken: set[str]
) -> str:
    """The one that is named, the only one, or the one that is called like the task."""
    if given:
        return _of_task(given, number, tasks, "--label", f"The column of labels for {name}")
    alike = [column for column in found if name.lower() in column.lower() or column.lower() in name.lower()]
    left = [column for column in found if column not in taken]
    for candidates in (alike, left):
        if len(candidates) == 1:
            return candidates[0]
    there = ", ".join(found) or "none whose values repeat"
    return _asked("--label", f"The column of labels for {name} ({there})")


def _friendship(
    first: str,
    second: str,
    sections: Mapping[str, Mapping[str, Any]],
    labels: Mapping[str, Sequence[str]],
    rows: "Mapping[str, Sequence[Row]]",
    given: str | None,
) -> dict[str, Any]:
    """What labels of the first mean to the second: as given, by texts with both labels, by their names, or learned."""
    tags = [sections[name]["kind"] == "token-classification" for name in (first, second)]
    kind = {"kind": "tags"} if all(tags) else {}
    if given is not None and given != "learned":
        pairs = [pair.partition("=") for pair in given.split(",")]
        table = {label.strip(): [one.strip() for one in meant.split("|") if one.strip()] for label, _, meant in pairs}
        missing = [label for label in labels[first] if label not in table]
        if missing:
            raise ConfigError(f"--means says nothing of {', '.join(missing)}, labels in gold of {first}")
        return kind | {"means": {label: _single(meant) for label, meant in table.items()}}
    if given is None and not any(tags):
        columns = [sections[name]["label"] for name in (first, second)]
        both = [row.cells for name in (first, second) for row in rows[name] if row.cells.keys() >= {*columns}]
        counted = Counter((str(cells[columns[0]]), str(cells[columns[1]])) for cells in both)
        seen = Counter(label for label, _ in counted.elements())
        if columns[0] != columns[1] and all(seen[label] for label in labels[first]):
            meant = {
                label: [other for other in labels[second] if counted[label, other] >= ENOUGH * seen[label]]
                for label in labels[first]
            }
            return {"means": {label: _single(found) for label, found in meant.items()}}
    if set(labels[first]) <= set(labels[second]):
        return kind | {"means": {label: label for label in labels[first]}}
    if any(tags):
        raise ConfigError(
            f"--means is needed: what do {', '.join(labels[first])} mean among {', '.join(labels[second])}?"
        )
    return {"means": "learned"}


def _single(meant: Sequence[str]) -> Any:
    return None if not meant else meant[0] if len(meant) == 1 else list(meant)
