"""The constituency parser's network: a label, or none, for every span of a sentence, and a tag for every word."""

import torch
from torch import Tensor, nn

from friend_training.nn.devices import PROCESSOR
from friend_training.nn.encoder import AnyEncoder
from friend_training.nn.heads import Head
from friend_training.nn.word_input import SentenceBatch

SPANS_AT_ONCE = 2048
"""What is worked on between fences and labels is many times larger than both: in parts it stays in the cache."""


def all_spans(words: int, device: torch.device = PROCESSOR) -> tuple[Tensor, Tensor]:
    """First and last fences of the N (N + 1) / 2 spans of a sentence, in the order of their slots."""
    first, last = torch.triu_indices(words + 1, words + 1, offset=1, device=device)
    return first, last


def slot_of(first: Tensor, last: Tensor, words: int) -> Tensor:
    """The slots of spans among `all_spans` of so many words."""
    return first * words - first * (first - 1) // 2 + last - first - 1


class SpanParser(nn.Module):
    """Spans are scored by the difference of what was read at their two ends (Stern, Andreas & Klein 2017).

    Every span is a decision of its own: this is what the shared loss, soft labels and weights need. That phrases must
    nest is left to decoding. The loss of the spans is counted per word, like that of the tags.
    """

    def __init__(self, encoder: AnyEncoder, labels: int, tags: int, *, span: int = 128, dropout: float = 0.33) -> None:
        super().__init__()
        self.encoder = encoder
        self.fence = nn.Linear(encoder.width, span)
        self.label = nn.Sequential(nn.LayerNorm(span), nn.ReLU(), nn.Dropout(dropout), nn.Linear(span, labels))
        self.tag = nn.Linear(encoder.width, tags)

    def forward(self, batch: SentenceBatch) -> tuple[Head, ...]:
        words = batch.input.encode(self.encoder).masked_fill(~batch.mask[:, :, None], 0.0)  # [B, N, H]
        fences = self.fence(_at_fences(words))  # [B, N + 1, S]
        first, last = all_spans(words.size(1), words.device)
        few = fences.split(max(1, SPANS_AT_ONCE // len(first)))
        labels = [self.label(part.index_select(1, last) - part.index_select(1, first)) for part in few]
        inside = batch.mask[:, last - 1]
        per_word = inside.sum(dim=1) / batch.mask.sum(dim=1).clamp(min=1)
        return Head(torch.cat(labels), inside, scale=per_word), Head(self.tag(words), batch.mask)


def _at_fences(words: Tensor) -> Tensor:
    """[B, N, H] → [B, N + 1, H]: at each fence what was read from the left up to it, and from the right down to it.

    The second half is negated: then the difference of two fences is forward(j) - forward(i), backward(i) - backward(j).
    """
    forward, backward = words.chunk(2, dim=2)
    nothing = torch.zeros_like(forward[:, :1])
    return torch.cat([torch.cat([nothing, forward], dim=1), -torch.cat([backward, nothing], dim=1)], dim=2)
