"""The bridge: a fixed sentence-level SRL parser that carries rewritten utterances over to the space of CSRL labels.

The paper does not say where the predicates of unlabeled text come from: finders are here too, as the parser finds some.

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

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from friend_training.errors import ConfigError, DataError, RunError
from friend_training.types import Dialogue, Predicate, Sentence, SentenceArgument, SentenceRoles, our_role


class Bridge(Protocol):
    """Extracts the arguments B_k of given predicates from sentences (section 4.2), in large batches.

    For each sentence one `SentenceRoles` per given predicate, in that order, arguments sorted and in our role names
    (`ROLES`); other roles are left out. A bridge that finds predicates by itself answers with no arguments for a given
    predicate that it did not find.
    """

    @property
    def name(self) -> str: ...

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]: ...


Key = tuple[str, tuple[Predicate, ...]]


class CachedBridge:
    """A bridge that remembers its answers by text and predicates; the least recently used are forgotten first.

    From one iteration to the next most rewrites stay the same, and so do most utterances that need no rewriting.
    """

    def __init__(self, bridge: Bridge, *, max_entries: int) -> None:
        if max_entries < 1:
            raise ConfigError(f"max_entries must be at least 1, not {max_entries}")
        self.bridge = bridge
        self.name = bridge.name
        self.max_entries = max_entries
        self._answers: OrderedDict[Key, tuple[SentenceRoles, ...]] = OrderedDict()

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]:
        """The bridge's predictions; each different sentence is queried once, all new ones in one batch.

        The batch may be larger than the cache: answers are given from the batch first, then as many are remembered as
        fit.
        """
        keys = [(sentence.text, sentence.predicates) for sentence in sentences]
        answers = {key: self._answers[key] for key in keys if key in self._answers}
        new = {key: sentence for key, sentence in zip(keys, sentences, strict=True) if key not in answers}
        answers |= zip(new, self.bridge.label(list(new.values())), strict=True) if new else ()
        for key in keys:
            self._answers[key] = answers[key]
            self._answers.move_to_end(key)
        while len(self._answers) > self.max_entries:
            self._answers.popitem(last=False)
        return [answers[key] for key in keys]


class NoBridge:
    """Stands where a run has no method that queries a bridge, so that none is trained or loaded for nothing."""

    name = "none"

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]:
        raise RunError("a bridge was queried, but no method of this run is known to query one (methods/registry.py)")


@dataclass(frozen=True, slots=True)
class Frame:
    """A word that the parser takes for a predicate, and its arguments under the parser's own role names."""

    word: int
    arguments: tuple[SentenceArgument, ...]


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """Words as character spans [start, end), their parts of speech (empty if not known) and the frames found."""

    text: str
    words: tuple[tuple[int, int], ...]
    pos: tuple[str, ...]
    frames: tuple[Frame, ...]

    def word_text(self, word: int) -> str:
        start, end = self.words[word]
        return self.text[start:end]


class Parser(Protocol):
    """Anything that segments texts and finds predicates with their arguments by itself."""

    name: str

    def parse(self, texts: Sequence[str]) -> list[ParsedSentence]: ...


class Tagger(Protocol):
    """Anything that segments texts and names the parts of speech, without finding predicates."""

    def tag(self, texts: Sequence[str]) -> list[ParsedSentence]: ...


class ParserBridge:
    """A parser as a bridge. A predicate that the parser did not find is answered with no arguments."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser
        self.name = parser.name

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]:
        parsed = self.parser.parse([sentence.text for sentence in sentences])
        return [answers(sentence, parse) for sentence, parse in zip(sentences, parsed, strict=True)]


def answers(sentence: Sentence, parse: ParsedSentence) -> tuple[SentenceRoles, ...]:
    """For each predicate queried, the arguments of the parser's word for it, in our role names, sorted."""
    frames = {frame.word: frame.arguments for frame in parse.frames}
    found = []
    for predicate in sentence.predicates:
        framed = (frames[word] for word in words_at(predicate, parse.words) if word in frames)
        found.append(SentenceRoles(predicate, _in_our_names(next(framed, ()))))
    return tuple(found)


def words_at(predicate: Predicate, words: Sequence[tuple[int, int]]) -> list[int]:
    """The words that may be the parser's for a predicate, best first.

    The word with the very same span; without one, all words that overlap it, from the last. So a longer word that
    contains the predicate is taken, and of a predicate that the parser cut up the last part that has arguments.
    The best of five rules tried with LTP tiny on DuConv dev (F1 0.605; the same span alone: 0.579).
    """
    overlapping = [i for i, (start, end) in enumerate(words) if start < predicate.end and predicate.start < end]
    same = [i for i in overlapping if words[i] == (predicate.start, predicate.end)]
    return same or overlapping[::-1]


def word_spans(text: str, words: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Where a parser's words stand in the text they came from. White space between and around words is skipped."""
    spans = []
    end = 0
    for word in (word.strip() for word in words):
        start = text.find(word, end)
        if start < 0:
            raise DataError(f"the parser's word {word!r} does not stand in {text!r} after character {end}")
        end = start + len(word)
        spans.append((start, end))
    return tuple(spans)


def _in_our_names(arguments: Sequence[SentenceArgument]) -> tuple[SentenceArgument, ...]:
    named = ((our_role(argument.role), argument) for argument in arguments)
    return tuple(sorted(SentenceArgument(role, old.start, old.end) for role, old in named if role is not None))


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
