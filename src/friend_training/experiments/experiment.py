"""A whole table or figure: a config, or several variants of it, for several seeds, run by run.

Every result is saved as soon as it is there.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator

from friend_training.core.limits import read_yaml
from friend_training.errors import ConfigError
from friend_training.experiments.results import add_result, done, settings_id
from friend_training.methods.registry import with_needed
from friend_training.runs.progress import Listener
from friend_training.runs.run import Run
from friend_training.study.config import CaseStudyConfig, find_config, recorded_form
from friend_training.study.folders import method_folder, methods_there, shared_resources
from friend_training.study.resources import resource_steps
from friend_training.study.sections import Config, Method, PlainName, Section, settings_refused
from friend_training.study.study import run_study

FigureKind = Literal["thresholds", "strength", "co-updating"]
"""The paper's figures 3a; 3b and 3c; 4. Where an experiment names none, its methods are drawn beside each other."""

_LABELLED = ("csrl_labels", "rewriting_labels", "domain", "dev", "test", "scenario")
"""Settings of the data that encoder and bridge never see."""


class Variant(Section):
    """One point of a figure: some settings changed, and which methods it takes (all of the config's if none are named).

    `at` says where the point stands on the axis of each task's part of the figure, by the tasks' names. A variant that
    stands nowhere is drawn as a level line.
    """

    name: PlainName
    set: tuple[str, ...] = ()
    methods: tuple[Method, ...] | None = None
    at: dict[PlainName, float] = Field(default_factory=dict)


class Experiment(Section):
    """experiment.yaml: what to run. `config` is a path relative to the file, or the name of one that comes with us;
    `set` changes some of its values."""

    title: str
    config: str
    seeds: Annotated[tuple[int, ...], Field(min_length=1)]
    set: tuple[str, ...] = ()
    vary: tuple[Variant, ...] = ()
    figure: FigureKind | None = None

    @field_validator("vary")
    @classmethod
    def _names_differ(cls, vary: tuple[Variant, ...]) -> tuple[Variant, ...]:
        names = [variant.name for variant in vary]
        if len({*names}) < len(names):
            raise ValueError(f"two variants have the same name: {', '.join(names)}")
        return vary


@dataclass(frozen=True, slots=True)
class Piece:
    """One run of an experiment. `resources` is the folder of encoder and bridge that its runs share."""

    config: Config
    folder: Path
    resources: Path
    variant: Variant | None = None

    @property
    def config_id(self) -> str:
        return settings_id(self.config.model_dump(mode="json"))

    @property
    def name(self) -> str:
        seed = f"seed {self.config.seed}"
        return seed if self.variant is None else f"{self.variant.name}, {seed}"

    def only(self, methods: Sequence[str]) -> "Piece":
        """The same run with some of its methods and what those need."""
        kept = with_needed(list(methods), self.config.methods)
        config = self.config.model_copy(update={"methods": tuple(kept)})
        return Piece(config, self.folder, self.resources, self.variant)


def load_experiment(folder: str | Path) -> Experiment:
    folder = Path(folder)
    path = folder / "experiment.yaml"
    if not path.is_file():
        raise ConfigError(f"{folder} is no experiment: it has no experiment.yaml")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: an experiment is UTF-8 text; byte {error.start} is not") from None
    try:
        experiment = Experiment.model_validate(read_yaml(text, str(path)))
    except ValidationError as error:
        raise settings_refused(error, str(path), Experiment, text) from None
    for number, variant in enumerate(experiment.vary):
        tasks = find_config(experiment.config, experiment.set, folder=folder).sections if variant.at else {}
        for name in variant.at.keys() - tasks.keys():
            raise ConfigError(f"{path}: vary.{number}.at.{name}: no task of the config; it has {', '.join(tasks)}")
    return experiment


def pieces(
    folder: str | Path,
    runs: str | Path,
    *,
    seeds: Sequence[int] | None = None,
    variants: Sequence[str] | None = None,
    only: Sequence[str] | None = None,
) -> list[Piece]:
    """The runs of an experiment, all seeds of a variant after each other.

    `seeds`, `variants` and `only` (methods, with what they need) leave out all others for now.
    """
    folder = Path(folder)
    runs = Path(runs)
    experiment = load_experiment(folder)
    _check_named("--variants", variants, [variant.name for variant in experiment.vary])
    made = [
        _piece(folder, runs, experiment, variant, seed)
        for variant in experiment.vary or (None,)
        if variants is None or (variant is not None and variant.name in variants)
        for seed in seeds or experiment.seeds
    ]
    _check_different(made)
    if only is None:
        return made
    _check_named("--only", only, list(dict.fromkeys(method for piece in made for method in piece.config.methods)))
    chosen = [piece.only([method for method in piece.config.methods if method in only]) for piece in made]
    return [piece for piece in chosen if piece.config.methods]


