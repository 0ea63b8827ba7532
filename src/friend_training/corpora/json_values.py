"""JSON that somebody else wrote: what cannot be read of it is a DataError, whatever it is."""

import json
import re
from typing import Any

from friend_training.core.limits import Limits, exceeds
from friend_training.errors import DataError

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
