"""What the models of a run are given: dialogues from strings, pairs or objects, and how much of them at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from friend_training.errors import DataError
from friend_training.types import Dialogue, Predicate, Turn

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
