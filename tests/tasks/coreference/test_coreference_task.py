"""Coreference as a task, its mentions and its links."""

from pathlib import Path

import pytest
import torch

from friend_training.nn.heads import Head
from friend_training.nn.training import TrainingSettings
from friend_training.tasks.coreference.mentions import find_mentions, gold_links, without_speakers
from friend_training.tasks.coreference.model import decode_links
from friend_training.tasks.coreference.task import CoreferenceDefinition, coreference_task
from friend_training.testing import check_task
from friend_training.types import CoreferenceExample, Dialogue, Link, Mention, Mentioned, Turn

SETTINGS = TrainingSettings(batch_size=4, encoder_rate=3e-3, head_rate=3e-3, look_every=4)


def example(number: int, name: str = "ann", pronoun: str = "her") -> CoreferenceExample:
    turns = (Turn("user", f"call {name} now"), Turn("system", "ok"), Turn("user", f"tell {pronoun} so"))
    clusters = ((Mention(0, 5, 5 + len(name)), Mention(2, 5, 5 + len(pronoun))),)
    return CoreferenceExample(Dialogue(f"d{number}/turn3", turns), clusters)


def test_mentions_are_pronouns_and_the_nouns_of_definite_descriptions() -> None:
    text = "Tell him the first song of this band is not that I like it"
    found = find_mentions(Dialogue("d", (Turn("user", "Hi"), Turn("user", text))))
    assert [text[one.start : one.end] for one in found] == ["him", "song", "band", "that", "it"]
    assert {one.turn for one in found} == {1}


def test_gold_links_go_to_the_nearest_name_and_leave_the_speakers_out() -> None:
    turns = (Turn("user", "Ann , she and I"), Turn("user", "call her for me"))
    ann, she, i, her, me = Mention(0, 0, 3), Mention(0, 6, 9), Mention(0, 14, 15), Mention(1, 5, 8), Mention(1, 13, 15)
    given = CoreferenceExample(Dialogue("d", turns), ((ann, she, her), (i, me)))
    assert gold_links(given) == (Link(her, ann), Link(me, i))
    assert gold_links(without_speakers(given)) == (Link(her, ann),)


def test_coreference_is_a_task(tiny_encoder: Path) -> None:
    gold = [example(number, name, who) for number, (name, who) in enumerate([("ann", "her"), ("bob", "him")] * 6)]
    silent = Dialogue("s/turn2", (Turn("user", "hi"), Turn("user", "call bob")))
    check_task(
        lambda: coreference_task(tiny_encoder, SETTINGS),
        gold=gold[:8],
        dev=gold[8:],
        inputs=[*(one.dialogue for one in gold[:4]), silent],
        steps=8,
    )


def test_n_best_links_are_a_distribution_over_spans_of_one_turn(tiny_encoder: Path) -> None:
    definition = CoreferenceDefinition(encoder=tiny_encoder)
    given = example(1)
    batch = definition.collate(definition.input_items([Mentioned(given.dialogue, (Mention(2, 5, 8),))]))
    torch.manual_seed(0)
    size = batch.input.ids.shape[1]
    heads = [Head(torch.randn(1, 1, size), batch.is_mention) for _ in range(2)]
    [[candidates]] = decode_links(heads, batch, n=10_000)
    probabilities = [probability for _, probability in candidates]
    assert sum(probabilities) == pytest.approx(1)
    assert probabilities == sorted(probabilities, reverse=True)
    assert all(link.antecedent is None or link.antecedent.start < link.antecedent.end for link, _ in candidates)
    assert len({link.antecedent for link, _ in candidates}) == len(candidates)
