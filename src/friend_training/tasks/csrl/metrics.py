"""The metrics of CSRL: micro precision, recall and F1 over the arguments of all predicates.

An argument is right if its role and its exact span (turn, start, end) are. It is counted in total and, by where the
argument stands, within u_t or across turns; the speaker token of u_t belongs to u_t.

Beside it stands the variant of CSAGN's evaluation, which compares strings: every role of a predicate has ONE string,
and the role is right if the strings are equal, wherever they stand. A role with several spans is represented by the
first of them in text order, unless they touch each other and so read as one, then by all of them together. The string
of a speaker token is the speaker's name. So a wrong mention of the right words counts as right, and a second span of
a role counts neither for nor against.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from friend_training.core.task import PRF, Counts, Score, f1_of
from friend_training.types import OPENING, SPEAKER, Argument, Dialogue, Roles

_NOTHING = PRF()
_UNHEARD = "other"
"""The name of the opening turn's speaker, in a dialogue where only one speaker says anything."""


@dataclass(frozen=True, slots=True)
class CsrlScore(Score):
    """Counts over some predicates; the counts of two sets of predicates add up to those of both."""

    overall: PRF = _NOTHING
    within: PRF = _NOTHING
    cross: PRF = _NOTHING
    string: PRF = _NOTHING

    @classmethod
    def of(cls, predicted: Roles, gold: Roles, dialogue: Dialogue) -> "CsrlScore":
        """The counts of one predicate."""
        current = len(dialogue.turns) - 1
        within, cross = (
            PRF.of(
                (argument for argument in predicted.arguments if (argument.turn == current) == inside),
                (argument for argument in gold.arguments if (argument.turn == current) == inside),
            )
            for inside in (True, False)
        )
        string = PRF.of(role_strings(predicted, dialogue).items(), role_strings(gold, dialogue).items())
        return cls(within + cross, within, cross, string)

    def as_dict(self) -> dict[str, float]:
        """precision, recall and f1, plain and as within_…, cross_… and string_…, in percent."""
        return {
            **self.overall.as_dict(),
            **self.within.as_dict("within_"),
            **self.cross.as_dict("cross_"),
            **self.string.as_dict("string_"),
        }


def score(predicted: Sequence[Roles], gold: Sequence[Roles], dialogues: Sequence[Dialogue]) -> CsrlScore:
    """Score predicates in parallel sequences: the prediction, the gold label, and the dialogue of each."""
    return sum((CsrlScore.of(*unit) for unit in zip(predicted, gold, dialogues, strict=True)), start=CsrlScore())


def unit_counts(predicted: Sequence[Roles], gold: Sequence[Roles], dialogues: Sequence[Dialogue]) -> Counts:
    """One row of counts per predicate [predicates, 12]: any sum of rows gives the metric of those predicates."""
    rows = [CsrlScore.of(*unit).as_array() for unit in zip(predicted, gold, dialogues, strict=True)]
    return np.stack(rows) if rows else np.empty((0, CsrlScore().as_array().size))


def f1_overall_of(counts: Counts) -> Counts:
    return 100 * f1_of(counts[..., 0:3])


def role_strings(roles: Roles, dialogue: Dialogue) -> dict[str, str]:
    """The one string of each role (see the module's docstring)."""
    strings = {}
    for role in sorted({argument.role for argument in roles.arguments}):
        spans = sorted(argument for argument in roles.arguments if argument.role == role)
        touching = all(a.turn == b.turn and a.end == b.start for a, b in pairwise(spans))
        strings[role] = "".join(argument_string(span, dialogue) for span in (spans if touching else spans[:1]))
    return strings


def argument_string(argument: Argument, dialogue: Dialogue) -> str:
    """The words of an argument; a speaker token reads as the speaker's name."""
    speaker = _speaker(argument.turn, dialogue) if argument.start == SPEAKER else ""
    text = "" if argument.turn == OPENING else dialogue.turns[argument.turn].text
    return speaker + text[max(argument.start, 0) : argument.end]


def _speaker(turn: int, dialogue: Dialogue) -> str:
    if turn != OPENING:
        return dialogue.turns[turn].speaker
    opener = dialogue.turns[0].speaker
    return next((other.speaker for other in dialogue.turns if other.speaker != opener), _UNHEARD)
