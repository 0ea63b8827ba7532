"""check_matcher and check_friendship: are matching scores what the selector and the store take them for?"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from friend_training.core.conformance.rules import BATCH_TOLERANCE, ConformanceError, try_rules
from friend_training.core.friendship import Friendship, Match, Matcher
from friend_training.core.task import Prediction
from friend_training.errors import ConfigError

Faults = Iterator[str]


@dataclass(frozen=True, slots=True)
class MatchCase:
    """Two translations of one input, how many units each covers, and whether they are known to agree entirely."""

    first: Any
    second: Any
    first_units: int
    second_units: int
    agree: bool = False


@dataclass(frozen=True, slots=True)
class MatcherTrial:
    matcher: Matcher
    cases: Sequence[MatchCase]

    def match(self, cases: Sequence[MatchCase]) -> Sequence[Match]:
        return self.matcher([case.first for case in cases], [case.second for case in cases])


def check_matcher(matcher: Matcher, *, cases: Sequence[MatchCase], symmetric: bool = False) -> None:
    """Raise ConformanceError with every broken rule, or return in peace.

    At least one of the cases must be known to agree (the translations of gold labels, say). `symmetric` asks for the
    same scores when the two sides change places.
    """
    if len(cases) < 2 or not any(case.agree for case in cases):
        raise ConfigError("check_matcher needs at least two cases, one of them known to agree")
    stages = [*_MATCHER_STAGES, *([(matching_is_symmetric,)] if symmetric else [])]
    violations = try_rules(MatcherTrial(matcher, cases), stages)
    if violations:
        raise ConformanceError("the matcher", violations)


def check_friendship(
    friendship: Friendship,
    *,
    inputs: Sequence[Any],
    first: Sequence[Sequence[Prediction]],
    second: Sequence[Sequence[Prediction]],
    agreeing: Sequence[int],
    symmetric: bool = False,
) -> None:
    """check_matcher on the translations of real predictions, then the same for the friendship as a whole.

    `agreeing` are the places of inputs whose predictions of both tasks are known to agree (gold labels, say).
    """
    outer = [
        MatchCase((x, a), (x, b), first_units=len(a), second_units=len(b), agree=place in agreeing)
        for place, (x, a, b) in enumerate(zip(inputs, first, second, strict=True))
    ]
    inner = [
        MatchCase(a, b, case.first_units, case.second_units, case.agree)
        for a, b, case in zip(
            friendship.translate_first(inputs, first), friendship.translate_second(inputs, second), outer, strict=True
        )
    ]
    check_matcher(friendship.matcher, cases=inner, symmetric=symmetric)

    def match_with_translation(left: Sequence[Any], right: Sequence[Any], /) -> Sequence[Match]:
        return friendship.match([x for x, _ in left], [a for _, a in left], [b for _, b in right])

    violations = try_rules(MatcherTrial(match_with_translation, outer), _FRIENDSHIP_STAGES)
    if violations:
        raise ConformanceError(f"friendship {friendship.name!r}", violations)


def match_gives_one_score_per_unit(trial: MatcherTrial) -> Faults:
    matches = trial.match(trial.cases)
    if len(matches) != len(trial.cases):
        yield f"{len(matches)} matches for {len(trial.cases)} pairs"
    for place, (case, match) in enumerate(zip(trial.cases, matches, strict=False)):
        if (given := (len(match.first), len(match.second))) != (wanted := (case.first_units, case.second_units)):
            yield f"pair {place}: {given} scores for {wanted} units"


def scores_are_in_the_unit_interval(trial: MatcherTrial) -> Faults:
    for place, match in enumerate(trial.match(trial.cases)):
        yield from _out_of_range(place, (*match.first, *match.second))


def matching_repeats_itself(trial: MatcherTrial) -> Faults:
    yield from _differences(trial.match(trial.cases), trial.match(trial.cases), 0.0, "at the second call")


def matching_does_not_depend_on_the_batch(trial: MatcherTrial) -> Faults:
    together = trial.match(trial.cases)
    backwards = trial.match(trial.cases[::-1])[::-1]
    alone = [trial.match([case])[0] for case in trial.cases]
    yield from _differences(together, backwards, BATCH_TOLERANCE, "in a batch in reverse order")
    yield from _differences(together, alone, BATCH_TOLERANCE, "when matched alone")


def matching_accepts_no_pairs(trial: MatcherTrial) -> Faults:
    if len(answer := trial.match([])) != 0:
        yield f"no pairs give {answer!r}"


def agreeing_pairs_score_one(trial: MatcherTrial) -> Faults:
    agreeing = [place for place, case in enumerate(trial.cases) if case.agree]
    matches = trial.match(trial.cases)
    scores = [(place, score) for place in agreeing for score in (*matches[place].first, *matches[place].second)]
    if all(score is None for _, score in scores):
        yield "not a single unit of the agreeing pairs has a score"
    for place, score in scores:
        if score is not None and score != 1.0:
            yield f"pair {place} agrees but scores {score}"


def foreign_translations_are_scored(trial: MatcherTrial) -> Faults:
    """Measuring ε, and the control with a shuffled friend, pair translations of different inputs."""
    firsts, seconds = [case.first for case in trial.cases], [case.second for case in trial.cases]
    for place, (case, match) in enumerate(
        zip(trial.cases, trial.matcher(firsts, [*seconds[1:], seconds[0]]), strict=True)
    ):
        if len(match.first) != case.first_units:
            yield f"pair {place} with the friend of another input: {len(match.first)} scores, {case.first_units} units"
        yield from _out_of_range(place, match.first)


def matching_is_symmetric(trial: MatcherTrial) -> Faults:
    swapped = trial.matcher([case.second for case in trial.cases], [case.first for case in trial.cases])
    turned_back = [Match(first=match.second, second=match.first) for match in swapped]
    yield from _differences(trial.match(trial.cases), turned_back, BATCH_TOLERANCE, "with the sides swapped")


_MATCHER_STAGES: Sequence[Sequence[Callable[[MatcherTrial], Faults]]] = (
    (match_gives_one_score_per_unit,),
    (
        scores_are_in_the_unit_interval,
        matching_repeats_itself,
        matching_does_not_depend_on_the_batch,
        matching_accepts_no_pairs,
        agreeing_pairs_score_one,
        foreign_translations_are_scored,
    ),
)
_FRIENDSHIP_STAGES: Sequence[Sequence[Callable[[MatcherTrial], Faults]]] = (
    (match_gives_one_score_per_unit,),
    (matching_repeats_itself, matching_does_not_depend_on_the_batch, matching_accepts_no_pairs),
)


def _out_of_range(place: int, scores: Sequence[float | None]) -> Faults:
    for score in scores:
        if score is not None and not 0.0 <= score <= 1.0:  # also out of range for NaN
            yield f"pair {place} scores {score}"


def _differences(these: Sequence[Match], those: Sequence[Match], tolerance: float, when: str) -> Faults:
    if len(these) != len(those):
        yield f"{len(these)} matches, but {len(those)} {when}"
    for place, (left, right) in enumerate(zip(these, those, strict=False)):
        if not _same(left.first, right.first, tolerance) or not _same(left.second, right.second, tolerance):
            yield f"pair {place} gives {left}, but {right} {when}"


def _same(left: Sequence[float | None], right: Sequence[float | None], tolerance: float) -> bool:
    return len(left) == len(right) and all(
        a == b if a is None or b is None else abs(a - b) <= tolerance for a, b in zip(left, right, strict=True)
    )
