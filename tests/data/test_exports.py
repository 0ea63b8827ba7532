"""What the public evaluation scripts read."""

import json
from pathlib import Path

from friend_training.data.exports import write_csagn, write_rast_plus
from friend_training.types import Argument, CsrlExample, Dialogue, Predicate, Roles, Turn


def test_rast_plus(tmp_path: Path) -> None:
    write_rast_plus(tmp_path / "out.txt", ["今天去ok吗", "看 iphone"])
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == "今 天 去 o k 吗\n看 i p h o n e\n"


def csagn(tmp_path: Path, turns: tuple[Turn, ...], *roles: Roles) -> dict[str, object]:
    dialogue = Dialogue("d", turns, tuple(label.predicate for label in roles))
    write_csagn(tmp_path / "x.json", [CsrlExample(dialogue, roles)])
    (line,) = (tmp_path / "x.json").read_text(encoding="utf-8").splitlines()
    return dict(json.loads(line))


def test_words_are_counted_over_the_dialogue_without_separators(tmp_path: Path) -> None:
    turns = (
        Turn("human", "你喝绿茶吗", ("你", "喝", "", "绿茶", "吗")),
        Turn("agent", "喝过两次", ("喝", "过", "两次")),
    )
    arguments = (
        Argument("ARG0", 1, -1, 0),
        Argument("ARG1", 0, 2, 4),
        Argument("ARG1", 1, 2, 4),
        Argument("TMP", 1, 2, 3),
    )
    written = csagn(tmp_path, turns, Roles(Predicate(0, 1), arguments))
    assert written["sentid"] == "d"
    assert written["sent"] == "你 喝 绿茶 吗 <SEP> 喝 过 两次"
    tokens = str(written["sent"]).replace("<SEP>", "").split()
    assert written["srl"] == [{"pred": 4, "args": {"ARG0": [-1, -1], "ARG1": [2, 2], "TMP": [6, 6]}}]
    assert (tokens[4], tokens[2], tokens[6]) == ("喝", "绿茶", "两次")


def test_characters_where_there_are_no_words(tmp_path: Path) -> None:
    turns = (Turn("A", "去 北京"), Turn("B", "好啊我去"))
    arguments = (Argument("ARG1", 0, 2, 4), Argument("ARG0", -1, -1, 0), Argument("ARG2", 0, -1, 0))
    written = csagn(tmp_path, turns, Roles(Predicate(3, 4), arguments))
    assert written["sent"] == "去 北 京 <SEP> 好 啊 我 去"
    assert written["srl"] == [{"pred": 6, "args": {"ARG0": [-1, -1], "ARG1": [1, 2], "ARG2": [-2, -2]}}]


def test_english_words(tmp_path: Path) -> None:
    turns = (Turn("A", "we give up", ("we", "give", "up")),)
    written = csagn(tmp_path, turns, Roles(Predicate(3, 10), (Argument("ARG0", 0, 0, 2),)))
    assert written["srl"] == [{"pred": 1, "args": {"ARG0": [0, 0]}}]
