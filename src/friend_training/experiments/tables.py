"""Tables as the paper prints them: a row per method, a column per metric, mean ± standard deviation over seeds."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean, stdev
from typing import Any, Literal

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.table import Table as RichTable
from rich.text import Text

from friend_training.analysis.metrics import MetricSpec, headline, metric_spec
from friend_training.errors import DataError

_MISSING = "–"
_MARKDOWN = str.maketrans({character: f"\\{character}" for character in "\\|*_`"})
_LATEX = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)


@dataclass(frozen=True, slots=True)
class Column:
    """A metric of the records, and what to call it: without a title, as it is called everywhere.

    `task` stands before it where the tasks are of the user's own, whose metrics nobody could tell apart.
    """

    metric: str
    given_title: str = ""
    task: str = ""

    @property
    def title(self) -> str:
        title = self.given_title or self.spec.title
        return f"{self.task} {title}" if self.task else title

    @property
    def spec(self) -> MetricSpec:
        return metric_spec(self.metric)


@dataclass(frozen=True, slots=True)
class Cell:
    """A method's metric over its seeds. `mark` is printed behind it: say in the caption what it means."""

    values: tuple[float, ...]
    best: bool = False
    mark: str = ""

    @property
    def mean(self) -> float:
        return fmean(self.values)

    @property
    def deviation(self) -> float | None:
        """The sample standard deviation; one seed has none."""
        return stdev(self.values) if len(self.values) > 1 else None


@dataclass(frozen=True, slots=True)
class Table:
    """The cells of every method, one per column; None where the method has no such metric."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, tuple[Cell | None, ...]], ...]
    caption: str = ""


PAPERS_TASKS = frozenset({"csrl", "rewriting"})


def columns_of(metrics: Iterable[str], paper: Sequence[Column]) -> tuple[Column, ...]:
    """The columns of some metrics (task.metric): the `paper`'s for its pair, else the best known ones of each task."""
    by_task: dict[str, list[str]] = {}
    for name in metrics:
        task, _, metric = name.partition(".")
        by_task.setdefault(task, []).append(metric)
    if by_task.keys() <= PAPERS_TASKS:
        return tuple(paper)
    return tuple(Column(f"{task}.{one}", task=task) for task, names in by_task.items() for one in headline(names))


def build_table(
    records: Iterable[Mapping[str, Any]],
    columns: Sequence[Column],
    *,
    scenario: str,
    marks: Mapping[tuple[str, str], str] | None = None,
    caption: str = "",
) -> Table:
    """The table of one scenario from records {"method", "seed", "scenario", "metrics": {name: value}}.

    Methods stand in the order of their first record. `marks` are printed behind the cell of (method, metric), for
    example a star for a significant difference. The best mean of a column, as printed, is bold, and every equal one.
    """
    values: dict[str, dict[int, Mapping[str, float]]] = {}
    for record in records:
        if record["scenario"] != scenario:
            continue
        seeds = values.setdefault(record["method"], {})
        if record["seed"] in seeds:
            raise DataError(f"two results for method {record['method']!r}, seed {record['seed']}, in {scenario!r}")
        seeds[record["seed"]] = record["metrics"]

    cells: dict[str, list[Cell | None]] = {method: [] for method in values}
    for column in columns:
        found = {
            method: tuple(metrics[column.metric] for metrics in seeds.values() if column.metric in metrics)
            for method, seeds in values.items()
        }
        means = [column.spec.text(fmean(numbers)) for numbers in found.values() if numbers]
        best = (max if column.spec.higher_is_better else min)(means, key=float) if means else ""
        for method, numbers in found.items():
            mark = (marks or {}).get((method, column.metric), "")
            is_best = bool(numbers) and column.spec.text(fmean(numbers)) == best
            cells[method].append(Cell(numbers, is_best, mark) if numbers else None)
    rows = tuple((method, tuple(row)) for method, row in cells.items())
    return Table(scenario, tuple(columns), rows, caption)


