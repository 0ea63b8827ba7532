"""Dropout by bytes: how much is dropped, that nothing is shifted, whose seed decides, and where it is put in."""

import pytest
import torch
from torch import nn
from transformers import AutoConfig, AutoModel

from friend_training.nn.encoder import ByteDropout, Encoder, with_byte_dropout


@pytest.mark.parametrize("p", [0.1, 0.33, 0.5])
def test_the_share_and_the_mean_are_those_of_dropout(p: float) -> None:
    torch.manual_seed(0)
    values = torch.ones(400, 1001)  # not a multiple of eight
    dropped = ByteDropout(p).train()(values)
    share = round(p * 256) / 256
    assert (dropped == 0).float().mean().item() == pytest.approx(share, abs=0.004)
    assert dropped.mean().item() == pytest.approx(1.0, abs=0.005)
    assert dropped.unique().tolist() == pytest.approx([0.0, 1 / (1 - share)])


def test_every_place_is_dropped_as_often_as_any_other() -> None:
    """Eight elements share a random word: none of its bytes may have fewer values than the others."""
    torch.manual_seed(0)
    zeros = ByteDropout(0.1).train()(torch.ones(100_000, 8)) == 0
    assert zeros.float().mean(dim=0).tolist() == pytest.approx([26 / 256] * 8, abs=0.005)
    together = (zeros[:, :-1] & zeros[:, 1:]).float().mean(dim=0)
    assert together.tolist() == pytest.approx([(26 / 256) ** 2] * 7, abs=0.002)  # and each for itself


def test_gradients_pass_where_values_do() -> None:
    values = torch.randn(5, 7, requires_grad=True)
    dropped = ByteDropout(0.5).train()(values)
    dropped.sum().backward()
    assert values.grad is not None
    assert torch.equal(values.grad != 0, dropped != 0)
    assert set(values.grad.flatten().tolist()) == {0.0, 2.0}


def test_the_seed_of_torch_decides() -> None:
    dropout, values = ByteDropout(0.3).train(), torch.ones(50)
    torch.manual_seed(1)
    first, second = dropout(values), dropout(values)
    torch.manual_seed(1)
    assert torch.equal(dropout(values), first)
    assert not torch.equal(first, second)


@pytest.mark.parametrize("p", [0.1, 0.0])
def test_nothing_happens_outside_training_or_with_nothing_to_drop(p: float) -> None:
    values, dropout = torch.randn(30), ByteDropout(p)
    assert torch.equal(dropout.train(p == 0.0)(values), values)


def test_it_takes_the_place_of_every_dropout() -> None:
    inner = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.25))
    network = with_byte_dropout(nn.ModuleDict({"a": inner, "b": nn.Dropout(0.5)}))
    found = [module.dropped for module in network.modules() if isinstance(module, ByteDropout)]
    assert found == [64, 128]
    assert not any(isinstance(module, nn.Dropout) for module in network.modules())


@pytest.mark.parametrize("family", ["bert", "roberta", "electra", "ernie", "roformer", "deberta-v2", "mpnet"])
def test_encoders_train_with_it(family: str) -> None:
    """Some ask their dropout for its p."""
    sizes = {
        "vocab_size": 9,
        "hidden_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 8,
    }
    encoder = with_byte_dropout(Encoder(AutoModel.from_config(AutoConfig.for_model(family, **sizes)))).train()
    ids, mask = torch.tensor([[5, 6, 7]]), torch.ones(1, 3, dtype=torch.long)
    first, second = (encoder(ids, torch.zeros_like(ids), mask) for _ in "12")
    assert not torch.equal(first, second)
