"""The tables of docs/appendix/english.md, from what was recorded beside this file.

python experiments/english-few-shot/tables.py methods    the methods of results.jsonl, tested on both tests together
python experiments/english-few-shot/tables.py parts      the same on each of the two
python experiments/english-few-shot/tables.py chosen     what was chosen, and scores on dev
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
from friend_training.experiments.results import counts_path, read_results
from friend_training.methods.registry import METHODS
from friend_training.tasks.coreference.metrics import conll_of_links, link_f1_of
from friend_training.tasks.rewriting.metrics import edit_f1_of, needed_em_of, word_em_of

HERE = Path(__file__).parent
SAMPLES = 2000
NAMED = "fdt-merged"
"""The variant of FDT that was named beforehand, on dev."""
AGAINST = ("base", "base-same-steps", "sst", "fdt", "merged-shuffled", "friend-labels", "fdt-shuffled")
ALONE = ("merged-shuffled", "fdt-perfect", "merged-perfect")
"""Methods that teach coreference nothing."""


def main() -> None:
    {"methods": methods, "parts": parts, "chosen": chosen, "peers": peers, "gold": gold}[sys.argv[1]]()


def methods() -> None:
    records = read_results(HERE)
    named = _methods(records)
    seeds = _seeds(records, named)
    base = _counts(records, "base", "rewriting", seeds)
    detectable = f"{_smallest(base, needed_em_of):.1f} needed EM and {_smallest(base, edit_f1_of):.1f} edit F1"
    print(
        f"Seeds: {', '.join(map(str, seeds))}. The smallest difference from Base that this test shows with 80 % power,"
        f" by Base's own noise over dialogues: {detectable}."
    )
    print()
    print("| Method | EM | needed EM | edit F1 | needed EM − Base | edit F1 − Base | link F1 | CoNLL |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for method in named:
        own = _counts(records, method, "rewriting", seeds)
        cells = [_number(metric, own) for metric in (word_em_of, needed_em_of, edit_f1_of)]
        cells += (
            ["", ""] if method == "base" else [_against(own, base, metric) for metric in (needed_em_of, edit_f1_of)]
        )
        links = _counts(records, method, "coreference", seeds)
        cells += ["", ""] if method in ALONE else [_number(link_f1_of, links), _number(conll_of_links, links)]
        print(f"| {METHODS[method].title} | {' | '.join(cells)} |")
    print()
    if NAMED in named:
        ours = _counts(records, NAMED, "rewriting", seeds)
        print(f"| {METHODS[NAMED].title} minus | needed EM | edit F1 | link F1 |")
        print("| --- | ---: | ---: | ---: |")
        links = _counts(records, NAMED, "coreference", seeds)
        for method in AGAINST:
            if method in named:
                own = _counts(records, method, "rewriting", seeds)
                cells = [_against(ours, own, metric) for metric in (needed_em_of, edit_f1_of)]
                others = _counts(records, method, "coreference", seeds)
                cells.append("" if method in ALONE else _against(links, others, link_f1_of))
                print(f"| {METHODS[method].title} | {' | '.join(cells)} |")


def parts() -> None:
    """The half of dev and the test file apart: needed EM and edit F1, means over seeds."""
    records = read_results(HERE)
    named = _methods(records)
    seeds = _seeds(records, named)
    half = _half()
    print("| Method | needed EM, half of dev | test file | edit F1, half of dev | test file |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for method in named:
        own = _counts(records, method, "rewriting", seeds)
        cells = [_number(m, part) for m in (needed_em_of, edit_f1_of) for part in (own[:, :half], own[:, half:])]
        print(f"| {METHODS[method].title} | {' | '.join(cells)} |")


def chosen() -> None:
    """What each method chose of the pool, and the scores on dev that iterations were compared by."""
    print(
        "| Method | seed | rewrites chosen | links chosen | dev edit F1, Base → update | dev link F1, Base → update |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for one in read_results(HERE):
        picked = (one["chosen"] or [{}])[0] or {}
        cells = [str(picked.get(task, {}).get("chosen", "")) for task in ("rewriting", "coreference")]
        for task, metric in (("rewriting", "edit_f1"), ("coreference", "link_f1")):
            cells.append(" → ".join(f"{dev[metric]:.1f}" for dev in one["dev"].get(task, [])))
        print(f"| {METHODS[one['method']].title} | {one['seed']} | {' | '.join(cells)} |")


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


def _methods(records: Sequence[dict[str, Any]]) -> list[str]:
    """Those that have a result of the first seed, in the order of the registry."""
    return [method for method in METHODS if any(one["method"] == method for one in records)]


def _seeds(records: Sequence[dict[str, Any]], named: Sequence[str]) -> list[int]:
    """Those that every method has."""
    done = {(one["method"], one["seed"]) for one in records}
    return [
        seed for seed in sorted({one["seed"] for one in records}) if all((method, seed) in done for method in named)
    ]


def _counts(records: Sequence[dict[str, Any]], method: str, task: str, seeds: Sequence[int]) -> Counts:
    """[seeds, dialogues, k] of both tests."""
    rows = []
    for seed in seeds:
        [config_id] = {one["config_id"] for one in records if (one["method"], one["seed"]) == (method, seed)}
        with np.load(counts_path(HERE, (config_id, method, seed))) as saved:
            rows.append(saved[task])
    return np.stack(rows)


def _half() -> int:
    """How many dialogues of the test are of dev: they stand before those of the test file."""
    found: int = json.loads((HERE / "test_parts.json").read_text(encoding="utf-8"))["dialogues_of_the_half_of_dev"]
    return found


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
