"""What the public evaluation scripts read."""

import json

from friend_training.data.exports import csagn_object, rast_plus_line
from friend_training.types import Argument, CsrlExample, Dialogue, Predicate, Roles, Turn


def test_rast_plus() -> None:
    assert rast_plus_line("今天去ok吗") == "今 天 去 o k 吗"
    assert rast_plus_line("看 iphone") == "看 i p h o n e"


def csagn(turns: tuple[Turn, ...], *roles: Roles) -> dict[str, object]:
    dialogue = Dialogue("d", turns, tuple(label.predicate for label in roles))
    return dict(json.loads(json.dumps(csagn_object(CsrlExample(dialogue, roles)))))


def test_words_are_counted_over_the_dialogue_without_separators() -> None:
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
    written = csagn(turns, Roles(Predicate(0, 1), arguments))
    assert written["sentid"] == "d"
    assert written["sent"] == "你 喝 绿茶 吗 <SEP> 喝 过 两次"
    tokens = str(written["sent"]).replace("<SEP>", "").split()
    assert written["srl"] == [{"pred": 4, "args": {"ARG0": [-1, -1], "ARG1": [2, 2], "TMP": [6, 6]}}]
    assert (tokens[4], tokens[2], tokens[6]) == ("喝", "绿茶", "两次")


def test_characters_where_there_are_no_words() -> None:
    turns = (Turn("A", "去 北京"), Turn("B", "好啊我去"))
    arguments = (Argument("ARG1", 0, 2, 4), Argument("ARG0", -1, -1, 0), Argument("ARG2", 0, -1, 0))
    written = csagn(turns, Roles(Predicate(3, 4), arguments))
    assert written["sent"] == "去 北 京 <SEP> 好 啊 我 去"
    assert written["srl"] == [{"pred": 6, "args": {"ARG0": [-1, -1], "ARG1": [1, 2], "ARG2": [-2, -2]}}]


def test_english_words() -> None:
    turns = (Turn("A", "we give up", ("we", "give", "up")),)
    written = csagn(turns, Roles(Predicate(3, 10), (Argument("ARG0", 0, 0, 2),)))
    assert written["srl"] == [{"pred": 1, "args": {"ARG0": [0, 0]}}]
