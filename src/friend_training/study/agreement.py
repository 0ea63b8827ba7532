"""What the friends of a run agreed on, beside what the theory expects: ε, dependence and errors, by iteration."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from friend_training.analysis.agreement import agreement_report, measured_epsilon
from friend_training.bridges.bridge import CachedBridge
from friend_training.errors import RunError
from friend_training.friendships.csrl_rewriting import RoleMatcher, csrl_rewriting
from friend_training.runs.inputs import all_inputs
from friend_training.runs.run import Run
from friend_training.runs.store import predictions_of
from friend_training.study.config import case_study
from friend_training.study.folders import method_folder, run_config
from friend_training.study.open import ensure_inputs
from friend_training.study.resources import CACHED_ANSWERS, open_bridge
from friend_training.study.run_data import Progress
from friend_training.types import Dialogue, Rewrite, Roles

LABELS = {"csrl": Roles, "rewriting": Rewrite}
ROUNDS = 5


def agreement_of_run(
    folder: Path, method: str, data_dir: Path | None, progress: Progress = lambda done, total: None
) -> list[dict[str, Any]]:
    """One record per iteration. Needs a pool whose gold is known, as that of the synthetic dialogues is.

    Units are predicates (task a is CSRL); the friend is right where the rewrite of the predicate's utterance is.
    Friends agree where m_k = 1. ε is how often they do when each looks at another dialogue.
    """
    config = case_study(run_config(folder))
    ensure_inputs(folder, data_dir, progress)
    pool = [TypeAdapter(Dialogue).validate_json(text) for text in all_inputs(folder)["input"].to_pylist()]
    bridge = CachedBridge(open_bridge(folder, config), max_entries=CACHED_ANSWERS)
    friendship = csrl_rewriting(bridge, RoleMatcher(**config.friendship.model_dump()))
    run = Run.open(method_folder(folder, method))
    records: list[dict[str, Any]] = []
    for iteration in run.store.iterations():
        table = run.store.read(iteration)
        rows = table.to_pylist()
        right = {(row["task"], row["unit"]): row["correct"] for row in rows}
        if any(value is None for value in right.values()):
            raise RunError(f"{folder}: the gold labels of its pool are not known, so nothing can be said of errors")
        said = predictions_of(table, LABELS, [dialogue.id for dialogue in pool])
        chance = measured_epsilon(friendship, pool, said["csrl"], said["rewriting"], seed=config.seed, rounds=ROUNDS)
        units = [row for row in rows if row["task"] == "csrl" and row["match"] is not None]
        report = agreement_report(
            correct_a=[row["correct"] for row in units],
            correct_b=[right["rewriting", row["input"]] for row in units],
            agreed=[row["match"] == 1.0 for row in units],
            epsilon=chance.epsilon or 0.0,
        )
        records.append({"method": method, "seed": config.seed, "iteration": iteration, **asdict(report)})
    return records
