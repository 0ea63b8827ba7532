"""A `Definition` made into a `Task` of the core: the four verbs, once for all tasks on torch."""

import inspect
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import torch
from safetensors.torch import load_file
from torch import nn

from friend_training.core.task import Evaluation, FitPlan, FitSummary, Prediction, PseudoLabel, Task
from friend_training.errors import DataError, RunError, UnsupportedTaskError
from friend_training.nn.devices import AUTO, PROCESSOR, choose_device, on_device, put_on
from friend_training.nn.encoder import compute_in, open_encoder, shaped_encoder, with_byte_dropout
from friend_training.nn.heads import Head
from friend_training.nn.interfaces import Definition, RankingDefinition, in_batches
from friend_training.nn.training import (
    Losses,
    Progress,
    TrainingSettings,
    explain_full_device,
    gathered,
    no_progress,
    pseudo_parts,
    put_together,
    save_weights,
    seed_everything,
    side_by_side,
    train,
    whole_or_parts,
)
from friend_training.runs.checkpoints import checkpoint_digest
from friend_training.runs.files import rank, world


class NetworkTask(Task, Protocol):
    """What methods inside training need beyond the four verbs: a task whose network, batches and loss they may use:
    `network(batch)` gives heads for `nn.heads.unit_losses`.

    `network` is what predicts, evaluates and is saved; a method may put another one there. `encoder` is where its
    encoder came from, `collate` makes a batch on the device of the network, `dev_score` the function that early
    stopping goes by.
    """

    definition: Definition
    encoder: str | Path
    settings: TrainingSettings
    progress: Progress
    network: nn.Module

    def collate(self, items: Sequence[Any]) -> Any: ...

    def dev_score(self, dev: Sequence[Any]) -> Callable[[], float]: ...


NEEDED = ("definition", "encoder", "settings", "progress", "network", "collate", "dev_score")


def network_task(task: Task, method: str) -> NetworkTask:
    """The task, as one that `method` can train inside; a task that offers less is refused."""
    # Statically: a network that is not loaded yet is a network all the same.
    missing = [name for name in NEEDED if inspect.getattr_static(task, name, None) is None]
    if missing:
        raise UnsupportedTaskError(
            f"{method} works inside training and needs a task on torch (nn.torch_protocol.NetworkTask);"
            f" {type(task).__name__} {task.name!r} has no {', '.join(missing)}"
        )
    return cast(NetworkTask, task)


WEIGHTS = "model.safetensors"

T = TypeVar("T")


@dataclass(slots=True)
class _Part:
    """Items that go through the network together, by their places among the inputs; and what came out, once it has."""

    places: list[int]
    items: list[Any]
    computed: tuple[Any, Sequence[Head]] | None = None
    """The batch and its heads, on the processor."""


