"""The likeliest antecedents of each mention, with their probabilities, and the clusters that links make."""

from collections.abc import Iterable, Sequence

import numpy as np

from friend_training.nn.heads import Head
from friend_training.tasks.coreference.model import CoreferenceBatch
from friend_training.tasks.pointing import NOTHING, likeliest_spans, span_logs
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


def log_likelihood_of_links(
    heads: Sequence[Head], batch: CoreferenceBatch, labels: Sequence[Sequence[Sequence[Link]]]
) -> list[list[list[float]]]:
    """The log-probability of each of some links of every mention."""
    spans = span_logs(heads[0], heads[1], batch.input.turn).numpy()
    found = []
    for row, (item, of_item) in enumerate(zip(batch.items, labels, strict=True)):
        slots = {mention: slot for slot, mention in enumerate(item.seen)}
        of_dialogue: list[list[float]] = []
        for mention, links in zip(item.given.mentions, of_item, strict=True):
            slot, logs = slots.get(mention), []
            for link in links:
                place: tuple[int, int] | None = (NOTHING, NOTHING + 1)
                if link.antecedent is not None:
                    at = link.antecedent
                    place = item.rendered.covering(at.turn, at.start, at.end)
                if slot is None:
                    logs.append(0.0 if link.antecedent is None else -np.inf)
                elif place is None or place[1] - place[0] > spans.shape[3]:
                    logs.append(-np.inf)
                else:
                    logs.append(float(spans[row, slot, place[0], place[1] - place[0] - 1]))
            of_dialogue.append(logs)
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
