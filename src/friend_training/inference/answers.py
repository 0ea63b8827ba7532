"""What the models of a run are given, and what they return.

Questions are dialogues from strings, pairs or objects, and how much of them at a time. Answers say in words and places
what a model makes of a dialogue: plain frozen dataclasses, ready for JSON.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from friend_training.core.task import Prediction
from friend_training.errors import DataError
from friend_training.friendships.csrl_rewriting import RoleMatch, translate_roles
from friend_training.types import ROLES, Dialogue, Predicate, Rewrite, Turn


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


def left_unless_sure(made: RewriteMade, utterance: str, unless_sure: float) -> RewriteMade:
    """The rewrite, or, where that is less sure, the utterance as it is, with what is left of the probability."""
    if not 0 <= unless_sure <= 1:
        raise DataError(f"unless_sure is {unless_sure}, expected a probability from 0 to 1")
    if made.text == utterance or made.confidence >= unless_sure:
        return made
    return RewriteMade(utterance, 1 - made.confidence, (), ())


def rewrite_made(dialogue: Dialogue, predictions: Sequence[Prediction]) -> RewriteMade:
    """The rewriter's prediction for one dialogue."""
    [prediction] = predictions
    label: Rewrite = prediction.label
    insertions = tuple(
        InsertionMade(dialogue.turns[i.turn].text[i.start : i.end], i.before, i.turn, i.start, i.end)
        for i in label.insertions
    )
    return RewriteMade(label.text, prediction.confidence, label.deleted, insertions)


GivenTurn = str | tuple[str, str] | Turn

GivenDialogue = Dialogue | Sequence[GivenTurn]

GivenPredicate = str | tuple[int, int] | Predicate


SPEAKERS = ("A", "B")
"""Who speaks where nobody is named: two, in turn."""


def as_dialogue(given: GivenDialogue, predicates: Sequence[GivenPredicate] | None = None) -> Dialogue:
    """The dialogue that is meant; `predicates`, if given, are those of its last turn that are queried."""
    dialogue = given if isinstance(given, Dialogue) else Dialogue("asked", tuple(_turns(given)))
    if not dialogue.turns:
        raise DataError("the dialogue has no turns; expected at least one, the last is the one that is labelled")
    for number, turn in enumerate(dialogue.turns):
        _check_text(turn.speaker, f"the speaker of turn {number}")
        _check_text(turn.text, f"turn {number}")
    if not dialogue.utterance.text.strip():
        raise DataError("the last turn has no text, and it is the one that is labelled")
    if predicates is None:
        return dialogue
    return replace(dialogue, predicates=as_predicates(dialogue.utterance.text, predicates))


def as_predicates(text: str, given: Sequence[GivenPredicate]) -> tuple[Predicate, ...]:
    """Words (every place where they stand), offsets [start, end), or `Predicate`s; sorted, each once."""
    if isinstance(given, str):
        raise DataError(f"predicates are a list, such as [{given!r}]; this is a string")
    return tuple(sorted({place for one in given for place in _places(text, one)}))


def _turns(given: Sequence[GivenTurn]) -> Iterator[Turn]:
    if isinstance(given, str):
        raise DataError(f"a dialogue is a list of turns, such as [{given[:20]!r}]; this is one string")
    for number, turn in enumerate(given):
        match turn:
            case Turn():
                yield turn
            case str():
                yield Turn(SPEAKERS[number % len(SPEAKERS)], turn)
            case (str(speaker), str(text)):
                yield Turn(speaker, text)
            case _:
                raise DataError(f"turn {number} is a {type(turn).__name__}; expected a text or (speaker, text)")


def _places(text: str, given: GivenPredicate) -> Iterator[Predicate]:
    match given:
        case str():
            start = text.find(given) if given else -1
            if start < 0:
                raise DataError(f"the predicate {given!r} does not stand in the last turn, {text!r}")
            while start >= 0:
                yield Predicate(start, start + len(given))
                start = text.find(given, start + len(given))
        case Predicate(start=int(start), end=int(end)) | (int(start), int(end)):
            if not 0 <= start < end <= len(text):
                raise DataError(f"the predicate [{start}, {end}) is no span of a last turn of {len(text)} characters")
            yield Predicate(start, end)
        case _:
            raise DataError(f"a predicate is a word or (start, end), not a {type(given).__name__}")


def _check_text(text: str, where: str) -> None:
    """Half of a surrogate pair is no character: no tokenizer takes it and no file can hold it."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise DataError(f"{where} is not valid Unicode: it has a lone surrogate")


TOKENS = 16_384
"""Tokens labelled at a time, counted once for each predicate: attention over more would take gigabytes."""


Kind = Literal["rewrite", "roles", "agreement"]

Numbered = dict[int, Dialogue]


@dataclass(frozen=True, slots=True)
class Question:
    """What is wanted to know of a dialogue: about the predicates it names, or about those that are found in it."""

    kind: Kind
    dialogue: Dialogue
    find: bool = False


def question(kind: Kind, given: GivenDialogue, predicates: Sequence[GivenPredicate] | None) -> Question:
    """Predicates are those given, else those that the dialogue has, else those that a finder will see."""
    dialogue = as_dialogue(given, predicates)
    return Question(kind, dialogue, find=predicates is None and not dialogue.predicates)


def in_parts(dialogues: Numbered, lengths: dict[int, int]) -> list[list[int]]:
    """The dialogues in parts of at most `TOKENS` tokens, or of one dialogue; a length counts for each predicate."""
    parts: list[list[int]] = []
    used = 0
    for number, dialogue in dialogues.items():
        cost = lengths[number] * len(dialogue.predicates)
        if not parts or used + cost > TOKENS:
            parts.append([])
            used = 0
        parts[-1].append(number)
        used += cost
    return parts
