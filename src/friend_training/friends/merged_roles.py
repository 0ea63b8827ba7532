"""What CSRL and the rewrite say together, as one CSRL label: each friend says what it knows best.

The common space of this pair is the label space of CSRL, so the rewrite's translation is an answer to CSRL's question,
not only a check of it. Inside u_t the bridge has read the rewritten sentence, with all that sentence parsers know; in
other turns CSRL alone looks. So the merged label takes from the friend the arguments that stand in u_t, and from CSRL
those in other turns, and bare speaker tokens, whose role the friend has not found in u_t. (The paper trains CSRL on its
own labels only.)
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from friend_training.core.task import Prediction
from friend_training.examples import SPEAKER, Argument, Dialogue, Rewrite, Roles, SentenceRoles
from friend_training.friends.csrl_rewriting import asked_of
from friend_training.tasks.csrl.kinds import kind_of_roles
from friend_training.tasks.rewriting.edits import origin
from friend_training.tasks.srl.bridge import Bridge

Place = tuple[int, int]
"""Where a character of u_t' came from: turn and offset."""


@dataclass(frozen=True, slots=True)
class MergedRoles:
    """The predictions of CSRL with merged labels; a predicate that the rewrite has lost keeps CSRL's own label."""

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
