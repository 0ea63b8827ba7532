"""Chats without labels."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from friend_training.core.limits import Limits
from friend_training.data import text_io
from friend_training.data.readers.dialogues import (
    close_up,
    read_corecode,
    read_cped,
    read_duconv_raw,
    read_kdconv,
    read_lccc,
    read_xdailydialog,
)
from friend_training.data.text_io import Problems
from friend_training.errors import DataError


def write(tmp_path: Path, text: str) -> tuple[Path, Problems]:
    path = tmp_path / "x"
    path.write_text(text, encoding="utf-8")
    return path, Problems(path)


@pytest.mark.parametrize(
    ("spaced", "text"),
    [
        ("今 天 好 吗 ？", "今天好吗？"),
        ("打 c a l l 吧", "打call吧"),
        ("用 t r 3 5 0 拍", "用tr350拍"),
        ("I love 你", "I love你"),
        ("h i   y o u 好", "hi you好"),
        ("看 iphone 8 吗", "看iphone 8吗"),
        ("前   后", "前后"),
        (" 好 ", "好"),
        ("", ""),
    ],
)
def test_spaces_between_characters_go_and_those_between_latin_words_stay(spaced: str, text: str) -> None:
    assert close_up(spaced) == text


def test_lccc_as_a_list_and_as_an_object(tmp_path: Path) -> None:
    dialogues = [["你 好", "好 啊"], ['说 [ 不 ] " 行', "\\ 为 什 么"]]
    for content in (dialogues, {"train": dialogues[:1], "valid": dialogues[1:]}):
        path, problems = write(tmp_path, json.dumps(content, ensure_ascii=False, indent=1))
        first, second = read_lccc(path, problems)
        assert [(turn.speaker, turn.text) for turn in first.turns] == [("A", "你好"), ("B", "好啊")]
        assert second.turns[0].text == '说[不]"行'
        assert not problems.found


def test_lccc_reports_what_is_no_dialogue(tmp_path: Path) -> None:
    path, problems = write(tmp_path, '[["你 好"], [1, 2], [], [" "]]')
    assert len(list(read_lccc(path, problems))) == 1
    assert [problem.line for problem in problems.found] == [2, 3, 4]
    path, problems = write(tmp_path, '[["你 好"], ["断')
    with pytest.raises(DataError, match="ends inside"):
        list(read_lccc(path, problems))


@given(
    lists=st.lists(st.lists(st.text(alphabet='a好[]"\\{} ,\n', max_size=6), max_size=4), max_size=6),
    chunk=st.integers(1, 9),
)
def test_innermost_lists_are_found_whatever_the_chunks(
    lists: list[list[str]], chunk: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("json") / "x.json"
    path.write_text(json.dumps({"a": [*lists, ["end"]]}, ensure_ascii=False), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_io, "_CHUNK", chunk)
        assert list(text_io.innermost_lists(path, Limits())) == [*lists, ["end"]]


def test_xdailydialog(tmp_path: Path) -> None:
    path, problems = write(tmp_path, "在 吗？__eou__在。__eou__\t1\t2 2\t0 0\n没有\n")
    (dialogue,) = read_xdailydialog(path, problems)
    assert [turn.text for turn in dialogue.turns] == ["在 吗？", "在。"]
    assert problems.found[0].line == 2


def test_cped_merges_what_one_speaker_says_in_a_row(tmp_path: Path) -> None:
    rows = [
        "TV_ID,Dialogue_ID,Utterance_ID,Speaker,Utterance",
        "1,1_0,a,甲,怎么了",
        '1,1_0,b,甲,"迟到,了"',
        "1,1_0,c,乙,堵车",
        "1,1_1,d,乙,走",
    ]
    path, problems = write(tmp_path, "\ufeff" + "\r\n".join(rows) + "\r\n")
    first, second = read_cped(path, problems)
    assert [(turn.speaker, turn.text) for turn in first.turns] == [("甲", "怎么了 迟到,了"), ("乙", "堵车")]
    assert second.id == "cped:1_1"
    path, problems = write(tmp_path, "a,b\n1,2\n")
    with pytest.raises(DataError, match="Dialogue_ID"):
        list(read_cped(path, problems))


def test_corecode(tmp_path: Path) -> None:
    path, problems = write(
        tmp_path, '{"dialogue": ["A: 你好。", "B: 早: 啊"]}\n{"dialogue": ["没人"]}\n{"x": 1}\n{bad\n'
    )
    (dialogue,) = read_corecode(path, problems)
    assert [(turn.speaker, turn.text) for turn in dialogue.turns] == [("A", "你好。"), ("B", "早: 啊")]
    assert [problem.line for problem in problems.found] == [2, 3, 4]


def test_kdconv(tmp_path: Path) -> None:
    path, problems = write(
        tmp_path, '[{"messages": [{"message": "知道吗"}, {"message": "不", "attrs": []}]}, {"name": "x"}]'
    )
    (dialogue,) = read_kdconv(path, problems)
    assert [turn.text for turn in dialogue.turns] == ["知道吗", "不"]
    assert len(problems.found) == 1
    path, problems = write(tmp_path, "[{")
    with pytest.raises(DataError, match="x: broken JSON"):
        list(read_kdconv(path, problems))


def test_duconv_raw_keeps_words(tmp_path: Path) -> None:
    path, problems = write(tmp_path, '{"conversation": ["看 电影 吗", "看 啊"]}\n')
    (dialogue,) = read_duconv_raw(path, problems)
    assert dialogue.turns[0].text == "看电影吗"
    assert dialogue.turns[0].words == ("看", "电影", "吗")
