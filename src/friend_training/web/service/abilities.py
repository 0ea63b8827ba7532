"""What the models of a run can be asked here: found out at the start, so that nobody is told later."""

from dataclasses import dataclass

from friend_training.errors import FriendTrainingError
from friend_training.scenarios.loading import Friends


@dataclass(frozen=True, slots=True)
class Abilities:
    """`find`: predicates need not be named. `compare`: the bridge is there. `notes`: what is missing, and why."""

    find: bool
    compare: bool
    notes: tuple[str, ...]


def abilities_of(friends: Friends) -> Abilities:
    """Opens the finder, the bridge and, by a first question, the models: the first request is as quick as the next."""
    notes: list[str] = []
    if friends.finder is None:
        notes.append("predicates must be named in every request: this run has no way to find them")
    compare = True
    try:
        friends.judge  # noqa: B018  (opened here)
    except FriendTrainingError as error:
        compare = False
        notes.append(f"no agreement can be asked for: {error}")
    words = ["你好吗？", "我来了。"]
    friends.rewrite(words)
    friends.roles(words, predicates=["来"])
    return Abilities(friends.finder is not None, compare, tuple(notes))
