"""What friend-training on a large corpus would cost: a small model whose inputs are read from results/*.jsonl.

python benchmarks/cost_model.py                        print the tables for 12 million dialogues, three iterations
python benchmarks/cost_model.py --write docs/scale.md  put them between the marks of that page
python benchmarks/cost_model.py --dialogues 6800000 --cores 32

    labelling  = iterations · dialogues · (1/CSRL rate + 1/rewriting rate) / (1 − bridge's share) · (1 + Ray's overhead)
    in series  = opening · dialogues + iterations · selection · dialogues
    training   = iterations · chosen units / rate, one epoch, for each of the two tasks
    disk       = pool + (iterations + 1) · units · bytes per unit       (+ 1: labels wait beside the selected)

What was measured is told from what is assumed, line by line; a measurement that is missing is an assumption, too.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from statistics import median
from typing import Any

import engine_records
import growth_records
import speed_records

RESULTS = Path(__file__).parent / "results"
ENCODER = "ernie-3.0-nano-zh-uie"
CSRL_DATA, REWRITING_DATA = "few-shot pool, marked in the input", "few-shot pool"
BEGIN, END = "<!-- cost model: begin -->", "<!-- cost model: end -->"
HOUR, DAY = 3600.0, 24.0
GPU_SPEEDS = (20, 50, 100)


@dataclass(frozen=True, slots=True)
class Number:
    """An input of the model. `measured` is where it was measured, None if it is assumed."""

    name: str
    value: float
    unit: str
    measured: str | None


@dataclass(frozen=True, slots=True)
class Inputs:
    csrl_rate: Number
    rewriting_rate: Number
    bridge_share: Number
    predicates: Number
    ray_overhead: Number
    open_seconds: Number
    select_seconds: Number
    csrl_training_rate: Number
    rewriting_training_rate: Number
    chosen: Number
    bytes_per_unit: Number
    bytes_per_dialogue: Number

    def __iter__(self) -> Any:
        return iter(getattr(self, name) for name in self.__slots__)


@dataclass(frozen=True, slots=True)
class Cost:
    """`label_core_hours` can be dealt out to any number of cores, the others cannot; disk is in gigabytes."""

    seconds_per_dialogue: float
    label_core_hours: float
    serial_hours: float
    csrl_training_hours: float
    rewriting_training_hours: float
    store_gb: float
    pool_gb: float


def main(arguments: Sequence[str] | None = None) -> None:
    asked = _parser().parse_args(arguments)
    text = report(inputs_from(asked.results), asked.dialogues, asked.iterations, asked.cores)
    if asked.write is None:
        print(text)
    else:
        asked.write.write_text(between_marks(asked.write.read_text(encoding="utf-8"), text), encoding="utf-8")


def inputs_from(folder: Path) -> Inputs:
    speed = speed_records.read(folder / "speed.jsonl")
    engines = engine_records.read(folder / "engines.jsonl")
    growth = growth_records.curves(growth_records.read(folder / "growth.jsonl"))

    def rate(task: str, data: str, what: str, amount: Callable[[speed_records.Record], float]) -> float | None:
        """Of ours with one thread, per second of the processor; from the last run."""
        rows = [r for r in speed if (r.encoder, r.task, r.data, r.what) == (ENCODER, task, data, what)]
        rows = [r for r in rows if (r.loop, r.threads, r.run) == ("ours", 1, rows[-1].run)]
        return median(amount(r) / r.cpu_seconds for r in rows) if rows else None

    pools = [r for r in speed if (r.data, r.what) == (CSRL_DATA, "labelling")]
    overheads = engine_records.overheads(engines)
    longest = max((r for r in engines if r.what == "memory"), key=lambda r: r.dialogues, default=None)
    open_seconds = None if longest is None else longest.open_seconds / longest.dialogues
    select_seconds = None if longest is None else longest.select_seconds / longest.dialogues
    store = [point for (what, *_), points in growth.items() if what == growth_records.STORE for point in points]
    labelled, trained = (lambda r: r.dialogues), (lambda r: r.examples)
    csrl, rewriting = ("csrl", CSRL_DATA), ("rewriting", REWRITING_DATA)
    in_speed, in_engines, in_growth = "speed.jsonl", "engines.jsonl", "growth.jsonl"
    return Inputs(
        csrl_rate=_number("CSRL labels", rate(*csrl, "labelling", labelled), 40, "dialogues / core s", in_speed),
        rewriting_rate=_number(
            "rewriting labels", rate(*rewriting, "labelling", labelled), 200, "dialogues / core s", in_speed
        ),
        bridge_share=Number("the bridge's share of labelling", 0.13, "", "py-spy, one minute of one run"),
        predicates=_number(
            "predicates in a dialogue", pools[-1].examples / pools[-1].dialogues if pools else None, 1.5, "", in_speed
        ),
        ray_overhead=_number("Ray's overhead", overheads[-1].cpu if overheads else None, 0.3, "", in_engines),
        open_seconds=_number("opening the pool", open_seconds, 5e-5, "s / dialogue", in_engines),
        select_seconds=_number("selection", select_seconds, 5e-5, "s / dialogue", in_engines),
        csrl_training_rate=_number(
            "CSRL trains on", rate(*csrl, "training", trained), 17, "predicates / core s", in_speed
        ),
        rewriting_training_rate=_number(
            "rewriting trains on", rate(*rewriting, "training", trained), 55, "utterances / core s", in_speed
        ),
        chosen=Number("chosen of all units", 0.1, "", None),
        bytes_per_unit=_number(
            "the store", store[-1].bytes_per_unit if store else None, 100, "bytes / unit", in_growth
        ),
        bytes_per_dialogue=Number("the pool", 400, "bytes / dialogue", None),
    )


def predict(inputs: Inputs, dialogues: int, iterations: int) -> Cost:
    """The formulas of the module's docstring."""
    models = 1 / inputs.csrl_rate.value + 1 / inputs.rewriting_rate.value
    seconds = models / (1 - inputs.bridge_share.value) * (1 + inputs.ray_overhead.value)
    csrl, rewriting = dialogues * inputs.predicates.value, float(dialogues)
    epochs = iterations * inputs.chosen.value / HOUR
    return Cost(
        seconds_per_dialogue=seconds,
        label_core_hours=iterations * dialogues * seconds / HOUR,
        serial_hours=dialogues * (inputs.open_seconds.value + iterations * inputs.select_seconds.value) / HOUR,
        csrl_training_hours=epochs * csrl / inputs.csrl_training_rate.value,
        rewriting_training_hours=epochs * rewriting / inputs.rewriting_training_rate.value,
        store_gb=(iterations + 1) * (csrl + rewriting) * inputs.bytes_per_unit.value / 1e9,
        pool_gb=dialogues * inputs.bytes_per_dialogue.value / 1e9,
    )


