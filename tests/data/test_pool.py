"""The unlabeled pool: long enough, cut to length, no doubles, nothing of a labelled dev or test set."""

import json
import random
from pathlib import Path
from typing import get_args

import pytest

from friend_training.data.benchmarks import MAX_CHARACTERS, SOURCES, build_pool, cut, telling_keys
from friend_training.errors import DataError
from friend_training.study.sections import PoolCorpus
from friend_training.types import Dialogue, Turn


def chat(*texts: str) -> tuple[Turn, ...]:
    return tuple(Turn("AB"[i % 2], text) for i, text in enumerate(texts))


@pytest.fixture
def small_data(tmp_path: Path) -> Path:
    lccc = tmp_path / "unlabeled_lccc_base"
    lccc.mkdir()
    chats = [[f"第{i}次说", f"说了{i}遍", "嗯嗯", f"好吧{i}"] for i in range(20)]
    chats += [
        ["太 短", "是 的", "嗯"],
        chats[3],
        ["第 4 次 说 ！", "说 了 4 遍", "嗯 嗯", "好 吧 4"],
        ["哈", "哈", "哈", "？"],
    ]
    (lccc / "LCCC-base_valid.json").write_text(json.dumps(chats, ensure_ascii=False), encoding="utf-8")
    corecode = tmp_path / "unlabeled_corecode" / "easy" / "generation" / "dev"
    corecode.mkdir(parents=True)
    turns = [f"{'AB'[i % 2]}: 这是第{i}句话" for i in range(18)]
    name = "Event_Causal_Inference--Event_Cause_Inference.jsonl"
    (corecode / name).write_text((json.dumps({"dialogue": turns}) + "\n") * 2, encoding="utf-8")
    return tmp_path


def test_lccc_comes_first_and_nothing_twice(small_data: Path) -> None:
    pool = build_pool(small_data, count=22, exclude=[], seed=1)
    assert [d.id.startswith("lccc/valid") for d in pool] == [True] * 20 + [False] * 2
    assert len({d.id for d in pool}) == 22
    assert len({"".join(turn.text for turn in d.turns).rstrip("！") for d in pool}) == 22
    assert all(len(d.turns) >= 4 for d in pool)


def test_a_chat_that_recurs_is_cut_into_windows_once(small_data: Path) -> None:
    pool = build_pool(small_data, count=23, exclude=[], seed=1)
    turns = [turn.text for d in pool for turn in d.turns if d.id.startswith("corecode")]
    assert len(turns) >= 12
    assert len(set(turns)) == len(turns)


def test_deterministic_by_seed(small_data: Path) -> None:
    first = build_pool(small_data, count=10, exclude=[], seed=1)
    assert build_pool(small_data, count=10, exclude=[], seed=1) == first
    assert build_pool(small_data, count=10, exclude=[], seed=2) != first


def test_labelled_dialogues_are_kept_out(small_data: Path) -> None:
    whole = Dialogue("test", chat("第5次说，", "说了5遍", "嗯嗯", "好吧5"))
    part = Dialogue("test", chat("你好", "第6次说", "说了 6 遍"))
    pool = build_pool(small_data, count=18, exclude=[whole, part], seed=1)
    texts = {turn.text for d in pool for turn in d.turns}
    assert texts.isdisjoint({"第5次说", "第6次说"})
    assert "第7次说" in texts
    with pytest.raises(DataError, match="were asked for"):
        build_pool(small_data, count=24, exclude=[whole, part], seed=1)


def test_short_turns_alone_give_nothing_away() -> None:
    assert not telling_keys([Dialogue("a", chat("你好", "嗯", "好的"))])
    assert telling_keys([Dialogue("a", chat("你好", "我们明天去爬山吧"))])


def test_long_chats_become_windows_that_follow_each_other() -> None:
    turns = chat(*(f"第{i}句" for i in range(23)))
    windows = list(cut(turns, windows=True, generator=random.Random(0)))
    assert all(4 <= len(window) <= 6 for window in windows)
    joined = [turn for window in windows for turn in window]
    assert joined == list(turns[: len(joined)])
    assert len(turns) - len(joined) < 4


def test_too_long_chats_lose_their_oldest_turns() -> None:
    turns = chat(*("字" * 25 for _ in range(6)))
    (kept,) = cut(turns, windows=False, generator=random.Random(0))
    assert kept == turns[-4:]
    assert sum(len(turn.text) for turn in kept) <= MAX_CHARACTERS
    assert not list(cut(chat(*("字" * 50 for _ in range(6))), windows=False, generator=random.Random(0)))


def test_as_many_of_each_corpus(small_data: Path) -> None:
    pool = build_pool(small_data, count=4, exclude=[], seed=1, evenly=["corecode", "lccc"])
    assert [d.id.partition("/")[0] for d in pool] == ["lccc", "lccc", "corecode", "corecode"]
    with pytest.raises(DataError, match="corecode has 20 unlabeled dialogues fewer than its share of 24"):
        build_pool(small_data, count=24, exclude=[], seed=1, evenly=["corecode"])
    with pytest.raises(DataError, match="lccc has 5 unlabeled"):  # and no other corpus fills in for it
        build_pool(small_data, count=50, exclude=[], seed=1, evenly=["corecode", "lccc"])


def test_a_config_can_name_every_corpus_of_the_pool() -> None:
    assert get_args(PoolCorpus) == tuple(source.corpus for source in SOURCES)
