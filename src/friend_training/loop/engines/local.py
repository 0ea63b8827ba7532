"""Several processes on this machine. A process that dies costs the shards it had in work: another one does them again.

Processes are spawned, not forked: torch's threads do not survive a fork. Each computes with one thread, so that N of
them take N cores; and it reads a shard from its address itself, so that this process holds no inputs. With graphics
cards each has one for itself, and sees no other: whatever it is sent finds its way to the only card there is.
"""

import os
import pickle
import signal
import traceback
from collections import Counter, deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from queue import Queue
from threading import Thread
from typing import Any, Protocol

from friend_training.core.pool import ShardSource
from friend_training.errors import ConfigError, FriendTrainingError, RunError
from friend_training.loop.labelling import Labelled, LabelWork

AHEAD = 4
"""So many times the shards in work may be finished and wait for an earlier one, such as one that had to be redone."""


class Crew(Protocol):
    """Workers that take shards by number. `slots` shards can be with them at a time."""

    @property
    def slots(self) -> int: ...

    def begin(self, number: int, source: ShardSource) -> None: ...

    def finished(self) -> list[tuple[int, Labelled]]:
        """Wait until at least one of the shards begun is finished."""
        ...


def in_order(crew: Crew, sources: Iterator[ShardSource]) -> Iterator[Labelled]:
    """The results of all sources, in order, holding no more than a few of them: workers stay busy meanwhile.

    Numbers are places in the order of sources.
    """
    begun = given = 0
    under_way = 0
    more = True
    done: dict[int, Labelled] = {}
    while True:
        while more and under_way < crew.slots and begun - given < (1 + AHEAD) * crew.slots:
            source = next(sources, None)
            more = source is not None
            if source is not None:
                crew.begin(begun, source)
                begun, under_way = begun + 1, under_way + 1
        if given in done:
            yield done.pop(given)
            given += 1
        elif under_way:
            for number, labelled in crew.finished():
                done[number] = labelled
                under_way -= 1
        else:
            return


QUEUED = 2
"""A worker has the next shard at hand while the result of the last one is being written."""


MOST_DEATHS = 3
"""A shard that has ended so many workers would end all of them."""


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """`workers` processes of this machine, started anew in every iteration: training has the machine for itself.

    `cards` are names as in CUDA_VISIBLE_DEVICES, one for each worker; without any, workers see what this process sees.
    """

    workers: int
    cards: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.cards and len(self.cards) != self.workers:
            raise ConfigError(f"engine: {self.workers} worker(s) for {len(self.cards)} card(s); give each card one")

    def labelled(self, work: LabelWork, sources: Iterator[ShardSource]) -> Generator[Labelled]:
        crew = _Crew(self.cards or (None,) * self.workers, packed(work))
        try:
            yield from in_order(crew, sources)
        finally:
            crew.stop()


def packed(work: LabelWork) -> bytes:
    """Tasks, friendships and audit as bytes. Functions inside functions cannot be sent."""
    try:
        return pickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ConfigError(
            f"engine: this method cannot be sent to other processes ({error}); use engine local with 1 worker"
        ) from error


@dataclass(slots=True)
class _Worker:
    process: Any
    connection: Connection
    card: str | None
    shards: deque[tuple[int, ShardSource]] = field(default_factory=deque)

    def give(self, number: int, source: ShardSource) -> None:
        self.shards.append((number, source))
        _send(self.connection, pickle.dumps((number, source)))

    def stop(self) -> None:
        self.connection.close()
        self.process.terminate()
        self.process.join()


class _Crew:
    def __init__(self, cards: Sequence[str | None], work: bytes) -> None:
        self._work = work
        self._deaths: Counter[int] = Counter()
        self._workers = [_hired(card) for card in cards]
        for worker in self._workers:
            _send(worker.connection, work)

    @property
    def slots(self) -> int:
        return QUEUED * len(self._workers)

    def begin(self, number: int, source: ShardSource) -> None:
        min(self._workers, key=lambda worker: len(worker.shards)).give(number, source)

    def finished(self) -> list[tuple[int, Labelled]]:
        found: list[tuple[int, Labelled]] = []
        while not found:
            ready = wait([worker.connection for worker in self._workers])
            for worker in [worker for worker in self._workers if worker.connection in ready]:
                answer = _received(worker.connection)
                if answer is None:
                    self._replace(worker)
                    continue
                if isinstance(answer, FriendTrainingError):
                    raise answer
                worker.shards.popleft()
                found.append(answer)
        return found

    def stop(self) -> None:
        for worker in self._workers:
            worker.stop()

    def _replace(self, dead: _Worker) -> None:
        """The first of its shards was in work when it died: a new worker begins with that one."""
        dead.stop()
        number, _ = dead.shards[0]
        self._deaths[number] += 1
        if self._deaths[number] == MOST_DEATHS:
            raise RunError(
                f"shard {number} of those left has ended {MOST_DEATHS} workers, the last with code"
                f" {dead.process.exitcode} (-9 is often too little memory); use smaller shards or fewer workers"
            )
        new = _hired(dead.card)
        self._workers[self._workers.index(dead)] = new
        _send(new.connection, self._work)
        for shard in dead.shards:
            new.give(*shard)


def _hired(card: str | None) -> _Worker:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    with _environment({"OMP_NUM_THREADS": "1"} | ({} if card is None else {"CUDA_VISIBLE_DEVICES": card})):
        process.start()
    theirs.close()
    return _Worker(process, ours, card)


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """What is started here has these variables: how many threads and which cards is read when libraries are loaded."""
    before = {name: os.environ[name] for name in variables if name in os.environ}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]
        os.environ.update(before)


def _send(connection: Connection, message: bytes) -> None:
    """A worker that is dead gets nothing; `finished` meets its end and gives its shards to another one."""
    try:
        connection.send_bytes(message)
    except (BrokenPipeError, ConnectionResetError):
        return


def _received(connection: Connection) -> Any:
    """An answer, or None from a worker that died."""
    try:
        return pickle.loads(connection.recv_bytes())
    except (EOFError, ConnectionResetError):
        return None


def _serve(connection: Connection) -> None:
    """The life of a worker: it ends when the other end of the connection is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the coordinating process, which then stops us
    messages: Queue[bytes] = Queue()
    Thread(target=_listen, args=(connection, messages), daemon=True).start()
    work: LabelWork | None = None
    while True:
        message = messages.get()
        try:
            if work is None:
                work = pickle.loads(message)
                work.load()
                continue
            number, source = pickle.loads(message)
            answer: Any = (number, work.label(source))
        except FriendTrainingError as error:
            answer = error
        except Exception:
            answer = RunError(f"a worker failed:\n{traceback.format_exc()}")
        _send(connection, pickle.dumps(answer))


def _listen(connection: Connection, messages: "Queue[bytes]") -> None:
    """Take what comes at once, so that neither end ever waits for the other to read."""
    try:
        while True:
            messages.put(connection.recv_bytes())
    except (EOFError, OSError):
        os._exit(0)  # nobody waits for the shard in work any more, and a worker has nothing to lose
