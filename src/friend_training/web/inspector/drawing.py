"""What a page colours in a dialogue: marks on its characters, and a rewrite as what stays, goes and comes.

Offsets count characters (code points), as everywhere here; the page cuts its texts by code points too.
"""

from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from friend_training.examples import Dialogue, Rewrite, Roles, SentenceRoles

PREDICATE, SOURCE = "predicate", "source"
"""Marks beside the names of roles: the predicate, and what a rewrite takes from a turn."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Characters [start, end) of a turn are this. [-1, 0) is the speaker; turn -1 is the opening turn, without text."""

    turn: int
    start: int
    end: int
    what: str


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a rewrite: kept, deleted, or inserted from a turn."""

    kind: Literal["kept", "deleted", "inserted"]
    text: str
    turn: int | None = None


def marks(dialogue: Dialogue, label: Roles | Rewrite) -> list[Mark]:
    """The predicate and its arguments, or what the rewrite inserts, where they stand in the dialogue."""
    if isinstance(label, Rewrite):
        return [Mark(insertion.turn, insertion.start, insertion.end, SOURCE) for insertion in label.insertions]
    current = len(dialogue.turns) - 1
    found = [Mark(argument.turn, argument.start, argument.end, argument.role) for argument in label.arguments]
    return [*found, Mark(current, label.predicate.start, label.predicate.end, PREDICATE)]


def sentence_marks(label: SentenceRoles) -> list[Mark]:
    """What the bridge sees in a sentence, which counts as turn 0."""
    found = [Mark(0, argument.start, argument.end, argument.role) for argument in label.arguments]
    return [*found, Mark(0, label.predicate.start, label.predicate.end, PREDICATE)]


def edits(dialogue: Dialogue, rewrite: Rewrite) -> list[Piece]:
    """u_t and u_t' in one, from left to right."""
    utterance = dialogue.utterance.text
    inserted = {insertion.before: insertion for insertion in rewrite.insertions}
    deleted = set(rewrite.deleted)
    pieces: list[Piece] = []
    for offset in range(len(utterance) + 1):
        if offset in inserted:
            span = inserted[offset]
            pieces.append(Piece("inserted", dialogue.turns[span.turn].text[span.start : span.end], span.turn))
        if offset < len(utterance):
            pieces.append(Piece("deleted" if offset in deleted else "kept", utterance[offset]))
    joined = groupby(pieces, key=lambda piece: (piece.kind, piece.turn))
    return [Piece(kind, "".join(piece.text for piece in group), turn) for (kind, turn), group in joined]
