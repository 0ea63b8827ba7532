"""A dialogue as one sequence of tokens, with the way back to characters.

[CLS] · context turns · u_t · [SEP]. For CSRL every turn begins with a speaker token, the empty opening turn too; for
rewriting turns are parted by [SEP] and the last [SEP] is the place 'at the end' of u_t.
Too long dialogues lose their OLDEST tokens, never the current utterance (docs/decisions.md#long-dialogues).

Pointing at spans of whole words is what coreference and rewriting by words share. A slot (a mention, the place before
a word) points at a span of one turn by its first and last token, or at nothing, which is the token [CLS] for both. The
two are trained as two heads and decoded together, as a distribution over all spans of up to `LONGEST` tokens and
nothing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from friend_training.nn.heads import MASKED, Head
from friend_training.nn.interfaces import pad
from friend_training.nn.tokenizer import Table, Tokenizer
from friend_training.types import OPENING, SPEAKER, Dialogue, words_in

NO_TURN = -9
"""The turn of [CLS] and [SEP]."""

LONGEST_UTTERANCE = 500
"""Of an utterance that alone is longer, or longer than the encoder takes, the end is not seen, and so left as it is."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """One sequence of M tokens: token i stands for characters [start[i], end[i]) of turn[i]."""

    ids: NDArray[np.int64]
    types: NDArray[np.int64]
    turn: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ids)

    def covering(self, turn: int, start: int, end: int) -> tuple[int, int] | None:
        """The tokens [first, last) that overlap these characters; None where they were cut off."""
        hit = np.flatnonzero((self.turn == turn) & (self.start < end) & (self.end > start))
        return (int(hit[0]), int(hit[-1]) + 1) if len(hit) else None


def render(
    dialogue: Dialogue, tokenizer: Tokenizer, *, speakers: bool, max_length: int, context_turns: int | None = None
) -> Rendered:
    """Lay a dialogue out for its encoder; of its context all that fits, or only so many of the last turns.

    What the encoder takes at most (`tokenizer.longest`) is never exceeded, whatever `max_length` is.
    """
    *before, utterance = dialogue.turns
    unseen = 0 if context_turns is None else len(before) - context_turns
    context: list[tuple[int, Table]] = []  # (turn, tokens)
    if speakers:  # the opening turn belongs to whoever does not speak first
        context.append((OPENING, _speaker(tokenizer, dialogue.turns[0].speaker != utterance.speaker)))
    for index, turn in enumerate(before):
        if index < unseen:
            continue
        if speakers:
            context.append((index, _speaker(tokenizer, turn.speaker == utterance.speaker)))
        context.append((index, tokenizer(turn.text)))
        if not speakers:
            context.append((NO_TURN, _row(tokenizer.sep_id)))
    own = tokenizer(utterance.text)
    if speakers:
        own = np.concatenate([_speaker(tokenizer, same=True), own])
    own = own[:LONGEST_UTTERANCE]
    if tokenizer.longest is not None:
        own = own[: tokenizer.longest - 2]
        max_length = min(max_length, tokenizer.longest)

    tokens = [table for _, table in context]
    room = max(max_length - 2 - len(own), 0)
    lost = max(sum(map(len, tokens)) - room, 0)
    numbers = np.array([(turn, len(table)) for turn, table in context], dtype=np.int64).reshape(-1, 2)
    turns = np.repeat(numbers[:, 0], numbers[:, 1])[lost:]
    old = np.concatenate([*tokens, own])[lost : lost + len(turns)]
    table = np.concatenate([_row(tokenizer.cls_id), old, own, _row(tokenizer.sep_id)])
    turn_of = np.full(len(table), NO_TURN, dtype=np.int64)
    turn_of[1 : 1 + len(old)] = turns
    turn_of[1 + len(old) : -1] = len(before)
    types = np.zeros(len(table), dtype=np.int64)
    types[1 + len(old) :] = 1
    return Rendered(ids=table[:, 0], types=types, turn=turn_of, start=table[:, 1], end=table[:, 2])


def _row(token: int, start: int = 0) -> Table:
    return np.array([[token, start, 0]], dtype=np.int64)


def _speaker(tokenizer: Tokenizer, same: bool) -> Table:
    return _row(tokenizer.speaker_ids[0 if same else 1], SPEAKER)


def render_all(
    dialogues: Sequence[Dialogue],
    tokenizer: Tokenizer,
    *,
    speakers: bool,
    max_length: int,
    context_turns: int | None = None,
) -> list[Rendered]:
    tokenizer.remember(turn.text for dialogue in dialogues for turn in dialogue.turns)
    return [
        render(dialogue, tokenizer, speakers=speakers, max_length=max_length, context_turns=context_turns)
        for dialogue in dialogues
    ]


NOTHING = 0
"""The token that is pointed at where there is no span: [CLS]."""

LONGEST = 24
"""The longest span, in tokens."""

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Words:
    """A rendered dialogue's tokens as words: whether a token is the first or the last of its word."""

    begins: Bools  # [M]
    finishes: Bools  # [M]

    @classmethod
    def of(cls, dialogue: Dialogue, rendered: Rendered) -> "Words":
        starts = {(turn, start) for turn, said in enumerate(dialogue.turns) for start, _ in words_in(said.text)}
        ends = {(turn, end) for turn, said in enumerate(dialogue.turns) for _, end in words_in(said.text)}
        turns = rendered.turn.tolist()
        return cls(
            np.array([place in starts for place in zip(turns, rendered.start.tolist(), strict=True)], dtype=np.bool_),
            np.array([place in ends for place in zip(turns, rendered.end.tolist(), strict=True)], dtype=np.bool_),
        )


