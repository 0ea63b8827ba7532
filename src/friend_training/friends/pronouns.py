"""Pronouns that stand for something said before.

A sentence parser finds 他 as the argument of a verb; CSRL's annotators wrote down whom it stands for instead: of the
5,044 arguments of DuConv's training dialogues 18 are a bare pronoun of the third person or a bare demonstrative, though
such words are all over their utterances. So where the bridge has found one, it has not found the argument, but it has
found that the role has one, mostly in an earlier turn.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from friend_training.examples import SPEAKER, Argument, Dialogue, Sentence, SentenceArgument, SentenceRoles
from friend_training.tasks.srl.bridge import Bridge

PRONOUNS = frozenset(["他", "她", "它", "他们", "她们", "它们", "其", "这", "那", "这个", "那个", "这些", "那些"])


def is_pronoun(dialogue: Dialogue, argument: Argument) -> bool:
    return argument.start != SPEAKER and _reads(dialogue.turns[argument.turn].text, argument.start, argument.end)


@dataclass(frozen=True, slots=True)
class WithoutPronouns:
    """A bridge whose answers leave out what stands for something else."""

    bridge: Bridge

    @property
    def name(self) -> str:
        return self.bridge.name

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]:
        return [
            tuple(SentenceRoles(label.predicate, _named(sentence.text, label)) for label in labels)
            for sentence, labels in zip(sentences, self.bridge.label(sentences), strict=True)
        ]


def _named(text: str, label: SentenceRoles) -> tuple[SentenceArgument, ...]:
    return tuple(argument for argument in label.arguments if not _reads(text, argument.start, argument.end))


def _reads(text: str, start: int, end: int) -> bool:
    return text[start:end] in PRONOUNS
