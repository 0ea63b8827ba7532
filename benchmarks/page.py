"""All that was measured: docs/benchmarks.md with its pictures, longer tables in docs/appendix/benchmarks.md, and the
tables of costs in docs/scale.md.

python benchmarks/page.py     read results/*.jsonl, write the pages

Nothing is measured here: `python benchmarks/all.py` does that, or each benchmark alone.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import ceiling
import cost_model
import engine_records
import first_answer
import growth_records
import iteration
import memory
import pipeline_records
import plots
import processes
import service_load
import setfit_beside
import speed_records
import tried
from record_lines import read_lines

from friend_training.runs.files import write_text

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
NOTHING = "Nothing has been measured yet."


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=HERE / "results", help="the folder of records")
    parser.add_argument("--docs", type=Path, default=DOCS, help="the folder of pages")
    asked = parser.parse_args(arguments)
    (asked.docs / "appendix").mkdir(exist_ok=True)
    write_text(asked.docs / "benchmarks.md", page(asked.results, asked.docs / "pictures"))
    write_text(asked.docs / "appendix" / "benchmarks.md", appendix(asked.results, asked.docs / "pictures"))
    scale = asked.docs / "scale.md"
    costs = cost_model.report(cost_model.inputs_from(asked.results), 12_000_000, 3, 16)
    write_text(scale, cost_model.between_marks(scale.read_text(encoding="utf-8"), costs))


def page(results: Path, pictures: Path) -> str:
    """How close to the machine, how fast beside others, what was tried, the service; pictures are drawn on the way."""
    parts = [INTRODUCTION]
    parts += _speed(results, pictures)
    parts += ["TextClassification and setfit: `python benchmarks/setfit_beside.py`. " + SETFIT]
    parts.append(_table(results / "setfit.jsonl", lambda path: setfit_beside.table(read_lines(path))))
    parts += ["## The first answer", FIRST_ANSWER]
    parts.append(_table(results / "first_answer.jsonl", lambda path: first_answer.table(read_lines(path))))
    parts += ["## Memory of a run", MEMORY]
    parts.append(_table(results / "memory.jsonl", lambda path: memory.table(read_lines(path))))
    parts += ["## What was tried", TRIED]
    parts.append(_table(results / "tried.jsonl", tried.table))
    parts += ["## The service", "`python benchmarks/service_load.py RUN`; one client, and several at once."]
    parts.append(_table(results / "service.jsonl", service_load.table))
    return "\n\n".join(parts) + "\n"


def appendix(results: Path, pictures: Path) -> str:
    """What goes into the estimates of scale.md."""
    parts = [
        "# Benchmarks: an iteration, engines, growth",
        "Written by `python benchmarks/page.py`, as is [benchmarks.md](../benchmarks.md).",
        "## One iteration",
        "`python benchmarks/iteration.py RUN --resources FOLDER`; what it means: [scale.md](../scale.md).",
    ]
    parts.append(_table(results / "iteration.jsonl", iteration.tables))
    parts += _engines(results, pictures)
    parts += _growth(results, pictures)
    parts += [
        "## Training: one process and two",
        "`python benchmarks/processes.py`, examples per second, a thread each.",
    ]
    parts.append(_table(results / "processes.jsonl", lambda path: processes.table(processes.read(path))))
    return "\n\n".join(parts) + "\n"


INTRODUCTION = """# Benchmarks

