"""Why a second iteration helps CSRL and the friend does not help rewriting, measured on dev as if it had no labels.

How good CSRL's labels are, by who has made them, before the first and before the second update of fdt-checked; how well
a rewrite is judged by its own confidence, by its friend, and by both; and what is wrong with the rewrites that are
wrong. For diagnosis: nothing goes back into training.

    python experiments/diagnosis/second_iteration.py RUNS   # the experiment's runs: has seed-1, seed-2, …
    python experiments/diagnosis/second_iteration.py        # only print the tables

For the other domain, whose experiment has the same methods:
--experiment experiments/real-domain-generalisation-iterated
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata
from seeds import ALL_OF_DEV, by_seed, config_and_data, measured_seeds
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict

from friend_training.bridges.bridge import Bridge
from friend_training.core.task import Prediction
from friend_training.friendships.bridge_quality import bridge_roles
from friend_training.friendships.csrl_rewriting import RoleMatcher, csrl_rewriting
from friend_training.friendships.joint_labels import CheckedRoles, WithoutPronouns
from friend_training.nn.task import TorchTask
from friend_training.runs.checkpoints import load_checkpoint
from friend_training.runs.run import Run
from friend_training.runs.steps import Train
from friend_training.study.folders import method_folder
from friend_training.study.kinds import Given, make_task
from friend_training.study.plans import probed_inputs
from friend_training.study.resources import open_bridge
from friend_training.study.sections import Config
from friend_training.tasks.csrl.metrics import score
from friend_training.tasks.rewriting.edits import build_script
from friend_training.types import SPEAKER, CsrlExample, Dialogue, Rewrite, RewritingExample, Roles

Numbers = dict[str, list[float]]
"""What is measured, by its name in the table."""


def main() -> None:
    records = measured_seeds(measure, "real-few-shot-iterated/second_iteration.jsonl", __doc__)
    print(by_seed("CSRL's labels of dev: F1, and F1 across turns", records, "labels"), end="\n\n")
    print(by_seed("a right rewrite stands before a wrong one, judged by", records, "judges"), end="\n\n")
    print(by_seed("rewrites of dev, of 1,000", records, "errors", ".0f"))


def measure(study: Path, data_dir: Path | None) -> dict[str, Any]:
    """All that is measured of one seed: its Base, and its friends before the second update."""
    config, data = config_and_data(study, data_dir, dev=ALL_OF_DEV)
    bridge = open_bridge(study, config)
    dialogues = probed_inputs(config, data, "rewriting")
    found: dict[str, Any] = {"seed": config.seed, "labels": {}, "judges": {}, "errors": {}}
    for iteration, when in ((0, "first"), (1, "second")):
        csrl, rewriting = (_model(study, config, name, iteration) for name in ("csrl", "rewriting"))
        made = labels(data.tasks["csrl"].dev, bridge, csrl, rewriting)
        judged = judges(data.tasks["rewriting"].dev, dialogues, csrl, rewriting, _friendship(config, bridge))
        wrong = errors(data.tasks["rewriting"].dev, dialogues, rewriting)
        for what, numbers in (("labels", made), ("judges", judged), ("errors", wrong)):
            found[what] |= {f"{when} update: {name}": value for name, value in numbers.items()}
    return found


def labels(gold: Sequence[CsrlExample], bridge: Bridge, csrl: TorchTask, rewriting: TorchTask) -> Numbers:
    """What CSRL would be trained on; unsure spans count as no arguments."""
    inputs = [example.dialogue for example in gold]
    roles, rewrites = csrl.predict(inputs), rewriting.predict(inputs)
    made: dict[str, Sequence[Sequence[Roles]]] = {
        "CSRL's own": [[unit.label for unit in units] for units in roles],
        "the bridge's": bridge_roles(WithoutPronouns(bridge), inputs),
    }
    for name, check in (("unchecked", "none"), ("fdt-checked", "friend")):
        checked = CheckedRoles(bridge, check, "resolved")(inputs, roles, (), rewrites)  # type: ignore[arg-type]
        made[name] = [[unit.label for unit in units] for units in checked]
    right = [label for example in gold for label in example.roles]
    asked = [example.dialogue for example in gold for _ in example.roles]
    scores = {name: score([x for units in said for x in units], right, asked).as_dict() for name, said in made.items()}
    return {name: [one["f1"], one["cross_f1"]] for name, one in scores.items()}


def judges(
    gold: Sequence[RewritingExample], dialogues: Sequence[Dialogue], csrl: TorchTask, rewriting: TorchTask, matched: Any
) -> Numbers:
    """The area under the ROC curve for rewrites that insert something; both together by a regression, ten-fold."""
    made, roles = rewriting.predict(dialogues), csrl.predict(dialogues)
    matches = matched.match(dialogues, roles, made)
    rows, right = [], []
    for example, dialogue, [unit], units, match in zip(gold, dialogues, made, roles, matches, strict=True):
        if unit.content:
            rows.append([unit.confidence, match.second[0], *how_roles_fit(dialogue, unit.label, units)])
            right.append(unit.label.text == example.rewrite)
    table, is_right = np.array(rows, np.float64), np.array(right)
    table[:, 0] = rankdata(table[:, 0]) / len(table)  # most confidences are nearly 0 or 1: their order is what counts
    unmatched = np.isnan(table[:, 1])
    table[unmatched, 1] = table[~unmatched, 1].mean()
    table = np.column_stack([table, unmatched])

    def together(*columns: int) -> list[float]:
        learner = LogisticRegression(C=10.0)
        chances = cross_val_predict(learner, table[:, columns], is_right, cv=10, method="predict_proba")
        return _auc(is_right, chances[:, 1])

    return {
        "confidence": _auc(is_right, table[:, 0]),
        "match": _auc(is_right, table[:, 1]),
        "confidence and match": together(0, 1, 5),
        "whether CSRL has what is inserted": together(2, 3, 4, 5),
        "confidence, match and that": together(0, 1, 2, 3, 4, 5),
    }


def how_roles_fit(dialogue: Dialogue, rewrite: Rewrite, units: Sequence[Prediction]) -> tuple[bool, bool, bool]:
    """Whether CSRL's arguments in other turns read as what is inserted, as part of it, or as something else."""
    current = len(dialogue.turns) - 1
    said = [a for unit in units for a in unit.label.arguments if a.turn != current and a.start != SPEAKER]
    across = [dialogue.turns[a.turn].text[a.start : a.end] for a in said]
    inserted = [dialogue.turns[i.turn].text[i.start : i.end] for i in rewrite.insertions]
    same = any(text in across for text in inserted)
    part = not same and any(one in other or other in one for one in inserted for other in across)
    return same, part, bool(across) and not same and not part


