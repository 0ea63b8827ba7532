"""What public evaluation scripts read.

RaST-plus: one rewritten utterance per line, its characters parted by spaces.

CSAGN: one JSON object per dialogue and line: `sentid`; `sent`, the utterances joined by " <SEP> ", their tokens parted
by spaces; `srl`, for each predicate {"pred": index of its first token, "args": {ROLE: [first, last]}}. A token is a
word where the turn has words, else a character; empty and blank tokens are left out. Indices count the tokens of the
whole dialogue from 0: neither <SEP> nor speaker tokens count. The script reads a negative index as 我 or 你, so an
argument that is a speaker token is [-1, -1] for the speaker of the last turn and [-2, -2] for the other one. There is
room for one span per role: of several the first in text order is written.
"""

from collections.abc import Sequence
from itertools import accumulate

from friend_training.types import OPENING, SPEAKER, Argument, CsrlExample, Dialogue, Turn

_MYSELF, _YOU = (-1, -1), (-2, -2)


def rast_plus_line(rewrite: str) -> str:
    return " ".join("".join(rewrite.split()))


def csagn_object(example: CsrlExample) -> dict[str, object]:
    tokens = [_tokens(turn) for turn in example.dialogue.turns]
    first_index = [0, *accumulate(map(len, tokens))]
    last_turn = len(tokens) - 1

    def indices(turn: int, start: int, end: int) -> tuple[int, int]:
        inside = [i for i, (_, begin, stop) in enumerate(tokens[turn]) if begin < end and stop > start]
        return first_index[turn] + inside[0], first_index[turn] + inside[-1]

    def place(argument: Argument) -> tuple[int, int]:
        if argument.start == SPEAKER:
            return _MYSELF if _is_current_speaker(argument.turn, example.dialogue) else _YOU
        return indices(argument.turn, argument.start, argument.end)

    structures = []
    for roles in example.roles:
        args: dict[str, tuple[int, int]] = {}
        for argument in sorted(roles.arguments, key=lambda a: (a.turn, a.start)):
            args.setdefault(argument.role, place(argument))
        pred, _ = indices(last_turn, roles.predicate.start, roles.predicate.end)
        structures.append({"pred": pred, "args": args})
    utterances = (" ".join(text for text, _, _ in turn) for turn in tokens)
    return {"sentid": example.dialogue.id, "sent": " <SEP> ".join(utterances), "srl": structures}


def _tokens(turn: Turn) -> Sequence[tuple[str, int, int]]:
    """(token, start, end) for every token that shows."""
    words = tuple(turn.text) if turn.words is None else turn.words
    gap = int("".join(words) != turn.text)  # words joined by spaces
    places, offset = [], 0
    for word in words:
        if word.strip():
            places.append((word, offset, offset + len(word)))
        offset += len(word) + gap
    return places


def _is_current_speaker(turn: int, dialogue: Dialogue) -> bool:
    current = dialogue.utterance.speaker
    # The opening turn belongs to whoever does not speak first.
    return dialogue.turns[0].speaker != current if turn == OPENING else dialogue.turns[turn].speaker == current
