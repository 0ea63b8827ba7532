"""Controls: what is left of a method's gain when its selection is robbed of information, or only counts the same.

And a ceiling: what friend-training could gain if its selection made no mistakes (`oracle`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from friend_training.core.friendship import Friendship, Match, Matcher, Translation, partners
from friend_training.core.selector import Random, Selector, TopN
from friend_training.core.task import Prediction
from friend_training.errors import ConfigError
from friend_training.loop.labelling import Audit
from friend_training.runs.run import Run
from friend_training.runs.steps import MeasureAgreement, Select

Verdicts = tuple[float, ...]


def oracle(friendship: Friendship, audit: Audit | None) -> Friendship:
    """A friendship that knows the hidden gold: a unit's matching score is 1 where its label is right, else 0.

    With total agreement as the rule exactly the right pseudo-labels are chosen. A unit without gold is not right.
    """
    if audit is None:
        raise ConfigError(
            "fdt-oracle chooses by the hidden gold of the pool, and this pool has none: it takes the synthetic"
            " dialogues, or public data with pool_of: labelled"
        )
    return replace(
        friendship,
        translate_first=_verdicts(friendship.first, audit),
        translate_second=_verdicts(friendship.second, audit),
        matcher=_as_they_are,
    )


def _verdicts(task: str, audit: Audit) -> Translation:
    def translate(inputs: Sequence[Any], predictions: Sequence[Sequence[Prediction]]) -> list[Verdicts]:
        return [tuple(float(audit(task, prediction) is True) for prediction in units) for units in predictions]

    return translate


def _as_they_are(first: Sequence[Verdicts], second: Sequence[Verdicts]) -> list[Match]:
    return [Match(*pair) for pair in zip(first, second, strict=True)]


def chosen_counts(run: Run, task: str, iterations: int) -> list[int]:
    """How many units of a task a finished run chose in each iteration; none in those before which it stopped."""
    stopped = [n for n in range(1, iterations + 1) if (run.result(MeasureAgreement(n)) or {}).get("stop", False)]
    done = stopped[0] - 1 if stopped else iterations
    counts = [run.require(Select(iteration))["tasks"][task]["chosen"] for iteration in range(1, done + 1)]
    return counts + [0] * (iterations - done)


def as_many(selector: Selector, counts: Sequence[int]) -> list[Selector]:
    """Choose by the same score, but the best so many in each iteration: methods compared at the same number chosen."""
    return [replace(selector, pick=TopN(count)) for count in counts]


def random_as_many(selector: Selector, counts: Sequence[int], *, seed: int) -> list[Selector]:
    """Choose so many in each iteration, drawn from those the selector could choose from."""
    return [
        replace(selector, pick=Random(count, seed=seed + iteration)) for iteration, count in enumerate(counts, start=1)
    ]


def shuffled(friendship: Friendship, *, seed: int) -> Friendship:
    """The same friendship with the friend's predictions shuffled between inputs: matching without information.

    Every input is compared with the friend's translation of another input of the batch, in both directions: the first
    task's units with a foreign prediction of the second task, the second task's with a foreign prediction of the
    first. Matchers may rely on how many units there are (predicate by predicate), so partners have the same number of
    units of both tasks. An input without such a partner has nothing to match.
    """
    return replace(
        friendship,
        translate_first=_counted(friendship.translate_first),
        translate_second=_counted(friendship.translate_second),
        matcher=_shuffled_matcher(friendship.matcher, seed),
    )


@dataclass(frozen=True, slots=True)
class _Counted:
    """A translation, and what the shuffled matcher must know to find it a partner."""

    input: str
    units: int
    translation: Any


def _counted(translate: Translation) -> Translation:
    def translate_and_count(inputs: Sequence[Any], predictions: Sequence[Sequence[Prediction]]) -> list[_Counted]:
        translations = translate(inputs, predictions)
        return [
            _Counted(given.id, len(units), translation)
            for given, units, translation in zip(inputs, predictions, translations, strict=True)
        ]

    return translate_and_count


def _shuffled_matcher(matcher: Matcher, seed: int) -> Matcher:
    def match(first: Sequence[_Counted], second: Sequence[_Counted]) -> list[Match]:
        shapes = [(own.units, other.units) for own, other in zip(first, second, strict=True)]
        partner = partners([item.input for item in first], shapes, seed)
        found = matcher(
            [first[mine].translation for mine in partner], [second[other].translation for other in partner.values()]
        )
        of_first: list[tuple[float | None, ...]] = [(None,) * item.units for item in first]
        of_second: list[tuple[float | None, ...]] = [(None,) * item.units for item in second]
        for (mine, other), scores in zip(partner.items(), found, strict=True):
            # The scores for the second task belong to the input whose second prediction was used.
            of_first[mine], of_second[other] = scores.first, scores.second
        return [Match(*pair) for pair in zip(of_first, of_second, strict=True)]

    return match
