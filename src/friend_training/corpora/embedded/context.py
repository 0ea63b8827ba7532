"""The turns before the current utterance."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from friend_training.corpora.embedded import chat
from friend_training.corpora.embedded.anaphora import QUESTION_WORDS
from friend_training.corpora.embedded.clauses import Event, mark_topic, say_in_full, word_clause
from friend_training.corpora.embedded.entities import Entity, Kind
from friend_training.corpora.embedded.noise import add_noise
from friend_training.corpora.embedded.pattern import Pattern, Slot
from friend_training.corpora.embedded.pieces import Piece
from friend_training.corpora.embedded.stage import Stage
from friend_training.corpora.embedded.wordings import (
    ENDINGS,
    OPENERS,
    PLAIN_ENDINGS,
    QUESTION_ENDINGS,
    STATEMENTS,
    YES_NO_ENDINGS,
)

CONTEXT_NOISE = 0.12
ARGUMENT_ROLES = ("ARG0", "ARG1", "ARG2", "ARG3", "ARG4", "LOC")


def say(stage: Stage, pieces: list[Piece]) -> None:
    stage.memory.say(add_noise(pieces, rng=stage.rng, rate=CONTEXT_NOISE))


def chatter(stage: Stage, lines: Sequence[str]) -> None:
    say(stage, [Piece(stage.rng.choice(lines))])


def topic(stage: Stage, kinds: frozenset[Kind] = chat.TOPIC_KINDS) -> Entity:
    return stage.fresh(chat.TOPIC_KINDS & kinds & stage.entities.keys())


def introduce(stage: Stage, entity: Entity) -> None:
    lines = chat.INTRODUCTIONS + chat.INTRODUCTIONS_OF_KIND.get(entity.kind, ()) * 2
    say(stage, _name(stage.rng.choice(lines), entity, None))


def contrast(stage: Stage, entity: Entity, *, other: Entity) -> None:
    """Turn to `entity`, away from a distractor of its kind."""
    say(stage, _name(stage.rng.choice(chat.CONTRASTS), entity, other))


def misunderstand(stage: Stage, other: Entity) -> None:
    """Name a distractor only to set it aside: the topic stays."""
    say(stage, _name(stage.rng.choice(chat.ASIDES), None, other))


def state(stage: Stage, entity: Entity) -> None:
    """Tell something in which `entity` has a part."""
    frame, role = stage.frame_for(entity.kind, STATEMENTS, roles=ARGUMENT_ROLES)
    event, pattern = stage.event(frame, STATEMENTS, given={role: entity})
    tell(stage, event, pattern)


def tell(stage: Stage, event: Event, pattern: Pattern) -> None:
    pieces = word_clause(event, pattern, partial(say_in_full, speaker=stage.memory.speaker), predicate=0)
    ending = stage.rng.choice(endings(stage, event, question_rate=0.15))
    opener = stage.rng.choice(OPENERS) if stage.rng.random() < 0.25 else ""
    say(stage, _without_labels([Piece(opener), *mark_topic(pieces), Piece(ending)]))


def endings(stage: Stage, event: Event, *, question_rate: float) -> Sequence[str]:
    """Nobody asks what they did themselves, nor tells the other what that one did."""
    if stage.memory.speaker in event.fillers.values():
        return PLAIN_ENDINGS
    asking = stage.memory.listener in event.fillers.values() or stage.rng.random() < question_rate
    return YES_NO_ENDINGS if asking else ENDINGS


def ask(stage: Stage, event: Event, pattern: Pattern, *, role: str) -> None:
    """Ask for the filler of `role`: the wording with a question word in its slot, as Chinese asks."""

    def realise(slot: Slot, entity: Entity) -> list[Piece]:
        if slot.role != role:
            return say_in_full(slot, entity, speaker=stage.memory.speaker)
        return [Piece(slot.marker + stage.rng.choice(QUESTION_WORDS[entity.kind]))]

    pieces = word_clause(event, pattern, realise, predicate=0)
    opener = stage.rng.choice(("那", "对了，", "话说", "哎，")) if stage.rng.random() < 0.3 else ""
    ending = Piece(stage.rng.choice(QUESTION_ENDINGS))
    say(stage, _without_labels([Piece(opener), *mark_topic(pieces), ending]))


def _without_labels(pieces: list[Piece]) -> list[Piece]:
    """Only the current utterance has predicates; what is left of the clause is text and mentions."""
    return [replace(p, predicate=None, roles=()) for p in pieces]


def _name(line: str, entity: Entity | None, other: Entity | None) -> list[Piece]:
    pieces: list[Piece] = []
    for part in line.replace("{E}", "|E|").replace("{D}", "|D|").split("|"):
        if part == "E" and entity is not None:
            pieces.append(Piece(entity.text, entity=entity, salient=True))
        elif part == "D" and other is not None:
            pieces.append(Piece(other.text, entity=other, dismissed=True))
        elif part:
            pieces.append(Piece(part))
    return pieces
