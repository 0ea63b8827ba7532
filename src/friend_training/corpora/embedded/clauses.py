"""Clauses: a frame with fillers, put into a wording."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from friend_training.corpora.embedded.entities import Entity, Kind
from friend_training.corpora.embedded.frames import Frame
from friend_training.corpora.embedded.pattern import Pattern, Slot, Wordings, read_pattern
from friend_training.corpora.embedded.pieces import Piece

ADJUNCT_RATES = {"TMP": 0.38, "LOC": 0.55, "PRP": 0.55}
"""How often an adjunct that a wording has room for is there."""

Realise = Callable[[Slot, Entity], list[Piece]]
"""How an argument is said in its slot; the pieces come without roles."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens, as a frame and who or what fills its roles."""

    frame: Frame
    fillers: dict[str, Entity]


@cache
def fitting_patterns(frame: Frame, wordings: Wordings, *, having: frozenset[str] = frozenset()) -> list[Pattern]:
    """The wordings that need no role the frame lacks and have room for all the roles in `having`."""
    patterns = [read_pattern(written) for written in wordings.written.get(frame.construction, ())]
    return [p for p in patterns if p.required <= frame.kinds.keys() and having <= p.slots.keys()]


def choose_roles(frame: Frame, pattern: Pattern, rng: random.Random) -> list[str]:
    """The roles to fill, in the order of the wording."""
    return [
        slot.role
        for slot in pattern.slots.values()
        if slot.role in frame.kinds and (not slot.optional or rng.random() < ADJUNCT_RATES[slot.role])
    ]


def word_clause(event: Event, pattern: Pattern, realise: Realise, *, predicate: int) -> list[Piece]:
    """The clause as pieces: its verb is predicate number `predicate` of the utterance."""
    pieces: list[Piece] = []
    for token in pattern.tokens:
        if isinstance(token, str):
            pieces.append(Piece(token))
        elif not isinstance(token, Slot):
            pieces.append(Piece(event.frame.verb, predicate=predicate))
        elif token.role in event.fillers:
            said = realise(token, event.fillers[token.role])
            pieces += [replace(p, roles=((predicate, token.role),)) if p.entity is not None else p for p in said]
    return pieces


def say_in_full(slot: Slot, entity: Entity, *, speaker: Entity) -> list[Piece]:
    """The marker and a full mention; the two speakers are 我 and 你."""
    text = entity.text if entity.kind is not Kind.SPEAKER else "我" if entity == speaker else "你"
    mention = Piece(text, entity=entity)
    return [Piece(slot.marker), mention] if slot.marker else [mention]


def mark_topic(pieces: list[Piece]) -> list[Piece]:
    """A statement is about the first thing or person it names (a time is neither)."""
    backdrop = (Kind.TIME, Kind.SPEAKER, Kind.PURPOSE)
    first = next((i for i, p in enumerate(pieces) if p.entity is not None and p.entity.kind not in backdrop), None)
    return [replace(p, salient=True) if i == first else p for i, p in enumerate(pieces)]
