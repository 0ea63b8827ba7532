"""Tables as the paper prints them: a row per method, a column per metric, mean ± standard deviation over seeds."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from rich import box
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


def to_rich(table: Table) -> RichTable:
    """For the terminal of 80 columns: six metrics with their deviations fit, of more the deviations stand below."""
    pattern = "{}±{}" if len(table.columns) <= 6 else "{}\n±{}"
    result = RichTable(title=table.title, caption=table.caption or None, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    result.add_column("Method", overflow="fold")
    for column in table.columns:
        title = column.title.replace(f"{column.task} ", f"{column.task}\n", 1)
        result.add_column(title + _arrow(column, "↓"), justify="right", no_wrap=True)
    for method, cells in table.rows:
        plain = _styled(table.columns, cells, pattern, "{}", {})
        styles = ["bold" if cell is not None and cell.best else "" for cell in cells]
        result.add_row(Text(method), *map(Text, plain, styles))
    return result


def to_markdown(table: Table) -> str:
    header = ["Method", *(column.title.translate(_MARKDOWN) + _arrow(column, "↓") for column in table.columns)]
    lines = [header, ["---", *("---:" for _ in table.columns)]]
    lines += [
        [method.translate(_MARKDOWN), *_styled(table.columns, cells, "{} ± {}", "**{}**", _MARKDOWN)]
        for method, cells in table.rows
    ]
    text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return text + (f"\n\n{table.caption.translate(_MARKDOWN)}\n" if table.caption else "\n")


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
