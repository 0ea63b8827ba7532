"""What the dialogue has said so far: the turns, who was mentioned where, and what a short form would refer to now."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from friend_training.corpora.embedded.entities import Entity, Kind
from friend_training.corpora.embedded.pieces import Piece, Place, Source
from friend_training.examples import SPEAKER, Turn

SPEAKERS = ("A", "B")

ATTENTION = 3
"""How many turns back a short form can refer, unless the turn before takes up something older."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A full mention of an entity in the context."""

    entity: Entity
    place: Place
    salient: bool
    dismissed: bool


@dataclass(slots=True)
class Memory:
    """The context, growing turn by turn; the speakers alternate and A begins."""

    turns: list[Turn] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)

    @property
    def speaker(self) -> Entity:
        """Who speaks next."""
        return Entity(Kind.SPEAKER, SPEAKERS[len(self.turns) % 2])

    @property
    def listener(self) -> Entity:
        return Entity(Kind.SPEAKER, SPEAKERS[(len(self.turns) + 1) % 2])

    def say(self, pieces: Sequence[Piece]) -> None:
        turn, text = len(self.turns), ""
        for piece in pieces:
            if piece.is_full_mention and piece.entity is not None and piece.entity.kind is not Kind.SPEAKER:
                place = Place(turn, len(text), len(text) + len(piece.text))
                self.mentions.append(Mention(piece.entity, place, piece.salient, piece.dismissed))
            text += piece.text
        self.turns.append(Turn(self.speaker.text, text))

    def referent(self, kinds: Collection[Kind]) -> Entity | None:
        """The entity that a short form for `kinds` refers to in the next turn: the rule that decides all anaphora here.

        The latest turn that names a fitting entity, other than to set it aside, decides; in it the entity it is about,
        or else its first.
        """
        oldest = len(self.turns) - ATTENTION
        fitting = [m for m in self.mentions if m.entity.kind in kinds and not m.dismissed and m.place.turn >= oldest]
        if not fitting:
            return None
        latest = [m for m in fitting if m.place.turn == fitting[-1].place.turn]
        return next((m for m in latest if m.salient), latest[0]).entity

    def source(self, entity: Entity, *, marker: str = "") -> Source | None:
        """How to recover `entity`: its nearest full mention (with the marker before it, if one is dropped as well).

        A speaker is recovered as the nearest speaker token: for 我 the one of u_t itself, for 你 the one of the turn
        before. The rewrite copies the pronoun from its nearest occurrence in the context. None: it cannot be recovered.
        """
        if entity.kind is Kind.SPEAKER:
            return self._speaker_source(entity)
        place = next((m.place for m in reversed(self.mentions) if m.entity == entity), None)
        if place is None:
            return None
        copied = Place(place.turn, place.start - len(marker), place.end)
        text = self.turns[place.turn].text[max(copied.start, 0) : copied.end]
        if text != marker + entity.text:
            return None
        return Source(gold=place, copied=copied, text=text, lead=len(marker))

    def _speaker_source(self, entity: Entity) -> Source | None:
        pronoun = "我" if entity == self.speaker else "你"
        token_turn = len(self.turns) - (0 if entity == self.speaker else 1)
        for turn in reversed(range(len(self.turns))):
            at = self.turns[turn].text.rfind(pronoun)
            if at >= 0:
                return Source(Place(token_turn, SPEAKER, 0), Place(turn, at, at + 1), pronoun)
        return None
