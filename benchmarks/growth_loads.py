"""What the growth benchmark labels, matches and stores, made from synthetic dialogues."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from friend_training.core.task import FitPlan, FitSummary, Prediction, PseudoLabel
from friend_training.data.synthetic import SyntheticDialogue
from friend_training.types import Dialogue, Predicate, Rewrite, Roles, Sentence, SentenceRoles


def with_turns(dialogues: Sequence[Dialogue], count: int) -> list[Dialogue]:
    """The same last utterances with so many turns in all: older ones come from the dialogues before, or go."""
    longer = []
    for number, dialogue in enumerate(dialogues):
        turns, before = dialogue.turns, number
        while len(turns) < count:
            before -= 1  # of the first dialogue, the last ones
            turns = (*dialogues[before % len(dialogues)].turns, *turns)
        longer.append(replace(dialogue, turns=turns[len(turns) - count :]))
    return longer


def with_predicates(dialogues: Sequence[Dialogue], count: int, *, longest: int) -> list[Dialogue]:
    """The same dialogues, asked for so many predicates each: characters of u_t, evenly apart.

    Those whose utterance has fewer than `longest` characters are left out, so that all counts up to it see the same.
    """
    asked = []
    for dialogue in dialogues:
        length = len(dialogue.utterance.text)
        if length >= longest:
            places = [number * length // count for number in range(count)]
            asked.append(replace(dialogue, predicates=tuple(Predicate(place, place + 1) for place in places)))
    return asked


@dataclass(frozen=True, slots=True)
class GoldTask:
    """A task that knows the answers: labels as a good model gives them, at no cost, with a confidence drawn by lot."""

    name: str
    label_type: Any
    made: Mapping[str, SyntheticDialogue]
    main_metric: str = "none"

    def predict(self, inputs: Sequence[Any]) -> list[list[Prediction]]:
        return [self._units(self.made[given.id]) for given in inputs]

    def _units(self, made: SyntheticDialogue) -> list[Prediction]:
        chance = random.Random(made.dialogue.id)
        if self.name == "rewriting":
            return [Prediction(made.dialogue.id, made.rewrite, chance.random(), bool(made.rewrite.insertions))]
        return [
            Prediction(f"{made.dialogue.id}:{roles.predicate.start}", roles, chance.random(), bool(roles.arguments))
            for roles in made.roles
        ]

    def fit(
        self, gold: Sequence[Any], pseudo: Sequence[PseudoLabel], *, dev: Sequence[Any], plan: FitPlan
    ) -> FitSummary:
        return FitSummary(0, 0, 0.0)

    def evaluate(self, gold: Sequence[Any]) -> Mapping[str, float]:
        return {"none": 0.0}

    def save(self, folder: Path) -> None:
        pass

    def load(self, folder: Path) -> None:
        pass


@dataclass(frozen=True, slots=True)
class GoldBridge:
    """What a perfect sentence parser finds in the gold rewrites."""

    made: Mapping[str, SyntheticDialogue]
    name: str = "gold"

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]:
        known = [{roles.predicate: roles for roles in self.made[sentence.id].sentence_roles} for sentence in sentences]
        return [
            tuple(roles[predicate] for predicate in sentence.predicates)
            for roles, sentence in zip(known, sentences, strict=True)
        ]


def gold_tasks(made: Mapping[str, SyntheticDialogue]) -> dict[str, GoldTask]:
    return {"csrl": GoldTask("csrl", Roles, made), "rewriting": GoldTask("rewriting", Rewrite, made)}