def report(inputs: Inputs, dialogues: int, iterations: int, cores: int) -> str:
    cost = predict(inputs, dialogues, iterations)
    one_day = ceil(cost.label_core_hours / (cores * DAY))
    training = max(cost.csrl_training_hours, cost.rewriting_training_hours)
    lines = ["| what goes in | | measured in |", "|---|--:|---|"]
    lines += [f"| {n.name} | {n.value:.3g} {n.unit} | {n.measured or '**assumed**'} |" for n in inputs]
    lines += ["", f"| {dialogues:,} dialogues, {iterations} iterations | |", "|---|--:|"]
    lines += [
        f"| labelling one dialogue: both models, bridge, Ray | {1000 * cost.seconds_per_dialogue:.0f} ms of a core |",
        f"| labelling, all iterations | {cost.label_core_hours:,.0f} core hours |",
        f"| … on one machine of {cores} cores | {cost.label_core_hours / cores:,.0f} hours |",
        f"| … machines of {cores} cores to label within a day | {one_day} |",
        f"| opening the pool and selection, in one process | {cost.serial_hours:.1f} hours |",
        f"| training CSRL, one epoch over what was chosen, on one core | {cost.csrl_training_hours:,.0f} hours |",
        f"| training rewriting, the same | {cost.rewriting_training_hours:,.0f} hours |",
        f"| disk: the store, at most | {cost.store_gb:,.1f} GB |",
        f"| disk: the pool as JSONL | {cost.pool_gb:,.1f} GB |",
    ]
    lines += ["", "| a graphics card as fast as … cores (**assumed**) | labelling, one card | training CSRL |"]
    lines += ["|--:|--:|--:|"]
    lines += [
        f"| {speed} | {cost.label_core_hours / speed:,.1f} hours | {training / speed:,.1f} hours |"
        for speed in GPU_SPEEDS
    ]
    return "\n".join(lines)


def between_marks(page: str, text: str) -> str:
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"the page has no {BEGIN} … {END}")
    return f"{before}{begin}\n\n{text}\n\n{end}{after}"


def _number(name: str, found: float | None, otherwise: float, unit: str, where: str) -> Number:
    return Number(name, otherwise, unit, None) if found is None else Number(name, found, unit, f"`{where}`")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dialogues", type=int, default=12_000_000)
    parser.add_argument("--iterations", type=int, default=3)
    parser.add_argument("--cores", type=int, default=16, help="of one machine")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder of records")
    parser.add_argument("--write", type=Path, help="the page that holds the tables between its marks")
    return parser


if __name__ == "__main__":
    main()
