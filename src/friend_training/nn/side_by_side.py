"""Batches side by side: with several threads each takes whole batches, instead of all sharing every small product.

Labelling batches are small so that they stay in the processor's caches; split over threads they would mostly wait for
each other. A batch that is computed by one thread alone also comes out in the same bits however many threads there are.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

T = TypeVar("T")
R = TypeVar("R")


def side_by_side(work: Callable[[T], R], parts: Sequence[T]) -> Iterator[R]:
    """`work` of every part, in their order, on as many threads as torch was given. A part alone gets them all."""
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
