"""Splits by dialogue: no dialogue stands on two sides, nor do near-duplicates of each other."""

import random
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from friend_training.errors import DataError
from friend_training.types import CoreferenceExample, CsrlExample, Dialogue, RewritingExample, dialogue_group

# When two texts count as the same: case, width, punctuation and spaces aside.


def normalise(text: str) -> str:
    """Letters, digits and Chinese characters only, in one width and case."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).lower()))


# Near-duplicates: texts so alike that one of them in training would give away the other in the test.


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


SPLIT_SEED = 20230517
"""The seed of every split of the experiments: fixed, so that all runs see the same dev and test sets."""


Labelled = CsrlExample | RewritingExample | CoreferenceExample


E = TypeVar("E", Dialogue, CsrlExample, RewritingExample, CoreferenceExample)


def split(examples: Sequence[E], sizes: Mapping[str, int | None], *, seed: int = SPLIT_SEED) -> dict[str, list[E]]:
    """Parts of the given sizes, counted in source dialogues; None takes all that is left. Order is kept within a part.

    Clusters of dialogues that must stay together are shuffled and go to the first part that has room for them; a part
    that cannot be filled exactly is an error. The outcome depends on the examples and the seed, not on their order.
    """
    dialogues = [_dialogue(example) for example in examples]
    label_of = clusters_of(examples)
    members: dict[int, set[str]] = defaultdict(set)
    for dialogue, label in zip(dialogues, label_of, strict=True):
        members[label].add(dialogue_group(dialogue.id))
    order = sorted(members, key=lambda label: min(members[label]))
    random.Random(seed).shuffle(order)

    room = dict(sorted(sizes.items(), key=lambda item: item[1] is None))  # the part for the rest comes last
    side: dict[int, str] = {}
    for label in order:
        for name, left in room.items():
            if left is None or left >= len(members[label]):
                side[label] = name
                room[name] = None if left is None else left - len(members[label])
                break
    short = {name: left for name, left in room.items() if left}
    if short:
        total, largest = sum(map(len, members.values())), max(map(len, members.values()))
        raise DataError(
            f"cannot fill {', '.join(f'{name} ({left} missing)' for name, left in short.items())} "
            f"from {total} dialogues, of which up to {largest} must stay together"
        )
    parts: dict[str, list[E]] = {name: [] for name in sizes}
    for example, label in zip(examples, label_of, strict=True):
        if label in side:
            parts[side[label]].append(example)
    return parts


def clusters_of(examples: Sequence[Dialogue | Labelled]) -> list[int]:
    """For each example the number of its cluster: cuts of one dialogue, near-duplicates, and rewriting cases that ask
    about the same context."""
    dialogues = [_dialogue(example) for example in examples]
    clusters = Clusters(len(examples))
    groups = [dialogue_group(dialogue.id) for dialogue in dialogues]
    clusters.join_equal(groups)
    clusters.join_equal([_context(example) for example in examples])
    # Cuts of one dialogue contain each other; its longest cut stands for all.
    longest: dict[str, int] = {}
    for position, (group, dialogue) in enumerate(zip(groups, dialogues, strict=True)):
        if group not in longest or len(dialogue.turns) > len(dialogues[longest[group]].turns):
            longest[group] = position
    whole = Clusters(len(longest))
    positions = list(longest.values())
    join_near_duplicates(whole, ["".join(turn.text for turn in dialogues[p].turns) for p in positions])
    for position, label in zip(positions, whole.labels(), strict=True):
        clusters.join(position, positions[label])
    return clusters.labels()


def _context(example: Dialogue | Labelled) -> tuple[str, ...] | None:
    if not isinstance(example, RewritingExample) or not example.dialogue.context:
        return None
    return tuple(normalise(turn.text) for turn in example.dialogue.context)


def _dialogue(example: Dialogue | Labelled) -> Dialogue:
    return example if isinstance(example, Dialogue) else example.dialogue


def count_dialogues(examples: Sequence[Dialogue | Labelled]) -> int:
    """Source dialogues: the cuts of one dialogue count once."""
    return len(Counter(dialogue_group(_dialogue(example).id) for example in examples))
