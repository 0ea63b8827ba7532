"""The pool: unlabeled inputs, in shards that are read when they are needed and forgotten afterwards.

A list of inputs in memory is the simple case. The other is files of shards (data/sharded_pool.py): there an input
that cannot be read is set aside with its reason, because among a million dialogues some are always broken.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeVar, overload

from friend_training.core.task import Input
from friend_training.errors import DataError

T = TypeVar("T")


class InShards(Sequence[T]):
    """A sequence on disk, in shards: every access reads, and whoever goes through it holds one shard at a time.

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


@dataclass(frozen=True, slots=True)
class SetAside:
    """An input that could not be read: where it stands and what is wrong with it."""

    path: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class ReadShard:
    """What a shard holds."""

    inputs: Sequence[Input]
    set_aside: tuple[SetAside, ...] = ()


class ShardSource(Protocol):
    """Where one shard is to be had. It can be sent to another process, which then reads the same inputs."""

    def read(self) -> ReadShard: ...


class Pool(Protocol):
    """Shards of inputs, always the same ones in the same order; going over a pool gives all inputs, shard by shard."""

    @property
    def shards(self) -> int: ...

    def shard(self, number: int) -> ShardSource: ...

    def __iter__(self) -> Iterator[Input]: ...


Inputs: TypeAlias = Sequence[Input] | Pool
"""What the loop may be given."""


@dataclass(frozen=True, slots=True)
class InMemory:
    """A shard that is carried along as it is."""

    inputs: Sequence[Input]

    def read(self) -> ReadShard:
        return ReadShard(self.inputs)


@dataclass(frozen=True, slots=True)
class MemoryPool:
    """A list of inputs, cut into shards of `shard_size`."""

    inputs: Sequence[Input]
    shard_size: int

    @property
    def shards(self) -> int:
        return -(-len(self.inputs) // self.shard_size)

    def shard(self, number: int) -> InMemory:
        return InMemory(self.inputs[number * self.shard_size : (number + 1) * self.shard_size])

    def __iter__(self) -> Iterator[Input]:
        return iter(self.inputs)


def as_pool(inputs: Inputs, shard_size: int) -> Pool:
    return MemoryPool(inputs, shard_size) if isinstance(inputs, Sequence) else inputs


def is_empty(inputs: Inputs) -> bool:
    return not inputs if isinstance(inputs, Sequence) else inputs.shards == 0


def check_ids(inputs: Inputs) -> None:
    """Units go by the ids of their inputs, so no two inputs may share one. Files are checked when they are opened."""
    if not isinstance(inputs, Sequence):
        return
    seen: set[str] = set()
    for given in inputs:
        if given.id in seen:
            raise DataError(f"two inputs of the pool have the id {given.id!r}")
        seen.add(given.id)
