"""Reading CSRL lines: turns by distance, words to characters, bad lines named."""

import gzip
from pathlib import Path

import pytest

from friend_training.data.readers.dialogues import read_csrl
from friend_training.data.text_io import Problems
from friend_training.errors import DataError
from friend_training.friendships.bridge_quality import within_utterance
from friend_training.types import OPENING, SPEAKER, Argument, CsrlExample, Predicate, dialogue_group

FIRST = "7|||3|||agent human 你 喝 绿茶 吗|||1 0 0 0 0 0|||O O B-ARG0 B-V B-ARG1 O"
DRINK = "7|||7|||agent human 你 喝 绿茶 吗 agent 喝 过|||2 1 1 1 1 1 0 0 0|||O O O O B-ARG1 O B-ARG0 B-V O"
OPENED = "8|||2|||agent human 等 你|||1 0 0 0|||B-ARG1 O B-V O"


def read(tmp_path: Path, *lines: str, strict: bool = False) -> tuple[list[CsrlExample], Problems]:
    path = tmp_path / "x.csrl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    problems = Problems(path, strict=strict)
    return list(read_csrl(path, problems)), problems


def test_words_become_characters(tmp_path: Path) -> None:
    (first, second), problems = read(tmp_path, FIRST, DRINK)
    assert [turn.text for turn in second.dialogue.turns] == ["你喝绿茶吗", "喝过"]
    assert [turn.speaker for turn in second.dialogue.turns] == ["human", "agent"]
    assert second.dialogue.turns[0].words == ("你", "喝", "绿茶", "吗")
    assert first.roles[0].predicate == Predicate(1, 2)
    assert first.roles[0].arguments == (Argument("ARG0", 0, 0, 1), Argument("ARG1", 0, 2, 4))
    assert second.roles[0].arguments == (Argument("ARG0", 1, SPEAKER, 0), Argument("ARG1", 0, 2, 4))
    assert not problems.found


def test_opening_speaker_can_be_an_argument(tmp_path: Path) -> None:
    (example,), _ = read(tmp_path, OPENED)
    assert example.roles[0].arguments == (Argument("ARG1", OPENING, SPEAKER, 0),)
    assert len(example.dialogue.turns) == 1


def test_agent_who_speaks_first_has_a_turn_of_his_own(tmp_path: Path) -> None:
    (example,), _ = read(
        tmp_path, "9|||2|||agent 我 走 human 走|||1 1 1 0 0|||O O O O O".replace("|||2|||", "|||4|||")[:-1] + "B-V"
    )
    assert [turn.text for turn in example.dialogue.turns] == ["我走", "走"]
    assert example.roles[0].predicate == Predicate(0, 1)


def test_the_word_human_inside_an_utterance_starts_no_turn(tmp_path: Path) -> None:
    (example,), problems = read(tmp_path, "5|||4|||[agent] [human] a human speaks|||1 0 0 0 0|||O O B-ARG0 I-ARG0 B-V")
    assert [turn.text for turn in example.dialogue.turns] == ["a human speaks"]
    assert example.roles[0].arguments == (Argument("ARG0", 0, 0, 7),)
    assert example.roles[0].predicate == Predicate(8, 14)
    assert not problems.found


def test_several_predicate_indices_are_one_span(tmp_path: Path) -> None:
    line = "5|||3 4|||[agent] [human] I give up|||1 0 0 0 0|||O O B-ARG0 B-V I-V"
    (example,), _ = read(tmp_path, line)
    assert example.dialogue.utterance.text[slice(2, 9)] == "give up"
    assert example.roles[0].predicate == Predicate(2, 9)


def test_empty_tokens_are_kept(tmp_path: Path) -> None:
    line = "6|||6|||agent human 好   我 去|||1 0 0 0 0 0 0|||O O O O O B-ARG0 B-V"
    (example,), problems = read(tmp_path, line)
    assert len(line.split("|||")[2].split()) != 7, "a plain split would call this line broken"
    assert example.dialogue.utterance.words == ("好", "", "", "我", "去")
    assert example.roles[0].arguments == (Argument("ARG0", 0, 1, 2),)
    assert not problems.found


