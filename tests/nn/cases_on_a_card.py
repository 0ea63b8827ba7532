"""Every network of the library on a stand-in for a graphics card: run by test_devices.py in a process of its own."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor
from transformers import BertConfig, BertModel

from friend_training import methods
from friend_training.core.task import FitPlan, FitSummary, PseudoLabel
from friend_training.methods import base
from friend_training.methods.base import train_together
from friend_training.methods.cross_pseudo_supervision import Pair
from friend_training.methods.mean_teacher import MeanTeacher, MeanTeacherSettings
from friend_training.methods.self_teaching import SelfTeaching
from friend_training.methods.self_training import BatchReweighting
from friend_training.nn import encoder as precision
from friend_training.nn import training
from friend_training.nn.encoder import EncoderShape, WordEncoderShape, make_encoder, open_encoder, pretrain_word_encoder
from friend_training.nn.heads import unit_losses
from friend_training.nn.task import TorchTask
from friend_training.nn.tokenizer import Tokenizer
from friend_training.nn.training import (
    Learning,
    TrainingSettings,
    make_optimizers,
    save_weights,
    seed_everything,
    weighted_mean,
)
from friend_training.tasks.csrl.task import CsrlDefinition
from helpers.every_definition import DIALOGUES, TREES, Variant, definitions, one_of_each, variants
from helpers.stand_in import CARD, CPU, CardModule, a_card, as_fake, as_on_processor, devices_in, on_card
from helpers.tiny_ltp import save_tiny_ltp

PLAN = FitPlan(seed=1, steps=1)
SETTINGS = TrainingSettings(batch_size=2)


@pytest.fixture(scope="module")
def encoders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with encoders of all three kinds."""
    folder = tmp_path_factory.mktemp("encoders")
    for name in ("transformer", "words"):
        (folder / name).mkdir()
    texts = [turn.text for made in DIALOGUES for turn in made.dialogue.turns]
    make_encoder(folder / "transformer", [*texts, "abcdefghijklmnopqrstuvwxyz"], EncoderShape(1, 16, 2), seed=0)
    shutil.copytree(folder / "transformer", folder / "bert")
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    vocabulary = len(Tokenizer.load(folder / "bert").backend)
    BertModel(BertConfig(vocab_size=vocabulary, **sizes)).save_pretrained(folder / "bert")
    shape = WordEncoderShape(word=8, affix=4, width=8, layers=2)
    pretrain_word_encoder(folder / "words", [example.words.words for example in TREES], shape, seed=0)
    return folder


