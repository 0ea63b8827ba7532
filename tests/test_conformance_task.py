"""check_task passes a small honest task, and names the rule that each broken variant of it breaks."""

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from friend_training.core.task import FitPlan, FitSummary, Prediction, PseudoLabel, Task
from friend_training.errors import ConfigError
from friend_training.testing import ConformanceError, check_task

CLASSES = ("question", "statement")


@dataclass(frozen=True)
class Line:
    id: str
    text: str


@dataclass(frozen=True)
class Labelled:
    line: Line
    label: str


class KeywordTask:
    """Naive Bayes over characters, one unit per line; `steps` only counts. Trains on by adding to its counts."""

    name = "mood"
    label_type: Any = str
    main_metric = "accuracy"

    def __init__(self) -> None:
        self.counts = np.ones((2, 128))

    def fit(
        self, gold: Sequence[Any], pseudo: Sequence[PseudoLabel], *, dev: Sequence[Any], plan: FitPlan
    ) -> FitSummary:
        if plan.restart:
            self.counts = np.ones((2, 128))
        examples = [(g.line, g.label, 1.0) for g in gold]
        examples += [(p.input, p.label, p.weight) for p in pseudo]
        for line, label, weight in examples:
            for character in line.text:
                self.counts[CLASSES.index(label), ord(character) % 128] += weight
        self.counts += np.random.default_rng(plan.seed).random(self.counts.shape) * 0.01
        return FitSummary(steps=plan.steps, best_step=plan.steps, best_score=self.evaluate(dev)[self.main_metric])

    def predict(self, inputs: Sequence[Any]) -> list[list[Prediction]]:
        return [[self._predict(line)] for line in inputs]

    def _predict(self, line: Line) -> Prediction:
        shares = np.log(self.counts / self.counts.sum(axis=1, keepdims=True))
        scores = sum((shares[:, ord(c) % 128] for c in line.text), start=np.zeros(2))
        probabilities = np.exp(scores - np.logaddexp(*scores))
        best = int(probabilities.argmax())
        return Prediction(unit=f"{line.id}#0", label=CLASSES[best], confidence=min(1.0, float(probabilities[best])))

    def evaluate(self, gold: Sequence[Any]) -> Mapping[str, float]:
        right = [self._predict(g.line).label == g.label for g in gold]
        return {"accuracy": float(np.mean(right))}

    def save(self, folder: Path) -> None:
        (folder / "counts.json").write_text(json.dumps(self.counts.tolist()))

    def load(self, folder: Path) -> None:
        self.counts = np.array(json.loads((folder / "counts.json").read_text()))


TEXTS = ["who came?", "she came.", "is it far?", "it is far.", "why not?", "no.", "may I?", "I may."]
LINES = [Line(f"l{i}", text) for i, text in enumerate(TEXTS)]
GOLD = [Labelled(line, CLASSES[i % 2]) for i, line in enumerate(LINES[:6])]


def check(factory: Callable[[], Any]) -> None:
    check_task(factory, gold=GOLD[:4], dev=GOLD[4:], inputs=LINES)


def with_prediction(change: Callable[[int, Prediction], Prediction]) -> type[KeywordTask]:
    """The task with each prediction changed; the function is given its place in the batch."""

    class Changed(KeywordTask):
        def predict(self, inputs: Sequence[Any]) -> list[list[Prediction]]:
            return [[change(i, p) for p in units] for i, units in enumerate(super().predict(inputs))]

    return Changed


def changed(prediction: Prediction, **fields: Any) -> Prediction:
    given = {name: getattr(prediction, name) for name in ("unit", "label", "confidence", "content")}
    return Prediction(**(given | fields))


class NoEvaluate:
    name, label_type, main_metric = "mute", str, "accuracy"
    fit, predict, save, load = KeywordTask.fit, KeywordTask.predict, KeywordTask.save, KeywordTask.load


class NeedsPseudo(KeywordTask):
    def fit(self, gold: Sequence[Any], pseudo: Sequence[PseudoLabel], **rest: Any) -> FitSummary:
        return super().fit([*gold, pseudo[0]], pseudo, **rest)


