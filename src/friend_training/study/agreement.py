"""What the friends of a run agreed on, beside what the theory expects: ε, dependence and errors, by iteration."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from friend_training.analysis.agreement import agreement_report, measured_epsilon
from friend_training.core.task import Prediction
from friend_training.errors import RunError
from friend_training.friendships.csrl_rewriting import RoleMatcher, csrl_rewriting
from friend_training.runs.run import Run
from friend_training.study.data import Progress, load_data
from friend_training.study.folders import method_folder, run_config, shared_resources
from friend_training.study.resources import encoder_source, make_bridge
from friend_training.types import Dialogue, Rewrite, Roles

LABELS: dict[str, TypeAdapter[Any]] = {"csrl": TypeAdapter(Roles), "rewriting": TypeAdapter(Rewrite)}
ROUNDS = 5


def agreement_of_run(
    folder: Path, method: str, data_dir: Path | None, progress: Progress = lambda done, total: None
) -> list[dict[str, Any]]:
    """One record per iteration. Needs a pool whose gold is known, as that of the synthetic dialogues is.

    Units are predicates (task a is CSRL); the friend is right where the rewrite of the predicate's utterance is.
    Friends agree where m_k = 1. ε is how often they do when each looks at another dialogue.
    """
    config = run_config(folder)
    data = load_data(config, data_dir, progress)
    made_in = Run.open(shared_resources(folder, None) or folder)
    encoder = encoder_source(config, data, made_in)
    bridge = make_bridge(config, data, made_in, encoder, lambda done, total: None)
    friendship = csrl_rewriting(bridge, RoleMatcher(**config.friendship.model_dump()))
    run = Run.open(method_folder(folder, method))
    records: list[dict[str, Any]] = []
    pool = list(data.pool)
    for iteration in run.store.iterations():
        rows = run.store.read(iteration).to_pylist()
        right = {(row["task"], row["unit"]): row["correct"] for row in rows}
        if any(value is None for value in right.values()):
            raise RunError(f"{folder}: the gold labels of its pool are not known, so nothing can be said of errors")
        first, second = (_predictions(rows, pool, task) for task in LABELS)
        chance = measured_epsilon(friendship, pool, first, second, seed=config.seed, rounds=ROUNDS)
        units = [row for row in rows if row["task"] == "csrl" and row["match"] is not None]
        report = agreement_report(
            correct_a=[row["correct"] for row in units],
            correct_b=[right["rewriting", row["input"]] for row in units],
            agreed=[row["match"] == 1.0 for row in units],
            epsilon=chance.epsilon or 0.0,
        )
        records.append({"method": method, "seed": config.seed, "iteration": iteration, **asdict(report)})
    return records


def _predictions(rows: Sequence[dict[str, Any]], pool: Sequence[Dialogue], task: str) -> list[list[Prediction]]:
    """A task's predictions as they were, read back from the store, in the order of the pool."""
    found: dict[str, list[Prediction]] = {dialogue.id: [] for dialogue in pool}
    for row in rows:
        if row["task"] == task:
            label = LABELS[task].validate_json(row["label"])
            found[row["input"]].append(Prediction(row["unit"], label, row["confidence"], row["content"]))
    return [found[dialogue.id] for dialogue in pool]
