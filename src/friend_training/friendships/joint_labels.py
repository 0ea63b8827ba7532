"""CSRL labels made by CSRL and its friend together: merged (`MergedRoles`), checked argument by argument
(`CheckedRoles`), or decided on together (`core.joint`), where the friend proposes arguments (`ProposedRoles`).

A predicate has several arguments, and friends who agree on most of them disagree on the predicate as a whole: a rule
that chooses whole predicates takes or leaves the good arguments with the bad ones. Here the argument is what is chosen.
The three readers are CSRL, which has the whole dialogue; the bridge on u_t as it stands; and the friend, that is the
bridge on the rewrite u_t'. What stands in u_t is an argument where the bridge finds it in u_t and CSRL or the friend
agrees. In other turns CSRL alone can place an argument, so it is believed where u_t leaves its role open. Every other
span that a sentence reader has named is unsure: neither an argument nor none.

Where pronouns are resolved, one that the bridge finds in u_t is no argument (`WithoutPronouns`). Its role is open, and
here the friend can do what no sentence reader can: it tells what the pronoun stands for, and is believed unless CSRL
has found an argument of that role in another turn.

(The paper trains CSRL on its own labels only, of whole predicates.)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from friend_training.bridges.bridge import Bridge
from friend_training.core.friendship import Candidates, Predictions
from friend_training.core.task import Prediction
from friend_training.friendships.bridge_quality import bridge_roles
from friend_training.friendships.csrl_rewriting import asked_of
from friend_training.tasks.csrl.task import kind_of_roles
from friend_training.tasks.rewriting.edits import apply_script, build_script, origin
from friend_training.types import (
    SPEAKER,
    Argument,
    Dialogue,
    Insertion,
    Rewrite,
    Roles,
    Sentence,
    SentenceArgument,
    SentenceRoles,
)

# Merged labels: from each friend what it knows best.
#
# The common space of this pair is the label space of CSRL, so the rewrite's translation is an answer to CSRL's
# question, not only a check of it. Inside u_t the bridge has read the rewritten sentence, with all that sentence
# parsers know; other turns CSRL alone reads. So the merged label takes from the friend the arguments that stand in
# u_t, and from CSRL those in other turns, and bare speaker tokens, whose role the friend has not found in u_t. (The
# paper trains CSRL on its own labels only.)


Place = tuple[int, int]
"""Where a character of u_t' came from: turn and offset."""


@dataclass(frozen=True, slots=True)
class MergedRoles:
    """The predictions of CSRL with merged labels; a predicate that the rewrite has lost has CSRL's own label."""

    bridge: Bridge

    def __call__(
        self,
        inputs: Sequence[Dialogue],
        roles: Sequence[Sequence[Prediction]],
        rewrites: Sequence[Sequence[Prediction]],
    ) -> list[list[Prediction]]:
        answers = asked_of(self.bridge, inputs, rewrites)
        return [
            _of_dialogue(dialogue, own, units[0].label, found)
            for dialogue, own, units, found in zip(inputs, roles, rewrites, answers, strict=True)
        ]


def _of_dialogue(
    dialogue: Dialogue, own: Sequence[Prediction], rewrite: Rewrite, answers: Sequence[SentenceRoles | None]
) -> list[Prediction]:
    came_from, current = origin(rewrite, dialogue), len(dialogue.turns) - 1
    return [
        prediction if found is None else _merged(prediction, current, came_from, found)
        for prediction, found in zip(own, answers, strict=True)
    ]


def _merged(prediction: Prediction, current: int, came_from: Sequence[Place], found: SentenceRoles) -> Prediction:
    within = [argument for argument in arguments_in_dialogue(came_from, found) if argument.turn == current]
    taken = {argument.role for argument in within}
    unseen = [a for a in prediction.label.arguments if a.turn != current or a.start == SPEAKER]
    own = [argument for argument in unseen if argument.role not in taken]
    label = Roles(prediction.label.predicate, tuple(sorted({*within, *own})))
    return replace(prediction, label=label, content=bool(label.arguments), kind=kind_of_roles(label, current))


