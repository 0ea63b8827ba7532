"""One training loop for all tasks: gold and chosen pseudo-labels in one shuffled union, Eq. 1, best weights on dev.

AdamW for the network, lazy Adam for the rows of sparse embeddings, one schedule and one clipping for both. A device
that runs out of memory is told as one of our own errors that names the setting to lower.

Of several processes each takes its part of every batch, and all take the step of the whole batch.
DistributedDataParallel is not used, because it averages gradients over processes. Here the number of units differs from
part to part, and the loss is a mean over all units of the batch (Eq. 1), or a sum of several such means; losses go
through a network twice, or through two networks; and the rows of embedding tables have sparse gradients. So a process
divides by the number of units in the whole batch, and gradients are added up, by hand, in two exchanges per step.

Launchers and the process group are accelerate's business, devices are our own (`nn.devices`): every exchange is of
tensors on the device of the network. In one process nothing of this does anything.

In training each thread takes some of the items of a batch from the first layer to the last.
Torch's own way is to split every product over all threads; with networks as small as ours they mostly wait for each
other. Here they meet once per step. A thread's noise comes from a generator of its own, and its gradients are added to
the others' in a fixed order, so a seed and a number of threads give the same weights, to the bit, every time.
"""

import ctypes
import math
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeVar

import torch
import torch.distributed as dist
from safetensors.torch import save_file
from torch import Generator, Tensor, nn

from friend_training.core.pool import InShards
from friend_training.core.task import FitPlan, FitSummary, PseudoLabel, derived_seed
from friend_training.errors import DeviceMemoryError
from friend_training.nn.encoder import AnyEncoder, Precision, drawing_from
from friend_training.nn.heads import unit_losses
from friend_training.nn.interfaces import Batch, Definition, endless_batches
from friend_training.runs.files import rank, world

T = TypeVar("T")


TABLES = nn.Embedding | nn.EmbeddingBag


def meet() -> None:
    """Meet the other processes, if there are any: over nccl for what is on graphics cards, else over gloo."""
    if world() == 1:
        return
    from accelerate import PartialState

    if torch.cuda.is_available():
        PartialState(backend="cuda:nccl,cpu:gloo")
    else:
        PartialState(cpu=True)


def begin_alike(networks: Iterable[nn.Module], seed: int) -> None:
    """All begin with the first process's weights; but for the first, each with noise (dropout) of its own."""
    if world() == 1:
        return
    meet()
    for network in networks:
        for weight in network.state_dict().values():
            dist.broadcast(weight, src=0)
    if rank():
        torch.manual_seed(derived_seed(seed, "process", rank()))


def total(value: Tensor) -> Tensor:
    """A number summed over all processes; it has no gradient."""
    value = value.detach().clone()
    if world() > 1:
        dist.all_reduce(value)
    return value


def mean(values: Tensor) -> Tensor:
    """This process's share of the mean over all units of the batch: the shares of all processes add up to it."""
    if world() == 1:
        return values.mean()
    return values.sum() / total(values.new_tensor(float(values.numel())))


def backward(loss: Tensor, networks: Iterable[nn.Module]) -> None:
    """Gradients of the loss, which is this process's share of it; afterwards they are those of the whole batch."""
    if world() == 1 or loss.requires_grad:  # a part may have no unit at all
        loss.backward()  # type: ignore[no-untyped-call]
    if world() > 1:
        for network in networks:
            add_up_gradients(network)


def add_up_gradients(network: nn.Module) -> None:
    """Every gradient becomes the sum over all processes.

    The first exchange tells who touched what: a weight that nobody used stays without a gradient, as in one process (a
    zero would let it decay), and of a table with sparse gradients only rows that somebody touched are sent. The second
    has all values in one piece. All processes get the same bits, so their weights stay alike.
    """
    tables = {id(part.weight) for part in network.modules() if isinstance(part, TABLES) and part.sparse}
    weights = [_Weight(weight, in_rows=id(weight) in tables) for weight in network.parameters()]
    flags = [weight.touched() for weight in weights]
    exchanged = torch.cat(flags)
    dist.all_reduce(exchanged, op=dist.ReduceOp.MAX)
    by_weight = exchanged.split([len(flag) for flag in flags])  # type: ignore[no-untyped-call]
    used = [(weight, flag.nonzero().squeeze(1)) for weight, flag in zip(weights, by_weight, strict=True) if flag.any()]
    if not used:
        return
    values = [weight.values(rows) for weight, rows in used]
    flat = torch.cat([value.reshape(-1) for value in values])
    dist.all_reduce(flat)
    summed = flat.split([value.numel() for value in values])  # type: ignore[no-untyped-call]
    for (weight, rows), value, piece in zip(used, values, summed, strict=True):
        weight.receive(rows, piece.view_as(value))


