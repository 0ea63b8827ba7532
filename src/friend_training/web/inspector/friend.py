"""What the friend says: both labels of a dialogue in the common space, as the run's own bridge and matcher see them.

The store keeps labels and scores, not translations. They are made again for the one dialogue that is looked at; the
bridge is loaded when the first is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from friend_training.core.task import Prediction
from friend_training.errors import FriendTrainingError
from friend_training.examples import Dialogue, Predicate, Rewrite, Roles, Sentence
from friend_training.friends.csrl_rewriting import RoleMatcher, TranslateRewrite, translate_roles
from friend_training.friends.taken_apart import RoleCompared, take_apart
from friend_training.scenarios.folders import run_config
from friend_training.tasks.rewriting.edits import place_of
from friend_training.tasks.srl.bridge import Bridge
from friend_training.web.inspector.drawing import Mark, sentence_marks


@dataclass(frozen=True, slots=True)
class ComparedPredicate:
    """One predicate: m_k = 1 − distance / longest, role by role; `read` is what the bridge sees in u_t'.

    `deleted`: the predicate has no place in u_t', so the rewrite says nothing of it.
    """

    start: int
    end: int
    text: str
    match: float
    distance: int
    longest: int
    roles: tuple[RoleCompared, ...]
    read: list[Mark]
    deleted: bool


@dataclass(frozen=True, slots=True)
class Compared:
    """`match` is m' of the utterance, None where there is no predicate to match."""

    rewrite: str
    predicates: tuple[ComparedPredicate, ...]
    match: float | None
    scoring: str
    mean: str


class Translator:
    """Compares the friends of the case study. `problem` says why it cannot, if so."""

    def __init__(self, study: Path) -> None:
        self.study = study
        self.problem: str | None = None
        self._matcher = RoleMatcher()
        self._bridge: Bridge | None = None
        self._lock = Lock()  # the bridge is a network: one question at a time

    def compare(self, dialogue: Dialogue, roles: Sequence[Roles], rewrite: Rewrite) -> Compared | None:
        """The roles are those of all predicates of u_t; None where the run's bridge is not at hand."""
        with self._lock:
            bridge = self._opened()
            if bridge is None:
                return None
            asked = Dialogue(dialogue.id, dialogue.turns, tuple(label.predicate for label in roles))
            [a] = translate_roles([asked], [[Prediction("", label, 1.0) for label in roles]])
            [b] = TranslateRewrite(bridge)([asked], [[Prediction("", rewrite, 1.0)]])
            places = [place_of(rewrite, asked.utterance.text, p.start, p.end) for p in asked.predicates]
            found = [Predicate(*place) for place in places if place is not None]
            answers = iter(bridge.label([Sentence(asked.id, rewrite.text, tuple(found))])[0] if found else ())
        [match] = self._matcher([a], [b])
        predicates = []
        for predicate, place, left, right in zip(asked.predicates, places, a, b, strict=True):
            apart = take_apart(self._matcher, left, right)
            predicates.append(
                ComparedPredicate(
                    start=predicate.start,
                    end=predicate.end,
                    text=asked.utterance.text[predicate.start : predicate.end],
                    match=apart.match,
                    distance=apart.distance,
                    longest=apart.longest,
                    roles=apart.roles,
                    read=[] if place is None else sentence_marks(next(answers)),
                    deleted=place is None,
                )
            )
        return Compared(rewrite.text, tuple(predicates), match.second[0], self._matcher.scoring, self._matcher.mean)

    def _opened(self) -> Bridge | None:
        if self._bridge is None and self.problem is None:
            # Only now torch: a page must not wait for it.
            from friend_training.scenarios.open_bridge import open_bridge

            try:
                config = run_config(self.study)
                self._matcher = RoleMatcher(**config.friendship.model_dump())
                self._bridge = open_bridge(self.study, config)
            except (FriendTrainingError, OSError) as error:
                self.problem = str(error)
        return self._bridge
