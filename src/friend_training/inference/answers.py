"""What a trained model says about a dialogue, in words and places: plain frozen dataclasses, ready for JSON."""

from collections.abc import Sequence
from dataclasses import dataclass

from friend_training.core.task import Prediction
from friend_training.friendships.csrl_rewriting import RoleMatch, translate_roles
from friend_training.types import ROLES, Dialogue, Rewrite


@dataclass(frozen=True, slots=True)
class ArgumentFound:
    """Characters [start, end) of turn `turn` play this role.

    [-1, 0) is a turn's bare speaker: somebody who is meant but not named. Its text is 我 for the speaker of the last
    turn and 你 for the other; turn -1 stands for whoever has not spoken yet.
    """

    role: str
    text: str
    turn: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class RolesFound:
    """A predicate of the last turn, characters [start, end), and its arguments in the dialogue, by role."""

    predicate: str
    start: int
    end: int
    confidence: float
    arguments: tuple[ArgumentFound, ...]


@dataclass(frozen=True, slots=True)
class InsertionMade:
    """Characters [start, end) of turn `turn`, put before character `before` of the last turn (its length: the end)."""

    text: str
    before: int
    turn: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class RewriteMade:
    """The last turn as it reads without its context, and the edits that make it; `deleted` are character offsets."""

    text: str
    confidence: float
    deleted: tuple[int, ...]
    insertions: tuple[InsertionMade, ...]

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Judged:
    """How far a label can be trusted (section 4.3): overall = w · confidence + (1 - w) · match, w the weight.

    `match` and `overall` are None where there was nothing to match. `chosen`: friend-training would have learnt from
    this label, since its overall score reaches the task's pick threshold; if not, `reason` says why.
    """

    match: float | None
    confidence: float
    weight: float
    overall: float | None
    threshold: float
    chosen: bool
    reason: str


@dataclass(frozen=True, slots=True)
class PredicateAgreement:
    """One predicate: what the friends say role by role, and m_k = 1 - distance / longest over these characters."""

    predicate: str
    start: int
    end: int
    compared: tuple[RoleMatch, ...]
    distance: int
    longest: int
    judged: Judged


@dataclass(frozen=True, slots=True)
class Agreement:
    """Both friends' answers, how far they agree on each predicate, and on the utterance as a whole."""

    rewrite: RewriteMade
    roles: tuple[RolesFound, ...]
    predicates: tuple[PredicateAgreement, ...]
    utterance: Judged


def roles_found(dialogue: Dialogue, predictions: Sequence[Prediction]) -> tuple[RolesFound, ...]:
    """CSRL's predictions for one dialogue; its friendship knows how a bare speaker reads."""
    [translated] = translate_roles([dialogue], [predictions])
    found: list[RolesFound] = []
    for prediction, strings in zip(predictions, translated, strict=True):
        predicate = prediction.label.predicate
        ordered = sorted(prediction.label.arguments, key=lambda a: (ROLES.index(a.role), a.turn, a.start))
        found.append(
            RolesFound(
                predicate=dialogue.utterance.text[predicate.start : predicate.end],
                start=predicate.start,
                end=predicate.end,
                confidence=prediction.confidence,
                arguments=tuple(
                    ArgumentFound(a.role, string.text, a.turn, a.start, a.end)
                    for a, string in zip(ordered, strings, strict=True)
                ),
            )
        )
    return tuple(found)


def rewrite_made(dialogue: Dialogue, predictions: Sequence[Prediction]) -> RewriteMade:
    """The rewriter's prediction for one dialogue."""
    [prediction] = predictions
    label: Rewrite = prediction.label
    insertions = tuple(
        InsertionMade(dialogue.turns[i.turn].text[i.start : i.end], i.before, i.turn, i.start, i.end)
        for i in label.insertions
    )
    return RewriteMade(label.text, prediction.confidence, label.deleted, insertions)
