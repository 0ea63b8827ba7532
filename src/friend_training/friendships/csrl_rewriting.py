"""The friendship of the paper's case study (section 4.2): CSRL and dialogue rewriting meet in arguments.

The common space Σ is the label space of CSRL as text: for each of the K predicates of u_t, its arguments (role and
string). CSRL's arguments are read off the dialogue. The rewrite u_t' is given to a sentence-level SRL parser with fixed
parameters, the bridge, which is queried for each predicate at its exact place in u_t'.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cpdist

from friend_training.bridges.bridge import Bridge
from friend_training.core.friendship import Friendship, Match
from friend_training.core.task import Prediction
from friend_training.tasks.rewriting.edits import place_of
from friend_training.types import ROLES, SPEAKER, Dialogue, Predicate, Rewrite, Roles, Sentence, SentenceRoles

Scoring = Literal["paper", "role-aware"]

Mean = Literal["geometric", "arithmetic"]

SpeakerPolicy = Literal["keep", "drop"]


@dataclass(frozen=True, slots=True)
class RoleString:
    """An element of a translated argument set. `implied`: a bare speaker token, written out as 我 or 你 by us."""

    role: str
    text: str
    implied: bool = False


Sigma = tuple[tuple[RoleString, ...], ...]
"""One input in the common space: the arguments of each predicate of u_t, in the paper's order of roles."""


def translate_roles(inputs: Sequence[Dialogue], predictions: Sequence[Sequence[Prediction]]) -> list[Sigma]:
    """F_a: the arguments of each predicate as strings; a bare speaker token becomes 我 or 你."""
    return [
        tuple(_strings_of(dialogue, unit.label) for unit in units)
        for dialogue, units in zip(inputs, predictions, strict=True)
    ]


def _strings_of(dialogue: Dialogue, label: Roles) -> tuple[RoleString, ...]:
    strings: list[RoleString] = []
    for argument in sorted(label.arguments, key=lambda a: (ROLES.index(a.role), a.turn, a.start)):
        if argument.start == SPEAKER:
            # The opening turn (-1) belongs to whoever does not speak first.
            same_as_first = dialogue.turns[0].speaker == dialogue.utterance.speaker
            own = (
                not same_as_first
                if argument.turn < 0
                else dialogue.turns[argument.turn].speaker == dialogue.utterance.speaker
            )
            words = dialogue.turns[argument.turn].text[: argument.end]  # nothing, where the token stands bare
            strings.append(RoleString(argument.role, ("我" if own else "你") + words, implied=not words))
        else:
            text = dialogue.turns[argument.turn].text[argument.start : argument.end]
            strings.append(RoleString(argument.role, text))
    return tuple(strings)


@dataclass(frozen=True, slots=True)
class TranslateRewrite:
    """F_b: what the bridge finds in u_t' for the K predicates; a predicate that the rewrite deleted has nothing."""

    bridge: Bridge

    def __call__(self, inputs: Sequence[Dialogue], predictions: Sequence[Sequence[Prediction]]) -> list[Sigma]:
        return [
            tuple(() if found is None else _sentence_strings(units[0].label.text, found) for found in answers)
            for units, answers in zip(predictions, asked_of(self.bridge, inputs, predictions), strict=True)
        ]


def asked_of(
    bridge: Bridge, inputs: Sequence[Dialogue], rewrites: Sequence[Sequence[Prediction]]
) -> list[list[SentenceRoles | None]]:
    """What the bridge finds in each u_t' for the K predicates of u_t; None for one that the rewrite has deleted."""
    places = [_places(dialogue, units[0].label) for dialogue, units in zip(inputs, rewrites, strict=True)]
    sentences = [
        Sentence(dialogue.id, units[0].label.text, tuple(place for place in found if place is not None))
        for dialogue, units, found in zip(inputs, rewrites, places, strict=True)
    ]
    queried = [number for number, sentence in enumerate(sentences) if sentence.predicates]
    answers = dict(zip(queried, bridge.label([sentences[number] for number in queried]), strict=True))
    found_in: list[list[SentenceRoles | None]] = []
    for number, found in enumerate(places):
        labels = iter(answers.get(number, ()))
        found_in.append([None if place is None else next(labels) for place in found])
    return found_in


def _places(dialogue: Dialogue, rewrite: Rewrite) -> list[Predicate | None]:
    spans = [place_of(rewrite, dialogue.utterance.text, p.start, p.end) for p in dialogue.predicates]
    return [None if span is None else Predicate(*span) for span in spans]


def _sentence_strings(text: str, label: SentenceRoles) -> tuple[RoleString, ...]:
    arguments = sorted(label.arguments, key=lambda a: (ROLES.index(a.role), a.start))
    return tuple(RoleString(a.role, text[a.start : a.end]) for a in arguments)


