"""A sequence that lies on disk in shards: it is read, not held."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, overload

T = TypeVar("T")


class InShards(Sequence[T]):
    """Every look at it reads: whoever goes through it holds one shard at a time.

    `length` is known beforehand (the store counts what it chose), so that asking for it reads nothing.
    """

    def __init__(self, shards: Sequence[Callable[[], Sequence[T]]], length: int) -> None:
        self.shards, self._length = shards, length

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[T]:
        for read in self.shards:
            yield from read()

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...

    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        """Reads everything: what is needed in any order belongs in a list."""
        return list(self)[index]
