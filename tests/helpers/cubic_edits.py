"""Edit scripts the slow way, cubic in the lengths: for short texts, to compare with."""

from operator import add

from friend_training.tasks.rewriting.edits import SpanSource
from friend_training.types import Dialogue, Insertion, Rewrite


def cubic_script(dialogue: Dialogue, rewrite: str, *, span_source: SpanSource) -> Rewrite | None:
    """The scripts of before, by looking at every pair of places: what the quicker way must give, to the letter."""
    utterance = dialogue.utterance.text
    if rewrite == utterance:
        return Rewrite(rewrite)
    sources = _OldSources(dialogue, rewrite, span_source=span_source)
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


class _OldSources:
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
