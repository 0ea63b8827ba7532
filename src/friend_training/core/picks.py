"""The rules by which a selector picks, and the reasons it gives."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Threshold:
    """Choose every unit whose overall score reaches the pick threshold (section 4.3)."""

    value: float


@dataclass(frozen=True, slots=True)
class TotalAgreement:
    """Choose every unit whose matching score is 1 (section 3.2)."""


@dataclass(frozen=True, slots=True)
class TopN:
    """Choose the `count` units with the best overall scores; between equal ones a hash of the unit's id decides."""

    count: int


@dataclass(frozen=True, slots=True)
class Share:
    """Choose the best `fraction` of the units that can be chosen at all."""

    fraction: float


@dataclass(frozen=True, slots=True)
class Precision:
    """Choose with the lowest threshold of which at least `target` of the chosen are expected to be right.

    It is found anew in each iteration, on dev (`TaskPlan.probe`, core/aiming.py); choices of fewer than `at_least` dev
    units prove nothing.
    """

    target: float
    at_least: int = 20


@dataclass(frozen=True, slots=True)
class Random:
    """Choose `count` of the units that can be chosen at all, whatever their scores: a control."""

    count: int
    seed: int


@dataclass(frozen=True, slots=True)
class Nothing:
    """Choose no unit: training goes on with gold alone."""


Pick = Threshold | TotalAgreement | TopN | Share | Precision | Random | Nothing


class Reason(StrEnum):
    """Why a unit was chosen or not, as the store says it."""

    CHOSEN = "chosen"
    BELOW_THRESHOLD = "score below threshold"
    BELOW_AGREEMENT = "matching below 1"
    NOTHING_TO_MATCH = "nothing to match"
    NO_CONTENT = "no content"
    NOT_DRAWN = "not drawn"
    NOT_SELECTING = "not selecting"
    ACCEPTED_BY_HAND = "accepted by hand"
    CORRECTED_BY_HAND = "corrected by hand"
    REJECTED_BY_HAND = "rejected by hand"
