"""The dialogues of a JSON file that is too large to be loaded at once (LCCC has millions of them)."""

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from friend_training.core.limits import Limits, exceeds
from friend_training.corpora.json_values import parse_json
from friend_training.corpora.lines import open_content
from friend_training.errors import DataError

_CHUNK = 1 << 18
_MARK = re.compile(r'["\\\[\]{}]')


def innermost_lists(path: str | Path, limits: Limits) -> Iterator[list[Any]]:
    """Every list that holds no other list, in order: a dialogue of LCCC, whether the file is a list or an object."""
    return _values(path, limits, objects=False)


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