Written by `python benchmarks/page.py` from `benchmarks/results/*.jsonl`. `make bench` measures this machine in minutes,
says where it differs from its own records by more than noise, and adds to them; `python benchmarks/all.py` measures
everything anew (hours on two cores). Ratios are taken within a round of one run. Machines were seldom idle: hence
processor time, and the load average beside the rounds. An iteration, engines and growth:
[appendix](appendix/benchmarks.md); a large corpus: [scale.md](scale.md)."""


SETFIT = """The same encoder (all-minilm-l6-v2), 64 texts of SST-2, batch and steps, one thread, each once. A batch of
setfit is of pairs; its head is fitted at the end. One seed and 200 texts of dev (one standard error is 3 points):
enough for the time of a step, not for who is better. setfit was at 68 % after 14 s and ours, at 72 %, after 17 s;
between 20 and 40 steps ours was not looked at."""


FIRST_ANSWER = """`python benchmarks/first_answer.py RUN OWN`, tiny runs, warm disk, three rounds under a load of 8 on
two cores. Aims: 1.5 s for `show`, `compare` and `report`, which load no torch: met, `report` just (1.48 to 1.69). 3 s
for `predict`: missed. With an encoder it cannot be met, for importing torch and a model class takes longer; ours adds
some 1.1 s to that, and what is now loaded only when used did not make that measurably less. With scikit-learn
`predict` took 8.9 s before (another hour, another load); skops, which opens the model, loads torch where that is
installed."""


MEMORY = """`python benchmarks/memory.py --pool 1000 --set bridge.steps=300 --set test_units=100 --set data.dev=100`:
configs/few-shot.yaml in fp32 with its encoder, bridge, batches and shards; FDT, 20 steps per other training; stopped
by hand in the third iteration. A run with 20 steps of the bridge, also in `memory.jsonl`, went through three: 1.70,
1.75 and 1.73 GB at the peak of each, so iterations stay flat. **That a whole run stays below 2.5 GB is not shown**:
its bridge takes 2,000 steps, and the peak is that of the longest sentence a batch happens to have. With another seed,
300 steps met one of 274 tokens, whose batch needs 1.3 GB for itself: 3.0 GB in fp32, 2.7 GB in bf16 (tried by hand;
no record). What was mended: in bf16 torch kept a compiled product for each of 1,024 shapes (now 64, `nn/encoder.py`),
and the heap broke into pieces (now given back every 25 steps, `nn/training.py`); before, 125 steps of the bridge in
bf16 had come to 3.4 GB and were growing."""


TRIED = """`python benchmarks/tried.py`, processor time of one thread, best of three; the share of labels that stay the
same, and the overlap (Jaccard) of what would be chosen."""


def _speed(results: Path, pictures: Path) -> list[str]:
    speed, pipelines = speed_records.read(results / "speed.jsonl"), pipeline_records.read(results / "pipeline.jsonl")
    ceilings = ceiling.read(results / "ceiling.jsonl")
    plots.draw_speed(pictures / "benchmark-speed.png", speed, pipelines)
    return [
        "## Beside the machine",
        "`make bench`: ernie-3.0-nano-zh-uie on the few-shot pool, one thread. *Bare network*: labelling, the encoder"
        " alone on the same batches; training, the network forward and backward without optimizer. *Matrix products*:"
        " those of the encoder's weights, and nothing else. In brackets the lowest and highest of the rounds.",
        ceiling.table(ceilings) if ceilings else NOTHING,
        "## Beside others",
        "The straightforward loop does the same with the same network, one pass for each predicate, padded to 125,"
        " plain AdamW over all weights (`python benchmarks/speed.py`). One thread, processor time; a range where"
        " several machines were measured. The picture is of the first machine.",
        "![how many times as long others take](pictures/benchmark-speed.png)",
        beside_the_loop(speed, ceilings),
        "A token-classification pipeline of transformers, same encoder, texts and number of labels"
        " (`python benchmarks/pipeline.py`):",
        pipeline_records.table(pipelines) if pipelines else NOTHING,
    ]


def beside_the_loop(speed: Sequence[speed_records.Record], ceilings: Sequence[ceiling.Ceiling]) -> str:
    """How many times as long the straightforward loop takes, in fp32: the lowest and highest of all machines."""
    found: dict[tuple[str, str], list[float]] = {}
    for name, ratio in plots.speed_ratios(speed).items():
        head, data = name.split("\n")
        encoder, work = head.split(": ")
        what, task = work.split()
        found.setdefault((f"{task}, {data}" + ("" if encoder == "ernie" else f" ({encoder})"), what), []).append(ratio)
    for (_, task, what, precision), one in {(one.machine, *one.key): one for one in ceilings}.items():
        if precision == "fp32":
            ratios = (theirs / ours for theirs, ours in zip(one.straightforward, one.ours, strict=True))
            found.setdefault((task, what), []).append(median(ratios))
    lines = ["| task | | straightforward : ours |", "|---|---|--:|"]
    for (task, what), ratios in sorted(found.items()):
        span = f"{min(ratios):.2f}" + (f" to {max(ratios):.2f}" if len(ratios) > 1 else "")
        lines.append(f"| {task} | {what} | {span} |")
    return "\n".join(lines)


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
        parts.append("![memory and cost as the pool gets longer](../pictures/benchmark-pool.png)")
    longest = max(record.dialogues for record in records)
    shown = [record for record in records if record.what != "memory" or record.dialogues * 10 >= longest]
    return [*parts, engine_records.table(shown)]


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
        parts.append("![cost of longer dialogues](../pictures/benchmark-growth.png)")
    drawn = growth_records.TURNS
    return [*parts, growth_records.table([record for record in records if record.what != drawn])]


def _table(path: Path, made: Callable[[Path], str]) -> str:
    return made(path) if path.is_file() else NOTHING


if __name__ == "__main__":
    main()
