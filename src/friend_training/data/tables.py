"""Examples in rows: CSV, TSV, JSONL, Parquet or plain text, a DataFrame, a Dataset, or a list from Python."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from friend_training.core.limits import Limits, exceeds
from friend_training.data.readers.treebanks import (
    CONLL_SUFFIXES,
    DP_SUFFIXES,
    SUFFIXES,
    fault_of_heads,
    read_conll,
    read_dp,
    read_tree,
    read_treebank,
)
from friend_training.data.text_io import Problems, check_texts, numbered_lines, parse_json, shown
from friend_training.errors import DataError
from friend_training.types import Heads, HeadsExample, Tags, TagsExample, Text, Tree, TreeExample, Words

Rows = Iterable[Any] | str | Path
"""Where rows come from: a file, a DataFrame of pandas or polars, a Dataset, or any iterable of mappings or texts."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its cells by column, and where it stands, for messages and for an id where it has none."""

    cells: Mapping[str, Any]
    path: str
    line: int

    def cell(self, column: str) -> Any:
        if column not in self.cells:
            there = ", ".join(map(str, self.cells)) or "none"
            raise self.wrong(f"there is no column {column!r}; the columns are {there}")
        return self.cells[column]

    def text(self, column: str) -> str:
        value = self.cell(column)
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(f"column {column!r}: expected a text, found {shown(value)}")
        return value

    def id(self, column: str | None) -> str:
        return f"{Path(self.path).name.partition('.')[0]}:{self.line}" if column is None else str(self.cell(column))

    def wrong(self, message: str) -> DataError:
        return DataError(message, path=self.path, line=self.line)


def rows_of(source: Rows, *, name: str = "rows") -> Iterator[Row]:
    """The rows of a file or an object; `name` is what messages call an object."""
    if isinstance(source, str | Path):
        limits = Limits.from_environment()
        for row in _file(Path(source)):
            _check_cells(row, limits)
            yield row
        return
    yield from _object(source, name)


def texts(source: Rows, *, text: str, id: str | None = None, name: str = "pool") -> Iterator[Text]:
    return (Text(row.id(id), row.text(text)) for row in rows_of(source, name=name))


def labelled_texts(
    source: Rows, *, text: str, label: str, id: str | None = None, name: str = "gold"
) -> Iterator[tuple[Text, str]]:
    """Pairs of a text and its class; a number that stands for a class is taken as it is written."""
    for row in rows_of(source, name=name):
        given = row.cell(label)
        if given is None or isinstance(given, float | dict | list) or not str(given).strip():
            raise row.wrong(f"column {label!r}: expected a label, found {shown(given)}")
        yield Text(row.id(id), row.text(text)), str(given)


def words(source: Rows, *, words: str, id: str | None = None, name: str = "pool") -> Iterator[Words]:
    return (Words(row.id(id), words_in(row, words)) for row in rows_of(source, name=name))


def tagged_words(
    source: Rows, *, words: str, tags: str, id: str | None = None, name: str = "gold"
) -> Iterator[TagsExample]:
    """Sentences with a tag for each word; both are lists, or texts with blanks."""
    for row in rows_of(source, name=name):
        told, labels = words_in(row, words), words_in(row, tags)
        if len(told) != len(labels):
            raise row.wrong(f"{len(told)} words in {words!r}, but {len(labels)} tags in {tags!r}")
        yield TagsExample(Words(row.id(id), told), Tags(labels))


def tagged_sentences(source: Path, *, words: str, tags: str, id: str | None = None) -> Iterator[TagsExample]:
    """Of rows, or of a treebank of either kind: the tags of its words."""
    if is_table(source):
        yield from tagged_words(source, words=words, tags=tags, id=id)
        return
    for one in _treebank(source, SUFFIXES, CONLL_SUFFIXES, DP_SUFFIXES):
        yield TagsExample(one.words, Tags(one.tree.tags)) if isinstance(one, TreeExample) else one.tags_example


def parsed_sentences(source: Path, *, tree: str, id: str | None = None) -> Iterator[TreeExample]:
    """Of rows with trees in brackets, or of a treebank."""
    if not is_table(source):
        yield from read_treebank(source, Problems(source, strict=True))
        return
    for row in rows_of(source):
        told, label = tree_in(row, tree)
        yield TreeExample(Words(row.id(id), told), label)


