"""Walk one unlabeled dialogue from its file to its line of results, and count how far it is: python benchmarks/walk.py.

A hop is a call from one file of ours into a function of another, each pair of caller and callee once. A room is a
folder directly below the package; a hop from one into another is a change of room. The dialogue is the pool of the
smallest study: method fdt, one iteration. Calls are heard by sys.setprofile in all threads; one that passes through a
library on its way (torch calls `forward`) counts for the function of ours that began it.

    --list          all hops, in the order in which they were met first
    --record NAME   keep the figures under this name in results/walk.json

What runs is the command `friend-train run` of the package that is imported: with PYTHONPATH set to its src, the script
walks through an older state of the house too. The way of the dialogue is all that happens until the run has read its
data, and from the start of fdt until its line of results is written: encoder, bridge and Base are made in between,
report and table afterwards. These and the making of synthetic dialogues only count for the whole run.
"""

import argparse
import contextlib
import io
import json
import os
import sys
import tempfile
import threading
from collections.abc import Collection
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

RESULTS = Path(__file__).parent / "results" / "walk.json"

TRAINING = """\
{batch_size: 4, encoder_rate: 0.003, head_rate: 0.003, weight_decay: 0.01, warm_up: 0.1, clip: 1.0, look_every: 1,
   early_stopping_units: 4, labelling_pieces: 600}"""
TASK = """\
{base_steps: 1, base_patience: null, update_steps: 1, restart: false, pseudo_weight: 0.5, pick_threshold: 0.0,
   sst_threshold: 0.0, confidence_weight: 0.2, content: any, training: *training}"""
CONFIG = f"""
name: walk
seed: 1
threads: 1
methods: [base, fdt]
data: {{kind: embedded, domain: film, target: film, csrl_labels: 4, rewriting_labels: 4, dev: 2, test: 2, pool: 1,
  bridge_sentences: 8}}
encoder: {{kind: scratch, layers: 1, width: 32, heads: 2, dropout: 0.1}}
bridge: {{kind: trained, steps: 1, patience: null, dev: 2}}
bridge_training: &training
  {TRAINING}
max_length: 125
predicate_mark: after
span_source: dialogue
iterations: 1
shard_size: 8
tasks:
  csrl: &task
    {TASK}
  rewriting: *task
friendship: {{scoring: paper, mean: geometric, speakers: keep}}
"""


class Hop(NamedTuple):
    """Files below the package, and the functions in them."""

    caller: str
    calling: str
    callee: str
    called: str

    def __str__(self) -> str:
        return f"{self.caller}:{self.calling} -> {self.callee}:{self.called}"

    def changes_room(self) -> bool:
        return _room(self.caller) != _room(self.callee)

    def makes_dialogues(self) -> bool:
        return any(folder in f"/{file}" for file in (self.caller, self.callee) for folder in MAKES_DIALOGUES)


MAKES_DIALOGUES = ("/corpora/embedded/", "/data/synthetic/")
"""The folder that makes synthetic dialogues, as it is called today and was called before."""


def _room(file: str) -> str:
    return file.split("/")[0]


class Walk:
    """Hears every call and keeps the first of each pair of functions in different files of the package."""

    def __init__(self, package: Path, run: Path) -> None:
        self.prefix = f"{package}{os.sep}"
        self.ends = [str(run / name) for name in ("run.json", "methods/fdt/run.json", "results.jsonl")]
        self.way: dict[Hop, None] = {}
        self.whole: dict[Hop, None] = {}
        self.known: set[tuple[CodeType, CodeType, bool]] = set()

    def hear(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or not self._ours(frame) or frame.f_lasti > STARTED:
            return
        while self.ends and os.path.exists(self.ends[0]):
            del self.ends[0]
        on_its_way = len(self.ends) in (3, 1)
        caller = frame.f_back
        while caller is not None and not self._ours(caller):
            caller = caller.f_back
        if caller is None or (caller.f_code, frame.f_code, on_its_way) in self.known:
            return
        self.known.add((caller.f_code, frame.f_code, on_its_way))
        hop = Hop(self._file(caller), _function(caller), self._file(frame), _function(frame))
        if hop.caller != hop.callee and "<module>" not in (hop.calling, hop.called):
            self.whole[hop] = None
            if on_its_way and not hop.makes_dialogues():
                self.way[hop] = None

    def _ours(self, frame: FrameType) -> bool:
        return frame.f_code.co_filename.startswith(self.prefix)

    def _file(self, frame: FrameType) -> str:
        return Path(frame.f_code.co_filename.removeprefix(self.prefix)).as_posix()


STARTED = 8
"""A generator that goes on is heard as a call too: its last instruction is then beyond its first few."""


def _function(frame: FrameType) -> str:
    """The function a person would look for: a lambda, a comprehension or an inner function belongs to its outer one."""
    return frame.f_code.co_qualname.split(".<locals>")[0].removesuffix(".<lambda>")


def walk() -> Walk:
    import friend_training
    from friend_training.cli.main import main

    with tempfile.TemporaryDirectory() as place:
        heard = Walk(Path(friend_training.__file__).parent, Path(place) / "run")
        config = Path(place) / "walk.yaml"
        config.write_text(CONFIG, encoding="utf-8")
        output = io.StringIO()
        threading.setprofile(heard.hear)
        sys.setprofile(heard.hear)
        try:
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                main(["run", str(config), "--out", str(Path(place) / "run")])
        except SystemExit as stopped:
            if stopped.code:
                raise RuntimeError(output.getvalue()) from None
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        assert (Path(place) / "run" / "results.jsonl").is_file(), "the walk did not arrive"
    return heard


def figures(hops: Collection[Hop]) -> dict[str, int]:
    return {
        "hops": len(hops),
        "files": len({file for hop in hops for file in (hop.caller, hop.callee)}),
        "changes of room": sum(hop.changes_room() for hop in hops),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--record", metavar="NAME")
    given = parser.parse_args()
    heard = walk()
    if given.list:
        print(*heard.way, sep="\n")
    found = {"way of the dialogue": figures(heard.way), "whole run": figures(heard.whole)}
    for part, counts in found.items():
        print(f"{part}: " + ", ".join(f"{count} {name}" for name, count in counts.items()))
    if given.record:
        recorded = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
        recorded[given.record] = found
        RESULTS.write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
