"""Is one method better than another? The paired bootstrap over test dialogues, seeds pooled."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from friend_training.core.counts import Counts

Metric = Callable[[Counts], Counts]

_DRAWS_AT_ONCE = 2_000_000
"""Bounds the memory of resampling: so many dialogues are drawn in one go."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The metric of methods a and b on the whole test set, a - b, its confidence interval and two-sided p-value."""

    value_a: float
    value_b: float
    difference: float
    low: float
    high: float
    p_value: float


def paired_bootstrap(
    counts_a: Counts,
    counts_b: Counts,
    metric: Metric,
    *,
    samples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Comparison:
    """Resample the test dialogues, the same for both methods, and see how often the difference changes its sign.

    Counts are [seeds, dialogues, k] (the number of seeds may differ); `metric` maps summed counts [..., k] to values.
    Seeds are pooled: a dialogue's counts are averaged over the seeds, then dialogues are drawn with replacement. The
    interval is the percentile interval. The p-value belongs to it: twice the share of samples on the rarer side of 0
    (0 itself on both sides), the observed sample counted in, so it is never 0.
    """
    pairs = [(counts_a, counts_b)]
    [[found]] = paired_bootstraps(pairs, [metric], samples=samples, seed=seed, confidence=confidence)
    return found


def paired_bootstraps(
    pairs: Sequence[tuple[Counts, Counts]],
    metrics: Sequence[Metric],
    *,
    samples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> list[list[Comparison]]:
    """`paired_bootstrap` of every pair in every metric, all of the same dialogues.

    Drawing the dialogues takes longest; it is done once for all.
    """
    if not pairs:
        return []
    for pair in pairs:
        _check_alike(*pair, dialogues=pairs[0][0].shape[1])
    pooled = [side.mean(0) for pair in pairs for side in pair]  # each [dialogues, k]
    drawn = _drawn_sums(np.concatenate(pooled, axis=1), samples, seed)
    sums = np.split(drawn, np.cumsum([side.shape[1] for side in pooled])[:-1], axis=1)
    return [
        [_comparison(metric, whole_a.sum(0), whole_b.sum(0), drawn_a, drawn_b, confidence) for metric in metrics]
        for whole_a, whole_b, drawn_a, drawn_b in zip(pooled[::2], pooled[1::2], sums[::2], sums[1::2], strict=True)
    ]


def _check_alike(counts_a: Counts, counts_b: Counts, *, dialogues: int) -> None:
    alike = counts_a.ndim == counts_b.ndim == 3 and counts_a.shape[1:] == counts_b.shape[1:]
    if not alike or counts_a.shape[1] != dialogues:
        raise ValueError(
            f"expected counts [seeds, dialogues, k] of the same dialogues, got {counts_a.shape} and {counts_b.shape}"
        )
    if not dialogues or not counts_a.shape[0] or not counts_b.shape[0]:
        raise ValueError(f"nothing to compare: got counts {counts_a.shape} and {counts_b.shape}")


def _drawn_sums(counts: Counts, samples: int, seed: int) -> Counts:
    """The sums of counts [dialogues, k] over each sample of dialogues → [samples, k]."""
    generator = np.random.default_rng(seed)
    dialogues = len(counts)
    chunk = max(1, _DRAWS_AT_ONCE // dialogues)
    sizes = [min(chunk, samples - start) for start in range(0, samples, chunk)]
    return np.concatenate([_multiplicities(generator, size, dialogues) @ counts for size in sizes])


def _comparison(
    metric: Metric, whole_a: Counts, whole_b: Counts, drawn_a: Counts, drawn_b: Counts, confidence: float
) -> Comparison:
    value_a, value_b = float(metric(whole_a)), float(metric(whole_b))
    differences = metric(drawn_a) - metric(drawn_b)
    tail = (1 - confidence) / 2
    low, high = np.quantile(differences, [tail, 1 - tail])
    rarer = min(int((differences <= 0).sum()), int((differences >= 0).sum()))
    p_value = min(1.0, 2 * (rarer + 1) / (len(differences) + 1))
    return Comparison(value_a, value_b, value_a - value_b, float(low), float(high), p_value)


def _multiplicities(generator: np.random.Generator, size: int, dialogues: int) -> Counts:
    """How often each dialogue was drawn in each of `size` samples of `dialogues` draws."""
    drawn = generator.integers(0, dialogues, size=(size, dialogues))
    drawn += np.arange(size)[:, None] * dialogues  # one bincount for all samples
    counted = np.bincount(drawn.ravel(), minlength=size * dialogues)
    return counted.reshape(size, dialogues).astype(np.float64)