def arguments_in_dialogue(came_from: Sequence[Place], found: SentenceRoles) -> list[Argument]:
    """The arguments of u_t' at the places in the dialogue that their characters came from.

    A span of u_t' can be made of inserted and of kept characters: its longest run in one turn is taken for it.
    """
    arguments = []
    for argument in found.arguments:
        runs = _runs(came_from[argument.start : argument.end])
        arguments.append(Argument(argument.role, *max(runs, key=lambda run: run[2] - run[1])))
    return arguments


def _runs(places: Sequence[Place]) -> list[tuple[int, int, int]]:
    """Characters that follow each other in one turn, as (turn, start, end)."""
    runs: list[tuple[int, int, int]] = []
    for turn, offset in places:
        if runs and runs[-1][0] == turn and runs[-1][2] == offset:
            runs[-1] = (turn, runs[-1][1], offset + 1)
        else:
            runs.append((turn, offset, offset + 1))
    return runs


# Pronouns that stand for something said before.
#
# A sentence parser finds 他 as the argument of a verb; CSRL's annotators wrote down whom it stands for instead: of the
# 5,044 arguments of DuConv's training dialogues 18 are a bare pronoun of the third person or a bare demonstrative,
# though such words are all over their utterances. So where the bridge has found one, it has not found the argument, but
# it has found that the role has one, mostly in an earlier turn.


PRONOUNS = frozenset(["他", "她", "它", "他们", "她们", "它们", "其", "这", "那", "这个", "那个", "这些", "那些"])


def is_pronoun(dialogue: Dialogue, argument: Argument) -> bool:
    return argument.start != SPEAKER and _reads(dialogue.turns[argument.turn].text, argument.start, argument.end)


@dataclass(frozen=True, slots=True)
class WithoutPronouns:
    """A bridge whose answers leave out what stands for something else."""

    bridge: Bridge

    @property
    def name(self) -> str:
        return self.bridge.name

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]:
        return [
            tuple(SentenceRoles(label.predicate, _named(sentence.text, label)) for label in labels)
            for sentence, labels in zip(sentences, self.bridge.label(sentences), strict=True)
        ]


def _named(text: str, label: SentenceRoles) -> tuple[SentenceArgument, ...]:
    return tuple(argument for argument in label.arguments if not _reads(text, argument.start, argument.end))


def _reads(text: str, start: int, end: int) -> bool:
    return text[start:end] in PRONOUNS


Check = Literal["friend", "answers", "foreign", "none"]
"""Whose rewrite checks: the friend's of the same dialogue; nobody's, though the friend still tells what pronouns stand
for ("answers": all that the bridge finds in u_t counts); the rewrite of another dialogue (a control: chance); or
nobody's, and there is no friend at all (a control: the labels of "answers" without the answers)."""


Pronouns = Literal["kept", "resolved"]
"""Whether a bare pronoun that the bridge finds counts as an argument, or stands for one."""


Said = frozenset[Argument]

Confirmed = frozenset[tuple[str, int, int]]
"""Role and place in u_t of what the friend predicts too."""


