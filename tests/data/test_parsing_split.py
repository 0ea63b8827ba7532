"""The split of the parsing experiment: whole documents on one side, every task its own sentences."""

import zipfile
from pathlib import Path

import files as module
import pytest
from files import TASKS, ParsedSentence, parsing_split, penn_sample, split_by_document

from friend_training.data.text_io import document_of, sentence_id
from friend_training.errors import DataError
from friend_training.types import Bracket, Heads, Tree, Words


def made_up(documents: int = 40) -> list[ParsedSentence]:
    """Documents of one to seven sentences."""
    return [
        ParsedSentence(
            Words(sentence_id(f"page_{page:02}", number + 1), (f"w{page}", f"x{number}")),
            Tree((Bracket(0, 2, "NP"),), ("NN", "NN")),
            Heads((2, 0)),
        )
        for page in range(documents)
        for number in range(1 + page % 7)
    ]


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HELD_OUT", {"test": 40, "dev": 15})
    monkeypatch.setattr(module, "LABELLED", 10)


@pytest.mark.usefixtures("small_parts")
def test_every_sentence_has_one_place_and_every_document_one_side() -> None:
    sentences = made_up()
    split = parsing_split(sentences, seed=3)
    parts = (*(split.gold[task] for task in TASKS), split.pool, split.dev, split.test)
    ids = [[one.words.id for one in part] for part in parts]
    assert [len(part) for part in ids[:3]] == [10, 10, 10]
    assert (len(split.dev), len(split.test)) == (15, 40)
    assert sorted(name for part in ids for name in part) == sorted(one.words.id for one in sentences)
    train, dev, test = ({document_of(i) for part in side for i in part} for side in (ids[:4], ids[4:5], ids[5:]))
    assert train.isdisjoint(dev | test)
    assert dev.isdisjoint(test)


@pytest.mark.usefixtures("small_parts")
def test_the_seed_draws_the_labels_and_nothing_else() -> None:
    one, again, other = (parsing_split(made_up(), seed=seed) for seed in (3, 3, 4))
    assert one == again
    assert (one.dev, one.test) == (other.dev, other.test)
    assert one.pool != other.pool
    assert all(one.gold[task] != other.gold[task] for task in TASKS)


def test_the_order_of_documents_does_not_matter_for_their_sides() -> None:
    forwards = split_by_document(made_up(), {"test": 40, "dev": 15})
    backwards = split_by_document(made_up()[::-1], {"test": 40, "dev": 15})
    for name, part in forwards.items():
        assert {one.words.id for one in part} == {one.words.id for one in backwards[name]}
    other_seed = split_by_document(made_up(), {"test": 40, "dev": 15}, seed=1)
    assert {one.words.id for one in other_seed["test"]} != {one.words.id for one in forwards["test"]}


def test_parts_that_whole_documents_cannot_fill() -> None:
    three_each = [one for one in made_up() if one.words.words[0] in ("w2", "w9", "w16")]
    with pytest.raises(DataError, match=r"cannot fill test \(2 missing\)"):
        split_by_document(three_each, {"test": 5})


def test_trees_and_dependencies_must_be_of_the_same_words(tmp_path: Path) -> None:
    (tmp_path / "treebank_nltk").mkdir()

    def write(trees: str, dependencies: str) -> None:
        with zipfile.ZipFile(tmp_path / module.TREES, "w") as archive:
            archive.writestr("treebank/combined/wsj_0001.mrg", trees)
        with zipfile.ZipFile(tmp_path / module.DEPENDENCIES, "w") as archive:
            archive.writestr("dependency_treebank/wsj_0001.dp", dependencies)

    write("( (S (NP (NNS Dogs)) (VP (VBP bark))))", "Dogs\tNNS\t2\nbark\tVBP\t0\n")
    (sentence,) = penn_sample(tmp_path)
    assert sentence.tree.tags == ("NNS", "VBP")
    assert sentence.heads == Heads((2, 0))
    assert sentence.tree.brackets == (Bracket(0, 2, "S"), Bracket(0, 1, "NP"), Bracket(1, 2, "VP"))
    for dependencies in ("Cats\tNNS\t2\nbark\tVBP\t0\n", "Dogs\tNNS\t2\nbark\tVBP\t0\n\nYes\tUH\t0\n"):
        write("( (S (NP (NNS Dogs)) (VP (VBP bark))))", dependencies)
        with pytest.raises(DataError, match="no tree with the same words: wsj_0001"):
            penn_sample(tmp_path)
    (tmp_path / module.TREES).unlink()
    with pytest.raises(DataError, match="no such file"):
        penn_sample(tmp_path)
