"""The results of an experiment: one line per config, method and seed, and beside it what each test dialogue got right.

Lines also say how many seconds a result took, to estimate others by. A run's own records have no times in them: they
must be the same to the bit whenever the run is made.
"""

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from friend_training.errors import DataError
from friend_training.runs.files import atomic_file
from friend_training.runs.run import Run, check_file, runs_below
from friend_training.study.config import recorded_form
from friend_training.study.folders import different_settings, is_finished, method_folder, read_records, whole_run

RESULTS, COUNTS = "results.jsonl", "counts"


Identity = tuple[str, str, int]
"""Config, method, seed."""


_OF_A_RUN = ("seed", "methods", "threads", "engine", "device")
"""Settings that may differ between the runs of one table."""


def settings_id(config: Mapping[str, Any]) -> str:
    """The same for all seeds of one config: results of different settings are never mixed in one table."""
    values = {name: value for name, value in recorded_form(config).items() if name not in _OF_A_RUN}
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:12]


def read_results(folder: Path) -> list[dict[str, Any]]:
    path = folder / RESULTS
    if not path.is_file():
        return []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8: byte {error.start} is not", path=path) from None
    return [_record(line, path, number) for number, line in enumerate(lines, start=1)]


def _record(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        record: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "not to be read"
        raise DataError(f"broken JSON ({reason}); expected one result per line", path=path, line=number) from None
    if not isinstance(record, dict) or not record.keys() >= {"config_id", "method", "seed"}:
        message = "expected a result with config_id, method and seed"
        raise DataError(message, path=path, line=number)
    return record


def done(folder: Path) -> set[Identity]:
    """Every result that is there."""
    return {(record["config_id"], record["method"], record["seed"]) for record in read_results(folder)}


def counts_path(folder: Path, identity: Identity) -> Path:
    return folder / COUNTS / f"{identity[0]}-{identity[1]}-{identity[2]}.npz"


def add_result(folder: Path, record: dict[str, Any], counts: Path) -> None:
    """Append a result and save a copy of its counts, if it has some."""
    if counts.is_file():
        check_file(counts)
        target = counts_path(folder, (record["config_id"], record["method"], record["seed"]))
        with atomic_file(target) as temporary:
            shutil.copyfile(counts, temporary)
    # One write of a whole line: runs side by side append to the same file.
    with (folder / RESULTS).open("a", encoding="utf-8") as file:
        file.write(json.dumps(record, ensure_ascii=False, sort_keys=True) + "\n")


# Results to compare, from experiments and from single runs, put together by config: each group is one table.


@dataclass(frozen=True, slots=True)
class Result:
    """What one method got with one seed; `counts` is where what it got right in each dialogue may lie."""

    record: dict[str, Any]
    counts: Path

    @property
    def method(self) -> str:
        name: str = self.record["method"]
        return name

    @property
    def seed(self) -> int:
        seed: int = self.record["seed"]
        return seed


Groups = dict[str, list[Result]]
"""By title. There is always one; a single one has no title, since there is nothing to tell it from."""


def gather(places: Sequence[Path]) -> Groups:
    """`places` are folders of experiments, of runs, and of runs of several seeds by FriendTrainer.

    Seeds of one config belong together, whichever run they are.
    """
    groups: Groups = {}
    places = [run for place in places for run in (runs_below(place) or [place])]
    runs = [whole_run(place) for place in places if (place / "run.json").is_file()]
    experiments = [place for place in places if not (place / "run.json").is_file()]
    for folder in experiments:
        for variant, results in _variants(folder).items():
            several = [folder.name] if len(places) > 1 else []
            groups[", ".join([*several, *([variant] if variant else [])])] = results
    groups |= _of_runs(runs)
    return groups if len(groups) > 1 else dict.fromkeys([""], *groups.values())


def _variants(folder: Path) -> Groups:
    """The results of an experiment by variant, each of which must be of one config."""
    if not folder.is_dir():
        raise DataError(f"there is no folder {folder}; a run or an experiment was expected")
    records = read_results(folder)
    if not records:
        raise DataError(f"{folder} has no results yet; `friend-train experiment {folder}`")
    found: Groups = {}
    for record in records:
        identity = (record["config_id"], record["method"], record["seed"])
        variant = record.get("variant", {}).get("name", "")
        found.setdefault(variant, []).append(Result(record, counts_path(folder, identity)))
    for results in found.values():
        configs = {result.record["config_id"] for result in results}
        if len(configs) > 1:
            raise DataError(f"{folder}: results of {len(configs)} different configs cannot stand in one table")
    return found


def _of_runs(folders: Sequence[Path]) -> Groups:
    """The results of runs; what tells their configs apart, if there are several, is their titles."""
    by_config: Groups = {}
    for folder in dict.fromkeys(folders):
        Run.open(folder)
        if not is_finished(folder):
            raise DataError(f"{folder} is not finished; go on with `friend-train resume {folder}`")
        for record in read_records(folder):
            counts = method_folder(folder, record["method"]) / "counts.npz"
            by_config.setdefault(settings_id(record["config"]), []).append(Result(record, counts))
    configs = [recorded_form(results[0].record["config"]) for results in by_config.values()]
    return dict(zip(titles_of(configs), by_config.values(), strict=True))


def titles_of(configs: Sequence[dict[str, Any]]) -> list[str]:
    """A name for each of some different configs: its own, or what tells it from the others of that name."""
    names = [config["name"] for config in configs]
    if len(set(names)) == len(names):
        return names
    changed = dict.fromkeys(name for config in configs for name in different_settings(configs[0], config))
    shown = [name for name in changed if name not in ("name", "seed", "methods", "threads")]
    return [", ".join([config["name"], *(f"{name}={_value(config, name)}" for name in shown)]) for config in configs]


def _value(config: dict[str, Any], setting: str) -> Any:
    value: Any = config
    for part in setting.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value
