"""Drawing a few labels: for CSRL so many predicates, for rewriting so many dialogues (DESIGN 5.15)."""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from friend_training.errors import ConfigError
from friend_training.examples import CsrlExample

T = TypeVar("T")


def draw_predicates(examples: Sequence[CsrlExample], count: int | None, *, seed: int) -> list[CsrlExample]:
    """`count` predicates, each with its dialogue; the other predicates of that dialogue are not seen. None: all."""
    if count is None:
        return list(examples)
    units = [(number, unit) for number, example in enumerate(examples) for unit in range(len(example.roles))]
    _check(count, len(units), "predicates")
    kept: dict[int, set[int]] = {}
    for number, unit in random.Random(f"csrl {seed}").sample(units, count):
        kept.setdefault(number, set()).add(unit)
    return [_only(examples[number], kept[number]) for number in sorted(kept)]


def draw_examples(examples: Sequence[T], count: int | None, *, seed: int) -> list[T]:
    if count is None:
        return list(examples)
    _check(count, len(examples), "examples")
    chosen = random.Random(f"examples {seed}").sample(range(len(examples)), count)
    return [examples[number] for number in sorted(chosen)]


def first_units(examples: Sequence[CsrlExample], count: int | None) -> list[CsrlExample]:
    """Whole examples, in order, until `count` predicates are together; None takes all."""
    if count is None:
        return list(examples)
    chosen: list[CsrlExample] = []
    units = 0
    for example in examples:
        if units >= count:
            break
        chosen.append(example)
        units += len(example.roles)
    return chosen


def _only(example: CsrlExample, units: set[int]) -> CsrlExample:
    roles = tuple(label for number, label in enumerate(example.roles) if number in units)
    dialogue = replace(example.dialogue, predicates=tuple(label.predicate for label in roles))
    return CsrlExample(dialogue, roles)


def _check(wanted: int, there: int, what: str) -> None:
    if wanted > there:
        raise ConfigError(f"{wanted} labelled {what} are asked for, but there are only {there}")
