"""BIO tags: encoding spans, the most probable valid sequence, and spans back from tags."""

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from friend_training.examples import ROLES

Adjacent = Literal["apart", "joined", "once"]
"""Whether a role may begin anew: right behind itself ("apart"), only after something else ("joined"), or nowhere: of
several spans of one role the likeliest is kept ("once"). In no corpus we know does one begin right behind itself, and
in DuConv no predicate has a role twice."""

OUTSIDE = 0
TAGS = ("O", *(f"{prefix}-{role}" for role in ROLES for prefix in "BI"))


def begin_tag(role: str) -> int:
    return 1 + 2 * ROLES.index(role)


def encode_spans(length: int, spans: Iterable[tuple[str, int, int]]) -> NDArray[np.int64]:
    """(role, first, last) → tags of `length` pieces. Where spans overlap the later one wins."""
    tags = np.zeros(length, dtype=np.int64)
    for role, first, last in spans:
        tags[first:last] = begin_tag(role) + 1
        tags[first] = begin_tag(role)
        rest = last  # what is left of an earlier span would be an I without its B
        while rest < length and tags[rest] != OUTSIDE and tags[rest] % 2 == 0:
            tags[rest] = OUTSIDE
            rest += 1
    return tags


def allowed_transitions(adjacent: Adjacent) -> NDArray[np.bool_]:
    """allowed[from, to]: I-X may only follow B-X or I-X; unless "apart", B-X may not."""
    allowed = np.ones((len(TAGS), len(TAGS)), dtype=bool)
    for role in ROLES:
        begin, inside = begin_tag(role), begin_tag(role) + 1
        allowed[:, inside] = False
        allowed[begin, inside] = allowed[inside, inside] = True
        if adjacent != "apart":
            allowed[begin, begin] = allowed[inside, begin] = False
    return allowed


ALLOWED: dict[Adjacent, Tensor] = {
    "apart": torch.from_numpy(allowed_transitions("apart")),
    "joined": torch.from_numpy(allowed_transitions("joined")),
    "once": torch.from_numpy(allowed_transitions("once")),
}


def decode_tags(log_probabilities: Tensor, mask: Tensor, adjacent: Adjacent = "apart") -> Tensor:
    """The most probable valid BIO sequence of each row: [U, N, C], [U, N] → [U, N].

    Column-wise argmax is that sequence wherever it is valid, which is nearly always: only the others need Viterbi.
    """
    best = log_probabilities.argmax(dim=-1).masked_fill(~mask, OUTSIDE)  # [U, N]
    before = torch.nn.functional.pad(best[:, :-1], (1, 0), value=OUTSIDE)
    allowed = ALLOWED[adjacent]
    broken = (~allowed[before, best]).any(dim=1)
    if broken.any():
        best[broken] = _viterbi(log_probabilities[broken], mask[broken], allowed)
    return best


def _viterbi(log_probabilities: Tensor, mask: Tensor, allowed: Tensor) -> Tensor:
    """Constrained Viterbi, one step over all rows at a time."""
    penalty = torch.zeros(allowed.shape).masked_fill(~allowed, -torch.inf)  # [from, to]
    emissions = log_probabilities.clone()
    padding = torch.full_like(emissions[0, 0], -torch.inf)
    padding[OUTSIDE] = 0.0
    emissions[~mask] = padding  # behind the end only O, at no cost
    scores = emissions[:, 0] + penalty[OUTSIDE]
    pointers: list[Tensor] = []
    for position in range(1, emissions.size(1)):
        scores, pointer = (scores.unsqueeze(2) + penalty).max(dim=1)  # [U, to]
        scores = scores + emissions[:, position]
        pointers.append(pointer)
    tag = scores.argmax(dim=1)
    path = [tag]
    for pointer in reversed(pointers):
        tag = pointer.gather(1, tag.unsqueeze(1)).squeeze(1)
        path.append(tag)
    return torch.stack(path[::-1], dim=1)


def spans_of(tags: NDArray[np.int64]) -> list[tuple[str, int, int]]:
    """(role, first, last) of one valid tag sequence, in text order."""
    spans: list[tuple[str, int, int]] = []
    for first in np.flatnonzero(tags % 2 == 1).tolist():
        inside = tags[first] + 1
        last = first + 1
        while last < len(tags) and tags[last] == inside:
            last += 1
        spans.append((ROLES[(int(tags[first]) - 1) // 2], first, last))
    return spans


def likeliest_of_each_role(
    spans: Sequence[tuple[str, int, int]], chosen: NDArray[np.float64]
) -> list[tuple[str, int, int]]:
    """Of several spans of one role the one whose pieces are the likeliest on average. `chosen` are logs [N]."""
    best = {role: (role, first, last) for role, first, last in sorted(spans, key=lambda s: chosen[s[1] : s[2]].mean())}
    return sorted(best.values(), key=lambda span: span[1])


def probability_of(chosen: NDArray[np.float64], spans: Sequence[tuple[int, int]], real: int) -> float:
    """The confidence of one predicate (section 4.3): the geometric mean, over its arguments, of the product of their
    tokens' probabilities; without arguments, the geometric mean of the probabilities of O. `chosen` are logs [N]."""
    if not spans:
        return float(np.exp(chosen[:real].mean()))
    return float(np.exp(np.mean([chosen[first:last].sum() for first, last in spans])))
