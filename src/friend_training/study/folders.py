"""Where things lie in the folder of a study: a run that holds one more run for each of its methods."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from friend_training.core.limits import read_yaml
from friend_training.errors import RunError
from friend_training.methods.registry import METHODS, leading
from friend_training.runs.files import is_first, read_json_lines, read_json_object, wait_until
from friend_training.runs.run import MANIFEST, Run, check_file, config_texts, write_config, write_recorded
from friend_training.study.config import config_text, parse_config, recorded_form
from friend_training.study.sections import Config

RESULTS = "results.jsonl"
"""One record per method; written last, so a run that has those of all its methods is finished."""

# What may change in a run that has begun; docs/reliability.md quotes it. All else is refused.

_OF_THE_MACHINE = ("threads", "engine", "device")
"""Where and by how many it is computed. Engines give the same bits; another device or number of threads may not."""


_MAY_CHANGE = ("methods", *_OF_THE_MACHINE)
"""More methods may be asked of a run later: what is finished stays, and they start from the same Base."""


_MAY_BE_LOWERED = ("batch_size", "labelling_pieces")
"""Settings of a `training` section that `resume --set` may change: a device may be too small for them. The run and its
results then say so."""


_ENVIRONMENT, _CHANGED, _DEVICES = "environment.json", "changed_on_resume", "devices"


_METHODS, _RESOURCES, _FILES, _NOTES = "methods", "resources.txt", "files.txt", "notes.txt"


def method_folder(run: str | Path, method: str) -> Path:
    run = Path(run)
    return run / _METHODS / method


def whole_run(folder: str | Path) -> Path:
    """The study that a folder belongs to: advice about a method's folder can be followed as it is printed."""
    folder = Path(folder)
    outer = folder.resolve().parent.parent
    inside = folder.resolve().parent.name == _METHODS and (outer / "run.json").is_file()
    return outer if inside else folder


def selected_run(folder: Path, method: str) -> Run:
    """The run of a method, or the folder itself, whose pseudo-labels are asked about: some must have been selected."""
    there = methods_there(folder)
    if method == "fdt" and there and method not in there:  # nobody named one
        method = leading(there)
    inner = method_folder(folder, method)
    found = Run.open(inner if inner.is_dir() else folder)
    if not found.store.iterations():
        raise RunError(f"{found.folder}: no pseudo-labels have been selected in this run yet")
    return found


def run_config(folder: str | Path, *, device: str = "auto") -> Config:
    """The config of a run, if this program can read the run; with a `device` of ours, its own may be elsewhere."""
    run = Run.open(folder)
    check_config(run)
    config = parse_config(run.config_text, str(run.folder / "config.yaml"), whole=True)
    return config.model_copy(update={"device": device})


def check_config(run: Run) -> None:
    """Refuse a run whose config.yaml somebody has edited in what may not change."""
    begun, path = config_texts(run.folder), run.folder / "config.yaml"
    if not begun or run.config_text in begun:
        return
    before, now = (read_yaml(text, str(path)) for text in (begun[-1], run.config_text))
    changed = [name for name in different_settings(before, now) if name.partition(".")[0] not in _MAY_CHANGE]
    if changed:
        raise RunError(
            f"{path}: other settings of {', '.join(changed)} than the run was begun with. What is finished keeps the"
            f" old ones: put them back ({MANIFEST} has them), or begin a new run with these:"
            f" `friend-train run {path} --out ANOTHER`"
        )


def resumed_config(folder: Path, changes: Sequence[str]) -> Config:
    """The config that a run goes on with: its own, with `changes` (key=value) of what the machine asks for.

    Sizes of batches are kept in the run's config, and that they were changed is kept too: it says what was trained how.
    """
    run, where = Run.open(folder), str(folder / "config.yaml")
    check_config(run)
    before, config = (parse_config(run.config_text, where, given, whole=True) for given in ((), list(changes)))
    named = {change.partition("=")[0]: change for change in changes}
    changed = different_settings(before.model_dump(mode="json"), config.model_dump(mode="json"))
    lowered = [name for name in changed if name.rpartition(".")[2] in _MAY_BE_LOWERED and name in named]
    fixed = [name for name in changed if name not in lowered and name.partition(".")[0] not in _OF_THE_MACHINE]
    if fixed:
        allowed = ", ".join((*_OF_THE_MACHINE, *_MAY_BE_LOWERED))
        raise RunError(f"{folder}: {', '.join(fixed)} cannot change in a run that has begun; what can: {allowed}")
    if lowered and is_first():
        with run.locked():
            kept = [named[name] for name in lowered]
            write_config(folder, config_text(parse_config(run.config_text, where, kept, whole=True)))
            _note(folder, _CHANGED, kept)
    return config


def changed_on_resume(folder: Path) -> list[str]:
    """The sizes of batches (key=value) that a run has not had from its beginning."""
    found: list[str] = _environment(folder).get(_CHANGED, [])
    return found


