"""A dialogue as one sequence: what is cut, what never is, and the way back to characters."""

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from friend_training.nn.tokenizer import Tokenizer
from friend_training.tasks.dialogue_input import NO_TURN, Rendered, render, render_all
from friend_training.types import OPENING, SPEAKER, Dialogue, Turn

TEXTS = st.text("我你甲乙丙丁ab7 ，", min_size=1, max_size=8)


def dialogue_of(*texts: str, speakers: str = "AB") -> Dialogue:
    turns = tuple(Turn(speakers[number % len(speakers)], text) for number, text in enumerate(texts))
    return Dialogue("d", turns)


def words(rendered: Rendered, tokenizer: Tokenizer) -> list[str]:
    pieces: list[str] = tokenizer.backend.convert_ids_to_tokens(rendered.ids.tolist())
    return pieces


def test_layout_with_speakers(tokenizer: Tokenizer) -> None:
    """The first turn is A's, so the opening turn is B's; u_t is A's, so A is 我 and B is 你."""
    rendered = render(dialogue_of("甲乙", "丙", "丁甲"), tokenizer, speakers=True, max_length=125)
    assert words(rendered, tokenizer) == ["[CLS]", "你", "我", "甲", "乙", "你", "丙", "我", "丁", "甲", "[SEP]"]
    assert rendered.turn.tolist() == [NO_TURN, OPENING, 0, 0, 0, 1, 1, 2, 2, 2, NO_TURN]
    assert rendered.start.tolist() == [0, SPEAKER, SPEAKER, 0, 1, SPEAKER, 0, SPEAKER, 0, 1, 0]
    assert rendered.end.tolist() == [0, 0, 0, 1, 2, 0, 1, 0, 1, 2, 0]
    assert rendered.types.tolist() == [0] * 7 + [1] * 4


def test_the_opening_turn_belongs_to_whoever_does_not_speak_first(tokenizer: Tokenizer) -> None:
    by_the_other = render(dialogue_of("甲", "乙", speakers="AB"), tokenizer, speakers=True, max_length=125)
    assert words(by_the_other, tokenizer)[1:3] == ["我", "你"]  # u_t is B's, and so is the opening turn
    alone = render(dialogue_of("甲"), tokenizer, speakers=True, max_length=125)
    assert words(alone, tokenizer) == ["[CLS]", "你", "我", "甲", "[SEP]"]
    assert alone.covering(OPENING, SPEAKER, 0) == (1, 2)
    assert alone.covering(0, SPEAKER, 0) == (2, 3)
    assert alone.covering(0, 0, 1) == (3, 4)


def test_layout_without_speakers(tokenizer: Tokenizer) -> None:
    rendered = render(dialogue_of("甲乙", "丙", "丁甲"), tokenizer, speakers=False, max_length=125)
    assert words(rendered, tokenizer) == ["[CLS]", "甲", "乙", "[SEP]", "丙", "[SEP]", "丁", "甲", "[SEP]"]
    assert rendered.turn.tolist() == [NO_TURN, 0, 0, NO_TURN, 1, NO_TURN, 2, 2, NO_TURN]
    assert rendered.types.tolist() == [0] * 6 + [1] * 3


def test_only_the_last_turns_of_the_context_are_shown(tokenizer: Tokenizer) -> None:
    """Turns keep their numbers: what is inserted from the second is still the second's."""
    whole = dialogue_of("甲乙", "丙", "丁甲", "乙")
    rendered = render(whole, tokenizer, speakers=False, max_length=125, context_turns=2)
    assert words(rendered, tokenizer) == ["[CLS]", "丙", "[SEP]", "丁", "甲", "[SEP]", "乙", "[SEP]"]
    assert rendered.turn.tolist() == [NO_TURN, 1, NO_TURN, 2, 2, NO_TURN, 3, NO_TURN]
    for enough in (3, 9):
        shown = render(whole, tokenizer, speakers=False, max_length=125, context_turns=enough)
        everything = render(whole, tokenizer, speakers=False, max_length=125)
        assert shown.ids.tolist() == everything.ids.tolist()


@given(
    texts=st.lists(TEXTS, min_size=1, max_size=5),
    speakers=st.booleans(),
    max_length=st.integers(4, 40),
)
def test_the_oldest_context_is_dropped_and_never_the_utterance(
    tokenizer: Tokenizer, texts: list[str], speakers: bool, max_length: int
) -> None:
    dialogue = dialogue_of(*texts)
    whole = render(dialogue, tokenizer, speakers=speakers, max_length=10_000)
    cut = render(dialogue, tokenizer, speakers=speakers, max_length=max_length)
    current = len(texts) - 1
    utterance = int((whole.turn == current).sum())
    assert len(cut) == min(len(whole), max(max_length, utterance + 2))
    dropped = len(whole) - len(cut)
    for name in ("ids", "types", "turn", "start", "end"):
        full = getattr(whole, name).tolist()
        assert getattr(cut, name).tolist() == [full[0], *full[1 + dropped :]]


@given(texts=st.lists(TEXTS, min_size=1, max_size=4), speakers=st.booleans(), data=st.data())
def test_offsets_lead_back_to_the_same_characters(
    tokenizer: Tokenizer, texts: list[str], speakers: bool, data: st.DataObject
) -> None:
    dialogue = dialogue_of(*texts)
    rendered = render(dialogue, tokenizer, speakers=speakers, max_length=125)
    for piece, turn, start, end in zip(
        words(rendered, tokenizer), rendered.turn, rendered.start, rendered.end, strict=True
    ):
        if turn not in (NO_TURN, OPENING) and start != SPEAKER:
            assert dialogue.turns[turn].text[start:end] == piece.removeprefix("##")
    # Turns stand in one block each, in their order.
    blocks = [turn for turn, _ in groupby(rendered.turn.tolist()) if turn not in (NO_TURN, OPENING)]
    assert blocks == sorted(set(blocks))
    # Any span of characters is covered by pieces that spell it out, blanks apart.
    turn = data.draw(st.integers(0, len(texts) - 1))
    start = data.draw(st.integers(0, len(texts[turn]) - 1))
    end = data.draw(st.integers(start + 1, len(texts[turn])))
    place = rendered.covering(turn, start, end)
    spelled = "" if place is None else "".join(words(rendered, tokenizer)[slice(*place)]).replace("##", "")
    assert texts[turn][start:end].replace(" ", "") == spelled


def test_what_was_cut_off_is_covered_by_nothing(tokenizer: Tokenizer) -> None:
    rendered = render(dialogue_of("甲乙", "丙", "丁甲"), tokenizer, speakers=False, max_length=6)
    assert words(rendered, tokenizer) == ["[CLS]", "丙", "[SEP]", "丁", "甲", "[SEP]"]
    assert rendered.covering(0, 0, 2) is None
    assert rendered.covering(1, 0, 1) == (1, 2)


@pytest.mark.parametrize("speakers", [False, True])
def test_an_empty_utterance_can_be_laid_out(tokenizer: Tokenizer, speakers: bool) -> None:
    rendered = render_all([dialogue_of("甲", "")], tokenizer, speakers=speakers, max_length=125)[0]
    assert words(rendered, tokenizer)[-1] == "[SEP]"
    assert rendered.covering(1, 0, 1) is None
