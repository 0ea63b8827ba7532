"""The rewriter: edit scripts as decisions about pieces and back, decoding against a reference, the network's masks."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from test_edits import scripts
from torch import Tensor
from torch.nn.functional import one_hot

from friend_training.data.synthetic import Domain, generate
from friend_training.nn.encoder import load_encoder
from friend_training.nn.heads import MASKED, UNKNOWN, Head, unit_losses
from friend_training.nn.tokenizer import Tokenizer
from friend_training.tasks.dialogue_input import NO_TURN, Rendered, render
from friend_training.tasks.rewriting.edits import SpanSource, apply_script, build_script
from friend_training.tasks.rewriting.model import (
    NO_END,
    NO_START,
    BiaffineRewriter,
    RewriteBatch,
    RewriteItem,
    Rewriter,
    SpanChoice,
    collate_rewrites,
    decode_rewrites,
    log_likelihood_of_rewrites,
    ranked_rewrites,
    rewrite_item,
)
from friend_training.types import Dialogue, Insertion, Rewrite, Turn

Network = Rewriter | BiaffineRewriter


def dialogue_of(*texts: str) -> Dialogue:
    return Dialogue("d", tuple(Turn("AB"[number % 2], text) for number, text in enumerate(texts)))


def item_of(
    dialogue: Dialogue, tokenizer: Tokenizer, script: Rewrite | None = None, *, max_length: int = 512
) -> RewriteItem | None:
    return rewrite_item(dialogue, render(dialogue, tokenizer, speakers=False, max_length=max_length), script)


def batch_of(
    items: Sequence[RewriteItem | None], tokenizer: Tokenizer, source: SpanSource = "dialogue"
) -> RewriteBatch:
    known = [item for item in items if item is not None]
    assert len(known) == len(items)
    return collate_rewrites(known, tokenizer.pad_id, span_source=source)


def certain_heads(batch: RewriteBatch) -> list[Head]:
    """The output of a rewriter that is sure of its targets."""
    sizes = (2, batch.ids.size(1), batch.ids.size(1))
    masks = (batch.is_token, batch.is_slot, batch.is_slot)
    return [
        Head(100.0 * one_hot(target, size).float(), mask)
        for target, size, mask in zip(batch.targets, sizes, masks, strict=True)
    ]


def test_synthetic_rewrites_there_and_back(tokenizer: Tokenizer) -> None:
    made = [one for domain in Domain for one in generate(300, seed=4, domain=domain)]
    built = [build_script(one.dialogue, one.rewrite.text, span_source="dialogue") for one in made]
    batch = batch_of([item_of(one.dialogue, tokenizer, s) for one, s in zip(made, built, strict=True)], tokenizer)
    decoded = decode_rewrites(certain_heads(batch), batch)
    assert [rewrite for rewrite, _ in decoded] == built
    assert all(confidence == pytest.approx(1.0) for _, confidence in decoded)
    assert sum(bool(rewrite.insertions) for rewrite, _ in decoded) > 200


@given(st.lists(scripts(), min_size=1, max_size=4))
@settings(max_examples=100)
def test_any_script_there_and_back(tokenizer: Tokenizer, cases: list[tuple[Dialogue, Rewrite, SpanSource]]) -> None:
    wanted = [replace(script, text=apply_script(dialogue, script)) for dialogue, script, _ in cases]
    batch = batch_of(
        [item_of(case[0], tokenizer, script) for case, script in zip(cases, wanted, strict=True)], tokenizer
    )
    assert [rewrite for rewrite, _ in decode_rewrites(certain_heads(batch), batch)] == wanted


def test_decisions_by_hand(tokenizer: Tokenizer) -> None:
    """[CLS] 甲 乙 [SEP] 她 丙 [SEP]: 她 is replaced by 甲乙, and 乙 is put at the end."""
    script = Rewrite("甲乙丙乙", (0,), (Insertion(0, 0, 0, 2), Insertion(2, 0, 1, 2)))
    item = item_of(dialogue_of("甲乙", "她丙"), tokenizer, script)
    assert item is not None
    assert item.decisions is not None
    assert (item.first, item.last) == (4, 6)
    assert item.decisions.keep.tolist() == [0, 1]
    assert item.decisions.start.tolist() == [1, NO_START, 2]
    assert item.decisions.end.tolist() == [2, NO_END, 2]


@pytest.mark.parametrize(
    ("texts", "script", "max_length"),
    [
        (("ωω甲", "甲ωω乙"), Rewrite("甲ω乙", (1,)), 512),  # half of a piece deleted
        (("ωω甲", "甲ωω乙"), Rewrite("甲ω甲ω乙", (), (Insertion(2, 0, 2, 3),)), 512),  # inserted into a piece
        (("ωω甲", "甲乙"), Rewrite("ω甲乙", (), (Insertion(0, 0, 1, 2),)), 512),  # half of a piece inserted
        (("甲乙", "丙", "丁"), Rewrite("甲丁", (), (Insertion(0, 0, 0, 1),)), 5),  # the source was cut off
        (("甲", "乙 丙"), Rewrite("乙丙", (1,)), 512),  # a blank has no piece that could be deleted
        (
            ("甲", "乙 丙"),
            Rewrite("乙甲 甲丙", (), (Insertion(1, 0, 0, 1), Insertion(2, 0, 0, 1))),
            512,
        ),  # one slot, two
    ],
)
def test_what_pieces_cannot_say_is_left_out(
    tokenizer: Tokenizer, texts: tuple[str, ...], script: Rewrite, max_length: int
) -> None:
    dialogue = dialogue_of(*texts)
    assert apply_script(dialogue, script) == script.text
    assert item_of(dialogue, tokenizer, script, max_length=max_length) is None
    assert item_of(dialogue, tokenizer, None, max_length=max_length) is not None


def test_blanks_stay_where_they_are(tokenizer: Tokenizer) -> None:
    """What is inserted before a blank comes behind it: no piece stands for the blank."""
    script = Rewrite("乙甲 丙", (), (Insertion(1, 0, 0, 1),))
    batch = batch_of([item_of(dialogue_of("甲", "乙 丙"), tokenizer, script)], tokenizer)
    assert decode_rewrites(certain_heads(batch), batch)[0][0] == Rewrite("乙 甲丙", (), (Insertion(2, 0, 0, 1),))


def test_a_character_of_two_pieces_is_edited_once() -> None:
    """[CLS] 甲 [SEP] x x 乙 [SEP], where both x are character 0 of u_t."""
    dialogue = dialogue_of("甲", "한乙")
    turn = np.array([NO_TURN, 0, NO_TURN, 1, 1, 1, NO_TURN])
    start, end = np.array([0, 0, 0, 0, 0, 1, 0]), np.array([0, 1, 0, 1, 1, 2, 0])
    item = rewrite_item(dialogue, Rendered(np.arange(7), np.zeros(7, dtype=np.int64), turn, start, end), None)
    assert item is not None
    batch = collate_rewrites([item], 0, span_source="dialogue")
    heads = [
        Head(one_hot(torch.tensor([[0, 0, 1, 0]]), 2).float(), batch.is_token),
        Head(one_hot(torch.tensor([[1, 1, NO_START, NO_START]]), 7).float(), batch.is_slot),
        Head(one_hot(torch.tensor([[1, 1, NO_END, NO_END]]), 7).float(), batch.is_slot),
    ]
    assert decode_rewrites(heads, batch)[0][0] == Rewrite("甲乙", (0,), (Insertion(0, 0, 0, 1),))


def is_span(layout: Rendered, first: int, last: int) -> bool:
    turns = {int(turn) for turn in layout.turn[[first, last]]}
    return first <= last and len(turns) == 1 and NO_TURN not in turns


def reference(item: RewriteItem, tables: Sequence[Tensor], spans: SpanChoice) -> tuple[str, float]:
    """Try every (keep, start, end) at every slot, take the most probable, and write the text down as it comes.

    Together: of those that are a span of one turn, or say that there is none.
    """
    keep, start, end = (table.double().softmax(dim=-1).tolist() for table in tables)
    layout, dialogue = item.rendered, item.dialogue
    text, confidence = "", 1.0
    for slot in range(item.last - item.first + 1):
        at_end = slot == item.last - item.first
        every = product(range(1 if at_end else 2), range(len(layout)), range(len(layout)))
        options = [
            (k, s, e) for k, s, e in every if spans == "apart" or (s, e) == (NO_START, NO_END) or is_span(layout, s, e)
        ]
        probability, (kept, first, last) = max(
            ((1.0 if at_end else keep[slot][k]) * start[slot][s] * end[slot][e], (k, s, e)) for k, s, e in options
        )
        confidence *= probability
        if is_span(layout, first, last):
            text += dialogue.turns[int(layout.turn[first])].text[layout.start[first] : layout.end[last]]
        if not at_end and kept:
            piece = item.first + slot
            text += dialogue.turns[-1].text[layout.start[piece] : layout.end[piece]]
    return text, confidence


@given(
    texts=st.lists(st.text("甲乙丙ab", min_size=1, max_size=4), min_size=1, max_size=3),
    seed=st.integers(0, 2**32 - 1),
    spans=st.sampled_from(["apart", "together"]),
)
@settings(max_examples=120)
def test_decoding_equals_the_reference_and_the_confidence_is_the_product(
    tokenizer: Tokenizer, texts: list[str], seed: int, spans: SpanChoice
) -> None:
    items = [item_of(dialogue_of(*texts), tokenizer), item_of(dialogue_of("甲", "乙丙丁甲乙"), tokenizer)]
    batch = batch_of(items, tokenizer)
    generator = torch.Generator().manual_seed(seed)
    shape, allowed = (*batch.slots.shape, batch.ids.size(1)), batch.source.clone()
    allowed[:, :2] = True
    heads = [
        Head(2 * torch.randn(*batch.slots.shape, 2, generator=generator), batch.is_token),
        *(
            Head((2 * torch.randn(shape, generator=generator)).masked_fill(~allowed[:, None], MASKED), batch.is_slot)
            for _ in range(2)
        ),
    ]
    decoded = decode_rewrites(heads, batch, spans)
    for row, (item, (rewrite, confidence)) in enumerate(zip(batch.items, decoded, strict=True)):
        length = item.length
        text, product_of_all = reference(
            item, [heads[0].logits[row], *(head.logits[row, :, :length] for head in heads[1:])], spans
        )
        assert rewrite.text == text == apply_script(item.dialogue, rewrite)
        assert confidence == pytest.approx(product_of_all, rel=1e-4)


def test_the_confidence_by_hand(tokenizer: Tokenizer) -> None:
    """[CLS] 甲 [SEP] 乙 [SEP]: one piece and the end; b_t has a factor for each decision, 'no insertion' too."""
    batch = batch_of([item_of(dialogue_of("甲", "乙"), tokenizer)], tokenizer)
    keep = torch.tensor([[0.1, 0.9], [0.5, 0.5]])  # the end is neither kept nor deleted
    start = torch.tensor([[0.0, 0.8, 0.0, 0.2, 0.0], [0.0, 0.7, 0.0, 0.3, 0.0]])
    end = torch.tensor([[0.4, 0.6, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0]])
    masks = (batch.is_token, batch.is_slot, batch.is_slot)
    heads = [
        Head(table.log().clamp(min=MASKED)[None], mask) for table, mask in zip((keep, start, end), masks, strict=True)
    ]
    ((rewrite, confidence),) = decode_rewrites(heads, batch)
    assert rewrite == Rewrite("甲乙", (), (Insertion(0, 0, 0, 1),))
    assert confidence == pytest.approx(0.9 * (0.8 * 0.6) * (0.7 * 1.0))


@pytest.mark.parametrize(("first", "last"), [(1, 4), (2, 6), (3, 4), (4, 5), (0, 2), (2, 1)])
def test_no_insertion_across_turns_or_out_of_none(tokenizer: Tokenizer, first: int, last: int) -> None:
    """[CLS] 甲 乙 [SEP] 丙 [SEP] 丁 [SEP]"""
    batch = batch_of([item_of(dialogue_of("甲乙", "丙", "丁"), tokenizer)], tokenizer)
    heads = [
        Head(torch.tensor([[[0.0, 1.0], [0.0, 1.0]]]), batch.is_token),
        Head(one_hot(torch.tensor([[first, NO_START]]), 8).float(), batch.is_slot),
        Head(one_hot(torch.tensor([[last, NO_END]]), 8).float(), batch.is_slot),
    ]
    assert decode_rewrites(heads, batch)[0][0] == Rewrite("丁")


@pytest.fixture(scope="module", params=[Rewriter, BiaffineRewriter])
def network(tiny_encoder: Path, request: pytest.FixtureRequest) -> Network:
    torch.manual_seed(2)
    made: Network = request.param(load_encoder(tiny_encoder)).eval()
    return made


@pytest.mark.parametrize("source", ["context", "dialogue"])
def test_only_allowed_pieces_can_be_chosen(network: Network, tokenizer: Tokenizer, source: SpanSource) -> None:
    dialogues = [one.dialogue for one in generate(12, seed=6, domain=Domain.TRAVEL)]
    batch = batch_of([item_of(dialogue, tokenizer) for dialogue in dialogues], tokenizer, source)
    with torch.inference_mode():
        _, *pointers = network(batch)
    for head, nothing in zip(pointers, (NO_START, NO_END), strict=True):
        possible = (head.logits.softmax(dim=-1) > 0).any(dim=1)
        for row, item in enumerate(batch.items):
            current = len(item.dialogue.turns) - 1
            turns = item.rendered.turn.tolist()
            expected = {
                piece
                for piece, turn in enumerate(turns)
                if piece == nothing or (turn != NO_TURN and (source == "dialogue" or turn != current))
            }
            assert set(possible[row].nonzero().squeeze(1).tolist()) == expected


def test_the_batch_does_not_change_predictions(network: Network, tokenizer: Tokenizer) -> None:
    dialogues = [one.dialogue for one in generate(30, seed=6, domain=Domain.FILM)]
    items = [item_of(dialogue, tokenizer) for dialogue in dialogues]
    with torch.inference_mode():
        together = network(batch_of(items, tokenizer))
        for row, item in enumerate(items):
            for head, other in zip(network(batch_of([item], tokenizer)), together, strict=True):
                _, slots, classes = head.logits.shape
                torch.testing.assert_close(head.logits[0], other.logits[row, :slots, :classes], atol=1e-5, rtol=0)
                assert not other.mask[row, slots:].any()


def test_an_empty_utterance_can_only_grow(network: Network, tokenizer: Tokenizer) -> None:
    script = Rewrite("甲", (), (Insertion(0, 0, 0, 1),))
    batch = batch_of([item_of(dialogue_of("甲乙", ""), tokenizer, script)], tokenizer)
    assert decode_rewrites(certain_heads(batch), batch)[0][0] == script
    with torch.inference_mode():
        ((_, confidence),) = decode_rewrites(network(batch), batch)
    assert 0 < confidence <= 1
    assert math.isfinite(confidence)


def uncertain_heads(batch: RewriteBatch, seed: int) -> list[Head]:
    """Any output; spans may come from what is a source, or be none."""
    generator = torch.Generator().manual_seed(seed)
    slots, tokens = batch.slots.size(1), batch.ids.size(1)
    heads = [Head(torch.randn(len(batch.items), slots, 2, generator=generator), batch.is_token)]
    for nothing in (NO_START, NO_END):
        scores = 2 * torch.randn(len(batch.items), slots, tokens, generator=generator)
        allowed = batch.source.clone()
        allowed[:, nothing] = True
        heads.append(Head(scores.masked_fill(~allowed.unsqueeze(1), MASKED), batch.is_slot))
    return heads


@pytest.mark.parametrize("seed", range(5))
def test_the_likeliest_rewrites_are_those_of_all_rewrites(tokenizer: Tokenizer, seed: int) -> None:
    dialogues = [dialogue_of("甲乙", "她丙"), dialogue_of("丁", "戊")]
    batch = batch_of([item_of(one, tokenizer) for one in dialogues], tokenizer)
    heads = uncertain_heads(batch, seed)
    ranked = ranked_rewrites(heads, batch, 16)
    for row, dialogue in enumerate(dialogues):
        length = len(dialogue.utterance.text)
        sources = [
            (turn, start, end)
            for turn, said in enumerate(dialogue.turns)
            for start in range(len(said.text))
            for end in range(start + 1, len(said.text) + 1)
        ]
        scripts = []
        for deleted in product((False, True), repeat=length):
            for spans in product((None, *sources), repeat=length + 1):
                insertions = tuple(Insertion(at, *span) for at, span in enumerate(spans) if span is not None)
                script = Rewrite("", tuple(at for at, gone in enumerate(deleted) if gone), insertions)
                scripts.append(replace(script, text=apply_script(dialogue, script)))
        every: list[list[Rewrite]] = [[], []]
        every[row] = scripts
        logs = log_likelihood_of_rewrites(heads, batch, every)[row]
        wanted = sorted(zip(logs, scripts, strict=True), key=lambda found: -found[0])[:16]
        assert [script for script, _ in ranked[row]] == [script for _, script in wanted]
        assert [math.log(p) for _, p in ranked[row]] == pytest.approx([log for log, _ in wanted], abs=1e-4)


def test_open_places_have_no_gradient(tokenizer: Tokenizer) -> None:
    """她 and what is put before it are known; 丙, what is put before it and the end are not."""
    script = Rewrite("甲乙丙", (0,), (Insertion(0, 0, 0, 2),), unsure=(1, 2))
    batch = batch_of([item_of(dialogue_of("甲乙", "她丙"), tokenizer, script)], tokenizer)
    assert [target[0].tolist() for target in batch.targets] == [
        [0, UNKNOWN, 0],
        [1, UNKNOWN, UNKNOWN],
        [2, UNKNOWN, UNKNOWN],
    ]
    heads = uncertain_heads(batch, 1)
    for head in heads:
        head.logits.requires_grad_()
    unit_losses(heads, batch.targets).sum().backward()
    for head in heads:
        assert head.logits.grad is not None
        assert head.logits.grad[0, 0].any()
        assert not head.logits.grad[0, 1:].any()
