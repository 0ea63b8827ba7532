"""An utterance before it is text: a sequence of pieces that know what they are, so that every label can be read off."""

from dataclasses import dataclass

from friend_training.corpora.embedded.entities import Entity


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
