"""Is one method better than another? The paired bootstrap over seeds and test dialogues."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from friend_training.core.task import Counts

Metric = Callable[[Counts], Counts]

SIGNIFICANT = 0.05

ENOUGH_SEEDS = 5
"""With fewer an interval says little of what other seeds would do: it is printed, but nothing is called significant."""

_DRAWS_AT_ONCE = 2_000_000
"""Bounds the memory of resampling: so many dialogues are drawn in one go."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The metric of methods a and b (means over seeds), a - b, its confidence interval and two-sided p-value."""

    value_a: float
    value_b: float
    difference: float
    low: float
    high: float
    p_value: float
    seeds: int

    @property
    def significant(self) -> bool:
        """Whether a star is due."""
        return self.p_value < SIGNIFICANT and self.seeds >= ENOUGH_SEEDS


def paired_bootstrap(
    counts_a: Counts,
    counts_b: Counts,
    metric: Metric,
    *,
    samples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Comparison:
    """Resample seeds and test dialogues, the same for both methods; see how often the difference changes its sign.

    Counts are [seeds, dialogues, k], of the same seeds in the same order; `metric` maps summed counts [..., k] to
    values. A sample draws seeds with replacement and, for all of them, test dialogues with replacement: every seed has
    answered the same dialogues. Its value is the mean over the drawn seeds of the metric on the drawn dialogues. The
    interval is the percentile interval. The p-value belongs to it: twice the share of samples on the rarer side of 0
    (0 itself on both sides), the observed sample counted in, so it is never 0. A single seed can only be drawn as it
    is: its interval is over dialogues alone.
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

    The dialogues are drawn once for all, and counts that stand in several pairs (the same array) are summed once.
    """
    if not pairs:
        return []
    for pair in pairs:
        _check_alike(*pair, dialogues=pairs[0][0].shape[1])
    drawn = _drawn_differences(pairs, metrics, samples, seed)  # [pairs, metrics, samples]
    return [
        [_comparison(metric, *pair, differences, confidence) for metric, differences in zip(metrics, rows, strict=True)]
        for pair, rows in zip(pairs, drawn, strict=True)
    ]


def _check_alike(counts_a: Counts, counts_b: Counts, *, dialogues: int) -> None:
    alike = counts_a.ndim == 3 and counts_a.shape == counts_b.shape
    if not alike or counts_a.shape[1] != dialogues:
        raise ValueError(
            "expected counts [seeds, dialogues, k] of the same seeds and the same dialogues,"
            f" got {counts_a.shape} and {counts_b.shape}"
        )
    if not dialogues or not counts_a.shape[0]:
        raise ValueError(f"nothing to compare: got counts {counts_a.shape} and {counts_b.shape}")


def _drawn_differences(
    pairs: Sequence[tuple[Counts, Counts]], metrics: Sequence[Metric], samples: int, seed: int
) -> Counts:
    """The difference of each pair in each metric and sample → [pairs, metrics, samples]."""
    found: Counts = np.empty((len(pairs), len(metrics), samples))
    drawn_seeds = {count: _seed_weights(count, samples, seed) for count in {len(a) for a, _ in pairs}}
    # A method that stands in many pairs is summed once, and all methods in one product of matrices.
    methods = list({id(counts): counts for pair in pairs for counts in pair}.values())
    places = {id(counts): number for number, counts in enumerate(methods)}
    widths = [counts.shape[0] * counts.shape[2] for counts in methods]
    beside = np.concatenate([np.moveaxis(counts, 1, 0).reshape(counts.shape[1], -1) for counts in methods], axis=1)
    for chunk, times in _drawn_dialogues(pairs[0][0].shape[1], samples, seed):
        parts = np.split(times @ beside, np.cumsum(widths)[:-1], axis=1)  # [samples, seeds · k] of each method
        sums = [
            part.reshape(len(times), counts.shape[0], -1) for part, counts in zip(parts, methods, strict=True)
        ]  # [samples, seeds, k]
        for place, metric in enumerate(metrics):
            values = [metric(of_method) for of_method in sums]  # [samples, seeds]
            for number, (counts_a, counts_b) in enumerate(pairs):
                differences = values[places[id(counts_a)]] - values[places[id(counts_b)]]
                found[number, place, chunk] = (drawn_seeds[len(counts_a)][chunk] * differences).sum(-1)
    return found


def _seed_weights(count: int, samples: int, seed: int) -> Counts:
    """The share of each of `count` seeds in each sample."""
    return _multiplicities(np.random.default_rng([seed, count]), samples, count) / count


def _drawn_dialogues(dialogues: int, samples: int, seed: int) -> Iterator[tuple[slice, Counts]]:
    """Some of the samples at a time, and how often each dialogue was drawn in them."""
    generator = np.random.default_rng(seed)
    chunk = max(1, _DRAWS_AT_ONCE // dialogues)
    for start in range(0, samples, chunk):
        size = min(chunk, samples - start)
        yield slice(start, start + size), _multiplicities(generator, size, dialogues)


def _comparison(
    metric: Metric, counts_a: Counts, counts_b: Counts, differences: Counts, confidence: float
) -> Comparison:
    value_a, value_b = (float(metric(counts.sum(1)).mean()) for counts in (counts_a, counts_b))
    tail = (1 - confidence) / 2
    low, high = np.quantile(differences, [tail, 1 - tail])
    rarer = min(int((differences <= 0).sum()), int((differences >= 0).sum()))
    p_value = min(1.0, 2 * (rarer + 1) / (len(differences) + 1))
    return Comparison(value_a, value_b, value_a - value_b, float(low), float(high), p_value, len(counts_a))


def _multiplicities(generator: np.random.Generator, size: int, things: int) -> Counts:
    """How often each thing was drawn in each of `size` samples of `things` draws."""
    drawn = generator.integers(0, things, size=(size, things))
    drawn += np.arange(size)[:, None] * things  # one bincount for all samples
    counted = np.bincount(drawn.ravel(), minlength=size * things)
    return counted.reshape(size, things).astype(np.float64)
