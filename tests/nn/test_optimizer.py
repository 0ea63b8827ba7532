"""Rows of the embedding table that no batch touches, one clipping for dense and sparse gradients, the schedule."""

from pathlib import Path

import pytest
import torch
from torch import nn

from friend_training.nn.encoder import Encoder, load_encoder
from friend_training.nn.training import clip_gradients, make_optimizers, warm_up_then_decay


class Probe(nn.Module):
    """An encoder under one linear layer."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(encoder.width, 2)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.head(self.encoder(ids, torch.zeros_like(ids), torch.ones_like(ids)))
        return out


@pytest.fixture
def probe(tiny_encoder: Path) -> Probe:
    torch.manual_seed(0)
    return Probe(load_encoder(tiny_encoder))


def make(probe: Probe) -> list[torch.optim.Optimizer]:
    return make_optimizers(probe, encoder_rate=1e-2, head_rate=1e-1, weight_decay=0.1)


def test_untouched_rows_keep_their_value_and_have_no_state(probe: Probe) -> None:
    words = probe.encoder.words.weight
    before = words.detach().clone()
    optimizers = make(probe)
    touched = torch.tensor([7, 8, 9])
    for _ in range(3):
        probe(touched.unsqueeze(0)).square().sum().backward()
        assert words.grad is not None
        assert words.grad.is_sparse
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
    changed = (words.detach() != before).any(dim=1)
    assert changed.nonzero().squeeze(1).tolist() == touched.tolist()
    state = optimizers[1].state[words]
    for name in ("exp_avg", "exp_avg_sq"):
        assert (state[name] != 0).any(dim=1).nonzero().squeeze(1).tolist() == touched.tolist()


def test_every_weight_has_one_optimizer_and_its_own_rate(probe: Probe) -> None:
    dense, sparse = make(probe)
    groups = [(group, weight) for group in dense.param_groups + sparse.param_groups for weight in group["params"]]
    assert sorted(id(weight) for _, weight in groups) == sorted(id(weight) for weight in probe.parameters())
    rates = {id(weight): group["lr"] for group, weight in groups}
    decay = {id(weight): group.get("weight_decay", 0.0) for group, weight in groups}
    assert {rates[id(weight)] for weight in probe.encoder.parameters()} == {1e-2}
    assert {rates[id(weight)] for weight in probe.head.parameters()} == {1e-1}
    assert decay[id(probe.head.weight)] == 0.1
    assert decay[id(probe.head.bias)] == 0.0
    assert decay[id(probe.encoder.words.weight)] == 0.0


def _parameters() -> tuple[nn.Parameter, nn.Parameter]:
    dense, table = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(5, 2))
    dense.grad = torch.tensor([3.0, 0.0])
    # Row 1 is met twice: its gradient is the sum, (0, 4), and the norm of all is 5.
    table.grad = torch.sparse_coo_tensor(
        torch.tensor([[1, 1]]), torch.tensor([[0.0, 1.0], [0.0, 3.0]]), (5, 2), check_invariants=True
    )
    return dense, table


def test_clipping_looks_at_dense_and_sparse_together() -> None:
    dense, table = _parameters()
    clip_gradients([dense, table], 1.0)
    assert dense.grad is not None
    assert table.grad is not None
    assert dense.grad.tolist() == pytest.approx([0.6, 0.0], abs=1e-5)
    assert table.grad.to_dense()[1].tolist() == pytest.approx([0.0, 0.8], abs=1e-5)


def test_small_gradients_are_left_alone() -> None:
    dense, table = _parameters()
    clip_gradients([dense, table], 5.5)
    assert dense.grad is not None
    assert table.grad is not None
    assert dense.grad.tolist() == [3.0, 0.0]
    assert table.grad.to_dense()[1].tolist() == [0.0, 4.0]


def test_the_schedule_rises_and_falls() -> None:
    rates = [warm_up_then_decay(step, steps=10, warm_up=0.3) for step in range(10)]
    assert rates == pytest.approx([1 / 3, 2 / 3, 1, 1, 6 / 7, 5 / 7, 4 / 7, 3 / 7, 2 / 7, 1 / 7])


@pytest.mark.parametrize(("steps", "warm_up"), [(1, 0.0), (1, 1.0), (3, 0.0), (5, 1.0), (20, 0.1)])
def test_every_step_of_the_schedule_trains(steps: int, warm_up: float) -> None:
    rates = [warm_up_then_decay(step, steps=steps, warm_up=warm_up) for step in range(steps)]
    assert all(0 < rate <= 1 for rate in rates)
    assert max(rates) == 1
