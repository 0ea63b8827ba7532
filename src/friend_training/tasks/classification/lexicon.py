"""A polarity lexicon as a rule: words of a list vote, a negation before them turns their vote round."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from friend_training.errors import DataError

_LONGEST = 6
"""Characters of the longest word that is looked for in text without spaces."""


@dataclass(frozen=True)
class Lexicon:
    """Words that tell a polarity, and words that turn it round. `spaced` text has spaces between its words.

    Where its words do not decide it says `undecided`; None is no answer, and then there is nothing to match.

    The rule is as plain as it looks: it knows no irony and no context. That is its worth as a third friend: what it
    gets wrong has little to do with what trained models get wrong.
    """

    positive: Collection[str]
    negative: Collection[str]
    negations: Collection[str]
    spaced: bool
    undecided: str | None = "neutral"

    def __call__(self, given: Any) -> str | None:
        """The polarity of an input's text; `undecided` when nothing votes, or as many on both sides."""
        votes = self._votes(given.text.lower().replace("’", "'"))
        return "positive" if votes > 0 else "negative" if votes < 0 else self.undecided

    def _votes(self, text: str) -> int:
        return self._votes_of_words(text) if self.spaced else self._votes_in(text)

    def _votes_of_words(self, text: str) -> int:
        words = "".join(c if c.isalnum() or c == "'" else " " for c in text).split()
        turned = [any(before in self.negations for before in words[max(0, at - 3) : at]) for at in range(len(words))]
        return sum(-self._vote(word) if turn else self._vote(word) for word, turn in zip(words, turned, strict=True))

    def _votes_in(self, text: str) -> int:
        """Without spaces: the longest word that begins at a place votes, and the words within it do not."""
        votes = at = 0
        while at < len(text):
            word = next((text[at : at + n] for n in range(_LONGEST, 0, -1) if self._vote(text[at : at + n])), "")
            turn = any(negation in text[max(0, at - 3) : at] for negation in self.negations)
            votes += -self._vote(word) if turn else self._vote(word)
            at += len(word) or 1
        return votes

    def _vote(self, word: str) -> int:
        return (word in self.positive) - (word in self.negative)


def read_lexicon(path: str | Path, *, spaced: bool) -> Lexicon:
    """Lines `positive: word word …`, `negative: …`, `negation: …`; a kind may have several lines, # is a remark."""
    path = Path(path)
    words: dict[str, set[str]] = {"positive": set(), "negative": set(), "negation": set()}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        kind, colon, rest = line.partition(":")
        if not colon or kind not in words:
            raise DataError(f"expected one of {', '.join(words)} and a colon", path=path, line=number)
        words[kind].update(rest.split())
    return Lexicon(
        frozenset(words["positive"]), frozenset(words["negative"]), frozenset(words["negation"]), spaced=spaced
    )
