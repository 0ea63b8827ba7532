"""What a task on torch has to define; everything else (training, labelling, saving) it shares with the others."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from torch import Tensor, nn

from friend_training.core.counts import Evaluation
from friend_training.core.task import Prediction, PseudoLabel
from friend_training.nn.heads import Head


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
        `nn.Dropout`: with several threads (nn/threads.py) any other noise would not be the same again."""
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
