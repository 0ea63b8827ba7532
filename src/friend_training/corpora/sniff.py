"""Which of the known formats a file is in, told by its first line: nobody should have to say what a file shows."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from friend_training.core.limits import Limits
from friend_training.corpora.json_values import parse_json
from friend_training.corpora.lines import first_line, open_content
from friend_training.errors import DataError

FORMATS = (
    "jsonl",
    "csrl",
    "rewrite",
    "restoration",
    "canard",
    "propbank",
    "lccc",
    "xdailydialog",
    "cped",
    "corecode",
    "kdconv",
    "duconv-raw",
)
_LOOK = 1 << 16
_PARTS = ("train", "valid", "test")
_BEGINS_WITH_PART = re.compile(rf'\s*{{\s*"({"|".join(_PARTS)})"\s*:')


def sniff(path: str | Path) -> str:
    """The name of the file's format. A folder is taken for the column files of Chinese PropBank."""
    path = Path(path)
    if path.is_dir():
        return "propbank"
    line = first_line(path)
    guess = _json_format(path, line) if line.lstrip()[0] in "[{" else _text_format(line)
    if guess is None:
        raise DataError(
            f"the format of this file is not known; give it with --format ({', '.join(FORMATS)})", path=path, line=1
        )
    return guess


def json_object(line: str) -> Mapping[str, Any]:
    """The object on a line; nothing if there is none."""
    try:
        value = parse_json(line, Limits.from_environment())
    except DataError:
        return {}
    return value if isinstance(value, dict) else {}


def _json_format(path: str | Path, line: str) -> str:
    if line.lstrip().startswith("["):
        with open_content(path, Limits.from_environment()) as content:
            return "kdconv" if b'"messages"' in content.read(_LOOK) else "lccc"
    keys = json_object(line).keys()
    if "conversation" in keys:
        return "duconv-raw"
    if "dialogue" in keys:
        return "corecode"
    # An object over several lines, or one of lists of dialogues, is LCCC's toy data; so is one whose first line is too
    # long to be read. Anything else that begins like one object per line is ours, so that a broken line is explained.
    parts = keys <= set(_PARTS) if keys else _BEGINS_WITH_PART.match(line) is not None
    return "lccc" if line.strip() == "{" or parts else "jsonl"


def _text_format(line: str) -> str | None:
    fields = line.split("\t")
    checks = {
        "csrl": line.count("|||") == 4,
        "xdailydialog": "__eou__" in line,
        "cped": line.startswith("TV_ID,"),
        "restoration": len(fields) == 8 and fields[6] in ("0", "1"),
        "rewrite": len(line.split("\t\t")) == 4 and len(fields) == 7,
        "canard": len(fields) >= 3,
        "propbank": all(cell.count("/") >= 2 for cell in line.split()),
    }
    return next((name for name, fits in checks.items() if fits), None)
