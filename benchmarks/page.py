"""One page of all that was measured: docs/benchmarks.md with its pictures, and the tables of costs in docs/scale.md.

python benchmarks/page.py     read results/*.jsonl, write the pages

Nothing is measured here: `python benchmarks/all.py` does that, or each benchmark alone.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import cost_model
import engine_records
import growth_records
import iteration
import pipeline_records
import plots
import processes
import service_load
import speed_records
import tried

from friend_training.runs.files import write_text

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
NOTHING = "Nothing has been measured yet."


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=HERE / "results", help="the folder of records")
    parser.add_argument("--docs", type=Path, default=DOCS, help="the folder of pages")
    asked = parser.parse_args(arguments)
    write_text(asked.docs / "benchmarks.md", page(asked.results, asked.docs / "pictures"))
    scale = asked.docs / "scale.md"
    costs = cost_model.report(cost_model.inputs_from(asked.results), 12_000_000, 3, 16)
    write_text(scale, cost_model.between_marks(scale.read_text(encoding="utf-8"), costs))


def page(results: Path, pictures: Path) -> str:
    """The whole page; its pictures are drawn on the way."""
    parts = [INTRODUCTION]
    parts += _speed(results, pictures)
    parts += [
        "## One iteration",
        "`python benchmarks/iteration.py RUN --resources FOLDER`; what it means: [scale.md](scale.md).",
    ]
    parts.append(_table(results / "iteration.jsonl", iteration.tables))
    parts += ["## What was tried", "`python benchmarks/tried.py`, processor time of one thread, best of three."]
    parts.append(_table(results / "tried.jsonl", tried.table))
    parts += _engines(results, pictures)
    parts += _growth(results, pictures)
    parts += [
        "## Training: one process and two",
        "`python benchmarks/processes.py`, examples per second, a thread each.",
    ]
    parts.append(_table(results / "processes.jsonl", lambda path: processes.table(processes.read(path))))
    parts += ["## The service", "`python benchmarks/service_load.py RUN`; one client, and several at once."]
    parts.append(_table(results / "service.jsonl", service_load.table))
    return "\n\n".join(parts) + "\n"


INTRODUCTION = """# Benchmarks

This page is written by `python benchmarks/page.py` from `benchmarks/results/*.jsonl`; `python benchmarks/all.py`
measures everything anew (hours on two cores; `--quick` is a pass of minutes that shows that it works). Ratios are taken
within a round of one run; processor time is given beside the clock because others were running on the machine: the load
average stands beside the rounds. What it means for a large corpus: [scale.md](scale.md)."""


def _speed(results: Path, pictures: Path) -> list[str]:
    speed, pipelines = speed_records.read(results / "speed.jsonl"), pipeline_records.read(results / "pipeline.jsonl")
    plots.draw_speed(pictures / "benchmark-speed.png", speed, pipelines)
    return [
        "## Labelling and training, beside others",
        "`python benchmarks/speed.py`: the straightforward loop does the same with the same network, one pass for each"
        " predicate, padded to 125 pieces, plain AdamW over all weights.",
        "![how many times as long others take](pictures/benchmark-speed.png)",
        speed_records.table(speed),
        "`python benchmarks/pipeline.py`: a token-classification pipeline of transformers with the same encoder,"
        " the same texts and as many labels; the file says what differs in what they do.",
        pipeline_records.table(pipelines) if pipelines else NOTHING,
    ]


def _engines(results: Path, pictures: Path) -> list[str]:
    records = engine_records.read(results / "engines.jsonl")
    parts = [
        "## Engines, and pools of any length",
        "`python benchmarks/engines.py`: `here` is one process, `local-2` two workers, `ray-2` two Ray nodes on the"
        " same two cores. Equal letters under *store*: the same bytes.",
    ]
    if not records:
        return [*parts, NOTHING]
    if any(record.what == "memory" for record in records):
        plots.draw_pool(pictures / "benchmark-pool.png", records)
        parts.append("![memory and cost as the pool gets longer](pictures/benchmark-pool.png)")
    return [*parts, engine_records.table(records)]


def _growth(results: Path, pictures: Path) -> list[str]:
    records = growth_records.read(results / "growth.jsonl")
    parts = [
        "## Longer dialogues, more predicates, matching, the store",
        "`python benchmarks/growth.py`, by processor time. A dialogue is cut to 125 pieces, so its cost ends growing"
        " there. Units are predicates and utterances labelled, pairs matched, or rows stored.",
    ]
    if not records:
        return [*parts, NOTHING]
    if any(record.what == growth_records.TURNS for record in records):
        plots.draw_growth(pictures / "benchmark-growth.png", records)
        parts.append("![cost of longer dialogues](pictures/benchmark-growth.png)")
    return [*parts, growth_records.table(records)]


def _table(path: Path, made: Callable[[Path], str]) -> str:
    return made(path) if path.is_file() else NOTHING


if __name__ == "__main__":
    main()
