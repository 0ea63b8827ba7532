"""Rewriting by words and the slots of a bot as friends: what a rewrite adds of a slot's values, the slots must hold.

"And in the south?" that becomes "chinese food in the south" agrees with slots that hold food=chinese. The other way
round nothing is asked: slots hold what was said long ago, and of what gold slots inherit gold rewrites have a quarter
(experiments/english-few-shot/slots.py). So a rewrite that adds no value of a slot has nothing to match.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from friend_training.core.friendship import Friendship, Match
from friend_training.core.task import Prediction
from friend_training.tasks.coreference.mentions import queried
from friend_training.types import Dialogue, Mentioned

Values = frozenset[str]


def held_values(label: str) -> Values:
    """The values of a label of slots, "food=chinese; area=south", in lower case."""
    pairs = (one.partition("=") for one in label.split(";"))
    return frozenset(value.strip().lower() for _, found, value in pairs if found and value.strip())


@dataclass(frozen=True, slots=True)
class AddedValues:
    """The known values that a rewrite has and u_t has not."""

    known: Values

    def __call__(
        self, inputs: Sequence[Dialogue | Mentioned], predictions: Sequence[Sequence[Prediction]]
    ) -> list[Values]:
        return [
            self._in(units[0].label.text) - self._in(queried(given).dialogue.utterance.text)
            for given, units in zip(inputs, predictions, strict=True)
        ]

    def _in(self, text: str) -> Values:
        return frozenset(value for value in self.known if re.search(rf"\b{re.escape(value)}\b", text.lower()))


def translate_slots(inputs: Sequence[object], predictions: Sequence[Sequence[Prediction]]) -> list[Values | None]:
    """What the slots hold; None where they have no answer."""
    return [held_values(units[0].label) if units else None for units in predictions]


def match_values(first: Sequence[Values], second: Sequence[Values | None]) -> list[Match]:
    """M: the share of the added values that the slots hold."""
    found = []
    for added, held in zip(first, second, strict=True):
        score = None if not added or held is None else len(added & held) / len(added)
        found.append(Match((score,), () if held is None else (score,)))
    return found


def rewriting_slots(
    values: Sequence[str], rewriting: str = "rewriting", slots: str = "slots", *, name: str | None = None
) -> Friendship:
    """A rewriter by words and a task whose labels are slots, by name; `values` are all that slots can hold."""
    known = frozenset(value.lower() for value in values)
    title = name or f"{rewriting}-{slots}"
    return Friendship(title, rewriting, slots, AddedValues(known), translate_slots, match_values)
