"""Checked arguments: two of three readers make an argument, one alone makes a span of which nothing is learnt."""

from collections.abc import Sequence
from dataclasses import dataclass

from friend_training.core.task import Prediction
from friend_training.friendships.joint_labels import Check, CheckedRoles, Pronouns
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

# 甲: 电影好看吗 / 乙: 我今天看; the rewrite inserts 电影 behind 看.
DIALOGUE = Dialogue("d", (Turn("A", "电影好看吗"), Turn("B", "我今天看")), (Predicate(3, 4),))
PLAIN, REWRITTEN = "我今天看", "我今天看电影"
REWRITE = Rewrite(REWRITTEN, (), (Insertion(4, 0, 0, 2),))
FILM, WHO, WHEN = Argument("ARG1", 0, 0, 2), Argument("ARG0", 1, 0, 1), Argument("TMP", 1, 1, 3)
S_FILM, S_WHO, S_WHEN = SentenceArgument("ARG1", 4, 6), SentenceArgument("ARG0", 0, 1), SentenceArgument("TMP", 1, 3)


@dataclass(frozen=True)
class Says:
    """A bridge that answers by what the sentence is."""

    answers: dict[str, tuple[SentenceArgument, ...]]
    name: str = "says"

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]:
        return [tuple(SentenceRoles(p, self.answers[s.text]) for p in s.predicates) for s in sentences]


def checked(
    own: tuple[Argument, ...],
    plain: tuple[SentenceArgument, ...],
    rewritten: tuple[SentenceArgument, ...],
    *,
    rewrite: Rewrite = REWRITE,
    check: Check = "friend",
    pronouns: Pronouns = "kept",
) -> Prediction:
    prediction = Prediction("d|3-4", Roles(Predicate(3, 4), own), 0.7, bool(own), "within")
    bridge = Says({PLAIN: plain, REWRITTEN: rewritten})
    ((found,),) = CheckedRoles(bridge, check, pronouns)(
        [DIALOGUE], [[prediction]], (), [[Prediction("d", rewrite, 0.9)]]
    )
    assert (found.unit, found.confidence) == ("d|3-4", 0.7)
    return found


def test_the_friend_or_csrl_must_see_what_the_bridge_sees() -> None:
    found = checked((WHEN,), (S_WHO, S_WHEN), (S_WHO,))
    assert found.label == Roles(Predicate(3, 4), (WHO, WHEN))
    assert found.kind == "within"


def test_what_only_the_bridge_sees_is_unsure() -> None:
    found = checked((), (S_WHO, S_WHEN), (S_WHO,))
    assert found.label == Roles(Predicate(3, 4), (WHO,), (WHEN,))


def test_what_only_csrl_sees_in_the_utterance_is_none() -> None:
    assert checked((WHEN,), (S_WHO,), (S_WHO,)).label == Roles(Predicate(3, 4), (WHO,))


def test_what_only_the_rewrite_has_brought_is_unsure() -> None:
    assert checked((), (S_WHO,), (S_WHO, S_FILM)).label == Roles(Predicate(3, 4), (WHO,), (FILM,))


def test_csrl_places_arguments_in_other_turns_and_who_speaks() -> None:
    me = Argument("ARG0", 1, -1, 0)
    found = checked((me, FILM), (S_WHEN,), (S_WHEN,))
    assert found.label.arguments == (me, FILM, WHEN)
    assert found.kind == "across"


def test_a_role_that_stands_in_the_utterance_is_not_given_twice() -> None:
    elsewhere = Argument("ARG0", 0, 0, 2)
    assert checked((elsewhere,), (S_WHO,), (S_WHO,)).label == Roles(Predicate(3, 4), (WHO,))


def test_a_rewrite_that_has_lost_the_predicate_confirms_nothing() -> None:
    lost = checked((WHEN,), (S_WHO, S_WHEN), (), rewrite=Rewrite("我今天", (3,)))
    assert lost.label == Roles(Predicate(3, 4), (WHEN,), (WHO,))


def test_nothing_left_says_nothing() -> None:
    found = checked((), (S_WHO,), ())
    assert (found.content, found.kind, found.label.unsure) == (False, "none", (WHO,))


def test_unchecked_all_that_the_bridge_sees_counts() -> None:
    assert checked((FILM,), (S_WHO, S_WHEN), (S_FILM,), check="none").label == Roles(Predicate(3, 4), (WHO, FILM, WHEN))


