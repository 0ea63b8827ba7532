"""`friend-train agreement`: how wrong agreed pseudo-labels are, measured and by the formula."""

import json
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import typer
from rich.console import Console

from friend_training.cli.progress import counting

COLUMNS = {
    "eta_a": "η_a",
    "eta_b": "η_b",
    "epsilon": "ε",
    "agreed": "agreed",
    "expected_agreed": "expected",
    "error": "error",
    "corrected_error": "formula",
    "printed_error": "as printed",
    "agreed_when_both_right": "agreed if both right",
    "rho": "ρ",
}


def agreement(
    runs: Annotated[list[Path], typer.Argument(help="Run folders, or one .jsonl file that --out wrote before.")],
    method: Annotated[str, typer.Option(help="The method whose store is read.")] = "fdt",
    out: Annotated[Path | None, typer.Option(help="Also append the records to this file.")] = None,
    data_dir: Annotated[Path | None, typer.Option(help="The folder of public datasets.")] = None,
) -> None:
    """Compare the error of agreed pseudo-labels with the theory's formula (docs/theory.md).

    η_a and η_b are the shares of right predictions, ε how often the friends agree on different dialogues; 'error' is
    the share of wrong ones among what they agree on, beside what the corrected and the printed formula give for these
    η_a, η_b and ε. ρ is the dependence that would explain how often friends agree where the first is wrong.
    """
    if len(runs) == 1 and runs[0].suffix == ".jsonl":
        records = [json.loads(line) for line in runs[0].read_text(encoding="utf-8").splitlines()]
    else:
        from friend_training.scenarios.agreement import agreement_of_run

        records = []
        for run in runs:
            with counting(Console(stderr=True), f"data of {run.name}") as progress:
                records += agreement_of_run(run, method, data_dir, progress)
    if out is not None:
        with out.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(record, sort_keys=True) + "\n" for record in records)
    for line in _markdown(records):
        typer.echo(line)


def _markdown(records: list[dict[str, Any]]) -> list[str]:
    """One row per iteration, means over the runs."""
    lines = [f"| iteration | runs | {' | '.join(COLUMNS.values())} |", "|--:|" + "--:|" * (len(COLUMNS) + 1)]
    for iteration in sorted({record["iteration"] for record in records}):
        rows = [record for record in records if record["iteration"] == iteration]
        cells = []
        for column in COLUMNS:
            values = [row[column] for row in rows if row[column] is not None]
            cells.append(f"{fmean(values):.3f}" if values else "")
        lines.append(f"| {iteration} | {len(rows)} | {' | '.join(cells)} |")
    return lines
