"""Text classifiers through the conformance suite, through transformers' own pipeline, and with methods inside."""

import math
import random
from pathlib import Path

import pytest
import torch
from transformers import BertConfig, BertModel, pipeline

from friend_training.core.selector import Selector, Threshold
from friend_training.core.task import FitPlan, PseudoLabel
from friend_training.errors import ConfigError, DataError, RunError
from friend_training.loop.algorithm import LoopSettings, TaskPlan, Training
from friend_training.methods.base import multitask_base
from friend_training.methods.cross_pseudo_supervision import cps
from friend_training.methods.mean_teacher import mt
from friend_training.methods.self_training import stbr
from friend_training.nn.task import TorchTask
from friend_training.nn.tokenizer import Tokenizer
from friend_training.nn.training import TrainingSettings
from friend_training.runs.run import Run
from friend_training.tasks.text_classification.task import TextClassification, label_names
from friend_training.testing import check_task
from friend_training.types import Dialogue, Text, Turn, Words

SETTINGS = TrainingSettings(batch_size=4, encoder_rate=3e-3, head_rate=3e-3, look_every=4)
WORDS = {"bad": "dull rude", "good": "kind superb"}


def reviews(count: int, seed: int) -> list[tuple[Text, str]]:
    draw = random.Random(seed)
    labels = [draw.choice(sorted(WORDS)) for _ in range(count)]
    return [
        (Text(f"{seed}-{n}", " ".join(draw.choices(WORDS[label].split(), k=draw.randint(1, 4)))), label)
        for n, label in enumerate(labels)
    ]


def texts(count: int, seed: int) -> list[Text]:
    return [text for text, _ in reviews(count, seed)]


