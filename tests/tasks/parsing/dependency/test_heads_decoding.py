"""Dependency trees read off joint decisions about heads and relations, and the network that makes these."""

from math import exp, log
from pathlib import Path

import pytest
import torch

from friend_training.nn.encoder import load_word_encoder
from friend_training.nn.heads import MASKED, Head
from friend_training.nn.word_input import SentenceBatch
from friend_training.tasks.parsing.dependency.model import decode_heads
from friend_training.tasks.parsing.dependency.task import DependencyDefinition
from friend_training.types import Heads, HeadsExample, Words

RELATIONS = ("r", "s")


@pytest.fixture
def definition(word_encoder: Path) -> DependencyDefinition:
    return DependencyDefinition(encoder=word_encoder, relations=RELATIONS)


def batch(definition: DependencyDefinition, *lengths: int) -> SentenceBatch:
    return definition.collate(definition.input_items([Words(f"s{n}", ("w",) * n) for n in lengths]))


def test_confidence_is_the_mean_per_word_of_head_and_relation(definition: DependencyDefinition) -> None:
    """Two words: p(head) of the best tree is 0.9 and 0.8, p(relation | head) 0.7 and 0.6."""
    logits = torch.full((1, 2, 3, 2), MASKED)
    logits[0, 0, 0] = torch.tensor([log(0.9 * 0.7), log(0.9 * 0.3)])
    logits[0, 0, 2] = torch.tensor([log(0.1 * 0.5), log(0.1 * 0.5)])
    logits[0, 1, 1] = torch.tensor([log(0.8 * 0.4), log(0.8 * 0.6)])
    logits[0, 1, 0] = torch.tensor([log(0.2 * 0.5), log(0.2 * 0.5)])
    found = decode_heads(Head(logits.flatten(2), torch.ones(1, 2, dtype=torch.bool)), batch(definition, 2), RELATIONS)
    ((tree, confidence),) = found
    assert tree == Heads((0, 1), ("r", "s"))
    assert confidence == pytest.approx((0.9 * 0.7 * 0.8 * 0.6) ** 0.5)


def test_the_network_names_heads_and_relations_jointly(definition: DependencyDefinition, word_encoder: Path) -> None:
    """p(head, relation) sums to 1 over the root and the other words of the sentence, and padding gets nothing."""
    torch.manual_seed(0)
    network = definition.network(load_word_encoder(word_encoder)).eval()
    made = batch(definition, 4, 2)
    with torch.no_grad():
        (head,) = network(made)
    shares = head.logits.softmax(dim=2).view(2, 4, 5, 2).sum(dim=3)  # [B, N, N + 1]
    assert head.mask.tolist() == [[True] * 4, [True, True, False, False]]
    for word in range(4):
        assert float(shares[0, word, word + 1]) < 1e-6  # nobody is their own head
    assert float(shares[1, :2, 3:].sum()) < 1e-6
    assert float(shares[0].sum()) == pytest.approx(4.0, abs=1e-4)


def test_classes_are_heads_times_relations(definition: DependencyDefinition, word_encoder: Path) -> None:
    words = Words("s", ("a", "b", "c"))
    items = definition.gold_items([HeadsExample(words, Heads((2, 0, 2), ("s", "r", "s")))])
    assert definition.collate(items).targets[0].tolist() == [[5, 0, 5]]
    alone = DependencyDefinition(encoder=word_encoder).gold_items([HeadsExample(words, Heads((2, 0, 2)))])
    assert alone[0].classes is not None
    assert alone[0].classes[0].tolist() == [2, 0, 2]


def test_log_probabilities_far_below_nothing_are_no_confidence(definition: DependencyDefinition) -> None:
    """A sentence whose only projective tree is all but impossible."""
    logits = torch.zeros(1, 2, 3, 2)
    logits[0, :, 0] = -200.0
    ((_, confidence),) = decode_heads(
        Head(logits.flatten(2), torch.ones(1, 2, dtype=torch.bool)), batch(definition, 2), RELATIONS
    )
    assert 0.0 <= confidence < exp(-40)
