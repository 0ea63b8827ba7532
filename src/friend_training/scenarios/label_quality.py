"""How good CSRL's chosen labels are, argument by argument, and how much in them is new to the model.

As a whole a label is right or wrong, and after a hundred gold labels hardly any is right; their F1 tells more. And a
label that the model gives by itself teaches it nothing but to be surer: new is what only its friend says.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from friend_training.core.selector import BoolColumn
from friend_training.core.task import Prediction
from friend_training.examples import CsrlExample
from friend_training.scenarios.choices import Choices
from friend_training.tasks.csrl.metrics import score


@dataclass(frozen=True, slots=True)
class LabelQuality:
    """Of the units that a rule chooses: F1 of CSRL's own labels and of the merged ones, and what is new in these.

    `new` is the share of merged arguments that CSRL does not give by itself; numbers are percentages.
    """

    rule: str
    units: int
    own: float
    merged: float
    new: float


def label_quality(
    own: Sequence[Sequence[Prediction]],
    merged: Sequence[Sequence[Prediction]],
    gold: Sequence[CsrlExample],
    made: Choices,
) -> list[LabelQuality]:
    rules = [("all", np.ones_like(made.right)), *((rule.rule, rule.chosen) for rule in made.rules)]
    dialogues = [example.dialogue for example in gold for _ in example.roles]
    right = [roles for example in gold for roles in example.roles]
    alone, both = ([unit.label for units in said for unit in units] for said in (own, merged))

    def measured(rule: str, chosen: BoolColumn) -> LabelQuality:
        of = [place for place, holds in enumerate(chosen) if holds]
        asked = [dialogues[place] for place in of]
        a, b, g = ([labels[place] for place in of] for labels in (alone, both, right))
        new = 100 - score(b, a, asked).as_dict()["precision"]
        return LabelQuality(rule, len(of), score(a, g, asked).as_dict()["f1"], score(b, g, asked).as_dict()["f1"], new)

    return [measured(rule, chosen) for rule, chosen in rules if chosen.any()]
