"""A Ray cluster labels the pool (the extra friend-training[ray]): from one machine to many by one line of the config.

Plain tasks, one per shard, and not Ray Data: its blocks are cut, joined and written where Ray thinks best, but a shard
of the store has its number and its rows, and is recorded once. A task's result is a value that only the coordinating
process takes and writes. When a worker or a node dies, Ray runs its tasks again, those too whose results died with it;
a shard is a pure function of its inputs and the checkpoints, so the value is the same, and it is still taken once.

With graphics cards it is one actor per card: its models stay on the card, while a task that takes a card gets a new
process for every shard. An actor that dies is not replaced, because its card may have died with it: its shards go to
the others.

Nodes need this package and a way to the addresses of the pool, not the run folder: checkpoints travel through Ray.
"""

import io
import os
import tarfile
import tempfile
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from friend_training.core.pool import ShardSource
from friend_training.errors import ConfigError, FriendTrainingError, RunError, naming_missing_packages
from friend_training.loop.engines.local import in_order
from friend_training.loop.labelling import Checkpoint, Labelled, LabelWork

RETRIES = 5
"""So often a shard is begun again on another worker; one that is lost more often would end all of them."""

QUEUED = 2
"""So many shards per processor are with the cluster: the next one is there when one is finished."""


@dataclass(frozen=True, slots=True)
class RayEngine:
    """`address` of the cluster, or None to start one on this machine; `workers` shards in work at a time, or None for
    as many as there are processors, or graphics cards where `cards` lets them compute."""

    address: str | None = None
    workers: int | None = None
    cards: bool = False

    def labelled(self, work: LabelWork, sources: Iterator[ShardSource]) -> Generator[Labelled]:
        ray = _ray()
        joined = not ray.is_initialized()
        if joined:
            quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
            if self.address is None:
                ray.init("local", include_dashboard=False, **quiet)
            else:
                ray.init(self.address, **quiet)
        try:
            if self.cards:
                yield from _on_cards(ray, work, self.workers, sources)
            else:
                yield from in_order(_Crew(ray, work, self.workers), sources)
        finally:
            if joined:
                ray.shutdown()


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # before it is imported: Ray reports its usage unless told
    with naming_missing_packages():
        import ray
    return ray


@dataclass(frozen=True, slots=True)
class _Parcel:
    """The work of an iteration with the files of its checkpoints; `key` tells it from that of other iterations."""

    key: str
    work: LabelWork
    files: dict[str, bytes]


def _parcel(work: LabelWork) -> _Parcel:
    files = {name: _packed(checkpoint.folder) for name, checkpoint in work.checkpoints.items()}
    return _Parcel(uuid4().hex, work, files)


class _Crew:
    def __init__(self, ray: Any, work: LabelWork, workers: int | None) -> None:
        self._ray, self._most = ray, workers
        parcel = _parcel(work)
        self._key, self._parcel = parcel.key, ray.put(parcel)
        self._label = ray.remote(num_cpus=1, max_retries=RETRIES)(_label)
        self._numbers: dict[Any, int] = {}

    @property
    def slots(self) -> int:
        return self._most or QUEUED * max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def begin(self, number: int, source: ShardSource) -> None:
        # In a list the parcel is only named: a worker fetches it when it has not got it yet.
        self._numbers[self._label.remote(self._key, [self._parcel], source)] = number

    def finished(self) -> list[tuple[int, Labelled]]:
        done, _ = self._ray.wait(list(self._numbers), num_returns=1)
        return [(self._numbers.pop(one), self._value(one)) for one in done]

    def _value(self, one: Any) -> Labelled:
        try:
            return _value(self._ray, one)
        except self._ray.exceptions.RayError as error:
            raise RunError(f"a shard was lost {RETRIES} times; use smaller shards or more memory ({error})") from error


def _on_cards(ray: Any, work: LabelWork, workers: int | None, sources: Iterator[ShardSource]) -> Generator[Labelled]:
    there = int(ray.cluster_resources().get("GPU", 0))
    if not there:
        raise ConfigError("engine.kind 'ray': this cluster has no graphics card; set device: cpu")
    crew = _CardCrew(ray, work, min(workers or there, there))
    try:
        yield from in_order(crew, sources)
    finally:
        crew.stop()


class _CardCrew:
    def __init__(self, ray: Any, work: LabelWork, cards: int) -> None:
        self._ray, parcel = ray, _parcel(work)
        self._key, self._parcel = parcel.key, ray.put(parcel)
        hired = ray.remote(num_cpus=1, num_gpus=1)(_OnCard)
        self._workers = [hired.remote() for _ in range(cards)]
        self._begun: dict[Any, tuple[int, ShardSource, Any]] = {}

    @property
    def slots(self) -> int:
        return QUEUED * len(self._workers)

    def begin(self, number: int, source: ShardSource) -> None:
        busy = [worker for _, _, worker in self._begun.values()]
        worker = min(self._workers, key=busy.count)
        self._begun[worker.label.remote(self._key, [self._parcel], source)] = (number, source, worker)

    def finished(self) -> list[tuple[int, Labelled]]:
        found: list[tuple[int, Labelled]] = []
        while not found:
            done, _ = self._ray.wait(list(self._begun), num_returns=1)
            for one in done:
                number, source, worker = self._begun.pop(one)
                try:
                    found.append((number, _value(self._ray, one)))
                except self._ray.exceptions.RayError as error:
                    self._dismiss(worker, error)
                    self.begin(number, source)
        return found

    def stop(self) -> None:
        for worker in self._workers:
            self._ray.kill(worker)

    def _dismiss(self, dead: Any, error: Exception) -> None:
        self._workers = [worker for worker in self._workers if worker is not dead]
        if not self._workers:
            raise RunError(f"the worker of every graphics card has died; use smaller shards ({error})") from error


class _OnCard:
    """A process with a card of its own; Ray lets it see no other."""

    def label(self, key: str, parcel: list[Any], source: ShardSource) -> Labelled:
        return _label(key, parcel, source)


def _value(ray: Any, one: Any) -> Labelled:
    """What a worker returns; what it fails at is told by our own errors, its death by one of Ray's."""
    try:
        value: Labelled = ray.get(one)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, FriendTrainingError):
            raise error.cause from None
        raise RunError(f"a worker failed:\n{error}") from error
    return value


_loaded: dict[str, LabelWork] = {}
"""In a worker: the work of the present iteration, its checkpoints loaded."""


def _label(key: str, parcel: list[Any], source: ShardSource) -> Labelled:
    """What a worker does with one shard."""
    if key not in _loaded:
        _loaded.clear()
        _loaded[key] = _opened(_ray().get(parcel[0]))
    return _loaded[key].label(source)


def _opened(parcel: _Parcel) -> LabelWork:
    with tempfile.TemporaryDirectory() as place:
        checkpoints: dict[str, Checkpoint] = {}
        for name, content in parcel.files.items():
            folder = Path(place) / str(len(checkpoints))
            with tarfile.open(fileobj=io.BytesIO(content)) as archive:
                archive.extractall(folder, filter="data")
            checkpoints[name] = replace(parcel.work.checkpoints[name], folder=folder)
        replace(parcel.work, checkpoints=checkpoints).load()
    return parcel.work


def _packed(folder: Path) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        archive.add(folder, arcname=".")
    return content.getvalue()
