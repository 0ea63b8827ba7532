"""What the models of a run are asked, and how much of it at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from friend_training.examples import Dialogue
from friend_training.scenarios.asked import GivenDialogue, GivenPredicate, as_dialogue

PIECES = 16_384
"""Pieces labelled at a time, counted once for each predicate: attention over more would take gigabytes."""

Kind = Literal["rewrite", "roles", "agreement"]
Numbered = dict[int, Dialogue]


@dataclass(frozen=True, slots=True)
class Question:
    """What is wanted to know of a dialogue: about the predicates it names, or about those that are found in it."""

    kind: Kind
    dialogue: Dialogue
    find: bool = False


def question(kind: Kind, given: GivenDialogue, predicates: Sequence[GivenPredicate] | None) -> Question:
    """Predicates are those given, else those that the dialogue has, else those that a finder will see."""
    dialogue = as_dialogue(given, predicates)
    return Question(kind, dialogue, find=predicates is None and not dialogue.predicates)


def in_parts(dialogues: Numbered, lengths: dict[int, int]) -> list[list[int]]:
    """The dialogues in parts of at most `PIECES` pieces, or of one dialogue; a length counts for each predicate."""
    parts: list[list[int]] = []
    used = 0
    for number, dialogue in dialogues.items():
        cost = lengths[number] * len(dialogue.predicates)
        if not parts or used + cost > PIECES:
            parts.append([])
            used = 0
        parts[-1].append(number)
        used += cost
    return parts
