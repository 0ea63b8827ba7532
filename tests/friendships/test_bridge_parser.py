"""The bridge as a CSRL parser: what it says of u_t alone, how it is scored, and self-training on its labels."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from friend_training.core.task import FitPlan, FitSummary, Prediction, PseudoLabel
from friend_training.data.synthetic import Domain, csrl_examples, generate
from friend_training.friendships.bridge_quality import LabelledByBridge, bridge_roles, score_bridge
from friend_training.tasks.csrl.model import unit_id
from friend_training.types import Argument, Dialogue, Predicate, Roles, Sentence, SentenceArgument, SentenceRoles, Turn

EXAMPLES = csrl_examples(generate(80, seed=9, domain=Domain.FILM))
BY_ID = {example.dialogue.id: example for example in EXAMPLES}


class WithinBridge:
    """Knows the gold arguments that stand in u_t itself, and no others: the best a sentence parser could do."""

    name = "within"

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]:
        return [tuple(self._answer(sentence, predicate) for predicate in sentence.predicates) for sentence in sentences]

    def _answer(self, sentence: Sentence, predicate: Predicate) -> SentenceRoles:
        example = BY_ID[sentence.id]
        assert sentence.text == example.dialogue.utterance.text
        (label,) = (label for label in example.roles if label.predicate == predicate)
        last = len(example.dialogue.turns) - 1
        inside = (a for a in label.arguments if a.turn == last and a.start >= 0)
        return SentenceRoles(predicate, tuple(SentenceArgument(a.role, a.start, a.end) for a in inside))


class OneBridge:
    name = "one"

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]:
        return [tuple(SentenceRoles(p, (SentenceArgument("ARG1", 0, 1),)) for p in s.predicates) for s in sentences]


DIALOGUE = Dialogue("d", (Turn("A", "甲"), Turn("B", "乙看")), (Predicate(1, 2),))


def test_answers_are_arguments_of_the_last_turn() -> None:
    assert bridge_roles(OneBridge(), [DIALOGUE]) == [(Roles(Predicate(1, 2), (Argument("ARG1", 1, 0, 1),)),)]


def test_across_utterances_a_bridge_has_nothing() -> None:
    scores = score_bridge(WithinBridge(), EXAMPLES).as_dict()
    assert scores["precision"] == 100
    assert scores["cross_recall"] == 0
    assert 0 < scores["recall"] < 100
    assert 0 < scores["within_recall"] <= 100


class Pupil:
    """A task that remembers what it was asked."""

    name, label_type, main_metric = "csrl", Roles, "f1"

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def fit(self, gold: Any, pseudo: Sequence[PseudoLabel], *, dev: Any, plan: FitPlan) -> FitSummary:
        self.calls.append(("fit", list(pseudo)))
        return FitSummary(1, 1, 0.5)

    def predict(self, inputs: Any) -> list[list[Prediction]]:
        raise AssertionError("the bridge labels")

    def evaluate(self, gold: Any) -> dict[str, float]:
        return {"f1": 7.0}

    def save(self, folder: Path) -> None:
        self.calls.append(("save", folder))

    def load(self, folder: Path) -> None:
        self.calls.append(("load", folder))


def test_labelled_by_the_bridge_and_trained_as_ever(tmp_path: Path) -> None:
    pupil = Pupil()
    task = LabelledByBridge(pupil, OneBridge())
    ((prediction,),) = task.predict([DIALOGUE])
    label = Roles(Predicate(1, 2), (Argument("ARG1", 1, 0, 1),))
    assert prediction == Prediction(unit_id("d", Predicate(1, 2)), label, 1.0, content=True)
    pseudo = PseudoLabel(DIALOGUE, prediction.unit, label)
    assert task.fit([], [pseudo], dev=[], plan=FitPlan(seed=1, steps=1)).best_score == 0.5
    assert task.evaluate([]) == {"f1": 7.0}
    task.save(tmp_path)
    task.load(tmp_path)
    assert pupil.calls == [("fit", [pseudo]), ("save", tmp_path), ("load", tmp_path)]
    assert (task.name, task.label_type, task.main_metric) == ("csrl", Roles, "f1")
