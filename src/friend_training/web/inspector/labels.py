"""Labels as the store keeps them, JSON, and what kind of thing each of them is."""

from typing import Any, Literal

from pydantic import TypeAdapter

from friend_training.examples import Dialogue, Heads, Rewrite, Roles, Tags, Tree

Kind = Literal["roles", "rewrite", "tree", "heads", "tags", "other"]

TYPES: dict[Kind, Any] = {"roles": Roles, "rewrite": Rewrite, "tree": Tree, "heads": Heads, "tags": Tags}

_KEYS: dict[Kind, set[str]] = {
    "roles": {"predicate", "arguments"},
    "rewrite": {"text", "deleted", "insertions"},
    "tree": {"brackets", "tags"},
    "heads": {"heads"},
    "tags": {"tags"},
}
_MAY_BE_THERE = {"relations", "unsure"}
_dialogue = TypeAdapter(Dialogue)


def kind_of(label: Any) -> Kind:
    """Told by its keys: tasks have names of their own, and a study may have two of a kind."""
    if isinstance(label, dict):
        for kind, keys in _KEYS.items():
            if set(label) - _MAY_BE_THERE == keys:
                return kind
    return "other"


def parsed(kind: Kind, label: Any) -> Any:
    """A label of a known kind as our own type."""
    return TypeAdapter(TYPES[kind]).validate_python(label)


def dialogue_of(given: dict[str, Any] | None) -> Dialogue | None:
    """An input as a dialogue, if it is known and is one."""
    return None if given is None or "turns" not in given else _dialogue.validate_python(given)
