"""CSRL's labels checked argument by argument: three readers, and what only one of them has read teaches nothing.

A predicate has several arguments, and friends who agree on most of them disagree on the predicate as a whole: a rule
that chooses whole predicates takes or leaves the good arguments with the bad ones. Here the argument is what is chosen.
The three readers are CSRL, which has the whole dialogue; the bridge on u_t as it stands; and the friend, that is the
bridge on the rewrite u_t'. What stands in u_t is an argument where the bridge finds it in u_t and CSRL or the friend
agrees. In other turns CSRL alone can place an argument, so it is believed where u_t leaves its role open. Every other
span that a sentence reader has named is unsure: neither an argument nor none.

Where pronouns are resolved, one that the bridge finds in u_t is no argument (pronouns.py). Its role is open, and here
the friend can do what no sentence reader can: it says what the pronoun stands for, and is believed unless CSRL has
found an argument of that role in another turn.

(The paper trains CSRL on its own labels only, of whole predicates.)
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from friend_training.core.task import Prediction
from friend_training.examples import SPEAKER, Argument, Dialogue, Roles
from friend_training.friends.bridge_parser import bridge_roles
from friend_training.friends.csrl_rewriting import asked_of
from friend_training.friends.merged_roles import arguments_in_dialogue
from friend_training.friends.pronouns import is_pronoun
from friend_training.tasks.csrl.kinds import kind_of_roles
from friend_training.tasks.rewriting.edits import origin
from friend_training.tasks.srl.bridge import Bridge

Check = Literal["friend", "answers", "foreign", "none"]
"""Whose rewrite checks: the friend's of the same dialogue; nobody's, though the friend still says what pronouns stand
for ("answers": all that the bridge finds in u_t counts); the rewrite of another dialogue (a control: chance); or
nobody's, and there is no friend at all (a control: the labels of "answers" without the answers)."""

Pronouns = Literal["kept", "resolved"]
"""Whether a bare pronoun that the bridge finds counts as an argument, or stands for one."""

Predictions = Sequence[Sequence[Prediction]]
Said = frozenset[Argument]
Confirmed = frozenset[tuple[str, int, int]]
"""Role and place in u_t of what the friend says too."""


@dataclass(frozen=True, slots=True)
class CheckedRoles:
    """The predictions of CSRL with labels that have been checked."""

    bridge: Bridge
    check: Check = "friend"
    pronouns: Pronouns = "kept"

    def __call__(self, inputs: Sequence[Dialogue], roles: Predictions, rewrites: Predictions) -> list[list[Prediction]]:
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
