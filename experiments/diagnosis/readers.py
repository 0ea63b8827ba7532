"""How many arguments are right, by who has read them (CSRL, the bridge on u_t, the bridge on the rewrite); how good
labels are that are made of what they say; and how well a rewrite is judged by its own confidence and by its friend.

Base of each seed labels dev as if it had no labels. For diagnosis: nothing goes back into training.

    python experiments/diagnosis/readers.py RUNS   # the experiment's runs: has seed-1, seed-2, …
    python experiments/diagnosis/readers.py        # only print the table
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata
from seeds import by_seed, config_and_data, measured_seeds

from friend_training.core.friendship import Friendship
from friend_training.friendships.csrl_rewriting import RoleMatcher, csrl_rewriting
from friend_training.friendships.joint_labels import CheckedRoles, MergedRoles, Said, read_rewrites, read_utterances
from friend_training.loop.thresholds import Probe
from friend_training.nn.task import TorchTask
from friend_training.study.csrl_rewriting import TASKS
from friend_training.study.open import open_task
from friend_training.study.plans import probe_of
from friend_training.study.resources import open_bridge
from friend_training.tasks.csrl.metrics import CsrlScore
from friend_training.types import SPEAKER, Argument, CsrlExample, Roles

READERS = ("CSRL", "bridge on u_t", "bridge on the rewrite")

Readings = Sequence[Sequence[Said]]
"""The arguments of each predicate of each dialogue."""


def main() -> None:
    records = measured_seeds(measure, "archive/real-few-shot-checked/readers.jsonl", __doc__)
    print(readers_table(records), end="\n\n")
    print(by_seed("CSRL's labels of dev, F1", records, "labels"), end="\n\n")
    print(by_seed("a rewrite is judged by", records, "judges", ".2f"))


def measure(study: Path, data_dir: Path | None) -> dict[str, object]:
    """All that is measured of one seed's Base."""
    config, data = config_and_data(study, data_dir)
    bridge = open_bridge(study, config)
    csrl, rewriting = (open_task(study, name, "base").task for name in TASKS)
    inputs = [example.dialogue for example in data.tasks["csrl"].dev]
    roles, rewrites = csrl.predict(inputs), rewriting.predict(inputs)
    own = [[frozenset(unit.label.arguments) for unit in units] for units in roles]
    plain, friend = read_utterances(bridge, inputs), read_rewrites(bridge, inputs, rewrites)
    said: dict[str, Readings] = dict(zip(READERS, (own, plain, friend), strict=True))
    unchecked, checked = CheckedRoles(bridge, "none"), CheckedRoles(bridge)
    made = {
        "fdt-merged": MergedRoles(bridge)(inputs, roles, rewrites),
        "unchecked": unchecked(inputs, roles, (), rewrites),
        "fdt-checked": checked(inputs, roles, (), rewrites),
    }
    merged = {name: [[frozenset(u.label.arguments) for u in units] for units in one] for name, one in made.items()}
    friendship = csrl_rewriting(bridge, RoleMatcher(**config.friendship.model_dump()))
    return {
        "seed": config.seed,
        **readers(data.tasks["csrl"].dev, said),
        "labels": {name: label_f1(data.tasks["csrl"].dev, labels) for name, labels in (said | merged).items()},
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


if __name__ == "__main__":
    main()
