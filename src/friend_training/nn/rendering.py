"""A dialogue as one sequence of pieces, with the way back to characters.

[CLS] · context turns · u_t · [SEP]. For CSRL every turn begins with a speaker token, the empty opening turn too; for
rewriting turns are parted by [SEP] and the last [SEP] is the place 'at the end' of u_t.
Too long dialogues lose their OLDEST pieces, never the current utterance (DESIGN 5.8).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from friend_training.examples import OPENING, SPEAKER, Dialogue
from friend_training.nn.tokens import Tokenizer

NO_TURN = -9
"""The turn of [CLS] and [SEP]."""

LONGEST_UTTERANCE = 500
"""Encoders have 512 positions: of an utterance that alone is longer, the end is not seen, and so left as it is."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """One sequence of M pieces: piece i stands for characters [start[i], end[i]) of turn[i]."""

    ids: NDArray[np.int64]
    types: NDArray[np.int64]
    turn: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ids)

    def covering(self, turn: int, start: int, end: int) -> tuple[int, int] | None:
        """The pieces [first, last) that overlap these characters; None where they were cut off."""
        hit = np.flatnonzero((self.turn == turn) & (self.start < end) & (self.end > start))
        return (int(hit[0]), int(hit[-1]) + 1) if len(hit) else None


def render(dialogue: Dialogue, tokenizer: Tokenizer, *, speakers: bool, max_length: int) -> Rendered:
    """Lay a dialogue out for its encoder."""
    current = len(dialogue.turns) - 1
    own = dialogue.utterance.speaker
    context: list[tuple[int, int, int, int]] = []  # (piece id, turn, start, end)

    def add(target: list[tuple[int, int, int, int]], index: int) -> None:
        turn = dialogue.turns[index]
        if speakers:
            target.append((_speaker_piece(tokenizer, turn.speaker == own), index, SPEAKER, 0))
        pieces = tokenizer(turn.text)
        target.extend(zip(pieces.ids, (index,) * len(pieces.ids), pieces.starts, pieces.ends, strict=True))

    if speakers:  # the opening turn belongs to whoever does not speak first
        context.append((_speaker_piece(tokenizer, dialogue.turns[0].speaker != own), OPENING, SPEAKER, 0))
    for index in range(current):
        add(context, index)
        if not speakers:
            context.append((tokenizer.sep_id, NO_TURN, 0, 0))
    utterance: list[tuple[int, int, int, int]] = []
    add(utterance, current)
    del utterance[LONGEST_UTTERANCE:]

    room = max(max_length - 2 - len(utterance), 0)
    context = context[len(context) - min(room, len(context)) :]
    rows = [(tokenizer.cls_id, NO_TURN, 0, 0), *context, *utterance, (tokenizer.sep_id, NO_TURN, 0, 0)]
    table = np.array(rows, dtype=np.int64)
    types = np.zeros(len(rows), dtype=np.int64)
    types[1 + len(context) :] = 1
    return Rendered(ids=table[:, 0], types=types, turn=table[:, 1], start=table[:, 2], end=table[:, 3])


def render_all(
    dialogues: Sequence[Dialogue], tokenizer: Tokenizer, *, speakers: bool, max_length: int
) -> list[Rendered]:
    tokenizer.remember(turn.text for dialogue in dialogues for turn in dialogue.turns)
    return [render(dialogue, tokenizer, speakers=speakers, max_length=max_length) for dialogue in dialogues]


def _speaker_piece(tokenizer: Tokenizer, same: bool) -> int:
    """Speakers are written as 我 and 你: what they mean to u_t, and pieces a pre-trained encoder already knows."""
    return tokenizer.id_of("我" if same else "你")
