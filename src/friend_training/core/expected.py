"""What is wrong with a value that pydantic has checked, in our words: what was expected, what was meant."""

from collections.abc import Mapping
from typing import Any

from friend_training.errors import did_you_mean

_EXPECTED = {
    "missing": "is missing",
    "json_invalid": "broken JSON ({error})",
    "extra_forbidden": "is not a field that is known here",
    "string_type": "expected text",
    "string_pattern_mismatch": "expected text of the form {pattern}",
    "string_too_long": "expected text of at most {max_length} characters",
    "string_too_short": "expected text of at least {min_length} characters",
    "bool_type": "expected true or false",
    "bool_parsing": "expected true or false",
    "int_type": "expected a whole number",
    "int_parsing": "expected a whole number",
    "int_from_float": "expected a whole number",
    "float_type": "expected a number",
    "float_parsing": "expected a number",
    "finite_number": "expected a number that is not infinite",
    "greater_than": "expected more than {gt}",
    "greater_than_equal": "expected {ge} or more",
    "less_than": "expected less than {lt}",
    "less_than_equal": "expected at most {le}",
    "tuple_type": "expected a list",
    "list_type": "expected a list",
    "too_short": "expected at least {min_length} of them",
    "too_long": "expected at most {max_length} of them",
    "dict_type": "expected a mapping",
    "mapping_type": "expected a mapping",
    "model_type": "expected a mapping",
    "model_attributes_type": "expected a mapping",
    "literal_error": "expected {expected}",
    "union_tag_invalid": "expected a kind, one of {expected_tags}",
    "union_tag_not_found": "its kind is missing",
}
"""By pydantic's name for what is wrong."""


def expected(found: Mapping[str, Any]) -> str:
    """What one of pydantic's errors says, without the place: 'expected a whole number'."""
    said = _EXPECTED.get(found["type"])
    if said is None:
        return str(found["msg"]).removeprefix("Value error, ")
    told = found.get("ctx", {})
    meant = ""
    if found["type"] == "literal_error":
        meant = did_you_mean(found["input"], _quoted(told["expected"]))
    elif found["type"] == "union_tag_invalid":
        meant = did_you_mean(told["tag"], _quoted(told["expected_tags"]))
    elif found["type"] == "string_type" and isinstance(found["input"], bool | int | float):
        meant = " (in quotation marks it is one)"
    return said.format(**told) + meant


def _quoted(names: str) -> list[str]:
    """The names of "'a', 'b' or 'c'"."""
    return names.split("'")[1::2]
