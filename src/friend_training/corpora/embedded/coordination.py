"""A second clause in the current utterance."""

from dataclasses import replace

from friend_training.corpora.embedded.clauses import Event, fitting_patterns, word_clause
from friend_training.corpora.embedded.entities import Entity, Kind
from friend_training.corpora.embedded.frames import Frame
from friend_training.corpora.embedded.pattern import Pattern, Slot
from friend_training.corpora.embedded.pieces import Piece
from friend_training.corpora.embedded.recovery import Habits, realiser
from friend_training.corpora.embedded.stage import Stage
from friend_training.corpora.embedded.wordings import CONFESSIONS, FURTHER, STATEMENTS, THEN

_EMPHASIS = ("是", "居然", "专门", "一个人", "就很", "才")


def add_clause(stage: Stage, first: list[Piece], habits: Habits) -> list[Piece]:
    """Go on with the subject of the first clause, or with the speaker's view of what the first clause names."""
    subject = _subject(first)
    if subject is not None and stage.rng.random() < 0.65:
        return _share_subject(stage, first, subject, habits)
    return _comment(stage, first)


def _subject(pieces: list[Piece]) -> int | None:
    """The index of an ARG0 that a next clause can share: before the verb, and not as the focus of 是 or 被."""
    verb = next(i for i, piece in enumerate(pieces) if piece.predicate is not None)
    for i, piece in enumerate(pieces[:verb]):
        if (0, "ARG0") in piece.roles:
            return None if any(p.text.endswith(("是", "被", "里")) for p in pieces[:i]) else i
    return None


def _share_subject(stage: Stage, first: list[Piece], at: int, habits: Habits) -> list[Piece]:
    subject = first[at].entity
    assert subject is not None
    choices = [
        (frame, pattern)
        for frame in stage.frames
        if (frame.personal if subject.kind is Kind.SPEAKER else subject.kind in frame.kinds.get("ARG0", ()))
        and first_verb(first) != frame.verb
        for pattern in fitting_patterns(frame, STATEMENTS)
        if _starts_with_subject(pattern)
    ]
    if not choices:
        return first
    frame, pattern = stage.rng.choice(choices)
    event = Event(frame, {"ARG0": subject, **_others(stage, frame, pattern, taken=subject)})
    realise = realiser(stage, frame, habits)

    def share(slot: Slot, entity: Entity) -> list[Piece]:
        return [] if slot.role == "ARG0" else realise(slot, entity)

    second = word_clause(event, pattern, share, predicate=1)
    shared = replace(first[at], roles=(*first[at].roles, (1, "ARG0")))
    return [*first[:at], shared, *first[at + 1 :], Piece(stage.rng.choice(FURTHER)), *second]


def _comment(stage: Stage, first: list[Piece]) -> list[Piece]:
    """我 … and the one thing that the first clause names and the verb takes: dropped, for it was just named."""
    objects = [
        (fitting[0], frame)
        for frame in stage.frames
        if frame.personal and "ARG2" not in frame.kinds and frame.verb != first_verb(first)
        if fitting_patterns(frame, CONFESSIONS) and len(fitting := _of_kinds(first, frame.kinds["ARG1"])) == 1
    ]
    if not objects:
        return first
    known, frame = stage.rng.choice(objects)
    assert known.entity is not None
    speaker = stage.memory.speaker
    unsaid = stage.memory.source(speaker) if stage.rng.random() < 0.6 else None
    subject = Piece("" if unsaid else "我", entity=speaker, source=unsaid)
    dropped = Piece("", entity=known.entity, source=known.source, echo=known.source is None)
    pattern = stage.rng.choice(fitting_patterns(frame, CONFESSIONS))
    event = Event(frame, {"ARG0": speaker, "ARG1": known.entity})

    def realise(slot: Slot, entity: Entity) -> list[Piece]:
        return [dropped if slot.role == "ARG1" else subject]

    return [*first, Piece(stage.rng.choice(THEN)), *word_clause(event, pattern, realise, predicate=1)]


def first_verb(pieces: list[Piece]) -> str:
    return next(piece.text for piece in pieces if piece.predicate is not None)


def _of_kinds(pieces: list[Piece], kinds: frozenset[Kind]) -> list[Piece]:
    return [piece for piece in pieces if piece.entity is not None and piece.entity.kind in kinds]


def _starts_with_subject(pattern: Pattern) -> bool:
    """A plain clause, without 是, 居然 and the like, which do not go well after 还 or 后来."""
    start = pattern.tokens[0]
    emphatic = any(isinstance(token, str) and token.startswith(_EMPHASIS) for token in pattern.tokens)
    return isinstance(start, Slot) and start.role == "ARG0" and not emphatic


def _others(stage: Stage, frame: Frame, pattern: Pattern, *, taken: Entity) -> dict[str, Entity]:
    """Fillers for the rest of the second clause: no adjuncts but what the wording requires, to keep it short."""
    others: dict[str, Entity] = {}
    for role in sorted(pattern.required - {"ARG0"}):
        known = stage.memory.referent(frame.kinds[role])
        reuse = known not in (None, taken, *others.values()) and stage.rng.random() < 0.4
        others[role] = known if known is not None and reuse else stage.fresh(frame.kinds[role])
    return others