class TorchTask:
    """A task on torch. `encoder` is the folder or hub name of the pre-trained encoder that `restart` goes back to.

    Its network and all batches are on the device of that name (`nn.devices.choose_device`). Sent to another process, a
    task searches that device there: `auto` and `cuda` may be another card.

    Whoever wants to know how far `fit`, `predict` and `evaluate` are sets `progress`, and `losses` to hear of losses;
    they change nothing else.
    """

    def __init__(
        self, definition: Definition, *, encoder: str | Path, settings: TrainingSettings, device: str = AUTO
    ) -> None:
        self.definition = definition
        self.encoder = encoder
        self.settings = settings
        self.device_name = device
        self.device = choose_device(device)
        self.name = definition.name
        self.label_type = definition.label_type
        self.progress: Progress = no_progress
        self.losses: Losses | None = None
        self._network: nn.Module | None = None
        self._memory: dict[int, tuple[Sequence[Any], list[_Part]]] | None = None  # by the id of the inputs, held too

    @property
    def main_metric(self) -> str:
        return self.definition.main_metric

    @property
    def network(self) -> nn.Module:
        if self._network is None:
            raise RunError(f"task {self.name} has no weights yet: fit it or load it first")
        return self._network

    @network.setter
    def network(self, network: nn.Module) -> None:
        """Methods that work inside training make networks of their own."""
        placed = put_on(with_byte_dropout(network), self.device)
        self._network = compute_in(self.settings.precision, placed)

    def __getstate__(self) -> dict[str, Any]:
        """To another process a network goes by way of the processor."""
        if self._network is None or self.device == PROCESSOR:
            return self.__dict__
        return self.__dict__ | {"_network": deepcopy(self._network).to(PROCESSOR)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.device = choose_device(self.device_name)
        if self._network is not None:
            self.network = self._network

    @property
    def identity(self) -> str:
        """What training depends on besides weights, examples and plan (`runs.checkpoints.Identified`)."""
        return repr(
            (
                (version("friend-training"), torch.__version__, self.device.type, torch.get_num_threads()),
                (type(self.definition).__name__, self.definition.identity, self.settings),
                _encoder_identity(str(self.encoder)),
            )
        )

    def collate(self, items: Sequence[Any]) -> Any:
        """Items as a batch on the device of the network."""
        return on_device(self.definition.collate(items), self.device)

    def fit(
        self, gold: Sequence[Any], pseudo: Sequence[PseudoLabel], *, dev: Sequence[Any], plan: FitPlan
    ) -> FitSummary:
        seed_everything(plan.seed)
        if self._network is None or plan.restart:
            self.network = self.definition.network(open_encoder(self.encoder))
        chosen = pseudo_parts(self.definition, pseudo)
        items = whole_or_parts([partial(self.definition.gold_items, gold), *chosen])
        if not len(items):
            raise DataError(f"task {self.name}: nothing to train on (no gold example could be used)")
        with explain_full_device(self.name, self.settings, "batch_size", self.device):
            return train(
                self.network,
                items,
                self.collate,
                self.dev_score(dev),
                plan=plan,
                settings=self.settings,
                progress=self.progress,
                losses=self.losses,
            )

    def dev_score(self, dev: Sequence[Any]) -> Callable[[], float]:
        """What early stopping goes by: the main metric of the present weights on the first units of dev."""
        watched = self._first_units(dev)

        def score() -> float:
            inputs = self.definition.inputs_of(watched)
            mine = self._predict(inputs[rank() :: world()], no_progress)  # of several processes each labels some
            return self.definition.score(watched, put_together(gathered(mine)))[self.main_metric]

        return score

    def predict(self, inputs: Sequence[Any]) -> list[list[Prediction]]:
        return self._predict(inputs, self.progress)

    @property
    def ranks(self) -> bool:
        """Whether the definition can rank labels."""
        return isinstance(self.definition, RankingDefinition)

    def n_best(self, inputs: Sequence[Any], k: int) -> list[list[list[Prediction]]]:
        """The k likeliest labels of every unit (`core.joint.Ranking`)."""
        ranking = self._ranking()
        return self._decoded(inputs, lambda heads, batch, _: ranking.n_best(heads, batch, k), no_progress)

    def log_likelihood(
        self, inputs: Sequence[Any], labels: Sequence[Sequence[Sequence[Any]]]
    ) -> list[list[list[float]]]:
        """The log-probabilities of some labels of every unit (`core.joint.Ranking`)."""
        ranking = self._ranking()

        def decode(heads: Sequence[Head], batch: Any, places: Sequence[int]) -> list[list[list[float]]]:
            return ranking.log_likelihood(heads, batch, [labels[place] for place in places])

        return self._decoded(inputs, decode, no_progress)

    def _ranking(self) -> RankingDefinition:
        if not isinstance(self.definition, RankingDefinition):
            raise UnsupportedTaskError(
                f"joint labels need a task with n_best and log_likelihood; the definition of {self.name!r} has them not"
            )
        return self.definition

    def _predict(self, inputs: Sequence[Any], progress: Progress) -> list[list[Prediction]]:
        return self._decoded(inputs, lambda heads, batch, _: self.definition.decode(heads, batch), progress)

    def _decoded(
        self,
        inputs: Sequence[Any],
        decode: Callable[[Sequence[Head], Any, Sequence[int]], list[list[T]]],
        progress: Progress,
    ) -> list[list[T]]:
        """What `decode` makes of heads, batch and the places of its items; one list of units per input."""
        self.network.eval()
        parts = self._parts(inputs)
        answers: list[list[T]] = [[] for _ in inputs]
        done = 0
        label = partial(self._label, decode)
        labelled = side_by_side(label, parts) if self.device == PROCESSOR else map(label, parts)
        for part, decoded in zip(parts, labelled, strict=True):
            for place, units in zip(part.places, decoded, strict=True):
                answers[place] = units
            done += len(part.places)
            progress(done, len(inputs))
        return answers

    def _parts(self, inputs: Sequence[Any]) -> list[_Part]:
        if self._memory is not None and id(inputs) in self._memory:
            return self._memory[id(inputs)][1]
        items = self.definition.input_items(inputs)
        batches = in_batches(items, lambda item: item.length, self.settings.labelling_pieces)
        parts = [_Part(places, of_batch) for places, of_batch in batches]
        if self._memory is not None:
            self._memory[id(inputs)] = inputs, parts
        return parts

    def _label(
        self, decode: Callable[[Sequence[Head], Any, Sequence[int]], list[list[T]]], part: _Part
    ) -> list[list[T]]:
        with explain_full_device(self.name, self.settings, "labelling_pieces", self.device), torch.inference_mode():
            computed = part.computed
            if computed is None:
                batch = self.definition.collate(part.items)
                heads = self.network(on_device(batch, self.device))
                # What was computed comes back in one go: decoding is full of small steps and reads single numbers.
                computed = batch, [on_device(head, PROCESSOR) for head in heads]
            if self._memory is not None:
                part.computed = computed
            batch, heads = computed
            return decode(heads, batch, part.places)

    @contextmanager
    def remembering(self) -> Iterator[None]:
        """Inside it the network reads the same list of inputs once, however often it is asked about them: predictions,
        the likeliest labels and log-likelihoods come from one pass. Its weights must stay as they are meanwhile."""
        self._memory = {}
        try:
            yield
        finally:
            self._memory = None

    def evaluate(self, gold: Sequence[Any]) -> Evaluation:
        return self.definition.score(gold, self.predict(self.definition.inputs_of(gold)))

    def save(self, folder: str | Path) -> None:
        folder = Path(folder)
        self.network.encoder.save_shape(folder)  # type: ignore[union-attr, operator]
        self.definition.save(folder)
        save_weights(self.network, folder / WEIGHTS)
        (folder / "task.json").write_text(json.dumps({"task": self.name}) + "\n")

    def load(self, folder: str | Path) -> None:
        folder = Path(folder)
        self.definition.check(folder)
        network = self.definition.network(shaped_encoder(folder))
        network.load_state_dict(load_file(folder / WEIGHTS))
        self.network = network

    def _first_units(self, dev: Sequence[Any]) -> Sequence[Any]:
        """Early stopping evaluates so many dev units at most: the rest is for choosing between iterations."""
        units = 0
        for number, example in enumerate(dev):
            units += self.definition.units_in(example)
            if units >= self.settings.early_stopping_units:
                return dev[: number + 1]
        return dev


@cache
def _encoder_identity(encoder: str) -> str:
    """The digest of an encoder's files; a name of a hub stands for itself."""
    return checkpoint_digest(encoder) if Path(encoder).is_dir() else encoder
