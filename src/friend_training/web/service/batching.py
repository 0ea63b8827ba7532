"""Requests that come at about the same time are answered together: one call of a model costs little more than one."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from friend_training.web.service.messages import Limits

Q = TypeVar("Q")
A = TypeVar("A")

LOG = logging.getLogger("friend_training.service")


class Busy(Exception):
    """So many are waiting that another one is not let in."""


class Failed(Exception):
    """The models could not answer this one question."""


class Batcher(Generic[Q, A]):
    """A queue, and one thread in which the models work: torch and our caches see one batch at a time.

    `answer` turns a batch of questions into as many answers. `seen` is told the size of every batch.
    """

    def __init__(
        self, answer: Callable[[Sequence[Q]], Sequence[A]], limits: Limits, seen: Callable[[int], None]
    ) -> None:
        self._answer, self._limits, self._seen = answer, limits, seen
        self._open()

    def _open(self) -> None:
        self._queue: asyncio.Queue[tuple[Q, asyncio.Future[A]]] = asyncio.Queue(maxsize=self._limits.waiting)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="friends")
        self._collector: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        return self._queue.qsize()

    async def start(self) -> None:
        """Queue and thread belong to one event loop: a server that is started again has new ones."""
        self._open()
        self._collector = asyncio.create_task(self._collect())

    async def stop(self) -> None:
        if self._collector is not None:
            self._collector.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def ask(self, question: Q) -> A:
        """The answer; `Busy` at once if the queue is full, `TimeoutError` if it takes too long, `Failed` if none."""
        future: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        if self._queue.full():
            raise Busy
        self._queue.put_nowait((question, future))
        return await asyncio.wait_for(future, self._limits.answer)

    async def _collect(self) -> None:
        while True:
            batch = [await self._queue.get()]
            if self._queue.qsize() < self._limits.batch - 1:  # under load others are there already
                await asyncio.sleep(self._limits.gather)
            while len(batch) < self._limits.batch and not self._queue.empty():
                batch.append(self._queue.get_nowait())
            waited_for = [(question, future) for question, future in batch if not future.done()]  # not given up
            if waited_for:
                await self._work(waited_for)

    async def _work(self, batch: Sequence[tuple[Q, asyncio.Future[A]]]) -> None:
        questions = [question for question, _ in batch]
        self._seen(len(questions))
        loop = asyncio.get_running_loop()
        outcomes = await loop.run_in_executor(self._thread, self._outcomes, questions)
        for outcome, (_, future) in zip(outcomes, batch, strict=True):
            if future.done():
                continue
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

    def _outcomes(self, questions: Sequence[Q]) -> list[A | Exception]:
        """In the models' thread. One that cannot be answered must not spoil the others': then each is asked alone."""
        try:
            return list(self._answer(questions))
        except Exception:
            if len(questions) == 1:
                LOG.exception("a question could not be answered")
                return [Failed()]
        return [self._outcomes([question])[0] for question in questions]
