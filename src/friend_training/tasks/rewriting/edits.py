"""Edit scripts: the labels of dialogue rewriting as sequence labelling of u_t (section 4.1 of the paper).

A script deletes characters of u_t and inserts at most one span of the dialogue before each character of u_t or at its
end. A span lies inside ONE turn: a turn of the context or, with `span_source="dialogue"`, also u_t itself.

Several scripts can build the same rewrite, and a model must be taught always the same one. We take the script with

1. the fewest insertions,
2. then the fewest deletions (a character that can stay stays, so that predicates keep their place),
3. then the nearest occurrences: each span is the latest one of the context that reads the same, and one of u_t only
   where the context has none; between alignments that insert different spans, the smaller sum of distances wins,
   a distance being the number of characters from the span's end to the end of the context,
4. then the one that, read from the left, inserts before it keeps and keeps before it deletes: what replaces a pronoun
   is inserted before the pronoun, not after it.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from friend_training.core.limits import Limits, exceeds
from friend_training.errors import DataError
from friend_training.types import Dialogue, Insertion, Rewrite

SpanSource = Literal["context", "dialogue"]


def build_script(dialogue: Dialogue, rewrite: str, *, span_source: SpanSource) -> Rewrite | None:
    """The best script (see above) that turns u_t into `rewrite`, or None if there is none.

    A dynamic programme from the right over (characters of u_t left, characters of the rewrite left):
    `after[j][i]` is the cost of making rewrite[i:] from u_t[j:] when nothing more may be inserted before character j,
    `best[j][i]` when a span still may. The criteria above are the digits of one integer cost.

    Time and memory grow with the product of the two lengths: both are limited (`check_length`).
    """
    utterance = dialogue.utterance.text
    if rewrite == utterance:
        return Rewrite(rewrite)
    check_length(dialogue, rewrite)
    sources = _Sources(dialogue, rewrite, span_source=span_source)

    length, goal = len(utterance), len(rewrite)
    deletion = (length + 1) * (len(sources.joined) + 1)  # more than all distances of one script together
    insertion = deletion * (length + 1)  # more than all its deletions
    impossible = insertion * (length + 2)
    spans = _Spans(sources, insertion, impossible)

    after = np.full((length + 1, goal + 1), impossible, np.int64)
    best = np.full((length + 1, goal + 1), impossible, np.int64)
    characters, own = _codes(rewrite), _codes(utterance)
    for j in range(length, -1, -1):
        if j == length:
            after[j, goal] = 0
        else:
            kept = np.where(characters == own[j], best[j + 1, 1:], impossible)
            after[j] = best[j + 1] + deletion
            np.minimum(after[j, :-1], kept, out=after[j, :-1])
        best[j] = spans.inserted(after[j])
        np.minimum(best[j], after[j], out=best[j])
    if best[0, 0] >= impossible:
        return None

    deleted: list[int] = []
    insertions: list[Insertion] = []
    i = 0
    for j in range(length + 1):
        same = spans.costs(i) + after[j, i + 1 :] == best[j, i]
        if same.any():
            size = int(same.argmax()) + 1
            turn, start = sources.locate(rewrite[i : i + size])
            insertions.append(Insertion(before=j, turn=turn, start=start, end=start + size))
            i += size
        if j < length:
            if i < goal and rewrite[i] == utterance[j] and after[j, i] == best[j + 1, i + 1]:
                i += 1
            else:
                deleted.append(j)
    return Rewrite(rewrite, tuple(deleted), tuple(insertions))


def check_length(dialogue: Dialogue, rewrite: str) -> None:
    """Refuse what would take minutes and gigabytes: u_t and its rewrite, and the dialogue that spans come from."""
    limits = Limits.from_environment()
    longest = max(len(dialogue.utterance.text), len(rewrite))
    if longest > limits.script:
        message = f"{dialogue.id}: an edit script for {longest:,} characters"
        raise DataError(f"{message}; {exceeds('script', limits.script)}")
    whole = sum(len(turn.text) for turn in dialogue.turns)
    if whole > limits.text:
        raise DataError(f"{dialogue.id}: a dialogue of {whole:,} characters; {exceeds('text', limits.text)}")


def apply_script(dialogue: Dialogue, script: Rewrite) -> str:
    """The u_t' that the script's deletions and insertions make of u_t; its `text` is not used."""
    return "".join(dialogue.turns[turn].text[offset] for turn, offset in origin(script, dialogue))


def rewrite_or_utterance(dialogue: Dialogue, rewrite: Rewrite) -> str:
    """What a prediction is scored and written as: a rewrite that deletes everything says nothing, so u_t stands."""
    return rewrite.text or dialogue.utterance.text


def origin(rewrite: Rewrite, dialogue: Dialogue) -> list[tuple[int, int]]:
    """For every character of u_t', the (turn, offset) it came from."""
    current, length = len(dialogue.turns) - 1, len(dialogue.utterance.text)
    inserted = {insertion.before: insertion for insertion in rewrite.insertions}
    deleted = set(rewrite.deleted)
    places: list[tuple[int, int]] = []
    for offset in range(length + 1):
        if offset in inserted:
            span = inserted[offset]
            places.extend((span.turn, position) for position in range(span.start, span.end))
        if offset < length and offset not in deleted:
            places.append((current, offset))
    return places


