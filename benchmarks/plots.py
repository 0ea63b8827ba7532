"""The pictures of the benchmarks' page."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

import engine_records
import growth_records
import pipeline_records
import speed_records
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from friend_training.experiments.figures import COLOURS, MARKERS, STYLE
from friend_training.runs.files import atomic_file

Lines = Mapping[str, Mapping[int, float]]
"""The name of a line → its values by size."""

DOTS_PER_INCH = 110


def draw(path: Path, *panels: Callable[[Axes], None], height: float = 3.0) -> None:
    """Panels beside each other, as one PNG."""
    with rc_context(STYLE):
        figure = Figure(figsize=(4.6 * len(panels), height), layout="constrained")
        for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            panel(axes)
        with atomic_file(path) as temporary:
            # No date and no version in the file: the same picture has the same bytes.
            figure.savefig(temporary, format="png", dpi=DOTS_PER_INCH, metadata={"Software": None})


def lines_panel(lines: Lines, *, title: str, x: str, log: bool = False) -> Callable[[Axes], None]:
    """Lines from 0 upwards over sizes that are multiples of each other."""

    def panel(axes: Axes) -> None:
        for number, (name, values) in enumerate(lines.items()):
            sizes = sorted(values)
            marker, colour = MARKERS[number % len(MARKERS)], COLOURS[number % len(COLOURS)]
            axes.plot(sizes, [values[size] for size in sizes], marker=marker, color=colour, label=name)
        every = sorted({size for values in lines.values() for size in values})
        axes.set_xscale("log")
        axes.set_xticks(every, [f"{size:,}" for size in every])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_yscale("log" if log else "linear")
        if not log:
            axes.set_ylim(bottom=0)
        axes.set(title=title, xlabel=x)
        axes.legend()

    return panel


def bars_panel(values: Mapping[str, float], *, title: str, x: str) -> Callable[[Axes], None]:
    """Bars from left to right, the first on top, each with its number; 1 is where both are equally fast."""

    def panel(axes: Axes) -> None:
        bars = axes.barh(list(values), list(values.values()), color=COLOURS[1], height=0.6)
        axes.bar_label(bars, fmt="%.2f", padding=3)
        axes.axvline(1, color="black", linewidth=0.8)
        axes.margins(x=0.15)
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.set(title=title, xlabel=x)

    return panel


def draw_speed(path: Path, speed: Sequence[speed_records.Record], pipelines: Sequence[pipeline_records.Record]) -> None:
    """How many times as long others take as we do, by processor time."""
    panels = [bars_panel(speed_ratios(speed), title="the straightforward loop", x="times our processor time")]
    found = {row.name: row.slower_cpu for row in pipeline_records.rows(pipelines)}
    if found:
        panels.append(bars_panel(found, title="transformers' pipeline", x="times our tagging's"))
    draw(path, *panels, height=0.9 + 0.42 * max(len(speed_ratios(speed)), len(found)))


def speed_ratios(records: Sequence[speed_records.Record]) -> dict[str, float]:
    """What was measured → straightforward : ours, one thread each, processor time; each from its last run."""
    last = {(r.encoder, r.task, r.data, r.what): r.run for r in records}
    found = {}
    for (encoder, task, data, what), run in sorted(last.items()):
        times = {
            loop: {r.round: r.cpu_seconds for r in records if _is(r, encoder, task, data, what, run, loop)}
            for loop in ("ours", "straightforward")
        }
        rounds = times["ours"].keys() & times["straightforward"].keys()
        if rounds:
            name = f"{encoder.split('-')[0]}: {what} {task}\n{data}"
            found[name] = median(times["straightforward"][one] / times["ours"][one] for one in rounds)
    return found


def _is(r: speed_records.Record, encoder: str, task: str, data: str, what: str, run: str, loop: str) -> bool:
    wanted = (encoder, task, data, what, run, loop, 1)
    return (r.encoder, r.task, r.data, r.what, r.run, r.loop, r.threads) == wanted


def draw_pool(path: Path, records: Sequence[engine_records.Record]) -> None:
    """Memory and cost as the pool gets longer."""
    memory = {f"{engine}, {encoder}": by for (encoder, engine), by in engine_records.memory_growth(records).items()}
    cost: dict[str, dict[int, float]] = {}
    for record in records:
        if record.what == "memory":
            line = cost.setdefault(f"{record.engine}, {record.encoder}", {})
            line[record.dialogues] = 1000 * record.label_cpu_seconds / record.dialogues
    draw(
        path,
        lines_panel(memory, title="peak memory of a process, MB", x="dialogues in the pool"),
        lines_panel(cost, title="labelling, ms of a processor per dialogue", x="dialogues in the pool", log=True),
    )


def draw_growth(path: Path, records: Sequence[growth_records.Record]) -> None:
    """Cost as dialogues get longer, and as they have more predicates."""
    found = growth_records.curves(records)

    def lines(what: str) -> Lines:
        encoders = {encoder for kind, _, encoder in found if kind == what}
        return {
            way if len(encoders) == 1 else f"{way}, {encoder}": {point.size: point.ms_per_dialogue for point in points}
            for (kind, way, encoder), points in found.items()
            if kind == what
        }

    title = "labelling, ms of a processor per dialogue"
    draw(
        path,
        lines_panel(lines(growth_records.TURNS), title=title, x="turns of a dialogue"),
        lines_panel(lines(growth_records.PREDICATES), title=title, x="predicates of the utterance"),
    )
