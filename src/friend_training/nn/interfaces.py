"""What a task on torch has to define; everything else (training, labelling, saving) it shares with the others.

Its batches are of sequences of about equal length: what is padded is paid for.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from friend_training.core.task import Evaluation, Prediction, PseudoLabel
from friend_training.nn.heads import Head

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


class Item(Protocol):
    """One input, ready for the network: rendered once, used in every epoch."""

    @property
    def length(self) -> int: ...


class Batch(Protocol):
    """Items as tensors. `targets` stand beside the heads of the network's output, `weights` beside the units."""

    @property
    def targets(self) -> Sequence[Tensor]: ...

    @property
    def weights(self) -> Tensor: ...


class Definition(Protocol):
    """supar's three steps: examples → items, items → batch, network's output → predictions; and the metrics."""

    name: str
    label_type: Any

    @property
    def main_metric(self) -> str: ...

    @property
    def identity(self) -> Mapping[str, Any]:
        """Everything it was made with that changes what is learnt or which weights are best on dev, by name."""
        ...

    def network(self, encoder: Any) -> nn.Module:
        """The task's model on top of an encoder (`nn.encoders.AnyEncoder`, of the kind that the definition reads for),
        which it keeps as `encoder`: a batch in, a sequence of `Head` out. What it draws at random it draws by
        `nn.Dropout`: with several threads (nn/training.py) any other noise would not be the same again."""
        ...

    def save(self, folder: Path) -> None:
        """Write what belongs to the weights beside the encoder's shape: tokenizer or vocabulary, names of classes."""
        ...

    def check(self, folder: Path) -> None:
        """Refuse a folder that was saved by a definition with other words or classes than these."""
        ...

    def gold_items(self, examples: Sequence[Any]) -> Sequence[Item]: ...

    def pseudo_items(self, chosen: Sequence[PseudoLabel]) -> Sequence[Item]: ...

    def input_items(self, inputs: Sequence[Any]) -> Sequence[Item]: ...

    def inputs_of(self, examples: Sequence[Any]) -> Sequence[Any]: ...

    def units_in(self, example: Any) -> int: ...

    def collate(self, items: Sequence[Any]) -> Any: ...

    def decode(self, heads: Sequence[Head], batch: Any) -> list[list[Prediction]]:
        """One list of predictions per item of the batch. Heads and batch are on the processor, whatever the device."""
        ...

    def score(self, examples: Sequence[Any], predictions: Sequence[Sequence[Prediction]]) -> Evaluation: ...


@runtime_checkable
class RankingDefinition(Protocol):
    """What a definition has besides, for its labels to be decided on together with a friend's (`core.joint`)."""

    def n_best(self, heads: Sequence[Head], batch: Any, k: int) -> list[list[list[Prediction]]]:
        """The k likeliest labels of every unit of every item, the likeliest first."""
        ...

    def log_likelihood(
        self, heads: Sequence[Head], batch: Any, labels: Sequence[Sequence[Sequence[Any]]]
    ) -> list[list[list[float]]]:
        """The log-probabilities of some labels of every unit of every item."""
        ...
