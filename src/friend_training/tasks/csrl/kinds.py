"""Kinds of CSRL labels: does an argument stand in another turn, only in u_t, or is there none?"""

from friend_training.examples import Roles


def kind_of_roles(roles: Roles, current: int) -> str:
    """`current` is the turn of u_t."""
    if not roles.arguments:
        return "none"
    return "across" if any(argument.turn != current for argument in roles.arguments) else "within"
