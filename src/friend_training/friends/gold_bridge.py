"""A ceiling for the case study: FDT with a bridge that never errs (where the data knows what it would say)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from friend_training.core.friendship import Friendship
from friend_training.core.task import Prediction
from friend_training.errors import ConfigError
from friend_training.examples import ROLES, Dialogue, Rewrite, SentenceRoles
from friend_training.friends.csrl_rewriting import RoleString, Sigma
from friend_training.tasks.rewriting.edits import place_of

GoldSigma = Mapping[str, Sigma]
"""By dialogue: what a perfect parser says of the gold rewrite, for each predicate of u_t."""


def gold_sigma(rewrite: Rewrite, labels: Sequence[SentenceRoles]) -> Sigma:
    """The gold arguments of each predicate as they stand in the gold rewrite."""
    return tuple(
        tuple(
            RoleString(a.role, rewrite.text[a.start : a.end])
            for a in sorted(label.arguments, key=lambda a: (ROLES.index(a.role), a.start))
        )
        for label in labels
    )


def with_gold_bridge(friendship: Friendship, gold: GoldSigma | None) -> Friendship:
    if gold is None:
        raise ConfigError(
            "fdt-gold-bridge asks what a perfect parser would say of each rewrite, and these data do not know it:"
            " it takes the embedded dialogues"
        )
    return replace(friendship, translate_second=TranslateByGold(gold))


@dataclass(frozen=True, slots=True)
class TranslateByGold:
    """F_b by gold: of a predicate's gold arguments those that the rewrite writes out.

    On a right rewrite that is all of them. On a wrong one it is what a perfect parser would find of them; that it might
    also give a role to words wrongly inserted is left out, so this ceiling is a little too high.
    """

    gold: GoldSigma

    def __call__(self, inputs: Sequence[Dialogue], predictions: Sequence[Sequence[Prediction]]) -> list[Sigma]:
        return [self._translated(dialogue, units[0].label) for dialogue, units in zip(inputs, predictions, strict=True)]

    def _translated(self, dialogue: Dialogue, rewrite: Rewrite) -> Sigma:
        text = dialogue.utterance.text
        return tuple(
            ()
            if place_of(rewrite, text, predicate.start, predicate.end) is None
            else tuple(string for string in strings if string.text in rewrite.text)
            for predicate, strings in zip(dialogue.predicates, self.gold[dialogue.id], strict=True)
        )
