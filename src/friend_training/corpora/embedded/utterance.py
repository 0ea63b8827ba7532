"""The current utterance u_t: what may be said last, each kind with the turn before it that calls for it.

Every function says the context turns that it needs and returns the pieces of u_t.
"""

from collections.abc import Sequence

from friend_training.corpora.embedded import context
from friend_training.corpora.embedded.chat import CLOSINGS, REACTIONS
from friend_training.corpora.embedded.clauses import Event, fitting_patterns, word_clause
from friend_training.corpora.embedded.coordination import add_clause
from friend_training.corpora.embedded.entities import Entity, Kind
from friend_training.corpora.embedded.frames import Frame
from friend_training.corpora.embedded.pattern import Pattern, Wordings, read_pattern
from friend_training.corpora.embedded.pieces import Piece
from friend_training.corpora.embedded.recovery import Habits, realiser
from friend_training.corpora.embedded.stage import Stage
from friend_training.corpora.embedded.wordings import (
    CONFESSIONS,
    CORRECTIONS,
    ENDINGS,
    INQUIRIES,
    OPENERS,
    PLAIN_ENDINGS,
    QUESTION_ENDINGS,
    STATEMENTS,
    THOUGHTS,
)

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
