"""Chinese PropBank: columns in three files or words with slashes give the same sentences."""

from pathlib import Path

import pytest

from friend_training.core.limits import Limits
from friend_training.data.readers.propbank import TaggedSentence, read_propbank
from friend_training.data.text_io import Problems
from friend_training.errors import DataError
from friend_training.types import Predicate, SentenceArgument

SLASHES = [
    "昨天/NT/S-ARGM-TMP 他/PN/S-ARG0 很/AD/S-ARGM-ADV 想/VV/rel 买/VV/B-ARG1 书/NN/E-ARG1",
    "天/NN/S-ARG0 亮/VV/rel",
    "昨天/NT/O 他/PN/S-ARG0 很/AD/O 想/VV/O 买/VV/rel 书/NN/S-ARG1",
]


def read(path: Path) -> tuple[list[TaggedSentence], Problems]:
    problems = Problems(path)
    return list(read_propbank(path, problems)), problems


def test_lines_of_one_sentence_are_gathered(tmp_path: Path) -> None:
    path = tmp_path / "cpb.txt"
    path.write_text("\n".join([*SLASHES, SLASHES[1], "坏/NN 行/NN/O", "无/NN/O"]), encoding="utf-8")
    (first, second), problems = read(path)
    assert first.example.sentence.text == "昨天他很想买书"
    assert first.example.sentence.predicates == (Predicate(4, 5), Predicate(5, 6))
    assert first.predicate_words == (3, 4)
    assert first.tags == ("NT", "PN", "AD", "VV", "VV", "NN")
    assert first.example.roles[0].arguments == (
        SentenceArgument("ARG0", 2, 3),
        SentenceArgument("ARG1", 5, 7),
        SentenceArgument("TMP", 0, 2),
    ), "ARGM-TMP is TMP, and ARGM-ADV has no place among our roles"
    assert second.example.sentence.text == "天亮"
    assert [problem.line for problem in problems.found] == [5, 6, 4]


def test_a_folder_of_columns_reads_the_same(tmp_path: Path) -> None:
    path = tmp_path / "cpb.txt"
    path.write_text("\n".join(SLASHES), encoding="utf-8")
    cells = [[cell.split("/") for cell in line.split()] for line in SLASHES]
    for column, name in enumerate("abc"):
        rows = [
            " ".join(cell[column].removeprefix("S-").removeprefix("B-").removeprefix("E-") for cell in line)
            for line in cells
        ]
        (tmp_path / f"{name}.txt").write_text("\n".join([*rows, ""]), encoding="utf-8")
    assert read(tmp_path)[0] == read(path)[0]
    (tmp_path / "c.txt").unlink()
    with pytest.raises(DataError, match=r"no c\.txt"):
        read(tmp_path)


def test_a_word_without_characters_is_a_bad_line(tmp_path: Path) -> None:
    """Its argument would be no span, which our own format refuses when the sentence is written."""
    path = tmp_path / "cpb.txt"
    path.write_text("/PN/A0 走/VV/rel\n他/PN/A0 走/VV/rel\n", encoding="utf-8")
    sentences, problems = read(path)
    assert [sentence.example.sentence.text for sentence in sentences] == ["他走"]
    assert [problem.message for problem in problems.found] == ["a word without characters"]


def test_a_file_that_is_too_large_to_be_held_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cpb.txt"
    path.write_text("他/PN/A0 走/VV/rel\n" * 10, encoding="utf-8")
    with pytest.raises(DataError, match="more than 100 bytes; at most 100 are read"):
        list(read_propbank(path, Problems(path, limits=Limits(whole=100))))
