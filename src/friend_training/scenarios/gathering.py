"""Results to compare, from experiments and from single runs, put together by config: each group is one table."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from friend_training.core.run import Run
from friend_training.errors import DataError
from friend_training.scenarios.folders import different_settings, is_finished, method_folder, read_records, whole_run
from friend_training.scenarios.results import counts_path, read_results, settings_id


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
    """`places` are folders of experiments and of runs. Seeds of one config belong together, whichever run they are."""
    groups: Groups = {}
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
    configs = [results[0].record["config"] for results in by_config.values()]
    return dict(zip(_titles(configs), by_config.values(), strict=True))


def _titles(configs: Sequence[dict[str, Any]]) -> list[str]:
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
