"""The records of our labelling beside a pipeline of transformers, and their table."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from record_lines import append_line, read_lines

RESULTS = Path(__file__).parent / "results" / "pipeline.jsonl"
PIPELINE = "pipeline"


@dataclass(frozen=True, slots=True)
class Record:
    """One measurement. `loop` is ours (`tagging`, `csrl`) or `pipeline`, whose `batch_size` is the user's choice.

    `pieces` are those of all texts together, [CLS] and [SEP] among them.
    """

    run: str
    round: int
    loop: str
    batch_size: int | None
    encoder: str
    labels: int
    texts: int
    pieces: int
    seconds: float
    cpu_seconds: float
    torch: str
    transformers: str
    cores: int | None
    load: float

    @property
    def name(self) -> str:
        return f"{self.loop}, batch {self.batch_size}" if self.loop == PIPELINE else f"ours, {self.loop}"


@dataclass(frozen=True, slots=True)
class Row:
    """`slower` is how much longer than our tagging it takes, by processor time and on the wall: medians over rounds."""

    name: str
    encoder: str
    texts_per_second: float
    texts_per_cpu_second: float
    slower_cpu: float
    slower: float
    rounds: int
    load: float


def append(record: Record, path: Path) -> None:
    append_line(path, asdict(record))


def read(path: Path = RESULTS) -> list[Record]:
    return [Record(**line) for line in read_lines(path)]


def rows(records: Sequence[Record]) -> list[Row]:
    """Of the last run of each encoder, in the order in which they were measured first."""
    last = {record.encoder: record.run for record in records}
    found: list[Row] = []
    for encoder, run in sorted(last.items()):
        of_run = [record for record in records if (record.encoder, record.run) == (encoder, run)]
        ours = {record.round: record for record in of_run if record.loop == "tagging"}
        for name in dict.fromkeys(record.name for record in of_run):
            mine = [record for record in of_run if record.name == name]
            found.append(
                Row(
                    name=name,
                    encoder=encoder,
                    texts_per_second=median(r.texts / r.seconds for r in mine),
                    texts_per_cpu_second=median(r.texts / r.cpu_seconds for r in mine),
                    slower_cpu=median(r.cpu_seconds / ours[r.round].cpu_seconds for r in mine),
                    slower=median(r.seconds / ours[r.round].seconds for r in mine),
                    rounds=len(mine),
                    load=median(r.load for r in mine),
                )
            )
    return found


def table(records: Sequence[Record]) -> str:
    lines = [
        "| encoder | | texts per second | per processor second | as long as our tagging: processor time, wall"
        " | rounds, load |",
        "|---|---|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {row.encoder} | {row.name} | {row.texts_per_second:.1f} | {row.texts_per_cpu_second:.1f} |"
        f" {row.slower_cpu:.2f} ×, {row.slower:.2f} × | {row.rounds}, {row.load:.1f} |"
        for row in rows(records)
    ]
    return "\n".join(lines)
