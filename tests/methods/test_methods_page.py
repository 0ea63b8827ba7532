"""docs/methods.md: every method is there once, with the passes the list knows of, and its files exist."""

import re
from pathlib import Path

import pytest

from friend_training.methods.registry import METHODS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "friend_training"
ROWS = re.findall(
    r"^\| `([a-z-]+)` \|(.*)\|$", (ROOT / "docs" / "methods.md").read_text(encoding="utf-8"), re.MULTILINE
)


def test_the_page_has_every_method_once():
    assert sorted(name for name, _ in ROWS) == sorted(METHODS)


@pytest.mark.parametrize(("name", "row"), ROWS)
def test_the_page_says_how_often_the_pool_is_labelled_and_where_the_method_is(name, row):
    *_, budget, files = row.split("|")
    assert int(re.search(r"· (\d+)", budget)[1]) == METHODS[name].label_parts
    named = re.findall(r"`([\w/]+\.py)`", files)
    assert named
    for file in named:
        assert (PACKAGE / file if "/" in file else PACKAGE / "methods" / file).is_file()
