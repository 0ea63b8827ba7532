"""Requests are answered together; whoever cannot be answered is told so and spoils nothing for the others."""

import asyncio
import threading
from collections.abc import Sequence

import pytest

from friend_training.web.service.batching import Batcher, Busy, Failed
from friend_training.web.service.messages import Limits
from helpers import patience


def _double(questions: Sequence[int]) -> list[int]:
    if any(question < 0 for question in questions):
        raise ValueError("negative")
    return [2 * question for question in questions]


def test_what_comes_together_is_answered_together() -> None:
    sizes: list[int] = []

    async def scene() -> list[int]:
        batcher = Batcher(_double, Limits(batch=4, gather=0.05, answer=patience.ANSWER), sizes.append)
        await batcher.start()
        answers = await asyncio.gather(*(batcher.ask(n) for n in range(10)))
        await batcher.stop()
        return answers

    assert asyncio.run(scene()) == [2 * n for n in range(10)]
    assert sizes == [4, 4, 2]


def test_one_that_fails_spoils_nothing() -> None:
    async def scene() -> list[int | BaseException]:
        batcher = Batcher(_double, Limits(gather=0.05, answer=patience.ANSWER), lambda size: None)
        await batcher.start()
        answers = await asyncio.gather(*(batcher.ask(n) for n in (1, -1, 3)), return_exceptions=True)
        await batcher.stop()
        return answers

    first, second, third = asyncio.run(scene())
    assert (first, third) == (2, 6)
    assert isinstance(second, Failed)


def test_a_full_queue() -> None:
    gate = threading.Event()
    asked: list[int] = []

    def held(questions: Sequence[int]) -> list[int]:
        asked.extend(questions)
        gate.wait(patience.ANSWER)
        return list(questions)

    async def scene() -> None:
        batcher = Batcher(held, Limits(batch=1, gather=0.0, waiting=2, answer=patience.ANSWER), lambda size: None)
        await batcher.start()
        working = asyncio.create_task(batcher.ask(0))
        while not asked:
            await asyncio.sleep(0.01)
        waiting = [asyncio.create_task(batcher.ask(n)) for n in (1, 2)]
        while batcher.waiting < 2:
            await asyncio.sleep(0.01)
        with pytest.raises(Busy):
            await batcher.ask(3)
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting)
        gate.set()
        assert await working == 0
        while batcher.waiting:
            await asyncio.sleep(0.01)
        assert await batcher.ask(4) == 4
        await batcher.stop()

    asyncio.run(scene())
    assert asked == [0, 4], "nobody works for those who have gone"


def test_an_answer_that_is_not_waited_for() -> None:
    gate = threading.Event()

    def held(questions: Sequence[int]) -> list[int]:
        gate.wait(patience.ANSWER)
        return list(questions)

    async def scene() -> None:
        batcher = Batcher(held, Limits(gather=0.0, answer=0.1), lambda size: None)
        await batcher.start()
        with pytest.raises(TimeoutError):
            await batcher.ask(0)
        gate.set()
        await batcher.stop()

    asyncio.run(scene())
