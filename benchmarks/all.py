"""Every benchmark, one after the other, and then the page.

python benchmarks/all.py             hours on two cores: needs the public datasets and encoders (docs/data.md)
python benchmarks/all.py --quick     minutes, synthetic dialogues and a small encoder, into a folder of its own

A quick pass shows that everything runs; its numbers mean nothing and are not kept beside the others.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
REAL_ENCODER = "ernie-3.0-nano-zh-uie"


def commands(results: Path, *, quick: bool) -> list[list[str]]:
    """What is run, in this order: the name of a benchmark and its arguments."""
    small = ["--synthetic", "--rounds", "1"] if quick else ["--rounds", "3"]
    sizes = ["60", "120"] if quick else ["1000", "10000", "100000", "1000000"]
    shards = ["--shard-size", "20"] if quick else []
    few = ["--dialogues", "8"] if quick else []

    def to(name: str) -> list[str]:
        return ["--results", str(results / f"{name}.jsonl")]

    found = [
        ["speed.py", *small, *few, *to("speed")],
        ["pipeline.py", *small, *(["--texts", "16"] if quick else []), *to("pipeline")],
        ["growth.py", *small, *few, *(["--stored", "100", "--selected", "5000"] if quick else []), *to("growth")],
        ["processes.py", *small, *few, *(["--steps", "4"] if quick else []), *to("processes")],
        ["engines.py", "memory", "--dialogues", *sizes, *shards, *to("engines")],
        ["engines.py", "overhead", "--dialogues", sizes[0] if quick else "20000", *shards, *to("engines")],
    ]
    if not quick:
        longer = ["--encoder", REAL_ENCODER, "--engines", "here", "--dialogues", "10000", "100000"]
        found.append(["engines.py", "memory", *longer, *to("engines")])
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="tiny, and its page in a folder of its own")
    parser.add_argument("--out", type=Path, help="with --quick: keep records and page in this folder")
    asked = parser.parse_args(arguments)
    if not asked.quick:
        run_all(HERE / "results", HERE.parent / "docs", quick=False)
        return
    with tempfile.TemporaryDirectory() as scratch:
        out = asked.out or Path(scratch)
        (out / "docs").mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE.parent / "docs" / "scale.md", out / "docs")
        run_all(out / "results", out / "docs", quick=True)
        print((out / "docs" / "benchmarks.md").read_text(encoding="utf-8"))


def run_all(results: Path, docs: Path, *, quick: bool) -> None:
    last = ["page.py", "--results", str(results), "--docs", str(docs)]
    for program, *rest in [*commands(results, quick=quick), last]:
        print(f"{program} {' '.join(rest)}", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, str(HERE / program), *rest], check=True)


if __name__ == "__main__":
    main()
