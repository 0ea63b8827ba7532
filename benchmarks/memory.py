"""What a real few-shot run holds: the most memory of every step, and what is held when the step is over.

python benchmarks/memory.py             run it in a process of its own, append to results/memory.jsonl, print the table
python benchmarks/memory.py --show      only print the table

The run is configs/few-shot.yaml with its encoder, bridge, batches and shards of 1,000 dialogues; shorter are the steps
of all trainings, the pool and the number of methods (base and fdt), and there are several iterations, to see whether
memory grows. The peak is that of the longest sentence a batch has: few steps, or another seed, may not meet it. It is
forgotten at the beginning of every step. Linux; the public datasets and encoders.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from record_lines import append_line, read_lines

RESULTS = Path(__file__).parent / "results" / "memory.jsonl"
CONFIG = Path(__file__).parents[1] / "configs" / "few-shot.yaml"


def main(arguments: Sequence[str] | None = None) -> None:
    asked = _parser().parse_args(arguments)
    if asked.inside:
        run(asked)
    elif not asked.show:
        subprocess.run([sys.executable, __file__, *sys.argv[1:], "--inside"], check=True)
    print("" if asked.inside else table(read_lines(asked.results)))


def run(asked: argparse.Namespace) -> None:
    import torch

    from friend_training.runs.progress import Silence
    from friend_training.runs.steps import MethodStep, Step
    from friend_training.study.config import load_config
    from friend_training.study.study import run_study

    begun = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    changes = [
        "methods=[base,fdt]",
        f"data.pool={asked.pool}",
        f"iterations={asked.iterations}",
        f"bridge.steps={asked.steps}",
        *(
            f"tasks.{task}.{name}={asked.steps}"
            for task in ("csrl", "rewriting")
            for name in ("base_steps", "update_steps")
        ),
        *asked.set,
    ]

    class Scale(Silence):
        def started(self, step: Step) -> None:
            Path("/proc/self/clear_refs").write_text("5")

        def finished(self, step: Step) -> None:
            method, inner = (step.method, step.step) if isinstance(step, MethodStep) else ("", step)
            append_line(
                asked.results,
                {
                    "run": begun,
                    "method": method,
                    "step": inner.name,
                    "peak_mb": held("VmHWM"),
                    "after_mb": held("VmRSS"),
                    "pool": asked.pool,
                    "steps": asked.steps,
                    "torch": torch.__version__,
                    "cores": os.cpu_count(),
                },
            )

    with tempfile.TemporaryDirectory() as scratch:
        run_study(load_config(asked.config, changes), Path(scratch) / "run", listener=Scale())


def held(name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return round(int(found[1]) / 1024)


KINDS = {
    r"data": "data are read",
    r"encoder": "the encoder is made",
    r"bridge": "the bridge is trained",
    r"train-(\w+)-0": "Base, {0}",
    r"label-(\d+)-\d+": "labelling a shard, iteration {0}",
    r"select-(\d+)": "selecting, iteration {0}",
    r"train-(\w+)-(\d+)": "training {0}, iteration {1}",
    r"evaluate-(\w+)-(\d+)": "scoring {0} on dev, iteration {1}",
    r"test-(\w+)": "scoring {0} on test",
}


def table(records: Sequence[dict[str, Any]]) -> str:
    """Of the last run, a row for each step: the most over its shards and methods, and what is held afterwards."""
    last = [one for one in records if one["run"] == records[-1]["run"]] if records else []
    rows: dict[str, tuple[int, int]] = {}
    for one in last:
        name = next(
            (
                words.format(*found.groups())
                for kind, words in KINDS.items()
                if (found := re.fullmatch(kind, one["step"]))
            ),
            None,
        )
        if name is not None:
            rows[name] = (max(one["peak_mb"], rows.get(name, (0, 0))[0]), one["after_mb"])
    lines = ["| step | peak MB | held after it, MB |", "|---|--:|--:|"]
    return "\n".join([*lines, *(f"| {name} | {peak:,} | {after:,} |" for name, (peak, after) in rows.items())])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", type=Path, default=CONFIG)
    parser.add_argument("--pool", type=int, default=2000)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--iterations", type=int, default=3)
    parser.add_argument("--set", action="append", default=[], help="another setting of the config")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--show", action="store_true", help="measure nothing, print the table")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    main()