def sentences_with_heads(
    source: Path, *, words: str, heads: str, relations: str | None = None, id: str | None = None
) -> Iterator[HeadsExample]:
    """Of rows with a head for each word, or of a treebank in columns."""
    if not is_table(source):
        yield from (one.heads_example for one in _treebank(source, CONLL_SUFFIXES, DP_SUFFIXES))
        return
    for row in rows_of(source):
        told, found = words_in(row, words), heads_in(row, heads).heads
        names = None if relations is None else words_in(row, relations)
        for column, given in ((heads, found), (relations, names)):
            if given is not None and len(given) != len(told):
                raise row.wrong(f"{len(told)} words in {words!r}, but {len(given)} in {column!r}")
        yield HeadsExample(Words(row.id(id), told), Heads(found, names))


def is_table(path: Path) -> bool:
    """Whether a file has rows; treebanks have other endings, or are archives or folders."""
    return _ending(path) in _FORMATS


def _ending(path: Path) -> str:
    name = path.name.removesuffix(".gz")
    return Path(name).suffix


_TREEBANKS: dict[tuple[str, ...], Callable[[Path, Problems], Iterator[Any]]] = {
    SUFFIXES: read_treebank,
    CONLL_SUFFIXES: read_conll,
    DP_SUFFIXES: read_dp,
}


def _treebank(path: Path, *formats: tuple[str, ...]) -> Iterator[Any]:
    """What the reader of the ending finds; of a folder or an archive, the first that knows a file in it."""
    problems = Problems(path, strict=True)
    for suffixes in formats:
        if _ending(path) in suffixes:
            return _TREEBANKS[suffixes](path, problems)
    for suffixes in formats[:-1]:
        try:
            return iter(list(_TREEBANKS[suffixes](path, problems)))
        except DataError as error:
            if error.line is not None:
                raise
    return _TREEBANKS[formats[-1]](path, problems)


def tree_in(row: Row, column: str) -> tuple[tuple[str, ...], Tree]:
    """The words and the tree of a cell."""
    text = row.text(column)
    try:
        return read_tree(text)
    except DataError as error:
        raise row.wrong(f"column {column!r}: {error}") from None


def heads_in(row: Row, column: str) -> Heads:
    """The heads of a cell: numbers as a list, one as JSON, or a text with blanks, which are those of a tree."""
    value = row.cell(column)
    if isinstance(value, str):
        value = _json_list(row, value) if value.lstrip().startswith("[") else value.split()
    value = value.tolist() if hasattr(value, "tolist") else value
    numbers = [str(one) for one in value] if isinstance(value, list | tuple) else []
    if not numbers or not all(one.isdecimal() and len(one) < _MOST_DIGITS for one in numbers):
        raise row.wrong(f"column {column!r}: expected the head of each word, found {shown(value)}")
    heads = tuple(int(one) for one in numbers)
    if (fault := fault_of_heads(heads)) is not None:
        raise row.wrong(f"column {column!r}: {fault}")
    return Heads(heads)


_MOST_DIGITS = 10


def words_in(row: Row, column: str) -> tuple[str, ...]:
    """The words of a cell: a list, one as JSON, or a text with blanks."""
    value = row.cell(column)
    if isinstance(value, str):
        value = _json_list(row, value) if value.lstrip().startswith("[") else value.split()
    value = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(value, list | tuple) or not value or not all(isinstance(one, str) for one in value):
        raise row.wrong(f"column {column!r}: expected a list of words, found {shown(value)}")
    return tuple(value)


def _json_list(row: Row, text: str) -> Any:
    limits = Limits.from_environment()
    try:
        found = parse_json(text, limits)
    except DataError as error:
        raise row.wrong(str(error)) from None
    _check_cells(Row({"": found}, row.path, row.line), limits)
    return found


def _check_cells(row: Row, limits: Limits) -> None:
    """Cells, or lists of words in them, that are too long together, or that no file can hold."""
    given = (value if isinstance(value, list) else [value] for value in row.cells.values())
    try:
        check_texts((one for cell in given for one in cell if isinstance(one, str)), limits)
    except DataError as error:
        raise row.wrong(str(error)) from None


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Rows as JSONL, for a run that must be gone on with where the program that had them is gone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(dict(row), ensure_ascii=False) + "\n" for row in rows)
    path.write_text("".join(lines), encoding="utf-8")


def _file(path: Path) -> Iterator[Row]:
    if not path.is_file():
        raise DataError("a file was expected, this is none" if path.exists() else "there is no such file", path=path)
    endings = [ending for ending in path.suffixes if ending in _FORMATS]
    if not endings:
        raise DataError(f"a file that ends in {', '.join(_FORMATS)} (or these with .gz) was expected", path=path)
    yield from _FORMATS[endings[-1]](path)


