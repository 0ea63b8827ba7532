"""The metric of sentence-level SRL: micro precision, recall and F1 over exact (role, span), in percent."""

from collections.abc import Sequence

from friend_training.core.counts import PRF
from friend_training.examples import SentenceRoles


def score_srl(predicted: Sequence[SentenceRoles], gold: Sequence[SentenceRoles]) -> dict[str, float]:
    pairs = zip(predicted, gold, strict=True)
    return sum((PRF.of(p.arguments, g.arguments) for p, g in pairs), start=PRF()).as_dict()
