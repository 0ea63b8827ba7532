"""Votes of several sources, each as reliable as it is: Dawid and Skene's model, fitted by EM without gold.

A source (a task, a bridge, a person) that has an opinion on an item is right with a reliability of its own for each
kind of item, and otherwise gives any of the other labels alike. Reliabilities and true labels are estimated together.
With three sources of one reliability this is "two of three". Two sources err independently only if they do not look at
the same thing: those that share an input are tempered, so that g of them together count as one opinion.

What cannot be seen without gold is shared by all: sources that make the same mistakes look reliable. `known` gives the
model the items whose label is known.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from friend_training.errors import ConfigError

Opinions = NDArray[np.int64]
"""[items, sources]: the label that each source gives, as a number from 0; SILENT where it has no opinion."""

SILENT = -1

_ROUNDS, _CLOSE = 500, 1e-9

_PRIOR_RIGHT, _PRIOR_WRONG = 2.0, 1.0
"""Of each source and kind so many opinions are added: no source is infallible for having agreed with all others."""


@dataclass(frozen=True, slots=True)
class Votes:
    """What the votes come to. `posterior` [items, labels] is the probability of each label to be the true one.

    `reliability` [kinds, sources] is how often a source is right; `frequency` [labels] how common each label is.
    `log_likelihood` is that of the opinions, `trace` the objective round by round, which never falls.
    """

    posterior: NDArray[np.float64]
    reliability: NDArray[np.float64]
    frequency: NDArray[np.float64]
    kinds: tuple[str, ...]
    log_likelihood: float
    trace: tuple[float, ...]

    @property
    def label(self) -> NDArray[np.int64]:
        """The likeliest label of each item; the first of equals."""
        return np.asarray(self.posterior.argmax(1), np.int64)

    @property
    def probability(self) -> NDArray[np.float64]:
        """How probably it is the true one."""
        return np.asarray(self.posterior.max(1))


def count_votes(
    opinions: Opinions,
    labels: int,
    *,
    kinds: Sequence[str] | None = None,
    shared: Sequence[Collection[int]] = (),
    known: Mapping[int, int] | None = None,
    frequency: Sequence[float] | None = None,
    reliability: float | None = None,
) -> Votes:
    """Find the true labels of items that three or more sources have opinions on.

    `kinds` names the kind of each item. `shared` are groups of sources that look at the same input. `known` gives
    labels of items (by place) that are certain. `frequency` fixes how common labels are, where the numbers of labels
    mean something else in each item; `reliability` makes all sources equally reliable: of three, two decide.
    """
    given = np.asarray(opinions, np.int64)
    _check(given, labels, kinds, shared)
    if reliability is not None and not 0 < reliability < 1:
        raise ConfigError(f"reliability is {reliability}; it must lie between 0 and 1, both excluded")
    names = tuple(sorted(set(kinds))) if kinds is not None else ("",)
    kind = np.array([names.index(name) for name in kinds]) if kinds is not None else np.zeros(len(given), np.int64)
    said = np.asarray(given != SILENT, np.bool_)
    weight = said * _tempered(said, shared)
    votes = np.zeros((*given.shape, labels), np.bool_)
    item, source = np.nonzero(said)
    votes[item, source, given[item, source]] = True
    fixed = np.zeros((len(given), labels))
    for place, label in (known or {}).items():
        fixed[place, label] = 1.0
    certain = np.asarray(fixed.any(1), np.bool_)

    majority = (votes * weight[..., None]).sum(1) + 1e-3
    posterior = np.where(certain[:, None], fixed, majority / majority.sum(1, keepdims=True))
    trace: list[float] = []
    while True:
        right = (
            _reliabilities(posterior, votes, weight, kind, len(names))
            if reliability is None
            else np.full((len(names), given.shape[1]), reliability)
        )
        common = _frequencies(posterior) if frequency is None else np.asarray(frequency, np.float64)
        joint = _joint(votes, weight, right[kind], common)
        log_items = np.where(certain, (joint * fixed).sum(1), np.logaddexp.reduce(joint, 1))
        posterior = np.where(certain[:, None], fixed, np.exp(joint - np.logaddexp.reduce(joint, 1)[:, None]))
        prior = 0.0
        if reliability is None:
            prior = (_PRIOR_RIGHT * np.log(right) + _PRIOR_WRONG * np.log1p(-right)).sum()
        if frequency is None:
            prior += np.log(common).sum()
        trace.append(float(log_items.sum() + prior))
        if len(trace) == _ROUNDS or (len(trace) > 1 and trace[-1] - trace[-2] < _CLOSE):
            return Votes(posterior, right, common, names, float(log_items.sum()), tuple(trace))


def _reliabilities(
    posterior: NDArray[np.float64],
    votes: NDArray[np.bool_],
    weight: NDArray[np.float64],
    kind: NDArray[np.int64],
    kinds: int,
) -> NDArray[np.float64]:
    agreed = weight * (votes * posterior[:, None, :]).sum(2)  # how probably each opinion is right
    right, given = np.zeros((kinds, weight.shape[1])), np.zeros((kinds, weight.shape[1]))
    np.add.at(right, kind, agreed)
    np.add.at(given, kind, weight)
    return np.asarray((right + _PRIOR_RIGHT) / (given + _PRIOR_RIGHT + _PRIOR_WRONG))


def _frequencies(posterior: NDArray[np.float64]) -> NDArray[np.float64]:
    counts = posterior.sum(0) + 1.0
    return np.asarray(counts / counts.sum())


def _joint(
    votes: NDArray[np.bool_], weight: NDArray[np.float64], right: NDArray[np.float64], common: NDArray[np.float64]
) -> NDArray[np.float64]:
    """log P(true label, opinions) of each item and label; `right` is [items, sources]."""
    wrong = (1 - right) / max(1, len(common) - 1)
    evidence = np.where(votes, np.log(right)[..., None], np.log(wrong)[..., None])
    return np.asarray(np.log(common) + (weight[..., None] * evidence).sum(1))


def _tempered(said: NDArray[np.bool_], shared: Sequence[Collection[int]]) -> NDArray[np.float64]:
    """The weight of each opinion: 1, or its share of a group of which several have one."""
    weight = np.ones(said.shape)
    for group in shared:
        columns = sorted(group)
        weight[:, columns] = 1.0 / np.maximum(1, said[:, columns].sum(1, keepdims=True))
    return weight


def _check(given: Opinions, labels: int, kinds: Sequence[str] | None, shared: Sequence[Collection[int]]) -> None:
    if given.ndim != 2 or given.shape[1] < 3 or not len(given):
        raise ConfigError(f"votes need items and three sources or more, got opinions of shape {given.shape}")
    if labels < 2 or given.min() < SILENT or given.max() >= labels:
        raise ConfigError(
            f"opinions are numbers from 0 to {labels - 1}, or {SILENT} for none; got {given.min()} to {given.max()}"
        )
    if kinds is not None and len(kinds) != len(given):
        raise ConfigError(f"{len(kinds)} kinds were given for {len(given)} items")
    grouped = [source for group in shared for source in group]
    if len(set(grouped)) < len(grouped) or not set(grouped) <= set(range(given.shape[1])):
        raise ConfigError(f"shared is {shared}: expected groups of sources, each source once, of {given.shape[1]}")