@dataclass(frozen=True, slots=True)
class CheckedRoles:
    """The predictions of CSRL with labels that have been checked."""

    bridge: Bridge
    check: Check = "friend"
    pronouns: Pronouns = "kept"

    def __call__(
        self, inputs: Sequence[Dialogue], roles: Predictions, likeliest: Candidates, rewrites: Predictions
    ) -> list[list[Prediction]]:
        current = [len(dialogue.turns) - 1 for dialogue in inputs]
        plain = read_utterances(self.bridge, inputs)
        nothing: list[list[Said]] = [[frozenset() for _ in units] for units in plain]
        friend = nothing if self.check == "none" else read_rewrites(self.bridge, inputs, rewrites)
        confirmed = [_in_turn(turn, said) for turn, units in zip(current, friend, strict=True) for said in units]
        if self.check == "foreign":
            half = len(confirmed) // 2
            confirmed = confirmed[half:] + confirmed[:half]
            friend = nothing  # its places are another dialogue's
        by = iter(confirmed)
        return [
            [
                self._checked(unit, dialogue, in_u_t, in_rewrite, next(by))
                for unit, in_u_t, in_rewrite in zip(units, first, second, strict=True)
            ]
            for dialogue, units, first, second in zip(inputs, roles, plain, friend, strict=True)
        ]

    def _checked(
        self, unit: Prediction, dialogue: Dialogue, plain: Said, friend: Said, confirmed: Confirmed
    ) -> Prediction:
        current = len(dialogue.turns) - 1
        own = frozenset(unit.label.arguments)
        pronouns = {a for a in plain | friend if self.pronouns == "resolved" and is_pronoun(dialogue, a)}
        plain, friend, open_roles = plain - pronouns, friend - pronouns, {a.role for a in pronouns}
        agreed = {a for a in plain if a in own or (a.role, a.start, a.end) in confirmed}
        within = plain if self.check in ("answers", "none") else agreed
        taken = {argument.role for argument in within}
        unseen = {a for a in own if a.turn != current or a.start == SPEAKER}  # by those who read sentences
        arguments = within | {argument for argument in unseen if argument.role not in taken}
        open_roles -= taken | {argument.role for argument in unseen}
        arguments |= {a for a in friend if a.turn != current and a.role in open_roles}  # what pronouns stand for
        unsure = (plain | friend) - arguments if self.check in ("friend", "foreign") else frozenset()
        label = Roles(unit.label.predicate, tuple(sorted(arguments)), tuple(sorted(unsure)))
        return replace(unit, label=label, content=bool(arguments), kind=kind_of_roles(label, current))


def read_utterances(bridge: Bridge, inputs: Sequence[Dialogue]) -> list[list[Said]]:
    """What the bridge finds in each u_t as it stands, predicate by predicate."""
    return [[frozenset(label.arguments) for label in labels] for labels in bridge_roles(bridge, inputs)]


def read_rewrites(bridge: Bridge, inputs: Sequence[Dialogue], rewrites: Predictions) -> list[list[Said]]:
    """What the bridge finds in each u_t', where it came from; nothing for a predicate that the rewrite has lost."""
    found: list[list[Said]] = []
    for dialogue, units, answers in zip(inputs, rewrites, asked_of(bridge, inputs, rewrites), strict=True):
        came_from = origin(units[0].label, dialogue)
        found.append([frozenset(() if one is None else arguments_in_dialogue(came_from, one)) for one in answers])
    return found


def _in_turn(turn: int, said: Said) -> Confirmed:
    return frozenset((a.role, a.start, a.end) for a in said if a.turn == turn)


# Proposals: what the bridge finds in the rewrite are arguments, wherever in the dialogue they came from.


@dataclass(frozen=True, slots=True)
class ProposedRoles:
    """CSRL labels with arguments that the bridge finds in the rewrite: all of them, alone or beside CSRL's own; each of
    them by itself; and all but one."""

    bridge: Bridge
    variants: int = 3
    """Of so many of CSRL's likeliest labels."""

    def __call__(self, inputs: Sequence[Dialogue], likeliest: Candidates, friends: Predictions) -> Candidates:
        found = read_rewrites(self.bridge, inputs, friends)
        return [
            [
                [_labelled(unit[0], arguments, len(dialogue.turns) - 1) for arguments in self._proposed(unit, said)]
                for unit, said in zip(units, of_dialogue, strict=True)
            ]
            for dialogue, units, of_dialogue in zip(inputs, likeliest, found, strict=True)
        ]

    def _proposed(self, unit: Sequence[Prediction], said: Said) -> list[Said]:
        if not said:
            return []
        proposed = [said, *(said - {one} for one in said)]
        for own in unit[: self.variants]:
            arguments = frozenset(own.label.arguments)
            proposed.append(_added(arguments, said))
            proposed += [_added(arguments, frozenset({one})) for one in said]
            proposed += [_added(arguments, said - {one}) for one in said]
        return proposed


