"""The role labeller under CSRL and sentence-level SRL (section 4.1): BIO tags, network, and dialogues in and out of it.

The network is an encoder, predicate-aware masked self-attention, and a softmax over BIO tags. Decoding takes the most
probable valid sequence, whose spans become spans of characters with their confidence (section 4.3).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from friend_training.nn.encoder import Encoder
from friend_training.nn.heads import UNKNOWN, Head, best_sequence, likeliest_sequences
from friend_training.nn.interfaces import pad
from friend_training.nn.tokenizer import Tokenizer
from friend_training.tasks.dialogue_input import NO_TURN, Rendered, render_all
from friend_training.types import ROLES, Argument, Dialogue, Predicate, Roles

Adjacent = Literal["apart", "joined", "once"]
"""Whether a role may begin anew: right behind itself ("apart"), only after something else ("joined"), or nowhere: of
several spans of one role the likeliest is taken ("once"). In no corpus we know does one begin right behind itself, and
in DuConv no predicate has a role twice."""


Itself = Literal["allowed", "never"]
"""Whether a predicate's own words may be part of its arguments: of the 5,044 arguments of DuConv's training dialogues
none is."""


OUTSIDE = 0

TAGS = ("O", *(f"{prefix}-{role}" for role in ROLES for prefix in "BI"))


def begin_tag(role: str) -> int:
    return 1 + 2 * ROLES.index(role)


def encode_spans(length: int, spans: Iterable[tuple[str, int, int]]) -> NDArray[np.int64]:
    """(role, first, last) → tags of `length` tokens. Where spans overlap the later one wins."""
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
    """The most probable valid BIO sequence of each row: [U, N, C], [U, N] → [U, N]."""
    return best_sequence(log_probabilities, mask, ALLOWED[adjacent], outside=OUTSIDE)


def spans_of(tags: NDArray[np.int64]) -> list[tuple[str, int, int]]:
    """(role, first, last) of one valid tag sequence, in text order."""
    spans: list[tuple[str, int, int]] = []
    if not tags.any():
        return spans
    row = tags.tolist()
    for first, tag in enumerate(row):
        if tag % 2 == 1:
            last = first + 1
            while last < len(row) and row[last] == tag + 1:
                last += 1
            spans.append((ROLES[(tag - 1) // 2], first, last))
    return spans


def likeliest_of_each_role(
    spans: Sequence[tuple[str, int, int]], chosen: NDArray[np.float64]
) -> list[tuple[str, int, int]]:
    """Of several spans of one role the one whose tokens are the likeliest on average. `chosen` are logs [N]."""
    best = {role: (role, first, last) for role, first, last in sorted(spans, key=lambda s: chosen[s[1] : s[2]].mean())}
    return sorted(best.values(), key=lambda span: span[1])


def probability_of(chosen: NDArray[np.float64], spans: Sequence[tuple[int, int]], real: int) -> float:
    """The confidence of one predicate (section 4.3): the geometric mean, over its arguments, of the product of their
    tokens' probabilities; without arguments, the geometric mean of the probabilities of O. `chosen` are logs [N]."""
    if not spans:
        return float(np.exp(np.add.reduce(chosen[:real]) / real))
    sums = np.array([np.add.reduce(chosen[first:last]) for first, last in spans])
    return float(np.exp(np.add.reduce(sums) / len(spans)))


PredicateMark = Literal["after", "input"]
"""Where the network is told which predicate is meant: after the encoder (one pass per dialogue for all its
predicates) or in its input (as CSAGN, one pass per predicate). docs/decisions.md#where-the-predicate-is-marked"""


@dataclass(frozen=True, slots=True)
class RoleBatch:
    """B dialogues with U predicates among them."""

    ids: Tensor  # [B, M]
    types: Tensor  # [B, M]
    mask: Tensor  # [B, M]
    turn: Tensor  # [B, M]
    dialogue: Tensor  # [U] the dialogue of each predicate
    first: Tensor  # [U] its first token
    last: Tensor  # [U] the token behind its last one
    targets: tuple[Tensor, ...]  # [U, M]
    weights: Tensor  # [U]
    items: tuple[object, ...]  # what was collated, for decoding


