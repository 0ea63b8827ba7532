"""Trees read off span decisions: the most probable of all trees, its brackets in order, and its confidence."""

from itertools import combinations, product
from math import exp

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from friend_training.nn.heads import Head
from friend_training.nn.word_input import SentenceBatch, SentenceItem
from friend_training.tasks.parsing.constituency.model import all_spans, decode_trees, slot_of
from friend_training.tasks.parsing.constituency.task import span_targets
from friend_training.types import Bracket, Tree, Words

PHRASES, TAGS = ("A", "B"), ("x", "y")


class Unread:
    """Decoding does not look at what the encoder was given."""

    def encode(self, encoder: object) -> Tensor:
        raise AssertionError


def batch_of(lengths: list[int]) -> SentenceBatch:
    longest = max(1, *lengths)
    items = tuple(
        SentenceItem(Words(f"s{n}", ("w",) * length), torch.zeros(1).numpy(), None, 1.0)
        for n, length in enumerate(lengths)
    )
    mask = torch.arange(longest) < torch.tensor(lengths)[:, None]
    return SentenceBatch(Unread(), mask, (), torch.ones(len(lengths)), items)


def heads_of(batch: SentenceBatch, seed: int) -> tuple[Head, Head]:
    sentences, longest = batch.mask.shape
    _, last = all_spans(longest)
    generator = torch.Generator().manual_seed(seed)
    spans = 2 * torch.randn(sentences, len(last), 1 + len(PHRASES), generator=generator)
    words = torch.randn(sentences, longest, len(TAGS), generator=generator)
    return Head(spans, batch.mask[:, last - 1]), Head(words, batch.mask)


def crossing(one: tuple[int, int], other: tuple[int, int]) -> bool:
    (a, b), (c, d) = sorted((one, other))
    return a < c < b < d


def best_by_enumeration(logs: Tensor, longest: int, words: int) -> tuple[float, set[Bracket]]:
    """Over all sets of nested spans that hold the whole sentence, with all labels: the product over all spans."""
    spans = [(i, j) for i in range(words) for j in range(i + 1, words + 1)]
    at = {span: logs[int(slot_of(torch.tensor(span[0]), torch.tensor(span[1]), longest))] for span in spans}
    others = [span for span in spans if span != (0, words)]
    nothing = float(sum(at[span][0] for span in spans))
    best: tuple[float, set[Bracket]] = (float("-inf"), set())
    for size in range(len(others) + 1):
        for subset in combinations(others, size):
            phrases = ((0, words), *subset)
            if any(crossing(*pair) for pair in combinations(phrases, 2)):
                continue
            for labels in product((1, 2), repeat=len(phrases)):
                pairs = list(zip(phrases, labels, strict=True))
                total = nothing + sum(float(at[span][label] - at[span][0]) for span, label in pairs)
                if total > best[0]:
                    best = (total, {Bracket(*span, PHRASES[label - 1]) for span, label in pairs})
    return best


@given(seed=st.integers(0, 2**31), lengths=st.lists(st.integers(1, 3), min_size=1, max_size=3))
@settings(max_examples=25)
def test_the_most_probable_of_all_trees(seed: int, lengths: list[int]) -> None:
    batch = batch_of(lengths)
    spans, words = heads_of(batch, seed)
    logs, tag_logs = spans.logits.log_softmax(dim=2), words.logits.log_softmax(dim=2)
    for row, (tree, confidence) in enumerate(decode_trees((spans, words), batch, PHRASES, TAGS)):
        length = lengths[row]
        total, brackets = best_by_enumeration(logs[row], max(lengths), length)
        assert set(tree.brackets) == brackets
        total += float(tag_logs[row, :length].max(dim=1).values.sum())
        assert confidence == pytest.approx(exp(total / length), rel=1e-4)


def test_brackets_stand_by_start_the_longer_first() -> None:
    batch = batch_of([4])
    spans, words = heads_of(batch, 0)
    spans.logits.zero_()
    for first, last in ((0, 4), (0, 2), (0, 1), (2, 4), (3, 4)):
        spans.logits[0, slot_of(torch.tensor(first), torch.tensor(last), 4), 1] = 9.0
    ((tree, _),) = decode_trees((spans, words), batch, PHRASES, TAGS)
    assert [(b.start, b.end) for b in tree.brackets] == [(0, 4), (0, 2), (0, 1), (2, 4), (3, 4)]


def test_a_missed_phrase_costs_confidence() -> None:
    """Two phrases that cross, both likely: the tree can have one, and must be less sure than without the other."""
    batch = batch_of([3])
    spans, words = heads_of(batch, 0)
    words.logits.zero_()
    confidences = []
    for rivals in (((0, 2),), ((0, 2), (1, 3))):
        spans.logits.zero_()
        spans.logits[:, :, 0] = 6.0
        for first, last in ((0, 3), *rivals):
            spans.logits[0, slot_of(torch.tensor(first), torch.tensor(last), 3)] = torch.tensor([0.0, 6.0, 0.0])
        ((_, confidence),) = decode_trees((spans, words), batch, PHRASES, TAGS)
        confidences.append(confidence)
    assert confidences[1] < confidences[0] / 2


def test_targets_stand_in_the_slots_of_their_spans() -> None:
    first, last = all_spans(5)
    assert torch.equal(slot_of(first, last, 5), torch.arange(15))
    rows = (torch.tensor([[0, 3, 2], [1, 3, 1]]).numpy(), torch.tensor([0, 1, 1]).numpy())
    item = SentenceItem(Words("s", ("a", "b", "c")), torch.zeros(1).numpy(), rows, 1.0)
    spans, tags = span_targets([item], 5)
    assert {(int(first[n]), int(last[n])): int(spans[0, n]) for n in spans[0].nonzero()} == {(0, 3): 2, (1, 3): 1}
    assert tags.tolist() == [[0, 1, 1, 0, 0]]


def test_a_sentence_without_words_has_an_empty_tree() -> None:
    batch = batch_of([0, 2])
    (empty, sure), (full, _) = decode_trees(heads_of(batch, 1), batch, PHRASES, TAGS)
    assert (empty, sure) == (Tree((), ()), 0.0)
    assert full.brackets[0].end == 2