def _auc(right: npt.NDArray[np.bool_], scores: npt.NDArray[np.float64]) -> list[float]:
    return [100 * float(roc_auc_score(right, scores))]


def errors(gold: Sequence[RewritingExample], dialogues: Sequence[Dialogue], rewriting: TorchTask) -> Numbers:
    found: Counter[str] = Counter()
    for example, [unit] in zip(gold, rewriting.predict(dialogues), strict=True):
        found[_error(example, unit.label)] += 1
    kinds = ("right", "inserts nothing", "right place, other text", "right text, other place", "anything else")
    return {kind: [found[kind]] for kind in (*kinds, "no edits can build it")}


def _error(example: RewritingExample, made: Rewrite) -> str:
    wanted = build_script(example.dialogue, example.rewrite, span_source="dialogue")
    if made.text == example.rewrite:
        return "right"
    if wanted is None:
        return "no edits can build it"
    if not made.insertions:
        return "inserts nothing"
    here, there = (_by_place(example.dialogue, one) for one in (made, wanted))
    if here.keys() == there.keys() and here != there:
        return "right place, other text"
    if here.keys() != there.keys() and sorted(here.values()) == sorted(there.values()):
        return "right text, other place"
    return "anything else"


def _by_place(dialogue: Dialogue, rewrite: Rewrite) -> dict[int, str]:
    return {i.before: dialogue.turns[i.turn].text[i.start : i.end] for i in rewrite.insertions}


def _model(study: Path, config: Config, name: str, iteration: int) -> TorchTask:
    run = Run.open(method_folder(study, "fdt-checked"))
    task = make_task(config, name, Given(run.checkpoint(name, iteration)))
    load_checkpoint(task, run.checkpoint(name, iteration), digest=run.require(Train(name, iteration))["digest"])
    return task


def _friendship(config: Config, bridge: Bridge) -> Any:
    return csrl_rewriting(bridge, RoleMatcher(**config.friendship.model_dump()))


if __name__ == "__main__":
    main()