@pytest.fixture(scope="module")
def bert(tiny_encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encoder with a pooler, which transformers' classifier for it uses."""
    folder = tmp_path_factory.mktemp("bert")
    tokenizer = Tokenizer.load(tiny_encoder)
    tokenizer.save(folder)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    torch.manual_seed(0)
    BertModel(BertConfig(vocab_size=len(tokenizer.backend), **sizes)).save_pretrained(folder)
    return folder


@pytest.fixture(params=["roformer", "bert"])
def encoder(request: pytest.FixtureRequest, tiny_encoder: Path, bert: Path) -> Path:
    return {"roformer": tiny_encoder, "bert": bert}[request.param]


def classifier(encoder: Path, name: str = "mood") -> TorchTask:
    return TextClassification(name, encoder=encoder, labels=("bad", "good"), settings=SETTINGS, device="cpu")


def test_it_is_a_task(encoder: Path) -> None:
    check_task(
        lambda: classifier(encoder),
        gold=reviews(12, 1),
        dev=reviews(8, 2),
        inputs=[*texts(7, 3), Text("e", ""), Words("w", ("dull", "rude")), Dialogue("d", (Turn("a", "kind"),))],
        steps=8,
    )


def test_it_learns_and_transformers_says_the_same(encoder: Path, tmp_path: Path) -> None:
    task, gold = classifier(encoder), reviews(40, 1)
    task.fit(gold, [], dev=gold, plan=FitPlan(seed=1, steps=60))
    assert task.evaluate(gold)["macro_f1"] > 90
    task.save(tmp_path)
    said = pipeline("text-classification", str(tmp_path))([text.text for text in texts(10, 3)])
    for (ours,), theirs in zip(task.predict(texts(10, 3)), said, strict=True):
        assert (ours.label, ours.confidence) == (theirs["label"], pytest.approx(theirs["score"], abs=1e-4))


def test_its_classes_are_ranked(encoder: Path) -> None:
    task, given = classifier(encoder), texts(5, 3)
    task.fit(reviews(4, 1), [], dev=reviews(4, 1), plan=FitPlan(seed=1, steps=2))
    logs = task.log_likelihood(given, [[["bad", "good", "neither"]] for _ in given])
    for (found,), (predicted,), (of_text,) in zip(task.n_best(given, 3), task.predict(given), logs, strict=True):
        assert found[0] == predicted
        by_label = dict(zip(("bad", "good"), of_text, strict=False))
        assert {one.label: math.log(one.confidence) for one in found} == pytest.approx(by_label, abs=1e-6)
        assert of_text[2] == -math.inf


def test_inputs_are_read_once_while_it_remembers(tiny_encoder: Path) -> None:
    task, given, calls = classifier(tiny_encoder), texts(9, 3), []
    task.fit(reviews(4, 1), [], dev=reviews(4, 1), plan=FitPlan(seed=1, steps=2))
    task.network.register_forward_hook(lambda *call: calls.append(call))

    def asked() -> list[object]:
        labels = [[["bad", "good"]] for _ in given]
        return [task.predict(given), task.n_best(given, 2), task.log_likelihood(given, labels)]

    plain = asked()
    every_time = len(calls)
    with task.remembering():
        assert asked() == plain
        assert (len(calls) - every_time) * 3 == every_time
        assert task.predict(given[:3]) != plain[0], "other inputs are read"
    before = len(calls)
    assert task.predict(given) == plain[0]
    assert (len(calls) - before) * 3 == every_time, "nothing is remembered afterwards"


def test_the_pooler_is_the_pretrained_one(bert: Path) -> None:
    task = classifier(bert)
    task.fit(reviews(4, 1), [], dev=reviews(4, 1), plan=FitPlan(seed=1, steps=0))
    weight = BertModel.from_pretrained(bert).pooler.dense.weight
    assert torch.equal(task.network.state_dict()["bert.pooler.dense.weight"], weight)


def test_evaluation_has_counts(tiny_encoder: Path) -> None:
    task, gold = classifier(tiny_encoder), reviews(10, 1)
    task.fit(gold, [], dev=gold, plan=FitPlan(seed=1, steps=2))
    counts = task.evaluate(gold).counts
    assert counts is not None
    assert counts.shape == (10, 2 * 3)


def test_pseudo_labels_of_weight_nothing_teach_nothing(tiny_encoder: Path) -> None:
    """All that they still do is to take places in batches: with gold of one class the other is never learnt."""
    gold = [(text, label) for text, label in reviews(16, 1) if label == "good"]

    def learnt(weight: float) -> float:
        task = classifier(tiny_encoder)
        pseudo = [PseudoLabel(text, text.id, label, weight) for text, label in reviews(20, 4)]
        task.fit(gold, pseudo, dev=reviews(20, 4), plan=FitPlan(seed=1, steps=40))
        return sum(units[0].label == "bad" for units in task.predict(texts(20, 4)))

    assert learnt(1.0) > learnt(0.0)


def plan(encoder: Path, name: str) -> TaskPlan:
    return TaskPlan(
        task=classifier(encoder, name),
        gold=reviews(8, 1),
        dev=reviews(6, 2),
        base=Training(steps=3),
        update=Training(steps=2, pseudo_weight=0.5),
        selectors=[Selector(Threshold(0.0))],
        test={"test": reviews(6, 5)},
    )


ONE = LoopSettings(seed=3, iterations=1, shard_size=6)

METHODS = {
    "mt": lambda run, at: mt(run, {"mood": plan(at, "mood")}, texts(10, 3), settings=ONE),
    "cps": lambda run, at: cps(run, {"mood": plan(at, "mood")}, {"mood": plan(at, "mood")}, texts(10, 3), settings=ONE),
    "stbr": lambda run, at: stbr(run, {"mood": plan(at, "mood")}, texts(10, 3), settings=ONE),
    "multitask-base": lambda run, at: multitask_base(
        run, {name: plan(at, name) for name in ("mood", "other")}, settings=ONE
    ),
}


@pytest.mark.parametrize("method", METHODS)
def test_methods_work_inside_its_training(method: str, encoder: Path, tmp_path: Path) -> None:
    outcome = METHODS[method](Run.create(tmp_path / "run", "", {}), encoder)["mood"]
    assert 0 <= outcome.test["test"]["accuracy"] <= 100
    assert len(outcome.dev) == (1 if method == "multitask-base" else 2)


def test_wrong_labels_are_said(tiny_encoder: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"labels are .*, expected at least two"):
        TextClassification("mood", encoder=tiny_encoder, labels=("good",))
    task = classifier(tiny_encoder)
    with pytest.raises(DataError, match="'mixed' is none of the 2 labels"):
        task.fit([(Text("x", "dull"), "mixed")], [], dev=[], plan=FitPlan(seed=1, steps=1))
    task.fit(reviews(4, 1), [], dev=reviews(4, 1), plan=FitPlan(seed=1, steps=1))
    task.save(tmp_path)
    turned = TextClassification("mood", encoder=tiny_encoder, labels=("good", "bad"), device="cpu")
    with pytest.raises(RunError, match="other labels"):
        turned.load(tmp_path)


def test_identity_has_what_changes_training(tiny_encoder: Path) -> None:
    identity = classifier(tiny_encoder).definition.identity
    assert identity == {"labels": ("bad", "good"), "metric": "accuracy", "max_length": 128}
    assert label_names(reviews(9, 1)) == ("bad", "good")


def test_long_texts_are_cut_at_their_end(tiny_encoder: Path) -> None:
    task = TextClassification("mood", encoder=tiny_encoder, labels=("bad", "good"), max_length=10, device="cpu")
    (item,) = task.definition.input_items([Text("x", "dull " * 50)])
    assert item.length == 10
