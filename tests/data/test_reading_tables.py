"""Rows of files of one's own: lists of JSON objects, and what is said of files that hold no rows."""

import json
from pathlib import Path

import pytest

from friend_training.data.tables import rows_of
from friend_training.errors import DataError

ROWS = [{"text": "good tea", "label": "good"}, {"text": "bad tea", "label": "bad"}]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("start", ["", "\ufeff", "\n\n"])
def test_a_file_that_is_a_list_of_objects(tmp_path: Path, indent: int | None, start: str) -> None:
    path = tmp_path / "gold.json"
    path.write_text(start + json.dumps(ROWS, indent=indent), encoding="utf-8")
    assert [row.cells for row in rows_of(path)] == ROWS


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("gold.json", json.dumps(ROWS[0], indent=2), "gold.json:1: one JSON object per line, or a list of them"),
        ("gold.json", '[{"text": "a"},\n 3]', "gold.json: item 2: expected an object, found 3"),
        ("gold.json", '[{"text": "a"},', "gold.json: a list of JSON objects was expected, broken JSON"),
        ("gold.csv", "text;label\ngood tea;good\n", "gold.csv:1: its cells seem to be parted by ';', expected ','"),
        ("gold.csv", "text\tlabel\ngood tea\tgood\n", "gold.csv:1: .* parted by tabs"),
    ],
)
def test_what_is_no_table_is_named(tmp_path: Path, name: str, text: str, said: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=said):
        list(rows_of(path))


def test_one_column_of_texts_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "pool.csv"
    path.write_text("text\ngood tea\n", encoding="utf-8")
    assert [row.cells for row in rows_of(path)] == [{"text": "good tea"}]
