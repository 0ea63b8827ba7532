"""How often CSRL has something to say of a rewrite, and how often it is right, measured on dev as if it had no labels.

A rewrite brings words of earlier turns into u_t; CSRL says which words of earlier turns are arguments of u_t's
predicates. Rewrites of Base that insert something are sorted by how that fits with what Base's CSRL says: it has just
what is inserted, a part of it or more, only other words, or nothing at all in other turns. For diagnosis: nothing goes
back into training.

    python experiments/diagnosis/friend_of_rewrites.py RUNS   # the experiment's runs: has seed-1, …
    python experiments/diagnosis/friend_of_rewrites.py        # only print the table
"""

from pathlib import Path
from typing import Any

import numpy as np
from second_iteration import how_roles_fit
from seeds import ALL_OF_DEV, by_seed, config_and_data, measured_seeds

from friend_training.study.open import open_task
from friend_training.study.plans import probed_inputs

KINDS = ("just what is inserted", "a part of it, or more", "only other words", "nothing in other turns")


def main() -> None:
    records = measured_seeds(measure, "real-few-shot-iterated/friend_of_rewrites.jsonl", __doc__)
    print(by_seed("CSRL has: of 100 rewrites · right of 100, surer half · other half", records, "rewrites"))


def measure(study: Path, data_dir: Path | None) -> dict[str, Any]:
    config, data = config_and_data(study, data_dir, dev=ALL_OF_DEV)
    dialogues = probed_inputs(config, data, "rewriting")
    roles, made = (open_task(study, name, "base").task.predict(dialogues) for name in ("csrl", "rewriting"))
    says = np.array([unit.content for [unit] in made])
    sure = np.array([unit.confidence for [unit] in made])
    right = np.array(
        [unit.label.text == e.rewrite for [unit], e in zip(made, data.tasks["rewriting"].dev, strict=True)]
    )
    surer = sure >= np.median(sure[says])
    rows = [how_roles_fit(d, unit.label, units) for d, [unit], units in zip(dialogues, made, roles, strict=True)]
    table = np.array(rows)  # [dialogues, 3]: just that, part of it, other words
    kinds = zip(KINDS, [*table.T, ~table.any(axis=1)], strict=True)
    found = {
        name: [100 * float(kind[says].mean()), *(_percent(right, kind & says & half) for half in (surer, ~surer))]
        for name, kind in kinds
    }
    return {"seed": config.seed, "rewrites": found}


def _percent(right: Any, of: Any) -> float:
    return 100 * float(right[of].mean()) if of.any() else float("nan")


if __name__ == "__main__":
    main()
