"""What the processes of test_processes.py do: a tiny network on items that have different numbers of units."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from friend_training.core.task import FitPlan
from friend_training.methods.update import mean_over_units
from friend_training.nn import training
from friend_training.nn.heads import Head, unit_losses
from friend_training.nn.training import (
    InParts,
    Learning,
    TrainingSettings,
    gradients_of,
    learn,
    own_batches,
    train,
    weighted_mean,
)
from friend_training.runs.files import rank, world


@dataclass(frozen=True)
class Item:
    values: tuple[float, ...]
    labels: tuple[int, ...]
    weights: tuple[float, ...]

    @property
    def length(self) -> int:
        return len(self.values)


@dataclass(frozen=True)
class Batch:
    values: Tensor  # [U, 1, 1]
    targets: tuple[Tensor, ...]
    weights: Tensor


class Line(nn.Module):
    """Two classes by one number; `unused` never gets a gradient."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(rank())  # all begin as the first does, however they were made
        self.classify = nn.Linear(1, 2)
        self.unused = nn.Parameter(torch.ones(2, 2))

    def forward(self, batch: Batch) -> tuple[Head, ...]:
        return (Head(self.classify(batch.values), torch.ones(len(batch.values), 1, dtype=torch.bool)),)


def items() -> list[Item]:
    """Eleven, of one to four units (the last has none), with weights that differ."""
    made = [
        Item(
            values=tuple(0.3 * ((7 * number + 3 * unit) % 11) - 1.5 for unit in range(1 + number % 4)),
            labels=tuple((number + unit) % 3 % 2 for unit in range(1 + number % 4)),
            weights=tuple(0.25 * (1 + (number + unit) % 4) for unit in range(1 + number % 4)),
        )
        for number in range(10)
    ]
    return [*made, Item((), (), ())]


def collate(items: Any) -> Batch:
    return Batch(
        values=torch.tensor([value for item in items for value in item.values]).view(-1, 1, 1),
        targets=(torch.tensor([label for item in items for label in item.labels], dtype=torch.long).view(-1, 1),),
        weights=torch.tensor([weight for item in items for weight in item.weights]),
    )


class Curve:
    """The loss of each step: this process's share of it."""

    def __init__(self) -> None:
        self.losses: list[float] = []
        self.before, training.backward = training.backward, self.backward

    def backward(self, loss: Tensor, networks: Any) -> None:
        self.losses.append(float(loss.detach()))
        self.before(loss, networks)

    def stop(self) -> None:
        training.backward = self.before


def trained(batch_size: int, per_process: bool = False, scores_differ: bool = False) -> dict[str, Any]:
    """One training; `per_process` normalises the loss in the wrong way, which must show."""
    network = Line()
    curve, mean = Curve(), training.mean
    if per_process:
        training.mean = lambda values: values.mean() / world()
    looks: list[int] = []

    def dev_score() -> float:
        looks.append(len(curve.losses))
        rising = len(looks) if rank() or not scores_differ else -len(looks)
        return float(rising)

    # A mean over nothing is none: where a batch or part may be that item alone, it is left out.
    some = items()[:10] if per_process or batch_size == 1 else items()
    settings = TrainingSettings(batch_size=batch_size, head_rate=0.05, clip=0.3, look_every=5)
    plan = FitPlan(seed=2, steps=20, patience=2 if scores_differ else None)
    summary = train(network, some, collate, dev_score, plan=plan, settings=settings)
    curve.stop()
    training.mean = mean
    weights = {name: weight.flatten().tolist() for name, weight in network.state_dict().items()}
    return {"losses": curve.losses, "weights": weights, "best": summary.best_step, "steps": summary.steps}


def learnt_in_two_means() -> dict[str, Any]:
    """Two networks and two kinds of batches, of which one is smaller than the number of processes."""
    networks = [Line(), Line()]
    curve = Curve()
    large = own_batches(items(), collate, 4, seed=1, steps=12)
    small = own_batches(items()[:10], collate, 1, seed=2, steps=12)

    def loss(networks: Any, step: int) -> Tensor:
        one, other = next(large), next(small)
        gold = weighted_mean(unit_losses(networks[0](one), one.targets), one.weights)
        both = [unit_losses(networks[1](batch), batch.targets) for batch in (one, other)]
        return gold + 0.7 * mean_over_units(both, (one, other))

    what = Learning(networks, gradients_of(loss, networks), lambda: float(len(curve.losses)), kept=networks)
    settings = TrainingSettings(head_rate=0.05, look_every=6)
    learn(what, plan=FitPlan(seed=1, steps=12), settings=settings, progress=lambda done, total: None)
    curve.stop()
    return {"losses": curve.losses, "weights": [network.classify.weight.tolist() for network in networks]}


class Table(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rows = nn.Embedding(8, 2, sparse=True)
        self.line = nn.Linear(2, 1)
        self.unused = nn.Linear(1, 1)


def added_up() -> dict[str, Any]:
    """The first process touches rows 1 (twice) and 3 and the line, the second rows 3 and 6 and nothing else."""
    training.meet()
    network = Table()
    nn.init.ones_(network.rows.weight)
    nn.init.ones_(network.line.weight)
    if rank() == 0:
        network.line(network.rows(torch.tensor([1, 1, 3]))).sum().backward()
    else:
        (10 * network.rows(torch.tensor([6, 3]))).sum().backward()
    training.add_up_gradients(network)
    gradients = {name: weight.grad for name, weight in network.named_parameters()}
    rows = gradients["rows.weight"]
    assert rows is not None
    return {
        "sparse": rows.is_sparse,
        "touched": rows.coalesce().indices()[0].tolist(),
        "rows": rows.to_dense().tolist(),
        "line": gradients["line.weight"].tolist(),  # type: ignore[union-attr]
        "without": [name for name, gradient in gradients.items() if gradient is None],
    }


def held_and_made() -> dict[str, Any]:
    """Which parts a process makes, and how many items it holds, of a training that is over before an epoch is."""
    training.meet()
    made: list[int] = []
    source = items()[:10] * 20

    def part(number: int) -> list[Item]:
        made.append(number)
        return source[20 * number : 20 * number + 20]

    in_parts = InParts([lambda number=number: part(number) for number in range(10)])  # type: ignore[misc]
    measured = list(made)
    held: set[int] = set()
    only = in_parts.only

    def spy(wanted: Any) -> dict[int, Any]:
        found = only(wanted)
        held.update(found)
        return found

    in_parts.only = spy  # type: ignore[method-assign]
    batches = list(own_batches(in_parts, collate, 4, seed=5, steps=3))
    return {
        "measured": measured,
        "held": sorted(held),
        "units": [len(batch.weights) for batch in batches],
        "values": [batch.values.flatten().tolist() for batch in batches],
        "lengths": in_parts.lengths == [item.length for item in source],
    }


def everything() -> dict[str, Any]:
    """All of it in one go: to start processes costs more than to train."""
    found = {
        "by four": trained(4),
        "one by one": trained(1),
        "per process": trained(4, per_process=True),
        "two means": learnt_in_two_means(),
    }
    if world() > 1:
        found |= {"added up": added_up(), "held": held_and_made(), "stopped": trained(4, scores_differ=True)}
    return found
