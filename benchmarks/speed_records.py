"""The records of the speed benchmark, one JSON line for each measurement, and the table made from them."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from record_lines import append_line, read_lines

from friend_training.errors import DataError

RESULTS = Path(__file__).parent / "results" / "speed.jsonl"
EXAMPLES = {"csrl": "predicates trained", "rewriting": "utterances trained"}
COLUMNS = (
    "encoder",
    "task",
    "per second",
    "straightforward, 2 threads",
    "ours, 1 thread",
    "ours, 2 threads",
    "ours 1 : theirs 2",
    "ours 2 : theirs 2",
    "ours 1 : theirs 1, processor time",
    "same labels",
    "memory added, ours : theirs",
    "rounds, load",
)


@dataclass(frozen=True, slots=True)
class Record:
    """One measurement.

    `examples` are units, the same in both loops: predicates of CSRL, utterances of rewriting. `added_mb` is the most
    memory that was held on top of what was there before. `load` is the machine's load average at the end, so that a
    reader knows who else was running.
    """

    run: str
    encoder: str
    task: str
    data: str
    fingerprint: str
    labelling_pieces: int
    torch: str
    cores: int | None
    what: str
    loop: str
    threads: int
    round: int
    dialogues: int
    examples: int
    seconds: float
    cpu_seconds: float
    added_mb: float | None
    same_labels: float | None
    load: float


def append(record: Record, path: Path) -> None:
    append_line(path, asdict(record))


def read(path: Path) -> list[Record]:
    if not path.is_file():
        raise DataError("nothing has been measured yet: run benchmarks/speed.py --rounds 5", path=path)
    return [Record(**line) for line in read_lines(path)]


def table(records: Sequence[Record]) -> str:
    """One row for each thing measured, from its last run. Ratios are medians over rounds, each within its round."""
    lines = [_line(COLUMNS), _line(["---"] * 3 + ["--:"] * (len(COLUMNS) - 3))]
    last = {(r.encoder, r.task, r.data, r.what): r.run for r in records}
    for (encoder, task, data, what), run in sorted(last.items()):
        rows = [r for r in records if (r.encoder, r.task, r.data, r.what, r.run) == (encoder, task, data, what, run)]
        unit = "dialogues labelled" if what == "labelling" else EXAMPLES[task]
        lines.append(_line([encoder, f"{task}, {data}", unit, *_numbers(rows)]))
    return "\n".join(lines)


def _numbers(rows: Sequence[Record]) -> list[str]:
    def of(loop: str, threads: int, value: Callable[[Record], float | None]) -> list[float]:
        """The value in each round, in the order of rounds."""
        chosen = sorted((r for r in rows if (r.loop, r.threads) == (loop, threads)), key=lambda r: r.round)
        return [found for found in map(value, chosen) if found is not None]

    def rate(loop: str, threads: int) -> str:
        return f"{median(of(loop, threads, _rate)):.1f}"

    def ratio(ours: int, theirs: int, value: Callable[[Record], float]) -> str:
        pairs = zip(of("ours", ours, value), of("straightforward", theirs, value), strict=True)
        return f"{median(their / our for our, their in pairs):.2f}"

    labels = [r.same_labels for r in rows if r.same_labels is not None]
    memory = [of(loop, 1, lambda r: r.added_mb) for loop in ("ours", "straightforward")]
    return [
        rate("straightforward", 2),
        rate("ours", 1),
        rate("ours", 2),
        ratio(1, 2, lambda r: r.seconds),
        ratio(2, 2, lambda r: r.seconds),
        ratio(1, 1, lambda r: r.cpu_seconds),
        f"{min(labels):.1%}" if labels else "",
        " : ".join(f"{median(values):.0f}" for values in memory) + " MB" if all(memory) else "",
        f"{len({r.round for r in rows})}, {median(r.load for r in rows):.1f}",
    ]


def _rate(record: Record) -> float:
    return (record.dialogues if record.what == "labelling" else record.examples) / record.seconds


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
