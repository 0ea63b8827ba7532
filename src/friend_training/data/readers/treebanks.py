"""Treebanks: dependency trees in columns, and bracketed trees below.

Dependency trees in columns: CoNLL-U (Universal Dependencies, GUM), CoNLL-X, and the three columns of NLTK's sample.

One word per line, a blank line after every sentence. CoNLL-U and CoNLL-X have ten columns parted by tabs and agree in
those that count: ID, FORM, (LEMMA), coarse and fine part of speech, (FEATS), HEAD, DEPREL. Comments (#), multiword
tokens (3-4) and empty nodes (8.1) are skipped: heads only ever point to words. NLTK's `.dp` files have word, part of
speech and head.

The reader is our own: the conllu package reads the same files, but says neither file nor line of a bad one, and this
would be the only reason to need it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from friend_training.core.limits import Limits, exceeds
from friend_training.data.text_io import Problems, TextFile, sentence_id, text_files
from friend_training.errors import DataError
from friend_training.types import Bracket, Heads, HeadsExample, Tags, TagsExample, Tree, TreeExample, Words

CONLL_SUFFIXES = (".conllu", ".conllx", ".conll")

DP_SUFFIXES = (".dp",)

_NOTHING = "_"

_MOST_DIGITS = 9


@dataclass(frozen=True, slots=True)
class DependencySentence:
    """A sentence with heads and parts of speech: the corpus' own (`tags`) and, in ten columns, coarse ones (UPOS)."""

    words: Words
    heads: Heads
    tags: Tags | None
    coarse_tags: Tags | None

    @property
    def heads_example(self) -> HeadsExample:
        return HeadsExample(self.words, self.heads)

    @property
    def tags_example(self) -> TagsExample:
        if self.tags is None:
            raise DataError(f"sentence {self.words.id} has no parts of speech")
        return TagsExample(self.words, self.tags)


@dataclass(frozen=True, slots=True)
class _Layout:
    """How many columns there are, and which of them is what; None: the format has no such column."""

    suffixes: tuple[str, ...]
    columns: int
    form: int
    tag: int
    head: int
    number: int | None = None
    coarse: int | None = None
    relation: int | None = None


_CONLL = _Layout(CONLL_SUFFIXES, columns=10, number=0, form=1, coarse=3, tag=4, head=6, relation=7)

_DP = _Layout(DP_SUFFIXES, columns=3, form=0, tag=1, head=2)


def read_conll(path: str | Path, problems: Problems) -> Iterator[DependencySentence]:
    """The sentences of a CoNLL-U or CoNLL-X file, or of a folder or archive of them."""
    return _read(path, problems, _CONLL)


def read_dp(path: str | Path, problems: Problems) -> Iterator[DependencySentence]:
    """The sentences of NLTK's dependency sample: no relations, and the words of `treebank.zip` without its traces."""
    return _read(path, problems, _DP)


def _read(path: str | Path, problems: Problems, layout: _Layout) -> Iterator[DependencySentence]:
    for file in text_files(path, layout.suffixes, problems.limits):
        lines = ((number, text) for number, text in file.lines if layout is _DP or not text.startswith("#"))
        parts = groupby(lines, key=lambda line: not line[1].strip())
        blocks = (_block(part, path, problems.limits) for blank, part in parts if not blank)
        for position, block in enumerate(blocks, start=1):
            found = _sentence(block, sentence_id(file.document, position), layout)
            if isinstance(found, _Fault):
                file.report(problems, found.line, found.message)
            else:
                yield found


def _block(part: Iterator[tuple[int, str]], path: str | Path, limits: Limits) -> list[tuple[int, str]]:
    """The lines of one sentence, unless they go on and on."""
    block: list[tuple[int, str]] = []
    size = 0
    for line in part:
        block.append(line)
        size += len(line[1]) + 1
        if size > limits.line:
            message = f"a sentence of more than {limits.line:,} characters"
            raise DataError(f"{message}; {exceeds('line', limits.line)}", path=path, line=line[0])
    return block


@dataclass(frozen=True, slots=True)
class _Fault:
    line: int
    message: str


