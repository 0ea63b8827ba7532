"""How far two friends agree about a dialogue: the friendship of the run, its selectors, and every score taken apart."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from friend_training.core.picks import Threshold
from friend_training.core.selector import Scores, Selector
from friend_training.core.task import Prediction
from friend_training.examples import Dialogue
from friend_training.friends.csrl_rewriting import RoleMatcher, csrl_rewriting
from friend_training.friends.taken_apart import take_apart
from friend_training.scenarios import config
from friend_training.scenarios.answers import Agreement, Judged, PredicateAgreement, rewrite_made, roles_found
from friend_training.tasks.srl.bridge import Bridge

Predictions = Sequence[Sequence[Prediction]]


class Judge:
    """Compares the friends' predictions as friend-training did in this run, and says what it would have chosen."""

    def __init__(self, settings: config.Config, bridge: Bridge, thresholds: Mapping[str, float]) -> None:
        self.bridge = bridge
        self.matcher = RoleMatcher(**settings.friendship.model_dump())
        self.friendship = csrl_rewriting(bridge, self.matcher)
        self.selectors = {
            "csrl": _selector(settings.tasks.csrl, thresholds["csrl"]),
            "rewriting": _selector(settings.tasks.rewriting, thresholds["rewriting"]),
        }

    def agreements(self, dialogues: Sequence[Dialogue], roles: Predictions, rewrites: Predictions) -> list[Agreement]:
        """One `Agreement` per dialogue; the bridge reads all rewrites together."""
        said_by_roles = self.friendship.translate_first(dialogues, roles)
        said_by_rewrites = self.friendship.translate_second(dialogues, rewrites)
        matches = self.matcher(said_by_roles, said_by_rewrites)
        agreements: list[Agreement] = []
        for n, dialogue in enumerate(dialogues):
            found = roles_found(dialogue, roles[n])
            judged = self._judged("csrl", roles[n], matches[n].first)
            [whole] = self._judged("rewriting", rewrites[n], matches[n].second)
            apart = [take_apart(self.matcher, a, b) for a, b in zip(said_by_roles[n], said_by_rewrites[n], strict=True)]
            predicates = tuple(
                PredicateAgreement(one.predicate, one.start, one.end, parts.roles, parts.distance, parts.longest, mark)
                for one, parts, mark in zip(found, apart, judged, strict=True)
            )
            agreements.append(Agreement(rewrite_made(dialogue, rewrites[n]), found, predicates, whole))
        return agreements

    def _judged(self, task: str, predictions: Sequence[Prediction], matches: Sequence[float | None]) -> list[Judged]:
        selector = self.selectors[task]
        scores = Scores(
            unit=[prediction.unit for prediction in predictions],
            confidence=np.array([prediction.confidence for prediction in predictions], np.float64),
            match=np.array(matches, np.float64),  # None → NaN
            content=np.array([prediction.content for prediction in predictions], np.bool_),
        )
        decided = selector.decide(scores, selector.cutoff([]))
        return [
            Judged(
                match=matches[n],
                confidence=prediction.confidence,
                weight=selector.confidence_weight,
                overall=None if math.isnan(decided.overall[n]) else float(decided.overall[n]),
                threshold=float(decided.threshold[n]),
                chosen=bool(decided.chosen[n]),
                reason=str(decided.reason[n]),
            )
            for n, prediction in enumerate(predictions)
        ]


def _selector(task: config.Task, threshold: float) -> Selector:
    """The selector of friend-training, whatever method made the models: its question is what is asked here."""
    return Selector(Threshold(threshold), task.confidence_weight, content=task.content)
