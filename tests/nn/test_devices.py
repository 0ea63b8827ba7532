"""Where networks compute: which device is meant, what gets there, and that nothing is left behind.

No card is needed: see helpers/stand_in.py. What runs on the stand-in is in cases_on_a_card.py.
"""

import ast
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import friend_training
from friend_training.errors import ConfigError
from friend_training.nn.devices import PROCESSOR, choose_device, on_device, put_on
from friend_training.nn.training import TrainingSettings
from friend_training.tasks.csrl.task import csrl_task

HERE, LIBRARY = Path(__file__).parent, Path(friend_training.__file__).parent


def test_every_network_runs_on_a_card() -> None:
    """In a process of its own: a stand-in has to be there before anything is differentiated, and stays for good."""
    command = [sys.executable, "-m", "pytest", "-q", "--show-capture=no", "-p", "no:cacheprovider"]
    done = subprocess.run([*command, str(HERE / "cases_on_a_card.py")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-5_000:]


@pytest.fixture
def two_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)


@pytest.fixture
def no_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)


def test_without_a_card_it_is_the_processor(no_card: None) -> None:
    assert choose_device() == choose_device("cpu") == PROCESSOR


def test_apples_card_comes_second(no_card: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert choose_device() == choose_device("mps") == torch.device("mps")


@pytest.mark.parametrize("name", ["gpu", "cuda:x", "cpu:0", "mps:1", "cuda:", ""])
def test_unknown_names_are_refused(two_cards: None, name: str) -> None:
    with pytest.raises(ConfigError, match="expected auto, cpu, cuda, cuda:N or mps"):
        choose_device(name)


@pytest.mark.parametrize("name", ["cuda", "cuda:0", "mps"])
def test_a_card_that_is_not_there_is_refused(no_card: None, name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        choose_device(name)


def test_cards_by_number(two_cards: None) -> None:
    assert choose_device("cuda:1") == torch.device("cuda", 1)
    with pytest.raises(ConfigError, match="2 CUDA card"):
        choose_device("cuda:2")


@pytest.mark.parametrize("name", ["auto", "cuda"])
def test_each_process_of_a_launcher_takes_its_own_card(
    two_cards: None, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert choose_device(name) == torch.device("cuda", 0)
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert choose_device(name) == torch.device("cuda", 1)
    assert choose_device("cuda:0") == torch.device("cuda", 0)
    monkeypatch.setenv("LOCAL_RANK", "2")
    with pytest.raises(ConfigError, match="process 3 of this machine has no card: torch sees 2"):
        choose_device(name)


@dataclass(frozen=True)
class Inner:
    values: Tensor


@dataclass(frozen=True)
class Outer:
    inner: Inner
    pair: tuple[Tensor, ...]
    names: tuple[str, ...]


def test_a_batch_moves_whole_or_not_at_all() -> None:
    batch = Outer(Inner(torch.ones(2)), (torch.ones(1), torch.ones(3)), ("a",))
    assert on_device(batch, PROCESSOR) is batch
    moved = on_device(batch, torch.device("meta"))
    assert {moved.inner.values.device.type, *(part.device.type for part in moved.pair)} == {"meta"}
    assert moved.names is batch.names
    assert batch.inner.values.device == PROCESSOR


def test_tables_keep_sparse_gradients_on_the_processor_alone() -> None:
    table = nn.Sequential(nn.Embedding(3, 2, sparse=True))
    assert put_on(table, PROCESSOR)[0].sparse  # type: ignore[index]
    assert not put_on(table, torch.device("meta"))[0].sparse  # type: ignore[index]


def test_a_task_finds_its_device_anew_in_another_process(
    tiny_encoder: Path, no_card: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = pickle.dumps(csrl_task(tiny_encoder, TrainingSettings()))
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert pickle.loads(sent).device == torch.device("mps")


MAKERS = {
    *("zeros", "ones", "full", "empty", "tensor", "as_tensor", "from_numpy", "arange", "linspace", "eye"),
    *("rand", "randn", "randint", "randperm", "triu_indices", "tril_indices", "Generator", "sparse_coo_tensor"),
}
"""Functions of torch that make a tensor on the processor unless told otherwise."""

COLLATES = "collates: a batch is put together on the processor and moved as a whole"
DECODES = "decodes: what the network gave has been brought back (TorchTask._label)"
INITIAL = "initial weights, made before the network is put anywhere"

ON_PROCESSOR = {
    "nn/interfaces.py:pad": COLLATES,
    "tasks/csrl/model.py:collate_roles": COLLATES,
    "tasks/text_classification/task.py:collate": COLLATES,
    "nn/word_input.py:collate_sentences": COLLATES,
    "nn/word_input.py:word_table": COLLATES,
    "nn/word_input.py:collate": COLLATES,
    "tasks/rewriting/model.py:collate_rewrites": COLLATES,
    "tasks/rewriting/model.py:_targets": COLLATES,
    "tasks/parsing/constituency/task.py:span_targets": COLLATES,
    "bridges/ltp.py:_parse_batch": COLLATES,
    "tasks/csrl/model.py:": DECODES,
    "nn/heads.py:_viterbi": DECODES,
    "nn/heads.py:likeliest_sequences": DECODES,
    "nn/heads.py:of": DECODES,
    "nn/heads.py:best": DECODES,
    "tasks/dialogue_input.py:likeliest_together": DECODES,
    "tasks/dialogue_input.py:span_logs": DECODES,
    "tasks/rewriting/model.py:ranked_rewrites": DECODES,
    "tasks/rewriting/word_task.py:n_best": DECODES,
    "tasks/csrl/model.py:_possible": DECODES,
    "tasks/csrl/model.py:log_likelihood_of_roles": DECODES,
    "tasks/token_classification/task.py:n_best": DECODES,
    "tasks/coreference/model.py:collate_coreference": COLLATES,
    "tasks/rewriting/word_task.py:collate": COLLATES,
    "tasks/token_classification/task.py:allowed_steps": DECODES,
    "tasks/parsing/dependency/model.py:decode_heads": DECODES,
    "tasks/rewriting/model.py:decode_rewrites": DECODES,
    "tasks/parsing/dependency/model.py:__init__": INITIAL,
    "nn/encoder.py:pretrain_encoder": INITIAL,
    "nn/encoder.py:pretrain_word_encoder": INITIAL,
    "nn/training.py:__init__": "threads, and their noise, are for the processor alone",
    "nn/training.py:receive": "of tensors that are on the device already",
}


def test_no_tensor_is_made_without_a_device() -> None:
    """Tensors are made like others (`zeros_like`, `new_ones`), with a device, or where the processor is meant."""
    found = {
        place
        for room in ("nn", "tasks", "methods", "bridges")
        for path in (LIBRARY / room).rglob("*.py")
        for place in made_in(path)
    }
    assert found - set(ON_PROCESSOR) == set(), "give these a device, or say here why they belong on the processor"
    assert set(ON_PROCESSOR) - found == set(), "nothing is made there any more"


def made_in(path: Path) -> set[str]:
    """`file:function` of all tensors that are made without a device."""
    name = path.relative_to(LIBRARY).as_posix()
    found: set[str] = set()

    def walk(node: ast.AST, function: str) -> None:
        if isinstance(node, ast.FunctionDef):
            function = node.name
        if isinstance(node, ast.Call) and makes_tensor(node.func) and "device" not in {k.arg for k in node.keywords}:
            found.add(f"{name}:{function}")
        for child in ast.iter_child_nodes(node):
            walk(child, function)

    walk(ast.parse(path.read_text(encoding="utf-8")), "")
    return found


def makes_tensor(function: ast.expr) -> bool:
    if isinstance(function, ast.Name):
        return function.id == "Generator"
    is_torchs = (
        isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "torch"
    )
    return is_torchs and function.attr in MAKERS  # type: ignore[union-attr]


def test_the_check_sees_what_it_should(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "LIBRARY", tmp_path)
    (tmp_path / "some.py").write_text(
        "import torch\n"
        "def bad(x):\n    return x + torch.arange(3)\n"
        "def good(x):\n    return torch.zeros_like(x) + torch.arange(3, device=x.device) + x.new_ones(3)\n"
    )
    assert made_in(tmp_path / "some.py") == {"some.py:bad"}
