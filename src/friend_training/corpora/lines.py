"""Text files as numbered lines, compressed or not, with errors that say where."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from friend_training.corpora.problems import Problems
from friend_training.errors import DataError

_GZIP = b"\x1f\x8b"
_BYTE_ORDER_MARK = "\ufeff"


def open_bytes(path: str | Path) -> IO[bytes]:
    """The file's content. gzip is told by its first two bytes, not by the name of the file."""
    path = Path(path)
    if path.is_dir():
        raise DataError("a file was expected, this is a folder", path=path)
    if not path.is_file():
        raise DataError("no such file", path=path)
    with path.open("rb") as raw:
        compressed = raw.read(2) == _GZIP
    return cast("IO[bytes]", gzip.open(path, "rb")) if compressed else path.open("rb")


def numbered_lines(path: str | Path, problems: Problems) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, counted from 1. Only a line feed ends one: dialogues may hold U+2028."""
    for number, raw in enumerate(_raw_lines(path), start=1):
        line = ""
        with problems.skipping(number):
            line = decoded(raw).removesuffix("\n").removesuffix("\r")
        if number == 1:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if line.strip():
            yield number, line


def read_text(path: str | Path) -> str:
    """A whole small file."""
    return "".join(decoded(raw) for raw in _raw_lines(path))


def _raw_lines(path: str | Path) -> Iterator[bytes]:
    with open_bytes(path) as stream:
        try:
            yield from stream
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise DataError(f"the gzip file is damaged or cut off ({error})", path=path) from error


def decoded(raw: bytes) -> str:
    """UTF-8, or an error that says which byte is not."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8: byte 0x{raw[error.start]:02x} at position {error.start} of the line") from error
