"""A matching score that is explained is the score that the matcher gives."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from friend_training.friendships.csrl_rewriting import RoleMatch, RoleMatcher, RoleString
from friend_training.types import ROLES

MATCHERS = [
    RoleMatcher(scoring=scoring, speakers=speakers)  # type: ignore[arg-type]
    for scoring, speakers in product(("paper", "role-aware"), ("keep", "drop"))
]
strings = st.builds(RoleString, st.sampled_from(ROLES[:3]), st.text("我你茶", min_size=1, max_size=3), st.booleans())


def _ordered(found: list[RoleString]) -> tuple[RoleString, ...]:
    return tuple(sorted(found, key=lambda string: ROLES.index(string.role)))


@pytest.mark.parametrize("matcher", MATCHERS)
@given(a=st.lists(strings, max_size=4).map(_ordered), b=st.lists(strings, max_size=4).map(_ordered))
def test_the_parts_give_the_matching_score(
    matcher: RoleMatcher, a: tuple[RoleString, ...], b: tuple[RoleString, ...]
) -> None:
    [match] = matcher([(a,)], [(b,)])
    assert matcher.explain(a, b).match == match.first[0]


def test_what_either_says_under_each_role() -> None:
    a = (RoleString("ARG0", "小李"), RoleString("ARG1", "茶"))
    b = (RoleString("ARG0", "小王"), RoleString("TMP", "昨天"))
    apart = RoleMatcher().explain(a, b)
    assert apart.roles == (
        RoleMatch("ARG0", "小李", "小王", 0.5),
        RoleMatch("ARG1", "茶", "", 0.0),
        RoleMatch("TMP", "", "昨天", 0.0),
    )
    assert (apart.distance, apart.longest) == (3, 4)  # 小李茶 and 小王昨天
    assert RoleMatcher().explain((), ()).match == 1.0


def test_a_bare_speaker_that_the_other_does_not_write_out() -> None:
    a = (RoleString("ARG0", "我", implied=True), RoleString("ARG1", "茶"))
    b = (RoleString("ARG1", "茶"),)
    assert RoleMatcher().explain(a, b).distance == 1
    assert RoleMatcher(speakers="drop").explain(a, b).distance == 0
