"""Our own format: what it accepts, and that it says what is wrong with everything else."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from friend_training.data.jsonl import DialogueLine, Role, SentenceLine, write_jsonl
from friend_training.data.read import read_examples
from friend_training.data.summary import fingerprint
from friend_training.errors import DataError
from friend_training.types import (
    ROLES,
    Argument,
    CsrlExample,
    Dialogue,
    Predicate,
    RewritingExample,
    Roles,
    Sentence,
    SentenceArgument,
    SentenceRoles,
    SrlExample,
    Turn,
)

DOCS = Path(__file__).parents[2] / "docs" / "data-formats.md"


def line(**changes: Any) -> str:
    whole: dict[str, Any] = {
        "id": "d1",
        "turns": [{"speaker": "A", "text": "小李来吗？"}, {"speaker": "B", "text": "来啊"}],
        "predicates": [{"start": 0, "end": 1, "arguments": [{"role": "ARG0", "turn": 0, "start": 0, "end": 2}]}],
        "rewrite": "小李来啊",
    }
    return json.dumps({key: value for key, value in (whole | changes).items() if value is not None}, ensure_ascii=False)


def write(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def predicate(*arguments: dict[str, Any], start: int = 0, end: int = 1) -> list[dict[str, Any]]:
    return [{"start": start, "end": end, "arguments": list(arguments)}]


def argument(role: str = "ARG0", turn: int = 0, start: int = 0, end: int = 2) -> dict[str, Any]:
    return {"role": role, "turn": turn, "start": start, "end": end}


def test_one_file_serves_every_kind(tmp_path: Path) -> None:
    path = write(tmp_path, line(), "")
    (csrl,) = read_examples(path, "csrl").examples
    (rewriting,) = read_examples(path, "rewriting").examples
    (dialogue,) = read_examples(path, "dialogue").examples
    assert csrl.roles == (Roles(Predicate(0, 1), (Argument("ARG0", 0, 0, 2),)),)
    assert rewriting.rewrite == "小李来啊"
    assert dialogue == csrl.dialogue
    assert dialogue.predicates == (Predicate(0, 1),)


def test_predictions_are_read_as_labels_whatever_their_confidence(tmp_path: Path) -> None:
    sure = [{**predicate(argument())[0], "confidence": 0.7}]
    path = write(tmp_path, line(predicates=sure, confidence=1), line(id="d2"))
    for kind in ("csrl", "rewriting", "dialogue"):
        first, second = read_examples(path, kind).examples
        assert first == replace(second, dialogue=first.dialogue) if kind != "dialogue" else first.turns == second.turns
    written = write_jsonl(tmp_path / "again.jsonl", read_examples(path, "csrl").examples)
    assert written == 2
    assert "confidence" not in (tmp_path / "again.jsonl").read_text(encoding="utf-8")


def test_speaker_tokens_and_the_opening_turn(tmp_path: Path) -> None:
    both = predicate(argument(turn=-1, start=-1, end=0), argument("ARG1", turn=1, start=-1, end=0))
    (example,) = read_examples(write(tmp_path, line(predicates=both)), "csrl").examples
    assert example.roles[0].arguments == (Argument("ARG0", -1, -1, 0), Argument("ARG1", 1, -1, 0))


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("{broken", "broken JSON"),
        ("[1]", "broken|mapping"),
        (line(extra=1), "unknown field 'extra'"),
        (line(turns=[{"speaker": "A", "text": "x", "mood": "y"}]), r"unknown field 'turns\[0\].mood'"),
        (line(confidence=1.5), "confidence: expected at most 1.*, got 1.5"),
        (line(predicates=[{**predicate()[0], "confidence": "high"}]), "confidence: .*number, got 'high'"),
        (line(id=None), "'id' is missing"),
        (line(id=""), "id: .*at least 1"),
        (line(id=5), "id: expected text"),
        (line(turns=[]), "turns: .*at least 1"),
        (line(turns=[{"speaker": "A", "text": ""}]), "last turn has no text"),
        (line(turns=[{"speaker": "A", "text": "甲乙", "words": ["甲"]}], predicates=None), "joined words"),
        (line(predicates=predicate(start=1, end=9)), r"predicate \[1, 9\) is no span of a text of 2"),
        (line(predicates=predicate(start=1, end=1)), "is no span"),
        (line(predicates=[{"start": "0", "end": 1}]), "expected a whole number, got '0'"),
        (line(predicates=predicate() * 2), "given twice"),
        (line(predicates=predicate(argument(end=9))), r"argument \[0, 9\) is no span of turn 0, which has 5"),
        (line(predicates=predicate(argument(turn=2))), "turn 2, but the last turn is 1"),
        (line(predicates=predicate(argument(turn=-1))), "opening turn"),
        (line(predicates=predicate(argument(start=-1, end=1))), "is no span"),
        (line(predicates=predicate(argument("ARG9"))), "role: .*'ARG0'.*got 'ARG9'"),
        (line(predicates=predicate(argument(), argument("TMP", start=1))), "overlap"),
        (line(), "'d1' was given before, on line 1"),
        (line(id="d2", predicates=None), "no CSRL labels"),
        (line(id="d2", predicates=[{"start": 0, "end": 1}]), "no CSRL labels"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(tmp_path: Path, bad: str, reason: str) -> None:
    path = write(tmp_path, line(), bad)
    with pytest.raises(DataError) as caught:
        read_examples(path, "csrl", format="jsonl")
    assert str(caught.value).startswith(f"{path}:2: ")
    assert re.search(reason, str(caught.value))


def test_missing_rewrite(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no rewriting label"):
        read_examples(write(tmp_path, line(rewrite=None)), "rewriting")


def test_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(line().encode() + b"\n" + line(id="d2").encode("gb18030") + b"\n")
    with pytest.raises(DataError, match=r"x\.jsonl:2: not UTF-8"):
        read_examples(path, "csrl")


@pytest.mark.parametrize("content", [b"", b"\n \n"])
def test_empty_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError, match="empty"):
        read_examples(path, "csrl")


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read_examples(tmp_path / "none.jsonl", "csrl")
    with pytest.raises(DataError, match="folder"):
        read_examples(tmp_path, "csrl", format="jsonl")


def test_a_failed_write_leaves_nothing_and_keeps_the_old_file(tmp_path: Path) -> None:
    path = write(tmp_path, "old")
    good = RewritingExample(Dialogue("a", (Turn("A", "好"),)), "好")
    wrong = RewritingExample(Dialogue("b", (Turn("A", ""),)), "好")
    with pytest.raises(ValueError, match="no text"):
        write_jsonl(path, [good, wrong])
    assert path.read_text(encoding="utf-8") == "old\n"
    assert list(tmp_path.iterdir()) == [path]


texts = st.text(alphabet='好人 aé😀\u2028\n"', min_size=1, max_size=6)


@st.composite
def csrl_examples(draw: st.DrawFn) -> CsrlExample:
    turns = tuple(Turn(draw(st.sampled_from("AB")), text) for text in draw(st.lists(texts, min_size=1, max_size=3)))
    end = draw(st.integers(1, len(turns[-1].text)))
    turn = draw(st.integers(-1, len(turns) - 1))
    span = (-1, 0) if turn == -1 or draw(st.booleans()) else (0, draw(st.integers(1, len(turns[turn].text))))
    arguments = (Argument(draw(st.sampled_from(ROLES)), turn, *span),)
    dialogue = Dialogue(draw(texts), turns, (Predicate(end - 1, end),))
    return CsrlExample(dialogue, (Roles(dialogue.predicates[0], arguments),))


@given(example=csrl_examples())
def test_csrl_round_trip(example: CsrlExample, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("x") / "x.jsonl"
    write_jsonl(path, [example])
    loaded = read_examples(path, "csrl", format="jsonl")
    assert loaded.examples == [example]
    assert loaded.fingerprint == fingerprint([example])


def test_sentence_round_trip_and_words(tmp_path: Path) -> None:
    roles = SentenceRoles(Predicate(1, 2), (SentenceArgument("ARG0", 0, 1),))
    sentence = SrlExample(Sentence("s", "他走", (Predicate(1, 2),)), (roles,))
    write_jsonl(tmp_path / "s.jsonl", [sentence])
    assert read_examples(tmp_path / "s.jsonl", "sentence").examples == [sentence]
    dialogue = Dialogue("d", (Turn("A", "I go", ("I", "go")), Turn("B", "好吧", ("好", "", "吧"))))
    write_jsonl(tmp_path / "d.jsonl", [dialogue])
    assert read_examples(tmp_path / "d.jsonl", "dialogue").examples == [dialogue]


def test_roles_of_the_schema_are_ours() -> None:
    assert Role.__args__ == ROLES  # type: ignore[attr-defined]


@pytest.mark.parametrize("model", [DialogueLine, SentenceLine])
def test_the_documented_schema_is_the_real_one(model: type[DialogueLine] | type[SentenceLine]) -> None:
    schema = json.dumps(model.model_json_schema(), indent=2, ensure_ascii=False)
    assert f"```json\n{schema}\n```" in DOCS.read_text(encoding="utf-8"), f"put this into {DOCS.name}:\n{schema}"


def test_documented_examples_can_be_read(tmp_path: Path) -> None:
    blocks = re.findall(r"```jsonl\n(.*?)```", DOCS.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) == 4
    for kind, block in zip(("csrl", "rewriting", "coreference", "sentence"), blocks, strict=True):
        assert read_examples(write(tmp_path, *block.splitlines()), kind).examples  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        ([[{"turn": 1, "start": 0, "end": 1}]], "a mention stands in turn 1"),
        ([[{"turn": 0, "start": 0, "end": 9}]], "is no span of turn 0"),
        ([[{"turn": 0, "start": 0, "end": 2}] * 2], "one mention is given twice"),
        ([[]], "a cluster has no mention"),
    ],
)
def test_wrong_clusters(tmp_path: Path, clusters: object, message: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"id": "a", "turns": [{"speaker": "A", "text": "me"}], "clusters": clusters}) + "\n")
    with pytest.raises(DataError, match=message):
        read_examples(path, "coreference")
