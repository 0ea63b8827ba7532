"""What a conformance rule is, and how rules are tried and reported."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from friend_training.errors import FriendTrainingError

T = TypeVar("T")

BATCH_TOLERANCE = 1e-4
"""How far a confidence or score may move when the batch around it changes: floating point sums in another order."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken rule and the first fault that was found."""

    rule: str
    fault: str


class ConformanceError(FriendTrainingError):
    """All the rules that a task, matcher or friendship breaks, in one message."""

    def __init__(self, subject: str, violations: Sequence[Violation]) -> None:
        listed = "".join(f"\n  {violation.rule}: {violation.fault}" for violation in violations)
        super().__init__(f"{subject} breaks {len(violations)} rule(s):{listed}")
        self.violations = tuple(violations)

    @property
    def rules(self) -> tuple[str, ...]:
        return tuple(violation.rule for violation in self.violations)


def try_rules(subject: T, stages: Sequence[Sequence[Callable[[T], Iterator[str]]]]) -> list[Violation]:
    """The broken rules of the first stage that has any: later stages build on what earlier ones have established.

    A rule is a function that yields the faults it finds; its name is the rule's name.
    """
    for stage in stages:
        faults = {rule.__name__: _first_fault(rule, subject) for rule in stage}
        violations = [Violation(rule, fault) for rule, fault in faults.items() if fault is not None]
        if violations:
            return violations
    return []


def _first_fault(rule: Callable[[T], Iterator[str]], subject: T) -> str | None:
    try:
        return next(rule(subject), None)
    except Exception as error:  # whatever the code under test raises is its fault, and belongs in the report
        return f"raised {type(error).__name__}: {error}"
