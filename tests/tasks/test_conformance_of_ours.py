"""Our own torch tasks through the public conformance suite, and what training does with weights and seeds."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from friend_training.core.task import FitPlan, PseudoLabel
from friend_training.data.synthetic import (
    Domain,
    SyntheticDialogue,
    csrl_examples,
    generate,
    generate_sentences,
    rewriting_examples,
)
from friend_training.errors import DataError, RunError
from friend_training.nn.task import TorchTask
from friend_training.nn.training import TrainingSettings
from friend_training.tasks.csrl.model import PredicateMark
from friend_training.tasks.csrl.task import TrainedBridge, csrl_task, srl_task
from friend_training.tasks.rewriting.edits import SpanSource
from friend_training.tasks.rewriting.task import rewriting_task
from friend_training.testing import check_task
from friend_training.types import Predicate, Sentence, SentenceRoles

SETTINGS = TrainingSettings(batch_size=4, encoder_rate=3e-3, head_rate=3e-3, look_every=4)
MARKS: tuple[PredicateMark, ...] = ("after", "input")
STEPS = 8


@pytest.fixture(scope="module")
def made() -> list[SyntheticDialogue]:
    """Utterances without predicates among them."""
    dialogues = generate(40, seed=31, domain=Domain.FILM)
    assert any(not one.roles for one in dialogues[20:])
    return dialogues


@pytest.mark.parametrize("mark", MARKS)
def test_csrl_is_a_task(tiny_encoder: Path, made: list[SyntheticDialogue], mark: PredicateMark) -> None:
    gold = csrl_examples(made[:20])
    check_task(
        lambda: csrl_task(tiny_encoder, SETTINGS, mark=mark),
        gold=gold[:12],
        dev=gold[12:],
        inputs=[one.dialogue for one in made[20:]],
        steps=STEPS,
    )


@pytest.mark.parametrize("source", ["context", "dialogue"])
def test_rewriting_is_a_task(tiny_encoder: Path, made: list[SyntheticDialogue], source: SpanSource) -> None:
    gold = rewriting_examples(made[:20])
    check_task(
        lambda: rewriting_task(tiny_encoder, SETTINGS, span_source=source),
        gold=gold[:12],
        dev=gold[12:],
        inputs=[one.dialogue for one in made[20:]],
        steps=STEPS,
    )


@pytest.mark.parametrize("mark", MARKS)
def test_srl_is_a_task(tiny_encoder: Path, mark: PredicateMark) -> None:
    examples = generate_sentences(40, seed=5)
    inputs = [example.sentence for example in examples[20:]]
    check_task(
        lambda: srl_task(tiny_encoder, SETTINGS, mark=mark),
        gold=examples[:12],
        dev=examples[12:20],
        inputs=[*inputs, Sentence("silent", "甲乙")],
        steps=STEPS,
    )


def fitted(
    task: TorchTask, made: list[SyntheticDialogue], pseudo: list[PseudoLabel], plan: FitPlan
) -> dict[str, torch.Tensor]:
    gold = csrl_examples(made[:12])
    task.fit(gold, pseudo, dev=gold, plan=plan)
    return {name: weight.clone() for name, weight in task.network.state_dict().items()}


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(one[name], other[name]) for name in one)


def test_weights_repeat_bit_for_bit_and_differ_by_seed(tiny_encoder: Path, made: list[SyntheticDialogue]) -> None:
    plan = FitPlan(seed=3, steps=STEPS)
    first, second = (fitted(csrl_task(tiny_encoder, SETTINGS), made, [], plan) for _ in range(2))
    assert same(first, second)
    assert not same(first, fitted(csrl_task(tiny_encoder, SETTINGS), made, [], replace(plan, seed=4)))


def test_the_weight_of_a_pseudo_label_has_lambda_in_it(tiny_encoder: Path, made: list[SyntheticDialogue]) -> None:
    """The plan's λ does not come on top of a weight, and weights make a difference."""

    def pseudo(weight: float) -> list[PseudoLabel]:
        return [PseudoLabel(one.dialogue, "?", label, weight) for one in made[20:] for label in one.roles]

    plan = FitPlan(seed=3, steps=STEPS)
    halved = fitted(csrl_task(tiny_encoder, SETTINGS), made, pseudo(0.5), replace(plan, pseudo_weight=0.5))
    assert same(halved, fitted(csrl_task(tiny_encoder, SETTINGS), made, pseudo(0.5), plan))
    assert not same(halved, fitted(csrl_task(tiny_encoder, SETTINGS), made, pseudo(1.0), plan))


