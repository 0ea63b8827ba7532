"""How an argument of the current utterance is said: in full, by a short form, or not at all."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from friend_training.corpora.embedded.anaphora import SHORT_FORMS
from friend_training.corpora.embedded.clauses import say_in_full
from friend_training.corpora.embedded.entities import Entity, Kind
from friend_training.corpora.embedded.frames import Frame
from friend_training.corpora.embedded.labels import collision
from friend_training.corpora.embedded.pattern import Slot
from friend_training.corpora.embedded.pieces import Piece
from friend_training.corpora.embedded.stage import Stage


@dataclass(frozen=True, slots=True)
class Habits:
    """How often a speaker drops what is known, or uses a short form for it; else it is said in full.

    `asked`: the utterance takes up the clause before it (an answer, a correction), so that what is missing from it is
    what stood there. Otherwise only the referent of the moment may be dropped.
    """

    drop: float
    shorten: float
    asked: bool = False
    drop_speakers: float = 0.0


def realiser(stage: Stage, frame: Frame, habits: Habits) -> Callable[[Slot, Entity], list[Piece]]:
    """How to say an argument of `frame`; an entity that the context does not give is always said in full."""

    def realise(slot: Slot, entity: Entity) -> list[Piece]:
        chance = stage.rng.random()
        drop = habits.drop_speakers if entity.kind is Kind.SPEAKER else habits.drop
        if chance < drop and slot.droppable and (dropped := _dropped(stage, slot, entity, frame, habits)):
            return [dropped]
        if chance < drop + habits.shorten and (shortened := _shortened(stage, slot, entity, frame)):
            return [Piece(slot.marker), shortened] if slot.marker else [shortened]
        return say_in_full(slot, entity, speaker=stage.memory.speaker)

    return realise


def _dropped(stage: Stage, slot: Slot, entity: Entity, frame: Frame, habits: Habits) -> Piece | None:
    known = habits.asked or entity.kind is Kind.SPEAKER or stage.memory.referent(frame.kinds[slot.role]) == entity
    source = stage.memory.source(entity, marker=slot.marker) if known else None
    return Piece("", entity=entity, source=source) if source else None


def _shortened(stage: Stage, slot: Slot, entity: Entity, frame: Frame) -> Piece | None:
    source = stage.memory.source(entity)
    if entity.kind is Kind.SPEAKER or source is None:
        return None
    forms = [
        form
        for form in SHORT_FORMS
        if entity.kind in form.kinds
        and not (form.text == "它" and slot.role == "LOC")
        and stage.memory.referent(form.kinds & frame.kinds[slot.role]) == entity
    ]
    if not forms:
        return None
    form = stage.rng.choices(forms, [form.weight for form in forms])[0]
    return Piece(form.text, entity=entity, source=source)


def settle(pieces: list[Piece], *, turn: int) -> list[Piece]:
    """Make the utterance one that its edit script can rewrite, and whose antecedents are the nearest.

    What the utterance itself names in full earlier is recovered from there; where two insertions would fall on one
    offset (an edit script has one for each), the second argument is said in full.
    """
    settled = _nearest(pieces)
    while (i := collision(settled, turn=turn)) is not None:
        settled[i : i + 1] = _said_after_all(settled[i])
        settled = _nearest(settled)
    return settled


def _nearest(pieces: list[Piece]) -> list[Piece]:
    named: set[Entity] = set()
    nearest: list[Piece] = []
    for piece in pieces:
        if piece.source is not None and piece.entity in named:
            nearest += [replace(piece, echo=True)] if piece.source.lead == 0 else _said_after_all(piece)
        else:
            nearest.append(piece)
        if piece.is_full_mention and piece.entity is not None:
            named.add(piece.entity)
    return nearest


def _said_after_all(piece: Piece) -> list[Piece]:
    assert piece.entity is not None
    if piece.source is None:
        return [replace(piece, text=piece.entity.text, echo=False)]
    marker, text = piece.source.text[: piece.source.lead], piece.source.text[piece.source.lead :]
    mention = replace(piece, text=text, source=None, echo=False)
    return [Piece(marker), mention] if marker else [mention]
