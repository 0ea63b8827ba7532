"""Text files as numbered lines, compressed or not, with errors that say where, and never more of them in memory than
the limits allow (core/limits.py)."""

import gzip
import lzma
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from friend_training.core.limits import Limits, exceeds
from friend_training.corpora.problems import Problems
from friend_training.errors import DataError

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
