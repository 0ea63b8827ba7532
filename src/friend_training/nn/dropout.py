"""Dropout that draws one byte per element. Torch's draws a whole number for each: 5 to 10 % of a training step here.

That is so on processors; on any other device torch's own is used.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from friend_training.nn.devices import PROCESSOR

LEVELS = 256

_of_this_thread = threading.local()


@contextmanager
def drawing_from(generator: Generator) -> Iterator[None]:
    """In this thread dropout draws from that generator: threads that shared one would take turns by chance."""
    _of_this_thread.generator = generator
    try:
        yield
    finally:
        del _of_this_thread.generator


class ByteDropout(nn.Module):
    """`nn.Dropout` with p rounded to a multiple of 1/256 (0.1 becomes 26/256), scaled by what is really kept.

    The bytes come from torch's own generator, so its seed decides, as everywhere; or from one of `drawing_from`. On any
    other device than the processor it is `nn.Dropout`.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.given = p
        self.dropped = round(p * LEVELS)
        self.p = self.dropped / LEVELS  # attention of transformers asks its dropout for it

    def forward(self, values: Tensor) -> Tensor:
        if not self.training or self.dropped == 0:
            return values
        if values.device != PROCESSOR:
            return F.dropout(values, self.given)
        generator: Generator | None = getattr(_of_this_thread, "generator", None)
        words = torch.empty(-(-values.numel() // 8), dtype=torch.int64, device=PROCESSOR)
        words.random_(-(2**63), None, generator=generator)
        levels = words.view(torch.int8)[: values.numel()].view(values.shape)  # -128 to 127, all equally likely
        keep = torch.empty_like(values, requires_grad=False)
        torch.ge(levels, self.dropped - LEVELS // 2, out=keep)  # 0 or 1 at once: by way of bool it is ten times slower
        return values * keep.mul_(1 / (1 - self.p))

    def extra_repr(self) -> str:
        return f"p={self.p:.4f}"


def with_byte_dropout(module: nn.Module) -> nn.Module:
    """The same module with each `nn.Dropout` in it replaced."""
    for parent in list(module.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Dropout):
                setattr(parent, name, ByteDropout(child.p))
    return module
