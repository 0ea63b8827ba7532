"""Which items of each batch are this process's: the same batches as in one process, dealt out in turn.

Every process draws the same batches, which takes no more than the seed and the lengths of all items, and trains on
items rank, rank + world, … of each. All batches of a training are known beforehand, so a process makes and holds only
the items that it will train on: at most steps · batch size / processes of them, however many pseudo-labels there are.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from torch import Tensor

from friend_training.core.in_shards import InShards
from friend_training.core.processes import rank, world
from friend_training.core.task import PseudoLabel
from friend_training.nn.batching import endless_batches
from friend_training.nn.definition import Batch, Definition
from friend_training.nn.processes import gathered

T = TypeVar("T")

Part = Callable[[], Sequence[Any]]
"""Makes some of the items."""

Collate = Callable[[Sequence[Any]], Any]


class InParts:
    """Items that are made part by part, and again where they are needed; of all others only the length is known.

    All processes make it at the same time: each makes its share of the parts to measure them, and tells the others.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        mine = {part: [item.length for item in parts[part]()] for part in range(rank(), len(parts), world())}
        known = {part: lengths for of_process in gathered(mine) for part, lengths in of_process.items()}
        self._parts, self._counts = parts, [len(known[part]) for part in range(len(parts))]
        self.lengths = [length for part in range(len(parts)) for length in known[part]]

    def __len__(self) -> int:
        return len(self.lengths)

    def only(self, wanted: Collection[int]) -> dict[int, Any]:
        """Those items alone, by their number over all parts."""
        found: dict[int, Any] = {}
        begin = 0
        for part, count in zip(self._parts, self._counts, strict=True):
            here = [number for number in range(begin, begin + count) if number in wanted]
            if here:
                made = part()
                found |= {number: made[number - begin] for number in here}
            begin += count
        return found


Items = Sequence[Any] | InParts


def pseudo_parts(definition: Definition, pseudo: Sequence[PseudoLabel]) -> list[Part]:
    """Pseudo-labels that lie in shards are made into items shard by shard: no input is in two of them."""
    if not isinstance(pseudo, InShards):
        return [partial(definition.pseudo_items, pseudo)]
    return [partial(_items_of, definition, read) for read in pseudo.shards]


def _items_of(definition: Definition, read: Part) -> Sequence[Any]:
    return definition.pseudo_items(read())


def whole_or_parts(parts: Sequence[Part]) -> Items:
    """One process makes everything at once."""
    return [item for part in parts for item in part()] if world() == 1 else InParts(parts)


def own_batches(items: Items, collate: Collate, size: int, *, seed: int, steps: int) -> Iterator[Any]:
    """This process's part of the batch of each step, collated.

    A batch may be smaller than the number of processes. Whoever gets none of it computes its first item with the
    others, so that all of them do the same things in the same order, but none of its units counts (`not_counted`).
    """
    lengths = items.lengths if isinstance(items, InParts) else [item.length for item in items]
    batches = islice(endless_batches(lengths, size, seed), steps)
    if world() > 1:
        yield from _dealt_out(list(batches), items, collate)
        return
    assert not isinstance(items, InParts)
    for batch in batches:
        yield collate([items[index] for index in batch])


def batches_by_hand(
    items: Items, collate: Collate, size: int, *, seed: int, steps: int, hands: int
) -> Iterator[list[Any]]:
    """The same batches, each in one part for every thread that works on it (hands.py)."""
    if hands == 1:
        yield from ([batch] for batch in own_batches(items, collate, size, seed=seed, steps=steps))
        return
    assert not isinstance(items, InParts)  # several threads of one process, or several processes
    for batch in islice(endless_batches([item.length for item in items], size, seed), steps):
        dealt = [batch[hand::hands] for hand in range(min(hands, len(batch)))]
        yield [collate([items[index] for index in part]) for part in dealt]


def _dealt_out(batches: Sequence[list[int]], items: Items, collate: Collate) -> Iterator[Any]:
    dealt = [batch[rank() :: world()] for batch in batches]
    shares = [share or batch[:1] for share, batch in zip(dealt, batches, strict=True)]
    wanted = {index for share in shares for index in share}
    held = items.only(wanted) if isinstance(items, InParts) else items
    for share, counts in zip(shares, dealt, strict=True):
        batch = collate([held[index] for index in share])
        yield batch if counts else not_counted(batch)


def not_counted(batch: Any) -> Any:
    """The same batch (a dataclass) without weights, which is to say: none of its units counts."""
    return replace(batch, weights=batch.weights[:0])


def counted(values: Tensor, batch: Batch) -> Tensor:
    """Of the values of units [U] those that count."""
    return values[: len(batch.weights)]


def put_together(dealt: Sequence[Sequence[T]]) -> list[T]:
    """What was dealt out in turn, in its old order."""
    return [dealt[number % len(dealt)][number // len(dealt)] for number in range(sum(map(len, dealt)))]
