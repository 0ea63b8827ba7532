"""Corpora of many text files, as they are published: a folder, a zip, a tar, or a single file, compressed or not.

A sentence is named after its file, `wsj_0001/2` is the second of wsj_0001: so the same sentence has the same name in
every file that annotates it, and a split can keep the sentences of one document together.
"""

import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from friend_training.core.limits import Limits
from friend_training.corpora.lines import BYTE_ORDER_MARK, DAMAGED, Content, decoded, open_content
from friend_training.corpora.problems import Problems
from friend_training.errors import DataError

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
