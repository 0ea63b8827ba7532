"""What a label says, in words: told by its shape and not by its task, so that one place serves every kind.

Labels and inputs are those of the store and of inputs.parquet, read from JSON. Known shapes are those of types.py
(roles, rewrites, trees, heads, tags); any other label is what it says as a text.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from friend_training.types import OPENING, ROLES, SPEAKER

LONGEST = 300

PREDICATE = "predicate"
"""The mark of the predicate itself, beside the names of roles."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some words of a label and what they are: the predicate, a role, or nothing besides themselves.

    `turn` is where they stand, if not in the last turn; `unsure`: nobody knows whether they are that.
    """

    words: str
    mark: str = ""
    turn: int | None = None
    unsure: bool = False


def as_stored(value: Any) -> Any:
    """A label or an input as the store has it."""
    return TypeAdapter(type(value)).dump_python(value, mode="json")


def turns_of(given: Any) -> list[tuple[str, str]]:
    """(speaker, text) of every turn of an input; one that is no dialogue is one turn of nobody."""
    match given:
        case {"turns": list(turns)}:
            return [(turn["speaker"], turn["text"]) for turn in turns]
        case {"text": str(text)}:
            return [("", text)]
        case {"words": list(words)}:
            return [("", " ".join(words))]
        case None:
            return []
        case _:
            return [("", label_text(given))]


def label_parts(label: Any, given: Any = None) -> list[Part]:
    """What a label says of the input that is `given`, part by part: a predicate and its arguments, or one text."""
    match label:
        case {"predicate": dict(predicate), "arguments": list(arguments)} if turns := turns_of(given):
            return _role_parts(predicate, arguments, label.get("unsure", ()), turns)
        case {"text": str(text), **rest} if rest.keys() <= {"deleted", "insertions", "unsure"}:
            return [Part(text)]
        case _:
            return [Part(label_text(label, given.get("words") or () if isinstance(given, dict) else ()))]


def label_line(label: Any, given: Any = None) -> str:
    """喜欢: ARG0 [B] · ARG1 这部电影 (turn 1); turns are counted from 0, the last one is not named."""
    parts = label_parts(label, given)
    if parts[0].mark != PREDICATE:
        return parts[0].words
    return f"{parts[0].words}: {' · '.join(map(_with_turn, parts[1:])) or 'nothing'}"


def _with_turn(part: Part) -> str:
    told = f"{part.mark}{'?' * part.unsure} {part.words}"
    return told if part.turn in (None, OPENING) else f"{told} (turn {part.turn})"


def _role_parts(
    predicate: Mapping[str, int],
    arguments: Sequence[Mapping[str, Any]],
    unsure: Sequence[Mapping[str, Any]],
    turns: Sequence[tuple[str, str]],
) -> list[Part]:
    """Roles in the paper's order, then what is not known; a sentence's roles have no turn, they stand in the last."""
    last = len(turns) - 1
    found = [Part(turns[last][1][predicate["start"] : predicate["end"]], PREDICATE)]
    for one in sorted(arguments, key=lambda a: (_rank(a["role"]), a.get("turn", last), a["start"])):
        found.append(_argument(one, turns))
    open_ones = sorted(unsure, key=lambda a: (a["role"], a["turn"], a["start"]))
    return found + [_argument(one, turns, unsure=True) for one in open_ones]


def _argument(one: Mapping[str, Any], turns: Sequence[tuple[str, str]], *, unsure: bool = False) -> Part:
    last = len(turns) - 1
    turn = one.get("turn", last)
    words = span_words(turn, one["start"], one["end"], turns)
    return Part(words, one["role"], None if turn == last else turn, unsure)


def span_words(turn: int, start: int, end: int, turns: Sequence[tuple[str, str]]) -> str:
    """The words of a span of a dialogue; a speaker token is written [speaker]."""
    if turn == OPENING:
        return "[the other speaker]"
    speaker, text = turns[turn]
    words = text[max(0, start) : end]
    return f"[{speaker}]{words}" if start == SPEAKER else words


def _rank(role: str) -> int:
    return ROLES.index(role) if role in ROLES else len(ROLES)


def kinds(label: Any) -> list[str]:
    """The kinds a label belongs to, each once: the roles it has, what a rewrite does, or the label itself."""
    match label:
        case {"predicate": dict(), "arguments": list(arguments)}:
            last = max((a.get("turn", 0) for a in arguments), default=0)
            earlier = any(a.get("turn", last) < last for a in arguments)
            found = [role["role"] for role in arguments] or ["no argument"]
            return list(dict.fromkeys([*found, *(["arguments in several turns"] if earlier else [])]))
        case {"text": str(), "deleted": list(deleted), "insertions": list(insertions)}:
            done = ["one insertion"] if len(insertions) == 1 else ["more insertions"] if insertions else []
            return [*done, *(["deletion"] if deleted else [])] or ["unchanged"]
        case {"brackets": list(brackets)}:
            return list(dict.fromkeys(bracket["label"] for bracket in brackets)) or ["no phrase"]
        case {"heads": list(), "relations": list(names)} | {"tags": list(names)}:
            return list(dict.fromkeys(names))
        case _:
            return [label_text(label)]


def kinds_by_place(label: Any) -> dict[Any, str]:
    """What a label says of each place of its input: the role of a span, the tag of a word, the relation of a word to
    its head, the phrase over some words; of a whole input what a rewrite does to it, or its class."""
    match label:
        case {"predicate": dict(), "arguments": list(arguments)}:
            return {(one.get("turn"), one["start"], one["end"]): one["role"] for one in arguments}
        case {"brackets": list(brackets)}:
            return {(one["start"], one["end"]): one["label"] for one in brackets}
        case {"heads": list(heads)}:
            relations = label.get("relations") or ["head"] * len(heads)
            return {(word, head): name for word, (head, name) in enumerate(zip(heads, relations, strict=True))}
        case {"tags": list(tags)}:
            return dict(enumerate(tags))
        case _:
            return {None: " and ".join(kinds(label))}


def label_text(label: Any, words: Sequence[str] = ()) -> str:
    """A label in one line; with the words it is about, where it is one of a sentence in words."""
    match label:
        case str():
            text = label
        case {"brackets": list(brackets)} if words:
            text = _bracketed(brackets, words)
        case {"heads": list(heads)} if words:
            names = ["ROOT", *words]
            text = "  ".join(f"{word}→{names[head]}" for word, head in zip(words, heads, strict=True))
        case {"tags": list(tags)} if words:
            text = "  ".join(f"{word}/{tag}" for word, tag in zip(words, tags, strict=True))
        case _:
            text = json.dumps(label, ensure_ascii=False, separators=(", ", ": "))
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def _bracketed(brackets: Sequence[Mapping[str, Any]], words: Sequence[str]) -> str:
    opened, closed = [""] * len(words), [""] * len(words)
    for bracket in sorted(brackets, key=lambda b: (b["start"], -b["end"])):
        opened[bracket["start"]] += f"[{bracket['label']} "
        closed[bracket["end"] - 1] += "]"
    return " ".join(before + word + after for before, word, after in zip(opened, words, closed, strict=True))
