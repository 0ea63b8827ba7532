"""A Ray cluster labels the pool (the extra friend-training[ray]): from one machine to many by one line of the config.

Plain tasks, one per shard, and not Ray Data: its blocks are cut, joined and written where Ray thinks best, but a shard
of the store has its number and its rows, and is recorded once. A task's result is a value that only the coordinating
process takes and writes. When a worker or a node dies, Ray runs its tasks again, those too whose results died with it;
a shard is a pure function of its inputs and the checkpoints, so the value is the same, and it is still taken once.

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

from friend_training.core.engines.in_order import in_order
from friend_training.core.engines.work import Checkpoint, Labelled, LabelWork
from friend_training.core.pool import ShardSource
from friend_training.errors import FriendTrainingError, RunError, naming_missing_packages

RETRIES = 5
"""So often a shard is begun again on another worker; one that is lost more often would end all of them."""

QUEUED = 2
"""So many shards per processor are with the cluster: the next one is there when one is finished."""


@dataclass(frozen=True, slots=True)
class RayEngine:
    """`address` of the cluster, or None to start one on this machine; `workers` shards in work at a time, or None for
    as many as there are processors."""

    address: str | None = None
    workers: int | None = None

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


class _Crew:
    def __init__(self, ray: Any, work: LabelWork, workers: int | None) -> None:
        self._ray, self._most = ray, workers
        files = {name: _packed(checkpoint.folder) for name, checkpoint in work.checkpoints.items()}
        self._key = uuid4().hex
        self._parcel = ray.put(_Parcel(self._key, work, files))
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
        errors = self._ray.exceptions
        try:
            value: Labelled = self._ray.get(one)
        except errors.RayTaskError as error:
            if isinstance(error.cause, FriendTrainingError):
                raise error.cause from None
            raise RunError(f"a worker failed:\n{error}") from error
        except errors.RayError as error:
            raise RunError(f"a shard was lost {RETRIES} times; use smaller shards or more memory ({error})") from error
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
