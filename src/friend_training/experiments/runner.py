"""Running an experiment, run by run; every result is saved as soon as it is there."""

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from friend_training.experiments.experiment import Piece
from friend_training.experiments.results import add_result, done
from friend_training.runs.progress import Listener
from friend_training.runs.run import Run
from friend_training.study.config import CaseStudyConfig
from friend_training.study.folders import method_folder, methods_there, shared_resources
from friend_training.study.resources import resource_steps
from friend_training.study.study import run_study


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
