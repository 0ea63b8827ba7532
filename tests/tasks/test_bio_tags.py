"""BIO decoding against an enumerator of every valid sequence; spans there and back; confidence by hand."""

from itertools import pairwise, product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from friend_training.tasks.csrl.model import (
    ALLOWED,
    OUTSIDE,
    TAGS,
    Adjacent,
    decode_tags,
    encode_spans,
    likeliest_of_each_role,
    probability_of,
    spans_of,
)
from friend_training.types import ROLES


def _valid_sequences(length: int) -> np.ndarray:
    """Every BIO sequence of this length, from the definition: an I-X has a B-X or an I-X before it."""

    def valid(names: tuple[str, ...]) -> bool:
        return all(
            not name.startswith("I-") or (place > 0 and names[place - 1] in (f"B-{name[2:]}", name))
            for place, name in enumerate(names)
        )

    numbers = {name: number for number, name in enumerate(TAGS)}
    return np.array([[numbers[name] for name in names] for names in product(TAGS, repeat=length) if valid(names)])


SEQUENCES = {length: _valid_sequences(length) for length in (1, 2, 3, 4)}


def _score(logs: np.ndarray, tags: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The log-probability of tag sequences [..., N]; positions behind the mask do not count."""
    return (np.take_along_axis(logs[None], tags.reshape(-1, len(logs), 1), axis=2)[..., 0] * mask).sum(axis=1)


def _joined(sequences: np.ndarray) -> np.ndarray:
    """Those in which no span stands right behind another one of its role."""
    before, after = sequences[:, :-1], sequences[:, 1:]
    begins = (after % 2 == 1) & ((before == after) | (before == after + 1))
    return sequences[~begins.any(axis=1)]


@given(
    length=st.integers(1, 4),
    sharpness=st.sampled_from([0.2, 1.0, 6.0]),
    insides=st.sampled_from([0.0, 3.0]),
    adjacent=st.sampled_from(["apart", "joined", "once"]),
    seed=st.integers(0, 2**32 - 1),
    data=st.data(),
)
@settings(max_examples=60)
def test_decoding_equals_the_enumerator(
    length: int, sharpness: float, insides: float, adjacent: Adjacent, seed: int, data: st.DataObject
) -> None:
    """`insides` favours the I tags, so that the best tag of each column is mostly not a valid sequence."""
    rows = 5
    generator = np.random.default_rng(seed)
    logits = sharpness * generator.normal(size=(rows, length, len(TAGS))).astype(np.float32)
    logits[:, :, 2::2] += insides
    logs = torch.from_numpy(logits).log_softmax(dim=-1)
    real = data.draw(st.lists(st.integers(1, length), min_size=rows, max_size=rows))
    mask = torch.arange(length) < torch.tensor(real)[:, None]
    decoded = decode_tags(logs, mask, adjacent).numpy()
    sequences = SEQUENCES[length] if adjacent == "apart" else _joined(SEQUENCES[length])
    for row in range(rows):
        weights = mask[row].numpy().astype(np.float64)
        table = logs[row].double().numpy()
        best = _score(table, sequences, weights).max()
        assert _score(table, decoded[row], weights)[0] == pytest.approx(best, abs=1e-5)
        assert (decoded[row, real[row] :] == OUTSIDE).all()
        assert (sequences == decoded[row]).all(axis=1).any(), "not a valid sequence"


def test_the_number_of_valid_sequences_and_the_allowed_transitions_agree() -> None:
    start = torch.zeros(len(TAGS), dtype=torch.long)
    start[OUTSIDE] = 1
    counts = start @ ALLOWED["apart"].long()
    for length in (1, 2, 3, 4):
        assert int(counts.sum()) == len(SEQUENCES[length])
        counts = counts @ ALLOWED["apart"].long()


@st.composite
def spans_apart(draw: st.DrawFn) -> tuple[int, list[tuple[str, int, int]]]:
    length = draw(st.integers(1, 12))
    cuts = sorted(draw(st.sets(st.integers(0, length), max_size=8)))
    pairs = list(pairwise(cuts))
    kept = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    return length, [
        (draw(st.sampled_from(ROLES)), first, last) for (first, last), keep in zip(pairs, kept, strict=True) if keep
    ]


@given(spans_apart())
def test_spans_come_back_from_their_tags(case: tuple[int, list[tuple[str, int, int]]]) -> None:
    """Neighbours of the same role too: that is what B is for."""
    length, spans = case
    assert spans_of(encode_spans(length, spans)) == spans


@given(
    st.lists(st.tuples(st.sampled_from(ROLES), st.integers(0, 7), st.integers(1, 4)), max_size=5).map(
        lambda drawn: [(role, first, min(8, first + size)) for role, first, size in drawn]
    )
)
def test_overlapping_spans_still_give_a_valid_sequence(spans: list[tuple[str, int, int]]) -> None:
    tags = encode_spans(8, spans)
    before = np.concatenate([[OUTSIDE], tags[:-1]])
    assert ALLOWED["apart"].numpy()[before, tags].all()
    if spans:
        assert spans[-1] in spans_of(tags), "of overlapping spans the later one wins"


def test_confidence_by_hand() -> None:
    logs = np.log([0.9, 0.5, 0.8, 0.4, 0.7])
    assert probability_of(logs, [(1, 3)], 5) == pytest.approx(0.5 * 0.8)
    assert probability_of(logs, [(1, 3), (3, 4)], 5) == pytest.approx((0.5 * 0.8 * 0.4) ** 0.5)
    # Without arguments: the geometric mean of the probabilities of O, padding left out.
    assert probability_of(logs, [], 4) == pytest.approx((0.9 * 0.5 * 0.8 * 0.4) ** 0.25)


def test_confidence_of_many_tokens_does_not_underflow() -> None:
    logs = np.full(400, np.log(0.1))
    assert probability_of(logs, [], 400) == pytest.approx(0.1)


def test_of_several_spans_of_a_role_the_likeliest_is_kept() -> None:
    logs = np.log([0.9, 0.6, 0.8, 0.8, 0.3, 0.99])
    spans = [("ARG0", 0, 2), ("ARG1", 2, 3), ("ARG0", 3, 4), ("ARG0", 4, 6)]
    assert likeliest_of_each_role(spans, logs) == [("ARG1", 2, 3), ("ARG0", 3, 4)]  # by the mean: 0.8, 0.73, 0.54
    assert likeliest_of_each_role(spans[:2], logs) == spans[:2]
    assert likeliest_of_each_role([], logs) == []