class _Weight:
    """A weight and how its gradient travels: whole, or in the rows (of a table) that were touched."""

    def __init__(self, weight: nn.Parameter, *, in_rows: bool) -> None:
        self.weight, self.in_rows = weight, in_rows

    def touched(self) -> Tensor:
        """One flag for the whole, or one for each row."""
        gradient = self.weight.grad
        flags = torch.zeros(len(self.weight) if self.in_rows else 1, dtype=torch.uint8, device=self.weight.device)
        if gradient is not None:
            flags[gradient.coalesce().indices()[0] if self.in_rows else 0] = 1
        return flags

    def values(self, rows: Tensor) -> Tensor:
        """This process's gradient, zero where it has none."""
        gradient = self.weight.grad
        if not self.in_rows:
            return torch.zeros_like(self.weight) if gradient is None else gradient
        values = self.weight.new_zeros(len(rows), *self.weight.shape[1:])
        if gradient is not None:
            gradient = gradient.coalesce()
            values[torch.searchsorted(rows, gradient.indices()[0])] = gradient.values()
        return values

    def receive(self, rows: Tensor, values: Tensor) -> None:
        if self.in_rows:
            values = torch.sparse_coo_tensor(
                rows[None], values, self.weight.shape, is_coalesced=True, check_invariants=False
            )
        self.weight.grad = values


def gathered(value: T) -> list[T]:
    """The values of all processes, in their order."""
    if world() == 1:
        return [value]
    meet()  # may be the first time
    everyone: list[Any] = [None] * world()
    dist.all_gather_object(everyone, value)
    return everyone


def agreed(value: float) -> float:
    """The value of the first process: whoever decides by it decides like the others."""
    return gathered(value)[0]


# The parts of a batch: every process has the same batches as one process would, dealt out in turn.
#
# Every process draws the same batches, which takes no more than the seed and the lengths of all items, and trains on
# items rank, rank + world, … of each. All batches of a training are known beforehand, so a process makes and holds only
# the items that it will train on: at most steps · batch size / processes of them, however many pseudo-labels there are.


Part = Callable[[], Sequence[Any]]
"""Makes some of the items."""


Collate = Callable[[Sequence[Any]], Any]


