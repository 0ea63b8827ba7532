"""The paper's assumption on the synthetic dialogues: the gold labels of both tasks translate to the same thing."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from friend_training.data.synthetic import (
    Domain,
    SyntheticDialogue,
    csrl_examples,
    generate,
    generate_sentences,
    rewriting_examples,
)
from friend_training.types import ROLES, SPEAKER, Argument


@pytest.fixture(scope="module", params=list(Domain))
def dialogues(request: pytest.FixtureRequest) -> list[SyntheticDialogue]:
    return generate(2500, seed=11, domain=request.param)


def _text(made: SyntheticDialogue, argument: Argument) -> str:
    turns = made.dialogue.turns
    if argument.start == SPEAKER:
        return "我" if turns[argument.turn].speaker == turns[-1].speaker else "你"
    return turns[argument.turn].text[argument.start : argument.end]


def _check_agreement(made: SyntheticDialogue) -> None:
    assert len(made.roles) == len(made.sentence_roles)
    for roles, sentence_roles in zip(made.roles, made.sentence_roles, strict=True):
        csrl = Counter((a.role, _text(made, a)) for a in roles.arguments)
        rewritten = Counter((a.role, made.rewrite.text[a.start : a.end]) for a in sentence_roles.arguments)
        assert csrl == rewritten, made


def _apply(made: SyntheticDialogue) -> tuple[str, dict[int, int]]:
    """Build u_t' from the edit script alone, and say where each kept character of u_t went."""
    turns = made.dialogue.turns
    insertions = {i.before: turns[i.turn].text[i.start : i.end] for i in made.rewrite.insertions}
    built, kept = "", {}
    for at, char in enumerate(turns[-1].text):
        built += insertions.get(at, "")
        if at not in made.rewrite.deleted:
            kept[at] = len(built)
            built += char
    return built + insertions.get(len(turns[-1].text), ""), kept


def _check_edit_script(made: SyntheticDialogue) -> None:
    built, kept = _apply(made)
    assert built == made.rewrite.text
    assert tuple(sorted(set(made.rewrite.deleted))) == made.rewrite.deleted
    places = [insertion.before for insertion in made.rewrite.insertions]
    assert sorted(set(places)) == places
    for insertion in made.rewrite.insertions:
        assert 0 <= insertion.start < insertion.end <= len(made.dialogue.turns[insertion.turn].text)
    for roles, sentence_roles in zip(made.roles, made.sentence_roles, strict=True):
        moved = [kept[at] for at in range(roles.predicate.start, roles.predicate.end)]
        assert moved == list(range(sentence_roles.predicate.start, sentence_roles.predicate.end))


def _check_spans(made: SyntheticDialogue) -> None:
    turns, last = made.dialogue.turns, len(made.dialogue.turns) - 1
    assert tuple(roles.predicate for roles in made.roles) == made.dialogue.predicates
    assert tuple(sorted(made.dialogue.predicates)) == made.dialogue.predicates
    for one, other in pairwise(made.dialogue.predicates):
        assert one.end <= other.start
    for roles in made.roles:
        assert roles.arguments == tuple(sorted(roles.arguments))
        spans = sorted((a.turn, a.start, a.end) for a in roles.arguments)
        spans_of_utterance = sorted([*spans, (last, roles.predicate.start, roles.predicate.end)])
        for (turn, _, end), (next_turn, start, _) in pairwise(spans_of_utterance):
            assert turn != next_turn or end <= start
        for argument in roles.arguments:
            assert argument.role in ROLES
            assert 0 <= argument.turn <= last
            speaker_token = (argument.start, argument.end) == (SPEAKER, 0)
            assert speaker_token or 0 <= argument.start < argument.end <= len(turns[argument.turn].text)
    for sentence_roles in made.sentence_roles:
        spans_in_rewrite = [(a.start, a.end) for a in sentence_roles.arguments]
        spans_in_rewrite.append((sentence_roles.predicate.start, sentence_roles.predicate.end))
        _check_apart(spans_in_rewrite, len(made.rewrite.text))


def _check_apart(spans: list[tuple[int, int]], length: int) -> None:
    spans.sort()
    assert all(0 <= start < end <= length for start, end in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))


def test_gold_labels_of_both_tasks_translate_to_the_same_thing(dialogues: list[SyntheticDialogue]) -> None:
    for made in dialogues:
        _check_agreement(made)


def test_the_edit_script_builds_the_rewrite_and_moves_each_predicate(dialogues: list[SyntheticDialogue]) -> None:
    for made in dialogues:
        _check_edit_script(made)


def test_spans_are_inside_their_turns_and_apart(dialogues: list[SyntheticDialogue]) -> None:
    for made in dialogues:
        _check_spans(made)


@settings(max_examples=60)
@given(seed=st.integers(min_value=0, max_value=2**40), domain=st.sampled_from(Domain))
def test_all_of_it_holds_for_any_seed(seed: int, domain: Domain) -> None:
    for made in generate(5, seed=seed, domain=domain):
        _check_agreement(made)
        _check_edit_script(made)
        _check_spans(made)


def test_antecedents_are_the_nearest_mention(dialogues: list[SyntheticDialogue]) -> None:
    for made in dialogues:
        turns, last = made.dialogue.turns, len(made.dialogue.turns) - 1
        for argument in (a for roles in made.roles for a in roles.arguments if a.turn != last and a.start >= 0):
            text = _text(made, argument)
            nearest = max(i for i in range(last) if text in turns[i].text)
            assert (argument.turn, argument.start) == (nearest, turns[nearest].text.rfind(text)), made


def test_a_dropped_speaker_is_the_nearest_token_of_that_speaker(dialogues: list[SyntheticDialogue]) -> None:
    tokens = [(made, a) for made in dialogues for roles in made.roles for a in roles.arguments if a.start == SPEAKER]
    assert tokens
    for made, argument in tokens:
        last = len(made.dialogue.turns) - 1
        assert argument.turn == (last if _text(made, argument) == "我" else last - 1)


def test_speakers_alternate_over_four_to_seven_turns(dialogues: list[SyntheticDialogue]) -> None:
    for made in dialogues:
        speakers = "".join(turn.speaker for turn in made.dialogue.turns)
        assert "ABABABA".startswith(speakers)
        assert 4 <= len(speakers) <= 7
        assert all(turn.text and not any(char.isspace() for char in turn.text) for turn in made.dialogue.turns)


def test_examples_carry_the_labels_over(dialogues: list[SyntheticDialogue]) -> None:
    few = dialogues[:20]
    assert [(e.dialogue, e.roles) for e in csrl_examples(few)] == [(made.dialogue, made.roles) for made in few]
    assert [(e.dialogue, e.rewrite) for e in rewriting_examples(few)] == [(m.dialogue, m.rewrite.text) for m in few]


def test_sentences_have_sound_labels() -> None:
    for example in generate_sentences(3000, seed=11):
        text = example.sentence.text
        assert tuple(roles.predicate for roles in example.roles) == example.sentence.predicates
        assert example.roles
        for roles in example.roles:
            assert {a.role for a in roles.arguments} <= set(ROLES)
            spans = [(a.start, a.end) for a in roles.arguments]
            _check_apart([*spans, (roles.predicate.start, roles.predicate.end)], len(text))