def _sentence(block: Sequence[tuple[int, str]], name: str, layout: _Layout) -> DependencySentence | _Fault:
    rows: list[list[str]] = []
    first = block[0][0]
    for line, text in block:
        row = text.split("\t")
        if len(row) != layout.columns:
            return _Fault(line, f"{len(row)} columns parted by tabs, expected {layout.columns}")
        if layout.number is not None and not row[layout.number].isdecimal():
            if row[layout.number].replace("-", "").replace(".", "").isdecimal():
                continue  # a multiword token or an empty node
            return _Fault(line, f"the id is {row[layout.number]!r}, expected a number")
        rows.append(row)
        if layout.number is not None and row[layout.number] != str(len(rows)):
            return _Fault(line, f"the id is {row[layout.number]}, expected {len(rows)}")
        if not row[layout.head].isdecimal() or len(row[layout.head]) > _MOST_DIGITS:
            return _Fault(line, f"the head is {row[layout.head]!r}, expected a number")
    heads = tuple(int(row[layout.head]) for row in rows)
    fault = fault_of_heads(heads)
    if fault is not None:
        return _Fault(first, fault)
    relations = _column(rows, layout.relation)
    return DependencySentence(
        Words(name, tuple(row[layout.form] for row in rows)),
        Heads(heads, relations),
        _tags(_column(rows, layout.tag)),
        _tags(_column(rows, layout.coarse)),
    )


def fault_of_heads(heads: Sequence[int]) -> str | None:
    """What keeps these heads from being a tree, if anything does: every word must lead up to a root."""
    if not heads:
        return "a sentence without words"
    if max(heads) > len(heads):
        return f"a head is {max(heads)}, but there are {len(heads)} words"
    leads_up = {0}
    for word in range(1, len(heads) + 1):
        path: dict[int, None] = {}  # in order, and quick to look in
        at = word
        while at not in leads_up:
            if at in path:
                circle = list(path)[list(path).index(at) :]
                return f"the heads of the words {sorted(circle)} go in a circle, expected a tree"
            path[at] = None
            at = heads[at - 1]
        leads_up.update(path)
    return None


def _column(rows: Sequence[Sequence[str]], column: int | None) -> tuple[str, ...] | None:
    """A column where the format has it and this sentence fills it."""
    if column is None or all(row[column] == _NOTHING for row in rows):
        return None
    return tuple(row[column] for row in rows)


def _tags(column: tuple[str, ...] | None) -> Tags | None:
    return None if column is None else Tags(column)


# Bracketed trees: the Penn Treebank sample that NLTK gives out (`treebank.zip`), GUM's constituents, your own.
#
# `( (S (NP-SBJ (PRP We) ) (VP (VBD left) (NP (-NONE- *T*-1) ))))`: a preterminal holds a word, a phrase holds phrases
# and preterminals, lines mean nothing. What parsers are not asked for is taken away: traces (-NONE-) and the phrases
# that hold nothing else, function tags and indices (NP-SBJ-1, NP=2), and the unlabelled, TOP or ROOT bracket around it
# all.
#
# The parser is our own, and small: NLTK's reads the same trees, but says neither file nor line of a broken one, and
# this would be the only reason to need NLTK.


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


def read_tree(text: str) -> tuple[tuple[str, ...], Tree]:
    """The words and the tree of a text in brackets, which holds no other."""
    problems = Problems("")
    found = list(_trees(TextFile("", iter(enumerate(text.splitlines(), start=1))), problems, ""))
    faults = [one.message for one in problems.found] + [one.fault[1] for one in found if one.fault is not None]
    if faults or len(found) != 1:
        raise DataError(faults[0] if faults else f"{len(found)} trees, expected one")
    return tuple(found[0].words), Tree(_chained(found[0].brackets), tuple(found[0].tags))


def bracketed(words: Sequence[str], tree: Tree) -> str:
    """The text of a tree, as `read_tree` reads it; brackets and blanks in words are written as treebanks do."""
    begins: dict[int, list[str]] = {}
    ends: dict[int, int] = {}
    for bracket in sorted(tree.brackets, key=lambda one: (one.start, -one.end)):
        labels = bracket.label.split("+")
        begins.setdefault(bracket.start, []).extend(f"({label} " for label in labels)
        ends[bracket.end] = ends.get(bracket.end, 0) + len(labels)
    parts = []
    for place, (word, tag) in enumerate(zip(words, tree.tags, strict=True)):
        parts.append("".join(begins.get(place, ())) + f"({tag} {_plain(word)})" + ")" * ends.get(place + 1, 0))
    return f"( {' '.join(parts)} )"


def _plain(word: str) -> str:
    return "_".join(word.replace("(", "-LRB-").replace(")", "-RRB-").split()) or "_"


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
