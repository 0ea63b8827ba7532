"""Both translations into Σ, and the friendship as a whole on gold labels."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from friend_training.core.task import Prediction
from friend_training.data.synthetic import Domain, SyntheticDialogue, generate
from friend_training.friendships.csrl_rewriting import (
    RoleMatcher,
    RoleString,
    TranslateRewrite,
    csrl_rewriting,
    translate_roles,
)
from friend_training.testing import check_friendship
from friend_training.types import (
    OPENING,
    SPEAKER,
    Argument,
    Dialogue,
    Insertion,
    Predicate,
    Rewrite,
    Roles,
    Sentence,
    SentenceArgument,
    SentenceRoles,
    Turn,
)
from helpers.gold_bridge import GoldBridge, gold_rewrites, gold_roles

TURNS = (Turn("A", "甲乙"), Turn("B", "丙丁"), Turn("A", "看甲"))
DIALOGUE = Dialogue("d", TURNS, (Predicate(0, 1), Predicate(1, 2)))


def translate(*arguments: Argument, turns: tuple[Turn, ...] = TURNS) -> tuple[RoleString, ...]:
    label = Roles(Predicate(0, 1), arguments)
    dialogue = Dialogue("d", turns, (label.predicate,))
    ((strings,),) = translate_roles([dialogue], [[Prediction("u", label, 0.5)]])
    return strings


def test_arguments_are_read_off_the_dialogue_in_the_papers_order() -> None:
    strings = translate(
        Argument("TMP", 1, 0, 2), Argument("ARG1", 2, 1, 2), Argument("ARG1", 0, 1, 2), Argument("ARG0", 0, 0, 1)
    )
    assert strings == (
        RoleString("ARG0", "甲"),
        RoleString("ARG1", "乙"),
        RoleString("ARG1", "甲"),
        RoleString("TMP", "丙丁"),
    )


def speaker_of(turn: int, *, turns: tuple[Turn, ...] = TURNS) -> RoleString:
    (string,) = translate(Argument("ARG0", turn, SPEAKER, 0), turns=turns)
    assert string.implied
    return string


def test_speaker_tokens_become_pronouns() -> None:
    assert speaker_of(2).text == "我"
    assert speaker_of(1).text == "你"
    assert speaker_of(0).text == "我"


def test_the_opening_turn_belongs_to_whoever_does_not_speak_first() -> None:
    assert speaker_of(OPENING).text == "你"  # A speaks first and last: the opening turn is B's
    assert speaker_of(OPENING, turns=TURNS[:2]).text == "我"  # now u_t is B's, and so is the opening turn
    assert speaker_of(OPENING, turns=TURNS[:1]).text == "你"


def test_a_span_that_begins_with_a_speaker_token_keeps_its_words() -> None:
    assert translate(Argument("ARG0", 1, SPEAKER, 1)) == (RoleString("ARG0", "你丙"),)


class Recorder:
    """Answers every predicate with the character before it as ARG0, and remembers what it was asked."""

    name = "recorder"

    def __init__(self) -> None:
        self.asked: list[Sentence] = []

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]:
        self.asked.extend(sentences)
        return [
            tuple(SentenceRoles(p, (SentenceArgument("ARG0", p.start - 1, p.start),)) for p in sentence.predicates)
            for sentence in sentences
        ]


def test_the_bridge_is_asked_at_the_exact_place_of_each_predicate() -> None:
    bridge = Recorder()
    rewrite = Rewrite("丙看丁甲", (), (Insertion(0, 1, 0, 1), Insertion(1, 1, 1, 2)))
    (sigma,) = TranslateRewrite(bridge)([DIALOGUE], [[Prediction("d", rewrite, 1.0)]])
    assert bridge.asked == [Sentence("d", "丙看丁甲", (Predicate(1, 2), Predicate(3, 4)))]
    assert sigma == ((RoleString("ARG0", "丙"),), (RoleString("ARG0", "丁"),))


def test_a_deleted_predicate_has_nothing() -> None:
    """The others keep their answers, in their places."""
    bridge = Recorder()
    rewrite = Rewrite("丙甲", (0,), (Insertion(0, 1, 0, 1),))
    (sigma,) = TranslateRewrite(bridge)([DIALOGUE], [[Prediction("d", rewrite, 1.0)]])
    assert sigma == ((), (RoleString("ARG0", "丙"),))
    # With nothing left to ask, the bridge is not asked.
    bridge.asked.clear()
    (sigma,) = TranslateRewrite(bridge)([DIALOGUE], [[Prediction("d", Rewrite("", (0, 1)), 1.0)]])
    assert sigma == ((), ())
    assert bridge.asked == []


def test_answers_stay_with_their_inputs() -> None:
    """Inputs without predicates are not asked about and do not shift the answers of others."""
    silent = Dialogue("silent", TURNS)
    rewrites = [[Prediction("x", Rewrite("看甲"), 1.0)]] * 3
    moved = [[Prediction("x", Rewrite("乙看甲", (), (Insertion(0, 0, 1, 2),)), 1.0)]]
    sigmas = TranslateRewrite(Recorder())([silent, DIALOGUE, silent, DIALOGUE], [*rewrites, *moved])
    assert sigmas[0] == sigmas[2] == ()
    assert sigmas[3] == ((RoleString("ARG0", "乙"),), (RoleString("ARG0", "看"),))


def _matches_of_gold(made: Sequence[SyntheticDialogue], matcher: RoleMatcher) -> set[float | None]:
    friendship = csrl_rewriting(GoldBridge(made), matcher)
    matches = friendship.match([one.dialogue for one in made], gold_roles(made), gold_rewrites(made))
    assert [len(match.first) for match in matches] == [len(one.roles) for one in made]
    for one, match in zip(made, matches, strict=True):
        assert match.second == ((1.0 if one.roles else None),)
    return {score for match in matches for score in match.first}


@pytest.mark.parametrize("domain", list(Domain))
@pytest.mark.parametrize("scoring", ["paper", "role-aware"])
@pytest.mark.parametrize("speakers", ["keep", "drop"])
def test_gold_labels_of_synthetic_dialogues_agree_totally(domain: Domain, scoring: str, speakers: str) -> None:
    """The paper's assumption, through the very code that training runs: exactly 1, for a thousand dialogues."""
    made = generate(1000, seed=23, domain=domain)
    matcher = RoleMatcher(scoring=scoring, speakers=speakers)  # type: ignore[arg-type]
    assert _matches_of_gold(made, matcher) == {1.0}


@given(st.integers(0, 2**40), st.sampled_from(list(Domain)))
@settings(max_examples=40)
def test_gold_labels_agree_for_any_seed(seed: int, domain: Domain) -> None:
    assert _matches_of_gold(generate(8, seed=seed, domain=domain), RoleMatcher()) <= {1.0}


@pytest.mark.parametrize("scoring", ["paper", "role-aware"])
def test_conformance(scoring: str) -> None:
    """Gold agrees; where CSRL forgets its arguments it does not."""
    made = generate(30, seed=2, domain=Domain.FILM)
    first, agreeing = gold_roles(made), list(range(20))
    for place in range(20, 30):
        first[place] = [Prediction(unit.unit, Roles(unit.label.predicate, ()), 1.0) for unit in first[place]]
    friendship = csrl_rewriting(GoldBridge(made), RoleMatcher(scoring=scoring))  # type: ignore[arg-type]
    check_friendship(
        friendship,
        inputs=[one.dialogue for one in made],
        first=first,
        second=gold_rewrites(made),
        agreeing=agreeing,
    )
    with_less = friendship.match([one.dialogue for one in made], first, gold_rewrites(made))[20:]
    assert any(score == 0.0 for match in with_less for score in match.first)
