"""friend-train theory: what the error of agreed pseudo-labels should be, before any model is trained."""

from itertools import product
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table

from friend_training.core.simulation import simulate_agreement
from friend_training.core.theory import (
    corrected_error_rate,
    match_probability,
    needed_friend_accuracy,
    needed_size,
    printed_error_rate,
    uniform_epsilon,
)

_ACCURACIES = [0.7]
_SIZES = [10]
_SIMULATION_SEED = 0


def theory(
    eta_a: Annotated[list[float], typer.Option(help="η_a, accuracy of the task. Repeat for a grid.")] = _ACCURACIES,
    eta_b: Annotated[list[float], typer.Option(help="η_b, accuracy of its friend. Repeat for a grid.")] = _ACCURACIES,
    sigma: Annotated[list[int], typer.Option(help="|Σ|, size of the common space. Repeat for a grid.")] = _SIZES,
    rho: Annotated[float, typer.Option(help="ρ, how often the friend merely copies: 0 never, 1 always.")] = 0.0,
    target_error: Annotated[
        float | None, typer.Option(help="Also say what |Σ| or what η_b reaches this error.")
    ] = None,
    simulate: Annotated[
        int | None, typer.Option(min=1, help="Also simulate so many inputs, with explicit labels and tables.")
    ] = None,
) -> None:
    """Say how often a pseudo-label is wrong although two friends agree on it.

    Without a friend, 1 − η_a of a model's own labels are wrong.
    Friend-training keeps what two models of different tasks agree on
    after both answers are translated into a common space Σ. Wrong
    answers meet there only by chance, ε = 1/|Σ|: the larger Σ and the
    better the friend, the cleaner the labels that are kept. A friend
    that copies (ρ) is no check, however large Σ is.

    Columns: "agreed" is the share that is kept; "printed" the error
    by the paper's Eq. 3; "corrected" the error with its both-wrong
    term put right (only this one knows ρ). --simulate draws labels and
    translation tables, and shows which of the two holds.

    Try: friend-train theory --eta-a 0.3 --eta-b 0.3 --simulate 200000
    """
    table = Table(
        title=_title(rho, target_error),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    columns = ["η_a", "η_b", "|Σ|", "agreed", "printed", "corrected"]
    columns += [] if simulate is None else ["simulated\n± s.e."]
    columns += [] if target_error is None else ["needs\n|Σ|", "needs\nη_b"]
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    settings = list(product(eta_a, eta_b, sigma))
    progress = Console(stderr=True)
    for a, b, size in track(settings, "simulating", console=progress, transient=True, disable=simulate is None):
        table.add_row(*_row(a, b, size, rho=rho, target_error=target_error, simulate=simulate))
    Console().print(table)


def _title(rho: float, target_error: float | None) -> str:
    target = "" if target_error is None else f", target error {target_error:g}"
    return f"Error of agreed pseudo-labels (ρ = {rho:g}{target})"


def _row(
    eta_a: float, eta_b: float, size: int, *, rho: float, target_error: float | None, simulate: int | None
) -> list[str]:
    epsilon = uniform_epsilon(size)
    cells = [
        f"{eta_a:g}",
        f"{eta_b:g}",
        str(size),
        f"{match_probability(eta_a, eta_b, epsilon, rho=rho):.3f}",
        f"{printed_error_rate(eta_a, eta_b, epsilon):.4f}",
        f"{corrected_error_rate(eta_a, eta_b, epsilon, rho=rho):.4f}",
    ]
    if simulate is not None:
        labels = max(100_000, 20 * size)
        seen = simulate_agreement(
            eta_a,
            eta_b,
            size,
            inputs=simulate,
            seed=_SIMULATION_SEED,
            rho=rho,
            labels=labels,
            tables=max(1 + 1_000_000 // labels, simulate // 1_000_000),  # about a million inputs or labels at a time
        )
        cells.append("none agreed" if seen.error is None else f"{seen.error:.4f} ± {seen.error_se:.4f}")
    if target_error is not None:
        needed_sigma = needed_size(target_error, eta_a, eta_b, rho=rho)
        needed_eta = needed_friend_accuracy(target_error, eta_a, epsilon, rho=rho)
        cells.append("none" if needed_sigma is None else str(needed_sigma))
        cells.append("none" if needed_eta is None else f"{needed_eta:.3f}")
    return cells
