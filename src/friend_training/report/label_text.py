"""A pseudo-label drawn for people: the dialogue with its arguments marked by role, the rewrite with its edits marked.

Everything here is text in pieces, each with the name of how it looks. The template makes HTML of it and escapes it:
dialogues may contain anything.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any, Literal

from rich.text import Text

from friend_training.tasks.label_text import (
    PREDICATE,
    kinds,
    kinds_by_place,
    label_parts,
    label_text,
    span_words,
    turns_of,
)
from friend_training.tasks.rewriting.edits import inserted_text
from friend_training.types import OPENING, ROLES, SPEAKER, Dialogue, Rewrite, Roles, SentenceRoles

# One pseudo-label as a person reads it: the input, what the model says of it, and what the selector made of it.


def readable(row: Mapping[str, Any], given: Any) -> Text:
    """A row of the store and the input it is about, as inputs.parquet has it."""
    text = Text()
    turns = turns_of(given)
    for number, (speaker, said) in enumerate(turns):
        style = "" if number == len(turns) - 1 else "dim"
        text.append(f"  {speaker}: {said}\n" if speaker else f"  {said}\n", style=style)
    _add_label(text, json.loads(row["label"]), given)
    text.append(f"  {_scores(row)}", style="cyan")
    return text


def _add_label(text: Text, label: Any, given: Any) -> None:
    first, *others = label_parts(label, given)
    text.append("  → ")
    text.append(first.words, style="bold")
    if first.mark != PREDICATE:
        is_rewrite = isinstance(label, dict) and "text" in label
        text.append("  (unchanged)\n" if is_rewrite and first.words == turns_of(given)[-1][1] else "\n")
        return
    for part in others:
        if part.unsure:
            text.append(f"  {part.mark}? {part.words}", style="dim")
        else:
            text.append(f"  {part.mark} ", style="magenta")
            text.append(part.words, style="bold")
    text.append("\n" if any(not part.unsure for part in others) else "  (no arguments)\n")


def _scores(row: Mapping[str, Any]) -> str:
    """'match 0.95, confidence 0.61, overall 0.88 ≥ 0.60: chosen; it is right'."""
    parts = ["nothing to match" if row["match"] is None else f"match {row['match']:.2f}"]
    parts.append(f"confidence {row['confidence']:.2f}")
    if row["overall"] is not None:
        against = ""
        if row["threshold"]:  # none, or 0, which every score reaches
            against = f" {'≥' if row['overall'] >= row['threshold'] else '<'} {row['threshold']:.2f}"
        parts.append(f"overall {row['overall']:.2f}{against}")
    decision = "chosen" if row["chosen"] else f"rejected ({row['reason']})"
    truth = {None: "", True: "; it is right", False: "; it is wrong"}[row["correct"]]
    return f"{', '.join(parts)}: {decision}{truth}"


# How often labels of each kind are predicted and chosen.


MOST_KINDS = 16
"""So many kinds of label are told apart; a classifier with more classes shows its most frequent ones."""


@dataclass(frozen=True, slots=True)
class Share:
    """How many labels are of this kind: of gold, of everything predicted, and of what was chosen. None: no labels."""

    kind: str
    gold: float | None
    predicted: float | None
    chosen: float | None


def shares(gold: Iterable[str], predicted: Sequence[str], chosen: Sequence[str]) -> list[Share]:
    """By kind: roles in their own order, others from the most frequent in gold and among the chosen."""
    counted = [_count(labels) for labels in (gold, predicted, chosen)]
    total: Counter[str] = Counter()
    for counts, size in counted:
        total.update({kind: count / size for kind, count in counts.items()})
    order = sorted(total, key=lambda kind: (ROLES.index(kind) if kind in ROLES else len(ROLES), -total[kind], kind))
    return [
        Share(kind, *(counts[kind] / size if size else None for counts, size in counted)) for kind in order[:MOST_KINDS]
    ]


def _count(labels: Iterable[str]) -> tuple[Counter[str], int]:
    # Labels repeat: each different one is read once.
    distinct = Counter(labels)
    counts: Counter[str] = Counter()
    for text, times in distinct.items():
        for kind in kinds(json.loads(text)):
            counts[kind] += times
    return counts, distinct.total()


# Which kinds are taken for which: gold beside what was predicted, place by place.


NOTHING = "nothing"
"""What stands at a place of which only one of the two labels says something."""

MOST_CONFUSED = 10


@dataclass(frozen=True, slots=True)
class Confusion:
    """`rows` are the kinds of gold, and how often each was predicted as the kinds of `columns`."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]


