"""Labels that friends decide on together: of what each finds likely or proposes, the pair that is best as a whole.

Eq. 4 lets a friend say whether a label is right. Here it helps to choose the label: of a task's k likeliest labels and
its friend's proposals the one with the largest log p_own + log p_friend + γ · match is taken (`decide`). What one of
the two had said otherwise can be left open, so that nothing is learnt there.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from friend_training.core.friendship import Candidates, Friendship, Joint, Predictions, partners
from friend_training.core.task import Prediction
from friend_training.errors import FriendTrainingError, UnsupportedTaskError


@runtime_checkable
class Ranking(Protocol):
    """What a task offers beyond its four verbs for its labels to be decided on together with a friend's."""

    def n_best(self, inputs: Sequence[Any], k: int) -> list[list[list[Prediction]]]:
        """The k likeliest labels of every unit, the likeliest first; fewer where there are fewer."""
        ...

    def log_likelihood(
        self, inputs: Sequence[Any], labels: Sequence[Sequence[Sequence[Any]]]
    ) -> list[list[list[float]]]:
        """The log-probability of each of some labels of every unit; -inf for a label that the model cannot give."""
        ...


def decide(
    friendship: Friendship,
    joint: Joint,
    tasks: tuple[Any, Any],
    inputs: Sequence[Any],
    predictions: tuple[Predictions, Predictions],
    *,
    first: bool,
) -> list[list[Prediction]]:
    """The labels of the first (or else the second) task of a friendship; units and confidences stay as they are."""
    (task, friend), (own, others) = (tasks, predictions) if first else (tasks[::-1], predictions[::-1])
    if joint.friend is not None:
        others = joint.friend(inputs, others)
    if joint.best == 1 and joint.propose is None:
        return _settled(joint, inputs, own, [[[unit] for unit in units] for units in own], others)
    likeliest = ranking(task).n_best(inputs, joint.best)
    proposed: Candidates = [[() for _ in units] for units in own]
    if joint.propose is not None and joint.foreign is None:
        proposed = joint.propose(inputs, likeliest, others)
    candidates, own_logs = _weighed(ranking(task), inputs, own, likeliest, proposed, joint.proposals)
    answers, friend_logs = _answers(friend, joint, inputs, others)
    matches = _matches(friendship, joint, inputs, candidates, answers, first=first)
    decided: list[list[Prediction]] = []
    for number, units in enumerate(own):
        # matches: friend's answers × unit × candidates
        scores = [
            [
                logs / joint.temperature + joint.match_weight * match
                for logs, match in zip(own_logs[number], of_answer, strict=True)
            ]
            for of_answer in matches[number]
        ]
        whole = [
            float(logs) / joint.temperature + sum(float(np.max(of_unit)) for of_unit in of_answer)
            for logs, of_answer in zip(friend_logs[number], scores, strict=True)
        ]
        chosen = scores[int(np.argmax(whole))]
        decided.append(
            [
                _with_label(unit, found[int(np.argmax(of_unit))])
                for unit, found, of_unit in zip(units, candidates[number], chosen, strict=True)
            ]
        )
    known = [
        [[unit, *best] for unit, best in zip(units, found, strict=True)]
        for units, found in zip(own, likeliest, strict=True)
    ]
    return _settled(joint, inputs, decided, known, others)


def _settled(
    joint: Joint, inputs: Sequence[Any], decided: Predictions, likeliest: Candidates, friends: Predictions
) -> list[list[Prediction]]:
    settled = decided if joint.settle is None else joint.settle(inputs, decided, likeliest, friends)
    return [[*units] for units in settled]


def ranking(task: Any) -> Ranking:
    """The task, if it can rank labels; one that cannot is refused."""
    if not isinstance(task, Ranking):
        name = getattr(task, "name", type(task).__name__)
        raise UnsupportedTaskError(f"joint labels need a task with n_best and log_likelihood; {name!r} has them not")
    return task


def _with_label(unit: Prediction, chosen: Prediction) -> Prediction:
    return replace(unit, label=chosen.label, content=chosen.content, kind=chosen.kind)


Numbers = npt.NDArray[np.float64]


def _weighed(
    task: Ranking, inputs: Sequence[Any], own: Predictions, likeliest: Candidates, proposed: Candidates, most: int
) -> tuple[list[list[list[Prediction]]], list[list[Numbers]]]:
    """The candidates of every unit with their log-probabilities: prediction and likeliest, then the best proposals."""
    sure = [
        [_different([unit, *best]) for unit, best in zip(units, found, strict=True)]
        for units, found in zip(own, likeliest, strict=True)
    ]
    all_of = [
        [_different([*known, *new]) for known, new in zip(units, found, strict=True)]
        for units, found in zip(sure, proposed, strict=True)
    ]
    weighed = task.log_likelihood(inputs, [[[one.label for one in unit] for unit in units] for units in all_of])
    candidates: list[list[list[Prediction]]] = []
    logs: list[list[Numbers]] = []
    for known, units, found in zip(sure, all_of, weighed, strict=True):
        kept = [
            [*range(len(unit_known)), *sorted(range(len(unit_known), len(unit)), key=lambda at: -of_unit[at])[:most]]
            for unit_known, unit, of_unit in zip(known, units, found, strict=True)
        ]
        candidates.append([[unit[at] for at in places] for unit, places in zip(units, kept, strict=True)])
        logs.append([np.array([of[at] for at in places]) for of, places in zip(found, kept, strict=True)])
    return candidates, logs


