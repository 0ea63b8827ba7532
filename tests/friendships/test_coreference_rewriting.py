"""Rewriting and coreference as friends: what each says, when it abstains, and what it proposes."""

from dataclasses import replace

import pytest

from friend_training.core.friendship import Match
from friend_training.core.task import Prediction
from friend_training.friendships.coreference_rewriting import coreference_rewriting, rewrite_of_links
from friend_training.tasks.coreference.task import unit_of
from friend_training.tasks.rewriting.words import (
    FUNCTION_WORDS,
    build_word_script,
    from_extended,
    with_function_words,
)
from friend_training.testing import check_friendship
from friend_training.types import Dialogue, Link, Mention, Rewrite, Turn

GIVEN = Dialogue("d/turn3", (Turn("user", "Ring Ann Lee or Bob"), Turn("user", "is her number new , Ann ?")))
HER, NUMBER = Mention(1, 3, 6), Mention(1, 7, 13)
ANN, BOB = Mention(0, 5, 8), Mention(0, 16, 19)


def rewrite(text: str, given: Dialogue = GIVEN) -> list[Prediction]:
    script = build_word_script(with_function_words(given, FUNCTION_WORDS), text)
    assert script is not None
    return [Prediction(given.id, from_extended(script, given), 0.8, content=bool(script.insertions))]


def links(*found: Link) -> list[Prediction]:
    return [Prediction(unit_of(GIVEN, link.mention), link, 0.7, link.antecedent is not None) for link in found]


def match(first: list[Prediction], second: list[Prediction], *, merged: bool = False) -> Match:
    [found] = coreference_rewriting(merged=merged).match([GIVEN], [first], [second])
    return found


FULL = "is Ann Lee 's number new , Ann ?"


@pytest.mark.parametrize(("antecedent", "score"), [(ANN, 1.0), (Mention(0, 5, 12), 1.0), (BOB, 0.0), (None, 0.0)])
def test_an_edit_over_a_pronoun_is_a_link(antecedent: Mention | None, score: float) -> None:
    found = match(rewrite(FULL), links(Link(HER, antecedent), Link(NUMBER, None)))
    assert found == Match((score,), (score, None))


def test_a_pronoun_that_is_left_is_a_disagreement_unless_both_leave_it() -> None:
    left = rewrite(GIVEN.utterance.text)
    assert match(left, links(Link(HER, ANN))) == Match((0.0,), (0.0,))
    assert match(left, links(Link(HER, None))) == Match((1.0,), (1.0,))
    assert match(left, links(Link(HER, ANN)), merged=True) == Match((0.7,), (0.7,))


def test_a_friend_with_nothing_to_say_abstains() -> None:
    left = rewrite(GIVEN.utterance.text)
    assert match(left, links(Link(NUMBER, BOB))) == Match((None,), (None,))
    assert match(left, []) == Match((None,), ())


def test_links_propose_a_rewrite_and_a_rewrite_proposes_links() -> None:
    friends = coreference_rewriting(merged=True)
    own, said = rewrite(GIVEN.utterance.text), links(Link(HER, Mention(0, 5, 12)), Link(NUMBER, None))
    assert friends.propose_first is not None
    assert friends.propose_second is not None
    assert friends.merge_first is not None
    [[proposed]] = friends.propose_first([GIVEN], [own], [said])
    assert proposed is not None
    assert (proposed.label.text, proposed.confidence) == ("is Ann Lee's number new , Ann ?", 0.7)
    [[to_her, to_number]] = friends.propose_second([GIVEN], [said], [rewrite(FULL)])
    assert to_number is None
    assert to_her is not None
    assert to_her.label == Link(HER, Mention(0, 5, 12))
    [[merged]] = friends.merge_first([GIVEN], [own], [said])
    assert (merged.label, merged.confidence, merged.kind) == (proposed.label, 0.8, "changed")
    [[kept]] = friends.merge_first([GIVEN], [rewrite(FULL)], [links(Link(HER, BOB))])
    assert kept.label == rewrite(FULL)[0].label


def test_of_a_name_the_full_one_is_proposed() -> None:
    given = Dialogue("d", (Turn("user", "Ann Lee or Ann Roe ?"), Turn("user", "Lee .")))
    made = rewrite_of_links(given, [Link(Mention(1, 0, 3), Mention(0, 0, 7))])
    assert made.text == "Ann Lee."
    assert rewrite_of_links(given, []) == Rewrite("Lee .")


def test_the_friendship_conforms() -> None:
    said = [links(Link(HER, ANN), Link(NUMBER, None)), links(Link(HER, BOB))]
    check_friendship(
        coreference_rewriting(),
        inputs=[GIVEN, replace(GIVEN, id="e")],
        first=[rewrite(FULL), rewrite(FULL)],
        second=said,
        agreeing=[0],
    )
