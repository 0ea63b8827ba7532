"""How many arguments are right, by who has read them (CSRL, the bridge on u_t, the bridge on the rewrite); how good
labels are that are made of what they say; and how well a rewrite is judged by its own confidence and by its friend.

Base of each seed labels dev as if it had no labels. For diagnosis: nothing goes back into training.

    python experiments/real-few-shot-checked/readers.py RUNS   # the experiment's runs: has seed-1, seed-2, …
    python experiments/real-few-shot-checked/readers.py        # only print the table
"""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from friend_training.study.selection import probe_of
from scipy.stats import rankdata

from friend_training.core.friendship import Friendship, Merge
from friend_training.friendships.csrl_rewriting import RoleMatcher, csrl_rewriting
from friend_training.friendships.joint_labels import CheckedRoles, MergedRoles, Said, read_rewrites, read_utterances
from friend_training.loop.thresholds import Probe
from friend_training.nn.task import TorchTask
from friend_training.study.data import load_data
from friend_training.study.folders import run_config
from friend_training.study.open import open_bridge, open_task
from friend_training.study.tasks import TASKS
from friend_training.tasks.csrl.metrics import CsrlScore
from friend_training.types import SPEAKER, Argument, CsrlExample, Roles

RECORDS = Path(__file__).parent / "readers.jsonl"
READERS = ("CSRL", "bridge on u_t", "bridge on the rewrite")

Readings = Sequence[Sequence[Said]]
"""The arguments of each predicate of each dialogue."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="?", help="the folder with the experiment's runs: seed-1, seed-2, …")
    parser.add_argument("--data-dir", type=Path)
    given = parser.parse_args()
    if given.runs is not None:
        lines = [json.dumps(read(study, given.data_dir)) for study in sorted(given.runs.glob("seed-*"))]
        RECORDS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    records = [json.loads(line) for line in RECORDS.read_text(encoding="utf-8").splitlines()]
    print(readers_table(records), end="\n\n")
    print(by_seed("CSRL's labels of dev, F1", records, "labels", ".1f"), end="\n\n")
    print(by_seed("a rewrite is judged by", records, "judges", ".2f"))


def read(study: Path, data_dir: Path | None) -> dict[str, object]:
    """All that is measured of one seed's Base."""
    config = run_config(study)
    data = load_data(config.model_copy(update={"data": config.data.model_copy(update={"pool": 1})}), data_dir)
    bridge = open_bridge(study, config)
    csrl, rewriting = (open_task(study, name, "base").task for name in TASKS)
    inputs = [example.dialogue for example in data.csrl_dev]
    roles, rewrites = csrl.predict(inputs), rewriting.predict(inputs)
    own = [[frozenset(unit.label.arguments) for unit in units] for units in roles]
    plain, friend = read_utterances(bridge, inputs), read_rewrites(bridge, inputs, rewrites)
    said: dict[str, Readings] = dict(zip(READERS, (own, plain, friend), strict=True))
    unchecked, checked = CheckedRoles(bridge, "none"), CheckedRoles(bridge)
    merges: dict[str, Merge] = {"fdt-merged": MergedRoles(bridge), "unchecked": unchecked, "fdt-checked": checked}
    made = {name: merge(inputs, roles, rewrites) for name, merge in merges.items()}
    merged = {name: [[frozenset(u.label.arguments) for u in units] for units in one] for name, one in made.items()}
    friendship = csrl_rewriting(bridge, RoleMatcher(**config.friendship.model_dump()))
    return {
        "seed": config.seed,
        **readers(data.csrl_dev, said),
        "labels": {name: label_f1(data.csrl_dev, labels) for name, labels in (said | merged).items()},
        "judges": judges(probe_of(config, data, "rewriting"), csrl, rewriting, friendship),
    }


def readers(gold: Sequence[CsrlExample], said: dict[str, Readings]) -> dict[str, Counter[str]]:
    """Counts by place and readers: how many arguments there are and how many of them are gold."""
    there: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for example, *dialogue in zip(gold, *said.values(), strict=True):
        current = len(example.dialogue.turns) - 1
        for label, *readings in zip(example.roles, *dialogue, strict=True):
            for argument in frozenset().union(*readings):
                by = "+".join(name for name, one in zip(said, readings, strict=True) if argument in one)
                key = f"{_place(argument, current)}|{by}"
                there[key] += 1
                right[key] += argument in label.arguments
    return {"there": there, "right": right}


def label_f1(gold: Sequence[CsrlExample], labels: Readings) -> float:
    total = CsrlScore()
    for example, units in zip(gold, labels, strict=True):
        for label, arguments in zip(example.roles, units, strict=True):
            total += CsrlScore.of(Roles(label.predicate, tuple(arguments)), label, example.dialogue)
    return total.as_dict()["f1"]


def judges(probe: Probe, csrl: TorchTask, rewriting: TorchTask, friendship: Friendship) -> dict[str, float]:
    """How often a right rewrite is put before a wrong one, of those that insert something and have a predicate."""
    rewrites = rewriting.predict(probe.inputs)
    matches = friendship.match(probe.inputs, csrl.predict(probe.inputs), rewrites)
    rows = [
        (unit.confidence, match.second[0], probe.right(unit) is True)
        for [unit], match in zip(rewrites, matches, strict=True)
        if unit.content and match.second[0] is not None
    ]
    confidence, match, right = (np.array(column, float) for column in zip(*rows, strict=True))
    scores = {"confidence": confidence, "match": match, "0.8 confidence + 0.2 match": 0.8 * confidence + 0.2 * match}
    return {name: _before(score, right == 1.0) for name, score in scores.items()}


def _before(score: np.ndarray, right: np.ndarray) -> float:
    """The area under the ROC curve; equal scores count half."""
    ranks = rankdata(score)
    first, second = int(right.sum()), int((~right).sum())
    return float((ranks[right].sum() - first * (first + 1) / 2) / (first * second))


def _place(argument: Argument, current: int) -> str:
    if argument.start == SPEAKER:
        return "a bare speaker"
    return "in u_t" if argument.turn == current else "in another turn"


def readers_table(records: list[dict[str, Any]]) -> str:
    there, right = (sum((Counter(record[name]) for record in records), Counter()) for name in ("there", "right"))
    rows = [f"| the argument stands | read by | arguments ({len(records)} seeds) | right |", "|---|---|--:|--:|"]
    for key in sorted(there, key=lambda key: (key.split("|")[0], -right[key] / there[key])):
        place, readers = key.split("|")
        rows.append(
            f"| {place} | {readers.replace('+', ', ')} | {there[key]} | {100 * right[key] / there[key]:.0f} % |"
        )
    return "\n".join(rows)


def by_seed(title: str, records: list[dict[str, Any]], what: str, form: str) -> str:
    seeds = [record["seed"] for record in records]
    rows = [f"| {title} | {' | '.join(f'seed {seed}' for seed in seeds)} | mean |"]
    rows.append("|---|" + "--:|" * (len(seeds) + 1))
    for name in records[0][what]:
        found = [record[what][name] for record in records]
        rows.append(f"| {name} | {' | '.join(format(one, form) for one in (*found, fmean(found)))} |")
    return "\n".join(rows)


if __name__ == "__main__":
    main()
