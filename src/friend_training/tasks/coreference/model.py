"""The network of coreference: each mention of u_t points at the span before it that it stands for, or at nothing.

Its output as the likeliest antecedents of each mention, with their probabilities, and the clusters that links make.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from friend_training.nn.encoder import Encoder
from friend_training.nn.heads import UNKNOWN, Head
from friend_training.tasks.dialogue_input import (
    NOTHING,
    PointingBatch,
    Rendered,
    SpanPointer,
    Words,
    likeliest_spans,
    pointing_batch,
    span_logs,
)
from friend_training.types import Link, Mention, Mentioned


@dataclass(frozen=True, slots=True)
class CoreferenceItem:
    """A rendered dialogue and the mentions that are seen of it, as tokens [first, last]; their targets, if known."""

    given: Mentioned
    rendered: Rendered
    words: Words
    seen: tuple[Mention, ...]
    tokens: tuple[tuple[int, int], ...]
    targets: tuple[tuple[int, int], ...] | None
    weight: float

    @property
    def length(self) -> int:
        return len(self.rendered)


def coreference_item(
    given: Mentioned, rendered: Rendered, links: Sequence[Link] | None, weight: float
) -> CoreferenceItem:
    """An antecedent that was cut off is not known: nothing is learnt of its mention."""
    places = [(mention, rendered.covering(mention.turn, mention.start, mention.end)) for mention in given.mentions]
    seen = [(mention, (place[0], place[1] - 1)) for mention, place in places if place is not None]
    targets = None
    if links is not None:
        antecedents = {link.mention: link.antecedent for link in links}
        targets = tuple(_target(rendered, antecedents.get(mention)) for mention, _ in seen)
    return CoreferenceItem(
        given,
        rendered,
        Words.of(given.dialogue, rendered),
        tuple(mention for mention, _ in seen),
        tuple(place for _, place in seen),
        targets,
        weight,
    )


def _target(rendered: Rendered, antecedent: Mention | None) -> tuple[int, int]:
    if antecedent is None:
        return NOTHING, NOTHING
    place = rendered.covering(antecedent.turn, antecedent.start, antecedent.end)
    return (UNKNOWN, UNKNOWN) if place is None else (place[0], place[1] - 1)


@dataclass(frozen=True, slots=True)
class CoreferenceBatch:
    input: PointingBatch
    first: Tensor  # [B, N] the mentions' tokens
    last: Tensor  # [B, N]
    is_mention: Tensor  # [B, N]
    targets: tuple[Tensor, ...]  # first, last: [B, N] each
    weights: Tensor  # [B]
    items: tuple[CoreferenceItem, ...]


def collate_coreference(items: Sequence[CoreferenceItem], pad_id: int) -> CoreferenceBatch:
    most = max(1, *(len(item.tokens) for item in items))
    tokens, targets = np.zeros((2, len(items), most), np.int64), np.zeros((2, len(items), most), np.int64)
    for row, item in enumerate(items):
        count = len(item.tokens)
        tokens[:, row, :count] = np.array(item.tokens, np.int64).reshape(-1, 2).T
        targets[:, row, :count] = np.array(item.targets or item.tokens, np.int64).reshape(-1, 2).T
    width = torch.tensor([[len(item.tokens)] for item in items])
    return CoreferenceBatch(
        input=pointing_batch([item.rendered for item in items], [item.words for item in items], pad_id),
        first=torch.from_numpy(tokens[0]),
        last=torch.from_numpy(tokens[1]),
        is_mention=torch.arange(most) < width,
        targets=(torch.from_numpy(targets[0]), torch.from_numpy(targets[1])),
        weights=torch.tensor([item.weight for item in items]),
        items=tuple(items),
    )


class AntecedentPointer(nn.Module):
    """A mention is the vectors of its first and last token; its antecedent begins and ends before it."""

    def __init__(self, encoder: Encoder, *, dropout: float = 0.1) -> None:
        super().__init__()
        self.encoder = encoder
        self.dropout = nn.Dropout(dropout)
        self.span = SpanPointer(2 * encoder.width, encoder.width)

    def forward(self, batch: CoreferenceBatch) -> tuple[Head, ...]:
        given = batch.input
        encoded = self.dropout(self.encoder(given.ids, given.types, given.mask))  # [B, M, H]
        wide = (-1, -1, encoded.size(2))
        ends = [encoded.gather(1, place.unsqueeze(2).expand(*wide)) for place in (batch.first, batch.last)]
        tokens = torch.arange(encoded.size(1), device=encoded.device)
        before = tokens < batch.first.unsqueeze(2)  # [B, N, M]
        allowed = (given.begins.unsqueeze(1) & before, given.finishes.unsqueeze(1) & before)
        heads: tuple[Head, ...] = self.span(torch.cat(ends, dim=2), encoded, allowed, batch.is_mention)
        return heads


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
