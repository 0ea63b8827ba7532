"""Batches of sequences of about equal length: what is padded is paid for."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

T = TypeVar("T")

CHUNK = 16
"""Training batches are sorted by length inside chunks of so many batches: near-random order, little padding."""


def pad(rows: Sequence[NDArray[np.int64]], value: int) -> Tensor:
    """Rows of different length → one tensor [len(rows), longest]."""
    table = np.full((len(rows), max(len(row) for row in rows)), value, dtype=np.int64)
    for number, row in enumerate(rows):
        table[number, : len(row)] = row
    return torch.from_numpy(table)


def training_batches(lengths: Sequence[int], size: int, generator: np.random.Generator) -> Iterator[list[int]]:
    """One epoch: every index once, in batches of `size`."""
    order = generator.permutation(len(lengths))
    batches: list[list[int]] = []
    for begin in range(0, len(order), size * CHUNK):
        chunk = sorted(order[begin : begin + size * CHUNK].tolist(), key=lambda index: lengths[index])
        batches.extend(chunk[start : start + size] for start in range(0, len(chunk), size))
    for number in generator.permutation(len(batches)):
        yield batches[number]


def endless_batches(lengths: Sequence[int], size: int, seed: int) -> Iterator[list[int]]:
    """Epoch after epoch; the order is the seed's."""
    generator = np.random.default_rng(seed)
    while True:
        yield from training_batches(lengths, size, generator)


def labelling_batches(lengths: Sequence[int], max_tokens: int) -> Iterator[list[int]]:
    """Every index once, longest first, as many in a batch as `max_tokens` padded tokens allow."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        if batch and (len(batch) + 1) * lengths[batch[0]] > max_tokens:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def in_batches(items: Sequence[T], length: Callable[[T], int], max_tokens: int) -> Iterator[tuple[list[int], list[T]]]:
    """Labelling batches together with their items."""
    for indices in labelling_batches([length(item) for item in items], max_tokens):
        yield indices, [items[index] for index in indices]
