"""Which predictions are right, by gold labels that training and selection do not see."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from friend_training.core.task import Prediction
from friend_training.examples import CsrlExample, RewritingExample, Roles
from friend_training.nn.role_items import unit_id


@dataclass(frozen=True, slots=True)
class HiddenGold:
    """Right means entirely right: every argument of the predicate, or the whole rewritten utterance.

    None where a unit has no gold label. An audit of the core, and picklable: workers that label take it along.
    """

    roles: Mapping[str, Roles]
    rewrites: Mapping[str, str]

    def __call__(self, task: str, prediction: Prediction) -> bool | None:
        if task == "csrl":
            roles = self.roles.get(prediction.unit)
            return None if roles is None else set(prediction.label.arguments) == set(roles.arguments)
        rewrite = self.rewrites.get(prediction.unit)
        return None if rewrite is None else bool(prediction.label.text == rewrite)


def hidden_gold(csrl: Iterable[CsrlExample], rewriting: Iterable[RewritingExample]) -> HiddenGold:
    return HiddenGold(
        {unit_id(example.dialogue.id, label.predicate): label for example in csrl for label in example.roles},
        {example.dialogue.id: example.rewrite for example in rewriting},
    )
