"""Constituency, dependency and tagging through the public conformance suite; that they learn; and what they refuse."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from friend_training.core.task import FitPlan, PseudoLabel
from friend_training.errors import ConfigError, DataError, RunError
from friend_training.nn.class_names import read_names
from friend_training.nn.encoder import WordEncoderShape, open_encoder, pretrain_word_encoder
from friend_training.nn.heads import UNKNOWN, unit_losses
from friend_training.nn.task import TorchTask
from friend_training.nn.word_input import WORD_SETTINGS
from friend_training.tasks.parsing.constituency.model import all_spans
from friend_training.tasks.parsing.constituency.task import constituency_task, tree_names
from friend_training.tasks.parsing.dependency.task import dependency_task, relation_names
from friend_training.tasks.parsing.tagging.task import tag_names, tagging_task
from friend_training.testing import check_task
from friend_training.types import Bracket, Heads, HeadsExample, Tags, TagsExample, Tree, TreeExample, Words
from helpers import little_grammar as grammar

SETTINGS = replace(WORD_SETTINGS, batch_size=4, encoder_rate=1e-2, head_rate=1e-2, look_every=4)
KINDS = ("constituency", "dependency", "arcs", "tagging")
"""'arcs' is dependency parsing without relations."""


def examples(kind: str, count: int, *, seed: int) -> list[Any]:
    if kind == "constituency":
        return grammar.trees(count, seed=seed)
    if kind == "tagging":
        return grammar.tags(count, seed=seed)
    found = grammar.heads(count, seed=seed)
    return found if kind == "dependency" else [replace(e, heads=Heads(e.heads.heads)) for e in found]


def make(kind: str, encoder: Path, settings: Any = SETTINGS) -> TorchTask:
    gold = examples(kind, 30, seed=1)
    if kind == "constituency":
        return constituency_task(encoder, settings, **tree_names(gold))
    if kind == "tagging":
        return tagging_task(encoder, settings, **tag_names(gold))
    return dependency_task(encoder, settings, **relation_names(gold))


def inputs(count: int, *, seed: int) -> list[Words]:
    """Among them a sentence with words never met, one of a single word and one of none."""
    found = [tree.words for tree in grammar.trees(count, seed=seed)]
    return [*found, Words("new", ("The", "Xylograph", "zyzz", "5th", "!")), Words("one", ("dog",)), Words("none", ())]


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_a_task(word_encoder: Path, kind: str) -> None:
    gold = examples(kind, 16, seed=1)
    check_task(
        lambda: make(kind, word_encoder),
        gold=gold[:10],
        dev=gold[10:],
        inputs=inputs(8, seed=2),
        steps=6,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_a_task_on_a_transformer(tiny_encoder: Path, kind: str) -> None:
    """Words are cut into pieces there; the first stands for the word."""
    gold = examples(kind, 10, seed=1)
    check_task(
        lambda: make(kind, tiny_encoder),
        gold=gold[:6],
        dev=gold[6:],
        inputs=inputs(4, seed=2),
        steps=3,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_it_learns_the_little_grammar(word_encoder: Path, kind: str) -> None:
    task = make(kind, word_encoder, replace(SETTINGS, batch_size=8, look_every=20))
    gold, new = examples(kind, 30, seed=1), examples(kind, 30, seed=5)
    summary = task.fit(gold, [], dev=gold, plan=FitPlan(seed=1, steps=100))
    assert summary.best_score > 95
    scores = task.evaluate(new)
    assert scores[task.main_metric] > 90
    if kind == "dependency":
        assert scores["las"] > 90
    if kind == "constituency":
        assert scores["tag_accuracy"] > 90
    labels = [units[0].label for units in task.predict([example.words for example in gold])]
    assert sum(label == truth(example) for label, example in zip(labels, gold, strict=True)) > 15


def truth(example: TreeExample | HeadsExample | TagsExample) -> Any:
    match example:
        case TreeExample():
            return example.tree
        case HeadsExample():
            return example.heads
        case TagsExample():
            return example.tags


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_said_about_nothing(word_encoder: Path, kind: str) -> None:
    task = make(kind, word_encoder)
    gold = examples(kind, 4, seed=1)
    task.fit(gold, [], dev=gold, plan=FitPlan(seed=1, steps=1))
    ((none,), (one,)) = task.predict([Words("none", ()), Words("one", ("dog",))])
    assert (none.confidence, none.content) == (0.0, False)
    assert one.confidence > 0
    assert one.content is (kind == "tagging")
    if kind == "arcs":
        assert (none.label, one.label) == (Heads(()), Heads((0,)))
    if kind == "constituency":
        assert none.label.brackets == ()
        assert [(bracket.start, bracket.end) for bracket in one.label.brackets] == [(0, 1)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_task_is_made_again_from_its_folder(word_encoder: Path, tmp_path: Path, kind: str) -> None:
    task = make(kind, word_encoder)
    gold = examples(kind, 6, seed=1)
    task.fit(gold, [], dev=gold, plan=FitPlan(seed=1, steps=2))
    task.save(tmp_path)
    makers: dict[str, Any] = {"constituency": constituency_task, "tagging": tagging_task}
    again = makers.get(kind, dependency_task)(tmp_path, SETTINGS, **read_names(tmp_path))
    again.load(tmp_path)
    assert again.predict(inputs(3, seed=2)) == task.predict(inputs(3, seed=2))
    with pytest.raises(ConfigError, match="a task's folder"):
        again.fit(gold, [], dev=gold, plan=FitPlan(seed=1, steps=1, restart=True))


def test_weights_of_other_classes_are_refused(word_encoder: Path, tmp_path: Path) -> None:
    gold = grammar.tags(6, seed=1)
    task = tagging_task(word_encoder, SETTINGS, **tag_names(gold))
    task.fit(gold, [], dev=gold, plan=FitPlan(seed=1, steps=1))
    task.save(tmp_path)
    tags = tag_names(gold)["tags"]
    with pytest.raises(RunError, match="other tags"):
        tagging_task(word_encoder, SETTINGS, tags=tags[::-1]).load(tmp_path)


def test_weights_of_other_words_are_refused(word_encoder: Path, tmp_path: Path) -> None:
    gold = grammar.tags(6, seed=1)
    task = tagging_task(word_encoder, SETTINGS, **tag_names(gold))
    task.fit(gold, [], dev=gold, plan=FitPlan(seed=1, steps=1))
    saved, other = tmp_path / "saved", tmp_path / "other"
    saved.mkdir()
    other.mkdir()
    task.save(saved)
    pretrain_word_encoder(other, [("some", "other", "words", "here")], WordEncoderShape(word=2, width=4), seed=0)
    with pytest.raises(RunError, match="another vocabulary"):
        tagging_task(other, SETTINGS, **tag_names(gold)).load(saved)


def test_labels_that_do_not_fit_are_named(word_encoder: Path) -> None:
    words = Words("s7", ("a", "b"))
    tagger = tagging_task(word_encoder, tags=["X"]).definition
    with pytest.raises(DataError, match="s7: 'Y' is none of the 1 tags"):
        tagger.gold_items([TagsExample(words, Tags(("X", "Y")))])
    with pytest.raises(DataError, match="s7: 2 words, but 1 tags"):
        tagger.gold_items([TagsExample(words, Tags(("X",)))])
    parser = dependency_task(word_encoder, relations=["r"]).definition
    with pytest.raises(DataError, match="word 2 of 2 cannot have the head 2"):
        parser.gold_items([HeadsExample(words, Heads((0, 2), ("r", "r")))])
    with pytest.raises(DataError, match="word 1 of 2 cannot have the head 3"):
        parser.gold_items([HeadsExample(words, Heads((3, 0), ("r", "r")))])
    with pytest.raises(DataError, match="a relation for each"):
        parser.gold_items([HeadsExample(words, Heads((0, 1)))])
    with pytest.raises(ConfigError, match="given twice"):
        tagging_task(word_encoder, tags=["X", "X"])


def test_relations_are_learnt_only_where_all_trees_have_them() -> None:
    words = Words("s", ("a",))
    some = [HeadsExample(words, Heads((0,), ("root",))), HeadsExample(words, Heads((0,)))]
    assert relation_names(some) == {"relations": ()}
    assert relation_names(some[:1]) == {"relations": ("root",)}


@pytest.mark.parametrize("kind", ["arcs", "tagging"])
def test_open_words_have_no_gradient(kind: str, word_encoder: Path) -> None:
    task = make(kind, word_encoder)
    example = next(one for one in examples(kind, 30, seed=1) if len(one.words.words) > 3)
    label = replace(example.heads if kind == "arcs" else example.tags, unsure=(1, 2))
    items = task.definition.pseudo_items([PseudoLabel(example.words, example.words.id, label)])
    batch = task.collate(items)
    (targets,) = batch.targets
    assert (targets[0] == UNKNOWN).nonzero().flatten().tolist() == [1, 2]
    heads = task.definition.network(open_encoder(word_encoder))(batch)
    for head in heads:
        head.logits.retain_grad()
    unit_losses(heads, batch.targets).sum().backward()
    assert [bool(row.any()) for row in heads[0].logits.grad[0][:4]] == [True, False, False, True]


def test_open_spans_have_no_gradient(word_encoder: Path) -> None:
    task = make("constituency", word_encoder)
    example = next(one for one in examples("constituency", 30, seed=1) if len(one.words.words) > 3)
    known = example.tree.brackets[1:]
    foreign = Bracket(0, 2, "a name that gold has not")
    label = replace(example.tree, brackets=(*known, foreign), unsure=((1, 3), (2, 4)), unsure_tags=(0,))
    [item] = task.definition.pseudo_items([PseudoLabel(example.words, example.words.id, label)])
    batch = task.collate([item])
    heads = task.definition.network(open_encoder(word_encoder))(batch)
    for head in heads:
        head.logits.retain_grad()
    unit_losses(heads, batch.targets).sum().backward()
    first, last = all_spans(item.words)
    learnt = {(int(i), int(j)): bool(row.any()) for i, j, row in zip(first, last, heads[0].logits.grad[0], strict=True)}
    assert {span for span, has in learnt.items() if not has} == {(0, 2), (1, 3), (2, 4)}
    assert [bool(row.any()) for row in heads[1].logits.grad[0][: item.words]] == [False] + [True] * (item.words - 1)


def test_a_tree_without_a_name_of_gold_is_refused_as_gold(word_encoder: Path) -> None:
    parser = make("constituency", word_encoder).definition
    words = Words("s", ("a", "b"))
    tree = Tree((Bracket(0, 2, "XX"),), (parser.tags.names[0],) * 2)
    with pytest.raises(DataError, match="'XX' is none of"):
        parser.gold_items([TreeExample(words, tree)])
