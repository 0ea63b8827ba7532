"""The tables of docs/appendix/english.md, from what was recorded beside this file.

python experiments/english-few-shot/tables.py methods    the methods of results.jsonl, tested on both tests together
python experiments/english-few-shot/tables.py peers      copying, CREAD and the gold links on the same turns
python experiments/english-few-shot/tables.py gold       gold links against gold rewrites
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from friend_training.analysis.significance import Comparison, Metric, paired_bootstrap
from friend_training.core.task import Counts
from friend_training.tasks.coreference.metrics import conll_of_links, link_f1_of
from friend_training.tasks.rewriting.metrics import edit_f1_of, needed_em_of, word_em_of

HERE = Path(__file__).parent
PARTS = ("half", "test")
SAMPLES = 2000
TITLES = {
    "base": "Base",
    "base-same-steps": "Base, same steps",
    "sst": "SST",
    "fdt": "FDT",
    "fdt-merged": "FDT, merged labels",
    "fdt-joint": "FDT, joint labels",
    "fdt-shuffled": "FDT, shuffled friend",
    "random-as-many": "random, as many as FDT",
    "sst-as-many": "SST, as many as FDT",
    "friends-labels": "friend's labels as rewrites",
    "fdt-perfect-friend": "FDT, perfect friend",
}


def main() -> None:
    {"methods": methods, "peers": peers, "gold": gold}[sys.argv[1]]()


def methods() -> None:
    records = _records("results.jsonl")
    named = [method for method in TITLES if any(one["method"] == method for one in records)]
    seeds = [
        seed
        for seed in sorted({one["seed"] for one in records})
        if all(any((one["method"], one["seed"]) == (method, seed) for one in records) for method in named)
    ]
    base = _counts("base", "rewriting", seeds)
    detectable = f"{_smallest(base, needed_em_of):.1f} needed EM and {_smallest(base, edit_f1_of):.1f} edit F1"
    print(
        f"Seeds: {', '.join(map(str, seeds))}. The smallest difference from Base that this test shows with 80 % power,"
        f" by Base's own noise over dialogues: {detectable}."
    )
    print()
    print("| Method | EM | needed EM | edit F1 | needed EM − Base | edit F1 − Base | link F1 | CoNLL |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for method in named:
        own = _counts(method, "rewriting", seeds)
        cells = [_number(metric, own) for metric in (word_em_of, needed_em_of, edit_f1_of)]
        cells += (
            ["", ""] if method == "base" else [_against(own, base, metric) for metric in (needed_em_of, edit_f1_of)]
        )
        if method == "friends-labels":  # trains rewriting alone
            cells += ["", ""]
        else:
            links = _counts(method, "coreference", seeds)
            cells += [_number(link_f1_of, links), _number(conll_of_links, links)]
        print(f"| {TITLES[method]} | {' | '.join(cells)} |")
    print()
    ours = _counts("fdt-merged", "rewriting", seeds)
    told = []
    for method in ("sst", "fdt", "fdt-shuffled", "friends-labels"):
        own = _counts(method, "rewriting", seeds)
        told.append(f"{TITLES[method]} {_against(ours, own, needed_em_of)} and {_against(ours, own, edit_f1_of)}")
    print(f"Merged labels, needed EM and edit F1, against {'; '.join(told)}.")


def peers() -> None:
    print("| on both tests | EM | needed EM | edit F1 | changed | right of the changed |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for one in _records("peers.jsonl"):
        names = ("em", "needed_em", "edit_f1", "changed", "changed_precision")
        print(f"| {one['name']} | {' | '.join(f'{one[name]:.1f}' for name in names)} |")


def gold() -> None:
    print(
        "| | utterances | changed | match, utterances | abstains | on changed | match, mentions | abstains | shuffled |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for one in _records("gold_match.jsonl"):
        shares = ("abstains_per_utterance", "abstains_on_changed", "abstains_per_mention")
        whole, changed, mentions = (f"{100 * one[name]:.0f} %" for name in shares)
        scores = [
            f"{one[f'{name}']:.2f}" for name in ("match_per_utterance", "match_per_mention", "shuffled_per_mention")
        ]
        cells = [
            one["part"],
            one["utterances"],
            one["changed"],
            scores[0],
            whole,
            changed,
            scores[1],
            mentions,
            scores[2],
        ]
        print(f"| {' | '.join(map(str, cells))} |")


def _records(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


def _counts(method: str, task: str, seeds: Sequence[int]) -> Counts:
    """[seeds, dialogues, k] of both tests."""
    rows = []
    for seed in seeds:
        with np.load(HERE / "counts" / f"{method}.{seed}.npz") as saved:
            rows.append(np.concatenate([saved[f"{task}.{part}"] for part in PARTS]))
    return np.stack(rows)


def _number(metric: Metric, counts: Counts) -> str:
    values = metric(counts.sum(axis=1))
    spread = f" ± {values.std(ddof=1):.1f}" if len(values) > 1 else ""
    return f"{values.mean():.1f}{spread}"


def _against(own: Counts, base: Counts, metric: Metric) -> str:
    found: Comparison = paired_bootstrap(own, base, metric, samples=SAMPLES)
    return f"{found.difference:+.1f} [{found.low:+.1f}, {found.high:+.1f}]{'*' if found.significant else ''}"


def _smallest(counts: Counts, metric: Metric) -> float:
    """2.8 standard errors (5 % two-sided, 80 % power) of the difference of two answers that are independent of each
    other given the test: Base's own counts, of which either answer has half of the dialogues' noise."""
    draw = np.random.default_rng(0)
    dialogues = counts.shape[1]
    values = [metric(counts[0, draw.integers(dialogues, size=dialogues)].sum(axis=0)) for _ in range(SAMPLES)]
    return 2.8 * float(np.std(values))


if __name__ == "__main__":
    main()
