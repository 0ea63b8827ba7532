"""The lists of a JSON file that is too large to be loaded at once (LCCC has millions of dialogues)."""

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from friend_training.corpora.lines import open_bytes
from friend_training.errors import DataError

_CHUNK = 1 << 20
_MARK = re.compile(r'["\\\[\]]')


def innermost_lists(path: str | Path) -> Iterator[list[Any]]:
    """Every list that holds no other list, in order: a dialogue of LCCC, whether the file is a list or an object."""
    for text in _texts(path):
        try:
            yield json.loads(text)
        except json.JSONDecodeError as error:
            raise DataError(f"broken JSON: {error} in {text[:60]!r}", path=path) from error


def _decoded(path: str | Path) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    with open_bytes(path) as stream:
        while chunk := stream.read(_CHUNK):
            try:
                yield decoder.decode(chunk)
            except UnicodeDecodeError as error:
                raise DataError(f"not UTF-8: {error.reason}", path=path) from error


def _texts(path: str | Path) -> Iterator[str]:
    """Cuts the lists out by their brackets: those inside strings and escaped quotes are passed over."""
    buffer, position, start, in_string, depth = "", 0, -1, False, 0
    for chunk in _decoded(path):
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
            elif mark[0] == "[":
                start, depth = mark.start(), depth + 1
            else:
                depth -= 1
                if start >= 0:
                    yield buffer[start:position]
                start = -1
        else:
            position = len(buffer)
    if depth or in_string:
        raise DataError("broken JSON: the file ends inside a list or a string", path=path)
