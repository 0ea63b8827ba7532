"""Bracketed trees: the Penn Treebank sample that NLTK gives out (`treebank.zip`), GUM's constituents, your own.

`( (S (NP-SBJ (PRP We) ) (VP (VBD left) (NP (-NONE- *T*-1) ))))`: a preterminal holds a word, a phrase holds phrases and
preterminals, lines mean nothing. What parsers are not asked for is taken away: traces (-NONE-) and the phrases that
hold nothing else, function tags and indices (NP-SBJ-1, NP=2), and the unlabelled, TOP or ROOT bracket around it all.

The parser is our own, and small: NLTK's reads the same trees, but says neither file nor line of a broken one, and this
would be the only reason to need NLTK.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from friend_training.core.limits import exceeds
from friend_training.corpora.problems import Problems
from friend_training.corpora.text_files import TextFile, sentence_id, text_files
from friend_training.errors import DataError
from friend_training.examples import Bracket, Tree, TreeExample, Words

SUFFIXES = (".mrg", ".ptb")
"""The endings that count in an archive or folder: `parsed/*.prd` beside them in NLTK's zip has no parts of speech."""

TOPS = frozenset({"", "TOP", "ROOT", "S1"})
"""What treebanks write around a sentence; it is no phrase."""

TRACE = "-NONE-"
_TOKEN = re.compile(r"[()]|[^\s()]+")
_CATEGORY = re.compile(r"[^-=|]+")


def read_treebank(path: str | Path, problems: Problems) -> Iterator[TreeExample]:
    """The trees of a file, of a folder or of an archive. A tree with a fault is reported, and keeps its number."""
    for file in text_files(path, SUFFIXES, problems.limits):
        for number, reading in enumerate(_trees(file, problems, path), start=1):
            if reading.fault is None:
                words = Words(sentence_id(file.document, number), tuple(reading.words))
                yield TreeExample(words, Tree(_chained(reading.brackets), tuple(reading.tags)))
            else:
                file.report(problems, *reading.fault)


@dataclass(slots=True)
class _Open:
    """A bracket that is not closed yet: where it begins, its label, and what it holds so far."""

    start: int
    place: int  # among the brackets, so that the outer of two over the same words comes first
    label: str | None = None
    word: str | None = None
    phrases: int = 0


@dataclass(slots=True)
class _Reading:
    """A tree while it is read; of its faults the first is kept."""

    line: int
    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    brackets: list[Bracket] = field(default_factory=list)
    open: list[_Open] = field(default_factory=list)
    fault: tuple[int, str] | None = None

    def blame(self, line: int, message: str) -> None:
        self.fault = self.fault or (line, message)

    def begin(self, line: int) -> None:
        if self.open:
            if self.open[-1].word is not None:
                self.blame(line, f"'(' after the word {self.open[-1].word!r}, expected ')'")
            self.open[-1].phrases += 1
        self.open.append(_Open(len(self.words), len(self.brackets)))

    def name(self, text: str, line: int) -> None:
        top = self.open[-1]
        if top.phrases or top.word is not None:
            self.blame(line, f"{text!r} where '(' or ')' was expected: every word has a bracket with a tag of its own")
        elif top.label is None:
            top.label = text
        else:
            top.word = text

    def close(self, line: int) -> None:
        done = self.open.pop()
        label = done.label or ""
        if done.word is not None:
            if label != TRACE:
                self.words.append(done.word)
                self.tags.append(label)
        elif not done.phrases:
            self.blame(line, f"({label}) holds nothing, expected a word or phrases")
        elif len(self.words) > done.start and label not in TOPS:
            self.brackets.insert(done.place, Bracket(done.start, len(self.words), _category(label)))


def _trees(file: TextFile, problems: Problems, path: str | Path) -> Iterator[_Reading]:
    """Every outermost bracket; one with a fault is read to its end, so that the next tree is found."""
    tree: _Reading | None = None
    size, limits = 0, problems.limits
    for number, text in file.lines:
        for token in _TOKEN.findall(text):
            if tree is None and token != "(":
                file.report(problems, number, f"{token!r} stands outside of all trees, expected '('")
                continue
            if tree is None:
                tree, size = _Reading(number), 0
            size += len(token)
            if size > limits.text:
                message = f"a tree of more than {limits.text:,} characters"
                raise DataError(f"{message}; {exceeds('text', limits.text)}", path=path, line=number)
            if token == "(":
                tree.begin(number)
            elif token == ")":
                tree.close(number)
            else:
                tree.name(token, number)
            if not tree.open:
                if not tree.words:
                    tree.blame(tree.line, "a tree without words")
                yield tree
                tree = None
    if tree is not None:
        file.report(problems, tree.line, f"{len(tree.open)} brackets of the tree that begins here are never closed")


def _category(label: str) -> str:
    """NP-SBJ-1, NP=2 and ADVP|PRT without what follows the category."""
    found = _CATEGORY.match(label)
    return found.group() if found else label


def _chained(brackets: list[Bracket]) -> tuple[Bracket, ...]:
    """Phrases over the same words become one, A+B with the outer first; they stand next to each other."""
    chained: list[Bracket] = []
    for bracket in brackets:
        if chained and (chained[-1].start, chained[-1].end) == (bracket.start, bracket.end):
            chained[-1] = Bracket(bracket.start, bracket.end, f"{chained[-1].label}+{bracket.label}")
        else:
            chained.append(bracket)
    return tuple(chained)
