"""What a program gives, as a config and files: a run that began in Python is one that every command can read.

Rows become JSON lines with ids of their own, an estimator's untrained model a file of skops, a table of meanings a
section of the config. What no file can hold stays with the program, as a section of kind `python`: a task or friendship
of the user's own, a rule, dialogues. Of such examples the folder has a digest.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from friend_training.core.friendship import Friendship
from friend_training.core.task import Task
from friend_training.data import tables
from friend_training.data.summary import fingerprint
from friend_training.errors import ConfigError, DataError, RunError
from friend_training.friendships.labels import FriendshipToLearn
from friend_training.runs.files import write_text
from friend_training.study.config import FriendsConfig
from friend_training.study.folders import different_settings, run_config
from friend_training.study.run_data import Objects, TaskData
from friend_training.study.sections import settings_refused
from friend_training.tasks.given_examples import GivenExamples
from friend_training.tasks.sources import FixedTask
from friend_training.types import TagsExample, Text, Words

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
        return _fixed(task, folder)
    section = _described(task, folder) if isinstance(getattr(task, "examples", None), GivenExamples) else None
    if section is None or not _from_rows(task):
        return _python(task, data)
    files = {f"{task.name}-{part}.jsonl": _lines(_row(one) for one in getattr(data, part)) for part in PARTS}
    return Written(section | {part: f"{task.name}-{part}.jsonl" for part in PARTS} | {"id": "id"}, files)


def _from_rows(task: Any) -> bool:
    return task.examples.gold is not None


def examples_of(task: Task, own: Mapping[str, Any] | None) -> TaskData:
    """Gold, dev and test of a task: the rows that it was made with or its `own`, which are typed examples already."""
    given = getattr(task, "examples", None)
    if own is not None:
        return _own_examples(task.name, own)
    if isinstance(task, FixedTask):
        return TaskData()
    if not isinstance(given, GivenExamples) or given.gold is None:
        raise ConfigError(
            f"task {task.name}: it has no gold; make it with gold, dev and test, or give FriendTrainer"
            f" examples={{{task.name!r}: {{'gold': …, 'dev': …, 'test': …}}}}"
        )
    for part in PARTS:
        if getattr(given, part) is None:
            raise ConfigError(f"task {task.name}: {part} is missing; expected rows, a DataFrame, a Dataset or a file")
    return TaskData(*(read_rows(task.name, part, getattr(given, part), given) for part in PARTS))


def read_rows(task: str, part: str, rows: Any, given: GivenExamples) -> list[Any]:
    name, columns = f"{task}-{part}", given.columns
    found: list[Any]
    if "tags" in columns:
        tagged = tables.tagged_words(rows, words=columns["words"], tags=columns["tags"], id=given.id, name=name)
        found = list(tagged)
    else:
        labelled = tables.labelled_texts(rows, text=columns["text"], label=columns["label"], id=given.id, name=name)
        found = list(labelled)
    if not found:
        raise DataError(f"task {task}: {part} has no row, expected at least one")
    return found


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
    described: list[Callable[[Task, Path], dict[str, Any] | None]] = [_classifier, _tagger, _estimator]
    modules = ("text_classification", "token_classification", "estimators")
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


def _fixed(task: FixedTask, folder: Path) -> Written:
    section = dict(task.described or {})
    match section.get("kind"):
        case "answer-file":
            path = Path(section["file"])
            name = f"{task.name}-answers{''.join(path.suffixes[-1:])}"
            return Written(section | {"file": name}, {name: path.read_text(encoding="utf-8")})
        case "endpoint":
            return Written(section | {"cache": os.path.relpath(section["cache"], folder)}, {})
    return Written({"kind": "python", "trained": False}, {f"{task.name}.version": f"{task.version}\n"}, TaskData())


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
    if not isinstance(source, str | Path) and not hasattr(source, "columns") and not hasattr(source, "column_names"):
        source = list(source)
        if source and not isinstance(source[0], str | Mapping) and hasattr(source[0], "id"):
            return _pool_of_inputs(source)
    rows = list(tables.rows_of(source, name="pool"))
    if not rows:
        raise DataError("the pool has no row, expected texts")
    there = rows[0].cells
    given = [task.examples.columns for task in tasks if isinstance(getattr(task, "examples", None), GivenExamples)]  # type: ignore[attr-defined]
    words = columns.words or _first_there([one.get("words") for one in given], there)
    text = columns.text or _first_there([one.get("text") for one in given] + ["text"], there)
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

    config: FriendsConfig
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


def _changed_settings(config: FriendsConfig, run: Path) -> list[str]:
    before, now = run_config(run).model_dump(mode="json"), config.model_dump(mode="json")
    return [name for name in different_settings(before, now) if name.partition(".")[0] not in _MAY_DIFFER]


def _in_words(file: str) -> str:
    """'polarity-gold.jsonl' is 'gold of polarity'."""
    stem = file.rpartition(".")[0]
    task, _, part = stem.rpartition("-")
    return f"{part} of {task}" if task and part in (*PARTS, "answers") else stem


def checked_config(values: Mapping[str, Any]) -> FriendsConfig:
    try:
        return FriendsConfig.model_validate(values)
    except ValidationError as error:
        raise settings_refused(error, "FriendTrainer") from None
