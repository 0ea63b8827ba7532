"""check_matcher and check_friendship pass honest ones, and name the rule that each broken variant breaks."""

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from friend_training.core.friendship import Friendship, Match, Matcher
from friend_training.core.task import Prediction
from friend_training.errors import ConfigError
from friend_training.testing import ConformanceError, MatchCase, check_friendship, check_matcher

Element = tuple[str, ...]


def overlap(first: Sequence[Element], second: Sequence[Element], /) -> list[Match]:
    """Each unit is a set of characters, compared by Jaccard; a unit that the other side lacks has no score."""
    return [Match(*(_scores(*sides) for sides in ((a, b), (b, a)))) for a, b in zip(first, second, strict=True)]


def _scores(these: Element, those: Element) -> tuple[float | None, ...]:
    return tuple(
        len(set(x) & set(those[i])) / len(set(x) | set(those[i])) if i < len(those) else None
        for i, x in enumerate(these)
    )


CASES = [
    MatchCase(("abc", "d"), ("abc", "d"), 2, 2, agree=True),
    MatchCase(("ab",), ("bc",), 1, 1),
    MatchCase((), (), 0, 0),
    MatchCase(("xy", "z", "q"), ("x", "z"), 3, 2),
]


def changed_scores(change: Callable[[int, float], float | None]) -> Matcher:
    """The honest matcher with each score changed; the function is given the place of its pair in the batch."""

    def match(first: Sequence[Element], second: Sequence[Element], /) -> list[Match]:
        def each(place: int, scores: Sequence[float | None]) -> tuple[float | None, ...]:
            return tuple(None if s is None else change(place, s) for s in scores)

        return [Match(each(i, m.first), each(i, m.second)) for i, m in enumerate(overlap(first, second))]

    return match


def one_short(first: Sequence[Element], second: Sequence[Element], /) -> list[Match]:
    return overlap(first, second)[:-1]


def shorter_side_only(first: Sequence[Element], second: Sequence[Element], /) -> list[Match]:
    return [Match(m.first[: len(m.second)], m.second) for m in overlap(first, second)]


def meets_its_own_only(first: Sequence[Element], second: Sequence[Element], /) -> list[Match]:
    known = {(case.first, case.second) for case in CASES}
    return [
        m if pair in known else Match((), ())
        for m, pair in zip(overlap(first, second), zip(first, second, strict=True), strict=True)
    ]


def needs_pairs(first: Sequence[Element], second: Sequence[Element], /) -> list[Match]:
    assert first[0] is not None
    return overlap(first, second)


def covered(first: Sequence[Element], second: Sequence[Element], /) -> list[Match]:
    """How much of the first side the second one covers: not symmetric."""

    def cover(these: Element, those: Element) -> tuple[float | None, ...]:
        return tuple(len(set(x) & set(y)) / len(set(x)) for x, y in zip(these, those, strict=False))

    def pad(scores: tuple[float | None, ...], units: int) -> tuple[float | None, ...]:
        return scores[:units] + (None,) * (units - len(scores))

    return [Match(pad(cover(a, b), len(a)), pad(cover(a, b), len(b))) for a, b in zip(first, second, strict=True)]


calls = itertools.count(1)
BROKEN: list[tuple[str, Matcher]] = [
    ("match_gives_one_score_per_unit", one_short),
    ("match_gives_one_score_per_unit", shorter_side_only),
    ("scores_are_in_the_unit_interval", changed_scores(lambda i, s: 1.5 if 0 < s < 1 else s)),
    ("scores_are_in_the_unit_interval", changed_scores(lambda i, s: -s if s < 1 else s)),
    ("matching_repeats_itself", changed_scores(lambda i, s: s if s in (0, 1) else s + 1e-9 * next(calls))),
    ("matching_does_not_depend_on_the_batch", changed_scores(lambda i, s: s if s == 1 else s / (1 + i))),
    ("matching_accepts_no_pairs", needs_pairs),
    ("agreeing_pairs_score_one", changed_scores(lambda i, s: 0.9 * s)),
    ("agreeing_pairs_score_one", changed_scores(lambda i, s: None)),
    ("foreign_translations_are_scored", meets_its_own_only),
    ("matching_is_symmetric", covered),
]


def test_an_honest_matcher_passes() -> None:
    check_matcher(overlap, cases=CASES, symmetric=True)


def test_symmetry_is_asked_for_only_when_flagged() -> None:
    check_matcher(covered, cases=CASES)


@pytest.mark.parametrize(("rule", "matcher"), BROKEN, ids=[f"{i}-{rule}" for i, (rule, _) in enumerate(BROKEN)])
def test_each_broken_rule_is_named_and_no_other(rule: str, matcher: Matcher) -> None:
    with pytest.raises(ConformanceError, match=rule) as caught:
        check_matcher(matcher, cases=CASES, symmetric=True)
    assert set(caught.value.rules) <= {rule, *(["foreign_translations_are_scored"] if "interval" in rule else [])}


def test_it_needs_a_pair_that_agrees() -> None:
    with pytest.raises(ConfigError, match="known to agree"):
        check_matcher(overlap, cases=CASES[1:])


@dataclass(frozen=True)
class Line:
    id: str


LINES = [Line("x"), Line("y"), Line("z")]
FIRST = [[Prediction("x0", "abc", 0.5)], [Prediction("y0", "ab", 0.5), Prediction("y1", "c", 0.5)], []]
SECOND = [[Prediction("x0", "abc", 0.5)], [Prediction("y0", "b", 0.5)], [Prediction("z0", "b", 0.5)]]


