"""The training loop by itself: the best weights on dev are kept, patience, the reports on the way."""

from dataclasses import dataclass
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor, nn

from friend_training.core.task import FitPlan
from friend_training.nn import training
from friend_training.nn.heads import Head
from friend_training.nn.training import TELL_EVERY, TrainingSettings, train

SETTINGS = TrainingSettings(batch_size=2, head_rate=0.1, look_every=5)


@dataclass(frozen=True)
class Item:
    value: float
    label: int
    length: int = 1


class Line(nn.Module):
    """Two classes by one number."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.classify = nn.Linear(1, 2)

    def forward(self, batch: SimpleNamespace) -> tuple[Head, ...]:
        return (Head(self.classify(batch.values), torch.ones(len(batch.values), 1, dtype=torch.bool)),)


def collate(items: list[Item]) -> SimpleNamespace:
    return SimpleNamespace(
        values=torch.tensor([[[item.value]] for item in items]),
        targets=(torch.tensor([[item.label] for item in items]),),
        weights=torch.ones(len(items)),
    )


ITEMS = [Item(-1.0, 0), Item(1.0, 1), Item(-2.0, 0), Item(2.0, 1)]


class Dev:
    """Gives the scores it was told to, and keeps the weights that each look saw."""

    def __init__(self, network: nn.Module, scores: list[float]) -> None:
        self.network, self.scores = network, scores
        self.seen: list[dict[str, Tensor]] = []

    def __call__(self) -> float:
        self.seen.append({name: weight.clone() for name, weight in self.network.state_dict().items()})
        return self.scores[len(self.seen) - 1]


@pytest.mark.parametrize(
    ("scores", "patience", "best", "looks"),
    [
        ([1.0, 3.0, 2.0, 0.0], None, 2, 4),
        ([1.0, 2.0, 3.0, 4.0], None, 4, 4),
        ([3.0, 3.0, 3.0, 3.0], None, 1, 4),  # of equals the first
        ([1.0, 3.0, 2.0, 9.0], 1, 2, 3),
        ([3.0, 2.0, 1.0, 9.0], 2, 1, 3),
        ([2.0, 1.0, 3.0, 1.0], 2, 3, 4),  # a gain makes patience whole again
    ],
)
def test_the_best_weights_on_dev_are_kept(scores: list[float], patience: int | None, best: int, looks: int) -> None:
    network = Line()
    dev = Dev(network, scores)
    summary = train(network, ITEMS, collate, dev, plan=FitPlan(seed=1, steps=20, patience=patience), settings=SETTINGS)
    assert len(dev.seen) == looks
    assert (summary.best_step, summary.best_score, summary.steps) == (5 * best, scores[best - 1], 5 * looks)
    assert summary.curve == tuple((5 * (look + 1), scores[look]) for look in range(looks))
    assert all(torch.equal(network.state_dict()[name], weight) for name, weight in dev.seen[best - 1].items())
    assert not any(torch.equal(dev.seen[0]["classify.weight"], later["classify.weight"]) for later in dev.seen[1:])


def test_the_last_step_is_looked_at_too() -> None:
    network = Line()
    dev = Dev(network, [1.0, 2.0])
    assert train(network, ITEMS, collate, dev, plan=FitPlan(seed=1, steps=7), settings=SETTINGS).best_step == 7


def test_training_learns() -> None:
    network = Line()

    def accuracy() -> float:
        batch = collate(ITEMS)
        with torch.inference_mode():
            return float((network(batch)[0].logits.argmax(dim=-1) == batch.targets[0]).float().mean())

    assert train(network, ITEMS, collate, accuracy, plan=FitPlan(seed=1, steps=60), settings=SETTINGS).best_score == 1.0


def test_the_order_of_batches_is_the_seeds() -> None:
    def trained(seed: int) -> Tensor:
        network = Line()
        train(network, ITEMS, collate, lambda: 0.0, plan=FitPlan(seed=seed, steps=5), settings=SETTINGS)
        return network.classify.weight

    assert torch.equal(trained(1), trained(1))
    assert not torch.equal(trained(1), trained(4))


def test_whoever_watches_is_told() -> None:
    told: list[tuple[int, int]] = []
    plan = FitPlan(seed=1, steps=2 * TELL_EVERY + 1)
    train(Line(), ITEMS, collate, lambda: 0.0, plan=plan, settings=SETTINGS, progress=lambda *now: told.append(now))
    assert told == [(TELL_EVERY, plan.steps), (2 * TELL_EVERY, plan.steps)]


def test_free_memory_is_given_back_on_the_way_and_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    monkeypatch.setattr(training, "give_back_memory", lambda: given.append(1))
    plan = FitPlan(seed=1, steps=2 * training.GIVE_BACK_EVERY + 1)
    train(Line(), ITEMS, collate, lambda: 0.0, plan=plan, settings=SETTINGS)
    assert len(given) == 3
