"""CSV files with a header, row by row: what the csv module refuses is said as everything else is."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from friend_training.corpora.lines import numbered_lines
from friend_training.corpora.problems import Problems
from friend_training.errors import DataError


@dataclass(frozen=True, slots=True)
class Row:
    """A row by the names of its columns, and the line that it ends on."""

    line: int
    cells: Mapping[str, str]


def csv_rows(path: str | Path, problems: Problems, columns: Sequence[str]) -> Iterator[Row]:
    """All rows of a file whose header names these columns; cells that a short row lacks are empty."""
    last = 1

    def lines() -> Iterator[str]:
        nonlocal last
        for last, line in numbered_lines(path, problems):  # noqa: B007
            yield line + "\n"  # within quotation marks a cell may go over two lines

    rows = csv.DictReader(lines(), restval="")
    try:
        missing = [column for column in columns if column not in (rows.fieldnames or ())]
        if missing:
            expected, absent = ", ".join(columns), ", ".join(missing)
            raise DataError(f"the header must name {expected}; {absent} missing", path=path, line=1)
        for row in rows:
            yield Row(last, row)
    except csv.Error as error:  # a cell of more than 131,072 characters: a quotation mark that is never closed
        raise DataError(f"broken CSV: {error}", path=path, line=last) from error
