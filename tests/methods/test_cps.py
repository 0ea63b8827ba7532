"""Two networks, each supervised by the other and by gold, never by itself."""

from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from friend_training.errors import ConfigError
from friend_training.loop.algorithm import Training
from friend_training.methods.cross_pseudo_supervision import cps, cross_pseudo_loss
from friend_training.nn.heads import Head, unit_losses
from friend_training.runs.steps import Train
from helpers.tiny import SETTINGS, plan, pool
from helpers.toy_runs import start


class Fixed(nn.Module):
    """A network that has made up its mind: one unit, two slots, three classes."""

    def __init__(self, *classes):
        super().__init__()
        logits = torch.zeros(1, 2, 3)
        for slot, chosen in enumerate(classes):
            logits[0, slot, chosen] = 2.0
        self.logits = nn.Parameter(logits)

    def forward(self, batch):
        return (Head(self.logits, torch.ones(1, 2, dtype=torch.bool)),)


def _gradients(networks, weight):
    gold = SimpleNamespace(targets=[torch.tensor([[2, 2]])], weights=torch.zeros(1))  # gold says nothing here
    cross_pseudo_loss(networks, gold, gold, cross_weight=weight).backward()
    return [network.logits.grad for network in networks]


def test_each_network_learns_the_other_ones_labels_and_never_its_own():
    first, second = Fixed(0, 1), Fixed(1, 0)
    found = _gradients([first, second], 1.5)
    for network, others in ((Fixed(0, 1), [[1, 0]]), (Fixed(1, 0), [[0, 1]])):
        (1.5 * unit_losses(network(None), [torch.tensor(others)]).sum()).backward()
        torch.testing.assert_close(found.pop(0), network.logits.grad)


def test_gold_supervises_both():
    labels = SimpleNamespace(targets=[torch.tensor([[2, 2]])], weights=torch.ones(1))
    networks = [Fixed(0, 1), Fixed(1, 0)]
    cross_pseudo_loss(networks, labels, labels, cross_weight=0.0).backward()
    assert all((network.logits.grad[0, :, 2] < 0).all() for network in networks)


def test_both_networks_train_and_each_began_as_its_own_base(encoder, tmp_path):
    run = start(tmp_path / "run")
    partner = plan(encoder, "csrl")
    began_at, load = [], partner.task.load
    partner.task.load = lambda folder: (began_at.append(folder), load(folder))
    cps(run, {"csrl": plan(encoder, "csrl")}, {"csrl": partner}, pool(), settings=SETTINGS)
    assert began_at[-2:] == [run.checkpoint("csrl.second", 0), run.checkpoint("csrl", 1) / "second"]
    weights = [
        load_file(folder / "model.safetensors")["classify.weight"]
        for folder in (
            run.checkpoint("csrl", 0),
            run.checkpoint("csrl.second", 0),
            run.checkpoint("csrl", 1),
            run.checkpoint("csrl", 1) / "second",
            run.checkpoint("csrl", 2) / "second",
        )
    ]
    assert not any(torch.equal(a, b) for at, a in enumerate(weights) for b in weights[:at])
    # After three steps the second network is still nearest to the Base it began as.
    own, foreign = ((weights[3] - base).abs().mean() for base in (weights[1], weights[0]))
    assert own < foreign
    assert run.result(Train("csrl.second", 1)) is None


def test_partners_that_are_no_partners_are_refused(encoder, tmp_path):
    one = plan(encoder, "csrl")
    run = start(tmp_path / "run")
    with pytest.raises(ConfigError, match="same object"):
        cps(run, {"csrl": one}, {"csrl": one}, pool(), settings=SETTINGS)
    with pytest.raises(ConfigError, match="second model for each"):
        cps(run, {"csrl": one}, {}, pool(), settings=SETTINGS)
    shared = [plan(encoder, "csrl", base=tmp_path, update=Training(3)) for _ in range(2)]
    with pytest.raises(ConfigError, match="same Base"):
        cps(run, {"csrl": shared[0]}, {"csrl": shared[1]}, pool(), settings=SETTINGS)