class RoleLabeller(nn.Module):
    """P^c = softmax(W_c G + b_c) with G from self-attention under the predicate-aware mask."""

    def __init__(self, encoder: Encoder, *, mark: PredicateMark, heads: int = 4, dropout: float = 0.1) -> None:
        super().__init__()
        self.encoder = encoder
        self.mark = mark
        self.heads = heads
        width = encoder.width
        size = encoder.words.embedding_dim if mark == "input" else width
        self.is_predicate = nn.Embedding(2, size)
        nn.init.normal_(self.is_predicate.weight, std=0.02)
        self.predicate = nn.Linear(width, width)
        self.attention_in = nn.Linear(width, 3 * width)
        self.attention_out = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)
        self.classify = nn.Linear(width, len(TAGS))

    def forward(self, batch: RoleBatch) -> tuple[Head, ...]:
        if batch.dialogue.size(0) == 0:  # dialogues without predicates: attention cannot lay out a batch of none
            length = batch.mask.size(1)
            weight = self.classify.weight
            return (Head(weight.new_zeros(0, length, len(TAGS)), batch.mask.new_zeros(0, length, dtype=torch.bool)),)
        tokens = torch.arange(batch.ids.size(1), device=batch.ids.device)
        is_predicate = (tokens >= batch.first[:, None]) & (tokens < batch.last[:, None])  # [U, M]
        mark = self.is_predicate(is_predicate.long())
        mask = batch.mask[batch.dialogue]  # [U, M]
        if self.mark == "input":
            at = batch.dialogue
            encoded = self.encoder(batch.ids[at], batch.types[at], mask, mark)  # [U, M, H]
        else:
            once = self.encoder(batch.ids, batch.types, batch.mask)  # [B, M, H]
            encoded = once[batch.dialogue] + mark
        share = is_predicate / is_predicate.sum(dim=1, keepdim=True)
        predicate = self.predicate(torch.bmm(share.unsqueeze(1), encoded))  # [U, 1, H]
        attended = self._attend(F.gelu(encoded + predicate), batch, mask)
        hidden = self.norm(encoded + self.dropout(attended))
        return (Head(self.classify(hidden), mask.bool()),)

    def _attend(self, hidden: Tensor, batch: RoleBatch, mask: Tensor) -> Tensor:
        """Mask_ij = 1 iff u_[i] = u_[j] or u_[j] = u_[pred]: own utterance and the predicate's."""
        units, length, width = hidden.shape
        turn = batch.turn[batch.dialogue]  # [U, M]
        predicate_turn = turn.gather(1, batch.first[:, None])  # [U, 1]
        seen = (turn[:, :, None] == turn[:, None, :]) | (turn == predicate_turn)[:, None, :]
        seen &= mask.bool()[:, None, :]
        seen |= torch.eye(length, dtype=torch.bool, device=seen.device)  # padding sees itself: no empty softmax
        query, key, value = (
            self.attention_in(hidden).view(units, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        )  # [U, heads, M, H / heads] each
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=seen[:, None])
        mixed_back: Tensor = self.attention_out(mixed.transpose(1, 2).reshape(units, length, width))
        return mixed_back


@dataclass(frozen=True, slots=True)
class RoleItem:
    """A rendered dialogue and those of its predicates that have a token of their own, with tags where known."""

    id: str
    rendered: Rendered
    queried: tuple[Predicate, ...]
    predicates: tuple[Predicate, ...]
    tokens: tuple[tuple[int, int], ...]
    tags: tuple[NDArray[np.int64], ...] | None
    weights: tuple[float, ...]

    @property
    def length(self) -> int:
        return len(self.rendered)

    @property
    def current(self) -> int:
        """The turn of u_t: the last one, which is never cut off."""
        return int(self.rendered.turn.max())


@dataclass(frozen=True, slots=True)
class DecodedRoles:
    """What was found for one predicate; `current` is the turn of u_t."""

    unit: str
    roles: Roles
    confidence: float
    current: int


def unit_id(dialogue_id: str, predicate: Predicate) -> str:
    return f"{dialogue_id}|{predicate.start}-{predicate.end}"


