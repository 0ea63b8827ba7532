"""What every model of ours gives: for each unit a row of decisions, each a distribution. And Eq. 1 over them."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

MASKED = -1e4
"""The logit of an impossible class: finite, so that soft targets meet no 0 · ∞."""

UNKNOWN = -100
"""The hard target of a slot that nobody knows: it costs nothing."""


@dataclass(frozen=True, slots=True)
class Head:
    """The decisions of one kind for U units: N slots each, of which `mask` are real, over C classes.

    `scale` is how many times a unit's mean over its slots counts, once unless given: of all the spans of a sentence
    few are phrases, and a plain mean would make them count the less the longer the sentence is.
    """

    logits: Tensor  # [U, N, C]
    mask: Tensor  # [U, N]
    scale: Tensor | None = None  # [U]

    def mean(self, values: Tensor) -> Tensor:
        """Values of slots [U, N] → those of units [U]."""
        means = (values * self.mask).sum(dim=1) / self.mask.sum(dim=1).clamp(min=1)
        return means if self.scale is None else means * self.scale


def unit_losses(heads: Sequence[Head], targets: Sequence[Tensor]) -> Tensor:
    """Cross-entropy of each unit: (scaled) mean over its slots, summed over heads.

    A target is hard ([U, N] class numbers) or soft ([U, N, C] probabilities); Eq. 1 is this up to a constant.
    """
    losses: list[Tensor] = []
    for head, target in zip(heads, targets, strict=True):
        classes = head.logits.size(-1)
        flat_target = target.reshape(-1, classes) if target.dim() == 3 else target.reshape(-1)
        entropy = F.cross_entropy(head.logits.reshape(-1, classes), flat_target, reduction="none", ignore_index=UNKNOWN)
        losses.append(head.mean(entropy.view(head.mask.shape)))
    return torch.stack(losses).sum(dim=0)  # [U]


def best_sequence(log_probabilities: Tensor, mask: Tensor, allowed: Tensor, *, outside: int) -> Tensor:
    """The most probable sequence of tags of each row in which all steps are allowed: [U, N, C], [U, N] → [U, N].

    `allowed` [from, to] says which tag may follow which; a row begins as if `outside` stood before it, and has it
    behind its end. Column-wise argmax is that sequence wherever it is valid, which is nearly always: only the others
    need Viterbi.
    """
    best = log_probabilities.argmax(dim=-1).masked_fill(~mask, outside)  # [U, N]
    before = F.pad(best[:, :-1], (1, 0), value=outside)
    broken = (~allowed[before, best]).any(dim=1)
    if broken.any():
        best[broken] = _viterbi(log_probabilities[broken], mask[broken], allowed, outside)
    return best


def _viterbi(log_probabilities: Tensor, mask: Tensor, allowed: Tensor, outside: int) -> Tensor:
    """Constrained Viterbi, one step over all rows at a time."""
    penalty = torch.zeros(allowed.shape).masked_fill(~allowed, -torch.inf)  # [from, to]
    emissions = log_probabilities.clone()
    padding = torch.full_like(emissions[0, 0], -torch.inf)
    padding[outside] = 0.0
    emissions[~mask] = padding  # behind the end only `outside`, at no cost
    scores = emissions[:, 0] + penalty[outside]
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


def likeliest_sequences(
    log_probabilities: Tensor, mask: Tensor, allowed: Tensor, *, outside: int, k: int
) -> tuple[Tensor, Tensor]:
    """The k most probable allowed sequences of each row and their log-probabilities: [U, k, N] and [U, k].

    Rows that have fewer than k are filled up with sequences of log-probability -inf. Viterbi with a list of the k best
    ways to each tag instead of the best one, one step over all rows at a time.
    """
    units, length, classes = log_probabilities.shape
    penalty = torch.zeros(allowed.shape).masked_fill(~allowed, -torch.inf)  # [from, to]
    ways = _Ways.of(allowed, k)
    emissions = log_probabilities.to(torch.double, copy=True)
    padding = torch.full((classes,), -torch.inf, dtype=torch.double)
    padding[outside] = 0.0
    emissions[~mask] = padding
    scores = torch.full((units, classes, k), -torch.inf, dtype=torch.double)
    scores[:, :, 0] = emissions[:, 0] + penalty[outside]
    pointers: list[Tensor] = []
    for position in range(1, length):
        scores, pointer = ways.best(scores)
        scores = scores + emissions[:, position].unsqueeze(2)
        pointers.append(pointer)
    scores, state = scores.reshape(units, classes * k).topk(k, dim=1)  # state: tag · k + rank
    path = [state // k]
    for pointer in reversed(pointers):
        state = pointer.reshape(units, classes * k).gather(1, state)
        path.append(state // k)
    return torch.stack(path[::-1], dim=2), scores


@dataclass(frozen=True, slots=True)
class _Ways:
    """From which tags each tag can be reached, so that the k best ways to it are found among few.

    Tags that all but a few may precede share one search: of the best ways over all tags some more than k are enough to
    have k left without those few. A tag that few may precede is searched for among these alone.
    """

    k: int
    classes: int
    wide: Tensor  # the tags that nearly all may precede [W]
    barred: Tensor  # [W, from] which may not
    enough: int
    narrow: Tensor  # the other tags [S]
    states: Tensor  # [S, F · k] the ways to each of them, as tag · k + rank, filled up with the first
    real: Tensor  # [S, F · k]

    @classmethod
    def of(cls, allowed: Tensor, k: int) -> "_Ways":
        classes = len(allowed)
        count = allowed.sum(dim=0)
        is_wide = count > classes // 2
        wide, narrow = is_wide.nonzero().flatten(), (~is_wide).nonzero().flatten()
        most = int((classes - count[wide]).max()) if len(wide) else 0
        width = max(1, int(count[narrow].max())) if len(narrow) else 0
        order = (~allowed[:, narrow]).int().argsort(dim=0, stable=True)[:width].T  # [S, F] those that may come first
        states = (order.unsqueeze(2) * k + torch.arange(k)).flatten(1)
        real = torch.arange(width) < count[narrow].unsqueeze(1)
        return cls(
            k,
            classes,
            wide,
            ~allowed[:, wide].T,
            min((1 + most) * k, classes * k),
            narrow,
            states,
            real.repeat_interleave(k, dim=1),
        )

    def best(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """Scores of the k best ways so far to each tag [U, from, k] → the k best steps to each tag [U, to, k], and
        from which state each comes."""
        units = len(scores)
        flat = scores.flatten(1)
        found = torch.empty(units, self.classes, self.k, dtype=scores.dtype)
        pointer = torch.empty(units, self.classes, self.k, dtype=torch.long)
        if len(self.wide):
            top, at = flat.topk(self.enough, dim=1)
            to_each = top.unsqueeze(1).masked_fill(self.barred[:, at // self.k].transpose(0, 1), -torch.inf)
            values, place = to_each.topk(self.k, dim=2)
            found[:, self.wide] = values
            pointer[:, self.wide] = at.unsqueeze(1).expand(-1, len(self.wide), -1).gather(2, place)
        if len(self.narrow):
            to_each = flat[:, self.states].masked_fill(~self.real, -torch.inf)  # [U, S, F · k]
            values, place = to_each.topk(self.k, dim=2)
            found[:, self.narrow] = values
            pointer[:, self.narrow] = self.states.expand(units, -1, -1).gather(2, place)
        return found, pointer
