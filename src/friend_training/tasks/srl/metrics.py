"""The metric of sentence-level SRL: micro precision, recall and F1 over exact (role, span), in percent."""

from collections.abc import Sequence

from friend_training.core.counts import PRF, Evaluation
from friend_training.examples import SentenceRoles


def score_srl(predicted: Sequence[SentenceRoles], gold: Sequence[SentenceRoles]) -> Evaluation:
    pairs = zip(predicted, gold, strict=True)
    return Evaluation.of([PRF.of(p.arguments, g.arguments) for p, g in pairs], PRF())