@dataclass(frozen=True, slots=True)
class PointingBatch:
    """B dialogues of up to M tokens, with up to N slots each."""

    ids: Tensor  # [B, M]
    types: Tensor  # [B, M]
    mask: Tensor  # [B, M]
    turn: Tensor  # [B, M]
    begins: Tensor  # [B, M] a span may begin here
    finishes: Tensor  # [B, M] a span may end here


def pointing_batch(layouts: Sequence[Rendered], words: Sequence[Words], pad_id: int) -> PointingBatch:
    return PointingBatch(
        ids=pad([layout.ids for layout in layouts], pad_id),
        types=pad([layout.types for layout in layouts], 0),
        mask=pad([np.ones(len(layout), dtype=np.int64) for layout in layouts], 0),
        turn=pad([layout.turn for layout in layouts], NO_TURN),
        begins=pad([one.begins.astype(np.int64) for one in words], 0).bool(),
        finishes=pad([one.finishes.astype(np.int64) for one in words], 0).bool(),
    )


class SpanPointer(nn.Module):
    """Slots [B, N, Q] and encoded tokens [B, M, H] → the heads of the first and of the last token."""

    def __init__(self, queries: int, width: int) -> None:
        super().__init__()
        self.query = nn.Linear(queries, 2 * width)
        self.key = nn.Linear(width, 2 * width)

    def forward(
        self, queries: Tensor, encoded: Tensor, allowed: tuple[Tensor, Tensor], is_slot: Tensor
    ) -> tuple[Head, Head]:
        """`allowed` says for each slot which tokens may be first and which last: [B, 1 or N, M] each."""
        width = encoded.size(2)
        first, last = (
            self._head(query, key, may, is_slot)
            for query, key, may in zip(
                self.query(queries).split(width, dim=2), self.key(encoded).split(width, dim=2), allowed, strict=True
            )
        )
        return first, last

    @staticmethod
    def _head(query: Tensor, key: Tensor, may: Tensor, is_slot: Tensor) -> Head:
        scores = torch.bmm(query, key.transpose(1, 2)) / math.sqrt(key.size(2))  # [B, N, M]
        at_nothing = torch.zeros_like(may)
        at_nothing[..., NOTHING] = True
        return Head(scores.masked_fill(~(may | at_nothing), MASKED), is_slot)


@dataclass(frozen=True, slots=True)
class Pointed:
    """The likeliest spans of each slot, the likeliest first: [B, N, n]; (NOTHING, NOTHING) is none."""

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    logs: NDArray[np.float64]


def span_logs(first: Head, last: Head, turn: Tensor) -> Tensor:
    """The log-probabilities of all spans within a turn, and of none, for each slot: [B, N, M, L].

    The span of l + 1 tokens from token m on stands at [m, l]; none at [NOTHING, 0].
    """
    starts, ends = first.logits.double(), last.logits.double()  # [B, N, M]
    size = starts.size(2)
    spans = torch.full((*starts.shape, min(LONGEST, size)), -torch.inf, dtype=torch.double)
    for more in range(spans.size(3)):
        within = turn[:, : size - more] == turn[:, more:]
        within = (within & (turn[:, more:] != NO_TURN)).unsqueeze(1)
        scores = starts[:, :, : size - more] + ends[:, :, more:]
        impossible = ~within | (scores < MASKED / 2)
        spans[:, :, : size - more, more] = scores.masked_fill(impossible, -torch.inf)
    spans[:, :, NOTHING, 0] = starts[:, :, NOTHING] + ends[:, :, NOTHING]
    return spans - spans.logsumexp(dim=(2, 3), keepdim=True)


def likeliest_spans(first: Head, last: Head, turn: Tensor, *, n: int = 1) -> Pointed:
    """Of all spans within a turn, and of none, the n likeliest, with the logs of their probabilities."""
    spans = span_logs(first, last, turn)
    flat = spans.flatten(2)  # [B, N, M · L]
    logs, place = flat.topk(min(n, flat.size(2)), dim=2)
    begin = place // spans.size(3)
    end = begin + place % spans.size(3)
    return Pointed(begin.numpy(), end.numpy(), logs.clamp(max=0.0).numpy())


def likeliest_together(options: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k likeliest ways of making D independent decisions: [B, D, options] logs → choices [B, k, D], logs [B, k].

    Where there are fewer than k ways the others have the log-probability -inf.
    """
    rows, decisions, _ = options.shape
    best = torch.full((rows, k), -torch.inf, dtype=options.dtype)
    best[:, 0] = 0.0
    made: list[tuple[Tensor, Tensor]] = []
    for number in range(decisions):
        sums = (best.unsqueeze(2) + options[:, number].unsqueeze(1)).flatten(1)  # [B, k · options]
        best, place = sums.topk(k, dim=1)
        made.append((place // options.size(2), place % options.size(2)))
    rank = torch.arange(k).expand(rows, k)
    choices = torch.zeros(rows, k, decisions, dtype=torch.long)
    for number in reversed(range(decisions)):
        before, choice = made[number]
        choices[:, :, number] = choice.gather(1, rank)
        rank = before.gather(1, rank)
    return choices, best
