import gzip
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from friend_training.errors import DataError
from friend_training.tasks.rewriting import edits
from friend_training.tasks.rewriting.edits import SpanSource, apply_script, build_script, origin, place_of
from friend_training.types import Dialogue, Insertion, Rewrite, Turn
from helpers.cubic_edits import cubic_script

SOURCES: tuple[SpanSource, ...] = ("context", "dialogue")


def dialogue_of(*texts: str) -> Dialogue:
    return Dialogue("d", tuple(Turn("ab"[index % 2], text) for index, text in enumerate(texts)))


def small_texts(alphabet: str, longest: int) -> st.SearchStrategy[str]:
    return st.text(alphabet, max_size=longest)


@st.composite
def scripts(draw: st.DrawFn) -> tuple[Dialogue, Rewrite, SpanSource]:
    """A random dialogue with a random script for it; a small alphabet makes ambiguous cases the rule."""
    dialogue = dialogue_of(*draw(st.lists(small_texts("abc甲", 8), min_size=1, max_size=4)))
    source = draw(st.sampled_from(SOURCES))
    length = len(dialogue.utterance.text)
    deleted = draw(st.sets(st.integers(0, length - 1))) if length else set()
    allowed = len(dialogue.turns) - (source == "context")
    turns = [turn for turn in range(allowed) if dialogue.turns[turn].text]
    insertions = []
    for before in sorted(draw(st.sets(st.integers(0, length)))) if turns else []:
        turn = draw(st.sampled_from(turns))
        start = draw(st.integers(0, len(dialogue.turns[turn].text) - 1))
        end = draw(st.integers(start + 1, len(dialogue.turns[turn].text)))
        insertions.append(Insertion(before, turn, start, end))
    return dialogue, Rewrite("", tuple(sorted(deleted)), tuple(insertions)), source


def enumerate_scripts(dialogue: Dialogue, source: SpanSource) -> dict[str, tuple[int, int]]:
    """Everything that can be built, with the fewest (insertions, deletions): by trying every script."""
    utterance = dialogue.utterance.text
    turns = dialogue.context if source == "context" else dialogue.turns
    spans = {""} | {t.text[i:j] for t in turns for i in range(len(t.text)) for j in range(i + 1, len(t.text) + 1)}
    best: dict[str, tuple[int, int]] = {}
    for count in range(len(utterance) + 1):
        for deleted in combinations(range(len(utterance)), count):
            kept = ["" if index in deleted else character for index, character in enumerate(utterance)] + [""]
            for inserted in product(spans, repeat=len(utterance) + 1):
                text = "".join(span + character for span, character in zip(inserted, kept, strict=True))
                cost = (sum(map(bool, inserted)), count)
                best[text] = min(best.get(text, cost), cost)
    return best


@given(
    texts=st.lists(
        st.one_of(small_texts("ab", 12), small_texts("a", 12), small_texts("abc甲", 12)), min_size=2, max_size=5
    ),
    source=st.sampled_from(SOURCES),
)
@settings(max_examples=1500, deadline=None)
def test_scripts_are_those_of_the_slow_way(texts: list[str], source: SpanSource) -> None:
    *turns, rewrite = texts
    dialogue = dialogue_of(*turns)
    assert build_script(dialogue, rewrite, span_source=source) == cubic_script(dialogue, rewrite, span_source=source)


@given(scripts())
@settings(max_examples=1000, deadline=None)
def test_buildable_scripts_are_those_of_the_slow_way(case: tuple[Dialogue, Rewrite, SpanSource]) -> None:
    dialogue, script, source = case
    rewrite = apply_script(dialogue, script)
    assert build_script(dialogue, rewrite, span_source=source) == cubic_script(dialogue, rewrite, span_source=source)


