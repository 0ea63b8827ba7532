"""The current utterance u_t: what may be said last, each kind with the turn before it that calls for it.

Every function says the context turns that it needs and returns the pieces of u_t.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from friend_training.data.synthetic import context
from friend_training.data.synthetic.clauses import (
    Event,
    Frame,
    Pattern,
    Slot,
    Wordings,
    fitting_patterns,
    read_pattern,
    say_in_full,
    word_clause,
)
from friend_training.data.synthetic.context import CLOSINGS, REACTIONS
from friend_training.data.synthetic.entities import SHORT_FORMS, Entity, Kind
from friend_training.data.synthetic.labels import Piece, collision
from friend_training.data.synthetic.state import Stage
from friend_training.data.synthetic.wordings import (
    CONFESSIONS,
    CORRECTIONS,
    ENDINGS,
    FURTHER,
    INQUIRIES,
    OPENERS,
    PLAIN_ENDINGS,
    QUESTION_ENDINGS,
    STATEMENTS,
    THEN,
    THOUGHTS,
)

# How an argument of the current utterance is said: in full, by a short form, or not at all.


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


# A second clause in the current utterance.


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


ANSWERING = Habits(drop=0.52, shorten=0.23, asked=True, drop_speakers=0.95)

CONTINUING = Habits(drop=0.38, shorten=0.38)

PERSONAL = Habits(drop=0.33, shorten=0.37, drop_speakers=0.95)

EXPLICIT = Habits(drop=0.0, shorten=0.0)

THINKING = Habits(drop=0.4, shorten=0.5, drop_speakers=0.75)


ARGUMENT_ROLES = ("ARG0", "ARG1", "ARG2", "ARG3", "ARG4", "LOC")


def answer(stage: Stage) -> list[Piece]:
    """A question for one role; the answer names it and leaves what is known unsaid."""
    event, pattern = stage.event(_any_frame(stage), STATEMENTS, self_rate=0.75, selves=(stage.memory.listener,))
    role = stage.rng.choice(_askable(event, pattern))
    context.ask(stage, event, pattern, role=role)
    return _take_up(stage, event, pattern, opener_rate=0.3)


def correct(stage: Stage) -> list[Piece]:
    """A claim or a yes-no question; the reply repeats it with another filler for one role."""
    event, pattern = stage.event(_any_frame(stage), STATEMENTS, self_rate=0.6)
    context.tell(stage, event, pattern)
    role = _changeable(stage, event)
    changed = Event(event.frame, {**event.fillers, role: stage.fresh({event.fillers[role].kind})})
    return [Piece(stage.rng.choice(CORRECTIONS)), *_take_up(stage, changed, pattern, opener_rate=0.0)]


def carry_on(stage: Stage) -> list[Piece]:
    """Something more about what the talk is about."""
    entity = _open_topic(stage)
    frame, role = stage.frame_for(entity.kind, STATEMENTS, roles=ARGUMENT_ROLES)
    return _about(stage, entity, frame, role, STATEMENTS, CONTINUING)


def get_personal(stage: Stage) -> list[Piece]:
    """The speaker's own relation to what the talk is about, or a question about the listener's."""
    personal = frozenset(kind for frame in stage.frames if frame.personal for kind in frame.kinds.get("ARG1", ()))
    entity = _open_topic(stage, kinds=personal)
    confessing = stage.rng.random() < 0.55
    wordings = CONFESSIONS if confessing else INQUIRIES
    frame, role = stage.frame_for(entity.kind, wordings, roles=("ARG1",), personal=True)
    given = {role: entity, "ARG0": stage.memory.speaker if confessing else stage.memory.listener}
    event, pattern = stage.event(frame, wordings, given=given)
    pieces = word_clause(event, pattern, realiser(stage, frame, PERSONAL), predicate=0)
    return _finish(stage, pieces, endings=PLAIN_ENDINGS if confessing else QUESTION_ENDINGS, opener_rate=0.25)


def spell_out(stage: Stage) -> list[Piece]:
    """A new event, everything in full: nothing to rewrite."""
    _open_topic(stage)
    event, pattern = stage.event(stage.rng.choice(stage.frames), STATEMENTS, self_rate=0.45)
    pieces = word_clause(event, pattern, realiser(stage, event.frame, EXPLICIT), predicate=0)
    if stage.rng.random() < 0.5:
        return _finish(stage, add_clause(stage, pieces, EXPLICIT), endings=ENDINGS, opener_rate=0.35)
    endings = context.endings(stage, event, question_rate=0.15)
    return _finish(stage, pieces, endings=endings, opener_rate=0.35)


def think(stage: Stage) -> list[Piece]:
    """What somebody thinks or has heard: a clause, complete in itself, as the ARG1 of 觉得, 听说 …"""
    entity = _open_topic(stage)
    frame, role = stage.frame_for(entity.kind, STATEMENTS, roles=ARGUMENT_ROLES)
    event, pattern = stage.event(frame, STATEMENTS, given={role: entity}, self_rate=0.0)
    clause = word_clause(event, pattern, realiser(stage, frame, EXPLICIT), predicate=1)
    persons = frozenset({Kind.MAN, Kind.WOMAN})
    other = stage.memory.referent(persons)
    thinker = other if other is not None and other != entity and stage.rng.random() < 0.25 else stage.memory.speaker
    thought = Frame(stage.rng.choice(THOUGHTS), frame.construction, {"ARG0": persons}, personal=True)
    main = Event(thought, {"ARG0": thinker})
    shell = word_clause(main, read_pattern("{0?}<V>"), realiser(stage, thought, THINKING), predicate=0)
    return _finish(
        stage, [*shell, Piece("", roles=((0, "ARG1"),), covers=len(clause)), *clause], endings=ENDINGS, opener_rate=0.1
    )


def close(stage: Stage) -> list[Piece]:
    """Chit-chat without a predicate."""
    _open_topic(stage)
    return [Piece(stage.rng.choice(CLOSINGS))]


def _open_topic(stage: Stage, *, kinds: frozenset[Kind] = frozenset(Kind)) -> Entity:
    """Bring up an entity, by itself, against a distractor or in a statement; perhaps a reaction follows."""
    entity, rng = context.topic(stage, kinds), stage.rng
    way = rng.random()
    if way < 0.3:
        context.introduce(stage, entity)
    elif way < 0.6:
        context.contrast(stage, entity, other=stage.fresh({entity.kind}))
    else:
        context.state(stage, entity)
    after = rng.random()
    if after < 0.2:
        context.chatter(stage, REACTIONS)
    elif after < 0.4:
        context.misunderstand(stage, stage.fresh({entity.kind}))
    return entity


def _about(stage: Stage, entity: Entity, frame: Frame, role: str, wordings: Wordings, habits: Habits) -> list[Piece]:
    """A clause with `entity` in `role`; other roles, too, may be filled by what the context names."""
    given = {role: entity}
    for other in sorted(frame.kinds.keys() - {role}):
        known = stage.memory.referent(frame.kinds[other])
        if known is not None and known not in given.values() and stage.rng.random() < 0.25:
            more = given | {other: known}
            given = more if fitting_patterns(frame, wordings, having=frozenset(more)) else given
    event, pattern = stage.event(frame, wordings, given=given)
    pieces = word_clause(event, pattern, realiser(stage, frame, habits), predicate=0)
    if stage.rng.random() < 0.35:
        return _finish(stage, add_clause(stage, pieces, habits), endings=ENDINGS, opener_rate=0.3)
    endings = context.endings(stage, event, question_rate=0.2)
    return _finish(stage, pieces, endings=endings, opener_rate=0.3)


def _take_up(stage: Stage, event: Event, pattern: Pattern, *, opener_rate: float) -> list[Piece]:
    """Say the event of the turn before once more, in the same wording or another, mostly without what is known."""
    others = fitting_patterns(event.frame, STATEMENTS, having=frozenset(event.fillers))
    others = [other for other in others if other.required <= event.fillers.keys()]
    wording = stage.rng.choice(others) if stage.rng.random() < 0.5 else pattern
    pieces = word_clause(event, wording, realiser(stage, event.frame, ANSWERING), predicate=0)
    if stage.rng.random() < 0.2:
        pieces = add_clause(stage, pieces, CONTINUING)
    return _finish(stage, pieces, endings=ENDINGS, opener_rate=opener_rate)


def _any_frame(stage: Stage) -> Frame:
    """People ask each other about each other, so half of the time it is something that the speakers may have done."""
    personal = [frame for frame in stage.frames if frame.personal]
    return stage.rng.choice(personal if stage.rng.random() < 0.5 else stage.frames)


def _changeable(stage: Stage, event: Event) -> str:
    """A role to correct: any but one that a speaker fills."""
    return stage.rng.choice([role for role, entity in event.fillers.items() if entity.kind is not Kind.SPEAKER])


def _askable(event: Event, pattern: Pattern) -> list[str]:
    """The roles that can be asked for: a question word is no topic (not 谁我喜欢), and nobody asks who 你 is."""
    order = [slot.role for slot in pattern.slots.values() if slot.role in event.fillers]
    known = [role for role in order if event.fillers[role].kind is not Kind.SPEAKER]
    return [role for role in known if role in ("ARG0", "TMP") or role != order[0]] or known


def _finish(stage: Stage, pieces: list[Piece], *, endings: Sequence[str], opener_rate: float) -> list[Piece]:
    """An opener and an ending around the clauses."""
    opener = stage.rng.choice(OPENERS) if stage.rng.random() < opener_rate else ""
    if pieces[-1].text.endswith(("呢", "啊", "吗", "没有")):
        endings = [ending for ending in endings if ending[:1] in "。？！~?"]
    return [Piece(opener), *pieces, Piece(stage.rng.choice(endings))]
