"""The bridge never sees the dialogues that few-shot labels and tests come from."""

from pathlib import Path

import pytest

from friend_training.data import benchmarks
from friend_training.data.benchmarks import bridge_sentences, check_unseen
from friend_training.errors import DataError
from friend_training.types import CsrlExample, Dialogue, Sentence, SrlExample, Turn


def heard(text: str) -> CsrlExample:
    return CsrlExample(Dialogue("d", (Turn("A", "你好"), Turn("B", text))), ())


def read(text: str) -> SrlExample:
    return SrlExample(Sentence("s-7", text), ())


def test_an_utterance_of_the_test_data_among_the_bridges_sentences_is_an_error() -> None:
    with pytest.raises(DataError, match="s-7"):
        check_unseen([read("我昨天看了一部电影"), read("他去年写了这本书")], [heard("他去年写了这本书")])


def test_what_everyone_says_and_other_sentences_may_be_read() -> None:
    check_unseen([read("是呀。"), read("他今年写了这本书")], [heard("是呀。"), heard("他去年写了这本书")])


@pytest.mark.realdata
def test_the_real_bridge_data_holds_no_utterance_of_duconv(data_dir: Path) -> None:
    duconv = [example for part in benchmarks.duconv(data_dir) for example in part]
    train, dev = bridge_sentences(data_dir, unseen=duconv)
    assert len(train) > 9000
    assert len(dev) == 400
    with pytest.raises(DataError):
        bridge_sentences(data_dir, unseen=[*duconv, heard(train[0].sentence.text)])
