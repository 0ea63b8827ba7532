"""The friendship of the paper's case study (section 4.2): CSRL and dialogue rewriting meet in arguments.

The common space Σ is the label space of CSRL as text: for each of the K predicates of u_t, its arguments (role and
string). CSRL's arguments are read off the dialogue. The rewrite u_t' is given to a sentence-level SRL parser with fixed
parameters, the bridge, which is queried for each predicate at its exact place in u_t'.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cpdist

from friend_training.bridges.bridge import Bridge
from friend_training.core.friendship import Friendship, Match
from friend_training.core.task import Prediction
from friend_training.errors import ConfigError
from friend_training.tasks.rewriting.edits import place_of
from friend_training.types import ROLES, SPEAKER, Dialogue, Predicate, Rewrite, Roles, Sentence, SentenceRoles

Scoring = Literal["paper", "role-aware"]

Mean = Literal["geometric", "arithmetic"]

SpeakerPolicy = Literal["keep", "drop"]

Numbers = npt.NDArray[np.float64]


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
            tuple(() if found is None else sentence_strings(units[0].label.text, found) for found in answers)
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


def sentence_strings(text: str, label: SentenceRoles) -> tuple[RoleString, ...]:
    """The arguments of a predicate of one sentence as strings, in the paper's order of roles."""
    arguments = sorted(label.arguments, key=lambda a: (ROLES.index(a.role), a.start))
    return tuple(RoleString(a.role, text[a.start : a.end]) for a in arguments)


@dataclass(frozen=True, slots=True)
class RoleMatch:
    """What the two friends put under one role, run together, and how alike that is (1: the same)."""

    role: str
    roles_say: str
    rewrite_says: str
    match: float


@dataclass(frozen=True, slots=True)
class PredicateMatch:
    """Where one m_k comes from: the roles one by one, and the distance and the length that the score is made of.

    `longest` is 0 where neither friend says anything, which is agreement.
    """

    roles: tuple[RoleMatch, ...]
    distance: int
    longest: int
    match: float


RoleStrings = tuple[RoleString, ...]
Pair = tuple[RoleStrings, RoleStrings]
"""A_k, the arguments of a predicate by CSRL, and B_k, those by the rewrite."""


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
            (arguments, b[k % len(b)]) for a, b in zip(first, second, strict=True) for k, arguments in enumerate(a) if b
        ]
        scores = iter(self.scores(pairs))
        matches: list[Match] = []
        for a, b in zip(first, second, strict=True):
            units = tuple(next(scores) if b else None for _ in a)
            known = [score for score in units if score is not None]
            matches.append(Match(units, (self._mean(known) if known else None,)))
        return matches

    def scores(self, pairs: Sequence[Pair]) -> list[float]:
        """m_k of each pair of A_k and B_k, all at once; two empty sets agree."""
        scores: list[float] = _match(*self._difference([self._compared(*pair) for pair in pairs])).tolist()
        return scores

    def explain(self, a: RoleStrings, b: RoleStrings) -> PredicateMatch:
        """One m_k with what it is made of: the very numbers that `scores` gives."""
        a, b = self._compared(a, b)
        there = [role for role in ROLES if _joined(a, role) or _joined(b, role)]
        left, right = ([_joined(strings, role) for role in there] for strings in (a, b))
        matches = _match(*_string_difference(left, right)).tolist()
        distance, longest = self._difference([(a, b)])
        [match] = _match(distance, longest).tolist()
        return PredicateMatch(
            tuple(RoleMatch(*of_role) for of_role in zip(there, left, right, matches, strict=True)),
            int(distance[0]),
            int(longest[0]),
            match,
        )

    def _difference(self, pairs: Sequence[Pair]) -> tuple[Numbers, Numbers]:
        """dist(⊕A, ⊕B) and max(len(⊕A), len(⊕B)) of each pair, over all roles or summed over each of them."""
        distance, longest = np.zeros(len(pairs)), np.zeros(len(pairs))
        there = [
            (at, _joined(a, role), _joined(b, role))
            for at, (a, b) in enumerate(pairs)
            for role in ({None} if self.scoring == "paper" else {string.role for string in (*a, *b)})
        ]
        if there:
            places, left, right = zip(*there, strict=True)
            apart, length = _string_difference(left, right)
            np.add.at(distance, list(places), apart)  # whole numbers: their order makes no difference
            np.add.at(longest, list(places), length)
        return distance, longest

    def _compared(self, a: RoleStrings, b: RoleStrings) -> Pair:
        """What of both sides is compared."""
        return (a, b) if self.speakers == "keep" else (_without_implied(a, b), _without_implied(b, a))

    def _mean(self, scores: Sequence[float]) -> float:
        if self.mean == "arithmetic":
            return float(np.mean(scores))
        # In log space; one m_k of 0 makes the product 0.
        return 0.0 if min(scores) <= 0.0 else float(np.exp(np.mean(np.log(scores))))


def _match(distance: Numbers, longest: Numbers) -> Numbers:
    """The paper's m_k = 1 - dist(⊕A, ⊕B) / max(len(⊕A), len(⊕B)) (section 4.2), over characters."""
    return 1.0 - distance / np.maximum(longest, 1.0)


def _string_difference(left: Sequence[str], right: Sequence[str]) -> tuple[Numbers, Numbers]:
    if not left:
        return np.zeros(0), np.zeros(0)
    distance: Numbers = cpdist(left, right, scorer=Levenshtein.distance).astype(np.float64)
    return distance, np.maximum([len(text) for text in left], [len(text) for text in right]).astype(np.float64)


def _joined(strings: RoleStrings, role: str | None) -> str:
    """⊕: the strings of one role, or of all of them, run together."""
    return "".join(string.text for string in strings if role in (None, string.role))


def _without_implied(own: RoleStrings, other: RoleStrings) -> RoleStrings:
    """Without the bare speaker tokens that the other side does not write out."""
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


def rewriting_friendship(
    bridge: str | Path, *, scoring: Scoring = "paper", mean: Mean = "geometric", speakers: SpeakerPolicy = "keep"
) -> Friendship:
    """`Csrl` and `Rewriting` as friends, by way of a bridge that is there already.

    `bridge` is a folder: of a bridge that a run of this package has trained (RUN/bridge), or of LTP's parser.
    """
    parser = BridgeInFolder(Path(bridge).resolve())
    compared = {"scoring": scoring, "mean": mean, "speakers": speakers}
    section = {"kind": "csrl-rewriting", "bridge": {"kind": parser.kind, "source": str(parser.folder)}}
    return replace(csrl_rewriting(parser, RoleMatcher(scoring, mean, speakers)), described=section | compared)


class BridgeInFolder:
    """A bridge that is opened when it is asked for the first time."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.name = folder, folder.name
        kinds = {"task.json": "saved", "task_heads.safetensors": "ltp"}
        found = [kind for file, kind in kinds.items() if (folder / file).is_file()]
        if not found:
            raise ConfigError(f"{folder}: expected the folder of a bridge that a run has trained, or of LTP's parser")
        self.kind = found[0]

    @cached_property
    def _opened(self) -> Bridge:
        # Only now: torch and a parser's weights take seconds.
        if self.kind == "saved":
            from friend_training.tasks.csrl.task import open_bridge

            return open_bridge(self.folder)
        from friend_training.bridges.ltp import LtpParser

        return LtpParser.load(self.folder)

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]:
        return self._opened.label(sentences)
