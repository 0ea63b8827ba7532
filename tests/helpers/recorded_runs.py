"""The runs whose bytes are recorded, and how they are recorded anew: python -m helpers.recorded_runs in tests/.

Record anew only where results are meant to change, and say in the commit why.
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

GUARDS = Path(__file__).parents[1] / "guards"
RECORDED = GUARDS / "recorded"

FEW = ("base", "multitask-base", "sst", "mt", "cps", "scot", "stbr", "stea", "fdt")
"""The paper's methods."""

ALL = (
    *FEW,
    "base-same-steps",
    "base-full",
    "fdt-merged",
    "fdt-checked",
    "fdt-answers",
    "fdt-readers",
    "fdt-s",
    "fdt-sf",
    "sst-as-many",
    "fdt-shuffled",
    "random-as-many",
    "merged-random",
    "sst-readers",
    "checked-shuffled",
    "unchecked",
    "bridge-labels-all",
    "bridge-labels",
    "bridge-alone",
    "nothing-rewritten",
    "fdt-oracle",
    "fdt-gold-bridge",
)
"""Every method and control."""


def toy(folder: Path) -> None:
    """Two toy tasks in plain numpy, friends for two iterations."""
    from helpers.toy_runs import start, two_friends

    two_friends(start(folder))


def small(folder: Path) -> None:
    _study(folder, FEW)


def small_with_controls(folder: Path) -> None:
    _study(folder, ALL)


def _study(folder: Path, methods: tuple[str, ...]) -> None:
    from friend_training.cli.main import main

    given = ["run", str(GUARDS / "small.yaml"), "--out", str(folder), "--set", f"methods=[{', '.join(methods)}]"]
    try:
        main(given)
    except SystemExit as stopped:
        if stopped.code:
            raise RuntimeError(f"friend-train {' '.join(given)} ended with {stopped.code}") from None


RUNS: dict[str, Callable[[Path], None]] = {"toy": toy, "small": small, "small-with-controls": small_with_controls}


def description(folder: Path) -> dict[str, Any]:
    """What is recorded of a run."""
    from helpers.machine import fingerprint
    from helpers.run_contents import contents, step_files

    return {
        "machine": fingerprint(),
        "steps": step_files(folder),
        "contents": {
            name: {
                "digest": found.digest,
                "numbers": {key: float(f"{value:.6g}") for key, value in found.numbers.items()},
            }
            for name, found in contents(folder).items()
        },
    }


def record(names: list[str]) -> None:
    for name in names or list(RUNS):
        with tempfile.TemporaryDirectory() as place:
            RUNS[name](Path(place) / name)
            text = json.dumps(description(Path(place) / name), indent=1, sort_keys=True)
        (RECORDED / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = "1"
    record(sys.argv[1:])
