"""A dialogue as one sequence of tokens, with the way back to characters.

[CLS] · context turns · u_t · [SEP]. For CSRL every turn begins with a speaker token, the empty opening turn too; for
rewriting turns are parted by [SEP] and the last [SEP] is the place 'at the end' of u_t.
Too long dialogues lose their OLDEST tokens, never the current utterance (docs/decisions.md#long-dialogues).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from friend_training.nn.tokenizer import Table, Tokenizer
from friend_training.types import OPENING, SPEAKER, Dialogue

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
