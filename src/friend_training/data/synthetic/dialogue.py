"""Whole dialogues with the gold labels of CSRL, rewriting and the bridge; single sentences that train the bridge.

The sentences know the verbs of both domains, or else the bridge could not read a rewritten utterance, but are made
from other wordings (`wordings.py`) and other entities (Inventory.BRIDGE) than the dialogues: a test holds both apart.
So what the bridge learns is how Chinese marks roles, not what the dialogues say.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from friend_training.data.synthetic import context, utterance
from friend_training.data.synthetic.clauses import (
    Event,
    Frame,
    Slot,
    choose_roles,
    fitting_patterns,
    frames,
    say_in_full,
    word_clause,
)
from friend_training.data.synthetic.entities import Domain, Entity, Inventory, Kind, inventory
from friend_training.data.synthetic.labels import Labels, Piece, read_labels
from friend_training.data.synthetic.state import SPEAKERS, Stage, add_noise
from friend_training.data.synthetic.utterance import settle
from friend_training.data.synthetic.wordings import ENDS, JOINTS, OPINIONS, SENTENCES, SIDE_JOINTS, STARTS
from friend_training.types import (
    CsrlExample,
    Dialogue,
    Rewrite,
    RewritingExample,
    Roles,
    Sentence,
    SentenceRoles,
    SrlExample,
    Turn,
)

UTTERANCES: tuple[tuple[Callable[[Stage], list[Piece]], float], ...] = (
    (utterance.answer, 0.25),
    (utterance.correct, 0.09),
    (utterance.carry_on, 0.17),
    (utterance.get_personal, 0.21),
    (utterance.spell_out, 0.16),
    (utterance.think, 0.08),
    (utterance.close, 0.04),
)
UTTERANCE_NOISE = 0.15


@dataclass(frozen=True, slots=True)
class SyntheticDialogue:
    """A dialogue and all that is gold about its last turn; `roles` and `sentence_roles` follow the predicates."""

    dialogue: Dialogue
    roles: tuple[Roles, ...]
    rewrite: Rewrite
    sentence_roles: tuple[SentenceRoles, ...]


def generate(count: int, *, seed: int, domain: Domain, prefix: str = "", first: int = 0) -> list[SyntheticDialogue]:
    """`count` dialogues from number `first` on; each depends on seed, domain and its number alone."""
    return [_dialogue(f"{domain}-{seed}-{i}", domain, prefix) for i in range(first, first + count)]


def csrl_examples(dialogues: Sequence[SyntheticDialogue]) -> list[CsrlExample]:
    return [CsrlExample(made.dialogue, made.roles) for made in dialogues]


def rewriting_examples(dialogues: Sequence[SyntheticDialogue]) -> list[RewritingExample]:
    return [RewritingExample(made.dialogue, made.rewrite.text) for made in dialogues]


def _dialogue(name: str, domain: Domain, prefix: str) -> SyntheticDialogue:
    stage = Stage(random.Random(name), domain)
    makers, weights = zip(*UTTERANCES, strict=True)
    for _ in range(stage.rng.choice((2, 2, 3, 3, 4))):
        _lead_in(stage)
    pieces = stage.rng.choices(makers, weights)[0](stage)
    turn = len(stage.memory.turns)
    labels = read_labels(settle(add_noise(pieces, rng=stage.rng, rate=UTTERANCE_NOISE), turn=turn), turn=turn)
    turns = (*stage.memory.turns, Turn(stage.memory.speaker.text, labels.text))
    return _labelled(Dialogue(prefix + name, turns, tuple(roles.predicate for roles in labels.roles)), labels)


def _labelled(dialogue: Dialogue, labels: Labels) -> SyntheticDialogue:
    return SyntheticDialogue(dialogue, labels.roles, labels.rewrite, labels.sentence_roles)


def _lead_in(stage: Stage) -> None:
    """A turn before the topic that matters: chit-chat, or an older topic, whose entities are distractors later."""
    way = stage.rng.random()
    if not stage.memory.turns and way < 0.5:
        context.chatter(stage, context.GREETINGS)
    elif way < 0.3:
        context.chatter(stage, context.SMALL_TALK)
    elif way < 0.55:
        context.introduce(stage, context.topic(stage))
    else:
        context.state(stage, context.topic(stage))


SENTENCE_NOISE = 0.15
SPEAKER_RATE = 0.3
SHARE_RATE, SECOND_RATE, OPINION_RATE = 0.2, 0.35, 0.45
"""Cumulative: a second clause with the same subject, with a subject of its own, the sentence as somebody's opinion."""

