"""The numbers of experiments/archive/emotions are those of the answers that were counted, and its rules were kept."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from friend_training.tasks.class_metrics import accuracy_of, macro_f1_of

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
FOLDER = EXPERIMENTS / "archive" / "emotions"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


RECORDS, TRIALS = lines(FOLDER / "results.jsonl"), lines(EXPERIMENTS / "emotions" / "trials.jsonl")


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


@pytest.mark.parametrize("corpus", ["meld", "cped"])
def test_the_experiment_files_give_what_the_programs_before_them_gave(corpus: str) -> None:
    """All but the shuffled friend, who is drawn from a whole pool now."""
    before = {(one["method"], one["seed"]): one for one in RECORDS if one["corpus"] == corpus}
    again = {"": corpus, "-three": f"{corpus}-three"}
    found = 0
    for suffix, name in again.items():
        for record in lines(EXPERIMENTS / name / "results.jsonl"):
            method = f"fdt{suffix}" if record["method"] == "fdt" else record["method"]
            old = before.get((method, record["seed"]))
            if old is not None and method != "fdt-shuffled":
                for task in ("polarity", "emotion"):
                    assert record["metrics"][f"{task}.macro_f1"] == pytest.approx(
                        old[task]["test"]["macro_f1"], abs=0.01
                    )
                found += 1
    assert found > 30
