"""Reading JSON files that we wrote whole: if one of them is not what it should be, somebody else damaged it."""

import json
from pathlib import Path
from typing import Any

from friend_training.errors import RunError


def read_json_object(path: Path, expected: str, *, needed: tuple[str, ...] = ()) -> dict[str, Any]:
    """The object that a file holds, with the fields that are needed of it."""
    found = _parsed(path.read_bytes())
    if not isinstance(found, dict) or not found.keys() >= {*needed}:
        raise RunError(f"{path}: expected JSON with {expected}; it is damaged")
    return found


def read_json_lines(path: Path, expected: str, *, needed: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """One object per line."""
    records = []
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        found = _parsed(line)
        if not isinstance(found, dict) or not found.keys() >= {*needed}:
            raise RunError(f"{path}:{number}: expected {expected}, one JSON object per line; it is damaged")
        records.append(found)
    return records


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
