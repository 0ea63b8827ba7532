"""Processor seconds until commands have answered, each in a process of its own, on a warm disk.

python benchmarks/first_answer.py RUN OWN    of a run of the paper's pair, and one of two classifiers with test.csv in
                                             the folder above: polarity on an encoder, mood of scikit-learn, such as
                                             tests/helpers/own_run.py makes
python benchmarks/first_answer.py --show     only print the table

`import torch` and the model class of transformers with a tokenizer stand beside them: no command that needs an encoder
can be faster than that.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from ceiling import machine
from record_lines import append_line, read_lines

from friend_training.data import synthetic
from friend_training.data.jsonl import write_jsonl
from friend_training.data.synthetic import Domain

RESULTS = Path(__file__).parent / "results" / "first_answer.jsonl"
FLOORS = {
    "import torch": "import torch",
    "import torch, a model class and a tokenizer of transformers": "from transformers import AutoTokenizer, BertModel",
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, nargs="?")
    parser.add_argument("own", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--show", action="store_true", help="measure nothing, print the table")
    asked = parser.parse_args(arguments)
    if not asked.show:
        with tempfile.TemporaryDirectory() as scratch:
            commands = commands_of(asked.run, asked.own, Path(scratch))
            run = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            seconds: dict[str, list[float]] = {name: [] for name in commands}
            for _ in range(asked.rounds):
                for name, words in commands.items():
                    seconds[name].append(round(processor_seconds(words), 2))
        about = {"run": run, "machine": machine(), "load": round(os.getloadavg()[0], 1)}
        for name, found in seconds.items():
            append_line(asked.results, {**about, "what": name, "cpu_seconds": found})
    print(table(read_lines(asked.results)))


def commands_of(run: Path, own: Path, scratch: Path) -> Mapping[str, Sequence[str]]:
    made = synthetic.generate(2, seed=1, domain=Domain.TRAVEL)
    write_jsonl(scratch / "chat.jsonl", synthetic.rewriting_examples(made))
    test, page = str(own.parent / "test.csv"), ["--out", str(scratch / "page.html"), "--force"]
    command = [sys.executable, "-m", "friend_training.cli.__main__"]
    return {
        **{name: [sys.executable, "-c", program] for name, program in FLOORS.items()},
        "show": [*command, "show", str(run)],
        "show --examples 3": [*command, "show", str(run), "--examples", "3"],
        "compare": [*command, "compare", str(run)],
        "report": [*command, "report", str(run), *page],
        "predict, scikit-learn": [*command, "predict", str(own), "--task", "mood", test],
        "evaluate, scikit-learn": [*command, "evaluate", str(own), "--task", "mood", test],
        "predict, text classification": [*command, "predict", str(own), "--task", "polarity", test],
        "predict, rewriting": [*command, "predict", str(run), "--task", "rewriting", str(scratch / "chat.jsonl")],
        "evaluate, rewriting": [*command, "evaluate", str(run), "--task", "rewriting", str(scratch / "chat.jsonl")],
    }


def processor_seconds(words: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def table(records: Sequence[dict[str, Any]]) -> str:
    """Of the last run, medians and the lowest."""
    last = [one for one in records if one["run"] == records[-1]["run"]] if records else []
    lines = ["| | processor seconds | lowest |", "|---|--:|--:|"]
    lines += [f"| {one['what']} | {median(one['cpu_seconds']):.1f} | {min(one['cpu_seconds']):.1f} |" for one in last]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
