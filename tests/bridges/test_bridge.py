from collections.abc import Sequence

import pytest

from friend_training.bridges.bridge import CachedBridge
from friend_training.errors import ConfigError
from friend_training.types import Predicate, Sentence, SentenceArgument, SentenceRoles


class CountingBridge:
    """Says that everything before the predicate is ARG0, and remembers what it was asked."""

    name = "counting"

    def __init__(self) -> None:
        self.batches: list[list[Sentence]] = []

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]:
        self.batches.append(list(sentences))
        return [
            tuple(SentenceRoles(p, (SentenceArgument("ARG0", 0, p.start),)) for p in sentence.predicates)
            for sentence in sentences
        ]

    @property
    def asked(self) -> list[str]:
        return [sentence.text for batch in self.batches for sentence in batch]


def sentence(text: str, *starts: int, id: str = "") -> Sentence:
    return Sentence(id or text, text, tuple(Predicate(start, start + 1) for start in starts))


def test_answers_are_those_of_the_bridge_in_order() -> None:
    asked = [sentence("猫吃鱼", 1), sentence("狗跑", 1), sentence("天晴")]
    assert CachedBridge(CountingBridge(), max_entries=10).label(asked) == CountingBridge().label(asked)


def test_duplicates_of_a_batch_are_asked_once_and_new_ones_go_in_one_batch() -> None:
    inner = CountingBridge()
    cached = CachedBridge(inner, max_entries=10)
    first = cached.label([sentence("猫吃鱼", 1, id="a"), sentence("狗跑", 1), sentence("猫吃鱼", 1, id="b")])
    second = cached.label([sentence("狗跑", 1), sentence("鸟飞", 1)])
    assert [len(batch) for batch in inner.batches] == [2, 1]
    assert inner.asked == ["猫吃鱼", "狗跑", "鸟飞"]
    assert first[0] == first[2]
    assert second[0] == first[1]


def test_other_predicates_of_the_same_text_are_another_entry() -> None:
    inner = CountingBridge()
    cached = CachedBridge(inner, max_entries=10)
    assert cached.label([sentence("猫吃鱼", 1)]) != cached.label([sentence("猫吃鱼", 2)])
    assert len(inner.asked) == 2


def test_the_least_recently_used_is_forgotten() -> None:
    inner = CountingBridge()
    cached = CachedBridge(inner, max_entries=2)
    cached.label([sentence("甲"), sentence("乙")])
    cached.label([sentence("甲")])
    cached.label([sentence("丙")])
    cached.label([sentence("甲")])
    assert inner.asked == ["甲", "乙", "丙"]
    cached.label([sentence("乙")])
    assert inner.asked[-1] == "乙"


def test_a_batch_larger_than_the_cache_is_answered() -> None:
    asked = [sentence(f"第{i}句", 1) for i in range(50)]
    cached = CachedBridge(CountingBridge(), max_entries=3)
    assert cached.label(asked) == CountingBridge().label(asked)
    assert cached.label(asked[::-1]) == CountingBridge().label(asked[::-1])


def test_nothing_new_does_not_wake_the_bridge() -> None:
    inner = CountingBridge()
    cached = CachedBridge(inner, max_entries=2)
    cached.label([sentence("甲")])
    cached.label([sentence("甲")])
    assert cached.label([]) == []
    assert len(inner.batches) == 1


def test_a_cache_without_room_is_refused() -> None:
    with pytest.raises(ConfigError, match="at least 1"):
        CachedBridge(CountingBridge(), max_entries=0)