def confusion(pairs: Iterable[tuple[str, str]]) -> Confusion | None:
    """Of (gold, predicted) labels; None where there are fewer than two kinds to confuse."""
    counts: Counter[tuple[str, str]] = Counter()
    for texts, times in Counter(pairs).items():
        gold, predicted = (kinds_by_place(json.loads(text)) for text in texts)
        for place in gold.keys() | predicted.keys():
            counts[gold.get(place, NOTHING), predicted.get(place, NOTHING)] += times
    total: Counter[str] = Counter()
    for (there, said), times in counts.items():
        total.update({there: times, said: times})
    del total[NOTHING]
    most = [kind for kind, _ in sorted(total.items(), key=lambda one: (-one[1], one[0]))[:MOST_CONFUSED]]
    shown = sorted(most, key=lambda kind: (ROLES.index(kind) if kind in ROLES else len(ROLES), most.index(kind)))
    if len(shown) < 2:
        return None
    columns = [*shown, *([NOTHING] if any(NOTHING in pair for pair in counts) else [])]
    return Confusion(tuple(columns), tuple((kind, tuple(counts[kind, said] for said in columns)) for kind in columns))


def beside_gold(gold: str, predicted: str, given: str | None) -> tuple[str, str] | None:
    """A gold label and what was predicted, to be counted by kinds. Gold of a rewrite is a text: it tells whether the
    utterance is to be changed, and nothing where the input was not kept."""
    right, said = json.loads(gold), json.loads(predicted)
    if not isinstance(right, str) or not isinstance(said, dict):
        return gold, predicted
    if given is None:
        return None
    changed = right != turns_of(json.loads(given))[-1][1], bool(said["deleted"] or said["insertions"])
    there, made = ("rewritten" if one else "unchanged" for one in changed)
    return json.dumps(there), json.dumps(made)


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
    turns = turns_of(given)
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
    answer += [_piece(mark, turns) for mark in marks[1:]] or [Piece("no argument", "none")]
    open_marks = [_Mark(a["turn"], a["start"], a["end"], "role unsure", f"{a['role']}?") for a in unsure]
    answer += [_piece(mark, turns) for mark in open_marks]
    return Drawing(_lines(turns, [*marks, *open_marks]), tuple(answer))


def _piece(mark: _Mark, turns: Sequence[tuple[str, str]]) -> Piece:
    return Piece(span_words(mark.turn, mark.start, mark.end, turns), mark.looks, mark.note)


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
    texts = [said for _, said in turns]
    inserted = {
        one["before"]: inserted_text(texts, one["turn"], one["start"], one["end"]) for one in label["insertions"]
    }
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


# What a page colours in a dialogue: marks on its characters, and a rewrite as what stays, goes and comes.
#
# Offsets count characters (code points), as everywhere here; the page cuts its texts by code points too.


SOURCE = "source"
"""What a rewrite takes from a turn."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Characters [start, end) of a turn are this. [-1, 0) is the speaker; turn -1 is the opening turn, without text."""

    turn: int
    start: int
    end: int
    what: str


@dataclass(frozen=True, slots=True)
class EditPiece:
    """A stretch of a rewrite: kept, deleted, or inserted from a turn."""

    kind: Literal["kept", "deleted", "inserted"]
    text: str
    turn: int | None = None


def marks(dialogue: Dialogue, label: Roles | Rewrite) -> list[Mark]:
    """The predicate and its arguments, or what the rewrite inserts, where they stand in the dialogue."""
    if isinstance(label, Rewrite):
        return [Mark(insertion.turn, insertion.start, insertion.end, SOURCE) for insertion in label.insertions]
    current = len(dialogue.turns) - 1
    found = [Mark(argument.turn, argument.start, argument.end, argument.role) for argument in label.arguments]
    return [*found, Mark(current, label.predicate.start, label.predicate.end, PREDICATE)]


def sentence_marks(label: SentenceRoles) -> list[Mark]:
    """What the bridge sees in a sentence, which counts as turn 0."""
    found = [Mark(0, argument.start, argument.end, argument.role) for argument in label.arguments]
    return [*found, Mark(0, label.predicate.start, label.predicate.end, PREDICATE)]


def edits(dialogue: Dialogue, rewrite: Rewrite) -> list[EditPiece]:
    """u_t and u_t' in one, from left to right."""
    utterance = dialogue.utterance.text
    inserted = {insertion.before: insertion for insertion in rewrite.insertions}
    deleted = set(rewrite.deleted)
    pieces: list[EditPiece] = []
    for offset in range(len(utterance) + 1):
        if offset in inserted:
            span = inserted[offset]
            said = inserted_text([turn.text for turn in dialogue.turns], span.turn, span.start, span.end)
            pieces.append(EditPiece("inserted", said, span.turn))
        if offset < len(utterance):
            pieces.append(EditPiece("deleted" if offset in deleted else "kept", utterance[offset]))
    joined = groupby(pieces, key=lambda piece: (piece.kind, piece.turn))
    return [EditPiece(kind, "".join(piece.text for piece in group), turn) for (kind, turn), group in joined]
