"""The numbers of experiments/emotions are those of the answers that were counted, and its rules were kept."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from friend_training.tasks.class_metrics import accuracy_of, macro_f1_of

FOLDER = Path(__file__).parents[2] / "experiments" / "emotions"
RECORDS = [json.loads(line) for line in (FOLDER / "results.jsonl").read_text(encoding="utf-8").splitlines()]
TRIALS = [json.loads(line) for line in (FOLDER / "trials.jsonl").read_text(encoding="utf-8").splitlines()]


def test_every_method_has_every_seed_once() -> None:
    found = Counter((one["corpus"], one["method"], one["seed"]) for one in RECORDS)
    methods, seeds = {one["method"] for one in RECORDS}, {one["seed"] for one in RECORDS}
    assert set(found.values()) == {1}
    assert len(found) == 2 * len(methods) * len(seeds)
    assert len(seeds) >= 3


@pytest.mark.parametrize("task", ["polarity", "emotion"])
def test_scores_are_those_of_the_counts(task: str) -> None:
    for one in RECORDS:
        path = FOLDER / "counts" / f"{one['corpus']}-{one['method']}-{task}-{one['seed']}.npz"
        counts = np.load(path)["counts"].astype(float).sum(0)
        assert 100 * float(accuracy_of(counts)) == pytest.approx(one[task]["test"]["accuracy"])
        assert 100 * float(macro_f1_of(counts)) == pytest.approx(one[task]["test"]["macro_f1"])


def test_no_method_had_more_than_four_trials() -> None:
    tried = {(one["corpus"], one["method"], json.dumps(one["setting"])) for one in TRIALS}
    assert set(Counter((corpus, method) for corpus, method, _ in tried).values()) == {4}


def test_a_classifier_that_is_fitted_again_on_gold_is_base() -> None:
    scores = {
        (one["corpus"], one["seed"], one["method"]): (one["polarity"]["test"], one["emotion"]["test"])
        for one in RECORDS
    }
    for (corpus, seed, method), found in scores.items():
        if method == "base-same-steps":
            assert found == scores[corpus, seed, "base"]
