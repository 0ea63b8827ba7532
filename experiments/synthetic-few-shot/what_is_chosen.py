"""What kind of CSRL pseudo-labels a run chose, against the hidden gold: python what_is_chosen.py RUN …

Prints one table row per method and iteration, means over the runs, and appends nothing.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

from pydantic import TypeAdapter

from friend_training.data import synthetic
from friend_training.data.synthetic import Domain
from friend_training.runs.run import Run
from friend_training.study.data import POOL_SEED
from friend_training.study.folders import method_folder, run_config
from friend_training.study.sections import SyntheticDataConfig
from friend_training.tasks.csrl.model import unit_id
from friend_training.types import Argument, Roles

ROLES = TypeAdapter(Roles)
COLUMNS = ("chosen", "gold has an argument elsewhere", "so does the label", "wrong", "wrong only by leaving out")


def rows(folder: Path, method: str) -> Iterator[tuple[int, list[float]]]:
    data = run_config(folder).data
    assert isinstance(data, SyntheticDataConfig)
    pool = synthetic.generate(data.pool, seed=POOL_SEED, domain=Domain(data.target), prefix="pool-")
    gold = {unit_id(one.dialogue.id, label.predicate): label.arguments for one in pool for label in one.roles}
    current = {one.dialogue.id: len(one.dialogue.turns) - 1 for one in pool}
    store = Run.open(method_folder(folder, method)).store
    for iteration in store.iterations():
        found: list[tuple[bool, bool, bool, bool]] = []
        for row in store.read(iteration).to_pylist():
            if row["task"] == "csrl" and row["chosen"]:
                label = ROLES.validate_json(row["label"]).arguments
                truth, turn = gold[row["unit"]], current[row["input"]]
                wrong = set(label) != set(truth)
                found.append((elsewhere(truth, turn), elsewhere(label, turn), wrong, set(label) < set(truth)))
        columns = list(zip(*found, strict=True)) or [(), (), (), ()]
        wrong = sum(columns[2])
        shares = [sum(column) / max(1, len(found)) for column in columns[:3]]
        yield iteration, [float(len(found)), *shares, sum(columns[3]) / max(1, wrong)]


def elsewhere(arguments: tuple[Argument, ...], turn: int) -> bool:
    return any(argument.turn != turn for argument in arguments)


def main(folders: list[Path]) -> None:
    print(f"| Method | Iteration | runs | {' | '.join(COLUMNS)} |\n|---|--:|--:|--:|--:|--:|--:|--:|")
    for method in ("sst", "sst-as-many", "fdt", "random-as-many"):
        by_iteration: dict[int, list[list[float]]] = {}
        for folder in folders:
            if (method_folder(folder, method) / "run.json").is_file():
                for iteration, values in rows(folder, method):
                    by_iteration.setdefault(iteration, []).append(values)
        for iteration, of_runs in by_iteration.items():
            count, *shares = (fmean(values) for values in zip(*of_runs, strict=True))
            cells = " | ".join(f"{100 * share:.0f} %" for share in shares)
            print(f"| {method} | {iteration} | {len(of_runs)} | {count:,.0f} | {cells} |")


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]])
