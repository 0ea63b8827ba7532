"""The records of the benchmark of engines, one JSON line for each measurement, and what is read off them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from record_lines import read_lines

RESULTS = Path(__file__).parent / "results" / "engines.jsonl"
SCRATCH = "one layer"
"""The name of an encoder that the benchmark makes itself."""


@dataclass(frozen=True, slots=True)
class Record:
    """`engine` is here (this process), local-2 or ray-2. `store` tells whether two stores have the same bytes.

    `first_seconds` are those of `label_seconds` until the first shard was on record: by then workers have started and
    loaded their models. `run` and `round` are the same for measurements that were taken one after the other. Processor
    seconds are those of all processes together.
    """

    run: str
    round: int
    what: str
    engine: str
    encoder: str
    dialogues: int
    shard_size: int
    units: int
    open_seconds: float
    label_seconds: float
    label_cpu_seconds: float
    first_seconds: float
    first_cpu_seconds: float
    select_seconds: float
    store_bytes: int
    peak_mb: float
    workers_peak_mb: float | None
    store: str
    torch: str
    cores: int | None
    load: float


@dataclass(frozen=True, slots=True)
class Overhead:
    """What Ray costs on top of the local engine, as a share of it: medians over rounds, each within its round.

    The two `after_` leave the time until the first shard out. `same` is whether all stores had the same bytes.
    """

    dialogues: int
    rounds: int
    wall: float
    cpu: float
    wall_after_start: float
    cpu_after_start: float
    ray_start_seconds: float
    local_start_seconds: float
    same: bool


def read(path: Path = RESULTS) -> list[Record]:
    return [Record(**line) for line in read_lines(path)]


def overheads(records: Sequence[Record]) -> list[Overhead]:
    """For every length of pool that both engines have labelled, from the last run that measured it."""
    last = {record.dialogues: record.run for record in records if record.what == "overhead"}
    found = []
    for dialogues, run in sorted(last.items()):
        rows = [r for r in records if (r.what, r.dialogues, r.run) == ("overhead", dialogues, run)]
        local = {row.round: row for row in rows if row.engine == "local-2"}
        ray = {row.round: row for row in rows if row.engine == "ray-2"}
        pairs = [(local[number], ray[number]) for number in sorted(local.keys() & ray.keys())]
        if pairs:
            found.append(_overhead(dialogues, pairs))
    return found


def _overhead(dialogues: int, pairs: Sequence[tuple[Record, Record]]) -> Overhead:
    def after(row: Record) -> tuple[float, float]:
        return row.label_seconds - row.first_seconds, row.label_cpu_seconds - row.first_cpu_seconds

    return Overhead(
        dialogues=dialogues,
        rounds=len(pairs),
        wall=median(ray.label_seconds / local.label_seconds for local, ray in pairs) - 1,
        cpu=median(ray.label_cpu_seconds / local.label_cpu_seconds for local, ray in pairs) - 1,
        wall_after_start=median(after(ray)[0] / after(local)[0] for local, ray in pairs) - 1,
        cpu_after_start=median(after(ray)[1] / after(local)[1] for local, ray in pairs) - 1,
        ray_start_seconds=median(ray.first_seconds for _, ray in pairs),
        local_start_seconds=median(local.first_seconds for local, _ in pairs),
        same=len({row.store for pair in pairs for row in pair}) == 1,
    )


def memory_growth(records: Sequence[Record]) -> dict[tuple[str, str], dict[int, float]]:
    """(encoder, engine) → length of the pool → the highest peak of a process there, the worker's or the only one's."""
    found: dict[tuple[str, str], dict[int, float]] = {}
    for record in records:
        if record.what == "memory":
            by_length = found.setdefault((record.encoder, record.engine), {})
            peak = max(record.peak_mb, record.workers_peak_mb or 0.0)
            by_length[record.dialogues] = max(peak, by_length.get(record.dialogues, 0.0))
    return found


def table(records: Sequence[Record]) -> str:
    """A row for each thing measured, medians over its rounds; the store is the same when all rows of a size say so."""
    lines = [
        "| what | encoder | dialogues | engine | dialogues/s | per processor second | until the first shard (s)"
        " | to open, select (s) | peak MB, workers | store | rounds, load |",
        "|---|---|--:|---|--:|--:|--:|--:|--:|---|--:|",
    ]
    groups: dict[tuple[str, str, int, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record.what, record.encoder, record.dialogues, record.engine), []).append(record)
    for (what, encoder, dialogues, engine), rows in sorted(groups.items()):
        workers = [row.workers_peak_mb for row in rows if row.workers_peak_mb is not None]
        cells = [
            what,
            encoder,
            f"{dialogues:,}",
            engine,
            f"{median(dialogues / row.label_seconds for row in rows):.1f}",
            f"{median(dialogues / row.label_cpu_seconds for row in rows):.1f}",
            f"{median(row.first_seconds for row in rows):.1f}",
            f"{median(r.open_seconds for r in rows):.1f}, {median(r.select_seconds for r in rows):.1f}",
            f"{median(r.peak_mb for r in rows):.0f}" + (f", {median(workers):.0f}" if workers else ""),
            "/".join(sorted({row.store[:8] for row in rows})),
            f"{len(rows)}, {median(row.load for row in rows):.1f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", *(said(one) for one in overheads(records))]
    return "\n".join(lines)


def said(one: Overhead) -> str:
    return (
        f"Ray against the local engine, {one.dialogues:,} dialogues, {one.rounds} rounds: {one.wall:+.0%} on the wall,"
        f" {one.cpu:+.0%} processor time; after the first shard {one.wall_after_start:+.0%} and"
        f" {one.cpu_after_start:+.0%} (it was there after {one.ray_start_seconds:.1f} s, local"
        f" {one.local_start_seconds:.1f} s); stores {'the same' if one.same else 'DIFFERENT'}"
    )