def test_restart_forgets_and_training_on_does_not(tiny_encoder: Path, made: list[SyntheticDialogue]) -> None:
    plan = FitPlan(seed=3, steps=STEPS)
    task = csrl_task(tiny_encoder, SETTINGS)
    first = fitted(task, made, [], plan)
    assert not same(first, fitted(task, made, [], plan))
    assert same(first, fitted(task, made, [], replace(plan, restart=True)))


def test_nothing_to_train_on_is_said(tiny_encoder: Path) -> None:
    with pytest.raises(DataError, match="nothing to train on"):
        csrl_task(tiny_encoder, SETTINGS).fit([], [], dev=[], plan=FitPlan(seed=1, steps=1))


def test_a_task_without_weights_says_so(tiny_encoder: Path, made: list[SyntheticDialogue]) -> None:
    with pytest.raises(RunError, match="no weights yet"):
        csrl_task(tiny_encoder, SETTINGS).predict([made[0].dialogue])


def test_training_learns_and_keeps_the_best_weights(tiny_encoder: Path, made: list[SyntheticDialogue]) -> None:
    """An encoder of one layer learns a dozen rewrites by heart; dev is gold here, so the score it reports is real."""
    task = rewriting_task(tiny_encoder, SETTINGS)
    gold = rewriting_examples(made[:12])
    summary = task.fit(gold, [], dev=gold, plan=FitPlan(seed=1, steps=300))
    assert task.evaluate(gold)["em"] == pytest.approx(summary.best_score)
    assert 0 < summary.best_step <= summary.steps == 300
    assert summary.best_score > 80
    untrained = task.fit(gold, [], dev=gold, plan=FitPlan(seed=1, steps=1, restart=True))
    assert untrained.best_score < summary.best_score


def test_patience_stops_early(tiny_encoder: Path, made: list[SyntheticDialogue]) -> None:
    """A learning rate of next to nothing gains nothing after the first look."""
    still = replace(SETTINGS, encoder_rate=1e-12, head_rate=1e-12)
    gold = csrl_examples(made[:12])
    summary = csrl_task(tiny_encoder, still).fit(gold, [], dev=gold, plan=FitPlan(seed=1, steps=100, patience=2))
    assert (summary.best_step, summary.steps) == (4, 12)


def test_early_stopping_looks_at_so_many_units_only(tiny_encoder: Path, made: list[SyntheticDialogue]) -> None:
    few = replace(SETTINGS, early_stopping_units=3)
    gold = csrl_examples(made[:20])
    task = csrl_task(tiny_encoder, few)
    summary = task.fit(gold, [], dev=gold, plan=FitPlan(seed=1, steps=STEPS))
    watched, units = [], 0
    for example in gold:
        if units < 3:
            watched.append(example)
            units += len(example.roles)
    assert task.evaluate(watched)["f1"] == pytest.approx(summary.best_score)


def test_a_trained_srl_model_is_a_bridge(tiny_encoder: Path) -> None:
    examples = generate_sentences(12, seed=5)
    task = srl_task(tiny_encoder, SETTINGS)
    task.fit(examples, [], dev=examples, plan=FitPlan(seed=1, steps=STEPS))
    sentences = [example.sentence for example in examples]
    answers = TrainedBridge(task).label(
        [*sentences, Sentence("silent", "甲"), Sentence("x", "甲乙", (Predicate(1, 2),))]
    )
    assert [tuple(label.predicate for label in labels) for labels in answers[:-2]] == [s.predicates for s in sentences]
    assert answers[-2] == ()
    assert isinstance(answers[-1][0], SentenceRoles)


def test_a_pseudo_label_without_a_piece_is_left_out_of_training(tiny_encoder: Path) -> None:
    """A predicate that is a lone blank has nothing to train on: it must not spoil the loss of its batch."""
    task = srl_task(tiny_encoder, replace(SETTINGS, batch_size=1))
    blank = Predicate(1, 2)
    pseudo = [PseudoLabel(Sentence("s", "甲 乙", (blank,)), "s|1-2", SentenceRoles(blank, ()))]
    examples = generate_sentences(2, seed=5)
    task.fit(examples, pseudo, dev=examples, plan=FitPlan(seed=1, steps=6))
    assert all(torch.isfinite(weight).all() for weight in task.network.state_dict().values())
