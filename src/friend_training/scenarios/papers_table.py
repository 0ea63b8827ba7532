"""The paper's Table 1, to stand beside ours.

Its encoder has twelve layers, its pool 20,000 dialogues, and its CSRL in another domain is tested on WeiboCSRL, where
ours is tested on PersonalDialog: compare what methods gain, not their scores.
"""

from collections.abc import Sequence
from dataclasses import replace

from friend_training.errors import DataError
from friend_training.evaluation.tables import Cell, Table
from friend_training.methods.registry import METHODS
from friend_training.scenarios.comparing import comparison_table, names_with_seeds
from friend_training.scenarios.gathering import Result

METRICS = ("csrl.f1", "rewriting.em", "rewriting.wer")

TABLE: dict[str, dict[str, tuple[float, float, float]]] = {
    "few-shot": {
        "base": (25.14, 3.60, 39.98),
        "multitask-base": (21.49, 11.70, 40.46),
        "sst": (30.46, 27.80, 31.02),
        "mt": (33.27, 33.00, 31.66),
        "cps": (32.86, 23.30, 32.60),
        "scot": (31.10, 22.31, 33.79),
        "stbr": (28.34, 29.80, 30.31),
        "stea": (33.25, 31.57, 30.36),
        "fdt": (34.97, 34.20, 27.87),
        "fdt-s": (36.46, 37.10, 26.88),
        "base-full": (69.17, 52.30, 20.54),
    },
    "domain-generalisation": {
        "base": (56.16, 25.25, 28.69),
        "multitask-base": (53.99, 22.49, 32.44),
        "sst": (58.62, 32.97, 22.22),
        "mt": (57.03, 28.82, 26.49),
        "cps": (56.36, 32.68, 22.78),
        "scot": (55.69, 29.25, 24.87),
        "stbr": (59.38, 33.78, 23.30),
        "stea": (57.50, 34.23, 22.17),
        "fdt": (61.78, 38.22, 20.31),
    },
}
"""F1 · EM, WER of each method; the paper reports no deviations."""


def beside_the_paper(results: Sequence[Result], *, against: str = "fdt") -> Table:
    """The paper's scores and ours (mean ± deviation, stars as in our own tables), for every method that has either."""
    scenarios = {result.record["config"]["data"].get("scenario") for result in results}
    if len(scenarios) > 1 or not scenarios <= TABLE.keys():
        raise DataError(f"the paper has a table for {' and one for '.join(TABLE)} on public data, not for these")
    paper, names = TABLE[scenarios.pop()], names_with_seeds(results)
    ours = comparison_table(results, against=against)
    rows = dict(ours.rows)
    found: list[tuple[str, tuple[Cell | None, ...]]] = []
    for method, known in METHODS.items():
        name = names.get(method, known.title)
        cells: list[Cell | None] = []
        for number, metric in enumerate(METRICS):
            place = next(place for place, column in enumerate(ours.columns) if column.metric == metric)
            cells.append(Cell((paper[method][number],)) if method in paper else None)
            cells.append(rows[name][place] if name in rows else None)
        if any(cells):
            found.append((name, tuple(cells)))
    shown = [column for metric in METRICS for column in ours.columns if column.metric == metric]
    columns = [replace(column, title=f"{column.title}, {whose}") for column in shown for whose in ("paper", "here")]
    return Table("", tuple(columns), tuple(found), ours.caption)
