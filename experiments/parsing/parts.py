"""How right the parts are that friends confirm, and those that they dispute, by the Bases of an experiment on dev.

python experiments/parsing/parts.py RUN --data-dir OUT       measure one run (RUNS/parsing/three-friends/seed-1), append
python experiments/parsing/parts.py                          print the table of parts.jsonl, means over seeds
"""

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from friend_training.errors import DataError
from friend_training.friendships.parsing import disputed_arcs, disputed_phrases, disputed_preterminals, disputed_tags
from friend_training.study.data import load_data
from friend_training.study.folders import run_config
from friend_training.study.open import open_task
from friend_training.types import Tree

RESULTS = Path(__file__).parent / "parts.jsonl"
Right = list[bool]


def measure(run: Path, data_dir: Path) -> dict[str, Any]:
    config = run_config(run)
    data = load_data(config, data_dir)
    dev = {name: examples.dev for name, examples in data.tasks.items()}
    inputs = [example.words for example in dev["constituency"]]
    for name, examples in dev.items():
        if [example.words for example in examples] != inputs:
            raise DataError(f"dev of {name} and of constituency are not the same sentences")
    said = {name: open_task(run, name, "base").task.predict(inputs) for name in dev}
    trees, arcs, tags = said["constituency"], said["dependency"], said["tagging"]
    gold_trees = [example.tree for example in dev["constituency"]]
    gold_heads = [example.heads.heads for example in dev["dependency"]]
    gold_tags = [tree.tags for tree in gold_trees]
    found: dict[str, tuple[Right, Right]] = {
        "arcs, by the tree": _words(disputed_arcs(inputs, arcs, [], trees), "heads", "unsure", gold_heads),
        "tags, by the tree": _words(disputed_tags(inputs, tags, [], trees), "tags", "unsure", gold_tags),
        "tags of trees, by the tagger": _words(
            disputed_preterminals(inputs, trees, [], tags), "tags", "unsure_tags", gold_tags
        ),
    }
    settled = disputed_phrases(inputs, trees, [], arcs)
    phrases: tuple[Right, Right] = ([], [])
    beside: Right = []
    for (own,), (kept,), gold in zip(trees, settled, gold_trees, strict=True):
        left = {bracket for bracket in kept.label.brackets if bracket.end - bracket.start > 1}
        spans = {(bracket.start, bracket.end) for bracket in own.label.brackets}
        for bracket in own.label.brackets:
            if bracket.end - bracket.start > 1:
                phrases[bracket not in left].append(bracket in gold.brackets)
        beside += [span in _spans(gold) for span in kept.label.unsure if span not in spans]
    found["phrases, by the arcs"] = phrases
    record: dict[str, Any] = {"name": config.name, "seed": config.seed, "method": "base", "sentences": len(inputs)}
    record["fingerprints"] = {name: value for name, value in data.fingerprints().items() if name.endswith("_dev")}
    record["parts"] = {
        what: {"confirmed": _told(confirmed), "disputed": _told(disputed)}
        for what, (confirmed, disputed) in found.items()
    }
    record["parts"]["phrases that only the arcs have"] = {"disputed": _told(beside)}
    return record


def _spans(tree: Tree) -> set[tuple[int, int]]:
    return {(bracket.start, bracket.end) for bracket in tree.brackets}


def _words(
    settled: Sequence[Sequence[Any]], said: str, unsure: str, gold: Sequence[Sequence[Any]]
) -> tuple[Right, Right]:
    parts: tuple[Right, Right] = ([], [])
    for (unit,), right in zip(settled, gold, strict=True):
        for word, pair in enumerate(zip(getattr(unit.label, said), right, strict=True)):
            parts[word in getattr(unit.label, unsure)].append(pair[0] == pair[1])
    return parts


def _told(right: Right) -> dict[str, float]:
    return {"parts": len(right), "right": sum(right) / len(right) if right else 0.0}


def table() -> None:
    records = [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]
    print("| parts, and who is asked | confirmed | right | disputed | right |\n|---|--:|--:|--:|--:|")
    for what in records[0]["parts"]:
        own = [record["parts"][what] for record in records]
        print(f"| {what} | {' | '.join([*_cells(own, 'confirmed'), *_cells(own, 'disputed')])} |")
    seeds = ", ".join(str(record["seed"]) for record in records)
    print(f"\n{records[0]['sentences']} sentences of dev, Base of seed {seeds}.")


def _cells(parts: Iterable[dict[str, Any]], which: str) -> list[str]:
    told = [one[which] for one in parts if which in one]
    if not told:
        return ["–", "–"]
    return [f"{fmean(one['parts'] for one in told):.0f}", f"{100 * fmean(one['right'] for one in told):.1f} %"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", nargs="?", type=Path)
    parser.add_argument("--data-dir", type=Path)
    asked = parser.parse_args()
    if asked.run is not None:
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(measure(asked.run, asked.data_dir)) + "\n")
    table()