@dataclass(slots=True)
class Sheet:
    """A table for the terminal. What is wider than it goes on below, with the first `keys` columns again.

    Heads, and cells that are no numbers, break at blanks; intervals go below their differences where room is short.
    """

    heads: Sequence[str]
    right: Sequence[bool]
    rows: list[Sequence[Text]]
    title: str = ""
    caption: str = ""
    keys: int = 1

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RichTable | Text]:
        rows, widths = self.rows, self._widths(self.rows, whole_heads=True)
        if self._needed(widths) > options.max_width:
            widths = self._widths(rows, whole_heads=False)
        if self._needed(widths) > options.max_width:
            rows = [[_below(cell) if number else cell for number, cell in enumerate(row)] for row in rows]
            widths = self._widths(rows, whole_heads=False)
        widths[0] = min(widths[0], max(_NAME, 3 * options.max_width // 8))
        parts = list(self._parts(widths, options.max_width))
        for number, part in enumerate(parts):
            yield self._table(
                rows,
                {place: widths[place] for place in part},
                options.max_width,
                title=self.title if number == 0 else "",
                caption=self.caption if number == len(parts) - 1 else "",
            )

    def _widths(self, rows: Sequence[Sequence[Text]], *, whole_heads: bool) -> list[int]:
        """What each column needs. The first one keeps its names in a line where it can."""
        needed = []
        for place, head in enumerate(self.heads):
            cells = [row[place].plain for row in rows]
            whole = place == 0 or self.right[place]
            pieces = [piece for cell in cells for piece in (cell.splitlines() if whole else cell.split())]
            pieces += head.splitlines() if whole_heads else head.split()
            needed.append(max(map(cell_len, pieces), default=0))
        return needed

    @staticmethod
    def _needed(widths: Iterable[int]) -> int:
        return _EDGES + sum(_BETWEEN_COLUMNS + width for width in widths)

    def _parts(self, widths: Sequence[int], most: int) -> Iterator[list[int]]:
        """The columns of each table below the other."""
        keys = list(range(self.keys))
        part = list(keys)
        for place in range(self.keys, len(widths)):
            if len(part) > self.keys and self._needed(widths[one] for one in [*part, place]) > most:
                yield part
                part = list(keys)
            part.append(place)
        yield part

    def _table(
        self, rows: Sequence[Sequence[Text]], widths: Mapping[int, int], most: int, *, title: str, caption: str
    ) -> RichTable:
        table = RichTable(
            title=title or None,
            title_justify="left",
            caption=caption or None,
            caption_justify="left",
            box=box.SIMPLE_HEAD,
            padding=(0, 1, 0, 0),
        )
        spare = most - self._needed(widths.values())
        for place, width in widths.items():
            longest = max((cell_len(line) for row in rows for line in row[place].plain.splitlines()), default=0)
            more = min(max(spare, 0), max(longest - width, 0))
            spare -= more
            justify: Literal["left", "right"] = "right" if self.right[place] else "left"
            table.add_column(Text(self.heads[place]), justify=justify, overflow="fold", width=width + more)
        for row in rows:
            table.add_row(*(row[place] for place in widths))
        return table


_NAME = 16
_EDGES = 1
_BETWEEN_COLUMNS = 2


def _below(cell: Text) -> Text:
    """An interval below its difference."""
    place = cell.plain.find(" [")
    return cell if place < 0 else Text("\n").join([cell[:place], cell[place + 1 :]])


def to_rich(table: Table) -> Sheet:
    """For the terminal: of up to six metrics deviations stand beside the means, of more below them."""
    pattern = "{}±{}" if len(table.columns) <= 6 else "{}\n±{}"
    rows: list[Sequence[Text]] = []
    for method, cells in table.rows:
        plain = _styled(table.columns, cells, pattern, "{}", {})
        styles = ["bold" if cell is not None and cell.best else "" for cell in cells]
        rows.append([Text(method), *map(Text, plain, styles)])
    titles = [column.title.replace(f"{column.task} ", f"{column.task}\n", 1) for column in table.columns]
    heads = [title + _arrow(column, "↓") for title, column in zip(titles, table.columns, strict=True)]
    return Sheet(["Method", *heads], [False, *(True for _ in heads)], rows, table.title, table.caption)


def to_markdown(table: Table) -> str:
    header = ["Method", *(column.title.translate(_MARKDOWN) + _arrow(column, "↓") for column in table.columns)]
    lines = [header, ["---", *("---:" for _ in table.columns)]]
    lines += [
        [method.translate(_MARKDOWN), *_styled(table.columns, cells, "{} ± {}", "**{}**", _MARKDOWN)]
        for method, cells in table.rows
    ]
    text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return text + (f"\n\n{table.caption.translate(_MARKDOWN)}\n" if table.caption else "\n")


_ROW = re.compile(r"\|(.*)\|")
_CELL_END = re.compile(r"(?<!\\)\|")
_BOLD = re.compile(r"\*\*(.+?)\*\*")


def markdown_for_terminal(text: str) -> Iterator[Sheet | Text]:
    """Markdown as this package writes it, its tables drawn as such: what a person in a terminal wants to read."""
    for is_table, lines in groupby(text.splitlines(), key=lambda line: _ROW.fullmatch(line) is not None):
        if is_table:
            heads, alignment, *body = ([cell.strip() for cell in _CELL_END.split(line[1:-1])] for line in lines)
            right = [dashes.endswith(":") for dashes in alignment]
            yield Sheet([_inline(head).plain for head in heads], right, [list(map(_inline, row)) for row in body])
        else:
            for line in lines:
                yield _inline(line.lstrip("#").lstrip(), "bold") if line.startswith("#") else _inline(line)


def _inline(text: str, style: str = "") -> Text:
    """Bold and escapes; a line that is indented stays as it is."""
    if text.startswith("    "):
        return Text(text)
    parts = [re.sub(r"\\(?=[|*_`\\])", "", part) for part in _BOLD.split(text)]
    return Text.assemble(*((part, "bold" if number % 2 else style) for number, part in enumerate(parts)))


def to_latex(table: Table) -> str:
    """A tabular for the booktabs package."""
    header = ["Method", *(column.title.translate(_LATEX) + _arrow(column, r"$\Downarrow$") for column in table.columns)]
    body = [
        [method.translate(_LATEX), *_styled(table.columns, cells, r"{}\,$\pm$\,{}", r"\textbf{{{}}}", _LATEX)]
        for method, cells in table.rows
    ]
    lines = [" & ".join(line) + r" \\" for line in [header, *body]]
    return "\n".join(
        [
            rf"\begin{{tabular}}{{l{'r' * len(table.columns)}}}",
            r"\toprule",
            lines[0],
            r"\midrule",
            *lines[1:],
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def to_csv(*tables: Table) -> str:
    """Full precision, for other programs: per metric the mean, the standard deviation and the number of seeds.

    Several tables of the same columns become one; its first column then says which table a row is from.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    several = len(tables) > 1
    metrics = [f"{column.metric}.{part}" for column in tables[0].columns for part in ("mean", "std", "seeds")]
    writer.writerow([*(["table"] if several else []), "method", *metrics])
    for table in tables:
        for method, cells in table.rows:
            row: list[str | float | None] = [table.title, method] if several else [method]
            for cell in cells:
                row += [None] * 3 if cell is None else [cell.mean, cell.deviation, len(cell.values)]
            writer.writerow(row)
    return out.getvalue()


def _arrow(column: Column, down: str) -> str:
    """Metrics of which less is better say so."""
    return "" if column.spec.higher_is_better else down


def _number(column: Column, cell: Cell | None, pattern: str) -> str:
    if cell is None:
        return _MISSING
    mean, deviation = column.spec.text(cell.mean), cell.deviation
    return mean if deviation is None else pattern.format(mean, column.spec.text(deviation))


def _styled(
    columns: Iterable[Column], cells: Iterable[Cell | None], pattern: str, bold: str, escape: Mapping[int, str]
) -> list[str]:
    """The cells as text: the best ones set in the pattern `bold`, the marks behind it."""
    return [
        (bold if cell is not None and cell.best else "{}").format(_number(column, cell, pattern))
        + ("" if cell is None else cell.mark.translate(escape))
        for column, cell in zip(columns, cells, strict=True)
    ]