_ME, _YOU = (Entity(Kind.SPEAKER, name) for name in SPEAKERS)
_in_full = partial(say_in_full, speaker=_ME)


def generate_sentences(count: int, *, seed: int, first: int = 0) -> list[SrlExample]:
    """`count` sentences from number `first` on; each depends on seed and its number alone."""
    return [_sentence(f"sentence-{seed}-{i}") for i in range(first, first + count)]


def _sentence(name: str) -> SrlExample:
    rng = random.Random(name)
    frame = rng.choice(frames(rng.choice(tuple(Domain))))
    way = rng.random()
    if SECOND_RATE < way < OPINION_RATE:
        pieces = _opinion(frame, rng)
    else:
        pieces = _clause(frame, rng, predicate=0)
        if way < SHARE_RATE:
            pieces = _share_subject(pieces, rng)
        elif way < SECOND_RATE:
            second = rng.choice(frames(rng.choice(tuple(Domain))))
            pieces += [Piece(rng.choice(SIDE_JOINTS)), *_clause(second, rng, predicate=1)]
    pieces = [Piece(rng.choice(STARTS)), *pieces, Piece(rng.choice(ENDS))]
    labels = read_labels(add_noise(pieces, rng=rng, rate=SENTENCE_NOISE), turn=0)
    sentence = Sentence(name, labels.text, tuple(roles.predicate for roles in labels.sentence_roles))
    return SrlExample(sentence, labels.sentence_roles)


def _clause(frame: Frame, rng: random.Random, *, predicate: int) -> list[Piece]:
    pattern = rng.choice(fitting_patterns(frame, SENTENCES))
    fillers = {role: _filler(frame, role, rng) for role in choose_roles(frame, pattern, rng)}
    return word_clause(Event(frame, fillers), pattern, _in_full, predicate=predicate)


def _filler(frame: Frame, role: str, rng: random.Random) -> Entity:
    if role == "ARG0" and frame.personal and rng.random() < SPEAKER_RATE:
        return rng.choice((_ME, _ME, _YOU))
    return rng.choice(inventory(Inventory.BRIDGE)[rng.choice(sorted(frame.kinds[role]))])


def _share_subject(first: list[Piece], rng: random.Random) -> list[Piece]:
    """A second clause without a subject of its own: the ARG0 that the first begins with is its ARG0, too."""
    subject = first[0]
    if subject.entity is None or subject.roles != ((0, "ARG0"),):
        return first
    kind = subject.entity.kind
    choices = [
        (frame, pattern)
        for domain in Domain
        for frame in frames(domain)
        if (frame.personal if kind is Kind.SPEAKER else kind in frame.kinds.get("ARG0", ()))
        for pattern in fitting_patterns(frame, SENTENCES)
        if isinstance(pattern.tokens[0], Slot) and pattern.tokens[0].role == "ARG0"
    ]
    frame, pattern = rng.choice(choices)
    fillers = {role: _filler(frame, role, rng) for role in choose_roles(frame, pattern, rng) if role != "ARG0"}
    second = word_clause(Event(frame, fillers), pattern, _in_full, predicate=1)
    shared = replace(subject, roles=(*subject.roles, (1, "ARG0")))
    return [shared, *first[1:], Piece(rng.choice(JOINTS)), *second]


def _opinion(frame: Frame, rng: random.Random) -> list[Piece]:
    """A clause as the ARG1 of 觉得, 听说 …"""
    clause = _clause(frame, rng, predicate=1)
    persons = inventory(Inventory.BRIDGE)[rng.choice((Kind.MAN, Kind.WOMAN))]
    holder = rng.choice((_ME, _YOU, rng.choice(persons)))
    text = holder.text if holder.kind is not Kind.SPEAKER else "我" if holder is _ME else "你"
    subject = Piece(text, entity=holder, roles=((0, "ARG0"),))
    verb = Piece(rng.choice(OPINIONS), predicate=0)
    adverb = Piece(rng.choice(("", "", "也", "早就", "一直", "当然")))
    return [subject, adverb, verb, Piece("", roles=((0, "ARG1"),), covers=len(clause)), *clause]