def place_of(rewrite: Rewrite, utterance: str, start: int, end: int) -> tuple[int, int] | None:
    """Where characters [start, end) of u_t stand in u_t'; None if one was deleted or something was inserted between.

    Exact, not a search for the same string: a predicate that occurs twice is told apart.
    """
    if not 0 <= start < end <= len(utterance):
        raise ValueError(f"[{start}, {end}) is no span of an utterance of {len(utterance)} characters")
    if any(start <= offset < end for offset in rewrite.deleted):
        return None
    if any(start < insertion.before < end for insertion in rewrite.insertions):
        return None
    gone = sum(offset < start for offset in rewrite.deleted)
    come = sum(insertion.end - insertion.start for insertion in rewrite.insertions if insertion.before <= start)
    return start - gone + come, end - gone + come


class _Sources:
    """Where the spans of one rewrite can come from: the turns in one string, nearest last, so that rfind finds it."""

    def __init__(self, dialogue: Dialogue, rewrite: str, *, span_source: SpanSource) -> None:
        current = len(dialogue.turns) - 1
        # u_t comes first, so it is used only where no turn of the context reads the same.
        self.turns = ([current] if span_source == "dialogue" else []) + list(range(current))
        # A separator that the rewrite does not contain: no match reaches over the border of a turn.
        separator = next(chr(code) for code in range(len(rewrite) + 1) if chr(code) not in rewrite)
        self.joined = separator.join(dialogue.turns[turn].text for turn in self.turns)
        self.rewrite = rewrite
        self.starts: list[int] = []
        start = 0
        for turn in self.turns:
            self.starts.append(start)
            start += len(dialogue.turns[turn].text) + 1

    def locate(self, span: str) -> tuple[int, int]:
        """The turn and offset of the nearest occurrence."""
        position = self.joined.rfind(span)
        index = max(index for index, start in enumerate(self.starts) if start <= position)
        return self.turns[index], position - self.starts[index]


class _Spans:
    """What it costs to insert rewrite[i:k], for all i < k, and the cheapest way to go on from each i.

    The nearest occurrence of rewrite[i:k] is the one that ends last. For one k, the more characters it must have before
    its end (the smaller i is), the fewer places are left: so the i fall into a few stretches with one occurrence each.
    These stretches, and not all pairs (i, k), are what `inserted` goes through.
    """

    def __init__(self, sources: _Sources, insertion: int, impossible: int) -> None:
        goal, total = len(sources.rewrite), len(sources.joined)
        self._goal, self._impossible = goal, impossible
        self._costs = np.full((goal + 1, goal), impossible, np.int64)  # [i, k - 1]
        joined = _codes(sources.joined)
        matched = np.zeros(total + 1, np.int64)  # how many characters before each place read like those before k
        longest = np.zeros(total + 2, np.int64)
        firsts, lasts, ends, costs = [], [], [], []
        for k, character in enumerate(_codes(sources.rewrite), start=1):
            matched[1:] = (matched[:-1] + 1) * (joined == character)
            np.maximum.accumulate(matched[::-1], out=longest[1:])  # from the right: the last place with so many
            (places,) = (longest[1:] != longest[:-1]).nonzero()
            shortest = 1
            for place in places:
                most = int(longest[place + 1])
                first, last = k - most, k - shortest
                cost = insertion + int(place)  # the characters from the span's end to the end of the context
                self._costs[first : last + 1, k - 1] = cost
                firsts.append(first)
                lasts.append(last)
                ends.append(k)
                costs.append(cost)
                shortest = most + 1
        self._ends, self._stretch_costs = np.array(ends, np.int64), np.array(costs, np.int64)
        # A stretch is covered by two overlapping blocks of 2^level: `inserted` writes the least cost into these, and
        # passes it down from level to level.
        begins, finishes = np.array(firsts, np.int64), np.array(lasts, np.int64)
        levels = np.frexp(finishes - begins + 1)[1] - 1 if len(begins) else np.zeros(0, np.int64)
        self._levels = int(levels.max(initial=0)) + 1
        self._left = levels * (goal + 1) + begins
        self._right = levels * (goal + 1) + finishes - 2**levels + 1

    def costs(self, i: int) -> NDArray[np.int64]:
        """The cost of rewrite[i:i+1], rewrite[i:i+2], …; `impossible` where no turn has it."""
        return self._costs[i, i:]

    def inserted(self, after: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each i, the least cost of a span that begins there plus `after` at its end."""
        least = np.full(self._levels * (self._goal + 1), self._impossible, np.int64)
        costs = self._stretch_costs + after[self._ends]
        np.minimum.at(least, self._left, costs)
        np.minimum.at(least, self._right, costs)
        blocks = least.reshape(self._levels, self._goal + 1)
        for level in range(self._levels - 1, 0, -1):
            half = 2 ** (level - 1)
            np.minimum(blocks[level - 1], blocks[level], out=blocks[level - 1])
            np.minimum(blocks[level - 1, half:], blocks[level, :-half], out=blocks[level - 1, half:])
        cheapest: NDArray[np.int64] = blocks[0]
        return cheapest


def _codes(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", errors="surrogatepass"), np.uint32)
