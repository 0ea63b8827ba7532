"""Chinese PropBank as columns: a folder with words (a), parts of speech (b) and labels (c), or one word/POS/label file.

One predicate per line; the label `rel` marks it. A sentence recurs, not always on the next line, once for each of its
predicates, so its lines are gathered from the whole file. In a folder labels have no BIO prefix: a run of one label is
one argument.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from friend_training.core.limits import Limits, exceeds
from friend_training.data.text_io import Problems, check_texts, numbered_lines, open_content
from friend_training.errors import DataError
from friend_training.types import Predicate, Sentence, SentenceArgument, SentenceRoles, SrlExample, our_role

_PREDICATE = "rel"
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class TaggedSentence:
    """A sentence with its words and parts of speech; `predicate_words` index the words that are predicates."""

    example: SrlExample
    words: tuple[str, ...]
    tags: tuple[str, ...]
    predicate_words: tuple[int, ...]


def read_propbank(path: str | Path, problems: Problems) -> Iterator[TaggedSentence]:
    """The sentences of a folder {a,b,c}.txt or of a word/POS/label file, each with all its predicates."""
    path = Path(path)
    lines = _folder_lines(path, problems) if path.is_dir() else _slash_lines(path, problems)
    sentences: dict[tuple[str, ...], list[_Line]] = {}
    _check_size(path, problems.limits)
    for line in lines:
        sentences.setdefault(line.words, []).append(line)
    for gathered in sentences.values():
        yield _sentence(gathered, problems)


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    words: tuple[str, ...]
    tags: tuple[str, ...]
    predicate: int
    arguments: tuple[tuple[str, int, int], ...]  # (our role, first word, last word)


def _check_size(path: Path, limits: Limits) -> None:
    """The lines of a sentence may stand anywhere, so all are held until the last is read."""
    size = 0
    for file in [_column_file(path, name) for name in "abc"] if path.is_dir() else [path]:
        with open_content(file, limits) as content:
            while size <= limits.whole and (block := content.read(_BLOCK)):
                size += len(block)
    if size > limits.whole:
        raise DataError(f"more than {limits.whole:,} bytes; {exceeds('whole', limits.whole)}", path=path)


def _folder_lines(folder: Path, problems: Problems) -> Iterator[_Line]:
    columns = [dict(numbered_lines(_column_file(folder, name), problems)) for name in "abc"]
    for number in sorted(set().union(*columns)):
        line = None
        with problems.skipping(number):
            words, tags, labels = (tuple(column.get(number, "").split()) for column in columns)
            check_texts(words, problems.limits)
            line = _line(number, words, tags, labels)
        if line is not None:
            yield line


def _column_file(folder: Path, name: str) -> Path:
    for file in (folder / f"{name}.txt", folder / f"{name}.txt.gz"):
        if file.is_file():
            return file
    raise DataError(
        f"no {name}.txt here; expected a.txt (words), b.txt (parts of speech) and c.txt (labels)", path=folder
    )


def _slash_lines(path: str | Path, problems: Problems) -> Iterator[_Line]:
    for number, text in numbered_lines(path, problems):
        line = None
        with problems.skipping(number):
            cells = [cell.rsplit("/", 2) for cell in text.split()]
            if any(len(cell) != 3 for cell in cells):
                raise DataError("expected word/POS/label for every word")
            words, tags, labels = zip(*cells, strict=True)
            check_texts(words, problems.limits)
            line = _line(number, words, tags, labels)
        if line is not None:
            yield line


def _line(number: int, words: tuple[str, ...], tags: tuple[str, ...], labels: tuple[str, ...]) -> _Line:
    if not len(words) == len(tags) == len(labels):
        raise DataError(f"{len(words)} words, {len(tags)} parts of speech and {len(labels)} labels do not fit")
    if not all(words):
        raise DataError("a word without characters")
    predicates = [i for i, label in enumerate(labels) if label == _PREDICATE]
    if len(predicates) != 1:
        raise DataError(f"{len(predicates)} words are marked {_PREDICATE!r}, expected one")
    return _Line(number, words, tags, predicates[0], tuple(_runs(labels)))


def _runs(labels: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Arguments with a role of ours. B- and S- begin one even right after another of the same role."""
    names = [label[2:] if label[:2] in ("B-", "I-", "E-", "S-") else label for label in labels]
    begins = [i == 0 or names[i] != names[i - 1] or labels[i][:2] in ("B-", "S-") for i in range(len(labels))]
    starts = [i for i, begin in enumerate(begins) if begin]
    for start, end in zip(starts, [*starts[1:], len(labels)], strict=True):
        role = our_role(names[start])
        if role is not None:
            yield role, start, end - 1


def _sentence(lines: Sequence[_Line], problems: Problems) -> TaggedSentence:
    words = lines[0].words
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    by_word: dict[int, SentenceRoles] = {}
    for line in lines:
        if line.predicate in by_word:
            problems.report(line.number, "duplicate: this predicate of this sentence was labelled before")
            continue
        arguments = (SentenceArgument(role, starts[first], starts[last + 1]) for role, first, last in line.arguments)
        predicate = Predicate(starts[line.predicate], starts[line.predicate + 1])
        by_word[line.predicate] = SentenceRoles(predicate, tuple(sorted(arguments)))
    order = tuple(sorted(by_word))
    roles = tuple(by_word[word] for word in order)
    sentence = Sentence(f"propbank:{lines[0].number}", "".join(words), tuple(role.predicate for role in roles))
    return TaggedSentence(SrlExample(sentence, roles), words, lines[0].tags, order)
