"""A bridge that knows the truth about synthetic dialogues: what friend-training would be with a perfect SRL parser."""

from collections.abc import Sequence

from friend_training.core.task import Prediction
from friend_training.data.synthetic import SyntheticDialogue
from friend_training.tasks.csrl.model import unit_id
from friend_training.types import Sentence, SentenceRoles


class GoldBridge:
    """Answers from the gold sentence roles. A sentence or predicate that is not gold is a KeyError."""

    name = "gold"

    def __init__(self, made: Sequence[SyntheticDialogue]) -> None:
        self.texts = {one.dialogue.id: one.rewrite.text for one in made}
        self.roles = {one.dialogue.id: {label.predicate: label for label in one.sentence_roles} for one in made}

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]:
        for sentence in sentences:
            assert sentence.text == self.texts[sentence.id]
            assert sentence.predicates
        return [tuple(self.roles[s.id][predicate] for predicate in s.predicates) for s in sentences]


def gold_roles(made: Sequence[SyntheticDialogue]) -> list[list[Prediction]]:
    return [[Prediction(unit_id(one.dialogue.id, label.predicate), label, 1.0) for label in one.roles] for one in made]


def gold_rewrites(made: Sequence[SyntheticDialogue]) -> list[list[Prediction]]:
    return [[Prediction(one.dialogue.id, one.rewrite, 1.0)] for one in made]
