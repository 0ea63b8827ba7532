"""The role labeller: who sees whom, the two ways to mark the predicate, and independence of the batch."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from friend_training.data.synthetic import Domain, csrl_examples, generate
from friend_training.nn.encoder import load_encoder
from friend_training.nn.heads import UNKNOWN, Head
from friend_training.nn.tokenizer import Tokenizer
from friend_training.tasks.csrl.model import (
    TAGS,
    PredicateMark,
    RoleBatch,
    RoleItem,
    RoleLabeller,
    begin_tag,
    collate_roles,
    decode_roles,
    role_items,
    unit_id,
)
from friend_training.tasks.dialogue_input import NO_TURN
from friend_training.types import Argument, CsrlExample, Dialogue, Predicate, Roles, Turn

MARKS: tuple[PredicateMark, ...] = ("after", "input")
WIDTH = 8


class StubEncoder(nn.Module):
    """Gives one free vector per piece, in which no other piece has a part."""

    width = WIDTH

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(10, WIDTH)
        self.vectors = torch.empty(0)

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor, added: Tensor | None = None) -> Tensor:
        self.vectors = torch.randn(*ids.shape, WIDTH, generator=torch.Generator().manual_seed(3)).requires_grad_()
        return self.vectors if added is None else self.vectors + added


def items_of(dialogues: Sequence[Dialogue], tokenizer: Tokenizer) -> list[RoleItem]:
    return role_items(dialogues, None, tokenizer, speakers=True, max_length=125)


@pytest.fixture(scope="module")
def dialogues() -> list[Dialogue]:
    """Several predicates in one utterance among them, and none in another."""
    made = [one.dialogue for one in generate(60, seed=5, domain=Domain.FILM)]
    assert {len(one.predicates) for one in made} >= {0, 1, 2}
    return made


@pytest.mark.parametrize("mark", MARKS)
def test_a_piece_sees_its_own_utterance_and_the_predicates(tokenizer: Tokenizer, mark: PredicateMark) -> None:
    """Mask_ij = 1 iff u_[i] = u_[j] or u_[j] = u_[pred], read off the gradients of every piece."""
    turns = (Turn("A", "甲乙"), Turn("B", "丙"), Turn("A", "丁甲乙"))
    short = Dialogue("short", (Turn("A", "甲"),), (Predicate(0, 1),))
    batch = collate_roles(items_of([Dialogue("d", turns, (Predicate(1, 2),)), short], tokenizer), tokenizer.pad_id)
    torch.manual_seed(0)
    encoder = StubEncoder()
    network = RoleLabeller(encoder, mark=mark).eval()  # type: ignore[arg-type]
    (head,) = network(batch)
    turn = batch.turn.tolist()
    for unit, predicate_turn in enumerate((2, 0)):
        real = int(batch.mask[unit].sum())
        for i in range(real):
            gradient = torch.autograd.grad(head.logits[unit, i].square().sum(), encoder.vectors, retain_graph=True)[0]
            seen = gradient.abs().sum(dim=2).nonzero().tolist()
            expected = [
                [unit, j]
                for j in range(real)
                if turn[unit][j] in (turn[unit][i], predicate_turn) and batch.mask[unit, j]
            ]
            assert seen == expected, (unit, i)
    assert NO_TURN in turn[0]


@pytest.mark.parametrize("mark", MARKS)
def test_shapes(tiny_encoder: Path, tokenizer: Tokenizer, dialogues: list[Dialogue], mark: PredicateMark) -> None:
    chosen = dialogues[:9]
    batch = collate_roles(items_of(chosen, tokenizer), tokenizer.pad_id)
    network = RoleLabeller(load_encoder(tiny_encoder), mark=mark).eval()
    (head,) = network(batch)
    units, longest = sum(len(one.predicates) for one in chosen), batch.ids.size(1)
    assert head.logits.shape == (units, longest, len(TAGS))
    assert head.mask.shape == (units, longest) == batch.targets[0].shape
    assert head.mask.sum(dim=1).tolist() == [
        len(items_of([d], tokenizer)[0].rendered) for d in chosen for _ in d.predicates
    ]
    assert batch.weights.shape == (units,)


@pytest.mark.parametrize("mark", MARKS)
def test_a_batch_without_any_predicate(tiny_encoder: Path, tokenizer: Tokenizer, mark: PredicateMark) -> None:
    dialogues = [Dialogue("a", (Turn("A", "甲乙"),)), Dialogue("b", (Turn("A", "甲"),))]
    network = RoleLabeller(load_encoder(tiny_encoder), mark=mark).eval()
    batch = collate_roles(items_of(dialogues, tokenizer), tokenizer.pad_id)
    with torch.inference_mode():
        assert decode_roles(network(batch), batch) == [[], []]


def _logits(network: RoleLabeller, dialogues: Sequence[Dialogue], tokenizer: Tokenizer) -> list[Tensor]:
    """The logits of every predicate, cut to the real pieces."""
    with torch.inference_mode():
        (head,) = network(collate_roles(items_of(dialogues, tokenizer), tokenizer.pad_id))
    return [row[mask] for row, mask in zip(head.logits, head.mask, strict=True)]


@pytest.mark.parametrize("mark", MARKS)
def test_the_batch_does_not_change_predictions(
    tiny_encoder: Path, tokenizer: Tokenizer, dialogues: list[Dialogue], mark: PredicateMark
) -> None:
    torch.manual_seed(1)
    network = RoleLabeller(load_encoder(tiny_encoder), mark=mark).eval()
    together = _logits(network, dialogues, tokenizer)
    alone = [row for dialogue in dialogues for row in _logits(network, [dialogue], tokenizer)]
    assert len(together) == len(alone) > len(dialogues)
    for one, other in zip(together, alone, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=0)


@pytest.mark.parametrize("mark", MARKS)
def test_predicates_of_one_dialogue_do_not_look_at_each_other(
    tiny_encoder: Path, tokenizer: Tokenizer, dialogues: list[Dialogue], mark: PredicateMark
) -> None:
    """One pass for K predicates says what K passes with one predicate each say, and not K times the same."""
    torch.manual_seed(1)
    network = RoleLabeller(load_encoder(tiny_encoder), mark=mark).eval()
    for dialogue in [one for one in dialogues if len(one.predicates) > 1][:5]:
        together = _logits(network, [dialogue], tokenizer)
        single = [replace(dialogue, predicates=(predicate,)) for predicate in dialogue.predicates]
        for one, other in zip(together, _logits(network, single, tokenizer), strict=True):
            torch.testing.assert_close(one, other, atol=1e-5, rtol=0)
        assert (together[0] - together[1]).abs().max() > 1e-3


def _certain(batch: RoleBatch, *, trust: float = 30.0) -> Head:
    """The output of a labeller that is sure of its targets."""
    logits = trust * nn.functional.one_hot(batch.targets[0], len(TAGS)).float()
    return Head(logits, batch.mask[batch.dialogue].bool())


def test_labels_become_tags_and_tags_become_labels(tokenizer: Tokenizer) -> None:
    examples = [example for domain in Domain for example in csrl_examples(generate(150, seed=8, domain=domain))]
    items = role_items(
        [example.dialogue for example in examples],
        [example.roles for example in examples],
        tokenizer,
        speakers=True,
        max_length=512,
    )
    batch = collate_roles(items, tokenizer.pad_id)
    decoded = decode_roles([_certain(batch)], batch)
    assert sum(len(example.roles) for example in examples) > 300
    for example, units in zip(examples, decoded, strict=True):
        assert [unit.roles for unit in units] == list(example.roles)
        assert [unit.unit for unit in units] == [unit_id(example.dialogue.id, p) for p in example.dialogue.predicates]
        assert all(unit.confidence == pytest.approx(1.0, abs=1e-6) for unit in units)


def _one(turns: tuple[Turn, ...], roles: Roles, tokenizer: Tokenizer) -> RoleItem:
    example = CsrlExample(Dialogue("d", turns, (roles.predicate,)), (roles,))
    (item,) = role_items([example.dialogue], [example.roles], tokenizer, speakers=True, max_length=125)
    return item


def test_speaker_tokens_are_arguments_like_others(tokenizer: Tokenizer) -> None:
    roles = Roles(Predicate(0, 1), (Argument("ARG0", -1, -1, 0), Argument("ARG1", 1, -1, 0)))
    item = _one((Turn("A", "甲"), Turn("B", "乙")), roles, tokenizer)
    assert item.tags is not None
    # [CLS] 我(opening) 你 甲 我 乙 [SEP]
    assert item.tags[0].tolist() == [0, begin_tag("ARG0"), 0, 0, begin_tag("ARG1"), 0, 0]
    batch = collate_roles([item], tokenizer.pad_id)
    assert decode_roles([_certain(batch)], batch)[0][0].roles == roles


def test_an_argument_lies_in_one_turn(tokenizer: Tokenizer) -> None:
    """A predicted span that runs on into the next turn is cut at the end of its own."""
    item = _one((Turn("A", "甲乙"), Turn("B", "丙")), Roles(Predicate(0, 1), ()), tokenizer)
    batch = collate_roles([item], tokenizer.pad_id)
    # [CLS] 我 你 甲 乙 我 丙 [SEP]: from 乙 over u_t's speaker token to 丙, and a second one from [SEP] on
    begin = begin_tag("TMP")
    batch.targets[0][0] = torch.tensor([0, 0, 0, 0, begin, begin + 1, begin + 1, begin_tag("LOC")])
    head = _certain(batch, trust=2.0)
    decoded = decode_roles([head], batch)[0][0]
    assert decoded.roles.arguments == (Argument("TMP", 0, 1, 2),)
    assert decoded.confidence == pytest.approx(float(head.logits[0, 4].softmax(dim=0).max()))


def test_a_role_can_be_given_once_only(tokenizer: Tokenizer) -> None:
    """Of 甲 and 丙, both ARG0, the surer one is left, and the confidence is about what is left."""
    item = _one((Turn("A", "甲乙丙丁"),), Roles(Predicate(3, 4), ()), tokenizer)
    batch = collate_roles([item], tokenizer.pad_id)
    begin = begin_tag("ARG0")
    batch.targets[0][0] = torch.tensor([0, 0, 0, begin, 0, begin, 0, 0])  # [CLS] 我 我 甲 乙 丙 丁 [SEP]
    head = _certain(batch, trust=2.0)
    head.logits[0, 5] *= 2
    both, one = (decode_roles([head], batch, adjacent)[0][0] for adjacent in ("apart", "once"))
    assert both.roles.arguments == (Argument("ARG0", 0, 0, 1), Argument("ARG0", 0, 2, 3))
    assert one.roles.arguments == (Argument("ARG0", 0, 2, 3),)
    assert one.confidence == pytest.approx(float(head.logits[0, 5].softmax(dim=0).max()))
    assert one.confidence > both.confidence


def test_a_predicate_without_a_piece_is_answered_with_nothing(tiny_encoder: Path, tokenizer: Tokenizer) -> None:
    dialogue = Dialogue("d", (Turn("A", "甲 乙"),), (Predicate(1, 2), Predicate(2, 3)))
    batch = collate_roles(items_of([dialogue], tokenizer), tokenizer.pad_id)
    network = RoleLabeller(load_encoder(tiny_encoder), mark="after").eval()
    with torch.inference_mode():
        blank, real = decode_roles(network(batch), batch)[0]
    assert (blank.unit, blank.roles, blank.confidence) == ("d|1-2", Roles(Predicate(1, 2), ()), 0.0)
    assert real.unit == "d|2-3"
    assert 0 < real.confidence <= 1


def test_arguments_that_were_cut_off_are_left_out(tokenizer: Tokenizer) -> None:
    roles = Roles(Predicate(0, 1), (Argument("ARG0", 0, 0, 1), Argument("ARG1", 1, 1, 2)))
    dialogue = Dialogue("d", (Turn("A", "甲乙"), Turn("B", "丙丁")), (roles.predicate,))
    (item,) = role_items([dialogue], [[roles]], tokenizer, speakers=True, max_length=6)
    assert item.tags is not None
    # [CLS] 乙 我 丙 丁 [SEP]
    assert item.tags[0].tolist() == [0, 0, 0, 0, begin_tag("ARG1"), 0]


def test_of_an_unsure_span_no_tag_is_known(tokenizer: Tokenizer) -> None:
    """An argument inside it stays one: it is known."""
    dialogue = Dialogue("d", (Turn("A", "甲乙丙"), Turn("B", "丁甲")), (Predicate(0, 1),))
    sure, unsure = Argument("ARG0", 0, 1, 2), Argument("ARG1", 0, 0, 3)
    label = Roles(Predicate(0, 1), (sure,), (unsure,))
    [item] = role_items([dialogue], [[label]], tokenizer, speakers=True, max_length=125)
    assert item.tags is not None
    place = item.rendered.covering(0, 0, 3)
    assert place is not None
    tags = item.tags[0].tolist()
    assert tags[slice(*place)] == [UNKNOWN, begin_tag("ARG0"), UNKNOWN]
    assert UNKNOWN not in tags[: place[0]] + tags[place[1] :]
