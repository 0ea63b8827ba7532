"""A pseudo-label drawn for people: the dialogue with its arguments marked by role, the rewrite with its edits marked.

Everything here is text in pieces, each with the name of how it looks. The template makes HTML of it and escapes it:
dialogues may contain anything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from friend_training.examples import OPENING, ROLES, SPEAKER
from friend_training.report.labels import label_text


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text, how it looks (`looks` names a class of the style sheet) and what is written beside it."""

    text: str
    looks: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A turn: who speaks, what is said, and whether it is the one the label is about."""

    speaker: Piece
    pieces: tuple[Piece, ...]
    current: bool = True


@dataclass(frozen=True, slots=True)
class Drawing:
    lines: tuple[Line, ...]
    answer: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class _Mark:
    turn: int
    start: int
    end: int
    looks: str
    note: str = ""


def draw(label: Any, given: Any) -> Drawing:
    """A label and the input it is about, both as read from JSON; the input is None where its text was not kept."""
    turns = _turns(given)
    match label:
        case {"predicate": dict(predicate), "arguments": list(arguments)} if turns:
            return _roles(predicate, arguments, label.get("unsure", ()), turns)
        case {"text": str(), "deleted": list(), "insertions": list()} if turns:
            return Drawing(_lines(turns, []), tuple(_rewrite(label, turns)))
        case _:
            words = given.get("words", ()) if isinstance(given, dict) else ()
            return Drawing(_lines(turns, []), (Piece(label_text(label, words)),))


def role_class(role: str) -> str:
    """Roles have their colours by their place in the paper's order; unknown ones share one."""
    return f"role role-{ROLES.index(role)}" if role in ROLES else "role"


def _turns(given: Any) -> list[tuple[str, str]]:
    """(speaker, text) of every turn; inputs that are no dialogues are one turn of nobody."""
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


def _roles(
    predicate: Mapping[str, int],
    arguments: Sequence[Mapping[str, Any]],
    unsure: Sequence[Mapping[str, Any]],
    turns: Sequence[tuple[str, str]],
) -> Drawing:
    last = len(turns) - 1
    marks = [_Mark(last, predicate["start"], predicate["end"], "predicate")]
    marks += [_Mark(a.get("turn", last), a["start"], a["end"], role_class(a["role"]), a["role"]) for a in arguments]
    answer = [Piece(turns[last][1][predicate["start"] : predicate["end"]], "predicate")]
    answer += [Piece(_words(mark, turns), mark.looks, mark.note) for mark in marks[1:]] or [
        Piece("no argument", "none")
    ]
    open_marks = [_Mark(a["turn"], a["start"], a["end"], "role unsure", f"{a['role']}?") for a in unsure]
    answer += [Piece(_words(mark, turns), mark.looks, mark.note) for mark in open_marks]
    return Drawing(_lines(turns, [*marks, *open_marks]), tuple(answer))


def _words(mark: _Mark, turns: Sequence[tuple[str, str]]) -> str:
    if mark.turn == OPENING:
        return "the other speaker"
    speaker, text = turns[mark.turn]
    words = text[max(0, mark.start) : mark.end]
    return f"[{speaker}]{words}" if mark.start == SPEAKER else words


def _lines(turns: Sequence[tuple[str, str]], marks: Sequence[_Mark]) -> tuple[Line, ...]:
    lines = []
    for opening in [mark for mark in marks if mark.turn == OPENING]:
        lines.append(Line(Piece("the other speaker", opening.looks, opening.note), (), current=False))
    for number, (speaker, text) in enumerate(turns):
        here = [mark for mark in marks if mark.turn == number]
        tokens = [mark for mark in here if mark.start == SPEAKER]
        who = Piece(speaker, tokens[0].looks, tokens[0].note) if tokens else Piece(speaker)
        lines.append(Line(who, tuple(_marked(text, here)), current=number == len(turns) - 1))
    return tuple(lines)


def _marked(text: str, marks: Sequence[_Mark]) -> list[Piece]:
    """Cut a text where marks begin and end; where several overlap, the shortest shows and all are named."""
    borders = {0, len(text)}
    for mark in marks:
        borders |= {min(max(0, mark.start), len(text)), min(max(0, mark.end), len(text))}
    cuts = sorted(borders)
    pieces = []
    for start, end in pairwise(cuts):
        over = sorted((m for m in marks if m.start <= start and end <= m.end), key=lambda m: m.end - m.start)
        notes = "+".join(mark.note for mark in over if mark.note)
        pieces.append(Piece(text[start:end], over[0].looks, notes) if over else Piece(text[start:end]))
    return pieces


def _rewrite(label: Mapping[str, Any], turns: Sequence[tuple[str, str]]) -> list[Piece]:
    """u_t with what is deleted struck out and what is inserted underlined, in reading order."""
    text, deleted = turns[-1][1], set(label["deleted"])
    inserted = {one["before"]: turns[one["turn"]][1][one["start"] : one["end"]] for one in label["insertions"]}
    pieces: list[Piece] = []
    for offset in range(len(text) + 1):
        if offset in inserted:
            pieces.append(Piece(inserted[offset], "inserted"))
        if offset < len(text):
            looks = "deleted" if offset in deleted else ""
            if pieces and pieces[-1].looks == looks:
                pieces[-1] = Piece(pieces[-1].text + text[offset], looks)
            else:
                pieces.append(Piece(text[offset], looks))
    return pieces
