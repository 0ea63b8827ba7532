"""Finding the predicates of unlabeled text: the paper does not say where they come from.

Measured with LTP tiny on all turns of the dialogues, exact spans against the annotated predicates, of which there is
about one per turn; overlap is the share of annotated predicates that some found word overlaps:

    DuConv dev                  precision   recall   overlap   found per turn
      verbs                          0.41     0.84      0.95              2.1
      framed words                   0.46     0.71      0.80              1.6
      framed verbs                   0.53     0.70      0.80              1.4
    PersonalDialog
      verbs                          0.26     0.88      0.94              3.2
      framed words                   0.33     0.62      0.66              1.8
      framed verbs                   0.36     0.61      0.66              1.6

The annotation marks only some of the verbs, so precision is low for any finder. Pools and trained models that are
asked about a text take framed verbs: a verb without a frame in u_t is one of which the bridge has nothing to say, so
that labelling it costs passes and teaches little, and a model is asked about what it was taught. All verbs leave fewer
out (best F2 of the three: 0.69, 0.60; `data.finder: ltp-verbs`). Leaving out seven auxiliaries (会 能 要 可以 应该
可能 能够) gives 0.70 on DuConv dev, which does not annotate them, but 0.55 on PersonalDialog, which does: not done.
Most of what verbs miss exactly is segmentation: the corpus has 不知道 as one word, LTP has 不 知道.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

from friend_training.bridges.bridge import ParsedSentence, Parser, Tagger
from friend_training.types import Dialogue, Predicate

# A predicate finder for runs without a parser: the words that were predicates in the text the run has seen.
#
# Learnt from the synthetic film dialogues and queried on 500 others it finds all their predicates, and 91 % of what it
# finds are predicates (a verb inside a name is taken for one, too). In another domain it knows a quarter of the verbs:
# whoever has LTP should use that (the finders below).


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


VERB = "v"
"""The verb tag of the 863 and PKU tag sets, LTP's among them."""


class PredicateFinder(Protocol):
    """Finds the predicates of each text, sorted."""

    def find(self, texts: Sequence[str]) -> list[tuple[Predicate, ...]]: ...


class VerbFinder:
    """Every verb is a predicate."""

    def __init__(self, tagger: Tagger) -> None:
        self.tagger = tagger

    def find(self, texts: Sequence[str]) -> list[tuple[Predicate, ...]]:
        return [_predicates(tagged, _verbs(tagged)) for tagged in self.tagger.tag(texts)]


class FramedVerbFinder:
    """Verbs that an SRL parser gives at least one role, of whatever name: fewer than all verbs, and surer ones."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser

    def find(self, texts: Sequence[str]) -> list[tuple[Predicate, ...]]:
        return [
            _predicates(parsed, _verbs(parsed) & {frame.word for frame in parsed.frames})
            for parsed in self.parser.parse(texts)
        ]


class FramedWordFinder:
    """Every word that an SRL parser gives a frame: for parsers that tell no parts of speech."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser

    def find(self, texts: Sequence[str]) -> list[tuple[Predicate, ...]]:
        return [_predicates(parsed, {frame.word for frame in parsed.frames}) for parsed in self.parser.parse(texts)]


def _verbs(parsed: ParsedSentence) -> set[int]:
    return {word for word, tag in enumerate(parsed.pos) if tag == VERB}


def _predicates(parsed: ParsedSentence, words: set[int]) -> tuple[Predicate, ...]:
    return tuple(Predicate(*parsed.words[word]) for word in sorted(words))
