"""The role names of PropBank-style SRL parsers, mapped onto those of the CSRL data (DESIGN 5.4)."""

from friend_training.examples import ROLES

_NUMBERED = {f"{prefix}{n}": f"ARG{n}" for prefix in ("A", "ARG") for n in range(5)}
_MODIFIERS = {f"ARGM-{role}": role for role in ("TMP", "LOC", "PRP")}
_OURS = {role: role for role in ROLES} | _NUMBERED | _MODIFIERS


def our_role(name: str) -> str | None:
    """Our name for a parser's role, or None for a role that the CSRL data do not have: it is left out of Σ."""
    return _OURS.get(name)
