"""Edit scripts: what dialogue rewriting as sequence labelling can say about u_t (section 4.1 of the paper).

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

from operator import add
from typing import Literal

from friend_training.examples import Dialogue, Insertion, Rewrite

SpanSource = Literal["context", "dialogue"]


def build_script(dialogue: Dialogue, rewrite: str, *, span_source: SpanSource) -> Rewrite | None:
    """The best script (see above) that turns u_t into `rewrite`, or None if there is none.

    A dynamic programme from the right over (characters of u_t left, characters of the rewrite left):
    `after[j][i]` is the cost of making rewrite[i:] from u_t[j:] when nothing more may be inserted before character j,
    `best[j][i]` when a span still may. The criteria above are the digits of one integer cost.
    """
    utterance = dialogue.utterance.text
    if rewrite == utterance:
        return Rewrite(rewrite)
    sources = _Sources(dialogue, rewrite, span_source=span_source)
    distances = sources.distances()

    length, goal = len(utterance), len(rewrite)
    deletion = (length + 1) * (len(sources.joined) + 1)  # more than all distances of one script together
    insertion = deletion * (length + 1)  # more than all its deletions
    impossible = insertion * (length + 2)
    costs = [[insertion + distance for distance in row] for row in distances]

    after = [[impossible] * (goal + 1) for _ in range(length + 1)]
    best = [[impossible] * (goal + 1) for _ in range(length + 1)]
    for j in range(length, -1, -1):
        row = after[j]
        if j == length:
            row[goal] = 0
        else:
            character, following = utterance[j], best[j + 1]
            for i in range(goal + 1):
                row[i] = following[i] + deletion
                if i < goal and rewrite[i] == character and following[i + 1] < row[i]:
                    row[i] = following[i + 1]
        best[j] = [
            min(row[i], min(map(add, costs[i], row[i + 1 : i + 1 + len(costs[i])]))) if costs[i] else row[i]
            for i in range(goal)
        ]
        best[j].append(row[goal])
    if best[0][0] >= impossible:
        return None

    deleted: list[int] = []
    insertions: list[Insertion] = []
    i = 0
    for j in range(length + 1):
        for size, cost in enumerate(costs[i] if i < goal else (), start=1):
            if best[j][i] == cost + after[j][i + size]:
                turn, start = sources.locate(rewrite[i : i + size])
                insertions.append(Insertion(before=j, turn=turn, start=start, end=start + size))
                i += size
                break
        if j < length:
            if i < goal and rewrite[i] == utterance[j] and after[j][i] == best[j + 1][i + 1]:
                i += 1
            else:
                deleted.append(j)
    return Rewrite(rewrite, tuple(deleted), tuple(insertions))


def apply_script(dialogue: Dialogue, script: Rewrite) -> str:
    """The u_t' that the script's deletions and insertions make of u_t; its `text` is not looked at."""
    return "".join(dialogue.turns[turn].text[offset] for turn, offset in origin(script, dialogue))


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

    Exact, not a search for the same string: a predicate that occurs twice is told apart (DESIGN 5.2).
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

    def distances(self) -> list[list[int]]:
        """For each position i of the rewrite, the distances of rewrite[i:i+1], rewrite[i:i+2], … while they match.

        Every prefix of a match is a match too; and if one of size s starts at i, one of size s-1 starts at i+1.
        """
        total, rows, longest = len(self.joined), [], 0
        for i in range(len(self.rewrite)):
            longest = max(longest - 1, 0)
            while i + longest < len(self.rewrite) and self.rewrite[i : i + longest + 1] in self.joined:
                longest += 1
            rows.append([total - self.joined.rfind(self.rewrite[i : i + s]) - s for s in range(1, longest + 1)])
        return rows

    def locate(self, span: str) -> tuple[int, int]:
        """The turn and offset of the nearest occurrence."""
        position = self.joined.rfind(span)
        index = max(index for index, start in enumerate(self.starts) if start <= position)
        return self.turns[index], position - self.starts[index]
