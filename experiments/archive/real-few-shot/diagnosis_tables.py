"""The diagnoses of the few-shot runs as tables: `friend-train diagnose RUN` of each seed, put together.

python experiments/archive/real-few-shot/diagnosis_tables.py
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

HERE = Path(__file__).parent
WORDS = {"csrl": "CSRL", "rewriting": "rewriting"}

Records = list[dict[str, Any]]


def main() -> None:
    lines = (HERE / "diagnosis.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    print("\n\n".join("\n".join(table(records)) for table in (strict, quality, pair)))


def strict(records: Records) -> Iterator[str]:
    """How many labels are right among the best few, by match and confidence · by confidence; a column per seed."""
    seeds = [record["seed"] for record in records]
    yield f"| Task | best | {' | '.join(f'seed {seed}' for seed in seeds)} | mean |"
    yield "|---|--:|" + "--:|" * (len(seeds) + 1)
    for task, words in WORDS.items():
        for place, share in enumerate(one["share"] for one in records[0]["tasks"][task]["strictness"]):
            found = [record["tasks"][task]["strictness"][place] for record in records]
            cells = [_two(one["by_match"], one["by_confidence"]) for one in found]
            mean = _two(fmean(one["by_match"] for one in found), fmean(one["by_confidence"] for one in found))
            yield f"| {words} | {100 * share:.0f} % | {' | '.join(cells)} | {mean} |"


def quality(records: Records) -> Iterator[str]:
    yield "| Rule (CSRL) | predicates | F1, own labels | F1, merged labels | new in merged labels |"
    yield "|---|--:|--:|--:|--:|"
    for place, rule in enumerate(one["rule"] for one in records[0]["label_quality"]):
        found = [record["label_quality"][place] for record in records]
        by_seed = [" · ".join(f"{one[name]:.1f}" for one in found) for name in ("own", "merged", "new")]
        yield f"| {rule} | {found[0]['units']} | {' | '.join(by_seed)} |"


def pair(records: Records) -> Iterator[str]:
    heads = "Seed | ε | CSRL right | rewrite right | errors correlate (φ) | agree | error of the agreed"
    yield f"| {heads} | formula for independent errors |"
    yield "|--:|" + "--:|" * 7
    percent: Callable[[float], str] = "{:.1%}".format
    for one in records:
        phi = f"{one['error_correlation']:.2f} ± {one['error_correlation_se']:.2f}"
        right = [percent(one["tasks"]["csrl"]["accuracy"]), percent(one["friend_accuracy"])]
        agreed = [percent(one[name]) for name in ("agreed", "error_when_agreed", "corrected_error")]
        yield f"| {one['seed']} | {one['epsilon']:.3f} | {' | '.join([*right, phi, *agreed])} |"


def _two(by_match: float, by_confidence: float) -> str:
    return f"{100 * by_match:.0f} · {100 * by_confidence:.0f}"


if __name__ == "__main__":
    main()
