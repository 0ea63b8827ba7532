"""Several threads in one process, for training and for labelling.

In training each takes some of the items of a batch from the first layer to the last.
Torch's own way is to split every product over all threads; with networks as small as ours they mostly wait for each
other. Here they meet once per step. A thread's noise comes from a generator of its own, and its gradients are added to
the others' in a fixed order, so a seed and a number of threads give the same weights, to the bit, every time.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, TypeVar

import torch
from torch import Generator, Tensor, nn

from friend_training.core.seeds import derived_seed
from friend_training.nn.encoder import drawing_from
from friend_training.nn.heads import unit_losses
from friend_training.runs.processes import world

R = TypeVar("R")


Gradients = tuple[Tensor | None, ...]


LEAST_ITEMS = 4
"""Fewer items of a batch are not worth a thread of their own."""


class Hands:
    """As many threads as torch was given and a batch has work for. `count` is 1 where a network cannot be shared."""

    def __init__(self, network: nn.Module, *, batch_size: int, seed: int) -> None:
        self.network, self.threads = network, torch.get_num_threads()
        shared = world() == 1 and can_be_shared(network)
        self.count = max(1, min(self.threads, batch_size // LEAST_ITEMS)) if shared else 1
        self._generators = [Generator().manual_seed(derived_seed(seed, "hand", number)) for number in range(self.count)]
        self._threads: ThreadPoolExecutor | None = None

    def __enter__(self) -> "Hands":
        if self.count > 1:
            torch.set_num_threads(self.threads // self.count)  # new threads begin with what is set here
            self._threads = ThreadPoolExecutor(self.count)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._threads is not None:
            self._threads.shutdown()
            torch.set_num_threads(self.threads)

    def backward(self, parts: Sequence[Any]) -> Tensor:
        """Leave the gradients of the mean over all units of all parts at the weights, in place of what was there.

        The mean is returned.
        """
        assert self._threads is not None
        units = sum(len(part.weights) for part in parts)
        weights = [weight for weight in self.network.parameters() if weight.requires_grad]

        def gradients(part: Any, generator: Generator) -> tuple[Tensor, Gradients]:
            with drawing_from(generator):
                losses = unit_losses(self.network(part), part.targets)
            share = (losses * part.weights).sum() / units
            return share.detach(), torch.autograd.grad(share, weights, allow_unused=True)

        found = list(self._threads.map(gradients, parts, self._generators[: len(parts)]))
        for weight, given in zip(weights, zip(*(own for _, own in found), strict=True), strict=True):
            weight.grad = _added(given)
        return torch.stack([share for share, _ in found]).sum()

    def rested(self, work: Callable[[], R]) -> R:
        """What is done between steps has all threads for itself."""
        during_steps = torch.get_num_threads()
        torch.set_num_threads(self.threads)
        try:
            return work()
        finally:
            torch.set_num_threads(during_steps)


def can_be_shared(network: nn.Module) -> bool:
    """A graphics card has no use for threads; recurrent layers draw their dropout from torch's own generator."""
    on_card = any(weight.device.type != "cpu" for weight in network.parameters())
    return not on_card and not any(isinstance(part, nn.RNNBase) for part in network.modules())


def _added(gradients: Sequence[Tensor | None]) -> Tensor | None:
    used = [gradient for gradient in gradients if gradient is not None]
    return sum(used[1:], start=used[0]) if used else None


T = TypeVar("T")


def side_by_side(work: Callable[[T], R], parts: Sequence[T]) -> Iterator[R]:
    """`work` of every part, in their order, on as many threads as torch was given. A part alone gets them all.

    Labelling batches are small so that they stay in the processor's caches; split over threads they would mostly wait
    for each other. A batch that is computed by one thread alone also comes out in the same bits however many threads
    there are.
    """
    threads = torch.get_num_threads()
    if threads == 1 or len(parts) < 2:
        yield from map(work, parts)
        return
    torch.set_num_threads(1)  # new threads begin with what is set here
    try:
        with ThreadPoolExecutor(min(threads, len(parts))) as pool:
            yield from pool.map(work, parts)
    finally:
        torch.set_num_threads(threads)
