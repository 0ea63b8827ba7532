"""How far ways of choosing are from the fixed mix of match and confidence: MELD and CPED, three friends.

python experiments/emotions/choosing.py prints the table of docs/appendix/choosing-emotions.md: FDT of every variant of
meld-choosing and cped-choosing minus FDT of meld-three and cped-three, on the seeds that both have.
"""

from pathlib import Path

import numpy as np

from friend_training.analysis.significance import paired_bootstrap
from friend_training.core.task import Counts
from friend_training.experiments.results import counts_path, read_results
from friend_training.tasks.class_metrics import macro_f1_of

EXPERIMENTS = Path(__file__).parents[1]
TASKS = ("polarity", "emotion")


def main() -> None:
    print("| | variant | polarity macro F1 | − FDT | emotion macro F1 | − FDT | seeds |")
    print("|---|---|--:|--:|--:|--:|--:|")
    for corpus in ("meld", "cped"):
        plain = _counts(EXPERIMENTS / f"{corpus}-three")[""]
        chosen = _counts(EXPERIMENTS / f"{corpus}-choosing")
        for variant, by_seed in {"the fixed mix": plain, **chosen}.items():
            seeds = sorted(by_seed.keys() & plain.keys())
            cells = []
            for task in TASKS:
                own, fixed = (np.stack([of[seed][task] for seed in seeds]) for of in (by_seed, plain))
                found = paired_bootstrap(own, fixed, lambda counts: 100 * macro_f1_of(counts))
                ahead = f"{found.difference:+.1f} [{found.low:+.1f}, {found.high:+.1f}]"
                ahead += r"\*" if found.significant else ""
                cells += [f"{found.value_a:.1f}", "" if by_seed is plain else ahead]
            print(f"| {corpus.upper()} | {variant.replace('-', ' ')} | {' | '.join(cells)} | {len(seeds)} |")


def _counts(folder: Path) -> dict[str, dict[int, dict[str, Counts]]]:
    """Variant → seed → task → what FDT got right of each test utterance."""
    found: dict[str, dict[int, dict[str, Counts]]] = {}
    for record in read_results(folder):
        if record["method"] == "fdt":
            with np.load(counts_path(folder, (record["config_id"], "fdt", record["seed"]))) as saved:
                counts = {task: saved[task] for task in TASKS}
            found.setdefault(record.get("variant", {}).get("name", ""), {})[record["seed"]] = counts
    return found


if __name__ == "__main__":
    main()