class InParts:
    """Items that are made part by part, and again where they are needed; of all others only the length is known.

    All processes make it at the same time: each makes its share of the parts to measure them, and tells the others.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        mine = {part: [item.length for item in parts[part]()] for part in range(rank(), len(parts), world())}
        known = {part: lengths for of_process in gathered(mine) for part, lengths in of_process.items()}
        self._parts, self._counts = parts, [len(known[part]) for part in range(len(parts))]
        self.lengths = [length for part in range(len(parts)) for length in known[part]]

    def __len__(self) -> int:
        return len(self.lengths)

    def only(self, wanted: Collection[int]) -> dict[int, Any]:
        """Those items alone, by their number over all parts."""
        found: dict[int, Any] = {}
        begin = 0
        for part, count in zip(self._parts, self._counts, strict=True):
            here = [number for number in range(begin, begin + count) if number in wanted]
            if here:
                made = part()
                found |= {number: made[number - begin] for number in here}
            begin += count
        return found


Items = Sequence[Any] | InParts


def pseudo_parts(definition: Definition, pseudo: Sequence[PseudoLabel]) -> list[Part]:
    """Pseudo-labels that lie in shards are made into items shard by shard: no input is in two of them."""
    if not isinstance(pseudo, InShards):
        return [partial(definition.pseudo_items, pseudo)]
    return [partial(_items_of, definition, read) for read in pseudo.shards]


def _items_of(definition: Definition, read: Part) -> Sequence[Any]:
    return definition.pseudo_items(read())


def whole_or_parts(parts: Sequence[Part]) -> Items:
    """One process makes everything at once."""
    return [item for part in parts for item in part()] if world() == 1 else InParts(parts)


def own_batches(items: Items, collate: Collate, size: int, *, seed: int, steps: int) -> Iterator[Any]:
    """This process's part of the batch of each step, collated.

    A batch may be smaller than the number of processes. Whoever gets none of it computes its first item with the
    others, so that all of them do the same things in the same order, but none of its units counts (`not_counted`).
    """
    lengths = items.lengths if isinstance(items, InParts) else [item.length for item in items]
    batches = islice(endless_batches(lengths, size, seed), steps)
    if world() > 1:
        yield from _dealt_out(list(batches), items, collate)
        return
    assert not isinstance(items, InParts)
    for batch in batches:
        yield collate([items[index] for index in batch])


def batches_by_hand(
    items: Items, collate: Collate, size: int, *, seed: int, steps: int, hands: int
) -> Iterator[list[Any]]:
    """The same batches, each in one part for every thread that works on it (hands.py)."""
    if hands == 1:
        yield from ([batch] for batch in own_batches(items, collate, size, seed=seed, steps=steps))
        return
    assert not isinstance(items, InParts)  # several threads of one process, or several processes
    for batch in islice(endless_batches([item.length for item in items], size, seed), steps):
        dealt = [batch[hand::hands] for hand in range(min(hands, len(batch)))]
        yield [collate([items[index] for index in part]) for part in dealt]


def _dealt_out(batches: Sequence[list[int]], items: Items, collate: Collate) -> Iterator[Any]:
    dealt = [batch[rank() :: world()] for batch in batches]
    shares = [share or batch[:1] for share, batch in zip(dealt, batches, strict=True)]
    wanted = {index for share in shares for index in share}
    held = items.only(wanted) if isinstance(items, InParts) else items
    for share, counts in zip(shares, dealt, strict=True):
        batch = collate([held[index] for index in share])
        yield batch if counts else not_counted(batch)


def not_counted(batch: Any) -> Any:
    """The same batch (a dataclass) without weights, which is to say: none of its units counts."""
    return replace(batch, weights=batch.weights[:0])


def counted(values: Tensor, batch: Batch) -> Tensor:
    """Of the values of units [U] those that count."""
    return values[: len(batch.weights)]


def put_together(dealt: Sequence[Sequence[T]]) -> list[T]:
    """What was dealt out in turn, in its old order."""
    return [dealt[number % len(dealt)][number // len(dealt)] for number in range(sum(map(len, dealt)))]


R = TypeVar("R")


Gradients = tuple[Tensor | None, ...]


LEAST_ITEMS = 4
"""Fewer items of a batch are not worth a thread of their own."""


class Hands:
    """As many threads as torch was given and a batch has work for. `count` is 1 where a network cannot be shared."""

    def __init__(self, network: nn.Module, *, batch_size: int, seed: int) -> None:
        self.network, self.threads = network, torch.get_num_threads()
        shared = world() == 1 and can_be_shared(network)
        self.count = max(1, min(self.threads, batch_size // LEAST_ITEMS)) if shared else 1
        self._generators = [Generator().manual_seed(derived_seed(seed, "hand", number)) for number in range(self.count)]
        self._threads: ThreadPoolExecutor | None = None

    def __enter__(self) -> "Hands":
        if self.count > 1:
            torch.set_num_threads(self.threads // self.count)  # new threads begin with what is set here
            self._threads = ThreadPoolExecutor(self.count)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._threads is not None:
            self._threads.shutdown()
            torch.set_num_threads(self.threads)

    def backward(self, parts: Sequence[Any]) -> Tensor:
        """Leave the gradients of the mean over all units of all parts at the weights, in place of what was there.

        The mean is returned.
        """
        assert self._threads is not None
        units = sum(len(part.weights) for part in parts)
        weights = [weight for weight in self.network.parameters() if weight.requires_grad]

        def gradients(part: Any, generator: Generator) -> tuple[Tensor, Gradients]:
            with drawing_from(generator):
                losses = unit_losses(self.network(part), part.targets)
            share = (losses * part.weights).sum() / units
            return share.detach(), torch.autograd.grad(share, weights, allow_unused=True)

        found = list(self._threads.map(gradients, parts, self._generators[: len(parts)]))
        for weight, given in zip(weights, zip(*(own for _, own in found), strict=True), strict=True):
            weight.grad = _added(given)
        return torch.stack([share for share, _ in found]).sum()

    def rested(self, work: Callable[[], R]) -> R:
        """What is done between steps has all threads for itself."""
        during_steps = torch.get_num_threads()
        torch.set_num_threads(self.threads)
        try:
            return work()
        finally:
            torch.set_num_threads(during_steps)


def can_be_shared(network: nn.Module) -> bool:
    """A graphics card has no use for threads; recurrent layers draw their dropout from torch's own generator."""
    on_card = any(weight.device.type != "cpu" for weight in network.parameters())
    return not on_card and not any(isinstance(part, nn.RNNBase) for part in network.modules())


