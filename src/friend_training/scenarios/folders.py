"""Where things lie in the folder of a study: a run that holds one more run for each of its methods."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from friend_training.core.files import write_text
from friend_training.core.json_files import read_json_lines
from friend_training.core.processes import is_first
from friend_training.core.run import Run
from friend_training.core.yaml_values import read_yaml
from friend_training.errors import RunError
from friend_training.methods.known import METHODS
from friend_training.scenarios.config import Config, config_text, parse_config

RESULTS = "results.jsonl"
"""One record per method; written last, so a run that has those of all its methods is finished."""

_MAY_CHANGE = ("methods", "threads", "engine")
"""Settings that change nothing of what a method does: more methods may be asked of a run later."""

_METHODS, _RESOURCES = "methods", "resources.txt"


def method_folder(run: Path, method: str) -> Path:
    return run / _METHODS / method


def whole_run(folder: Path) -> Path:
    """The study that a folder belongs to: advice about a method's folder can be followed as it is printed."""
    outer = folder.resolve().parent.parent
    inside = folder.resolve().parent.name == _METHODS and (outer / "run.json").is_file()
    return outer if inside else folder


def run_config(folder: Path) -> Config:
    """The config of a run, if this program can read the run."""
    return parse_config(Run.open(folder).config_text, str(folder / "config.yaml"))


def methods_there(folder: Path) -> list[str]:
    """The methods that have been begun in a run, whatever its config asks for now, in the order of tables."""
    return [name for name in METHODS if (method_folder(folder, name) / "run.json").is_file()]


def remember_methods(run: Run, config: Config) -> None:
    """A run is asked for more methods: keep them in its config, so that it can be resumed as a whole.

    All else must be as it was, because what is finished is never done again.
    """
    before = read_yaml(run.config_text, str(run.folder / "config.yaml"))
    now = config.model_dump(mode="json")
    changed = [name for name in different_settings(before, now) if name.partition(".")[0] not in _MAY_CHANGE]
    if changed:
        raise RunError(f"{run.folder} was made with other settings of {', '.join(changed)}; use another folder")
    new = [method for method in config.methods if method not in before["methods"]]
    if new:
        whole = config.model_copy(update={"methods": (*before["methods"], *new), "threads": before["threads"]})
        write_text(run.folder / "config.yaml", config_text(whole))


def different_settings(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """The settings that two configs do not share, such as tasks.csrl.base_steps."""
    return list(_different(first, second, ""))


def _different(first: Any, second: Any, name: str) -> Iterator[str]:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        for key in {**first, **second}:
            yield from _different(first.get(key), second.get(key), f"{name}.{key}" if name else key)
    elif first != second:
        yield name


def read_records(folder: Path) -> list[dict[str, Any]]:
    """The records of a run's finished methods."""
    path = folder / RESULTS
    return read_json_lines(path, "a result", needed=("method", "metrics")) if path.is_file() else []


def write_records(folder: Path, records: Sequence[dict[str, Any]]) -> None:
    """Records of methods that were asked for earlier stay."""
    kept = {record["method"]: record for record in [*read_records(folder), *records]}
    ordered = [kept[method] for method in run_config(folder).methods if method in kept]
    lines = [json.dumps(record, ensure_ascii=False, sort_keys=True) + "\n" for record in ordered]
    write_text(folder / RESULTS, "".join(lines))


def is_finished(folder: Path) -> bool:
    there = {record["method"] for record in read_records(folder)}
    return (folder / RESULTS).is_file() and there >= set(run_config(folder).methods)


def shared_resources(run: Path, given: Path | None) -> Path | None:
    """The folder of an encoder and bridge that several runs share, remembered so that a resumed run finds it.

    The path is kept as seen from the run: both can be moved together.
    """
    record = run / _RESOURCES
    if given is not None:
        if is_first():
            write_text(record, os.path.relpath(given, run) + "\n")
        return given
    return run / record.read_text(encoding="utf-8").strip() if record.is_file() else None
