"""Proposals of CSRL and rewriting for each other, and what of joint labels is left open."""

from test_checked_roles import DIALOGUE, FILM, PLAIN, REWRITE, REWRITTEN, S_FILM, S_WHEN, S_WHO, WHEN, WHO, Says

from friend_training.core.task import Prediction
from friend_training.friendships.joint_labels import (
    ConfirmedEdits,
    DisputedRoles,
    PerfectFriend,
    ProposedInsertions,
    ProposedRoles,
    nothing_rewritten,
)
from friend_training.types import Argument, Insertion, Predicate, Rewrite, Roles

BRIDGE = Says({PLAIN: (S_WHO, S_WHEN), REWRITTEN: (S_WHO, S_FILM)})
FRIEND = [[Prediction("d", REWRITE, 0.9)]]


def roles(*arguments: Argument) -> Prediction:
    return Prediction("d|3-4", Roles(Predicate(3, 4), tuple(sorted(arguments))), 0.7, bool(arguments))


def test_what_the_friend_has_found_is_proposed_alone_and_beside_ones_own() -> None:
    (((*found,),),) = ProposedRoles(BRIDGE)([DIALOGUE], [[[roles(WHEN)]]], FRIEND)
    labels = {frozenset(one.label.arguments) for one in found}
    assert labels >= {frozenset(s) for s in ({WHO, FILM}, {WHO, FILM, WHEN}, {FILM, WHEN}, {WHO, WHEN})}
    assert {one.kind for one in found if FILM in one.label.arguments} == {"across"}


def test_a_new_argument_takes_the_place_of_its_role() -> None:
    other = Argument("ARG1", 1, 1, 3)
    (((*found,),),) = ProposedRoles(BRIDGE)([DIALOGUE], [[[roles(other)]]], FRIEND)
    assert not any({FILM, other} <= set(one.label.arguments) for one in found)


def test_what_either_has_said_otherwise_is_left_open() -> None:
    ((found,),) = DisputedRoles(BRIDGE)([DIALOGUE], [[roles(WHO)]], [[[roles(WHEN)]]], FRIEND)
    assert found.label == Roles(Predicate(3, 4), (WHO,), (FILM, WHEN))


def test_a_friend_that_rewrites_nothing_leaves_the_utterance() -> None:
    assert nothing_rewritten([DIALOGUE], FRIEND)[0][0].label == Rewrite(PLAIN)


def test_a_perfect_friend_says_what_gold_says_where_gold_is_known() -> None:
    own = Prediction("d", Rewrite(PLAIN), 0.4)
    ((right,),) = PerfectFriend({"d": REWRITTEN})([DIALOGUE], [[own]])
    assert (right.label.text, right.label.insertions, right.confidence) == (REWRITTEN, REWRITE.insertions, 0.4)
    for gold in ({}, {"d": "谁也不能这样写"}):  # nobody knows, or no edits make it
        assert PerfectFriend(gold)([DIALOGUE], [[own]]) == [[own]]
    gold_roles = Roles(Predicate(3, 4), (WHO, FILM))
    ((asked,),) = PerfectFriend({"d|3-4": gold_roles})([DIALOGUE], [[roles(WHEN)]])
    assert (asked.label, asked.confidence) == (gold_roles, 0.7)


def test_an_argument_elsewhere_asks_for_an_insertion_at_any_place() -> None:
    own = Prediction("d", Rewrite(PLAIN), 0.8, content=False, kind="unchanged")
    (((*found,),),) = ProposedInsertions()([DIALOGUE], [[[own]]], [[roles(WHO, FILM)]])
    assert {one.label.text for one in found} == {
        "电影我今天看",
        "我电影今天看",
        "我今电影天看",
        "我今天电影看",
        REWRITTEN,
    }
    assert all(one.content and one.kind == "changed" for one in found)


LIKELIEST = [
    Prediction("d", REWRITE, 0.5),
    Prediction("d", Rewrite("电影我今天看", (), (Insertion(0, 0, 0, 2),)), 0.3),
]


def settled(edits: ConfirmedEdits, *arguments: Argument) -> Prediction:
    known = [[[LIKELIEST[0], *LIKELIEST]]]
    ((found,),) = edits([DIALOGUE], [LIKELIEST[:1]], known, [[roles(*arguments)]])
    return found


def test_a_confirmed_insertion_is_learnt_with_what_the_rewriter_is_sure_of() -> None:
    """Its scripts differ at the beginning and at the end; the friend knows the end."""
    found = settled(ConfirmedEdits(), FILM)
    assert found.content
    assert found.label == Rewrite(REWRITTEN, (), REWRITE.insertions, unsure=(0,))


def test_without_the_friend_both_are_left_open() -> None:
    for found in (settled(ConfirmedEdits(), WHO), settled(ConfirmedEdits(confirmed=False), FILM)):
        assert not found.content
        assert found.label.unsure == (0, 4)


def test_what_is_sure_enough_needs_no_friend() -> None:
    found = settled(ConfirmedEdits(sure=0.6))
    assert found.content
    assert found.label.unsure == ()