def role_items(
    dialogues: Sequence[Dialogue],
    labels: Sequence[Sequence[Roles]] | None,
    tokenizer: Tokenizer,
    *,
    speakers: bool,
    max_length: int,
    weights: Sequence[Sequence[float]] | None = None,
) -> list[RoleItem]:
    """One item per dialogue; with labels, the predicates are those that are labelled."""
    items: list[RoleItem] = []
    rendered = render_all(dialogues, tokenizer, speakers=speakers, max_length=max_length)
    for number, (dialogue, layout) in enumerate(zip(dialogues, rendered, strict=True)):
        roles = None if labels is None else labels[number]
        queried = dialogue.predicates if roles is None else tuple(label.predicate for label in roles)
        turn = len(dialogue.turns) - 1
        places = [layout.covering(turn, predicate.start, predicate.end) for predicate in queried]
        found = [index for index, place in enumerate(places) if place is not None]
        items.append(
            RoleItem(
                id=dialogue.id,
                rendered=layout,
                queried=queried,
                predicates=tuple(queried[index] for index in found),
                tokens=tuple(place for place in places if place is not None),
                tags=None if roles is None else tuple(_tags(layout, roles[index]) for index in found),
                weights=(1.0,) * len(found) if weights is None else tuple(weights[number][index] for index in found),
            )
        )
    return items


def _tags(layout: Rendered, label: Roles) -> NDArray[np.int64]:
    spans = [(a.role, *place) for a in label.arguments if (place := layout.covering(a.turn, a.start, a.end))]
    tags = encode_spans(len(layout), spans)
    for a in label.unsure:
        if place := layout.covering(a.turn, a.start, a.end):
            inside = tags[slice(*place)]
            inside[inside == OUTSIDE] = UNKNOWN
    return tags


def collate_roles(items: Sequence[RoleItem], pad_id: int) -> RoleBatch:
    layouts = [item.rendered for item in items]
    ids = pad([layout.ids for layout in layouts], pad_id)
    mask = pad([np.ones(len(layout), dtype=np.int64) for layout in layouts], 0)
    units = [(number, *place) for number, item in enumerate(items) for place in item.tokens]
    table = torch.tensor(units, dtype=torch.long).view(-1, 3)
    tags = [row for item in items if item.tags is not None for row in item.tags]
    targets = torch.zeros(len(units), ids.size(1), dtype=torch.long)
    for row, values in enumerate(tags):
        targets[row, : len(values)] = torch.from_numpy(values)
    return RoleBatch(
        ids=ids,
        types=pad([layout.types for layout in layouts], 0),
        mask=mask,
        turn=pad([layout.turn for layout in layouts], NO_TURN),
        dialogue=table[:, 0],
        first=table[:, 1],
        last=table[:, 2],
        targets=(targets,),
        weights=torch.tensor([weight for item in items for weight in item.weights]),
        items=tuple(items),
    )


def decode_roles(
    heads: Sequence[Head], batch: RoleBatch, adjacent: Adjacent = "apart", itself: Itself = "allowed"
) -> list[list[DecodedRoles]]:
    """One list per item, one entry per predicate queried, in that order."""
    logs = heads[0].logits.log_softmax(dim=-1)  # [U, M, C]
    tags = decode_tags(_possible(logs, batch, itself), heads[0].mask, adjacent)
    return [[ranked[0] for ranked in units] for units in _decoded(logs, tags.unsqueeze(1), None, batch, adjacent)]


def ranked_roles(
    heads: Sequence[Head], batch: RoleBatch, k: int, adjacent: Adjacent = "apart", itself: Itself = "allowed"
) -> list[list[list[DecodedRoles]]]:
    """The k likeliest labels of each predicate, the likeliest first; fewer where sequences of tags mean the same."""
    logs = heads[0].logits.log_softmax(dim=-1)  # [U, M, C]
    tags, scores = likeliest_sequences(
        _possible(logs, batch, itself), heads[0].mask, ALLOWED[adjacent], outside=OUTSIDE, k=k
    )
    return _decoded(logs, tags, scores.isfinite(), batch, adjacent)


def _possible(logs: Tensor, batch: RoleBatch, itself: Itself) -> Tensor:
    """Log-probabilities [U, M, C] without arguments on the predicate's own tokens, where these are ruled out."""
    if itself == "allowed":
        return logs
    tokens = torch.arange(logs.size(1))
    own = (tokens >= batch.first[:, None]) & (tokens < batch.last[:, None])  # [U, M]
    argument = torch.arange(len(TAGS)) != OUTSIDE
    return logs.masked_fill(own.unsqueeze(2) & argument, -torch.inf)


