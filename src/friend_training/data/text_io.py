"""Text files as numbered lines, compressed or not, with errors that say where, and never more of them in memory than
the limits allow (core/limits.py)."""

import codecs
import csv
import gzip
import json
import lzma
import re
import sqlite3
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from friend_training.core.limits import Limits, exceeds
from friend_training.errors import DataError

# A number for each of any number of names: files of any size are gone through, and their ids do not fit in memory.


_CACHE_KB = 32_000

_AT_A_TIME = 20_000


class NamesOnDisk:
    """A value for each name. SQLite holds them in a file of its own making, which is gone with this object."""

    def __init__(self) -> None:
        self._recent: dict[str, int] = {}
        self._any_written = False
        # The empty name asks for a database in a temporary file that only comes to be where its cache is full.
        self._database = sqlite3.connect("", check_same_thread=False, isolation_level=None)
        self._database.execute(f"pragma cache_size = -{_CACHE_KB}")
        self._database.execute("pragma journal_mode = off")
        self._database.execute("create table names (name text primary key, number integer) without rowid")

    def get(self, name: str) -> int | None:
        if name in self._recent:
            return self._recent[name]
        if not self._any_written:
            return None
        row = self._database.execute("select number from names where name = ?", (name,)).fetchone()
        return None if row is None else int(row[0])

    def put(self, name: str, number: int) -> None:
        self._recent[name] = number
        if len(self._recent) >= _AT_A_TIME:
            self._write()

    def __len__(self) -> int:
        self._write()
        [(count,)] = self._database.execute("select count(*) from names")
        return int(count)

    def _write(self) -> None:
        with self._database:
            self._database.execute("begin")
            self._database.executemany("insert or replace into names values (?, ?)", self._recent.items())
        self._recent.clear()
        self._any_written = True


# What a reader does with a line that does not hold what it should: count it, name it and go on, or fail at once.


_LONGEST_MESSAGE = 300
"""A message may quote what was found, and what was found may be a million characters long."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A line that was skipped, and why."""

    line: int
    message: str


@dataclass
class Problems:
    """The lines of one file that were skipped; with `strict` the first of them is an error.

    `count` is how many there are. `found` are they themselves, with `most` only the first so many: whoever goes through
    a file of any size has no room for all. `limits` are those that the file is read with.
    """

    path: str | Path
    strict: bool = False
    most: int | None = None
    limits: Limits = field(default_factory=Limits.from_environment)
    found: list[Problem] = field(default_factory=list)
    count: int = 0

    def report(self, line: int, message: str) -> None:
        short = message if len(message) <= _LONGEST_MESSAGE else f"{message[:_LONGEST_MESSAGE]}…"
        if self.strict:
            raise DataError(short, path=self.path, line=line)
        self.count += 1
        if self.most is None or len(self.found) < self.most:
            self.found.append(Problem(line, short))

    @contextmanager
    def skipping(self, line: int) -> Iterator[None]:
        """Within this block a DataError without a place is a report about this line."""
        try:
            yield
        except DataError as error:
            self.report(line, str(error))


_GZIP = b"\x1f\x8b"


BYTE_ORDER_MARK = "\ufeff"


_BLOCK = 1 << 16


_HALF_CHARACTERS = re.compile("[\ud800-\udfff]")


DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)
"""What decompression says of files that are not whole."""


class Content:
    """The bytes of a file as they are read. One that is compressed and unfolds without end is refused on the way."""

    def __init__(self, stream: IO[bytes], path: str | Path, limits: Limits, *, packed: int | None) -> None:
        """`packed` is the size of a compressed file; None: it is not compressed."""
        self._stream, self._path, self._limits, self._packed = stream, path, limits, packed
        self._unfolded = 0

    def read(self, size: int) -> bytes:
        return self._counted(self._stream.read, size)

    def lines(self) -> Iterator[bytes]:
        """All lines. Of one above the limit only so much is read that it can be seen to be: see `too_long`."""
        limit = self._limits.line + 2  # its line feed and a byte too many
        while raw := self._counted(self._stream.readline, limit):
            yield raw
            while raw and not raw.endswith(b"\n"):
                raw = self._counted(self._stream.readline, _BLOCK)

    def _counted(self, read: Callable[[int], bytes], size: int) -> bytes:
        try:
            found = read(size)
        except DAMAGED as error:
            raise DataError(f"the gzip file is damaged or cut off ({error})", path=self._path) from error
        self._unfolded += len(found)
        # Below the length of one line it does no harm, whatever its rate.
        if self._packed is not None and self._unfolded > max(self._packed * self._limits.expansion, self._limits.line):
            raise DataError(
                f"the compressed file unfolds to more than {self._limits.expansion} times its size;"
                f" {exceeds('expansion', self._limits.expansion)}",
                path=self._path,
            )
        return found


