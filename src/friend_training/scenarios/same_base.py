"""Base is trained once: runs that differ only in what comes after it (a figure's thresholds, say) take it over.

So is the Base of all labels, which does not see how few of them the others get. Trained with equal settings, seed, data
and encoder it is the same to the bit, so nothing but time depends on this.
"""

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from friend_training.core.files import atomic_folder
from friend_training.core.run import Run
from friend_training.core.yaml_values import read_yaml
from friend_training.runs.steps import Test
from friend_training.scenarios.config import Config, config_text
from friend_training.scenarios.folders import changed_on_resume, method_folder
from friend_training.scenarios.tasks import TASKS

_SETTINGS = ("seed", "encoder", "max_length", "predicate_mark", "span_source")
_LATER = ("repeated_roles", "insertion_spans", "rewriting_turns", "rewriting_metric")
"""What a config may leave out; decoding and metric decide which look at dev is the best."""
_OF_A_TASK = ("base_steps", "base_patience", "training")
_INFORMED = ("informed", "bridge", "bridge_training")
_AMOUNTS = ("csrl_labels", "rewriting_labels")
_OF_THE_POOL = ("pool", "pool_of", "pool_corpora", "finder", "ltp")


def base_settings(whole: Mapping[str, Any], method: str) -> dict[str, Any]:
    """Of a whole config all that Base, or the Base of all labels, depends on."""
    unseen = (*_OF_THE_POOL, *(_AMOUNTS if method == "base-full" else ()))
    return {
        # An informed Base goes on from what the bridge's sentences taught (informed.py).
        **({name: whole[name] for name in _INFORMED} if whole.get("informed") else {}),
        **{name: whole[name] for name in _SETTINGS},
        **{name: whole.get(name) for name in _LATER},
        "data": {name: value for name, value in whole["data"].items() if name not in unseen},
        "tasks": {task: {name: whole["tasks"][task][name] for name in _OF_A_TASK} for task in TASKS},
    }


def take_over_base(run: Run, config: Config, method: str, others: Iterable[Path]) -> None:
    """Copy it from the first run that has finished the same one; with none, it is trained as always."""
    target = method_folder(run.folder, method)
    if target.exists():
        return
    for other in others:
        if _has_the_same(other, run, config, method):
            with atomic_folder(target) as new:
                shutil.copytree(method_folder(other, method), new, dirs_exist_ok=True)
                (new / "config.yaml").write_text(config_text(config), encoding="utf-8")
                shutil.copy(run.folder / "fingerprints.json", new)  # the other may have drawn other gold
            return


def _has_the_same(other: Path, run: Run, config: Config, method: str) -> bool:
    base = method_folder(other, method)
    if changed_on_resume(other):  # its config does not say which of its parts were trained how
        return False
    if not (base / "run.json").is_file() or any(Run.open(base).result(Test(task)) is None for task in TASKS):
        return False
    seen = [name for name in run.fingerprints if name.startswith(TASKS) and (method == "base" or "gold" not in name)]
    theirs, before = Run.open(other).fingerprints, read_yaml(Run.open(other).config_text, str(other / "config.yaml"))
    same_data = all(theirs.get(name) == run.fingerprints[name] for name in seen)
    return same_data and base_settings(before, method) == base_settings(config.model_dump(mode="json"), method)