def _added(gradients: Sequence[Tensor | None]) -> Tensor | None:
    used = [gradient for gradient in gradients if gradient is not None]
    return sum(used[1:], start=used[0]) if used else None


def side_by_side(work: Callable[[T], R], parts: Sequence[T]) -> Iterator[R]:
    """`work` of every part, in their order, on as many threads as torch was given. A part alone gets them all.

    Labelling batches are small so that they stay in the processor's caches; split over threads they would mostly wait
    for each other. A batch that is computed by one thread alone also comes out in the same bits however many threads
    there are.
    """
    threads = torch.get_num_threads()
    if threads == 1 or len(parts) < 2:
        yield from map(work, parts)
        return
    torch.set_num_threads(1)  # new threads begin with what is set here
    try:
        with ThreadPoolExecutor(min(threads, len(parts))) as pool:
            yield from pool.map(work, parts)
    finally:
        torch.set_num_threads(threads)


WITH_FUSED_ADAM = ("cpu", "cuda")
"""Devices on which all versions of torch that we take have AdamW in one kernel."""


def make_optimizers(
    module: nn.Module, *, encoder_rate: float, head_rate: float, weight_decay: float
) -> list[torch.optim.Optimizer]:
    """Rows of an embedding table that a batch does not touch cost nothing: SparseAdam leaves them alone.

    Where a device has no sparse gradients (`nn.devices.put_on`) tables are weights like all others.
    """
    encoders = [part for part in module.modules() if isinstance(part, AnyEncoder)]
    inside_encoders = [part for encoder in encoders for part in encoder.modules()]
    tables = [part for part in inside_encoders if isinstance(part, nn.Embedding | nn.EmbeddingBag) and part.sparse]
    rows = [table.weight for table in tables]
    row_ids = {id(weight) for weight in rows}
    encoder_weights = [p for encoder in encoders for p in encoder.parameters() if id(p) not in row_ids]
    inside = row_ids | {id(weight) for weight in encoder_weights}
    head_weights = [p for p in module.parameters() if id(p) not in inside]
    groups = [
        *_decayed(encoder_weights, encoder_rate, weight_decay),
        *_decayed(head_weights, head_rate, weight_decay),
    ]
    optimizers: list[torch.optim.Optimizer] = [torch.optim.AdamW(groups, fused=_can_be_fused(module))]
    if rows:
        optimizers.append(torch.optim.SparseAdam(rows, lr=encoder_rate))
    return optimizers


def _can_be_fused(module: nn.Module) -> bool:
    return all(weight.device.type in WITH_FUSED_ADAM for weight in module.parameters())


def _decayed(weights: list[nn.Parameter], rate: float, weight_decay: float) -> list[dict[str, object]]:
    """Biases and normalisation gains are not decayed."""
    return [
        {"params": [w for w in weights if w.dim() > 1], "lr": rate, "weight_decay": weight_decay},
        {"params": [w for w in weights if w.dim() <= 1], "lr": rate, "weight_decay": 0.0},
    ]