def test_work_grows_with_the_square_of_the_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: how many stretches of one occurrence there are, on which all the work is done."""
    counted = []
    inserted = edits._Spans.inserted

    def counting(spans: edits._Spans, after: NDArray[np.int64]) -> NDArray[np.int64]:
        counted.append(len(spans._ends))
        return inserted(spans, after)

    monkeypatch.setattr(edits._Spans, "inserted", counting)
    for text in ("哈" * 400, "哈哈呵" * 130, "".join(chr(0x4E00 + n * 37 % 101) for n in range(400))):
        counted.clear()
        build_script(dialogue_of(text, text[:-7]), text[3:] + text[:5], span_source="dialogue")
        assert len(counted) == len(text) - 7 + 1
        assert max(counted) < 8 * len(text)  # all pairs of places are some 80,000


def test_texts_that_are_too_long_for_a_script_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="d: an edit script for 2,001 characters; at most 2,000 are read"):
        build_script(dialogue_of("a", "b"), "a" * 2001, span_source="context")
    monkeypatch.setenv("FRIEND_TRAINING_MAX_TEXT", "10")
    with pytest.raises(DataError, match="d: a dialogue of 12 characters"):
        build_script(dialogue_of("a" * 11, "b"), "a", span_source="context")
    assert build_script(dialogue_of("a" * 11, "b"), "b", span_source="context") == Rewrite("b")


@given(scripts())
@settings(max_examples=400)
def test_every_buildable_rewrite_is_rebuilt_exactly(case: tuple[Dialogue, Rewrite, SpanSource]) -> None:
    dialogue, script, source = case
    text = apply_script(dialogue, script)
    built = build_script(dialogue, text, span_source=source)
    assert built is not None
    assert built.text == text == apply_script(dialogue, built)
    assert len(built.insertions) <= len(script.insertions)
    assert list(built.deleted) == sorted(set(built.deleted))
    befores = [insertion.before for insertion in built.insertions]
    assert befores == sorted(set(befores))
    if source == "context":
        assert all(insertion.turn < len(dialogue.turns) - 1 for insertion in built.insertions)


@given(small_texts("ab", 2), small_texts("abc", 3), small_texts("abcd", 3), st.sampled_from(SOURCES))
@settings(max_examples=40)
def test_agrees_with_brute_force(first: str, second: str, utterance: str, source: SpanSource) -> None:
    dialogue = dialogue_of(first, second, utterance)
    best = enumerate_scripts(dialogue, source)
    for length in range(5):
        for characters in product("abcd", repeat=length):
            text = "".join(characters)
            built = build_script(dialogue, text, span_source=source)
            assert (built is not None) == (text in best)
            if built is not None:
                assert (len(built.insertions), len(built.deleted)) == best[text]


@given(scripts(), st.data())
@settings(max_examples=300)
def test_places_agree_with_origins(case: tuple[Dialogue, Rewrite, SpanSource], data: st.DataObject) -> None:
    """Characters that keep their place do so exactly; None if and only if they are not there side by side."""
    dialogue, script, _ = case
    utterance, current = dialogue.utterance.text, len(dialogue.turns) - 1
    # Insertions from u_t itself must not be mistaken for kept characters: know them by their place in the script.
    kept: dict[int, int] = {}
    position = 0
    for offset in range(len(utterance)):
        position += sum(i.end - i.start for i in script.insertions if i.before == offset)
        if offset not in script.deleted:
            kept[offset] = position
            position += 1
    places = origin(script, dialogue)
    assert all(places[position] == (current, offset) for offset, position in kept.items())
    if utterance:
        start = data.draw(st.integers(0, len(utterance) - 1))
        end = data.draw(st.integers(start + 1, len(utterance)))
        expected = [kept.get(offset) for offset in range(start, end)]
        together = None not in expected and expected == list(range(kept[start], kept[start] + end - start))
        assert place_of(script, utterance, start, end) == (
            (kept[start], kept[start] + end - start) if together else None
        )


def test_the_replacement_of_a_pronoun_stands_before_it() -> None:
    built = build_script(dialogue_of("王芳唱歌吗", "她喜欢"), "王芳喜欢", span_source="context")
    assert built == Rewrite("王芳喜欢", deleted=(0,), insertions=(Insertion(before=0, turn=0, start=0, end=2),))


def test_the_nearest_occurrence_is_taken() -> None:
    built = build_script(dialogue_of("茶，茶", "喝茶，茶好", "不喝"), "不喝茶", span_source="context")
    assert built is not None
    assert built.insertions == (Insertion(before=2, turn=1, start=3, end=4),)


def test_the_utterance_is_a_source_only_where_the_context_lacks_the_span() -> None:
    dialogue = dialogue_of("好茶", "茶贵")
    assert build_script(dialogue, "茶贵茶", span_source="dialogue") == Rewrite("茶贵茶", (), (Insertion(2, 0, 1, 2),))
    assert build_script(dialogue, "茶贵贵", span_source="context") is None
    assert build_script(dialogue, "茶贵贵", span_source="dialogue") == Rewrite("茶贵贵", (), (Insertion(1, 1, 1, 2),))


def test_few_insertions_come_before_few_deletions() -> None:
    # Keeping b takes two insertions; inserting the whole takes one, and b is deleted.
    built = build_script(dialogue_of("xby", "b"), "xby", span_source="context")
    assert built == Rewrite("xby", deleted=(0,), insertions=(Insertion(0, 0, 0, 3),))


def test_a_span_never_reaches_over_two_turns() -> None:
    dialogue = dialogue_of("ab", "cd", "x")
    built = build_script(dialogue, "abcdx", span_source="context")
    assert built is None
    assert build_script(dialogue, "ab\0cdx", span_source="context") is None
    assert build_script(dialogue, "abxcd", span_source="context") is not None


def test_unchanged_and_empty_rewrites() -> None:
    assert build_script(dialogue_of("a", "bc"), "bc", span_source="context") == Rewrite("bc")
    assert build_script(dialogue_of("a", "bc"), "", span_source="context") == Rewrite("", deleted=(0, 1))
    assert build_script(dialogue_of("bc"), "cb", span_source="context") is None


def test_a_place_outside_the_utterance_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\[1, 4\)"):
        place_of(Rewrite("abc"), "abc", 1, 4)


def buildable(cases: list[tuple[Dialogue, str]], source: SpanSource) -> float:
    built = [build_script(dialogue, rewrite, span_source=source) for dialogue, rewrite in cases]
    for script, (dialogue, rewrite) in zip(built, cases, strict=True):
        assert script is None or apply_script(dialogue, script) == rewrite
    return 100 * sum(script is not None for script in built) / len(built)


@pytest.mark.realdata
def test_share_of_rewrite_that_can_be_built(data_dir: Path) -> None:
    with gzip.open(data_dir / "dr_rewrite" / "corpus.txt.gz", "rt", encoding="utf-8") as lines:
        fields = [line.rstrip("\n").split("\t\t") for line in lines]
    cases = [(dialogue_of(*texts), rewrite) for *texts, rewrite in fields]
    assert buildable(cases, "context") == pytest.approx(90.6, abs=0.5)
    assert buildable(cases, "dialogue") == pytest.approx(94.5, abs=0.5)


@pytest.mark.realdata
def test_share_of_restoration_that_can_be_built(data_dir: Path) -> None:
    with gzip.open(data_dir / "dr_restoration200k" / "valid.txt.gz", "rt", encoding="utf-8") as lines:
        fields = [line.rstrip("\n").split("\t") for line in lines]
    cases = [(dialogue_of(*row[:5]), row[7] if row[6] == "1" else row[4]) for row in fields]
    assert buildable(cases, "context") == pytest.approx(93.9, abs=0.5)
