"""The public treebanks, read whole: the counts of their SOURCE.txt, and what matching parsers relies on."""

from pathlib import Path

import pytest
from files import TASKS, ParsedSentence, parsing_split, penn_sample

from friend_training.data.readers.treebanks import bracketed, read_conll, read_tree, read_treebank
from friend_training.data.summary import fingerprint
from friend_training.data.text_io import Problems
from friend_training.friendships.parsing import MatchSpans, lexical_heads
from friend_training.types import HeadsExample, TreeExample

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="module")
def sample(data_dir: Path) -> list[ParsedSentence]:
    return penn_sample(data_dir)


def test_the_penn_sample(sample: list[ParsedSentence]) -> None:
    """That trees and dependencies have the same words is checked by the reader of both."""
    assert len(sample) == 3914
    assert sum(len(one.words.words) for one in sample) == 94_084
    assert len({one.words.id.split("/")[0] for one in sample}) == 199
    assert not any("-NONE-" in one.tree.tags for one in sample)


def test_trees_are_written_as_they_are_read(sample: list[ParsedSentence]) -> None:
    for one in sample:
        assert read_tree(bracketed(one.words.words, one.tree)) == (one.words.words, one.tree)


def test_head_rules_and_one_arc_into_every_phrase(sample: list[ParsedSentence]) -> None:
    assert all(lexical_heads(one.tree) == one.heads.heads for one in sample)
    spans = [tuple((b.start, b.end) for b in one.tree.brackets) for one in sample]
    gold = MatchSpans(every=True)(spans, [one.heads.heads for one in sample])
    chain = MatchSpans(every=True)(spans, [tuple(range(len(one.words.words))) for one in sample])
    assert all(match.first == (1.0,) for match in (*gold, *chain))


def test_the_split_of_the_experiment(sample: list[ParsedSentence]) -> None:
    split = parsing_split(sample, seed=1)
    assert {task: len(gold) for task, gold in split.gold.items()} == dict.fromkeys(TASKS, 200)
    assert [len(part) for part in (split.pool, split.dev, split.test)] == [2014, 300, 1000]
    assert fingerprint(split.test).startswith("f2fa779685672448")
    assert fingerprint(split.dev).startswith("857fa7f84263ff08")
    heads = [HeadsExample(one.words, one.heads) for one in split.gold["dependency"]]
    trees = [TreeExample(one.words, one.tree) for one in split.gold["constituency"]]
    assert fingerprint(trees).startswith("a0cad671d8b7c648"), "as the program drew them that was here before"
    assert fingerprint(heads).startswith("4a5994d09464e397")


@pytest.mark.parametrize(
    ("path", "sentences", "words"),
    [
        ("ud_english_ewt/en_ewt-ud-dev.conllu.gz", 2001, 25_147),
        ("ud_english_ewt/en_ewt-ud-test.conllu.gz", 2077, 25_094),
        ("ud_chinese_gsd_v1/zh-ud-dev.conllu.gz", 500, 12_663),
        ("ud_chinese_gsdsimp/zh_gsdsimp-ud-test.conllu.gz", 500, 12_012),
    ],
)
def test_universal_dependencies(data_dir: Path, path: str, sentences: int, words: int) -> None:
    found = list(read_conll(data_dir / path, Problems(data_dir / path, strict=True)))
    assert (len(found), sum(len(one.words.words) for one in found)) == (sentences, words)
    assert all(one.heads.relations is not None for one in found)


def test_gum_has_a_tree_for_every_sentence(data_dir: Path) -> None:
    """The trees write brackets as -LRB-, the dependencies as they are."""
    path = data_dir / "treebank_gum/gum_dep_const.tar.gz"
    trees = {one.words.id: one.words.words for one in read_treebank(path, Problems(path, strict=True))}
    dependencies = {one.words.id: one.words.words for one in read_conll(path, Problems(path, strict=True))}
    assert len(trees) == len(dependencies) == 14_597
    names = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
    for sentence, words in trees.items():
        text = " ".join(words)
        for name, bracket in names.items():
            text = text.replace(name, bracket)
        assert text == " ".join(dependencies[sentence])