@pytest.fixture
def card(encoders: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with a_card(monkeypatch):
        yield


def task_of(variant: Variant, encoders: Path) -> TorchTask:
    """The task on the card, ready to be trained."""
    with as_on_processor():
        folder = encoders / variant.encoder
        task = TorchTask(variant.definition(folder), encoder=folder, settings=SETTINGS, device="cpu")
        encoder = open_encoder(folder)
    return on_card(task, encoder)


def test_definitions_are_found() -> None:
    found = {made.__name__ for made in definitions()}
    assert {"CsrlDefinition", "RewritingDefinition", "SrlDefinition", "TaggingDefinition"} <= found
    assert {"ConstituencyDefinition", "DependencyDefinition"} <= found


def test_two_devices_are_refused(card: None) -> None:
    line = nn.Linear(2, 2).to(CARD)
    with pytest.raises(RuntimeError, match="same device"):
        line(torch.zeros(1, 2))


@pytest.mark.parametrize("variant", variants(), ids=str)
def test_a_step_of_training(card: None, encoders: Path, variant: Variant) -> None:
    task = task_of(variant, encoders)
    network = task.network.train()
    assert devices_in(network) == {CARD}
    batch = task.collate(task.definition.gold_items(variant.examples()))
    assert devices_in(batch) == {CARD}
    heads = network(batch)
    assert devices_in(list(heads)) == {CARD}
    optimizers = make_optimizers(network, encoder_rate=0.1, head_rate=0.1, weight_decay=0.1)
    weighted_mean(unit_losses(heads, batch.targets), batch.weights).backward()
    gradients = [weight.grad for weight in network.parameters() if weight.grad is not None]
    assert len(gradients) > 4
    assert devices_in(gradients) == {CARD}
    for optimizer in optimizers:
        optimizer.step()
    assert devices_in(network) == {CARD}


@pytest.mark.parametrize("variant", variants(), ids=str)
def test_what_is_decoded_came_back_in_one_go(card: None, encoders: Path, variant: Variant) -> None:
    """Networks see the card alone, decoding the processor alone, and nothing travels in between."""
    task = task_of(variant, encoders)
    seen: list[set[torch.device]] = []
    forward = task.network.forward

    def watched(batch: Any) -> Any:
        seen.append(devices_in(batch))
        return forward(batch)

    def decode(heads: Any, batch: Any) -> list[list[Any]]:
        assert devices_in(list(heads)) == devices_in(batch) == {CPU}
        return [[] for _ in batch.items]

    task.network.forward = watched  # type: ignore[method-assign]
    task.definition.decode = decode  # type: ignore[method-assign]
    inputs = task.definition.inputs_of(variant.examples())
    assert task.predict(inputs) == [[] for _ in inputs]
    assert seen
    assert all(devices == {CARD} for devices in seen)


@pytest.mark.parametrize("variant", one_of_each(), ids=str)
def test_training_from_the_first_step_to_the_best_weights(
    card: None, encoders: Path, variant: Variant, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = task_of(variant, encoders)
    monkeypatch.setattr(training, "clip_gradients", lambda weights, maximum: None)  # it reads a number
    task.definition.decode = lambda heads, batch: [[] for _ in batch.items]  # type: ignore[method-assign]
    task.definition.score = lambda examples, predictions: {task.main_metric: 1.0}  # type: ignore[method-assign]
    summary = task.fit(variant.examples(), [], dev=variant.examples(), plan=PLAN)
    assert summary == FitSummary(1, 1, 1.0, curve=((1, 1.0),))
    assert devices_in(task.network) == devices_in(task.network.state_dict()) == {CARD}


Train = Callable[[Sequence[Any], Sequence[PseudoLabel], Sequence[Any], FitPlan], Any]


def mean_teacher(task: TorchTask, second: TorchTask, pool: Sequence[Any]) -> Train:
    return MeanTeacher(task, pool, steps=1, settings=MeanTeacherSettings()).train


def cross_supervision(task: TorchTask, second: TorchTask, pool: Sequence[Any]) -> Train:
    second.load = lambda folder: None  # type: ignore[method-assign]  # its network is there already
    return Pair(task, second, pool, base=Path(), cross_weight=1.0).train


def self_teaching(task: TorchTask, second: TorchTask, pool: Sequence[Any]) -> Train:
    return SelfTeaching(task, pool, 0.5).train


def batch_reweighting(task: TorchTask, second: TorchTask, pool: Sequence[Any]) -> Train:
    """Of pseudo-labels the items are those of gold: which labels they carry is all the same here."""
    task.definition.pseudo_items = lambda chosen: task.definition.gold_items(chosen)  # type: ignore[method-assign]
    return BatchReweighting(task).train


def together(task: TorchTask, second: TorchTask, pool: Sequence[Any]) -> Train:
    tasks = {"one": task, "other": second}

    def train(gold: Sequence[Any], pseudo: Any, dev: Sequence[Any], plan: FitPlan) -> Any:
        return train_together(tasks, dict.fromkeys(tasks, SimpleNamespace(gold=gold, dev=dev)), plan)  # type: ignore[arg-type]

    return train


INSIDE_TRAINING = {
    "mean_teacher": mean_teacher,
    "cross_pseudo_supervision": cross_supervision,
    "self_teaching": self_teaching,
    "self_training": batch_reweighting,
    "base": together,
}


def test_methods_inside_training_are_known() -> None:
    modules = {
        found.name: import_module(f"{methods.__name__}.{found.name}") for found in iter_modules(methods.__path__)
    }
    assert {name for name, module in modules.items() if hasattr(module, "learn")} == set(INSIDE_TRAINING)


@pytest.mark.parametrize("variant", one_of_each(), ids=str)
@pytest.mark.parametrize("method", INSIDE_TRAINING)
def test_a_step_of_a_method_inside_training(
    card: None, encoders: Path, variant: Variant, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All networks (students, teachers, second ones) are on the card, and so is everything between them."""
    steps: list[Learning] = []

    def learn(what: Learning, **how: Any) -> FitSummary:
        steps.append(what)
        for network in what.networks:
            network.train()
        what.gradients(1)
        what.after_step(1)
        gradients = [weight.grad for network in what.networks for weight in network.parameters()]
        assert devices_in(gradients) == {CARD}
        return FitSummary(1, 1, 0.0)

    def real_encoder(source: Path) -> nn.Module:
        with as_on_processor():
            return open_encoder(source)

    monkeypatch.setattr(f"friend_training.methods.{method}.learn", learn)
    monkeypatch.setattr(base, "open_encoder", real_encoder)
    task, second = task_of(variant, encoders), task_of(variant, encoders)
    examples = variant.examples()
    train = INSIDE_TRAINING[method](task, second, task.definition.inputs_of(examples))
    train(examples, examples, examples, PLAN)
    assert len(steps) == 1
    assert devices_in([*steps[0].networks, *steps[0].kept]) == {CARD}


def test_ltp(card: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both times that something comes back it comes back whole, and all else stays on the card."""
    from friend_training.bridges import ltp

    monkeypatch.setattr(ltp, "choose_device", lambda name: CARD)
    came_back: list[torch.Size] = []

    def to_list(values: Tensor) -> list[Any]:
        """Fake values are not there to be read: every piece begins a word, and there are no roles."""
        came_back.append(values.shape)
        shape = values.shape if all(isinstance(size, int) for size in values.shape) else (0,)
        with as_on_processor():
            return torch.ones(shape).long().numpy().tolist()  # type: ignore[no-any-return]

    with as_on_processor():
        folder = save_tiny_ltp(tmp_path / "ltp")
        tensors = ltp.load_file(folder / "task_heads.safetensors")
        encoder = ltp.AutoModel.from_pretrained(folder).eval()
    monkeypatch.setattr(ltp, "load_file", lambda path: {name: as_fake(tensor) for name, tensor in tensors.items()})
    monkeypatch.setattr(ltp.AutoModel, "from_pretrained", lambda folder, *, trust_remote_code: encoder)
    parser = ltp.LtpParser.load(folder)
    assert devices_in(parser.encoder) == devices_in(parser.heads) == {CARD}
    monkeypatch.setattr(FakeTensor, "tolist", to_list)
    parsed = parser.parse(["我昨天买了书。", "他看书。"])
    assert [len(sentence.words) for sentence in parsed] == [7, 4]
    assert len(came_back) == 5  # the beginnings of words; then tags and three parts of roles, together


@pytest.mark.parametrize("encoder", ["transformer", "bert"])
def test_bf16_is_that_of_the_device(card: None, encoders: Path, encoder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    variant = Variant(CsrlDefinition, encoder)
    task = task_of(variant, encoders)
    chosen: list[tuple[str, bool]] = []

    class Spy:
        def __init__(self, device: str, dtype: Any = None, enabled: bool = True) -> None:
            chosen.append((device, enabled))

        def __enter__(self) -> None: ...

        def __exit__(self, *error: object) -> None: ...

    monkeypatch.setattr(precision.torch, "autocast", Spy)
    task.settings = TrainingSettings(precision="bf16")
    task.network = task.network
    task.network(task.collate(task.definition.gold_items(variant.examples())))
    assert chosen == [("card", True)]  # attention goes along: that it does not is for processors


def test_seeds_reach_the_card(card: None) -> None:
    CardModule.seeds.clear()
    seed_everything(7)
    assert CardModule.seeds == [7]


def test_tables_have_no_sparse_gradients_where_the_device_has_none(card: None, encoders: Path) -> None:
    for variant in variants():
        network = task_of(variant, encoders).network
        tables = [part for part in network.modules() if isinstance(part, nn.Embedding | nn.EmbeddingBag)]
        assert tables
        assert not any(table.sparse for table in tables)
        (optimizer,) = make_optimizers(network, encoder_rate=0.1, head_rate=0.1, weight_decay=0.1)
        weights = [weight for group in optimizer.param_groups for weight in group["params"]]
        assert {id(table.weight) for table in tables} <= {id(weight) for weight in weights}
        assert not optimizer.defaults["fused"]


def test_weights_leave_the_card_by_way_of_the_processor(
    card: None, encoders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = task_of(one_of_each()[0], encoders)
    written: dict[str, Tensor] = {}
    monkeypatch.setattr(training, "save_file", lambda state, path: written.update(state))
    save_weights(task.network, Path())
    assert set(written) == set(task.network.state_dict())
    assert devices_in(written) == {CPU}

    assert devices_in(task.__getstate__()["_network"]) == {CPU}  # to another process, which may see other cards
    assert devices_in(task.network) == {CARD}
