"""Dependency trees in columns: CoNLL-U (Universal Dependencies, GUM), CoNLL-X, and the three columns of NLTK's sample.

One word per line, a blank line after every sentence. CoNLL-U and CoNLL-X have ten columns parted by tabs and agree in
those that count: ID, FORM, (LEMMA), coarse and fine part of speech, (FEATS), HEAD, DEPREL. Comments (#), multiword
tokens (3-4) and empty nodes (8.1) are skipped: heads only ever point to words. NLTK's `.dp` files have word, part of
speech and head.

The reader is our own: the conllu package reads the same files, but says neither file nor line of a bad one, and this
would be the only reason to need it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from friend_training.core.limits import Limits, exceeds
from friend_training.corpora.problems import Problems
from friend_training.corpora.text_files import sentence_id, text_files
from friend_training.errors import DataError
from friend_training.examples import Heads, HeadsExample, Tags, TagsExample, Words

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