@dataclass(frozen=True, slots=True)
class RoleMatcher:
    """M: m_k for every predicate (CSRL's units) and m' for the utterance (rewriting's only unit).

    `scoring`: as in the paper, the strings of all arguments run together, which is blind to roles ('paper'); or each
    role against the same role ('role-aware'). `mean` of the m_k: geometric as in section 4.2, arithmetic as in the
    appendix's case table. `speakers`: what becomes of a bare speaker token that the other side does not write out: it
    counts ('keep'), or is left out of the comparison ('drop').
    """

    scoring: Scoring = "paper"
    mean: Mean = "geometric"
    speakers: SpeakerPolicy = "keep"

    def __call__(self, first: Sequence[Sigma], second: Sequence[Sigma]) -> list[Match]:
        """Inputs of different K only meet when friends are shuffled on purpose: predicates are then paired in turn."""
        pairs = [
            (arguments, b[k % len(b)] if b else None)
            for a, b in zip(first, second, strict=True)
            for k, arguments in enumerate(a)
        ]
        scores = iter(self._scores([(a, b) for a, b in pairs if b is not None]))
        matches: list[Match] = []
        for a, b in zip(first, second, strict=True):
            units = tuple(next(scores) if b else None for _ in a)
            known = [score for score in units if score is not None]
            matches.append(Match(units, (self._mean(known) if known else None,)))
        return matches

    def _scores(self, pairs: Sequence[tuple[tuple[RoleString, ...], tuple[RoleString, ...]]]) -> list[float]:
        """m_k = 1 - dist(⊕A, ⊕B) / max(len(⊕A), len(⊕B)) for all pairs at once; two empty sets agree."""
        groups = ((None,),) if self.scoring == "paper" else tuple((role,) for role in ROLES)
        distance = np.zeros(len(pairs))
        longest = np.zeros(len(pairs))
        kept = [self._without_implied(a, b) for a, b in pairs]
        for (role,) in groups:
            left = ["".join(s.text for s in a if role in (None, s.role)) for a, _ in kept]
            right = ["".join(s.text for s in b if role in (None, s.role)) for _, b in kept]
            if left:
                distance += cpdist(left, right, scorer=Levenshtein.distance)
                longest += np.maximum([len(text) for text in left], [len(text) for text in right])
        scores: list[float] = (1.0 - distance / np.maximum(longest, 1.0)).tolist()
        return scores

    def _without_implied(
        self, a: tuple[RoleString, ...], b: tuple[RoleString, ...]
    ) -> tuple[tuple[RoleString, ...], tuple[RoleString, ...]]:
        if self.speakers == "keep":
            return a, b
        return _drop_implied(a, b), _drop_implied(b, a)

    def _mean(self, scores: Sequence[float]) -> float:
        if self.mean == "arithmetic":
            return float(np.mean(scores))
        # In log space; one m_k of 0 makes the product 0.
        return 0.0 if min(scores) <= 0.0 else float(np.exp(np.mean(np.log(scores))))


def _drop_implied(own: tuple[RoleString, ...], other: tuple[RoleString, ...]) -> tuple[RoleString, ...]:
    written = {(string.role, string.text) for string in other}
    return tuple(string for string in own if not string.implied or (string.role, string.text) in written)


def csrl_rewriting(bridge: Bridge, matcher: RoleMatcher | None = None) -> Friendship:
    """The friendship between a task named 'csrl' and one named 'rewriting'."""
    return Friendship(
        name="csrl-rewriting",
        first="csrl",
        second="rewriting",
        translate_first=translate_roles,
        translate_second=TranslateRewrite(bridge),
        matcher=matcher or RoleMatcher(),
    )


# One matching score m_k taken apart: either friend's arguments role by role, and how many characters they differ in.
#
# The numbers are the matcher's own (`RoleMatcher`): 1 - distance / longest is the score it gives.


@dataclass(frozen=True, slots=True)
class RoleCompared:
    """What the two friends put under one role, run together, and how alike that is (1: the same)."""

    role: str
    roles_say: str
    rewrite_says: str
    match: float


@dataclass(frozen=True, slots=True)
class TakenApart:
    """m_k = 1 - distance / longest. `longest` is 0 where neither friend has an argument, which is agreement."""

    roles: tuple[RoleCompared, ...]
    distance: int
    longest: int

    @property
    def match(self) -> float:
        return 1.0 - self.distance / max(self.longest, 1)


def take_apart(matcher: RoleMatcher, a: tuple[RoleString, ...], b: tuple[RoleString, ...]) -> TakenApart:
    """The comparison of A_k (from CSRL) and B_k (from the rewrite) for one predicate, under the matcher's settings."""
    if matcher.speakers == "drop":
        a, b = _written_by_both(a, b), _written_by_both(b, a)
    roles = tuple(
        RoleCompared(role, left, right, Levenshtein.normalized_similarity(left, right))
        for role in ROLES
        for left, right in [(_joined(a, role), _joined(b, role))]
        if left or right
    )
    if matcher.scoring == "paper":  # blind to roles: the strings of all arguments run together
        pairs = [("".join(one.roles_say for one in roles), "".join(one.rewrite_says for one in roles))]
    else:
        pairs = [(one.roles_say, one.rewrite_says) for one in roles]
    return TakenApart(
        roles=roles,
        distance=sum(Levenshtein.distance(left, right) for left, right in pairs),
        longest=sum(max(len(left), len(right)) for left, right in pairs),
    )


def _joined(strings: tuple[RoleString, ...], role: str) -> str:
    return "".join(string.text for string in strings if string.role == role)


def _written_by_both(own: tuple[RoleString, ...], other: tuple[RoleString, ...]) -> tuple[RoleString, ...]:
    """Without the bare speaker tokens that the other side does not write out."""
    written = {(string.role, string.text) for string in other}
    return tuple(string for string in own if not string.implied or (string.role, string.text) in written)
