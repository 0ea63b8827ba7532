"""How many labels are right among the best few: what a stricter choice would gain, by match and by confidence."""

from dataclasses import dataclass

import numpy as np

from friend_training.scenarios.choices import Choices

SHARES = (0.05, 0.1, 0.2, 0.3)
"""Of the units whose labels say something."""


@dataclass(frozen=True, slots=True)
class Strictness:
    """The best `units` by friend-training's score and by confidence: how many of each are right, as a share."""

    share: float
    units: int
    by_match: float
    by_confidence: float


def strictness(made: Choices) -> list[Strictness]:
    """For each share that has units; shares with more units than have a match are left out."""
    said = made.scores.content
    agreed = np.flatnonzero(said & ~np.isnan(made.overall))
    sure = np.flatnonzero(said)
    best = agreed[np.argsort(-made.overall[agreed], kind="stable")]
    surest = sure[np.argsort(-made.scores.confidence[sure], kind="stable")]
    counts = [(share, round(share * len(sure))) for share in SHARES]
    return [
        Strictness(share, count, float(made.right[best[:count]].mean()), float(made.right[surest[:count]].mean()))
        for share, count in counts
        if 0 < count <= len(best)
    ]
