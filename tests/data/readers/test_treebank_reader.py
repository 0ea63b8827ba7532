"""Bracketed trees: what is taken away, where they may lie, and what is said about broken ones."""

import gzip
import tarfile
import zipfile
from pathlib import Path

import pytest

from friend_training.data.readers.treebanks import read_treebank
from friend_training.data.text_io import Problems, document_of
from friend_training.errors import DataError
from friend_training.types import Bracket, Tree, TreeExample, Words

TWO = """
( (S
    (NP-SBJ-1 (DT The) (NN cook) )
    (VP (VBD tried)
      (S
        (NP-SBJ (-NONE- *-1) )
        (VP (TO to)
          (VP (VB leave) ))))
    (. .) ))
(ROOT (FRAG=2 (NP|NX (-LRB- -LRB-) (NNS pens)) (ADVP-TMP (-NONE- *T*))))
"""


def read(path: Path, *, strict: bool = True) -> tuple[list[TreeExample], Problems]:
    problems = Problems(path, strict=strict)
    return list(read_treebank(path, problems)), problems


def test_traces_function_tags_and_the_outermost_bracket_are_taken_away(tmp_path: Path) -> None:
    path = tmp_path / "page_1.mrg"
    path.write_text(TWO, encoding="utf-8")
    (first, second), _ = read(path)
    assert first.words == Words("page_1/1", ("The", "cook", "tried", "to", "leave", "."))
    assert first.tree == Tree(
        (
            Bracket(0, 6, "S"),
            Bracket(0, 2, "NP"),
            Bracket(2, 5, "VP"),
            Bracket(3, 5, "S+VP"),  # the subject was a trace: a chain now, the outer first
            Bracket(4, 5, "VP"),
        ),
        ("DT", "NN", "VBD", "TO", "VB", "."),
    )
    assert second.words == Words("page_1/2", ("-LRB-", "pens"))
    assert second.tree == Tree((Bracket(0, 2, "FRAG+NP"),), ("-LRB-", "NNS")), "an empty ADVP is gone"
    assert document_of(second.words.id) == "page_1"


def test_wherever_the_files_lie_they_read_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "bank"
    (folder / "deep").mkdir(parents=True)
    (folder / "b.mrg").write_text(TWO, encoding="utf-8")
    (folder / "deep" / "a.mrg").write_text(TWO, encoding="utf-8")
    (folder / "README").write_text("not a tree", encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "bank.zip", "w") as archive:
        for file in ("deep/a.mrg", "README", "b.mrg"):
            archive.write(folder / file, f"bank/{file}")
    with tarfile.open(tmp_path / "bank.tar.gz", "w:gz") as packed:
        for file in ("b.mrg", "README", "deep/a.mrg"):
            packed.add(folder / file, file)
    (tmp_path / "b.mrg.gz").write_bytes(gzip.compress(TWO.encode()))
    whole = {example.words.id: example for example in read(folder)[0]}
    assert sorted(whole) == ["a/1", "a/2", "b/1", "b/2"]
    for place in ("bank.zip", "bank.tar.gz"):
        assert {example.words.id: example for example in read(tmp_path / place)[0]} == whole
    assert read(tmp_path / "b.mrg.gz")[0] == [whole["b/1"], whole["b/2"]]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("(S\n(NP (NN a) b))", 2, "'b' where '\\(' or '\\)' was expected"),
        ("(S (NP the cook))", 1, "'cook' where"),
        ("(S\n\n(NP))", 3, r"\(NP\) holds nothing"),
        ("(S (NN a (NN b)))", 1, "'\\(' after the word 'a'"),
        ("(S (NP (-NONE- *)))", 1, "without words"),
        ("(S (NN a)))", 1, "'\\)' stands outside of all trees"),
        ("\nwords\n(S (NN a))", 2, "'words' stands outside"),
        ("(S (NN a))\n(S (NN b)\n(S (NN c))", 2, "1 brackets of the tree that begins here are never closed"),
    ],
)
def test_faults_name_file_line_and_what_was_expected(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = tmp_path / "x.mrg"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=rf"x\.mrg:{line}: .*{message}"):
        read(path)


def test_a_faulty_tree_is_skipped_and_keeps_its_number(tmp_path: Path) -> None:
    path = tmp_path / "bank.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("wood/x.mrg", "(S (NN a))\n(S (NP))\n(S (NN c))")
    examples, problems = read(path, strict=False)
    assert [example.words.id for example in examples] == ["x/1", "x/3"]
    assert [(problem.line, problem.message[:20]) for problem in problems.found] == [(2, "wood/x.mrg: (NP) hol")]


def test_files_that_are_not_what_they_are_taken_for(tmp_path: Path) -> None:
    latin, empty, cut = tmp_path / "latin.mrg", tmp_path / "empty.zip", tmp_path / "cut.mrg.gz"
    latin.write_bytes(b"(S (NN a))\n(S (NN caf\xe9))")
    with pytest.raises(DataError, match=r"latin\.mrg:2: not UTF-8"):
        read(latin)
    with zipfile.ZipFile(empty, "w") as archive:
        archive.writestr("x.txt", "(S (NN a))")
    with pytest.raises(DataError, match=r"empty\.zip: no \.mrg or \.ptb file"):
        read(empty)
    with tarfile.open(tmp_path / "whole.tar.gz", "w:gz") as packed:
        for name in ("x.mrg", "y.mrg"):
            (tmp_path / name).write_text(TWO * 50, encoding="utf-8")
            packed.add(tmp_path / name, name)
    whole = (tmp_path / "whole.tar.gz").read_bytes()
    for bytes_kept in (len(whole) // 3, len(whole) - 20):
        (tmp_path / "cut.tar.gz").write_bytes(whole[:bytes_kept])
        with pytest.raises(DataError, match=r"cut\.tar\.gz:.* damaged or cut off"):
            read(tmp_path / "cut.tar.gz")
    cut.write_bytes(gzip.compress(TWO.encode() * 50)[:-30])
    with pytest.raises(DataError, match="damaged or cut off"):
        read(cut)
    with pytest.raises(DataError, match="no such file"):
        read(tmp_path / "nothing.mrg")
