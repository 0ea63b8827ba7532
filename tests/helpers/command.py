"""The command as tests type it, and what it said."""

from collections.abc import Callable
from typing import NamedTuple


class Said(NamedTuple):
    code: int
    out: str
    err: str


FriendTrain = Callable[..., Said]
