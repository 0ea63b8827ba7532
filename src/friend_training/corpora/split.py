"""Splits by dialogue: no dialogue stands on two sides, nor do near-duplicates of each other (DESIGN 5b)."""

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeVar

from friend_training.corpora.duplicates import Clusters, join_near_duplicates
from friend_training.corpora.normalise import normalise
from friend_training.errors import DataError
from friend_training.examples import CsrlExample, Dialogue, RewritingExample, dialogue_group

SPLIT_SEED = 20230517
"""The seed of every split of the experiments: fixed, so that all runs see the same dev and test sets."""

E = TypeVar("E", Dialogue, CsrlExample, RewritingExample)


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


def clusters_of(examples: Sequence[Dialogue | CsrlExample | RewritingExample]) -> list[int]:
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


def _context(example: Dialogue | CsrlExample | RewritingExample) -> tuple[str, ...] | None:
    if not isinstance(example, RewritingExample) or not example.dialogue.context:
        return None
    return tuple(normalise(turn.text) for turn in example.dialogue.context)


def _dialogue(example: Dialogue | CsrlExample | RewritingExample) -> Dialogue:
    return example if isinstance(example, Dialogue) else example.dialogue


def count_dialogues(examples: Sequence[Dialogue | CsrlExample | RewritingExample]) -> int:
    """Source dialogues: the cuts of one dialogue count once."""
    return len(Counter(dialogue_group(_dialogue(example).id) for example in examples))
