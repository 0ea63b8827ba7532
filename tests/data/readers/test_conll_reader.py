"""Dependencies in columns: CoNLL-U, CoNLL-X and three columns, and what is said about broken ones."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from friend_training.data.readers.treebanks import DependencySentence, fault_of_heads, read_conll, read_dp
from friend_training.data.text_io import Problems
from friend_training.errors import DataError
from friend_training.types import Heads, HeadsExample, Tags, TagsExample, Words

CONLL_U = """# newdoc id = letters
# sent_id = letters-1
# text = Wanna go?
1-2\tWanna\t_\t_\t_\t_\t_\t_\t_\t_
1\tWan\twant\tVERB\tVBP\t_\t0\troot\t_\t_
2\tna\tto\tPART\tTO\t_\t3\tmark\t_\t_
2.1\tyou\tyou\tPRON\tPRP\t_\t_\t_\t1:nsubj\t_
3\tgo\tgo\tVERB\tVB\t_\t1\txcomp:sub\t_\tSpaceAfter=No
4\t?\t?\tPUNCT\t.\t_\t1\tpunct\t_\t_

# text = No
1\tNo\tno\t_\t_\t_\t0\troot\t_\t_
"""
CONLL_X = "1\tDogs\t_\tN\tNNS\tplur\t2\tSBJ\t_\t_\n2\tbark\t_\tV\tVBP\t_\t0\tROOT\t_\t_\n"
DP = "# \t#\t2\n5\tCD\t0\n\nGo\tVB\t0\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_conll_u(tmp_path: Path) -> None:
    path = write(tmp_path / "letters.conllu", CONLL_U)
    first, second = read_conll(path, Problems(path, strict=True))
    words = Words("letters/1", ("Wan", "na", "go", "?"))
    heads = Heads((0, 3, 1, 1), ("root", "mark", "xcomp:sub", "punct"))
    assert first == DependencySentence(
        words, heads, Tags(("VBP", "TO", "VB", ".")), Tags(("VERB", "PART", "VERB", "PUNCT"))
    )
    assert first.heads_example == HeadsExample(words, heads)
    assert first.tags_example == TagsExample(words, Tags(("VBP", "TO", "VB", ".")))
    assert second == DependencySentence(Words("letters/2", ("No",)), Heads((0,), ("root",)), None, None)
    with pytest.raises(DataError, match="letters/2 has no parts of speech"):
        _ = second.tags_example


def test_conll_x_and_three_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "dogs.conll", CONLL_X)
    (sentence,) = read_conll(path, Problems(path, strict=True))
    assert sentence.heads == Heads((2, 0), ("SBJ", "ROOT"))
    assert sentence.coarse_tags == Tags(("N", "V"))
    path = write(tmp_path / "sums.dp", DP)
    first, second = read_dp(path, Problems(path, strict=True))
    assert first == DependencySentence(Words("sums/1", ("# ", "5")), Heads((2, 0)), Tags(("#", "CD")), None)
    assert second.words.id == "sums/2"


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        (("4\t?", "5\t?"), 9, "the id is 5, expected 4"),
        (("4\t?", "four\t?"), 9, "the id is 'four', expected a number"),
        (("\t3\tmark", "\t_\tmark"), 6, "the head is '_', expected a number"),
        (("\t3\tmark", "\t7\tmark"), 4, "a head is 7, but there are 4 words"),
        (("\t1\txcomp:sub", "\t2\txcomp:sub"), 4, r"words \[2, 3\] go in a circle"),
        (("\t1\tpunct\t_\t_", "\t1\tpunct"), 9, "8 columns parted by tabs, expected 10"),
    ],
)
def test_faults_name_file_line_and_what_was_expected(
    tmp_path: Path, change: tuple[str, str], line: int, message: str
) -> None:
    path = write(tmp_path / "letters.conllu", CONLL_U.replace(*change))
    with pytest.raises(DataError, match=rf"letters\.conllu:{line}: .*{message}"):
        list(read_conll(path, Problems(path, strict=True)))
    problems = Problems(path)
    assert [sentence.words.id for sentence in read_conll(path, problems)] == ["letters/2"]
    assert len(problems.found) == 1


@given(st.integers(1, 5).flatmap(lambda n: st.tuples(*[st.integers(0, n)] * n)))
def test_heads_are_a_tree_or_have_a_fault(heads: tuple[int, ...]) -> None:
    def leads_up(word: int) -> bool:
        for _ in heads:
            word = heads[word - 1] if word else 0
        return word == 0

    assert (fault_of_heads(heads) is None) == all(leads_up(word) for word in range(1, len(heads) + 1))