def _added(arguments: Said, new: Said) -> Said:
    """Arguments with new ones instead of those of the same roles and those that overlap them."""
    roles = {one.role for one in new}
    return new | {a for a in arguments if a.role not in roles and not any(_overlap(a, one) for one in new)}


def _overlap(one: Argument, other: Argument) -> bool:
    return one.turn == other.turn and one.start < other.end and other.start < one.end


def _labelled(unit: Prediction, arguments: Said, current: int) -> Prediction:
    label = Roles(unit.label.predicate, tuple(sorted(arguments)))
    return replace(unit, label=label, content=bool(arguments), kind=kind_of_roles(label, current))


@dataclass(frozen=True, slots=True)
class DisputedRoles:
    """Labels decided on together, with what either friend had said otherwise left open."""

    bridge: Bridge

    def __call__(
        self, inputs: Sequence[Dialogue], decided: Predictions, likeliest: Candidates, friends: Predictions
    ) -> list[list[Prediction]]:
        found = read_rewrites(self.bridge, inputs, friends)
        return [
            [
                replace(unit, label=_open(unit.label, frozenset(own.label.arguments) | said))
                for unit, (own, *_), said in zip(units, of_units, of_dialogue, strict=True)
            ]
            for units, of_units, of_dialogue in zip(decided, likeliest, found, strict=True)
        ]


def _open(label: Roles, said: Said) -> Roles:
    return replace(label, unsure=tuple(sorted(said - frozenset(label.arguments))))


