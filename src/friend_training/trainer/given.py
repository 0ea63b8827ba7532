"""What a program gives, as a config and files: a run that began in Python is one that every command can read.

Rows become JSON lines with ids of their own, an estimator's untrained model a file of skops, a table of meanings a
section of the config. What no file can hold stays with the program, as a section of kind `python`: a task or friendship
of the user's own, a rule. Of such examples the folder has a digest.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from friend_training.core.friendship import Friendship
from friend_training.core.task import Task
from friend_training.data import tables
from friend_training.data.jsonl import parse_dialogue, parse_labelled, to_line
from friend_training.data.read import Kind, read_examples
from friend_training.data.summary import fingerprint
from friend_training.errors import ConfigError, DataError, RunError
from friend_training.friendships.labels import FriendshipToLearn
from friend_training.runs.files import write_text
from friend_training.study.folders import different_settings, run_config
from friend_training.study.run_data import Objects, TaskData
from friend_training.study.sections import Config
from friend_training.tasks.given_examples import GivenExamples
from friend_training.tasks.sources import FixedTask
from friend_training.types import (
    CoreferenceExample,
    CsrlExample,
    Dialogue,
    RewritingExample,
    TagsExample,
    Text,
    Words,
)

PARTS = ("gold", "dev", "test")


@dataclass(frozen=True, slots=True)
class Written:
    """A section of a config, and what lies beside it: texts by file name. `data` are examples that are in no file."""

    section: dict[str, Any]
    files: Mapping[str, str]
    data: TaskData | None = None


def written_task(task: Task, data: TaskData, folder: Path) -> Written:
    """A task as the config of a run names it; `folder` is where the files of the run are to lie."""
    if isinstance(task, FixedTask):
        return _fixed(task, data, folder)
    section = _described(task, folder) if isinstance(getattr(task, "examples", None), GivenExamples) else None
    if section is None or not _from_rows(task):
        return _python(task, data)
    in_rows = task.examples.dialogues is None  # type: ignore[attr-defined]
    lines = _rows if in_rows else _dialogue_lines
    files = {f"{task.name}-{part}.jsonl": lines(getattr(data, part)) for part in PARTS}
    named = {part: f"{task.name}-{part}.jsonl" for part in PARTS}
    return Written(section | named | ({"id": "id"} if in_rows else {}), files)


def _from_rows(task: Any) -> bool:
    return task.examples.gold is not None


def examples_of(task: Task, own: Mapping[str, Any] | None) -> TaskData:
    """Gold, dev and test of a task: the rows that it was made with or its `own`, which are typed examples already."""
    given = getattr(task, "examples", None)
    if own is not None:
        return _own_examples(task.name, own)
    if isinstance(task, FixedTask):
        return TaskData((), *(_to_score(task, part, getattr(task.examples, part)) for part in ("dev", "test")))
    if not isinstance(given, GivenExamples) or given.gold is None:
        raise ConfigError(
            f"task {task.name}: it has no gold; make it with gold, dev and test, or give FriendTrainer"
            f" examples={{{task.name!r}: {{'gold': …, 'dev': …, 'test': …}}}}"
        )
    for part in PARTS:
        if getattr(given, part) is None:
            raise ConfigError(f"task {task.name}: {part} is missing; expected rows, a DataFrame, a Dataset or a file")
    return TaskData(*(read_rows(task.name, part, getattr(given, part), given) for part in PARTS))


def _to_score(task: FixedTask, part: str, rows: Any) -> list[Any]:
    """Examples of a friend that is never trained: none, pairs of an input and its label, or rows."""
    if rows is None:
        return []
    pairs = isinstance(rows, Sequence) and not isinstance(rows, str) and len(rows) > 0 and isinstance(rows[0], tuple)
    return list(rows) if pairs else read_rows(task.name, part, rows, task.examples)


def read_rows(task: str, part: str, rows: Any, given: GivenExamples) -> list[Any]:
    name, columns = f"{task}-{part}", given.columns
    found: list[Any]
    if given.dialogues is not None:
        found = dialogue_examples(rows, given.dialogues, name)
    elif "tags" in columns:
        tagged = tables.tagged_words(rows, words=columns["words"], tags=columns["tags"], id=given.id, name=name)
        found = list(tagged)
    else:
        labelled = tables.labelled_texts(rows, text=columns["text"], label=columns["label"], id=given.id, name=name)
        found = list(labelled)
    if not found:
        raise DataError(f"task {task}: {part} has no row, expected at least one")
    return found


def dialogue_examples(rows: Any, kind: Kind, name: str) -> list[Any]:
    """Dialogues of a file, or of a list of typed examples or of dicts like the lines of our own JSONL."""
    if isinstance(rows, str | Path):
        return read_examples(rows, kind).examples
    found = []
    for number, row in enumerate(rows, start=1):
        if isinstance(row, Mapping):
            text = json.dumps(row, ensure_ascii=False)
            try:
                row = parse_dialogue(text) if kind == "dialogue" else parse_labelled(text, kind)  # type: ignore[arg-type]
            except DataError as error:
                raise DataError(str(error), path=name, line=number) from None
        if not isinstance(row, _DIALOGUES[kind]):
            expected = _DIALOGUES[kind].__name__
            raise DataError(f"expected {expected}s or mappings, found {row!r:.100}", path=name, line=number)
        found.append(row)
    return found


_DIALOGUES: Mapping[str, type] = {
    "csrl": CsrlExample,
    "rewriting": RewritingExample,
    "coreference": CoreferenceExample,
    "dialogue": Dialogue,
}


def _dialogue_lines(examples: Iterable[Any]) -> str:
    return "".join(f"{to_line(one)}\n" for one in examples)


def _rows(examples: Iterable[Any]) -> str:
    return _lines(_row(one) for one in examples)


def _row(example: Any) -> dict[str, Any]:
    match example:
        case TagsExample(words, label):
            return {"id": words.id, "words": list(words.words), "tags": list(label.tags)}
        case (given, label):
            return {"id": given.id, "text": given.text, "label": label}
    raise AssertionError("no other is read from rows")


def _described(task: Task, folder: Path) -> dict[str, Any] | None:
    """The section of a ready-made task; None: only the program itself has it."""
    # Only now: torch and scikit-learn are extras, and a program with the one may not have the other.
    described: list[Callable[[Task, Path], dict[str, Any] | None]] = [
        _classifier,
        _tagger,
        _estimator,
        _csrl,
        _rewriting,
    ]
    modules = ("text_classification", "token_classification", "estimators", "csrl", "rewriting")
    for function, module in zip(described, modules, strict=True):
        if type(task).__module__ == f"friend_training.tasks.{module}.task":
            return function(task, folder)
    return None


def _classifier(task: Any, folder: Path) -> dict[str, Any]:
    return {
        "kind": "text-classification",
        "encoder": _encoder(task.encoder),
        "max_length": task.most_tokens,
        "metric": task.main_metric,
        "training": asdict(task.settings),
    }


def _tagger(task: Any, folder: Path) -> dict[str, Any]:
    return {
        "kind": "token-classification",
        "encoder": _encoder(task.encoder),
        "metric": task.metric,
        "training": asdict(task.settings),
    }


def _csrl(task: Any, folder: Path) -> dict[str, Any]:
    definition = task.definition
    return {
        "kind": "csrl",
        "encoder": _encoder(task.encoder),
        "max_length": definition.max_length,
        "predicate_mark": definition.mark,
        "repeated_roles": definition.adjacent,
        "predicate_as_argument": definition.itself,
        "training": asdict(task.settings),
    }


def _rewriting(task: Any, folder: Path) -> dict[str, Any]:
    definition = task.definition
    return {
        "kind": "rewriting",
        "encoder": _encoder(task.encoder),
        "max_length": definition.max_length,
        "span_source": definition.span_source,
        "insertion_spans": definition.spans,
        "turns": definition.context_turns,
        "metric": definition.main_metric,
        "training": asdict(task.settings),
    }


def _encoder(given: str | Path) -> str:
    return str(Path(given).resolve()) if Path(given).is_dir() else str(given)


def _estimator(task: Any, folder: Path) -> dict[str, Any] | None:
    from friend_training.tasks.estimators.task import save_untrained, texts

    if task.features is not texts:
        return None
    parameters = {name: repr(value) for name, value in sorted(task.untrained.get_params().items())}
    path, described = folder / f"{task.name}.skops", f"{type(task.untrained).__name__} {json.dumps(parameters)}\n"
    known = folder / f"{task.name}.model.txt"
    if known.is_file() and known.read_text(encoding="utf-8") != described:
        raise RunError(f"{folder.parent} was made with another model of task {task.name}; use another folder")
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        if save_untrained(task.untrained, path) is not None:
            return None
        write_text(known, described)
    return {"kind": "estimator", "model": path.name, "metric": task.main_metric}


def _fixed(task: FixedTask, data: TaskData, folder: Path) -> Written:
    section = dict(task.described or {})
    parts = [part for part in ("dev", "test") if getattr(data, part)]
    files = {f"{task.name}-{part}.jsonl": _rows(getattr(data, part)) for part in parts if section}
    section |= {part: f"{task.name}-{part}.jsonl" for part in parts} | ({"id": "id"} if parts else {})
    match section.get("kind"):
        case "answer-file":
            path = Path(section["file"])
            name = f"{task.name}-answers{''.join(path.suffixes[-1:])}"
            return Written(section | {"file": name}, files | {name: path.read_text(encoding="utf-8")})
        case "endpoint":
            return Written(section | {"cache": os.path.relpath(section["cache"], folder)}, files)
    digests = {f"{task.name}-{part}.sha256": fingerprint(getattr(data, part)) + "\n" for part in parts}
    version = {f"{task.name}.version": f"{task.version}\n"}
    return Written({"kind": "python", "trained": False}, version | digests, data)


def _own_examples(task: str, own: Mapping[str, Any]) -> TaskData:
    if not isinstance(own, Mapping) or not own.keys() >= set(PARTS):
        raise ConfigError(f"task {task}: examples are {own!r:.100}, expected a mapping with gold, dev and test")
    return TaskData(*(list(own[part]) for part in PARTS))


def _python(task: Task, data: TaskData) -> Written:
    files = {f"{task.name}-{part}.sha256": fingerprint(getattr(data, part)) + "\n" for part in PARTS}
    trained = getattr(task, "trained", True)
    return Written({"kind": "python", "trained": trained}, files, data)


AnyFriendship = Friendship | FriendshipToLearn


def friendship_section(friendship: AnyFriendship) -> dict[str, Any]:
    """A friendship as a config names it."""
    names = {"first": friendship.first, "second": friendship.second, "name": friendship.name}
    return names | dict(friendship.described or {"kind": "python"})


# The pool.


@dataclass(frozen=True, slots=True)
class Columns:
    """Where a pool's rows have what; None: where the tasks' own rows have it."""

    text: str | None = None
    words: str | None = None
    id: str | None = None
    hidden: Mapping[str, str] | None = None


def written_pool(source: Any, columns: Columns, tasks: Iterable[Task]) -> tuple[Written, list[Any] | None]:
    """The pool as the config names it, and the inputs themselves where no file can hold them."""
    given = [task.examples for task in tasks if isinstance(getattr(task, "examples", None), GivenExamples)]  # type: ignore[attr-defined]
    if any(one.dialogues is not None for one in given):
        return Written({"file": "pool.jsonl"}, {"pool.jsonl": _dialogue_lines(_dialogue_pool(source, columns))}), None
    if not isinstance(source, str | Path) and not hasattr(source, "columns") and not hasattr(source, "column_names"):
        if isinstance(source, Mapping) or not isinstance(source, Iterable):
            raise DataError(f"the pool is {source!r:.100}, expected texts, rows, a DataFrame or a file")
        source = list(source)
        if source and not isinstance(source[0], str | Mapping) and hasattr(source[0], "id"):
            return _pool_of_inputs(source)
    rows = list(tables.rows_of(source, name="pool"))
    if not rows:
        raise DataError("the pool has no row, expected texts")
    there = rows[0].cells
    words = columns.words or _first_there([one.columns.get("words") for one in given], there)
    text = columns.text or _first_there([one.columns.get("text") for one in given] + ["text"], there)
    if text is None and words is None:
        raise ConfigError(f"pool: no column of texts is known; name it: fit(…, text=…). There are {', '.join(there)}")
    hidden = dict(columns.hidden or {})
    found = []
    for row in rows:
        cells: dict[str, Any] = {"id": row.id(columns.id)}
        if text is not None:
            cells["text"] = row.text(text)
        if words is not None:
            cells["words"] = list(tables.words_in(row, words))
        found.append(cells | {f"{task} label": row.cell(column) for task, column in hidden.items()})
    section: dict[str, Any] = {"file": "pool.jsonl", "id": "id", "words": None if words is None else "words"}
    section["hidden"] = {task: f"{task} label" for task in hidden}
    return Written(section, {"pool.jsonl": _lines(found)}), None


def _dialogue_pool(source: Any, columns: Columns) -> list[Dialogue]:
    if columns != Columns():
        raise ConfigError("pool: dialogues have no columns; expected a file of them, or a list")
    found = dialogue_examples(source, "dialogue", "pool")
    if not found:
        raise DataError("the pool has no dialogue, expected some")
    return found


def _pool_of_inputs(inputs: list[Any]) -> tuple[Written, list[Any] | None]:
    if all(isinstance(one, Text) for one in inputs):
        lines = _lines({"id": one.id, "text": one.text} for one in inputs)
        return Written({"file": "pool.jsonl", "id": "id"}, {"pool.jsonl": lines}), None
    if all(isinstance(one, Words) for one in inputs):
        lines = _lines({"id": one.id, "words": list(one.words)} for one in inputs)
        return Written({"file": "pool.jsonl", "id": "id", "words": "words"}, {"pool.jsonl": lines}), None
    return Written({"file": "pool.sha256"}, {"pool.sha256": fingerprint(inputs) + "\n"}), inputs


def _first_there(names: Sequence[str | None], there: Mapping[str, Any]) -> str | None:
    return next((name for name in names if name in there), None)


def _lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)


# All of it together.


@dataclass(frozen=True, slots=True)
class Prepared:
    """A config, all that its paths lead to, and what only the program has."""

    config: Config
    files: Mapping[str, str]
    objects: Objects

    def write(self, folder: Path) -> None:
        """Write what is new; the run must be of what it was begun with."""
        data = folder / FILES
        there = {name: data / name for name in self.files if (data / name).is_file()}
        changed = [name for name, path in there.items() if path.read_text(encoding="utf-8") != self.files[name]]
        told = [_in_words(name) for name in changed]
        for run in sorted(folder.glob("seed-*")):
            if (run / "run.json").is_file():
                told += _changed_settings(self.config, run)
                break
        if told:
            raise RunError(f"{folder} was made with other {', '.join(dict.fromkeys(told))}; use another folder")
        data.mkdir(parents=True, exist_ok=True)
        for name in self.files.keys() - there.keys():
            write_text(data / name, self.files[name])


FILES = "data"
"""The folder of what a program gave, beside the runs of the seeds."""

_MAY_DIFFER = ("name", "seed", "methods", "threads", "engine", "device")


def _changed_settings(config: Config, run: Path) -> list[str]:
    before, now = run_config(run).model_dump(mode="json"), config.model_dump(mode="json")
    return [name for name in different_settings(before, now) if name.partition(".")[0] not in _MAY_DIFFER]


def _in_words(file: str) -> str:
    """'polarity-gold.jsonl' is 'gold of polarity'."""
    stem = file.rpartition(".")[0]
    task, _, part = stem.rpartition("-")
    return f"{part} of {task}" if task and part in (*PARTS, "answers") else stem
