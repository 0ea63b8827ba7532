"""The adapter against a document that is hand-written from HanLP's documentation, not recorded from a run."""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from friend_training.errors import DataError, FriendTrainingError
from friend_training.examples import Predicate, Sentence
from friend_training.tasks.srl import hanlp
from friend_training.tasks.srl.hanlp import HanlpParser
from friend_training.tasks.srl.parsed import ParsedSentence, ParserBridge

FIXTURE = json.loads((Path(__file__).parent / "hanlp_document.json").read_text(encoding="utf-8"))
TEXTS: list[str] = FIXTURE["texts"]


def pipeline(texts: list[str], tasks: list[str]) -> dict[str, Any]:
    assert texts == TEXTS
    assert "srl" in tasks
    return FIXTURE["document"]  # type: ignore[no-any-return]


def said(parsed: ParsedSentence) -> list[tuple[str, list[tuple[str, str]]]]:
    return [
        (parsed.word_text(frame.word), [(a.role, parsed.text[a.start : a.end]) for a in frame.arguments])
        for frame in parsed.frames
    ]


def test_its_document_becomes_parses() -> None:
    parsed = HanlpParser(pipeline=pipeline).parse(TEXTS)
    assert [said(sentence) for sentence in parsed] == [
        [("洗", [("ARG0", "姐姐"), ("ARGM-TMP", "今天"), ("ARGM-LOC", "在厨房"), ("ARG1", "碗")])],
        [("爱", [("ARG0", "我"), ("ARG1", "吃妈妈做的菜")]), ("做", [("ARG0", "妈妈"), ("ARG1", "菜")])],
        [],
    ]
    assert [parsed[2].word_text(i) for i in range(2)] == ["好", "的"]


def test_as_a_bridge() -> None:
    eat, make = Predicate(2, 3), Predicate(5, 6)
    asked = [Sentence("a", TEXTS[0]), Sentence("b", TEXTS[1], (eat, make)), Sentence("c", TEXTS[2])]
    answers = ParserBridge(HanlpParser(pipeline=pipeline)).label(asked)
    assert [len(answer) for answer in answers] == [0, 2, 0]
    assert answers[1][0].arguments == ()  # 吃 was not found as a predicate
    assert [(a.role, TEXTS[1][a.start : a.end]) for a in answers[1][1].arguments] == [("ARG0", "妈妈"), ("ARG1", "菜")]


def test_empty_texts_are_not_asked() -> None:
    parsed = HanlpParser(pipeline=pipeline).parse(["", *TEXTS, " "])
    assert [bool(sentence.words) for sentence in parsed] == [False, True, True, True, False]


def test_a_document_without_roles_is_an_error() -> None:
    with pytest.raises(DataError, match="'srl'"):
        HanlpParser(pipeline=lambda texts, tasks: {"tok": [["好"]]}).parse(["好"])


def test_roles_without_a_predicate_are_an_error() -> None:
    document = {"tok": [["好"]], "srl": [[[["好", "ARG0", 0, 1]]]]}
    with pytest.raises(DataError, match="PRED"):
        HanlpParser(pipeline=lambda texts, tasks: document).parse(["好"])


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hanlp, "find_spec", lambda name: None)
    with pytest.raises(FriendTrainingError, match=r"friend-training\[hanlp\]"):
        HanlpParser()


@pytest.mark.parametrize(("device", "cards"), [("cpu", -1), ("cuda:1", [1])])
def test_it_computes_where_it_is_told(device: str, cards: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[Any] = []
    package = ModuleType("hanlp")
    package.pretrained = SimpleNamespace(mtl=SimpleNamespace())  # type: ignore[attr-defined]
    package.load = lambda model, devices: loaded.append((model, devices))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "hanlp", package)
    monkeypatch.setattr("friend_training.tasks.srl.hanlp.find_spec", lambda name: package)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    HanlpParser("some/model", device=device)
    assert loaded == [("some/model", cards)]