class NoSummary(KeywordTask):
    def fit(self, *args: Any, **kwargs: Any) -> FitSummary:
        super().fit(*args, **kwargs)
        return None  # type: ignore[return-value]


class DropsShortLines(KeywordTask):
    def predict(self, inputs: Sequence[Any]) -> list[list[Prediction]]:
        return super().predict([line for line in inputs if len(line.text) > 4])


class BareLabels(KeywordTask):
    def predict(self, inputs: Sequence[Any]) -> list[list[Prediction]]:
        return [[p.label for p in units] for units in super().predict(inputs)]


class SortsByLength(KeywordTask):
    def predict(self, inputs: Sequence[Any]) -> list[list[Prediction]]:
        return super().predict(sorted(inputs, key=lambda line: len(line.text)))


class Moody(KeywordTask):
    """Another confidence with every call."""

    calls = itertools.count(1)

    def predict(self, inputs: Sequence[Any]) -> list[list[Prediction]]:
        call = next(self.calls)
        return [[changed(p, confidence=0.5 + 1e-9 * call) for p in units] for units in super().predict(inputs)]


class Relative(KeywordTask):
    """Confidence relative to the surest of the batch, as a batch statistic left in training mode would give."""

    def predict(self, inputs: Sequence[Any]) -> list[list[Prediction]]:
        lists = super().predict(inputs)
        top = max((units[0].confidence for units in lists), default=1.0)
        return [[changed(p, confidence=p.confidence / top) for p in units] for units in lists]


class NeedsInputs(KeywordTask):
    def predict(self, inputs: Sequence[Any]) -> list[list[Prediction]]:
        assert inputs[0].text
        return super().predict(inputs)


class NotANumber(KeywordTask):
    def evaluate(self, gold: Sequence[Any]) -> Mapping[str, float]:
        return {**super().evaluate(gold), "loss": float("nan")}


class OtherMetric(KeywordTask):
    def evaluate(self, gold: Sequence[Any]) -> Mapping[str, float]:
        return {**super().evaluate(gold), "f1": 0.5}

    def fit(self, *args: Any, **kwargs: Any) -> FitSummary:
        self.main_metric = "accuracy"
        summary = super().fit(*args, **kwargs)
        self.main_metric = "exact match"
        return summary


class RefusesPseudo(KeywordTask):
    def fit(self, gold: Sequence[Any], pseudo: Sequence[PseudoLabel], **rest: Any) -> FitSummary:
        if any(p.weight != 1.0 for p in pseudo):
            raise ValueError("weights are not supported")
        return super().fit(gold, pseudo, **rest)


class Unseeded(KeywordTask):
    seeds = itertools.count(1)

    def fit(self, gold: Sequence[Any], pseudo: Sequence[PseudoLabel], **rest: Any) -> FitSummary:
        plan: FitPlan = rest["plan"]
        rest["plan"] = FitPlan(seed=next(self.seeds), steps=plan.steps)
        return super().fit(gold, pseudo, **rest)


class SavesRounded(KeywordTask):
    def save(self, folder: Path) -> None:
        (folder / "counts.json").write_text(json.dumps(self.counts.round(1).tolist()))


class ForgetsItsAge(KeywordTask):
    """Has a state that training needs and predicting does not, and does not save it."""

    age = 0

    def fit(self, *args: Any, **kwargs: Any) -> FitSummary:
        self.counts[0] += self.age
        self.age += 1
        return super().fit(*args, **kwargs)


class TupleLabels(KeywordTask):
    label_type = list[str] | str

    def predict(self, inputs: Sequence[Any]) -> list[list[Prediction]]:
        return [[changed(p, label=(p.label,)) for p in units] for units in super().predict(inputs)]

    def fit(self, gold: Sequence[Any], pseudo: Sequence[PseudoLabel], **rest: Any) -> FitSummary:
        return super().fit(gold, [PseudoLabel(p.input, p.unit, p.label[0], p.weight) for p in pseudo], **rest)