def labels(inputs: Sequence[Any], predictions: Sequence[Sequence[Prediction]], /) -> list[Element]:
    return [tuple(p.label for p in units) for units in predictions]


def labels_and_place(inputs: Sequence[Any], predictions: Sequence[Sequence[Prediction]], /) -> list[Element]:
    """A translation that leaks the batch: all but the first get a character more."""
    return [tuple(p.label + "!" * (i > 0) for p in units) for i, units in enumerate(predictions)]


def fickle_labels(inputs: Sequence[Any], predictions: Sequence[Sequence[Prediction]], /) -> list[Element]:
    return [tuple(p.label + str(next(calls)) for p in units) for units in predictions]


def check(friendship: Friendship) -> None:
    check_friendship(friendship, inputs=LINES, first=FIRST, second=SECOND, agreeing=[0], symmetric=True)


def test_an_honest_friendship_passes() -> None:
    check(Friendship("honest", "a", "b", labels, labels, overlap))


def test_the_matcher_of_a_friendship_is_checked() -> None:
    with pytest.raises(ConformanceError, match="agreeing_pairs_score_one"):
        check(Friendship("low", "a", "b", labels, labels, changed_scores(lambda i, s: 0.5 * s)))


def test_a_translation_that_depends_on_the_batch_is_caught() -> None:
    with pytest.raises(ConformanceError, match="friendship 'leaky'") as caught:
        check(Friendship("leaky", "a", "b", labels_and_place, labels, overlap))
    assert caught.value.rules == ("matching_does_not_depend_on_the_batch",)


def test_a_translation_that_does_not_repeat_itself_is_caught() -> None:
    fickle = Friendship("fickle", "a", "b", fickle_labels, fickle_labels, _by_last_digit)
    with pytest.raises(ConformanceError, match="matching_repeats_itself"):
        check_friendship(fickle, inputs=LINES, first=FIRST, second=SECOND, agreeing=[0])


def _by_last_digit(first: Sequence[Element], second: Sequence[Element], /) -> list[Match]:
    """Agrees where the letters do; elsewhere the score is made of the digits that the fickle translation appends."""

    def score(x: str) -> float:
        return 1.0 if "abc" in x else 1 / (1 + int("".join(c for c in x if c.isdigit())))

    return [Match(tuple(score(x) for x in a), tuple(score(x) for x in b)) for a, b in zip(first, second, strict=True)]


def bare_floats(first: Sequence[Element], second: Sequence[Element], /) -> list[Any]:
    return [0.5 for _ in first]


def failing(inputs: Sequence[Any], predictions: Sequence[Sequence[Prediction]], /) -> list[Element]:
    return [tuple(p.label["nothing"] for p in units) for units in predictions]


def first_only(inputs: Sequence[Any], predictions: Sequence[Sequence[Prediction]], /) -> list[Element]:
    return labels(inputs, predictions)[:1]


WRONG: list[tuple[Friendship, str, str]] = [
    (
        Friendship("f", "a", "b", labels, labels, bare_floats),
        "match_gives_one_score_per_unit: 0.5 is not a Match",
        "a and b",
    ),
    (
        Friendship("f", "a", "b", labels, failing, overlap),
        "translations_give_one_element.*of b raised TypeError",
        "task b",
    ),
    (Friendship("f", "a", "b", first_only, labels, overlap), "of a gave 1 elements for 3 inputs", "task a gave 1"),
]


@pytest.mark.parametrize(("friendship", "fault", "part"), WRONG)
def test_what_is_wrong_is_told_by_the_suite_and_in_a_run(friendship: Friendship, fault: str, part: str) -> None:
    with pytest.raises(ConformanceError, match=r"friendship 'f' of a and b breaks 1 rule\(s\):") as caught:
        check(friendship)
    assert re.search(fault, str(caught.value))
    with pytest.raises(ConfigError, match=f"friendship f: .*{part}.*expected"):
        friendship.match(LINES, FIRST, SECOND)


def test_a_string_in_place_of_a_function_is_told() -> None:
    with pytest.raises(ConfigError, match="friendship f of a and b: translate_first is 'x', expected a function"):
        Friendship("f", "a", "b", "x", labels, overlap)  # type: ignore[arg-type]


def proposing(change: Callable[[int, Prediction], Any]) -> Any:
    def propose(inputs: Sequence[Any], own: Any, friends: Any, /) -> list[list[Any]]:
        return [[change(place, unit) for unit in units] for place, units in enumerate(own)]

    return propose


PROPOSALS: list[tuple[str, Any]] = [
    ("proposals_are_one_per_unit", lambda inputs, own, friends: [[] for _ in own]),
    ("proposals_are_one_per_unit", proposing(lambda place, unit: "abc")),
    ("proposals_are_one_per_unit", proposing(lambda place, unit: Prediction("other", unit.label, 0.5))),
    ("proposals_are_one_per_unit", proposing(lambda place, unit: Prediction(unit.unit, 3, 0.5))),
    ("proposals_are_one_per_unit", proposing(lambda place, unit: Prediction(unit.unit, unit.label, 1.5))),
    ("proposing_does_not_depend_on_the_batch", proposing(lambda place, unit: unit if place else None)),
]


@pytest.mark.parametrize(("rule", "propose"), PROPOSALS)
def test_proposals_are_checked(rule: str, propose: Any) -> None:
    for part in ("propose_first", "propose_second"):
        with pytest.raises(ConformanceError, match=rule):
            check(Friendship("f", "a", "b", labels, labels, overlap, **{part: propose}))
    good = proposing(lambda place, unit: Prediction(unit.unit, "z", 0.5))
    check(Friendship("f", "a", "b", labels, labels, overlap, propose_first=good, propose_second=good))
