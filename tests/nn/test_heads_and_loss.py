"""Eq. 1 over decisions: hard and soft targets, masks and weights."""

import math
from dataclasses import replace
from itertools import product

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from friend_training.nn.heads import MASKED, UNKNOWN, Head, likeliest_sequences, unit_losses
from friend_training.nn.training import weighted_mean


def random_head(seed: int, *, units: int = 3, slots: int = 4, classes: int = 5) -> tuple[Head, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(units, slots, classes, generator=generator)
    mask = torch.rand(units, slots, generator=generator) < 0.7
    targets = torch.randint(classes, (units, slots), generator=generator)
    return Head(logits, mask), targets


@given(st.integers(0, 10_000))
@settings(max_examples=30)
def test_a_hard_target_is_a_soft_one_that_is_sure(seed: int) -> None:
    head, targets = random_head(seed)
    soft = F.one_hot(targets, head.logits.size(-1)).float()
    torch.testing.assert_close(unit_losses([head], [targets]), unit_losses([head], [soft]))


def test_by_hand() -> None:
    """Mean over the real slots of a unit, sum over heads."""
    logits = torch.tensor([[[0.0, math.log(3.0)], [0.0, 0.0], [5.0, -5.0]]])
    head = Head(logits, torch.tensor([[True, True, False]]))
    other = Head(torch.zeros(1, 1, 4), torch.tensor([[True]]))
    losses = unit_losses([head, other], [torch.tensor([[1, 0, 1]]), torch.tensor([[2]])])
    assert losses.tolist() == pytest.approx([(math.log(4 / 3) + math.log(2)) / 2 + math.log(4)])


def test_a_scaled_head_counts_so_many_times_in_its_units() -> None:
    head, targets = random_head(1)
    scaled = Head(head.logits, head.mask, scale=torch.tensor([1.0, 2.5, 0.0]))
    plain = unit_losses([head], [targets])
    torch.testing.assert_close(unit_losses([scaled], [targets]), plain * torch.tensor([1.0, 2.5, 0.0]))
    torch.testing.assert_close(unit_losses([head, scaled], [targets] * 2), plain * torch.tensor([2.0, 3.5, 1.0]))


def test_a_slot_that_nobody_knows_costs_nothing_and_teaches_nothing() -> None:
    logits = torch.tensor([[[0.0, math.log(3.0)], [2.0, -1.0]]], requires_grad=True)
    loss = unit_losses([Head(logits, torch.tensor([[True, True]]))], [torch.tensor([[1, UNKNOWN]])])
    loss.sum().backward()
    assert loss.item() == pytest.approx(math.log(4 / 3) / 2)
    assert logits.grad is not None
    assert logits.grad[0, 1].tolist() == [0.0, 0.0]
    assert logits.grad[0, 0].abs().sum() > 0


def test_soft_targets_are_cross_entropy() -> None:
    logits, target = torch.tensor([[[0.0, math.log(3.0)]]]), torch.tensor([[[0.5, 0.5]]])
    expected = -(0.5 * math.log(1 / 4) + 0.5 * math.log(3 / 4))
    assert unit_losses([Head(logits, torch.tensor([[True]]))], [target]).item() == pytest.approx(expected)


@given(st.integers(0, 10_000))
@settings(max_examples=30)
def test_what_the_mask_hides_does_not_count(seed: int) -> None:
    head, targets = random_head(seed)
    changed = torch.where(head.mask.unsqueeze(2), head.logits, 100 * torch.randn_like(head.logits))
    elsewhere = torch.where(head.mask, targets, 0)
    torch.testing.assert_close(unit_losses([head], [targets]), unit_losses([Head(changed, head.mask)], [elsewhere]))
    head.logits.requires_grad_()
    unit_losses([head], [targets]).sum().backward()
    assert head.logits.grad is not None
    assert (head.logits.grad[~head.mask] == 0).all()


def test_a_unit_without_slots_costs_nothing() -> None:
    head = Head(torch.randn(2, 3, 4), torch.tensor([[False] * 3, [True] * 3]))
    losses = unit_losses([head], [torch.zeros(2, 3, dtype=torch.long)])
    assert losses[0] == 0
    assert losses[1] > 0


def test_an_impossible_class_has_no_probability_and_a_finite_soft_loss() -> None:
    logits = torch.tensor([[[1.0, MASKED]]])
    assert logits.softmax(dim=-1)[0, 0, 1] == 0
    loss = unit_losses([Head(logits, torch.tensor([[True]]))], [torch.tensor([[[1.0, 0.0]]])])
    assert loss.item() == 0


def test_a_weight_of_one_half_halves() -> None:
    """Not renormalised: λ = 0.5 for all units is half the loss, and for one of two a quarter less."""
    losses = torch.tensor([2.0, 2.0])
    assert weighted_mean(losses, torch.tensor([1.0, 1.0])).item() == 2.0
    assert weighted_mean(losses, torch.tensor([0.5, 0.5])).item() == 1.0
    assert weighted_mean(losses, torch.tensor([1.0, 0.5])).item() == 1.5


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 30))
@settings(max_examples=40)
def test_the_likeliest_sequences_are_those_of_all_sequences(seed: int, length: int, k: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    logs = torch.randn(2, 4, 3, generator=generator).log_softmax(dim=-1)
    mask = torch.arange(4) < torch.tensor([[length], [4]])
    allowed = torch.rand(3, 3, generator=generator) < 0.7
    allowed[0, 0] = allowed[:, 0] = True  # outside is always possible, so that there is a sequence
    found, scores = likeliest_sequences(logs, mask, allowed, outside=0, k=k)
    for row, real in enumerate((length, 4)):
        every = {
            tags: sum(float(logs[row, at, tag]) for at, tag in enumerate(tags))
            for tags in product(range(3), repeat=real)
            if all(allowed[before, tag] for before, tag in zip((0, *tags), (*tags, 0), strict=True))
        }
        wanted = sorted(every.values(), reverse=True)[:k]
        there = scores[row][scores[row].isfinite()].tolist()
        assert there == pytest.approx(wanted, abs=1e-5)
        for tags, score in zip(found[row].tolist(), there, strict=False):
            assert every[tuple(tags[:real])] == pytest.approx(score, abs=1e-5)


def test_what_is_open_has_no_gradient() -> None:
    head, targets = random_head(4)
    logits = head.logits.requires_grad_()
    targets[0, :2] = UNKNOWN
    unit_losses([replace(head, mask=torch.ones(3, 4, dtype=torch.bool))], [targets]).sum().backward()
    assert logits.grad is not None
    assert not logits.grad[0, :2].any()
    assert logits.grad[0, 2:].any()
