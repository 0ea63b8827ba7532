"""Keep workers busy and hand out their results in order, holding no more than a few of them."""

from collections.abc import Iterator
from typing import Protocol

from friend_training.core.engines.work import Labelled
from friend_training.core.pool import ShardSource

AHEAD = 4
"""So many times the shards in work may be finished and wait for an earlier one, such as one that had to be redone."""


class Crew(Protocol):
    """Workers that take shards by number. `slots` shards can be with them at a time."""

    @property
    def slots(self) -> int: ...

    def begin(self, number: int, source: ShardSource) -> None: ...

    def finished(self) -> list[tuple[int, Labelled]]:
        """Wait until at least one of the shards begun is finished."""
        ...


def in_order(crew: Crew, sources: Iterator[ShardSource]) -> Iterator[Labelled]:
    """The results of all sources. Numbers are places in the order of sources."""
    begun = given = 0
    under_way = 0
    more = True
    done: dict[int, Labelled] = {}
    while True:
        while more and under_way < crew.slots and begun - given < (1 + AHEAD) * crew.slots:
            source = next(sources, None)
            more = source is not None
            if source is not None:
                crew.begin(begun, source)
                begun, under_way = begun + 1, under_way + 1
        if given in done:
            yield done.pop(given)
            given += 1
        elif under_way:
            for number, labelled in crew.finished():
                done[number] = labelled
                under_way -= 1
        else:
            return
