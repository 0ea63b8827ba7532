from itertools import pairwise, product

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from friend_training.bridges.ltp import LinearChain, outside_is_best, viterbi


def score(labels: tuple[int, ...], emissions: torch.Tensor, chain: LinearChain) -> float:
    total = chain.start[labels[0]] + chain.end[labels[-1]]
    total = total + sum(emissions[t, label] for t, label in enumerate(labels))
    return float(total + sum(chain.transitions[a, b] for a, b in pairwise(labels)))


def best_by_enumeration(emissions: torch.Tensor, chain: LinearChain) -> tuple[int, ...]:
    steps, labels = emissions.shape
    return max(product(range(labels), repeat=steps), key=lambda path: score(path, emissions, chain))


def random_chain(labels: int, generator: torch.Generator) -> LinearChain:
    def draw(*shape: int) -> torch.Tensor:
        return 2 * torch.randn(*shape, generator=generator, dtype=torch.double)

    return LinearChain(start=draw(labels), transitions=draw(labels, labels), end=draw(labels))


@given(
    seed=st.integers(0, 2**31), labels=st.integers(2, 4), lengths=st.lists(st.integers(1, 5), min_size=1, max_size=4)
)
@settings(max_examples=40)
def test_viterbi_finds_what_enumeration_finds(seed: int, labels: int, lengths: list[int]) -> None:
    generator = torch.Generator().manual_seed(seed)
    chain = random_chain(labels, generator)
    emissions = 2 * torch.randn(len(lengths), max(lengths), labels, generator=generator, dtype=torch.double)

    decoded = viterbi(emissions, torch.tensor(lengths), chain)

    for row, length in enumerate(lengths):
        assert tuple(decoded[row, :length].tolist()) == best_by_enumeration(emissions[row, :length], chain)
        assert not decoded[row, length:].any()


def test_viterbi_of_no_rows_is_empty() -> None:
    chain = random_chain(3, torch.Generator().manual_seed(0))
    assert viterbi(torch.zeros(0, 4, 3, dtype=torch.double), torch.zeros(0, dtype=torch.long), chain).shape == (0, 4)


def test_transitions_can_outweigh_emissions() -> None:
    chain = LinearChain(
        start=torch.zeros(2), transitions=torch.tensor([[0.0, 0.0], [-9.0, 0.0]]), end=torch.tensor([0.0, -9.0])
    )
    emissions = torch.tensor([[[0.0, 1.0], [0.0, 1.0]]])
    assert viterbi(emissions, torch.tensor([2]), chain).tolist() == [[0, 0]]


@given(seed=st.integers(0, 2**31), bias=st.floats(0, 12))
@settings(max_examples=150)
def test_rows_called_outside_are_outside(seed: int, bias: float) -> None:
    generator = torch.Generator().manual_seed(seed)
    chain = random_chain(3, generator)
    emissions = torch.randn(8, 4, 3, generator=generator, dtype=torch.double)
    emissions[..., 0] += bias

    sure = outside_is_best(emissions[..., 1:].amax(-1) - emissions[..., 0], chain)

    decoded = viterbi(emissions, torch.full((8,), 4), chain)
    assert not decoded[sure].any()


def test_a_clear_row_is_called_outside() -> None:
    chain = LinearChain(start=torch.zeros(3), transitions=torch.ones(3, 3), end=torch.zeros(3))
    assert outside_is_best(torch.tensor([[-0.5, -torch.inf], [-0.5, 0.1]]), chain).tolist() == [True, False]
