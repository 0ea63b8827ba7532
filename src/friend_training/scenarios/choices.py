"""What matching and confidence would choose of the same labelled units, and which errors each of them catches."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from friend_training.core.picks import Threshold, TopN
from friend_training.core.selector import BoolColumn, Scores, Selector
from friend_training.scenarios.config import Config, Task
from friend_training.scenarios.folders import methods_there
from friend_training.scenarios.found_thresholds import threshold_at
from friend_training.scenarios.pick_thresholds import ToShare, pick_of
from friend_training.scenarios.tasks import TaskName


@dataclass(frozen=True, slots=True)
class Choice:
    """One rule: which units it chooses, and how many of them are right."""

    rule: str
    chosen: BoolColumn
    right: int

    @property
    def count(self) -> int:
        return int(self.chosen.sum())

    @property
    def precision(self) -> float | None:
        return self.right / self.count if self.count else None


@dataclass(frozen=True, slots=True)
class Choices:
    """All rules over the units of one task; `overall` is friend-training's score of each, NaN without a match."""

    scores: Scores
    right: BoolColumn
    overall: np.ndarray
    by_match: Choice
    by_confidence: Choice | None
    as_many: Choice

    @property
    def rules(self) -> list[Choice]:
        return [rule for rule in (self.by_match, self.by_confidence, self.as_many) if rule is not None]

    def caught_by_match(self) -> list[int]:
        """Errors that as many by confidence would take in and matching keeps out, the surest first."""
        wrong = self.as_many.chosen & ~self.by_match.chosen & ~self.right
        return _ordered(wrong, -self.scores.confidence)

    def caught_by_confidence(self) -> list[int]:
        """The reverse: errors on which the friends agree and that are not among the surest, best agreement first."""
        wrong = self.by_match.chosen & ~self.as_many.chosen & ~self.right
        return _ordered(wrong, -self.overall)

    def lost_by_match(self) -> list[int]:
        """Right labels that say something and that matching throws away, the surest first."""
        lost = self.right & self.scores.content & ~self.by_match.chosen
        return _ordered(lost, -self.scores.confidence)


def choices(
    study: Path,
    config: Config,
    method: str,
    task: TaskName,
    iteration: int,
    scores: Scores,
    right: BoolColumn,
    balance: Mapping[str, float] | None = None,
) -> Choices:
    """By match with the thresholds of `method`, by confidence with self-training's own, and by confidence as many.

    Where self-training finds its threshold while it runs and was not run here, nobody knows it: that rule is left out.
    With a `balance` each kind of label has a threshold of its own, so shares are taken of these units themselves.
    """
    section = getattr(config.tasks, task)
    if balance is not None and isinstance(section.pick_threshold, ToShare):
        return _balanced(section, scores, right, balance)
    friends = threshold_at(study, method, task, iteration, section.pick_threshold)
    matching = Selector(Threshold(friends), section.confidence_weight, content=section.content)
    by_match = _choice(f"match and confidence ≥ {friends:.2f}", matching, scores, right)
    alone = None
    if isinstance(section.sst_threshold, float) or "sst" in methods_there(study):
        own = threshold_at(study, "sst", task, iteration, section.sst_threshold)
        by_own = Selector(Threshold(own), 1.0, content=section.content)
        alone = _choice(f"confidence ≥ {own:.2f}", by_own, scores, right)
    surest = Selector(TopN(by_match.count), 1.0, content=section.content)
    return Choices(
        scores=scores,
        right=right,
        overall=matching.overall(scores),
        by_match=by_match,
        by_confidence=alone,
        as_many=_choice("confidence, as many", surest, scores, right),
    )


def _balanced(section: Task, scores: Scores, right: BoolColumn, balance: Mapping[str, float]) -> Choices:
    share = pick_of(section.pick_threshold)
    matching = Selector(share, section.confidence_weight, content=section.content, balance=balance)
    by_match = _choice("match and confidence, a balanced share", matching, scores, right)
    surest = Selector(TopN(by_match.count), 1.0, content=section.content, balance=balance)
    as_many = _choice("confidence, as many", surest, scores, right)
    return Choices(scores, right, matching.overall(scores), by_match, None, as_many)


def _choice(rule: str, selector: Selector, scores: Scores, right: BoolColumn) -> Choice:
    chosen = selector.decide(scores, selector.cutoff([scores])).chosen
    return Choice(rule, chosen, int((chosen & right).sum()))


def _ordered(holds: BoolColumn, key: np.ndarray) -> list[int]:
    found = np.flatnonzero(holds)
    return [int(place) for place in found[np.argsort(key[found], kind="stable")]]