def test_a_foreign_friend_confirms_by_chance_only() -> None:
    """Of two dialogues each is checked by the other's rewrite; only what stands at the same place is confirmed."""
    other = Dialogue("e", (Turn("A", "好"), Turn("B", "昨天我看")), (Predicate(3, 4),))
    bridge = Says(
        {PLAIN: (S_WHO, S_WHEN), REWRITTEN: (S_WHO, S_FILM), "昨天我看": (S_WHO, SentenceArgument("ARG1", 2, 3))}
    )
    own = [[Prediction(f"{name}|3-4", Roles(Predicate(3, 4), ()), 0.7)] for name in "de"]
    rewrites = [[Prediction("d", REWRITE, 0.9)], [Prediction("e", Rewrite("昨天我看"), 0.9)]]
    (mine,), (others,) = CheckedRoles(bridge, "foreign")([DIALOGUE, other], own, (), rewrites)
    assert mine.label == Roles(Predicate(3, 4), (WHO,), (WHEN,))  # not FILM: that place is in another dialogue
    assert others.label == Roles(Predicate(3, 4), (WHO,), (Argument("ARG1", 1, 2, 3),))


def test_dialogues_without_predicates_are_passed_over() -> None:
    silent = Dialogue("s", (Turn("A", "好"),))
    bridge = Says({PLAIN: (S_WHO,), REWRITTEN: (S_WHO,)})
    own = [[], [Prediction("d|3-4", Roles(Predicate(3, 4), ()), 0.7)]]
    rewrites = [[Prediction("s", Rewrite("好"), 0.9)], [Prediction("d", REWRITE, 0.9)]]
    nothing, (found,) = CheckedRoles(bridge)([silent, DIALOGUE], own, (), rewrites)
    assert nothing == []
    assert found.label.arguments == (WHO,)


# 甲: 你看过电影吗 / 乙: 他喜欢它; the rewrite says 电影 for 它 and leaves 他.
ASKED = Dialogue("p", (Turn("A", "你看过电影吗"), Turn("B", "他喜欢它")), (Predicate(1, 3),))
RESOLVED = Rewrite("他喜欢电影", (3,), (Insertion(3, 0, 3, 5),))
HE, IT, THE_FILM = Argument("ARG0", 1, 0, 1), Argument("ARG1", 1, 3, 4), Argument("ARG1", 0, 3, 5)
S_HE, S_IT, S_THE_FILM = SentenceArgument("ARG0", 0, 1), SentenceArgument("ARG1", 3, 4), SentenceArgument("ARG1", 3, 5)


def asked(own: tuple[Argument, ...], check: Check = "friend", pronouns: Pronouns = "resolved") -> Roles:
    bridge = Says({"他喜欢它": (S_HE, S_IT), "他喜欢电影": (S_HE, S_THE_FILM)})
    unit = Prediction("p|1-3", Roles(Predicate(1, 3), own), 0.7)
    ((found,),) = CheckedRoles(bridge, check, pronouns)([ASKED], [[unit]], (), [[Prediction("p", RESOLVED, 0.9)]])
    label: Roles = found.label
    return label


def test_the_friend_says_what_a_pronoun_stands_for() -> None:
    assert asked(()) == Roles(Predicate(1, 3), (THE_FILM,))
    assert asked((HE, IT)) == Roles(Predicate(1, 3), (THE_FILM,))  # that all find 他 does not make it an argument
    assert asked((), pronouns="kept") == Roles(Predicate(1, 3), (HE,), (THE_FILM, IT))


def test_csrl_is_believed_before_the_friend_about_other_turns() -> None:
    elsewhere = Argument("ARG1", 0, 0, 1)
    assert asked((elsewhere,)) == Roles(Predicate(1, 3), (elsewhere,), (THE_FILM,))


def test_without_a_friend_nobody_says_what_a_pronoun_stands_for() -> None:
    assert asked((), "none") == Roles(Predicate(1, 3), ())
    assert asked((HE,), "foreign") == Roles(Predicate(1, 3), ())
    assert asked((), "none", "kept") == Roles(Predicate(1, 3), (HE, IT))


def test_a_friend_who_only_answers_vetoes_nothing() -> None:
    """WHO and WHEN are the bridge's alone, and count; of FILM, which no pronoun stands for, the friend is not asked."""
    found = checked((), (S_WHO, S_WHEN), (S_FILM,), check="answers", pronouns="resolved")
    assert found.label == Roles(Predicate(3, 4), (WHO, WHEN))
    assert asked((), "answers") == Roles(Predicate(1, 3), (THE_FILM,))
    assert asked((Argument("ARG1", 0, 0, 1),), "answers") == Roles(Predicate(1, 3), (Argument("ARG1", 0, 0, 1),))


def test_only_a_role_that_a_pronoun_has_left_open_is_the_friends_to_fill() -> None:
    """WHO stands in u_t, and for TMP the bridge has seen nothing there: both remain as they were."""
    found = checked((), (S_WHO,), (S_WHO, S_FILM), pronouns="resolved")
    assert found.label == Roles(Predicate(3, 4), (WHO,), (FILM,))