@contextmanager
def open_content(path: str | Path, limits: Limits) -> Iterator[Content]:
    """The file's content. gzip is told by its first two bytes, not by the name of the file."""
    path = Path(path)
    if path.is_dir():
        raise DataError("a file was expected, this is a folder", path=path)
    if not path.is_file():
        raise DataError("no such file", path=path)
    with path.open("rb") as raw:
        packed = raw.read(2) == _GZIP
        raw.seek(0)
        if not packed:
            yield Content(raw, path, limits, packed=None)
            return
        with gzip.GzipFile(fileobj=raw) as unfolded:
            yield Content(cast("IO[bytes]", unfolded), path, limits, packed=path.stat().st_size)


def numbered_lines(path: str | Path, problems: Problems) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, counted from 1. Only a line feed ends one: dialogues may hold U+2028."""
    with open_content(path, problems.limits) as content:
        for number, raw in enumerate(content.lines(), start=1):
            line = ""
            with problems.skipping(number):
                line = decoded(raw, problems.limits).removesuffix("\n").removesuffix("\r")
            if number == 1:
                line = line.removeprefix(BYTE_ORDER_MARK)
            if line.strip():
                yield number, line


def first_line(path: str | Path) -> str:
    """The first line that is not blank; of one above the limit, its beginning."""
    limits = Limits.from_environment()
    with open_content(path, limits) as content:
        for number, raw in enumerate(content.lines(), start=1):
            if too_long(raw, limits):
                line = raw.decode("utf-8", errors="ignore")
            else:
                with Problems(path, strict=True).skipping(number):
                    line = decoded(raw, limits)
            line = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
            if line.strip():
                return line.removesuffix("\n").removesuffix("\r")
    raise DataError("the file is empty", path=path)


def too_long(raw: bytes, limits: Limits) -> bool:
    return len(raw.rstrip(b"\n")) > limits.line


def decoded(raw: bytes, limits: Limits) -> str:
    """UTF-8, or an error that says which byte is not."""
    if too_long(raw, limits):
        raise DataError(f"a line of more than {limits.line:,} bytes; {exceeds('line', limits.line)}")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8: byte 0x{raw[error.start]:02x} at position {error.start} of the line") from error


def check_texts(texts: Iterable[str], limits: Limits) -> None:
    """What one example holds together: not too much, and whole characters (JSON can write half of one, \\ud83d)."""
    length = 0
    for text in texts:
        length += len(text)
        half = _HALF_CHARACTERS.search(text)
        if half is not None:
            raise DataError(f"half a character (a lone surrogate, U+{ord(half[0]):04X}), which no file can hold")
    if length > limits.text:
        raise DataError(f"a text of {length:,} characters; {exceeds('text', limits.text)}")


# JSON that somebody else wrote: what cannot be read of it is a DataError, whatever it is.


_BRACKET_OR_STRING = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{\]}]', re.DOTALL)


_LONGEST_SHOWN = 60


def parse_json(text: str, limits: Limits) -> Any:
    """The value that a text of JSON stands for."""
    check_nesting(text, limits)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f"broken JSON: {error} in {text[:_LONGEST_SHOWN]!r}") from None
    except ValueError:  # Python reads no integer of more than 4,300 digits
        raise DataError("broken JSON: a number of thousands of digits") from None


def check_nesting(text: str, limits: Limits) -> None:
    """Whoever reads nested values calls itself for each level, and a program that does so too often is stopped."""
    if text.count("[") + text.count("{") <= limits.nesting:
        return
    depth = 0
    for mark in _BRACKET_OR_STRING.finditer(text):
        if mark[0] in "[{":
            depth += 1
            if depth > limits.nesting:
                message = f"lists and objects nested more than {limits.nesting} deep"
                raise DataError(f"{message}; {exceeds('nesting', limits.nesting)}")
        elif mark[0] in "]}":
            depth -= 1


def shown(value: Any) -> str:
    """A value as a message quotes it: short, and of any kind."""
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python writes
        return "a number of thousands of digits"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


# The dialogues of a JSON file that is too large to be loaded at once (LCCC has millions of them).


_CHUNK = 1 << 18


_MARK = re.compile(r'["\\\[\]{}]')


def innermost_lists(path: str | Path, limits: Limits) -> Iterator[list[Any]]:
    """Every list that holds no other list, in order: a dialogue of LCCC, whether the file is a list or an object."""
    return _values(path, limits, objects=False)


def whole_object(path: str | Path, limits: Limits) -> dict[str, Any]:
    """The object that the file is: for formats that no part of can be read by itself."""
    text = "".join(_within(_decoded(path, limits), path, limits))
    try:
        value = parse_json(text, limits)
    except DataError as error:
        raise DataError(str(error), path=path) from error
    if not isinstance(value, dict):
        raise DataError(f"the file is {shown(value)}, expected an object", path=path)
    return value


def _within(chunks: Iterator[str], path: str | Path, limits: Limits) -> Iterator[str]:
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > limits.whole:
            raise DataError(f"more than {limits.whole:,} characters; {exceeds('whole', limits.whole)}", path=path)
        yield chunk


def listed_objects(path: str | Path, limits: Limits) -> Iterator[dict[str, Any]]:
    """The objects of the list that the file is: a dialogue of KdConv."""
    return _values(path, limits, objects=True)


def _values(path: str | Path, limits: Limits, *, objects: bool) -> Iterator[Any]:
    for number, text in enumerate(_texts(path, limits, objects=objects), start=1):
        try:
            yield parse_json(text, limits)
        except DataError as error:
            raise DataError(f"dialogue {number}: {error}", path=path) from error


def _decoded(path: str | Path, limits: Limits) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    with open_content(path, limits) as content:
        last = False
        while not last:
            chunk = content.read(_CHUNK)
            last = not chunk
            try:
                yield decoder.decode(chunk, final=last)
            except UnicodeDecodeError as error:
                raise DataError(f"not UTF-8: {error.reason}", path=path) from error


def _texts(path: str | Path, limits: Limits, *, objects: bool) -> Iterator[str]:
    """Cuts the values out by their brackets: those inside strings and escaped quotes are passed over."""
    opening, closing = ("{", "}") if objects else ("[", "]")
    buffer, position, start, in_string, depth = "", 0, -1, False, 0
    for chunk in _decoded(path, limits):
        kept = start if start >= 0 else position
        buffer = buffer[kept:] + chunk
        position, start = position - kept, (0 if start >= 0 else -1)
        while mark := _MARK.search(buffer, position):
            if mark[0] == "\\" and mark.end() == len(buffer):
                break  # the escaped character is in the next chunk
            position = mark.end() + (mark[0] == "\\")
            if mark[0] == '"':
                in_string = not in_string
            elif in_string or mark[0] == "\\":
                continue
            elif mark[0] in "[{":
                # The innermost list is the one opened last; an object of the file's list stands one level deep.
                if mark[0] == opening and (not objects or depth == 1):
                    start = mark.start()
                depth += 1
            else:
                depth -= 1
                if start >= 0 and mark[0] == closing and (not objects or depth == 1):
                    _check_size(position - start, path, limits)
                    yield buffer[start:position]
                    start = -1
        else:
            position = len(buffer)
        _check_size(len(buffer) - start if start >= 0 else 0, path, limits)
    if depth or in_string:
        raise DataError("broken JSON: the file ends inside a list, an object or a string", path=path)


def _check_size(size: int, path: str | Path, limits: Limits) -> None:
    if size > limits.line:
        raise DataError(f"one dialogue of more than {limits.line:,} bytes; {exceeds('line', limits.line)}", path=path)


# Corpora of many text files, as they are published: a folder, a zip, a tar, or a single file, compressed or not.
#
# A sentence is named after its file, `wsj_0001/2` is the second of wsj_0001: so the same sentence has the same name in
# every file that annotates it, and a split can keep the sentences of one document together.


_DAMAGED = (*DAMAGED, OSError, zipfile.BadZipFile, tarfile.TarError, NotImplementedError, RuntimeError, ValueError)
"""What archives say that are not whole, are encrypted, or packed in ways that are not known here."""


@dataclass(frozen=True, slots=True)
class TextFile:
    """One file: its name without folder and endings, and its lines, blank ones too, counted from 1. Read them at once:
    the lines of a file in an archive are gone when the next file is asked for."""

    document: str
    lines: Iterator[tuple[int, str]]
    inside: str = ""

    def report(self, problems: Problems, line: int, message: str) -> None:
        """Names the file where the path of the corpus alone does not."""
        problems.report(line, f"{self.inside}: {message}" if self.inside else message)


def sentence_id(document: str, number: int) -> str:
    return f"{document}/{number}"


def document_of(sentence: str) -> str:
    """The document that a sentence with this id stands in."""
    return sentence.rpartition("/")[0]


def text_files(path: str | Path, suffixes: tuple[str, ...], limits: Limits) -> Iterator[TextFile]:
    """The files with one of these endings, by name (in a tar: as they lie there); a single file whatever its ending."""
    path = Path(path)
    found = False
    try:
        for name, content in _members(path, suffixes, limits):
            found = True
            inside = "" if name == path.name else name
            yield TextFile(_document(name, suffixes), _lines(content, path, inside, limits), inside)
    except _DAMAGED as error:
        raise DataError(f"the archive is damaged or cut off ({error})", path=path) from error
    if not found:
        raise DataError(f"no {' or '.join(suffixes)} file in here", path=path)


def _members(path: Path, suffixes: tuple[str, ...], limits: Limits) -> Iterator[tuple[str, Content]]:
    if path.is_dir():
        for file in sorted(file for file in path.rglob("*") if file.name.removesuffix(".gz").endswith(suffixes)):
            with open_content(file, limits) as content:
                yield file.relative_to(path).as_posix(), content
    elif path.is_file() and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for name in sorted(name for name in archive.namelist() if name.endswith(suffixes)):
                with archive.open(name) as stream:
                    yield name, Content(stream, path, limits, packed=archive.getinfo(name).compress_size)
    elif path.is_file() and tarfile.is_tarfile(path):
        with tarfile.open(path) as packed:
            for member in packed:
                part = packed.extractfile(member) if member.isfile() and member.name.endswith(suffixes) else None
                if part is not None:
                    yield member.name, Content(part, path, limits, packed=path.stat().st_size)
    else:
        with open_content(path, limits) as content:
            yield path.name, content


def _document(name: str, suffixes: tuple[str, ...]) -> str:
    base = PurePosixPath(name).name.removesuffix(".gz")
    return next((base.removesuffix(suffix) for suffix in suffixes if base.endswith(suffix)), base)


def _lines(content: Content, path: str | Path, inside: str, limits: Limits) -> Iterator[tuple[int, str]]:
    """Bytes that are not text are an error, never a problem to skip: this is then not the file it is taken for."""
    where = f"{inside}: " if inside else ""
    number = 0
    try:
        for number, raw in enumerate(content.lines(), start=1):
            line = decoded(raw, limits)
            yield number, (line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line).rstrip("\r\n")
    except DataError as error:
        if error.path is not None:
            raise
        raise DataError(f"{where}{error}", path=path, line=number) from error
    except _DAMAGED as error:
        raise DataError(f"{where}the file is damaged or cut off ({error})", path=path, line=number + 1) from error


# CSV files with a header, row by row: what the csv module refuses is said as everything else is.


@dataclass(frozen=True, slots=True)
class Row:
    """A row by the names of its columns, and the line that it ends on."""

    line: int
    cells: Mapping[str, str]


def csv_rows(path: str | Path, problems: Problems, columns: Sequence[str]) -> Iterator[Row]:
    """All rows of a file whose header names these columns; cells that a short row lacks are empty."""
    last = 1

    def lines() -> Iterator[str]:
        nonlocal last
        for last, line in numbered_lines(path, problems):  # noqa: B007
            yield line + "\n"  # within quotation marks a cell may go over two lines

    rows = csv.DictReader(lines(), restval="")
    try:
        missing = [column for column in columns if column not in (rows.fieldnames or ())]
        if missing:
            expected, absent = ", ".join(columns), ", ".join(missing)
            raise DataError(f"the header must name {expected}; {absent} missing", path=path, line=1)
        for row in rows:
            yield Row(last, row)
    except csv.Error as error:  # a cell of more than 131,072 characters: a quotation mark that is never closed
        raise DataError(f"broken CSV: {error}", path=path, line=last) from error
