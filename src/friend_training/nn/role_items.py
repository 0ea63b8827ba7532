"""Dialogues with predicates, ready for the role labeller; and its output as labelled spans of characters."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from friend_training.examples import Argument, Dialogue, Predicate, Roles
from friend_training.nn.batching import pad
from friend_training.nn.bio import (
    OUTSIDE,
    Adjacent,
    decode_tags,
    encode_spans,
    likeliest_of_each_role,
    probability_of,
    spans_of,
)
from friend_training.nn.heads import UNKNOWN, Head
from friend_training.nn.rendering import NO_TURN, Rendered, render_all
from friend_training.nn.role_labeller import RoleBatch
from friend_training.nn.tokens import Tokenizer


@dataclass(frozen=True, slots=True)
class RoleItem:
    """A rendered dialogue and those of its predicates that have a piece of their own, with tags where known."""

    id: str
    rendered: Rendered
    asked: tuple[Predicate, ...]
    predicates: tuple[Predicate, ...]
    pieces: tuple[tuple[int, int], ...]
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
        asked = dialogue.predicates if roles is None else tuple(label.predicate for label in roles)
        turn = len(dialogue.turns) - 1
        places = [layout.covering(turn, predicate.start, predicate.end) for predicate in asked]
        found = [index for index, place in enumerate(places) if place is not None]
        items.append(
            RoleItem(
                id=dialogue.id,
                rendered=layout,
                asked=asked,
                predicates=tuple(asked[index] for index in found),
                pieces=tuple(place for place in places if place is not None),
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
    units = [(number, *place) for number, item in enumerate(items) for place in item.pieces]
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


def decode_roles(heads: Sequence[Head], batch: RoleBatch, adjacent: Adjacent = "apart") -> list[list[DecodedRoles]]:
    """One list per item, one entry per predicate asked for, in that order."""
    logs = heads[0].logits.log_softmax(dim=-1)  # [U, M, C]
    tags = decode_tags(logs, heads[0].mask, adjacent)
    chosen = logs.gather(2, tags.unsqueeze(2)).squeeze(2).double().numpy()  # [U, M]
    table = tags.numpy()
    decoded: list[list[DecodedRoles]] = []
    unit = 0
    for item in batch.items:
        assert isinstance(item, RoleItem)
        answers: dict[Predicate, DecodedRoles] = {}
        for predicate in item.predicates:
            answers[predicate] = _decode_one(item, predicate, table[unit], chosen[unit], adjacent)
            unit += 1
        # A predicate without a piece of its own (a lone blank, say) is answered with nothing, and no trust in it.
        decoded.append(
            [answers.get(p, DecodedRoles(unit_id(item.id, p), Roles(p, ()), 0.0, item.current)) for p in item.asked]
        )
    return decoded


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
