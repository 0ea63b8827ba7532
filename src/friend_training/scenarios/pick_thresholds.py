"""The pick threshold in a config: a number, or what it is to be found by (the paper's open question).

pick_threshold: 0.6
pick_threshold: {precision: 0.8}    # the lowest of which 80 % of the chosen are expected to be right, by dev
pick_threshold: {share: 0.1}        # whatever keeps a tenth of the units that can be chosen
"""

from typing import Annotated, Any

from pydantic import Discriminator, Tag

from friend_training.core import picks
from friend_training.scenarios.section import Section, Share


class ToPrecision(Section):
    """Found anew in each iteration on dev, which is labelled as if it had no labels (core/aiming.py)."""

    precision: Share


class ToShare(Section):
    """Found anew in each iteration on the pool itself."""

    share: Share


def _kind(given: Any) -> str | None:
    match given:
        case ToPrecision() | {"precision": _}:
            return "precision"
        case ToShare() | {"share": _}:
            return "share"
        case dict():
            return None
        case _:
            return "number"


PickThreshold = Annotated[
    Annotated[Share, Tag("number")] | Annotated[ToPrecision, Tag("precision")] | Annotated[ToShare, Tag("share")],
    Discriminator(
        _kind,
        custom_error_type="threshold",
        custom_error_message="expected a number, {precision: 0.8} or {share: 0.1}",
    ),
]


def pick_of(threshold: float | ToPrecision | ToShare) -> picks.Pick:
    """The rule that a selector picks by."""
    match threshold:
        case ToPrecision(precision=target):
            return picks.Precision(target)
        case ToShare(share=fraction):
            return picks.Share(fraction)
        case _:
            return picks.Threshold(threshold)


def in_words(threshold: Any) -> str:
    """As a config's JSON has it: 0.6, precision 0.8, share 0.1."""
    return (
        " ".join(f"{name} {value:g}" for name, value in threshold.items())
        if isinstance(threshold, dict)
        else f"{threshold:g}"
    )
