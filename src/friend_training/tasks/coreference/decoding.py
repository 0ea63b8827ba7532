"""The likeliest antecedents of each mention, with their probabilities, and the clusters that links make."""

from collections.abc import Iterable, Sequence

import numpy as np

from friend_training.nn.heads import Head
from friend_training.tasks.coreference.model import CoreferenceBatch
from friend_training.tasks.pointing import NOTHING, likeliest_spans
from friend_training.types import Link, Mention

Candidate = tuple[Link, float]


def decode_links(heads: Sequence[Head], batch: CoreferenceBatch, *, n: int = 1) -> list[list[list[Candidate]]]:
    """For each dialogue, for each of its mentions, the n likeliest links (n-best), the likeliest first.

    A mention that was cut off, or stands at the very beginning, has nothing before it: certainly none.
    """
    pointed = likeliest_spans(heads[0], heads[1], batch.input.turn, n=n)
    probabilities = np.exp(pointed.logs)
    found = []
    for row, item in enumerate(batch.items):
        layout, slots = item.rendered, {mention: slot for slot, mention in enumerate(item.seen)}
        of_dialogue: list[list[Candidate]] = []
        for mention in item.given.mentions:
            candidates: list[Candidate] = []
            slot = slots.get(mention)
            for rank in range(pointed.first.shape[2] if slot is not None else 0):
                first, last = int(pointed.first[row, slot, rank]), int(pointed.last[row, slot, rank])
                probability = float(probabilities[row, slot, rank])
                if probability > 0:
                    place = Mention(int(layout.turn[first]), int(layout.start[first]), int(layout.end[last]))
                    candidates.append((Link(mention, None if first == NOTHING else place), probability))
            of_dialogue.append(candidates or [(Link(mention, None), 1.0)])
        found.append(of_dialogue)
    return found


def clusters_of_links(links: Iterable[tuple[Mention, Mention | None]]) -> list[frozenset[Mention]]:
    """The closure of links; a mention that is linked to nothing is no cluster."""
    cluster: dict[Mention, set[Mention]] = {}
    for mention, antecedent in links:
        if antecedent is not None:
            joined = cluster.get(mention, {mention}) | cluster.get(antecedent, {antecedent})
            cluster.update(dict.fromkeys(joined, joined))
    return list({id(members): frozenset(members) for members in cluster.values()}.values())
