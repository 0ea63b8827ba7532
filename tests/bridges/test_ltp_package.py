import sys
from types import SimpleNamespace
from typing import Any

import pytest

from friend_training.bridges.bridge import Frame, ParsedSentence, ParserBridge
from friend_training.bridges.ltp import LtpPackageParser, restore_batch_encode_plus
from friend_training.errors import FriendTrainingError
from friend_training.types import Predicate, Sentence, SentenceArgument

TEXT = "姐姐在厨房洗碗"


def pipeline(texts: list[str], tasks: list[str]) -> SimpleNamespace:
    """Answers in the form of ltp 4.2.14: inclusive word indices, one dictionary per predicate."""
    assert tasks == ["cws", "pos", "srl"]
    known = {
        TEXT: (
            ["姐姐", "在", "厨房", "洗", "碗"],
            ["n", "p", "n", "v", "n"],
            [
                {
                    "index": 3,
                    "predicate": "洗",
                    "arguments": [("A0", "姐姐", 0, 0), ("ARGM-LOC", "在厨房", 1, 2), ("A1", "碗", 4, 4)],
                }
            ],
        ),
    }
    answers = [known.get(text, ([text], ["n"], [])) for text in texts]
    return SimpleNamespace(cws=[a[0] for a in answers], pos=[a[1] for a in answers], srl=[a[2] for a in answers])


def test_its_output_becomes_a_parse() -> None:
    [parsed] = LtpPackageParser(pipeline=pipeline).parse([TEXT])
    assert parsed.words == ((0, 2), (2, 3), (3, 5), (5, 6), (6, 7))
    assert parsed.pos == ("n", "p", "n", "v", "n")
    arguments = (SentenceArgument("A0", 0, 2), SentenceArgument("ARGM-LOC", 2, 5), SentenceArgument("A1", 6, 7))
    assert parsed.frames == (Frame(3, arguments),)


def test_as_a_bridge() -> None:
    bridge = ParserBridge(LtpPackageParser(pipeline=pipeline))
    [[roles]] = bridge.label([Sentence("a", TEXT, (Predicate(5, 6),))])
    assert [(a.role, TEXT[a.start : a.end]) for a in roles.arguments] == [
        ("ARG0", "姐姐"), ("ARG1", "碗"), ("LOC", "在厨房"),
    ]  # fmt: skip


def test_texts_of_all_lengths_come_back_in_order_and_empty_ones_are_not_asked() -> None:
    calls: list[list[str]] = []

    def recording(texts: list[str], tasks: list[str]) -> SimpleNamespace:
        calls.append(texts)
        return pipeline(texts, tasks)

    texts = ["字" * (1 + i * 7 % 40) for i in range(70)] + ["", " "]
    parsed = LtpPackageParser(pipeline=recording).parse(texts)
    assert [sentence.text for sentence in parsed] == texts
    assert parsed[-2:] == [ParsedSentence("", (), (), ()), ParsedSentence(" ", (), (), ())]
    assert all(sentence.words == ((0, len(sentence.text)),) for sentence in parsed[:-2])
    assert [len(call) for call in calls] == [32, 32, 6]


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ltp", None)
    with pytest.raises(FriendTrainingError, match=r"friend-training\[ltp\]"):
        LtpPackageParser()


def test_batch_encode_plus_is_given_back_only_where_it_is_missing() -> None:
    class New:
        def __call__(self, texts: list[str], **options: Any) -> tuple[list[str], dict[str, Any]]:
            return texts, options

    class Old(New):
        def batch_encode_plus(self, texts: list[str]) -> str:
            return "its own"

    new, old = New(), Old()
    restore_batch_encode_plus(new)
    restore_batch_encode_plus(old)
    assert new.batch_encode_plus(["a"], padding="longest") == (["a"], {"padding": "longest"})  # type: ignore[attr-defined]
    assert old.batch_encode_plus(["a"]) == "its own"
