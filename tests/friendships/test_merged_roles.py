"""Merged labels: inside u_t what the friend's sentence says, in other turns what CSRL finds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from friend_training.core.task import Prediction
from friend_training.data.synthetic import Domain, generate
from friend_training.friendships.joint_labels import MergedRoles
from friend_training.types import (
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

# 甲: 电影好看吗 / 乙: 我今天看; the rewrite inserts 电影 behind 看.
DIALOGUE = Dialogue("d", (Turn("A", "电影好看吗"), Turn("B", "我今天看")), (Predicate(3, 4),))
REWRITE = Rewrite("我今天看电影", (), (Insertion(4, 0, 0, 2),))
FILM, WHO, WHEN = Argument("ARG1", 0, 0, 2), Argument("ARG0", 1, 0, 1), Argument("TMP", 1, 1, 3)


@dataclass(frozen=True)
class Says:
    """A bridge that answers the same for every sentence."""

    arguments: tuple[SentenceArgument, ...]
    name: str = "says"

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]:
        return [tuple(SentenceRoles(p, self.arguments) for p in sentence.predicates) for sentence in sentences]


def merged(own: tuple[Argument, ...], *friends: SentenceArgument, rewrite: Rewrite = REWRITE) -> Prediction:
    prediction = Prediction("d|3-4", Roles(Predicate(3, 4), own), 0.7, bool(own), "within")
    ((found,),) = MergedRoles(Says(friends))([DIALOGUE], [[prediction]], [[Prediction("d", rewrite, 0.9)]])
    assert (found.unit, found.confidence) == ("d|3-4", 0.7), "what is chosen by stays CSRL's"
    return found


def test_the_friend_says_what_stands_in_the_utterance() -> None:
    found = merged((Argument("ARG0", 1, 0, 3), FILM), SentenceArgument("ARG0", 0, 1), SentenceArgument("TMP", 1, 3))
    assert found.label.arguments == (WHO, FILM, WHEN)
    assert found.kind == "across"


def test_csrl_says_what_stands_in_other_turns() -> None:
    """What the rewrite inserted only confirms: CSRL's own argument there counts, and without one there is none."""
    inserted = SentenceArgument("ARG1", 4, 6)
    assert merged((FILM,), inserted).label.arguments == (FILM,)
    without = merged((), inserted)
    assert (without.label.arguments, without.content, without.kind) == ((), False, "none")


def test_csrl_says_who_speaks() -> None:
    """A bare speaker token stands in no sentence, so no sentence parser can find it."""
    me = Argument("ARG0", 1, -1, 0)
    assert merged((me,), SentenceArgument("TMP", 1, 3)).label.arguments == (me, WHEN)
    assert merged((me,), SentenceArgument("ARG0", 0, 1)).label.arguments == (WHO,)


def test_a_role_that_the_friend_has_found_is_not_given_twice() -> None:
    assert merged((replace(FILM, role="ARG0"),), SentenceArgument("ARG0", 0, 1)).label.arguments == (WHO,)


def test_a_span_of_both_is_where_most_of_it_is() -> None:
    assert merged((), SentenceArgument("ARG1", 1, 5)).label.arguments == (Argument("ARG1", 1, 1, 4),)
    assert merged((), SentenceArgument("ARG1", 3, 6)).label.arguments == ()


def test_a_predicate_that_the_rewrite_has_lost_keeps_its_label() -> None:
    assert merged((WHO, FILM), rewrite=Rewrite("我今天", (3,))).label.arguments == (WHO, FILM)


def test_friends_who_are_right_merge_into_gold() -> None:
    made = [one for one in generate(40, seed=3, domain=Domain.FILM) if one.dialogue.predicates]
    dialogues = [one.dialogue for one in made]
    roles, rewrites = gold_roles(made), gold_rewrites(made)
    found = MergedRoles(GoldBridge(made))(dialogues, roles, rewrites)
    same = [
        a.label.arguments == b.label.arguments
        for us, vs in zip(found, roles, strict=True)
        for a, b in zip(us, vs, strict=True)
    ]
    assert all(same)
    assert len(same) > 40