def warm_up_then_decay(step: int, *, steps: int, warm_up: float) -> float:
    """Up to 1 over the first `warm_up` share of the steps, then linearly down to 0."""
    rising = max(1, math.ceil(warm_up * steps))
    return (step + 1) / rising if step < rising else max(0.0, (steps - step) / max(1, steps - rising))


def clip_gradients(weights: Iterable[nn.Parameter], maximum: float) -> None:
    """Scale all gradients, dense and sparse, so that their common norm is at most `maximum`."""
    gradients = [weight.grad for weight in weights if weight.grad is not None]
    values: list[Tensor] = [g.coalesce().values() if g.is_sparse else g for g in gradients]
    norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(value) for value in values]))
    if norm > maximum:
        for gradient in gradients:
            gradient.mul_(maximum / (norm + 1e-6))


Progress = Callable[[int, int], None]
"""Told from time to time how many of how many are done."""

Losses = Callable[[int, float], None]
"""Told from time to time a training step and its loss."""

TELL_EVERY = 10


def no_progress(done: int, total: int) -> None:
    """For when nobody watches."""


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """How a network is trained; the paper's are AdamW, batch 16, one rate of 4e-5 for twelve layers."""

    batch_size: int = 16
    encoder_rate: float = 1e-4
    head_rate: float = 1e-3
    weight_decay: float = 0.01
    warm_up: float = 0.1
    clip: float = 1.0
    look_every: int = 50
    early_stopping_units: int = 300
    labelling_pieces: int = 1024
    precision: Precision = "fp32"


def train(
    network: nn.Module,
    items: Items,
    collate: Callable[[Sequence[Any]], Any],
    dev_score: Callable[[], float],
    *,
    plan: FitPlan,
    settings: TrainingSettings,
    progress: Progress = no_progress,
    losses: Losses | None = None,
) -> FitSummary:
    """Train one network by Eq. 1 on the shuffled union of its items, which `collate` puts on the network's device."""
    with Hands(network, batch_size=settings.batch_size, seed=plan.seed) as hands:
        batches = batches_by_hand(
            items, collate, settings.batch_size, seed=plan.seed, steps=plan.steps, hands=hands.count
        )

        def gradients(step: int) -> None:
            batch = next(batches)
            if hands.count > 1:
                loss = hands.backward(batch)
            else:
                (whole,) = batch
                loss = weighted_mean(unit_losses(network(whole), whole.targets), whole.weights)
                backward(loss, [network])
            if losses is not None and step % TELL_EVERY == 0:
                losses(step, float(loss.detach()))

        what = Learning([network], gradients, partial(hands.rested, dev_score), kept=[network])
        return learn(what, plan=plan, settings=settings, progress=progress)


Loss = Callable[[Sequence[nn.Module], int], Tensor]
"""The loss of a step (counted from 1), given the networks that learn, ready for training.

Its means are `weighted_mean` and `nn.semi_supervised.mean_over_units`, which know of other processes.
"""


@dataclass(frozen=True, slots=True)
class Learning:
    """What learns and how it is watched.

    `gradients` leaves those of a step (counted from 1) at the weights of the networks, which are ready for training.
    `kept` are all networks whose best weights belong together.
    """

    networks: Sequence[nn.Module]
    gradients: Callable[[int], None]
    dev_score: Callable[[], float]
    kept: Sequence[nn.Module]
    after_step: Callable[[int], None] = lambda step: None


def gradients_of(loss: Loss, networks: Sequence[nn.Module]) -> Callable[[int], None]:
    """The gradients of one loss over all networks."""

    def gradients(step: int) -> None:
        backward(loss(networks, step), networks)

    return gradients


