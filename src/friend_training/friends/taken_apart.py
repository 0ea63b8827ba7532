"""One matching score m_k taken apart: what either friend says role by role, and how many characters they differ in.

The numbers are the matcher's own (`RoleMatcher` of the case study): 1 - distance / longest is the score it gives.
"""

from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from friend_training.examples import ROLES
from friend_training.friends.csrl_rewriting import RoleMatcher, RoleString


@dataclass(frozen=True, slots=True)
class RoleCompared:
    """What the two friends put under one role, run together, and how alike that is (1: the same)."""

    role: str
    roles_say: str
    rewrite_says: str
    match: float


@dataclass(frozen=True, slots=True)
class TakenApart:
    """m_k = 1 - distance / longest. `longest` is 0 where neither friend says anything, which is agreement."""

    roles: tuple[RoleCompared, ...]
    distance: int
    longest: int

    @property
    def match(self) -> float:
        return 1.0 - self.distance / max(self.longest, 1)


def take_apart(matcher: RoleMatcher, a: tuple[RoleString, ...], b: tuple[RoleString, ...]) -> TakenApart:
    """The comparison of A_k (from CSRL) and B_k (from the rewrite) for one predicate, under the matcher's settings."""
    if matcher.speakers == "drop":
        a, b = _written_by_both(a, b), _written_by_both(b, a)
    roles = tuple(
        RoleCompared(role, left, right, Levenshtein.normalized_similarity(left, right))
        for role in ROLES
        for left, right in [(_joined(a, role), _joined(b, role))]
        if left or right
    )
    if matcher.scoring == "paper":  # blind to roles: the strings of all arguments run together
        pairs = [("".join(one.roles_say for one in roles), "".join(one.rewrite_says for one in roles))]
    else:
        pairs = [(one.roles_say, one.rewrite_says) for one in roles]
    return TakenApart(
        roles=roles,
        distance=sum(Levenshtein.distance(left, right) for left, right in pairs),
        longest=sum(max(len(left), len(right)) for left, right in pairs),
    )


def _joined(strings: tuple[RoleString, ...], role: str) -> str:
    return "".join(string.text for string in strings if string.role == role)


def _written_by_both(own: tuple[RoleString, ...], other: tuple[RoleString, ...]) -> tuple[RoleString, ...]:
    """Without the bare speaker tokens that the other side does not write out."""
    written = {(string.role, string.text) for string in other}
    return tuple(string for string in own if not string.implied or (string.role, string.text) in written)
