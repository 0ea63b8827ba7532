"""A graphics card that is none: torch's private device under fake tensors, which have shapes and devices, no values.

Networks run on it forward and backward, and a step between tensors of two devices is refused, as on a card. To be
registered before anything is differentiated, once per process and for good: hence the process of its own
(test_devices.py).
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields, is_dataclass, replace
from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode, unset_fake_temporarily
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils.backend_registration import _DummyBackendModule, _setup_privateuseone_for_python_backend

from friend_training.nn import encoder
from friend_training.nn.task import TorchTask

NAME = "card"


class CardModule(_DummyBackendModule):  # type: ignore[misc]
    """What torch asks of a device that can compute in bf16 and draws random numbers."""

    seeds: ClassVar[list[int]] = []

    def _is_in_bad_fork(self) -> bool:
        return False

    def manual_seed_all(self, seed: int) -> None:
        self.seeds.append(seed)

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.bfloat16]


_setup_privateuseone_for_python_backend(NAME, CardModule())
CARD = torch.device(NAME, 0)
CPU = torch.device("cpu")


@contextmanager
def a_card(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Inside it all tensors are fake, modules can be put on the card, and so can tasks."""
    mode = FakeTensorMode(shape_env=ShapeEnv())

    def to(module: nn.Module, device: torch.device) -> nn.Module:
        """`nn.Module.to` by fresh parameters and buffers: torch's own cannot change the device of fake ones."""
        for part in module.modules():
            for name, weight in part._parameters.items():
                if weight is not None and weight.device != device:
                    fresh = torch.empty(weight.shape, dtype=weight.dtype, device=device)
                    part._parameters[name] = nn.Parameter(fresh, requires_grad=weight.requires_grad)
            for name, buffer in part._buffers.items():
                if buffer is not None:
                    part._buffers[name] = torch.empty(buffer.shape, dtype=buffer.dtype, device=device)
        return module

    def packed(vectors: Tensor, lengths: Any, **how: Any) -> Tensor:
        """Packing reads the lengths, which must therefore not be on a card; fake ones have no values to read."""
        assert not isinstance(lengths, Tensor) or lengths.device == CPU
        return vectors

    monkeypatch.setattr(nn.Module, "to", to)
    monkeypatch.setattr(FakeTensorMode, "__deepcopy__", lambda mode, memo: mode, raising=False)  # copies stay in it
    monkeypatch.setattr(encoder, "pack_padded_sequence", packed)
    monkeypatch.setattr(encoder, "pad_packed_sequence", lambda vectors, **how: (vectors, None))
    with mode:
        yield


def as_on_processor() -> AbstractContextManager[None]:
    """What is made inside it is real, and on the processor."""
    return unset_fake_temporarily()  # type: ignore[no-any-return]


def on_card(task: TorchTask, encoder: nn.Module) -> TorchTask:
    """The task with a network on that encoder; its batches are real on the processor and become fake on their way."""
    collate = task.definition.collate

    def collate_fake(items: Any) -> Any:
        with as_on_processor():
            batch = collate(items)
        return as_fake(batch)

    task.device = CARD
    task.definition.collate = collate_fake  # type: ignore[method-assign]
    with as_on_processor():
        network = task.definition.network(encoder)
    task.network = network
    return task


def as_fake(value: Any) -> Any:
    if isinstance(value, Tensor):
        return _mode().from_tensor(value, static_shapes=True)
    if isinstance(value, tuple):
        return tuple(as_fake(part) for part in value) if any(isinstance(part, Tensor) for part in value) else value
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: as_fake(getattr(value, field.name)) for field in fields(value)})
    return value


def _mode() -> FakeTensorMode:
    mode = torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.FAKE)
    assert isinstance(mode, FakeTensorMode)
    return mode


def devices_in(value: Any) -> set[torch.device]:
    """The devices of all tensors in a network, a batch, heads …"""
    if isinstance(value, Tensor):
        return {value.device}
    if isinstance(value, nn.Module):
        return {tensor.device for tensor in (*value.parameters(), *value.buffers())}
    if isinstance(value, dict):
        return devices_in(tuple(value.values()))
    if isinstance(value, tuple | list):
        return {device for part in value for device in devices_in(part)}
    if is_dataclass(value) and not isinstance(value, type):
        return {device for field in fields(value) for device in devices_in(getattr(value, field.name))}
    return set()
