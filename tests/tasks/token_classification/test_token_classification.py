"""Taggers through the conformance suite and transformers' own pipeline; BIO tags, their spans and their scores."""

import itertools
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import BertConfig, BertModel, pipeline

from friend_training.core.task import FitPlan, Prediction, PseudoLabel
from friend_training.errors import ConfigError, DataError
from friend_training.nn.heads import Head
from friend_training.nn.task import TorchTask
from friend_training.nn.tokenizer import Tokenizer
from friend_training.nn.training import TrainingSettings
from friend_training.tasks.token_classification.metrics import bio_spans, bio_tags, is_bio, token_scores
from friend_training.tasks.token_classification.task import TokenClassification, tag_set
from friend_training.testing import check_task
from friend_training.types import Dialogue, Tags, TagsExample, Text, Turn, Words

SETTINGS = TrainingSettings(batch_size=4, encoder_rate=3e-3, head_rate=3e-3, look_every=4)
TAGS = ("B-place", "B-who", "I-place", "I-who", "O")
PARTS = {"place": (("new", "york"), ("rome",)), "who": (("anna",), ("bob", "lee")), "": (("sees",), ("to",), ("old",))}


def sentences(count: int, seed: int) -> list[TagsExample]:
    draw = random.Random(seed)
    made = []
    for number in range(count):
        kinds = draw.choices(sorted(PARTS), k=draw.randint(1, 4))
        parts = [(kind, draw.choice(PARTS[kind])) for kind in kinds]
        words = [word for _, part in parts for word in part]
        tags = [f"{'I' if n else 'B'}-{kind}" if kind else "O" for kind, part in parts for n in range(len(part))]
        made.append(TagsExample(Words(f"{seed}-{number}", tuple(words)), Tags(tuple(tags))))
    return made


def inputs(count: int, seed: int) -> list[Words]:
    return [example.words for example in sentences(count, seed)]


