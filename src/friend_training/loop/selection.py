"""Select from the labelled shards of one iteration: the second half of Algorithm 1's inner loop.

Both passes stream over the store; what stays in memory is one shard and the numbers a selector holds.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from friend_training.core.selector import Cutoff, FloatColumn, Line, Selector, Share
from friend_training.runs.corrections import Ruling, overruled, places_of, with_labels_by_hand
from friend_training.runs.store import Store, scores_of, with_decisions


def select_iteration(
    store: Store,
    iteration: int,
    shards: int,
    selectors: Mapping[str, Selector],
    *,
    learned: Mapping[str, Callable[[pa.Table], FloatColumn]] | None = None,
    by_hand: Mapping[str, Mapping[str, Ruling]] | None = None,
    advanced: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, dict[str, Any]]:
    """Write the shards with their decisions and return, per task, what was chosen. Labelled shards stay as they are.

    `learned` gives P(right) of rows, for the tasks whose selectors go by it (loop/gate.py). `by_hand` is what people
    ruled on units, by task: it goes over what the selectors decide.
    """
    learned = learned or {}
    cutoffs = {}
    for name, selector in selectors.items():
        balanced = selector.balance is not None
        batches = store.labelled_scores(iteration, shards, name, labels=balanced, learned=learned.get(name))
        cutoffs[name] = selector.cutoff(batches)
    tallies = {name: Tally() for name in selectors}
    for shard in range(shards):
        labelled = store.labelled(iteration, shard)
        before = store.selected(iteration - 1, shard, ["task", "unit", "label"]) if iteration > 1 else None
        decided = []
        for name, selector in selectors.items():
            rows = _of_task(labelled, name)
            scores = scores_of(rows, labels=selector.balance is not None, learned=learned.get(name))
            places = places_of(scores.unit, (by_hand or {}).get(name, {}))
            rows = with_decisions(rows, overruled(selector.decide(scores, cutoffs[name]), places))
            rows = with_labels_by_hand(rows, places)
            tallies[name].add(rows, None if before is None else _of_task(before, name))
            decided.append(rows)
        store.write_selected(iteration, shard, pa.concat_tables(decided))
        advanced(shard + 1, shards)
    return {name: tally.summary() | _threshold_of(selectors[name], cutoffs[name]) for name, tally in tallies.items()}


def _threshold_of(selector: Selector, line: Line) -> dict[str, float | None]:
    """Of a share the threshold that it came to in this iteration; any other is set, or on record where it was found.

    Where each kind of label has its own, it is the strictest of them.
    """
    if not isinstance(selector.pick, Share):
        return {}
    lines = [line] if isinstance(line, Cutoff) else list(line.values())
    found = [one.score for one in lines if not math.isnan(one.score)]
    return {"threshold": max(found, default=None)}


@dataclass(slots=True)
class Tally:
    """Sums over the shards of one task."""

    units: int = 0
    chosen: int = 0
    chosen_with_content: int = 0
    confidence: float = 0.0
    matched: int = 0
    match: float = 0.0
    audited: int = 0
    correct: int = 0
    chosen_audited: int = 0
    chosen_correct: int = 0
    seen_before: int = 0
    changed: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, rows: pa.Table, before: pa.Table | None) -> None:
        chosen = rows.filter(rows["chosen"])
        self.units += len(rows)
        self.chosen += len(chosen)
        self.chosen_with_content += pc.sum(chosen["content"]).as_py() or 0
        self.confidence += pc.sum(rows["confidence"]).as_py() or 0.0
        self.matched += pc.count(rows["match"]).as_py()
        self.match += pc.sum(rows["match"]).as_py() or 0.0
        self.audited += pc.count(rows["correct"]).as_py()
        self.correct += pc.sum(rows["correct"]).as_py() or 0
        self.chosen_audited += pc.count(chosen["correct"]).as_py()
        self.chosen_correct += pc.sum(chosen["correct"]).as_py() or 0
        self.reasons.update(rows["reason"].to_pylist())
        if before is not None:
            labels = dict(zip(before["unit"].to_pylist(), before["label"].to_pylist(), strict=True))
            now = zip(rows["unit"].to_pylist(), rows["label"].to_pylist(), strict=True)
            known = [labels[unit] != label for unit, label in now if unit in labels]
            self.seen_before += len(known)
            self.changed += sum(known)

    def summary(self) -> dict[str, Any]:
        """Shares are None where there is nothing to take a share of.

        `accuracy` is over all audited units and `precision` over the chosen ones: the paper's whole point is that the
        second is higher. `changed` is the share of units labelled otherwise than an iteration ago.
        """
        return {
            "units": self.units,
            "chosen": self.chosen,
            "chosen_with_content": self.chosen_with_content,
            "mean_confidence": _share(self.confidence, self.units),
            "mean_match": _share(self.match, self.matched),
            "accuracy": _share(self.correct, self.audited),
            "precision": _share(self.chosen_correct, self.chosen_audited),
            "changed": _share(self.changed, self.seen_before),
            "reasons": dict(sorted(self.reasons.items())),
        }


def _of_task(rows: pa.Table, task: str) -> pa.Table:
    return rows.filter(pc.equal(rows["task"], task))


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None