def _different(candidates: Sequence[Prediction]) -> list[Prediction]:
    """The first candidate of every label."""
    return list({candidate.label: candidate for candidate in reversed(candidates)}.values())[::-1]


def _answers(
    friend: Any, joint: Joint, inputs: Sequence[Any], predictions: Predictions
) -> tuple[list[list[list[Prediction]]], list[list[float]]]:
    """The friend's answers to each input, all its units in each, and what their log-probabilities sum up to."""
    if joint.friend_best == 1:
        return [[[*units]] for units in predictions], [[0.0] for _ in predictions]
    ranked = ranking(friend)
    found = ranked.n_best(inputs, joint.friend_best)
    logs = ranked.log_likelihood(inputs, [[[one.label for one in unit] for unit in units] for units in found])
    answers, sums = [], []
    for units, of_units, known in zip(found, logs, predictions, strict=True):
        most = max((len(unit) for unit in units), default=1)
        places = [[min(rank, len(unit) - 1) for unit in units] for rank in range(most)]
        answers.append(
            [
                [_with_label(one, unit[at]) for one, unit, at in zip(known, units, of_rank, strict=True)]
                for of_rank in places
            ]
        )
        sums.append([sum(of[at] for of, at in zip(of_units, of_rank, strict=True)) for of_rank in places])
    return answers, sums


def _matches(
    friendship: Friendship,
    joint: Joint,
    inputs: Sequence[Any],
    candidates: Sequence[Sequence[Sequence[Prediction]]],
    answers: Sequence[Sequence[Sequence[Prediction]]],
    *,
    first: bool,
) -> list[list[list[Numbers]]]:
    """For every input, answer of the friend and unit: the match of each candidate. 0 where there is nothing to match.

    A unit's candidates are tried with the candidates of equal rank of the other units beside it: matchers score each
    unit by itself.
    """
    if joint.match_weight == 0:
        return [
            [[np.zeros(len(unit)) for unit in units] for _ in found]
            for units, found in zip(candidates, answers, strict=True)
        ]
    translate, translate_friend = friendship.translate_first, friendship.translate_second
    if not first:
        translate, translate_friend = translate_friend, translate
    ranks = [
        [[unit[min(rank, len(unit) - 1)] for unit in units] for rank in range(max(map(len, units), default=0))]
        for units in candidates
    ]
    own_at = [number for number, of_ranks in enumerate(ranks) for _ in of_ranks]
    friend_at = [number for number, of_answers in enumerate(answers) for _ in of_answers]
    own_in_sigma = iter(translate([inputs[number] for number in own_at], [units for found in ranks for units in found]))
    friend_in_sigma = iter(
        translate_friend([inputs[number] for number in friend_at], [units for found in answers for units in found])
    )
    own_translated = [[next(own_in_sigma) for _ in found] for found in ranks]
    friend_translated = [[next(friend_in_sigma) for _ in found] for found in answers]
    if joint.foreign is not None:
        shapes = [(len(units), len(found[0])) for units, found in zip(candidates, answers, strict=True)]
        other = partners([given.id for given in inputs], shapes, joint.foreign)
        friend_translated = [friend_translated[other[n]] if n in other else [] for n in range(len(inputs))]
    pairs = [
        (own_sigma, friend_sigma)
        for own_found, friend_found in zip(own_translated, friend_translated, strict=True)
        for friend_sigma in friend_found
        for own_sigma in own_found
    ]
    firsts, seconds = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    found = friendship.matcher(firsts, seconds) if first else friendship.matcher(seconds, firsts)
    if len(found) != len(pairs):
        raise FriendTrainingError(f"friendship {friendship.name!r}: {len(found)} matches for {len(pairs)} pairs")
    scores = iter(match.first if first else match.second for match in found)
    result: list[list[list[Numbers]]] = []
    for units, own_found, friend_found in zip(candidates, own_translated, friend_translated, strict=True):
        of_input = [[next(scores) for _ in own_found] for _ in friend_found] or [
            [(None,) * len(units)] * len(own_found)
        ]
        result.append(
            [
                [
                    np.array([by_rank[min(rank, len(by_rank) - 1)][place] or 0.0 for rank in range(len(unit))])
                    for place, unit in enumerate(units)
                ]
                for by_rank in of_input
            ]
        )
    return result
