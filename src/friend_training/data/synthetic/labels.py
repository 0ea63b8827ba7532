"""From the pieces of the current utterance to its text and the gold labels of all three tasks.

The labels are read off the same pieces, which is why CSRL and the rewrite say the same thing (the assumption that the
paper's translations rest on, section 4.2).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from friend_training.data.synthetic.entities import Entity
from friend_training.types import Argument, Insertion, Predicate, Rewrite, Roles, SentenceArgument, SentenceRoles

# An utterance before it is text: a sequence of pieces that know what they are, so that every label can be read off.


@dataclass(frozen=True, slots=True)
class Place:
    """Characters [start, end) of turn `turn`."""

    turn: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Source:
    """Where a short or dropped argument is recovered from.

    `gold` is the argument that CSRL points at; `copied` are the characters that the rewrite takes from the dialogue.
    They differ where a marker is copied along (在 before a place) and for a speaker token, written out as 我 or 你.
    `lead` is how many copied characters stand before the argument itself.
    """

    gold: Place
    copied: Place
    text: str
    lead: int = 0


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of characters of one utterance: plain text, a predicate, or an argument of one or more predicates.

    `roles` are (index of the predicate, role). A full mention has no `source`; with one, `text` is the short form
    ("" for a zero pronoun) that the rewrite replaces. An `echo` is a dropped argument whose full mention stands earlier
    in the same utterance. A piece that `covers` the next n pieces is a whole clause as an argument, itself empty.
    `salient` and `dismissed` say what an utterance is about, and what it names only to set it aside.
    """

    text: str
    predicate: int | None = None
    roles: tuple[tuple[int, str], ...] = ()
    entity: Entity | None = None
    source: Source | None = None
    echo: bool = False
    covers: int = 0
    salient: bool = False
    dismissed: bool = False

    @property
    def is_plain(self) -> bool:
        return self.predicate is None and not self.roles and self.entity is None

    @property
    def is_full_mention(self) -> bool:
        return self.entity is not None and self.source is None and not self.echo


@dataclass(frozen=True, slots=True)
class Labels:
    """The text of u_t and what is gold about it."""

    text: str
    roles: tuple[Roles, ...]
    rewrite: Rewrite
    sentence_roles: tuple[SentenceRoles, ...]


def read_labels(pieces: Sequence[Piece], *, turn: int) -> Labels:
    """All labels of the utterance that is turn number `turn`. Its edits must not collide (see `collision`)."""
    starts = _offsets([piece.text for piece in pieces])
    sources = [_source(i, pieces, starts, turn) for i in range(len(pieces))]
    rewritten = [piece.text if source is None else source.text for piece, source in zip(pieces, sources, strict=True)]
    rewritten_starts = _offsets(rewritten)

    predicates: dict[int, tuple[Predicate, Predicate]] = {}
    arguments: dict[int, list[Argument]] = {}
    sentence_arguments: dict[int, list[SentenceArgument]] = {}
    for i, (piece, source) in enumerate(zip(pieces, sources, strict=True)):
        last = i + piece.covers + 1
        end, rewritten_start, rewritten_end = starts[last], rewritten_starts[i], rewritten_starts[last]
        if piece.predicate is not None:
            places = Predicate(starts[i], end), Predicate(rewritten_start, rewritten_end)
            predicates[piece.predicate] = places
        gold = Place(turn, starts[i], end) if source is None else source.gold
        lead = 0 if source is None else source.lead
        for k, role in piece.roles:
            arguments.setdefault(k, []).append(Argument(role, gold.turn, gold.start, gold.end))
            argument = SentenceArgument(role, rewritten_start + lead, rewritten_end)
            sentence_arguments.setdefault(k, []).append(argument)

    return Labels(
        text="".join(piece.text for piece in pieces),
        roles=tuple(Roles(predicates[k][0], tuple(sorted(arguments.get(k, ())))) for k in sorted(predicates)),
        rewrite=_rewrite(pieces, sources, starts, "".join(rewritten)),
        sentence_roles=tuple(
            SentenceRoles(predicates[k][1], tuple(sorted(sentence_arguments.get(k, ())))) for k in sorted(predicates)
        ),
    )


def collision(pieces: Sequence[Piece], *, turn: int) -> int | None:
    """The index of the first piece whose insertion falls on the offset of another and cannot be joined to it."""
    starts = _offsets([piece.text for piece in pieces])
    last: tuple[int, Place] | None = None
    for i in range(len(pieces)):
        source = _source(i, pieces, starts, turn)
        if source is None:
            continue
        if last is not None and last[0] == starts[i] and not _adjacent(last[1], source.copied):
            return i
        last = starts[i], source.copied
    return None


def _offsets(texts: Sequence[str]) -> list[int]:
    offsets = [0]
    for text in texts:
        offsets.append(offsets[-1] + len(text))
    return offsets


def _source(i: int, pieces: Sequence[Piece], starts: Sequence[int], turn: int) -> Source | None:
    piece = pieces[i]
    if not piece.echo:
        return piece.source
    full = max(j for j in range(i) if pieces[j].entity == piece.entity and pieces[j].is_full_mention)
    place = Place(turn, starts[full], starts[full + 1])
    return Source(gold=place, copied=place, text=pieces[full].text)


def _adjacent(first: Place, second: Place) -> bool:
    return first.turn == second.turn and first.end == second.start


def _rewrite(pieces: Sequence[Piece], sources: Sequence[Source | None], starts: Sequence[int], text: str) -> Rewrite:
    """The edit script: what is copied goes in front of the short form, which is deleted.

    Two arguments dropped at one offset are one insertion, of adjacent characters.
    """
    deleted: list[int] = []
    insertions: list[Insertion] = []
    for i, source in enumerate(sources):
        if source is None:
            continue
        copied, before = source.copied, starts[i]
        deleted.extend(range(before, before + len(pieces[i].text)))
        if insertions and insertions[-1].before == before:
            copied = Place(copied.turn, insertions.pop().start, copied.end)
        insertions.append(Insertion(before, copied.turn, copied.start, copied.end))
    return Rewrite(text, tuple(deleted), tuple(insertions))
