"""Requests are answered together; whoever cannot be answered is told so and spoils nothing for the others."""

import asyncio
import threading
import time
from collections.abc import Sequence

import pytest

from friend_training.web.service.batching import Batcher, Busy, Failed
from friend_training.web.service.limits import Limits


def _double(questions: Sequence[int]) -> list[int]:
    if any(question < 0 for question in questions):
        raise ValueError("negative")
    return [2 * question for question in questions]


def test_what_comes_together_is_answered_together() -> None:
    sizes: list[int] = []

    async def scene() -> list[int]:
        batcher = Batcher(_double, Limits(batch=4, gather=0.05), sizes.append)
        await batcher.start()
        answers = await asyncio.gather(*(batcher.ask(n) for n in range(10)))
        await batcher.stop()
        return answers

    assert asyncio.run(scene()) == [2 * n for n in range(10)]
    assert sizes == [4, 4, 2]


def test_one_that_fails_spoils_nothing() -> None:
    async def scene() -> list[int | BaseException]:
        batcher = Batcher(_double, Limits(gather=0.05), lambda size: None)
        await batcher.start()
        answers = await asyncio.gather(*(batcher.ask(n) for n in (1, -1, 3)), return_exceptions=True)
        await batcher.stop()
        return answers

    first, second, third = asyncio.run(scene())
    assert (first, third) == (2, 6)
    assert isinstance(second, Failed)


def test_a_full_queue_and_no_patience() -> None:
    gate = threading.Event()
    asked: list[int] = []

    def slow(questions: Sequence[int]) -> list[int]:
        asked.extend(questions)
        gate.wait(5)
        return list(questions)

    async def scene() -> None:
        batcher = Batcher(slow, Limits(batch=1, gather=0.0, waiting=2, answer=0.3), lambda size: None)
        await batcher.start()
        working = asyncio.create_task(batcher.ask(0))
        await asyncio.sleep(0.05)
        waiting = [asyncio.create_task(batcher.ask(n)) for n in (1, 2)]
        await asyncio.sleep(0.05)
        assert batcher.waiting == 2
        with pytest.raises(Busy):
            await batcher.ask(3)
        for task in (working, *waiting):
            with pytest.raises(TimeoutError):
                await task
        gate.set()
        while batcher.waiting:
            await asyncio.sleep(0.01)
        assert await batcher.ask(4) == 4
        await batcher.stop()

    began = time.monotonic()
    asyncio.run(scene())
    assert time.monotonic() - began < 4
    assert asked == [0, 4], "nobody works for those who have gone"
