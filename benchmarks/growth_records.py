"""The records of what labelling costs as things grow, one JSON line for each measurement, and their table."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from record_lines import append_line, read_lines

RESULTS = Path(__file__).parent / "results" / "growth.jsonl"
TURNS, PREDICATES, MATCHING, STORE, SELECTION = "turns", "predicates", "matching", "store", "selection"


@dataclass(frozen=True, slots=True)
class Record:
    """One measurement. `size` is what grows: turns, predicates of an utterance, dialogues matched or stored,
    rows selected from.

    `way` tells measurements of one size apart: the task, where the predicate is marked, how matches are scored.
    `units` are predicates and utterances labelled, pairs matched, or rows stored; `pieces` the mean length of an input
    that the encoder sees; `stored` the bytes on disk; `added_mb` the most memory on top of what was there before,
    `peak_mb` of the process in all.
    """

    run: str
    round: int
    what: str
    way: str
    encoder: str
    size: int
    dialogues: int
    units: int
    pieces: float | None
    seconds: float
    cpu_seconds: float
    added_mb: float | None
    stored: int | None
    cores: int | None
    load: float
    peak_mb: float | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """The medians over the rounds of one thing of one size, from the last run that measured it."""

    size: int
    ms_per_dialogue: float
    units_per_second: float
    pieces: float | None
    added_mb: float | None
    peak_mb: float | None
    bytes_per_unit: float | None
    rounds: int


Curves = dict[tuple[str, str, str], list[Point]]
"""(what, way, encoder) → its points by size. All of them are of processor time: it suffers less from others' load."""


def append(record: Record, path: Path) -> None:
    append_line(path, asdict(record))


def read(path: Path = RESULTS) -> list[Record]:
    return [Record(**line) for line in read_lines(path)]


def curves(records: Sequence[Record]) -> Curves:
    last = {(r.what, r.way, r.encoder, r.size): r.run for r in records}
    found: Curves = {}
    for (what, way, encoder, size), run in sorted(last.items()):
        rows = [r for r in records if (r.what, r.way, r.encoder, r.size, r.run) == (what, way, encoder, size, run)]
        found.setdefault((what, way, encoder), []).append(_point(size, rows))
    return found


def _point(size: int, rows: Sequence[Record]) -> Point:
    memory = [row.added_mb for row in rows if row.added_mb is not None]
    peaks = [row.peak_mb for row in rows if row.peak_mb is not None]
    return Point(
        size=size,
        ms_per_dialogue=median(1000 * row.cpu_seconds / row.dialogues for row in rows),
        units_per_second=median(row.units / row.cpu_seconds for row in rows),
        pieces=rows[0].pieces,
        added_mb=median(memory) if memory else None,
        peak_mb=median(peaks) if peaks else None,
        bytes_per_unit=None if rows[0].stored is None else rows[0].stored / rows[0].units,
        rounds=len(rows),
    )


def table(records: Sequence[Record]) -> str:
    lines = [
        "| what grows | way | encoder | size | pieces | ms per dialogue | units per second | memory added, MB"
        " | in all | bytes per unit | rounds |",
        "|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for (what, way, encoder), points in curves(records).items():
        for point in points:
            cells = [
                what,
                way,
                encoder,
                f"{point.size:,}",
                "" if point.pieces is None else f"{point.pieces:.0f}",
                f"{point.ms_per_dialogue:.3g}",
                f"{point.units_per_second:,.0f}",
                "" if point.added_mb is None else f"{point.added_mb:.0f}",
                "" if point.peak_mb is None else f"{point.peak_mb:.0f}",
                "" if point.bytes_per_unit is None else f"{point.bytes_per_unit:.0f}",
                str(point.rounds),
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