def _separated(path: Path, separator: str) -> Iterator[Row]:
    last = 1

    def lines() -> Iterator[str]:
        nonlocal last
        for last, line in numbered_lines(path, Problems(path, strict=True)):  # noqa: B007
            yield line + "\n"  # within quotation marks a cell may go over two lines

    found = csv.DictReader(lines(), delimiter=separator)
    try:
        names = found.fieldnames or ()
        if twice := [name for name in names if names.count(name) > 1]:
            raise DataError(f"two columns have the name {twice[0]!r}", path=path, line=last)
        if len(names) == 1 and (other := next((one for one in ",;\t" if one != separator and one in names[0]), None)):
            told = "tabs (name it .tsv)" if other == "\t" else repr(other)
            raise DataError(
                f"its cells seem to be parted by {told}, expected {separator!r}: {names[0][:100]!r}", path=path, line=1
            )
        for cells in found:
            if None in cells or None in cells.values():
                raise DataError(f"{len(names)} cells were expected, as in the header", path=path, line=last)
            yield Row(cells, str(path), last)
    except csv.Error as error:
        raise DataError(f"broken CSV: {error}", path=path, line=last) from error


def _objects(path: Path) -> Iterator[Row]:
    """One object per line, or a file that is a single list of objects."""
    limits = Limits.from_environment()
    lines = numbered_lines(path, Problems(path, strict=True, limits=limits))
    first = next(lines, None)
    if first is None:
        return
    if first[1].lstrip().startswith("["):
        yield from _listed(path, "\n".join([first[1], *(line for _, line in lines)]), limits)
        return
    for number, line in chain([first], lines):
        if line.strip() == "{":
            raise DataError("one JSON object per line, or a list of them, was expected", path=path, line=number)
        try:
            value = parse_json(line, limits)
        except DataError as error:
            raise DataError(str(error), path=path, line=number) from None
        if not isinstance(value, dict):
            raise DataError(f"expected one JSON object per line, found {shown(value)}", path=path, line=number)
        yield Row(value, str(path), number)


def _listed(path: Path, text: str, limits: Limits) -> Iterator[Row]:
    if len(text) > limits.whole:
        raise DataError(f"a list of {len(text):,} characters; {exceeds('whole', limits.whole)}", path=path)
    try:
        values = parse_json(text, limits)
    except DataError as error:
        raise DataError(f"a list of JSON objects was expected, {error}", path=path) from None
    for number, value in enumerate(values, start=1):
        if not isinstance(value, dict):
            raise DataError(f"item {number}: expected an object, found {shown(value)}", path=path)
        yield Row(value, f"{path}, item", number)


def _lines(path: Path) -> Iterator[Row]:
    for number, line in numbered_lines(path, Problems(path, strict=True)):
        if line.strip():
            yield Row({"text": line.strip()}, str(path), number)


def _parquet(path: Path) -> Iterator[Row]:
    # Only now: it takes a moment, and most files are text.
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            rows = (row for batch in file.iter_batches(1000) for row in batch.to_pylist())
            for number, cells in enumerate(rows, start=1):
                yield Row(cells, str(path), number)
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:  # dates before year 1, two equal columns
        raise DataError(
            f"not a Parquet file that can be read ({str(error).splitlines()[0][:100]})", path=path
        ) from error


_FORMATS: dict[str, Callable[[Path], Iterator[Row]]] = {
    ".csv": lambda found: _separated(found, ","),
    ".tsv": lambda found: _separated(found, "\t"),
    ".jsonl": _objects,
    ".json": _objects,
    ".ndjson": _objects,
    ".parquet": _parquet,
    ".txt": _lines,
}


def _object(source: Any, name: str) -> Iterator[Row]:
    import narwhals as nw

    frame = nw.from_native(source, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        source = frame.iter_rows(named=True)
    elif isinstance(source, Mapping) or not isinstance(source, Iterable):
        raise DataError(f"{name}: rows were expected (a DataFrame, a list of dicts or texts), found {shown(source)}")
    for number, given in enumerate(source, start=1):
        if isinstance(given, Mapping):
            yield Row(given, name, number)
        elif isinstance(given, str):
            yield Row({"text": given}, name, number)
        else:
            raise DataError(
                f"expected a mapping of columns, such as {{'text': …, 'label': …}}, found {shown(given)}",
                path=name,
                line=number,
            )