def left(folder: str | Path, piece: Piece) -> list[str]:
    """The methods of a run that have no result yet."""
    folder = Path(folder)
    finished = done(folder)
    return [m for m in piece.config.methods if (piece.config_id, m, piece.config.seed) not in finished]


def _piece(folder: Path, runs: Path, experiment: Experiment, variant: Variant | None, seed: int) -> Piece:
    place = runs / folder.name
    changes = [*experiment.set, f"seed={seed}"]
    if variant is None:
        config = find_config(experiment.config, changes, folder=folder)
        return Piece(config, place / f"seed-{seed}", place / "resources")
    changes += variant.set
    if variant.methods is not None:
        changes.append(f"methods={json.dumps(variant.methods)}")
    config = find_config(experiment.config, changes, folder=folder)
    return Piece(config, place / variant.name / f"seed-{seed}", place / f"resources-{_resources_id(config)}", variant)


def _resources_id(config: Config) -> str:
    """The same for all variants whose encoder and bridge are made from the same texts in the same way."""
    values = recorded_form(
        config.model_dump(mode="json", include={"encoder", "bridge", "bridge_training", "data", "max_length"})
    )
    if "data" in values:  # only the paper's pair has some that are shared
        values["data"] = {name: value for name, value in values["data"].items() if name not in _LABELLED}
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:12]


def _check_different(made: Sequence[Piece]) -> None:
    """Results go by their settings: two variants that are the same would share them."""
    names: dict[tuple[str, int], str] = {}
    for piece in made:
        before = names.setdefault((piece.config_id, piece.config.seed), piece.name)
        if before != piece.name:
            raise ConfigError(f"the variants {before!r} and {piece.name!r} have the same settings")


def _check_named(option: str, named: Sequence[str] | None, known: Sequence[str]) -> None:
    unknown = [name for name in named or () if name not in known]
    if unknown:
        raise ConfigError(f"{option}: {', '.join(unknown)}: this experiment has {', '.join(known) or 'none'}")


def prepare(piece: Piece, *, data_dir: Path | None, listener: Listener) -> None:
    """Make the encoder and bridge that runs share, if they are not made yet, before several processes want them."""
    if is_prepared(piece):
        return
    config = piece.config.model_copy(update={"methods": ()})
    piece.folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=piece.folder.parent) as scratch:
        folder = Path(scratch) / "prepare"
        run_study(config, folder, data_dir=data_dir, resources=piece.resources, listener=listener)


def is_prepared(piece: Piece) -> bool:
    steps = resource_steps(piece.config) if isinstance(piece.config, CaseStudyConfig) else []
    if not steps:
        return True
    if not (piece.resources / "run.json").is_file():
        return False
    made_in = Run.open(piece.resources)
    return all(made_in.result(step) is not None for step in steps)


def unprepared(pieces: Sequence[Piece]) -> list[Piece]:
    """One piece of each folder of resources that lacks something its runs want."""
    missing = [piece for piece in pieces if not is_prepared(piece)]
    return list({piece.resources: piece for piece in reversed(missing)}.values())


def to_run(piece: Piece, left: Sequence[str]) -> list[str]:
    """The methods that are left, and what they need that the run folder does not have, if results came without it."""
    there = methods_there(piece.folder)
    return [method for method in piece.only(left).config.methods if method in left or method not in there]


def run_piece(
    folder: Path, piece: Piece, *, version: str, data_dir: Path | None, listener: Listener, say: Callable[[str], None]
) -> None:
    """Run what is left of one piece; each method's record and counts are saved as soon as it is finished."""

    def keep(record: dict[str, Any]) -> None:
        method, seed = record["method"], record["seed"]
        if (piece.config_id, method, seed) in done(folder):
            return
        whole = record | {"config_id": piece.config_id, "code": version, "seconds": seconds_of(piece.folder, method)}
        if piece.variant is not None:
            whole["variant"] = piece.variant.model_dump(mode="json", exclude={"methods"})
        add_result(folder, whole, method_folder(piece.folder, method) / "counts.npz")
        say(f"{piece.config.name}, {piece.name}: {method}")

    run_study(
        piece.config,
        piece.folder,
        data_dir=data_dir,
        resources=piece.resources,
        others=_beside(piece),
        listener=listener,
        keep=keep,
    )


def seconds_of(run: Path, method: str) -> float | None:
    """What the steps of a method took, in however many processes; None if it has none."""
    done = Run(method_folder(run, method)).finished()
    return round(sum(step.seconds for step in done), 1) if done else None


def _beside(piece: Piece) -> list[Path]:
    """The runs of the other variants with the same seed and the same encoder: their trainings may be the same."""
    if piece.variant is None:
        return []
    folders = [path for path in piece.folder.parent.parent.glob(f"*/{piece.folder.name}") if path != piece.folder]
    encoder = piece.resources.resolve()
    return sorted(path for path in folders if (shared_resources(path, None) or path).resolve() == encoder)