def test_predicates_of_one_cut_are_gathered_and_sorted(tmp_path: Path) -> None:
    second = "7|||5|||agent human 你 喝 绿茶 吗|||1 0 0 0 0 0|||O O O O O B-V"
    between = FIRST.replace("7|||3", "7|||4").replace("B-V B-ARG1 O", "O B-V O")
    examples, problems = read(tmp_path, second, DRINK, FIRST, between, FIRST)
    assert [example.dialogue.id for example in examples] == ["7/turn1", "7/turn2"]
    assert examples[0].dialogue.predicates == (Predicate(1, 2), Predicate(2, 4), Predicate(4, 5))
    assert [roles.predicate for roles in examples[0].roles] == list(examples[0].dialogue.predicates)
    assert [(p.line, "duplicate" in p.message) for p in problems.found] == [(5, True)]


def test_a_dialogue_that_comes_back_gets_another_id_of_the_same_group(tmp_path: Path) -> None:
    examples, _ = read(tmp_path, FIRST, OPENED, FIRST)
    ids = [example.dialogue.id for example in examples]
    assert len(set(ids)) == 3
    assert [dialogue_group(name) for name in ids] == ["7", "8", "7"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("7|||3|||agent human 你 喝|||1 0 0 0", "4 fields"),
        (FIRST.replace("|||1 0 0 0 0 0", "|||1 0 0 0 0"), "do not fit"),
        (FIRST.replace("7|||3", "7|||x"), "numbers"),
        (FIRST.replace("7|||3", "7|||4"), "tags mark [3]"),
        (FIRST.replace("7|||3", "7|||99"), "tags mark [3]"),
        (FIRST.replace("B-ARG1", "B-ARG9"), "unknown tag 'B-ARG9'"),
        (FIRST.replace("B-ARG1", "X-ARG1"), "unknown tag"),
        (FIRST.replace("B-ARG1", "I-ARG1"), "no ARG1 goes on"),
        (FIRST.replace("human", "您"), "no speaker token"),
        (DRINK.replace("2 1 1 1 1 1 0 0 0", "2 1 1 1 1 1 2 0 0"), "turn distances"),
        (DRINK.replace("2 1 1 1 1 1 0 0 0", "3 2 2 2 2 2 1 1 1"), "turn distances"),
        (DRINK.replace("B-ARG1 O B-ARG0", "B-ARG1 I-ARG1 I-ARG1"), "border of a turn"),
        (FIRST.replace("O O B-ARG0", "O B-ARG0 I-ARG0"), "joins a speaker token"),
        ("7|||1|||agent human 你|||1 0 0|||O B-V O", "not a word of the last turn"),
    ],
)
def test_lines_that_disagree_are_named_and_skipped_or_fail(tmp_path: Path, line: str, reason: str) -> None:
    examples, problems = read(tmp_path, OPENED, line)
    assert [example.dialogue.id for example in examples] == ["8/turn1"]
    assert [problem.line for problem in problems.found] == [2]
    assert reason in problems.found[0].message
    with pytest.raises(DataError, match=r"x\.csrl:2: "):
        read(tmp_path, OPENED, line, strict=True)


def test_gzip_is_told_by_content(tmp_path: Path) -> None:
    path = tmp_path / "no_suffix"
    path.write_bytes(gzip.compress(FIRST.encode()))
    assert len(list(read_csrl(path, Problems(path)))) == 1


def test_a_cut_off_gzip_file_is_said_so(tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress((FIRST + "\n").encode() * 1000)[:-20])
    with pytest.raises(DataError, match="damaged or cut off"):
        list(read_csrl(path, Problems(path)))


def test_within_utterance_keeps_only_words_of_the_last_turn(tmp_path: Path) -> None:
    (first, second), _ = read(tmp_path, FIRST, DRINK)
    assert [a.role for a in within_utterance(first).roles[0].arguments] == ["ARG0", "ARG1"]
    outside = within_utterance(second)
    assert outside.sentence.text == "喝过"
    assert outside.roles[0].arguments == ()
    assert within_utterance(second, only_complete=True).sentence.predicates == ()
    assert within_utterance(first, only_complete=True) == within_utterance(first)
