"""Near-duplicates: texts so alike that one of them in training would give away the other in the test."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence

from friend_training.corpora.normalise import normalise

_SHINGLE = 4
_ALIKE = 0.8
_COMMON = 50


class Clusters:
    """Sets of positions that grow together (union-find)."""

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))

    def find(self, item: int) -> int:
        while self._parent[item] != item:
            self._parent[item] = self._parent[self._parent[item]]
            item = self._parent[item]
        return item

    def join(self, first: int, second: int) -> None:
        low, high = sorted((self.find(first), self.find(second)))
        self._parent[high] = low

    def join_equal(self, keys: Sequence[Hashable | None]) -> None:
        """Joins the positions whose keys are equal; None is equal to nothing."""
        first: dict[Hashable, int] = {}
        for position, key in enumerate(keys):
            if key is not None:
                self.join(first.setdefault(key, position), position)

    def labels(self) -> list[int]:
        return [self.find(item) for item in range(len(self._parent))]


def join_near_duplicates(clusters: Clusters, texts: Sequence[str]) -> None:
    """Joins texts that are equal once normalised, or share at least 80 % of their 4-character pieces (Jaccard).

    Pairs are looked for through pieces that at most 50 texts have: two texts that are alike share rare pieces too.
    """
    plain = [normalise(text) for text in texts]
    clusters.join_equal([text or None for text in plain])
    pieces = [frozenset(text[i : i + _SHINGLE] for i in range(len(text) - _SHINGLE + 1)) for text in plain]
    holders: dict[str, list[int]] = defaultdict(list)
    for position, own in enumerate(pieces):
        for piece in own:
            holders[piece].append(position)
    for position, own in enumerate(pieces):
        earlier = Counter(
            other for piece in own if len(holders[piece]) <= _COMMON for other in holders[piece] if other < position
        )
        for other in earlier:
            shared = len(own & pieces[other])
            if shared >= _ALIKE * (len(own) + len(pieces[other]) - shared):
                clusters.join(position, other)
