"""How large what we are given may be. Whatever is larger is refused with one line that names the limit.

Files come from anywhere, and a small one can ask for a lot: a gzip file of 5 MB holds gigabytes, a line of 200 MB makes
objects of 6 GB. Every limit lies far above what dialogues need, and each can be set by an environment variable:
FRIEND_TRAINING_MAX_LINE=8000000 for one command.
"""

import os
from dataclasses import dataclass, fields
from typing import Self

from friend_training.errors import ConfigError

PREFIX = "FRIEND_TRAINING_MAX_"


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that is read; `from_environment` reads what the environment sets.

    line        bytes of one line, or of one dialogue of a JSON file that is a single list
    nesting     lists and objects inside each other
    expansion   a compressed file may unfold to so many times its own size (the public ones: 3 to 28 times)
    text        characters of one dialogue or sentence
    script      characters of an utterance, and of its rewrite, between which an edit script is searched
    whole       bytes of a file that can only be read whole (Chinese PropBank), or of one dialogue over many lines
    config      bytes of a YAML file, and how many values it may have once its aliases are written out
    """

    line: int = 1 << 20
    nesting: int = 64
    expansion: int = 100
    text: int = 100_000
    script: int = 2_000
    whole: int = 16 << 20
    config: int = 100_000

    @classmethod
    def from_environment(cls) -> Self:
        given = {field.name: os.environ.get(PREFIX + field.name.upper(), "") for field in fields(cls)}
        return cls(**{name: _number(name, text) for name, text in given.items() if text})


def exceeds(name: str, limit: int) -> str:
    """The end of every message about a limit: what it is, and how to change it."""
    return f"at most {limit:,} are read (set {PREFIX}{name.upper()} for more)"


def _number(name: str, text: str) -> int:
    # Of more digits than this no number of bytes is meant, and Python refuses to read very long ones.
    if not text.isdecimal() or not text.isascii() or len(text) > 15 or int(text) == 0:
        raise ConfigError(f"{PREFIX}{name.upper()}: {text[:40]!r} was given, expected a number such as 1000000")
    return int(text)
