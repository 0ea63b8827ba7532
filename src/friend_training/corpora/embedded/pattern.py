"""Wordings as small patterns: 在{L}, {0}, <V> and plain text, read into tokens once.

`{0}` is the ARG0; characters before the role's code belong to it as its marker (`{在L}`). `?` after the code: the
argument can be dropped when the context gives it (its marker goes with it); `*`: the adjunct may be absent altogether.
`<V>` is the frame's verb.
"""

import re
from dataclasses import dataclass
from functools import cache

from friend_training.corpora.embedded.frames import ROLE_OF_CODE


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


@dataclass(frozen=True, slots=True)
class Pattern:
    """A wording, read."""

    tokens: tuple[Token, ...]

    @property
    def slots(self) -> dict[str, Slot]:
        return {token.role: token for token in self.tokens if isinstance(token, Slot)}

    @property
    def required(self) -> frozenset[str]:
        return frozenset(slot.role for slot in self.slots.values() if not slot.optional)


@cache
def read_pattern(written: str) -> Pattern:
    tokens: list[Token] = []
    for match in _TOKEN.finditer(written):
        if match["code"]:
            flags = match["flags"]
            tokens.append(Slot(ROLE_OF_CODE[match["code"]], match["marker"], "?" in flags, "*" in flags))
        else:
            tokens.append(VerbPlace() if match["verb"] else match["text"])
    return Pattern(tuple(tokens))
