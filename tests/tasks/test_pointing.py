"""Spans that slots point at, and independent decisions made together."""

from itertools import product

import pytest
import torch

from friend_training.nn.heads import MASKED, Head
from friend_training.tasks.dialogue_input import NO_TURN, NOTHING, likeliest_spans, likeliest_together, span_logs

TURN = torch.tensor([[NO_TURN, 0, 0, NO_TURN, 1, 1, 1, NO_TURN]])


def heads() -> tuple[Head, Head]:
    torch.manual_seed(3)
    mask = torch.ones(1, 2, dtype=torch.bool)
    first, last = (Head(torch.randn(1, 2, 8), mask) for _ in range(2))
    first.logits[0, 1, 4:] = MASKED
    last.logits[0, 1, 4:] = MASKED
    return first, last


def test_spans_lie_in_one_turn_and_are_a_distribution_with_none() -> None:
    first, last = heads()
    logs = span_logs(first, last, TURN)
    assert torch.allclose(logs.exp().sum(dim=(2, 3)), torch.ones(1, 2, dtype=torch.double))
    possible = {(m, m + more) for m, more in torch.nonzero(logs[0, 0].isfinite()).tolist()}
    turns = TURN[0].tolist()
    inside = {(m, n) for m in range(8) for n in range(m, 8) if turns[m] == turns[n] != NO_TURN}
    assert possible == inside | {(NOTHING, NOTHING)}
    below = {(m, m + more) for m, more in torch.nonzero(logs[0, 1].isfinite()).tolist()}
    assert below == {(1, 1), (1, 2), (2, 2), (NOTHING, NOTHING)}


def test_the_likeliest_spans_come_first() -> None:
    first, last = heads()
    logs = span_logs(first, last, TURN)
    found = likeliest_spans(first, last, TURN, n=3)
    assert found.logs[0, 0].tolist() == pytest.approx(sorted(logs[0, 0].flatten().tolist(), reverse=True)[:3])
    begin, end = int(found.first[0, 0, 0]), int(found.last[0, 0, 0])
    assert float(logs[0, 0, begin, end - begin]) == pytest.approx(float(found.logs[0, 0, 0]))


def test_decisions_together_against_brute_force() -> None:
    torch.manual_seed(5)
    options = torch.randn(2, 4, 3, dtype=torch.double).log_softmax(dim=2)
    options[1, 2, 1:] = -torch.inf
    choices, logs = likeliest_together(options, 40)
    for row in range(2):
        sums = {
            way: sum(float(options[row, number, choice]) for number, choice in enumerate(way))
            for way in product(range(3), repeat=4)
        }
        best = sorted((value for value in sums.values() if value > -torch.inf), reverse=True)[:40]
        finite = logs[row].isfinite()
        assert logs[row][finite].tolist() == pytest.approx(best)
        for way, value in zip(choices[row][finite].tolist(), logs[row][finite].tolist(), strict=True):
            assert sums[tuple(way)] == pytest.approx(value)
