"""`friend-train compare`: an experiment's results as a table, for the terminal, a page or a paper."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from friend_training.cli.words import METHODS


class TableFormat(StrEnum):
    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    LATEX = "latex"
    CSV = "csv"


class Shown(StrEnum):
    SCORES = "scores"
    DEV = "dev"
    CHOSEN = "chosen"


def compare(
    folder: Annotated[Path, typer.Argument(help="An experiment's folder, such as experiments/embedded-few-shot.")],
    show: Annotated[
        Shown, typer.Option(help="Scores on test, those on dev by iteration, or how precise the chosen were.")
    ] = (Shown.SCORES),
    format: Annotated[TableFormat, typer.Option(help="How the table is written.")] = TableFormat.TERMINAL,
    against: Annotated[str, typer.Option(help="The method that the others are tested against.")] = "fdt",
) -> None:
    """Compare the methods of an experiment, from its results.jsonl.

    Means and standard deviations over seeds; the best of each column in bold; a star where a method differs from FDT
    in a paired bootstrap over the test dialogues, seeds pooled.
    """
    from friend_training.evaluation.tables import to_csv, to_latex, to_markdown, to_rich
    from friend_training.scenarios.comparing import chosen_rows, comparison_table, dev_rows

    if show is Shown.DEV:
        typer.echo("| Method | Iteration | F1 | EM | WER |\n|---|--:|--:|--:|--:|")
        for method, iteration, values in dev_rows(folder, METHODS):
            cells = " | ".join("" if value is None else f"{value:.1f}" for value in values)
            typer.echo(f"| {method} | {iteration} | {cells} |")
        return
    if show is Shown.CHOSEN:
        typer.echo("| Method | Task | Iteration | chosen | with content | precision |\n|---|---|--:|--:|--:|--:|")
        for method, task, iteration, chosen, content, precision in chosen_rows(folder, METHODS):
            right = "" if precision is None else f"{100 * precision:.1f}"
            typer.echo(f"| {method} | {task} | {iteration} | {chosen:,.0f} | {content:,.0f} | {right} |")
        return
    table = comparison_table(folder, METHODS, against=against)
    if format is TableFormat.TERMINAL:
        Console().print(to_rich(table))
    else:
        render = {"markdown": to_markdown, "latex": to_latex, "csv": to_csv}[format.value]
        typer.echo(render(table))
