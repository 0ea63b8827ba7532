"""Wordings as small patterns: 在{L}, {0}, <V> and plain text, read into tokens once.

`{0}` is the ARG0; characters before the role's code belong to it as its marker (`{在L}`). `?` after the code: the
argument can be dropped when the context gives it (its marker goes with it); `*`: the adjunct may be absent altogether.
`<V>` is the frame's verb.
"""

import re
from dataclasses import dataclass
from functools import cache

from friend_training.corpora.embedded.frames import ROLE_OF_CODE, Construction


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of one argument in a wording."""

    role: str
    marker: str
    droppable: bool
    optional: bool


@dataclass(frozen=True, slots=True)
class VerbPlace:
    """The place of the verb in a wording."""


Token = str | Slot | VerbPlace

_TOKEN = re.compile(r"\{(?P<marker>[^0-4TLP{}]*)(?P<code>[0-4TLP])(?P<flags>[?*]*)\}|(?P<verb><V>)|(?P<text>[^{}<>]+)")


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """A wording, read; its slots, by role, and the roles that must be filled."""

    tokens: tuple[Token, ...]
    slots: dict[str, Slot]
    required: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Wordings:
    """Written patterns for clauses of one mood, per construction (a construction may lack the mood)."""

    written: dict[Construction, tuple[str, ...]]


@cache
def read_pattern(written: str) -> Pattern:
    tokens: list[Token] = []
    for match in _TOKEN.finditer(written):
        if match["code"]:
            flags = match["flags"]
            tokens.append(Slot(ROLE_OF_CODE[match["code"]], match["marker"], "?" in flags, "*" in flags))
        else:
            tokens.append(VerbPlace() if match["verb"] else match["text"])
    slots = {token.role: token for token in tokens if isinstance(token, Slot)}
    return Pattern(tuple(tokens), slots, frozenset(role for role, slot in slots.items() if not slot.optional))
