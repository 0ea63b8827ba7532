"""Whole dialogues with the gold labels of CSRL, dialogue rewriting and the bridge."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from friend_training.data.synthetic import context, utterance
from friend_training.data.synthetic.entities import Domain
from friend_training.data.synthetic.labels import Labels, Piece, read_labels
from friend_training.data.synthetic.state import Stage, add_noise
from friend_training.data.synthetic.utterance import settle
from friend_training.types import CsrlExample, Dialogue, Rewrite, RewritingExample, Roles, SentenceRoles, Turn

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