def nothing_rewritten(inputs: Sequence[Dialogue], rewrites: Predictions) -> list[list[Prediction]]:
    """A friend that leaves every u_t as it stands: what is left of it is the bridge on u_t (a control)."""
    return [
        [replace(unit, label=Rewrite(dialogue.utterance.text), content=False) for unit in units]
        for dialogue, units in zip(inputs, rewrites, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class PerfectFriend:
    """A friend that never errs where its gold is known (a ceiling): its predictions, with gold labels in them."""

    gold: Mapping[str, Any]

    def __call__(self, inputs: Sequence[Dialogue], predictions: Predictions) -> list[list[Prediction]]:
        return [
            [self._right(dialogue, unit) for unit in units] for dialogue, units in zip(inputs, predictions, strict=True)
        ]

    def _right(self, dialogue: Dialogue, unit: Prediction) -> Prediction:
        label = self.gold.get(unit.unit)
        if isinstance(label, str):  # gold of a rewrite is its text, which some edits make, or none
            label = build_script(dialogue, label, span_source="dialogue")
        return unit if label is None else replace(unit, label=label)


# The other way round: an argument in another turn asks the rewriter for an insertion.


@dataclass(frozen=True, slots=True)
class ProposedInsertions:
    """Rewrites with what CSRL finds in other turns: each such argument inserted at each place of u_t, with or without
    the pronoun that stands there."""

    variants: int = 2
    """Of so many of the rewriter's likeliest scripts."""

    def __call__(self, inputs: Sequence[Dialogue], likeliest: Candidates, friends: Predictions) -> Candidates:
        return [
            [[proposed for own in unit[: self.variants] for proposed in _inserted(dialogue, own, asked_for)]]
            for dialogue, (unit,), asked_for in zip(
                inputs, likeliest, (said_elsewhere(*one) for one in zip(inputs, friends, strict=True)), strict=True
            )
        ]


def said_elsewhere(dialogue: Dialogue, roles: Sequence[Prediction]) -> list[Argument]:
    """The arguments of u_t's predicates that CSRL finds in other turns, each span once."""
    current = len(dialogue.turns) - 1
    spans = {(a.turn, a.start, a.end): a for unit in roles for a in unit.label.arguments}
    return [a for a in spans.values() if 0 <= a.turn != current and a.start != SPEAKER]


def _inserted(dialogue: Dialogue, own: Prediction, asked_for: Sequence[Argument]) -> list[Prediction]:
    text, rewrite = dialogue.utterance.text, own.label
    taken = {insertion.before for insertion in rewrite.insertions}
    proposed: list[Prediction] = []
    for argument in asked_for:
        for before in range(len(text) + 1):
            if before in taken:
                continue
            insertion = Insertion(before, argument.turn, argument.start, argument.end)
            insertions = tuple(sorted([*rewrite.insertions, insertion]))
            pronouns = {0} | {size for size in (1, 2) if text[before : before + size] in PRONOUNS}
            for size in pronouns:
                deleted = tuple(sorted({*rewrite.deleted, *range(before, before + size)}))
                script = Rewrite("", deleted, insertions)
                script = replace(script, text=apply_script(dialogue, script))
                proposed.append(replace(own, label=script, content=True, kind="changed"))
    return proposed


@dataclass(frozen=True, slots=True)
class ConfirmedEdits:
    """Rewrites edit by edit: what the friend confirms is learnt, that is an insertion of what CSRL finds in another
    turn with the deletions beside it. So is what is done at any other place, where the rewriter's likeliest scripts
    agree on it (they have at least `sure` of their probability together); all other places are left open."""

    sure: float = 0.95
    confirmed: bool = True
    """Whether the friend is asked at all; without it this is the control."""

    def __call__(
        self, inputs: Sequence[Dialogue], decided: Predictions, likeliest: Candidates, friends: Predictions
    ) -> list[list[Prediction]]:
        return [
            [
                self._settled(dialogue, unit, best, said_elsewhere(dialogue, roles) if self.confirmed else [])
                for unit, (_, *best) in zip(units, of_units, strict=True)
            ]
            for dialogue, units, of_units, roles in zip(inputs, decided, likeliest, friends, strict=True)
        ]

    def _settled(
        self, dialogue: Dialogue, unit: Prediction, best: Sequence[Prediction], asked_for: Sequence[Argument]
    ) -> Prediction:
        rewrite, places = unit.label, range(len(dialogue.utterance.text) + 1)
        known = _confirmed(dialogue, rewrite, asked_for)
        whole = sum(one.confidence for one in best)
        done = [_done_at(rewrite, place) for place in places]
        agreed = [0.0 for _ in places]
        for one in best:
            for place in places:
                agreed[place] += one.confidence * (_done_at(one.label, place) == done[place])
        known |= {place for place in places if agreed[place] >= self.sure * whole}
        unsure = tuple(place for place in places if place not in known)
        learnt = any(insertion.before in known for insertion in rewrite.insertions)
        return replace(unit, label=replace(rewrite, unsure=unsure), content=learnt)


def _done_at(rewrite: Rewrite, place: int) -> tuple[bool, tuple[Insertion, ...]]:
    """Whether the character there is deleted, and what is inserted before it."""
    return place in rewrite.deleted, tuple(i for i in rewrite.insertions if i.before == place)


def _confirmed(dialogue: Dialogue, rewrite: Rewrite, asked_for: Sequence[Argument]) -> set[int]:
    """The places of insertions of what is asked for, with those of the deletions on either side."""
    said = {dialogue.turns[a.turn].text[a.start : a.end] for a in asked_for}
    places: set[int] = set()
    for insertion in rewrite.insertions:
        if dialogue.turns[insertion.turn].text[insertion.start : insertion.end] in said:
            places.add(insertion.before)
            for step, at in ((1, insertion.before), (-1, insertion.before - 1)):
                while at in rewrite.deleted:
                    places.add(at)
                    at += step
    return places
