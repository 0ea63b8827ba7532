"""A whole table: one config, several seeds, every result appended to a file as it comes."""

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from pydantic import ValidationError

from friend_training.errors import ConfigError
from friend_training.scenarios.config import Config, Section, load_config
from friend_training.scenarios.folders import method_folder
from friend_training.scenarios.study import run_study

RESULTS, COUNTS = "results.jsonl", "counts"


class Experiment(Section):
    """experiment.yaml: what to run. `config` is relative to the file; `set` changes some of its values."""

    title: str
    config: str
    seeds: tuple[int, ...]
    set: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Piece:
    """One run of an experiment."""

    config: Config
    folder: Path


def load_experiment(folder: Path) -> Experiment:
    path = folder / "experiment.yaml"
    if not path.is_file():
        raise ConfigError(f"{folder} is no experiment: it has no experiment.yaml")
    try:
        return Experiment.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        raise ConfigError(f"{path}: {error}") from None


def pieces(
    folder: Path, runs: Path, *, seeds: tuple[int, ...] | None = None, only: tuple[str, ...] | None = None
) -> list[Piece]:
    """The runs of an experiment, one per seed; `only` leaves out all other methods for now."""
    experiment = load_experiment(folder)
    made: list[Piece] = []
    for seed in seeds or experiment.seeds:
        config = load_config(folder / experiment.config, [*experiment.set, f"seed={seed}"])
        if only is not None:
            unknown = set(only) - set(config.methods)
            if unknown:
                raise ConfigError(f"--only: {', '.join(sorted(unknown))}: this experiment has {list(config.methods)}")
            kept = [method for method in config.methods if method in only]
            config = Config.model_validate(config.model_dump() | {"methods": kept})
        made.append(Piece(config, runs / folder.name / f"seed-{seed}"))
    return made


def done(folder: Path) -> set[tuple[str, str, int]]:
    """(config, method, seed) of every result that is there."""
    return {(record["config_id"], record["method"], record["seed"]) for record in read_results(folder)}


def read_results(folder: Path) -> list[dict[str, Any]]:
    path = folder / RESULTS
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def config_id(config: Config) -> str:
    """The same for all seeds of one experiment: results of different settings are never mixed in one table."""
    values = config.model_dump(mode="json")
    del values["seed"], values["methods"], values["threads"]
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:12]


def prepare(piece: Piece, *, data_dir: Path | None) -> None:
    """Make encoder and bridge, which all runs of an experiment share, before several processes want them."""
    config = piece.config.model_copy(update={"methods": ()})
    with TemporaryDirectory(dir=piece.folder.parent) as scratch:
        run_study(config, Path(scratch) / "prepare", data_dir=data_dir, resources=resources_of(piece))


def resources_of(piece: Piece) -> Path:
    return piece.folder.parent / "resources"


def run_piece(
    folder: Path, piece: Piece, *, version: str, data_dir: Path | None, listener: Any, say: Callable[[str], None]
) -> None:
    """Run one seed; each method's record and counts are kept as soon as it is finished."""

    def keep(record: dict[str, Any]) -> None:
        identity = (config_id(piece.config), record["method"], record["seed"])
        if identity in done(folder):
            return
        counts = method_folder(piece.folder, record["method"]) / "counts.npz"
        if counts.is_file():
            target = folder / COUNTS / f"{identity[0]}-{identity[1]}-{identity[2]}.npz"
            target.parent.mkdir(exist_ok=True)
            shutil.copyfile(counts, target)
        line = json.dumps(record | {"config_id": identity[0], "code": version}, ensure_ascii=False, sort_keys=True)
        with (folder / RESULTS).open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        say(f"{piece.config.name}, seed {record['seed']}: {record['method']}")

    run_study(
        piece.config,
        piece.folder,
        data_dir=data_dir,
        resources=resources_of(piece),
        listener=listener,
        keep=keep,
    )