@pytest.fixture(scope="module")
def bert(tiny_encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bert")
    tokenizer = Tokenizer.load(tiny_encoder)
    tokenizer.save(folder)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    torch.manual_seed(0)
    BertModel(BertConfig(vocab_size=len(tokenizer.backend), **sizes)).save_pretrained(folder)
    return folder


@pytest.fixture(params=["roformer", "bert"])
def encoder(request: pytest.FixtureRequest, tiny_encoder: Path, bert: Path) -> Path:
    return {"roformer": tiny_encoder, "bert": bert}[request.param]


def tagger(encoder: Path, tags: tuple[str, ...] = TAGS, **more: Any) -> TorchTask:
    return TokenClassification("names", encoder=encoder, tags=tags, settings=SETTINGS, device="cpu", **more)


def test_it_is_a_task(encoder: Path) -> None:
    pool = [*inputs(6, 3), Text("text", "anna sees rome"), Words("empty", ()), Text("blank", " ")]
    check_task(lambda: tagger(encoder), gold=sentences(12, 1), dev=sentences(8, 2), inputs=pool, steps=8)


def test_it_learns_and_transformers_says_the_same(encoder: Path, tmp_path: Path) -> None:
    task, gold = tagger(encoder), sentences(40, 1)
    task.fit(gold, [], dev=gold, plan=FitPlan(seed=1, steps=120))
    scores = task.evaluate(gold)
    assert scores["span_f1"] > 90
    assert scores.counts is not None
    assert scores.counts.shape == (40, 5)
    task.save(tmp_path)
    theirs = pipeline("token-classification", str(tmp_path), aggregation_strategy="first")
    for words in inputs(10, 3):
        ((ours,),) = task.predict([words])
        found = [(span["entity_group"], span["word"]) for span in theirs(" ".join(words.words))]
        spans = [(label, " ".join(words.words[start:end])) for label, start, end in bio_spans(ours.label.tags)]
        assert spans == [(label, word) for label, word in found if label != "O"]


def test_any_kind_of_input_is_tagged(tiny_encoder: Path) -> None:
    """A text, words and the last utterance of a dialogue that say the same have the same tags."""
    task, gold = tagger(tiny_encoder), sentences(12, 1)
    task.fit(gold, [], dev=gold, plan=FitPlan(seed=1, steps=8))
    said = "bob lee sees new york"
    turns = (Turn("a", "to rome"), Turn("b", said))
    views = [Text("x", said), Words("x", tuple(said.split())), Dialogue("x", turns)]
    labels = [units[0].label for units in task.predict(views)]
    assert labels[0] == labels[1] == labels[2]
    pseudo = [PseudoLabel(view, "x", labels[0]) for view in views]
    assert [item.words for item in task.definition.pseudo_items(pseudo)] == [5, 5, 5]


def decoded(task: TorchTask, logits: torch.Tensor) -> Prediction:
    words = Words("x", tuple("abc"[: logits.size(0)]))
    batch = task.definition.collate(task.definition.input_items([words]))
    ((prediction,),) = task.definition.decode([Head(logits.unsqueeze(0), batch.mask)], batch)
    return prediction


@pytest.mark.parametrize("seed", range(5))
def test_decoding_finds_the_best_of_all_valid_sequences(tiny_encoder: Path, seed: int) -> None:
    logits = 3 * torch.randn(3, len(TAGS), generator=torch.Generator().manual_seed(seed))
    logs = logits.log_softmax(dim=1)

    def sound(tags: tuple[str, ...]) -> bool:
        return bio_tags(bio_spans(tags), 3) == tags

    best = max(
        (numbers for numbers in itertools.product(range(5), repeat=3) if sound(tuple(TAGS[n] for n in numbers))),
        key=lambda numbers: sum(float(logs[place, number]) for place, number in enumerate(numbers)),
    )
    found = decoded(tagger(tiny_encoder), logits)
    assert found.label.tags == tuple(TAGS[n] for n in best)
    mean = np.mean([float(logs[place, number]) for place, number in enumerate(best)])
    assert found.confidence == pytest.approx(np.exp(mean), abs=1e-6)
    assert found.content == any(tag != "O" for tag in found.label.tags)


@pytest.mark.parametrize("tags", [TAGS, ("a", "b", "c")])
def test_the_likeliest_tags_are_those_of_all_valid_sequences(tiny_encoder: Path, tags: tuple[str, ...]) -> None:
    task = tagger(tiny_encoder, tags)
    head = torch.randn(1, 3, len(tags), generator=torch.Generator().manual_seed(4))
    batch = task.definition.collate(task.definition.input_items([Words("x", ("a", "b", "c"))]))
    heads = [Head(head, batch.mask)]
    every = [Tags(found) for found in itertools.product(tags, repeat=3) if tags != TAGS or valid(found)]
    (((*logs,),),) = task.definition.log_likelihood(heads, batch, [[[*every, Tags(("other", "O", "O"))]]])
    assert logs.pop() == -math.inf
    wanted = sorted(zip(logs, every, strict=True), key=lambda found: -found[0])[:7]
    (((*ranked,),),) = task.definition.n_best(heads, batch, 7)
    assert [one.label for one in ranked] == [label for _, label in wanted]
    assert [3 * math.log(one.confidence) for one in ranked] == pytest.approx([log for log, _ in wanted], abs=1e-4)
    assert task.definition.decode(heads, batch)[0][0].label == ranked[0].label


def valid(tags: tuple[str, ...]) -> bool:
    return all(tag[:2] != "I-" or before[2:] == tag[2:] for before, tag in itertools.pairwise(("O", *tags)))


def test_other_tags_are_decoded_one_by_one(tiny_encoder: Path) -> None:
    task = tagger(tiny_encoder, ("NOUN", "VERB"))
    assert task.main_metric == "accuracy"
    assert decoded(task, torch.tensor([[1.0, 0.0], [0.0, 1.0]])).label.tags == ("NOUN", "VERB")


@given(st.lists(st.sampled_from(TAGS), max_size=8))
def test_spans_and_tags_turn_into_each_other(tags: list[str]) -> None:
    spans = bio_spans(tags)
    again = bio_tags(spans, len(tags))
    assert again is not None
    assert bio_spans(again) == spans
    assert [tag == "O" for tag in again] == [tag == "O" for tag in tags]


def test_spans_that_overlap_have_no_tags() -> None:
    assert bio_tags([("a", 0, 2), ("b", 1, 3)], 3) is None
    assert bio_tags([("a", 2, 4)], 3) is None


@pytest.mark.parametrize(
    ("tags", "bio"),
    [
        (("O", "B-x", "I-x"), True),
        (("O", "B-x", "B-y"), True),
        (("O", "I-x"), False),
        (("O", "B-x", "I-y"), False),
        (("B-x", "I-x"), False),
        (("O", "NOUN"), False),
        (("O",), False),
    ],
)
def test_which_sets_of_tags_are_bio(tags: tuple[str, ...], bio: bool) -> None:
    assert is_bio(tags) is bio


def test_scores_are_exact_spans_and_words() -> None:
    gold = [Tags(("B-who", "I-who", "O")), Tags(("O", "B-place"))]
    said = [Tags(("B-who", "O", "O")), Tags(("O", "B-place"))]
    assert token_scores(said, gold) == {
        "span_precision": 50.0,
        "span_recall": 50.0,
        "span_f1": 50.0,
        "accuracy": 80.0,
    }
    assert token_scores([None, gold[1]], gold)["span_recall"] == 50.0


def test_the_tags_of_gold_are_whole() -> None:
    gold = [TagsExample(Words("x", ("a", "b")), Tags(("I-who", "O")))]
    assert tag_set(gold) == ("B-who", "I-who", "O")
    assert tag_set([TagsExample(Words("x", ("a", "b")), Tags(("NOUN", "I-who")))]) == ("I-who", "NOUN")


def test_mistakes_are_said(tiny_encoder: Path) -> None:
    with pytest.raises(ConfigError, match=r"task names: tags are \['O'\], expected at least two"):
        tagger(tiny_encoder, ("O",))
    with pytest.raises(ConfigError, match="metric is span_f1, but tags are O, I-x; expected O, and B-x for every I-x"):
        tagger(tiny_encoder, ("O", "I-x"), metric="span_f1")
    wrong = [TagsExample(Words("x", ("a", "b")), Tags(("O",)))]
    with pytest.raises(DataError, match="sentence x: 2 words, but 1 tags"):
        tagger(tiny_encoder).fit(wrong, [], dev=wrong, plan=FitPlan(seed=1, steps=1))