def remember_device(folder: Path, device: str) -> None:
    """A run says which devices have computed for it, in the order they came."""
    _note(folder, _DEVICES, [device])


def _note(folder: Path, name: str, values: Sequence[str]) -> None:
    environment = _environment(folder)
    noted = list(dict.fromkeys([*environment.get(name, []), *values]))
    if noted != environment.get(name):
        text = json.dumps(environment | {name: noted}, ensure_ascii=False, indent=1) + "\n"
        write_recorded(folder / _ENVIRONMENT, text)


def _environment(folder: Path) -> dict[str, Any]:
    path = folder / _ENVIRONMENT
    check_file(path)
    return read_json_object(path, "what the run was made with") if path.is_file() else {}


def methods_there(folder: str | Path) -> list[str]:
    """The methods that have been begun in a run, whatever its config asks for now, in the order of tables."""
    folder = Path(folder)
    return [name for name in METHODS if (method_folder(folder, name) / "run.json").is_file()]


def remember_methods(run: Run, config: Config) -> None:
    """A run is asked for more methods: keep them in its config, so that it can be resumed as a whole.

    All else must be as it was, because what is finished is never done again.
    """
    check_config(run)
    before = recorded_form(read_yaml(run.config_text, str(run.folder / "config.yaml")))
    now = recorded_form(config.model_dump(mode="json"))
    changed = [name for name in different_settings(before, now) if name.partition(".")[0] not in _MAY_CHANGE]
    if changed:
        raise RunError(f"{run.folder} was made with other settings of {', '.join(changed)}; use another folder")
    new = [method for method in config.methods if method not in before["methods"]]
    if new:
        whole = config.model_copy(
            update={
                "methods": (*before["methods"], *new),
                "threads": before["threads"],
                "device": before.get("device", "auto"),
            }
        )
        write_config(run.folder, config_text(whole))


def different_settings(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """The settings that two configs do not share, such as tasks.csrl.base_steps."""
    return list(_different(first, second, ""))


def _different(first: Any, second: Any, name: str) -> Iterator[str]:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        for key in {**first, **second}:
            yield from _different(first.get(key), second.get(key), f"{name}.{key}" if name else key)
    elif first != second:
        yield name


def read_records(folder: str | Path) -> list[dict[str, Any]]:
    """The records of a run's finished methods."""
    folder = Path(folder)
    path = folder / RESULTS
    if not path.is_file():
        return []
    records = read_json_lines(path, "a result", needed=("method", "metrics"))
    check_file(path)
    return records


def write_records(folder: Path, records: Sequence[dict[str, Any]]) -> None:
    """Records of methods that were asked for earlier stay."""
    kept = {record["method"]: record for record in [*read_records(folder), *records]}
    ordered = [kept[method] for method in run_config(folder).methods if method in kept]
    lines = [json.dumps(record, ensure_ascii=False, sort_keys=True) + "\n" for record in ordered]
    write_recorded(folder / RESULTS, "".join(lines))


def is_finished(folder: str | Path) -> bool:
    folder = Path(folder)
    there = {record["method"] for record in read_records(folder)}
    return (folder / RESULTS).is_file() and there >= set(run_config(folder).methods)


def shared_resources(run: Path, given: Path | None) -> Path | None:
    """The folder of an encoder and bridge that several runs share, remembered so that a resumed run finds it.

    The path is kept as seen from the run: both can be moved together.
    """
    record = run / _RESOURCES
    if given is not None:
        if is_first():
            write_recorded(record, os.path.relpath(given, run) + "\n")
        return given
    check_file(record)
    return run / record.read_text(encoding="utf-8").strip() if record.is_file() else None


def files_of(run: str | Path, given: Path | None) -> Path | None:
    """The folder that the paths of a run's config begin at: the one that is given, or the one it was begun with."""
    record = Path(run) / _FILES
    if given is not None or not record.is_file():
        return given
    check_file(record)
    return Path(run) / record.read_text(encoding="utf-8").strip()


def remember_files(run: Path, given: Path) -> None:
    """Keep where a run's files are, as seen from the run: both can be moved together."""
    write_recorded(run / _FILES, os.path.relpath(given, run) + "\n")


def remember_notes(run: Path, notes: Sequence[str]) -> None:
    """Keep what a person should know of a run's data."""
    if notes:
        write_recorded(run / _NOTES, "".join(f"{note}\n" for note in notes))


def read_notes(run: Path) -> list[str]:
    path = run / _NOTES
    if not path.is_file():
        return []
    check_file(path)
    return path.read_text(encoding="utf-8").splitlines()


def open_or_create(folder: Path, config: Config, fingerprints: dict[str, str]) -> Run:
    if not is_first():
        wait_until((folder / "run.json").is_file)
    elif not (folder / "run.json").is_file():
        try:
            return Run.create(folder, config_text(config), fingerprints)
        except RunError:
            if not (folder / "run.json").is_file():
                raise  # else another process has just begun the same run: the lock tells who goes on
    run = Run.open(folder)
    run.check_fingerprints(fingerprints)
    return run
