"""The adapter against a document that is hand-written from HanLP's documentation, not recorded from a run."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from friend_training.bridges import hanlp
from friend_training.bridges.bridge import FramedWordFinder, ParsedSentence, ParserBridge
from friend_training.bridges.hanlp import HanlpParser, missing_of_hanlp
from friend_training.errors import DataError, FriendTrainingError
from friend_training.types import Predicate, Sentence

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
    monkeypatch.setitem(sys.modules, "hanlp", None)
    monkeypatch.setattr(hanlp, "find_spec", lambda name: None)
    with pytest.raises(FriendTrainingError, match=r"friend-training\[hanlp\]"):
        HanlpParser()
    assert "friend-training[hanlp]" in missing_of_hanlp("any")


def test_its_frames_tell_the_predicates_of_a_text() -> None:
    found = FramedWordFinder(HanlpParser(pipeline=pipeline)).find(TEXTS)
    words = [[text[at.start : at.end] for at in predicates] for text, predicates in zip(TEXTS, found, strict=True)]
    assert words == [["洗"], ["爱", "做"], []]


PACKAGE = """
class pretrained:
    class mtl:
        SMALL = "https://example.org/mtl/small.zip"

def load(named, devices):
    raise ConnectionError(f"no way to {named}" + chr(10) + "many more lines")
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package that calls itself hanlp, whose models lie in this folder; there is no internet."""
    home, package = tmp_path / "home", tmp_path / "site" / "hanlp"
    (package / "utils").mkdir(parents=True)
    (package / "__init__.py").write_text(PACKAGE)
    (package / "utils" / "__init__.py").write_text("")
    place = f"def path_from_url(url):\n    return {str(home)!r} + '/mtl/' + url.rpartition('/')[2]\n"
    (package / "utils" / "io_util.py").write_text(place)
    monkeypatch.syspath_prepend(str(package.parent))
    for name in [name for name in sys.modules if name.partition(".")[0] == "hanlp"]:
        monkeypatch.delitem(sys.modules, name)
    yield home
    for name in [name for name in sys.modules if name.partition(".")[0] == "hanlp"]:
        del sys.modules[name]


def test_a_model_that_is_not_there_is_told_in_one_line(installed: Path) -> None:
    with pytest.raises(FriendTrainingError, match=r"HanLP's model SMALL is not in .*mtl") as caught:
        HanlpParser("SMALL")
    assert "\n" not in str(caught.value)
    assert "https://example.org/mtl/small.zip" in missing_of_hanlp("SMALL")
    assert "no model 'OTHER'" in missing_of_hanlp("OTHER")
    (installed / "mtl" / "small").mkdir(parents=True)
    assert missing_of_hanlp("SMALL") == ""
    assert missing_of_hanlp(str(installed)) == ""
    with pytest.raises(FriendTrainingError, match=r"no way to https://example.org/mtl/small.zip$"):
        HanlpParser("SMALL")


@pytest.mark.parametrize(("device", "cards"), [("cpu", -1), ("cuda:1", [1])])
def test_it_computes_where_it_is_told(device: str, cards: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[Any] = []
    package = ModuleType("hanlp")
    package.pretrained = SimpleNamespace(mtl=SimpleNamespace())  # type: ignore[attr-defined]
    package.load = lambda model, devices: loaded.append((model, devices))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "hanlp", package)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    HanlpParser("some/model", device=device)
    assert loaded == [("some/model", cards)]
