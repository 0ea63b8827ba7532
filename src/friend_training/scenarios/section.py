"""What all sections of a config share: every setting is known and stays what it is."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from friend_training.errors import ConfigError

Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]

PlainName = Annotated[str, Field(pattern=r"^\w[\w.+-]*$", max_length=100)]
"""A name that folders are called by: letters, digits, . + - and _, and no way out of the folder that they are in."""

_LONGEST_SHOWN = 100


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def settings_refused(error: ValidationError, where: str) -> ConfigError:
    """All settings of a file that cannot be used: which, why, and what was given."""
    lines = [
        f"  {'.'.join(str(part) for part in found['loc'])}: {found['msg']} (given: {_shown(found['input'])})"
        for found in error.errors()
    ]
    return ConfigError(f"{where}: {len(lines)} setting(s) cannot be used:\n" + "\n".join(lines))


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
