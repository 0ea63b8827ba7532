"""The matcher of the case study: bounds, symmetry, total agreement, roles, means and speaker policies."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from friend_training.friendships.csrl_rewriting import RoleMatcher, RoleString, Scoring, Sigma
from friend_training.testing import MatchCase, check_matcher
from friend_training.types import ROLES

SCORINGS: tuple[Scoring, ...] = ("paper", "role-aware")

role_strings = st.builds(RoleString, st.sampled_from(ROLES[:4]), st.text("甲乙丙丁", min_size=1, max_size=4))
argument_sets = st.lists(role_strings, max_size=4).map(lambda found: tuple(sorted(found, key=lambda s: s.role)))
matchers = st.builds(
    RoleMatcher,
    scoring=st.sampled_from(SCORINGS),
    mean=st.sampled_from(["geometric", "arithmetic"]),
    speakers=st.sampled_from(["keep", "drop"]),
)


def one(matcher: RoleMatcher, a: tuple[RoleString, ...], b: tuple[RoleString, ...]) -> float:
    """m_k of two argument sets."""
    ((score,),) = [match.first for match in matcher([(a,)], [(b,)])]
    assert score is not None
    return score


def texts(*pairs: tuple[str, str]) -> tuple[RoleString, ...]:
    return tuple(RoleString(role, text) for role, text in pairs)


@given(matchers, argument_sets, argument_sets)
def test_symmetric_and_in_the_unit_interval(
    matcher: RoleMatcher, a: tuple[RoleString, ...], b: tuple[RoleString, ...]
) -> None:
    assert 0 <= one(matcher, a, b) <= 1
    assert one(matcher, a, b) == one(matcher, b, a)


@given(matchers, st.lists(argument_sets, min_size=1, max_size=4))
def test_equal_sets_agree_totally(matcher: RoleMatcher, sets: list[tuple[RoleString, ...]]) -> None:
    (match,) = matcher([tuple(sets)], [tuple(sets)])
    assert match.first == (1.0,) * len(sets)
    assert match.second == (1.0,)


@given(argument_sets, argument_sets)
def test_role_aware_is_total_only_for_equal_strings_of_every_role(
    a: tuple[RoleString, ...], b: tuple[RoleString, ...]
) -> None:
    by_role = [{role: "".join(s.text for s in side if s.role == role) for role in ROLES} for side in (a, b)]
    assert (one(RoleMatcher(scoring="role-aware"), a, b) == 1.0) == (by_role[0] == by_role[1])


@given(argument_sets, argument_sets)
def test_as_printed_roles_do_not_matter(a: tuple[RoleString, ...], b: tuple[RoleString, ...]) -> None:
    """Only the strings, run together, count: 1 - dist / max length, with a distance of our own."""
    left, right = ("".join(s.text for s in side) for side in (a, b))
    longest = max(len(left), len(right))
    expected = 1 - edit_distance(left, right) / longest if longest else 1.0
    assert one(RoleMatcher(), a, b) == pytest.approx(expected)


def edit_distance(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, start=1):
        before, row[0] = row[0], i
        for j, right in enumerate(b, start=1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (left != right))
    return row[-1]


@pytest.mark.parametrize("scoring", SCORINGS)
def test_two_empty_sets_agree_and_one_empty_set_does_not(scoring: Scoring) -> None:
    matcher = RoleMatcher(scoring=scoring)
    assert one(matcher, (), ()) == 1.0
    assert one(matcher, texts(("ARG0", "甲")), ()) == 0.0
    assert one(matcher, (), texts(("ARG0", "甲"))) == 0.0


def test_the_printed_matcher_is_blind_to_roles() -> None:
    a, b = texts(("ARG0", "甲乙")), texts(("ARG1", "甲乙"))
    assert one(RoleMatcher(scoring="paper"), a, b) == 1.0
    assert one(RoleMatcher(scoring="role-aware"), a, b) == 0.0
    # Half right: ARG0 agrees (2 of 2), TMP against LOC does not (0 of 2 and 0 of 2).
    a, b = texts(("ARG0", "甲乙"), ("TMP", "丙丁")), texts(("ARG0", "甲乙"), ("LOC", "丙丁"))
    assert one(RoleMatcher(scoring="role-aware"), a, b) == pytest.approx(1 - 4 / 6)


@given(st.lists(st.tuples(argument_sets, argument_sets), min_size=1, max_size=4))
def test_the_means(pairs: list[tuple[tuple[RoleString, ...], tuple[RoleString, ...]]]) -> None:
    a: Sigma = tuple(left for left, _ in pairs)
    b: Sigma = tuple(right for _, right in pairs)
    (geometric,) = RoleMatcher(mean="geometric")([a], [b])
    (arithmetic,) = RoleMatcher(mean="arithmetic")([a], [b])
    assert geometric.first == arithmetic.first
    scores = [score for score in geometric.first if score is not None]
    product = 1.0
    for score in scores:
        product *= score
    assert geometric.second[0] == pytest.approx(product ** (1 / len(scores)))
    assert arithmetic.second[0] == pytest.approx(sum(scores) / len(scores))


def test_no_predicates_is_nothing_to_match() -> None:
    (match,) = RoleMatcher()([()], [()])
    assert match.first == ()
    assert match.second == (None,)


@pytest.mark.parametrize("scoring", SCORINGS)
def test_a_speaker_that_only_one_side_writes_out(scoring: Scoring) -> None:
    implied = (RoleString("ARG0", "我", implied=True), RoleString("ARG1", "甲"))
    spoken, silent = texts(("ARG0", "我"), ("ARG1", "甲")), texts(("ARG1", "甲"))
    keep, drop = RoleMatcher(scoring=scoring, speakers="keep"), RoleMatcher(scoring=scoring, speakers="drop")
    # An overt pronoun on the other side is met under both policies.
    assert one(keep, implied, spoken) == one(drop, implied, spoken) == 1.0
    # What neither side writes out counts ('keep') or is left out ('drop').
    assert one(keep, implied, silent) == 0.5
    assert one(drop, implied, silent) == 1.0
    # An overt pronoun is never left out, nor one of another role.
    assert one(drop, spoken, silent) == 0.5
    assert one(drop, implied, texts(("ARG1", "我"))) == 0.0


@given(matchers, argument_sets, argument_sets)
def test_conformance(matcher: RoleMatcher, a: tuple[RoleString, ...], b: tuple[RoleString, ...]) -> None:
    assume(a != b)
    cases = [
        MatchCase((a, b), (b, a), first_units=2, second_units=1),
        MatchCase((a,), (a,), first_units=1, second_units=1, agree=True),
        MatchCase((), (), first_units=0, second_units=1),
    ]
    check_matcher(matcher, cases=cases)
