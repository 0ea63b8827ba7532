"""Several threads on one batch: the gradients of the whole, the same bits every time, threads given back."""

import threading
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from friend_training.core.task import FitPlan
from friend_training.data.synthetic import Domain, csrl_examples, generate, rewriting_examples
from friend_training.nn.encoder import ByteDropout
from friend_training.nn.heads import Head, unit_losses
from friend_training.nn.training import Hands, TrainingSettings, train, weighted_mean
from friend_training.tasks.csrl.task import csrl_task
from friend_training.tasks.rewriting.task import rewriting_task
from helpers.shared_training import Batch, Item, collate, items

SETTINGS = TrainingSettings(batch_size=8, head_rate=0.1, look_every=5)


class Rows(nn.Module):
    """Classes from a table of vectors, by way of dropout; `unused` and `fixed` never get a gradient."""

    def __init__(self, dropout: float, *, sparse: bool = False) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.table = nn.Embedding(50, 3, sparse=sparse)
        self.dropout = ByteDropout(dropout)
        self.classify = nn.Linear(3, 2)
        self.unused = nn.Parameter(torch.ones(2, 2))
        self.fixed = nn.Parameter(torch.ones(2, 2), requires_grad=False)  # RoFormer's positions are such
        self.threads: set[int] = set()

    def forward(self, batch: Batch) -> tuple[Head, ...]:
        self.threads.add(threading.get_ident())
        rows = self.table((10 * (batch.values.squeeze(2) + 2)).long())
        return (Head(self.classify(self.dropout(rows)), torch.ones(len(batch.values), 1, dtype=torch.bool)),)


def some_items() -> list[Item]:
    return [item for item in items() if item.values]


def dense(gradient: Tensor | None) -> Tensor:
    assert gradient is not None
    return gradient.to_dense()


@pytest.mark.parametrize("sparse", [True, False])
def test_parts_give_the_gradients_of_the_whole_batch(two_threads: None, sparse: bool) -> None:
    network, given = Rows(dropout=0.0, sparse=sparse).train(), some_items()[:5]
    whole = collate(given)
    weighted_mean(unit_losses(network(whole), whole.targets), whole.weights).backward()  # type: ignore[no-untyped-call]
    expected = {name: dense(weight.grad) for name, weight in network.named_parameters() if weight.grad is not None}
    with Hands(network, batch_size=8, seed=1) as hands:
        assert hands.count == 2
        hands.backward([collate(given[:2]), collate(given[2:])])
    found = {name: dense(weight.grad) for name, weight in network.named_parameters() if weight.grad is not None}
    assert found.keys() == expected.keys() == {"table.weight", "classify.weight", "classify.bias"}
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient)


def trained(seed: int) -> tuple[Rows, dict[str, Tensor]]:
    network = Rows(dropout=0.5)
    train(network, some_items(), collate, lambda: 0.0, plan=FitPlan(seed=seed, steps=12), settings=SETTINGS)
    return network, {name: weight.clone() for name, weight in network.state_dict().items()}


def test_a_seed_gives_the_same_bits_with_two_threads(two_threads: None) -> None:
    network, first = trained(seed=3)
    assert len(network.threads) == 2
    assert threading.get_ident() not in network.threads
    assert torch.get_num_threads() == 2
    for _ in range(3):
        again = trained(seed=3)[1]
        assert all(torch.equal(weight, again[name]) for name, weight in first.items())
    other = trained(seed=4)[1]
    assert not torch.equal(first["classify.weight"], other["classify.weight"])


@pytest.mark.parametrize("which", [0, 1], ids=["csrl", "rewriting"])
def test_a_task_on_a_transformer_is_trained_to_the_same_bits(
    two_threads: None, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch, which: int
) -> None:
    """Its encoder has a table with sparse gradients."""
    made = generate(12, seed=5, domain=Domain.FILM)
    gold: list[Any] = [[one for one in csrl_examples(made) if one.roles], rewriting_examples(made)][which]
    shared: list[int] = []
    backward = Hands.backward
    monkeypatch.setattr(Hands, "backward", lambda self, parts: (shared.append(len(parts)), backward(self, parts))[1])
    found = []
    for _ in range(2):
        settings = TrainingSettings(batch_size=8)
        task = (csrl_task, rewriting_task)[which](tiny_encoder, settings)
        task.fit(gold, (), dev=gold[:2], plan=FitPlan(seed=1, steps=4, restart=True))
        found.append({name: weight.clone() for name, weight in task.network.state_dict().items()})
    assert shared == [2] * 8
    assert all(torch.equal(weight, found[1][name]) for name, weight in found[0].items())


def test_each_thread_draws_for_itself(two_threads: None) -> None:
    """The same items in both parts: with the same noise both would have the same gradients."""
    seen: list[Tensor] = []

    class Watched(Rows):
        def forward(self, batch: Batch) -> tuple[Head, ...]:
            seen.append(self.dropout(torch.ones(200)))
            return super().forward(batch)

    with Hands(Watched(dropout=0.5).train(), batch_size=8, seed=1) as hands:
        hands.backward([collate(some_items()), collate(some_items())])
    assert len(seen) == 2
    assert not torch.equal(seen[0], seen[1])


def test_dev_is_looked_at_with_all_threads(two_threads: None) -> None:
    seen: list[int] = []
    network = Rows(dropout=0.1)

    def look() -> float:
        seen.append(torch.get_num_threads())
        return 0.0

    train(network, some_items(), collate, look, plan=FitPlan(seed=1, steps=10), settings=SETTINGS)
    assert seen == [2, 2]


def test_recurrent_layers_keep_to_one_thread(two_threads: None) -> None:
    """Their dropout is torch's own, from the generator that all threads share."""
    assert Hands(nn.ModuleList([nn.LSTM(2, 2)]), batch_size=8, seed=1).count == 1


def test_an_error_in_a_thread_comes_out_and_gives_the_threads_back(two_threads: None) -> None:
    class Broken(Rows):
        def forward(self, batch: Batch) -> tuple[Head, ...]:
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"), Hands(Broken(dropout=0.1), batch_size=8, seed=1) as hands:
        hands.backward([collate(some_items()), collate(some_items())])
    assert torch.get_num_threads() == 2


@pytest.mark.parametrize(("threads", "batch_size", "hands", "each"), [(5, 8, 2, 2), (3, 16, 3, 1), (4, 3, 1, 4)])
def test_a_thread_gets_four_items_at_least(
    two_threads: None, threads: int, batch_size: int, hands: int, each: int
) -> None:
    """On many cores a small batch is shared by few hands, with several threads each."""
    torch.set_num_threads(threads)
    with Hands(Rows(dropout=0.1), batch_size=batch_size, seed=1) as shared:
        assert shared.count == hands
        assert torch.get_num_threads() == each
        assert shared.rested(torch.get_num_threads) == threads
    assert torch.get_num_threads() == threads
