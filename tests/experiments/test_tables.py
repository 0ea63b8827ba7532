import csv
import io
from typing import Any

import pytest
from rich.console import Console, RenderableType
from rich.text import Text

from friend_training.errors import DataError
from friend_training.experiments.tables import (
    Column,
    Sheet,
    Table,
    build_table,
    markdown_for_terminal,
    to_csv,
    to_latex,
    to_markdown,
    to_rich,
)
from friend_training.methods.registry import METHODS

COLUMNS = (Column("csrl.f1", "F1"), Column("rewriting.wer", "WER"))


def record(method: str, seed: int, f1: float, wer: float | None = None, scenario: str = "few-shot") -> dict[str, Any]:
    metrics = {"csrl.f1": f1} | ({} if wer is None else {"rewriting.wer": wer})
    return {"method": method, "seed": seed, "scenario": scenario, "metrics": metrics}


RECORDS = [
    record("Base_100%", 1, 20.0, 40.0),
    record("FDT", 1, 30.0, 30.0),
    record("Base_100%", 2, 22.0, 42.0),
    record("FDT", 2, 34.0, 29.0),
    record("SST", 1, 25.0),
    record("FDT", 1, 99.0, 1.0, scenario="domain generalisation"),
]


def table() -> Table:
    return build_table(RECORDS, COLUMNS, scenario="few-shot", marks={("FDT", "csrl.f1"): "*"}, caption="* p < 0.05")


def test_markdown() -> None:
    assert to_markdown(table()) == (
        "| Method | F1 | WER↓ |\n"
        "| --- | ---: | ---: |\n"
        "| Base\\_100% | 21.0 ± 1.4 | 41.0 ± 1.4 |\n"
        "| FDT | **32.0 ± 2.8**\\* | **29.5 ± 0.7** |\n"
        "| SST | 25.0 | – |\n"
        "\n"
        "\\* p < 0.05\n"
    )


def test_latex() -> None:
    lines = to_latex(table()).splitlines()
    assert lines[0] == r"\begin{tabular}{lrr}"
    assert lines[2] == r"Method & F1 & WER$\Downarrow$ \\"
    assert lines[4] == r"Base\_100\% & 21.0\,$\pm$\,1.4 & 41.0\,$\pm$\,1.4 \\"
    assert lines[5] == r"FDT & \textbf{32.0\,$\pm$\,2.8}* & \textbf{29.5\,$\pm$\,0.7} \\"
    assert lines[-1] == r"\end{tabular}"


def test_csv_has_full_precision() -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(table()))))
    assert [row["method"] for row in rows] == ["Base_100%", "FDT", "SST"]
    assert float(rows[0]["csrl.f1.mean"]) == 21
    assert float(rows[0]["csrl.f1.std"]) == pytest.approx(2**0.5)
    assert rows[0]["csrl.f1.seeds"] == "2"
    assert (rows[2]["csrl.f1.std"], rows[2]["rewriting.wer.mean"]) == ("", "")


def test_the_papers_six_metrics_fit_into_eighty_columns() -> None:
    names = ("precision", "recall", "f1", "rouge_l", "em", "wer")
    columns = [
        Column(name, title) for name, title in zip(names, ("Pre.", "Rec.", "F1", "R-L", "EM", "WER"), strict=True)
    ]
    records = [
        {"method": method, "seed": seed, "scenario": "s", "metrics": dict.fromkeys(names, 61.8 + 10 * seed)}
        for method in ("Base, same steps", "FDT-SF")
        for seed in (1, 2)
    ]
    marks = {("FDT-SF", name): "*" for name in names}
    console = Console(width=80, file=io.StringIO(), record=True, force_terminal=False)
    console.print(to_rich(build_table(records, columns, scenario="s", marks=marks)))
    printed = console.export_text()
    assert max(map(len, printed.splitlines())) <= 80
    assert printed.count("76.8±7.1*") == 6
    assert "…" not in printed


def test_seven_metrics_leave_the_method_its_name() -> None:
    names = ("precision", "recall", "f1", "cross_f1", "rouge_l", "em", "wer")
    titles = ("P", "R", "F1", "F1 across", "ROUGE-L", "EM", "WER")
    columns = [Column(name, title) for name, title in zip(names, titles, strict=True)]
    records = [
        {
            "method": "random, as many as FDT",
            "seed": seed,
            "scenario": "s",
            "metrics": dict.fromkeys(names, 61.8 + seed),
        }
        for seed in (1, 2)
    ]
    console = Console(width=80, file=io.StringIO(), record=True, force_terminal=False)
    console.print(to_rich(build_table(records, columns, scenario="s")))
    printed = console.export_text()
    assert any(line.split("63.3")[0].strip() == "random, as many as FDT" for line in printed.splitlines())
    assert printed.count("±0.7") == 7


def test_the_terminal_shows_the_best_in_bold() -> None:
    console = Console(width=80, file=io.StringIO(), record=True, force_terminal=True, color_system="standard")
    console.print(to_rich(table()))
    printed = console.export_text(styles=True)
    assert "\x1b[1m32.0±2.8*\x1b[0m" in printed
    assert "\x1b[1m21.0±1.4" not in printed


def test_what_is_printed_alike_is_bold_alike() -> None:
    records = [record("a", 1, 30.01), record("b", 1, 30.04), record("c", 1, 29.9)]
    rows = dict(build_table(records, COLUMNS[:1], scenario="few-shot").rows)
    assert [cells[0] is not None and cells[0].best for cells in rows.values()] == [True, True, False]


def test_a_result_given_twice_is_refused() -> None:
    with pytest.raises(DataError, match="'FDT', seed 1"):
        build_table([record("FDT", 1, 1.0), record("FDT", 1, 2.0)], COLUMNS, scenario="few-shot")


def drawn(*parts: RenderableType, width: int = 80) -> list[str]:
    console = Console(width=width, file=io.StringIO(), force_terminal=False)
    for part in parts:
        console.print(part)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_a_table_that_is_too_wide_goes_on_below_with_its_methods() -> None:
    names = [one.title for one in METHODS.values()]
    heads = ["Method", *(f"score {number}" for number in range(12))]
    rows = [[Text(name), *(Text("+12.3 [+10.1, +14.4]*") for _ in heads[1:])] for name in names]
    lines = drawn(Sheet(heads, [False] + 12 * [True], rows, "a title"))
    assert max(map(len, lines)) <= 80
    assert sum("a title" in line for line in lines) == 1
    tables = sum("Method" in line for line in lines)
    assert tables > 2
    for name in names:  # whole, in one line, as often as there are tables
        assert sum(line.strip().partition("  ")[0] == name for line in lines) == tables, name
    assert sum(line.count("+12.3") for line in lines) == 12 * len(names)
    assert sum(line.count("[+10.1, +14.4]*") for line in lines) == 12 * len(names), "an interval stays in one line"


def test_markdown_is_drawn_for_a_terminal() -> None:
    text = (
        "# A page\n\n| Task | right | why |\n|---|--:|---|\n| a\\|b | **31.0 %** | it is |\n\n    as **it** stands\nend"
    )
    lines = drawn(*markdown_for_terminal(text))
    assert lines[0] == "A page"
    assert [line.split() for line in lines if "31.0" in line] == [["a|b", "31.0", "%", "it", "is"]]
    assert "|---" not in "".join(lines)
    assert lines[-2:] == ["    as **it** stands", "end"]