def learn(what: Learning, *, plan: FitPlan, settings: TrainingSettings, progress: Progress) -> FitSummary:
    """The training loop: train in place and leave the weights that were best on dev.

    Of several processes all do (above). Networks stay on the device where they are.
    """
    begin_alike([*what.networks, *what.kept], plan.seed)
    learners = [_Learner(network, plan.steps, settings) for network in what.networks]
    best_score, best_step, best_weights = float("-inf"), 0, [copy_weights(network) for network in what.kept]
    evaluations_without_gain, step = 0, 0
    curve: list[tuple[int, float]] = []
    for step in range(1, plan.steps + 1):
        for network in what.networks:
            network.train()
        what.gradients(step)
        for learner in learners:
            learner.step(step)
        what.after_step(step)
        if step % GIVE_BACK_EVERY == 0:
            give_back_memory()
        if step % TELL_EVERY == 0:
            progress(step, plan.steps)
        if step % settings.look_every == 0 or step == plan.steps:
            score = agreed(what.dev_score())
            curve.append((step, score))
            evaluations_without_gain = 0 if score > best_score else evaluations_without_gain + 1
            if score > best_score:
                best_score, best_step = score, step
                best_weights = [copy_weights(network) for network in what.kept]
            if plan.patience is not None and evaluations_without_gain >= plan.patience:
                break
    for network, weights in zip(what.kept, best_weights, strict=True):
        network.load_state_dict(weights)
    del learners
    give_back_memory()
    return FitSummary(steps=step, best_step=best_step, best_score=best_score, curve=tuple(curve))


GIVE_BACK_EVERY = 25
"""So many steps: no two batches have the same size, and after some hundred the heap would hold twice what is in use."""


def give_back_memory() -> None:
    """Return what is free inside the heap to the system, where the C library can (glibc)."""
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
        trim(0)


class _Learner:
    """One network with its optimizers; several that learn together are clipped and stepped each by itself."""

    def __init__(self, network: nn.Module, steps: int, settings: TrainingSettings) -> None:
        self.optimizers = make_optimizers(
            network,
            encoder_rate=settings.encoder_rate,
            head_rate=settings.head_rate,
            weight_decay=settings.weight_decay,
        )
        self.network, self.steps, self.settings = network, steps, settings
        self.rates = [[group["lr"] for group in optimizer.param_groups] for optimizer in self.optimizers]

    def step(self, step: int) -> None:
        clip_gradients(self.network.parameters(), self.settings.clip)
        factor = warm_up_then_decay(step - 1, steps=self.steps, warm_up=self.settings.warm_up)
        for optimizer, rates in zip(self.optimizers, self.rates, strict=True):
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * factor
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)


def weighted_mean(losses: Tensor, weights: Tensor) -> Tensor:
    """Weights scale a unit's share, they do not renormalise the batch: λ = 0.5 really halves the pseudo-labels.

    Of several processes each gets its share of the mean over all of them. A unit without a weight does not count.
    """
    return mean(losses[: len(weights)] * weights)


def copy_weights(network: nn.Module) -> dict[str, Tensor]:
    return {name: weight.detach().clone() for name, weight in network.state_dict().items()}


def save_weights(network: nn.Module, path: Path) -> None:
    """Write all weights, wherever the network is, for any device to load."""
    save_file({name: weight.cpu().contiguous() for name, weight in network.state_dict().items()}, path)


def seed_everything(seed: int) -> None:
    """All that training draws from (initial weights, dropout); the order of batches has a generator of its own."""
    torch.manual_seed(seed)


SizeSetting = Literal["batch_size", "labelling_pieces"]
"""The settings that decide how much is on the device at once: in training, and in labelling."""


def device_of(network: nn.Module) -> torch.device:
    return next(network.parameters()).device


@contextmanager
def explain_full_device(
    task: str, settings: TrainingSettings, setting: SizeSetting, device: torch.device
) -> Iterator[None]:
    """Around what computes. CUDA has an error of its own for this, MPS only says so."""
    try:
        yield
    except RuntimeError as error:
        if not isinstance(error, torch.OutOfMemoryError) and "out of memory" not in str(error):
            raise
        raise DeviceMemoryError(task, setting, getattr(settings, setting), str(device)) from error


@contextmanager
def computing_in(threads: int) -> Iterator[None]:
    """Torch computes in so many threads in this block; what the program had before is put back.

    Small networks on a busy machine are a hundred times slower in many threads than in one.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
