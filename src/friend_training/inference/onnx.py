"""A network as an ONNX file: tensors in, logits out, batches of any size and length."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import Dim

from friend_training.errors import MissingPackageError
from friend_training.nn.task import TorchTask
from friend_training.tasks.rewriting.model import RewriteBatch
from friend_training.tasks.role_labelling import RoleBatch
from friend_training.types import Dialogue, Predicate, Turn

INPUTS = {
    "csrl": ("ids", "types", "mask", "turn", "dialogue", "first", "last"),
    "rewriting": ("ids", "types", "mask", "source", "slots"),
}
OUTPUTS = {"csrl": ("logits",), "rewriting": ("keep", "start", "end")}

SAMPLE = (
    Dialogue("a", (Turn("A", "你喜欢我吗？"), Turn("B", "你来看我吗？")), (Predicate(1, 2), Predicate(2, 3))),
    Dialogue("b", (Turn("A", "我来看你了。"), Turn("B", "我很喜欢。"), Turn("A", "来吗？")), (Predicate(0, 1),)),
)
"""What the network is traced with; no size of it is special to the file that comes out."""


class _TensorsIn(nn.Module):
    """The network with its batch taken apart: what decoding alone looks at is left out."""

    def __init__(self, task: str, network: nn.Module) -> None:
        super().__init__()
        self.task, self.network = task, network

    def forward(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        given: dict[str, Any] = dict(zip(INPUTS[self.task], tensors, strict=True))
        nothing: Any = {"targets": (), "weights": tensors[0], "items": ()}
        if self.task == "csrl":
            batch: Any = RoleBatch(**given, **nothing)
        else:
            slots = given["slots"] >= 0
            batch = RewriteBatch(**given, turn=tensors[0], is_token=slots, is_slot=slots, **nothing)
        return tuple(head.logits for head in self.network(batch))


def network_inputs(task: TorchTask, batch: Any) -> dict[str, Tensor]:
    """The tensors of a collated batch that the file takes, by name."""
    return {name: getattr(batch, name) for name in INPUTS[task.name]}


def check_onnx() -> None:
    for name in ("onnx", "onnxscript"):
        if find_spec(name) is None:
            raise MissingPackageError(name)


def export_onnx(task: TorchTask, path: str | Path) -> None:
    """Write `path`; needs the extra friend-training[onnx]. It takes some ten seconds."""
    check_onnx()
    definition = task.definition
    batch = task.collate(definition.input_items(SAMPLE))
    tensors = network_inputs(task, batch)
    names = {"B": Dim("dialogues"), "M": Dim("tokens"), "U": Dim("predicates"), "N": Dim("slots")}
    axes = dict.fromkeys(("ids", "types", "mask", "turn", "source"), "BM")
    axes |= {"dialogue": "U", "first": "U", "last": "U", "slots": "BN"}
    shapes = tuple({at: names[axis] for at, axis in enumerate(axes[name])} for name in tensors)
    network = _TensorsIn(task.name, task.network).eval()
    with torch.no_grad(), _quiet():
        program = torch.onnx.export(
            network,
            tuple(tensors.values()),
            dynamo=True,
            dynamic_shapes=(shapes,),
            input_names=list(tensors),
            output_names=list(OUTPUTS[task.name]),
            verbose=False,
        )
    assert program is not None
    program.save(str(path))


@contextmanager
def _quiet() -> Iterator[None]:
    """The exporter tells of packages it could have used and of axes that have one name: nothing anybody can change."""
    logger = logging.getLogger("torch.onnx")
    before = logger.level
    logger.setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    logger.setLevel(before)
