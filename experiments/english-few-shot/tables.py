"""The tables of docs/appendix/english.md: python experiments/english-few-shot/tables.py --runs FOLDER [--record FILE].

`--runs` is the folder that run.py wrote the counts of each method and seed to. CREAD's predictions are read beside the
rewrites of the data folder.
"""

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from run import HERE

from friend_training.analysis.significance import Comparison, paired_bootstrap
from friend_training.core.counts import Counts, Evaluation
from friend_training.core.limits import Limits
from friend_training.data.catalogue import part_path
from friend_training.data.readers.english import plain_english
from friend_training.data.text_io import open_content
from friend_training.tasks.coreference.metrics import conll_of_links, link_f1_of
from friend_training.tasks.rewriting.metrics import WordScore, edit_f1_of, needed_em_of, word_em_of
from friend_training.tasks.rewriting.word_task import score_words
from friend_training.types import dialogue_group
from study import METHODS, Data, mudoco

SAMPLES = 2000


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--record", type=Path, default=HERE / "results.jsonl")
    given = parser.parse_args()
    records = [json.loads(line) for line in given.record.read_text(encoding="utf-8").splitlines()]
    methods = [method for method in METHODS if any(one["method"] == method for one in records)]
    seeds = sorted({one["seed"] for one in records})
    whole = [seed for seed in seeds if all(_path(given.runs, seed, m, "rewriting", "test").exists() for m in methods)]
    print(f"Seeds {', '.join(map(str, whole))}, tested on the half of dev and the test file together.\n")
    print("| | EM | needed EM | edit F1 | against base: needed EM | edit F1 | link F1 | CoNLL |")
    print("|---|---|---|---|---|---|---|---|")
    base = _counts(given.runs, whole, "base", "rewriting")
    for method in methods:
        own = _counts(given.runs, whole, method, "rewriting")
        cells = [_number(word_em_of, own), _number(needed_em_of, own), _number(edit_f1_of, own)]
        cells += [_against(own, base, needed_em_of), _against(own, base, edit_f1_of)]
        if _path(given.runs, whole[0], method, "coreference", "test").exists():
            links = _counts(given.runs, whole, method, "coreference")
            cells += [_number(link_f1_of, links), _number(conll_of_links, links)]
        else:
            cells += ["", ""]
        print(f"| {method} | {' | '.join(cells)} |")
    print()
    _peers(mudoco(Path(os.environ["FRIEND_TRAINING_DATA"])))


def _path(runs: Path, seed: int, method: str, task: str, part: str) -> Path:
    return runs / f"seed-{seed}" / f"{method}.{task}.{part}.npy"


def _counts(runs: Path, seeds: Sequence[int], method: str, task: str) -> Counts:
    """[seeds, dialogues, k] of both tests."""
    rows = [
        np.concatenate([np.load(_path(runs, seed, method, task, part)) for part in ("half", "test")]) for seed in seeds
    ]
    return np.stack(rows)


def _number(metric: Any, counts: Counts) -> str:
    values = metric(counts.sum(axis=1))
    spread = f" ± {values.std(ddof=1):.1f}" if len(values) > 1 else ""
    return f"{values.mean():.1f}{spread}"


def _against(own: Counts, base: Counts, metric: Any) -> str:
    if own is base or np.array_equal(own, base):
        return ""
    found: Comparison = paired_bootstrap(own, base, metric, samples=SAMPLES)
    return f"{found.difference:+.1f} [{found.low:+.1f}, {found.high:+.1f}]{' *' if found.significant else ''}"


def _peers(data: Data) -> None:
    """Copying every turn, and CREAD (GPT-2, trained on all rewrites), by our metric on the same turns."""
    said = _cread()
    print("| on the same turns | EM | needed EM | edit F1 | changed | right of the changed |")
    print("|---|---|---|---|---|---|")
    ids = [*data.half, *data.test]
    gold = [data.rewrites[id] for id in ids]
    copied = [example.dialogue.utterance.text for example in gold]
    cread = [said.get(id) or copy for id, copy in zip(ids, copied, strict=True)]
    for name, texts in (("every turn as it is", copied), ("CREAD", cread)):
        groups = [dialogue_group(id) for id in ids]
        found = Evaluation.of(score_words(texts, gold), WordScore(), groups)
        cells = [f"{found[key]:.1f}" for key in ("em", "needed_em", "edit_f1", "changed", "changed_precision")]
        print(f"| {name} | {' | '.join(cells)} |")


def _cread() -> dict[str, str]:
    """CREAD's rewrites by id; a turn that it copies is left out, for it copies its own spelling of it."""
    found = {}
    for part in ("dev", "test"):
        path = part_path(f"mudoco-qr/{part}", os.environ["FRIEND_TRAINING_DATA"])
        beside = path.with_name(path.name.replace("rewrites", "cread_predictions"))
        with open_content(beside, Limits.from_environment()) as content:
            for line in content.lines():
                given = json.loads(line)
                if not given["QR_HYP"].startswith("<CUR>"):
                    found[f"{given['dialog_id']}/turn{given['number']}"] = plain_english(given["QR_HYP"])
    return found


if __name__ == "__main__":
    main()
