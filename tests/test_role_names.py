import pytest

from friend_training.types import ROLES, our_role


@pytest.mark.parametrize("role", ROLES)
def test_our_own_names_stay(role: str) -> None:
    assert our_role(role) == role


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("A0", "ARG0"),
        ("A4", "ARG4"),
        ("ARG2", "ARG2"),
        ("ARGM-TMP", "TMP"),
        ("ARGM-LOC", "LOC"),
        ("ARGM-PRP", "PRP"),
        ("ARGM-ADV", None),
        ("A5", None),
        ("rel-DIS", None),
        ("PRED", None),
    ],
)
def test_parsers_names(name: str, ours: str | None) -> None:
    assert our_role(name) == ours