class NumbersForText(KeywordTask):
    def predict(self, inputs: Sequence[Any]) -> list[list[Prediction]]:
        return [[changed(p, label=CLASSES.index(p.label)) for p in units] for units in super().predict(inputs)]

    def fit(self, gold: Sequence[Any], pseudo: Sequence[PseudoLabel], **rest: Any) -> FitSummary:
        return super().fit(gold, [PseudoLabel(p.input, p.unit, CLASSES[p.label], p.weight) for p in pseudo], **rest)


BROKEN: list[tuple[str, Callable[[], Any]]] = [
    ("has_the_members_of_a_task", NoEvaluate),
    ("fit_accepts_no_pseudo_labels", NeedsPseudo),
    ("fit_accepts_no_pseudo_labels", NoSummary),
    ("predict_gives_one_list_per_input", DropsShortLines),
    ("predict_gives_one_list_per_input", BareLabels),
    ("predict_keeps_the_order_of_inputs", SortsByLength),
    ("units_are_unique", with_prediction(lambda i, p: changed(p, unit="l0#0"))),
    ("confidence_is_in_the_unit_interval", with_prediction(lambda i, p: changed(p, confidence=p.confidence + 1))),
    ("confidence_is_in_the_unit_interval", with_prediction(lambda i, p: changed(p, confidence=float("nan")))),
    ("labels_survive_json", TupleLabels),
    ("labels_survive_json", NumbersForText),
    ("predict_repeats_itself", Moody),
    ("predict_does_not_depend_on_the_batch", Relative),
    ("predict_does_not_depend_on_the_batch", with_prediction(lambda i, p: changed(p, label=CLASSES[i % 2]))),
    ("predict_does_not_depend_on_the_batch", with_prediction(lambda i, p: changed(p, content=i > 0))),
    ("predict_accepts_no_input", NeedsInputs),
    ("evaluate_gives_finite_numbers", NotANumber),
    ("evaluate_gives_the_main_metric", OtherMetric),
    ("fit_accepts_its_own_pseudo_labels", RefusesPseudo),
    ("fit_repeats_with_the_same_seed", Unseeded),
    ("load_restores_what_was_saved", SavesRounded),
    ("training_goes_on_after_loading", ForgetsItsAge),
]
ALSO = {  # rules that such a task cannot help breaking too
    "predict_repeats_itself": {"fit_repeats_with_the_same_seed", "load_restores_what_was_saved"},
    # NaN differs from itself
    "confidence_is_in_the_unit_interval": {
        "predict_repeats_itself",
        "fit_repeats_with_the_same_seed",
        "load_restores_what_was_saved",
    },
}


def test_an_honest_task_passes() -> None:
    task: Task = KeywordTask()
    assert isinstance(task, Task)
    check(KeywordTask)


@pytest.mark.parametrize(("rule", "factory"), BROKEN, ids=[f"{i}-{rule}" for i, (rule, _) in enumerate(BROKEN)])
def test_each_broken_rule_is_named_and_no_other(rule: str, factory: Callable[[], Any]) -> None:
    with pytest.raises(ConformanceError) as caught:
        check(factory)
    assert rule in caught.value.rules
    assert set(caught.value.rules) <= {rule} | ALSO.get(rule, set())
    assert f"{rule}: " in str(caught.value)


def test_all_broken_rules_stand_in_one_error() -> None:
    class TwoFaults(NotANumber, NeedsInputs):
        pass

    with pytest.raises(ConformanceError, match=r"task 'mood' breaks 2 rule\(s\)") as caught:
        check(TwoFaults)
    assert caught.value.rules == ("predict_accepts_no_input", "evaluate_gives_finite_numbers")
    assert "loss is nan" in str(caught.value)


def test_it_says_what_it_needs() -> None:
    with pytest.raises(ConfigError, match="ids all differ"):
        check_task(KeywordTask, gold=GOLD, dev=GOLD, inputs=[LINES[0], LINES[0]])
    with pytest.raises(ConfigError, match="some gold"):
        check_task(KeywordTask, gold=[], dev=GOLD, inputs=LINES)