def _decoded(
    logs: Tensor, tags: Tensor, real: Tensor | None, batch: RoleBatch, adjacent: Adjacent
) -> list[list[list[DecodedRoles]]]:
    """Sequences of tags [U, k, M] as labels, those that are `real` [U, k] and differ: a list per item and predicate."""
    at_tags = logs.double().unsqueeze(1).expand(-1, tags.size(1), -1, -1).gather(3, tags.unsqueeze(3))
    chosen = at_tags.squeeze(3).numpy()  # [U, k, M]
    table = tags.numpy()
    decoded: list[list[list[DecodedRoles]]] = []
    unit = 0
    for item in batch.items:
        assert isinstance(item, RoleItem)
        answers: dict[Predicate, list[DecodedRoles]] = {}
        for predicate in item.predicates:
            found: dict[Roles, DecodedRoles] = {}
            for rank in range(tags.size(1)):
                if real is None or real[unit, rank]:
                    one = _decode_one(item, predicate, table[unit, rank], chosen[unit, rank], adjacent)
                    found.setdefault(one.roles, one)
            answers[predicate] = list(found.values())
            unit += 1
        # A predicate without a token of its own (a lone blank, say) is answered with nothing, and no trust in it.
        decoded.append(
            [answers.get(p, [DecodedRoles(unit_id(item.id, p), Roles(p, ()), 0.0, item.current)]) for p in item.queried]
        )
    return decoded


def log_likelihood_of_roles(
    heads: Sequence[Head], batch: RoleBatch, labels: Sequence[Sequence[Sequence[Roles]]]
) -> list[list[list[float]]]:
    """The log-probability of each label's tags; -inf for a label with an argument that the network does not see."""
    logs = heads[0].logits.log_softmax(dim=-1).double()  # [U, M, C]
    rows: list[NDArray[np.int64]] = []
    units: list[int] = []
    seen: list[bool] = []
    unit = 0
    for item, of_item in zip(batch.items, labels, strict=True):
        assert isinstance(item, RoleItem)
        for predicate, of_unit in zip(item.queried, of_item, strict=True):
            has_place = predicate in item.predicates
            for label in of_unit:
                tags = np.full(logs.size(1), UNKNOWN, dtype=np.int64)
                tags[: item.length] = _tags(item.rendered, label)
                rows.append(tags)
                units.append(unit if has_place else -1)
                seen.append(all(item.rendered.covering(a.turn, a.start, a.end) for a in label.arguments))
            unit += has_place
    if not rows:
        return [[[] for _ in of_item] for of_item in labels]
    table = torch.from_numpy(np.stack(rows))
    known = table != UNKNOWN
    at = torch.tensor(units)
    tokens = torch.arange(logs.size(1))
    if logs.size(0):
        picked = logs[at[:, None].clamp(min=0), tokens[None, :], table.clamp(min=0)]
        sums = (picked * known).sum(dim=1).masked_fill(at < 0, 0.0)
    else:
        sums = torch.zeros(len(rows), dtype=torch.double)
    values = iter(sums.masked_fill(~torch.tensor(seen), -torch.inf).tolist())
    return [[[next(values) for _ in of_unit] for of_unit in of_item] for of_item in labels]


def _decode_one(
    item: RoleItem,
    predicate: Predicate,
    tags: NDArray[np.int64],
    chosen: NDArray[np.float64],
    adjacent: Adjacent,
) -> DecodedRoles:
    layout, length = item.rendered, item.length
    spans = spans_of(tags[:length])
    if adjacent == "once":
        spans = likeliest_of_each_role(spans, chosen)
    arguments: list[Argument] = []
    places: list[tuple[int, int]] = []
    for role, first, last in spans:
        turn = int(layout.turn[first])
        if turn == NO_TURN:
            continue
        while layout.turn[last - 1] != turn:  # an argument lies in one turn
            last -= 1
        arguments.append(Argument(role, turn, int(layout.start[first]), int(layout.end[last - 1])))
        places.append((first, last))
    confidence = probability_of(chosen, places, length)
    roles = Roles(predicate, tuple(sorted(arguments)))
    return DecodedRoles(unit_id(item.id, predicate), roles, confidence, item.current)
