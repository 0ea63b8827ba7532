"""What the dialogue has said so far: the turns, who was mentioned where, and what a short form would refer to now."""

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from friend_training.data.synthetic.clauses import (
    Construction,
    Event,
    Frame,
    Pattern,
    Wordings,
    choose_roles,
    fitting_patterns,
    frames,
)
from friend_training.data.synthetic.entities import Domain, Entity, Inventory, Kind, inventory
from friend_training.data.synthetic.labels import Piece, Place, Source
from friend_training.types import SPEAKER, Turn

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


# Noise as on social media. It touches plain text only, never a verb or an argument, so labels stay exact.


_LAUGHTER = ("哈哈", "哈哈哈", "嘿嘿", "呜呜", "emmm", "233")

_STOPS = ("", "~", "。。。", "！！", "……", "~~")

_QUESTIONS = ("", "??", "？？", "?")


def add_noise(pieces: list[Piece], *, rng: random.Random, rate: float) -> list[Piece]:
    """Drop or double punctuation and add laughter, each with probability `rate`."""
    noisy = [replace(p, text=_roughen(p.text, rng, rate)) if p.is_plain else p for p in pieces]
    if rng.random() < rate / 2:
        noisy.insert(0, Piece(rng.choice(_LAUGHTER) + rng.choice(("", "，"))))
    if rng.random() < rate / 2:
        noisy.append(Piece(rng.choice(_LAUGHTER)))
    return noisy


def _roughen(text: str, rng: random.Random, rate: float) -> str:
    if not any(c in text for c in "，。？！"):
        return text
    rough = ""
    for char in text:
        if char not in "，。？！" or rng.random() >= rate:
            rough += char
        elif char == "，":
            rough += rng.choice(("", ",", "，，", "…"))
        else:
            rough += rng.choice(_QUESTIONS if char == "？" else _STOPS)
    return rough


# What all the makers of turns share: the source of chance, the domain's words, the memory, and fresh entities.


@dataclass(slots=True)
class Stage:
    """One dialogue in the making."""

    rng: random.Random
    domain: Domain
    memory: Memory = field(default_factory=Memory)
    used: list[str] = field(default_factory=list)

    @property
    def entities(self) -> dict[Kind, tuple[Entity, ...]]:
        return inventory(Inventory(self.domain))

    @property
    def frames(self) -> tuple[Frame, ...]:
        return frames(self.domain)

    def fresh(self, kinds: Collection[Kind]) -> Entity:
        """An entity that was not named yet, and whose text cannot be confused with one that was."""
        kind = self.rng.choice(sorted(kind for kind in kinds if kind in self.entities))
        while True:
            entity = self.rng.choice(self.entities[kind])
            if not any(entity.text in text or text in entity.text for text in self.used):
                self.used.append(entity.text)
                return entity

    def event(
        self,
        frame: Frame,
        wordings: Wordings,
        *,
        given: Mapping[str, Entity] | None = None,
        self_rate: float = 0.25,
        selves: Sequence[Entity] = (),
    ) -> tuple[Event, Pattern]:
        """A frame with its roles filled, as `given` and else afresh (ARG0 now and then by one of the speakers)."""
        given = given or {}
        patterns = fitting_patterns(frame, wordings, having=frozenset(given))
        pattern = self.rng.choice(patterns)
        fillers = dict(given)
        for role in choose_roles(frame, pattern, self.rng):
            if role in fillers:
                continue
            if role == "ARG0" and frame.personal and self.rng.random() < self_rate:
                fillers[role] = self.rng.choice(selves or (self.memory.speaker, self.memory.listener))
            else:
                fillers[role] = self.fresh(frame.kinds[role])
        return Event(frame, self._in_order(frame, fillers)), pattern

    def _in_order(self, frame: Frame, fillers: dict[str, Entity]) -> dict[str, Entity]:
        """What rises goes from less to more, what falls from more to less."""
        if frame.construction is not Construction.PRICE:
            return fillers
        amounts = sorted((fillers["ARG3"], fillers["ARG4"]), key=self.entities[Kind.AMOUNT].index)
        start, end = amounts if frame.verb == "涨" else reversed(amounts)
        return fillers | {"ARG3": start, "ARG4": end}

    def frame_for(
        self, kind: Kind, wordings: Wordings, *, roles: Sequence[str], personal: bool = False
    ) -> tuple[Frame, str]:
        """A frame that has room for something of this kind in one of `roles`, and that role."""
        return self.rng.choice(_frames_for(self.domain, kind, wordings, tuple(roles), personal))


@cache
def _frames_for(
    domain: Domain, kind: Kind, wordings: Wordings, roles: tuple[str, ...], personal: bool
) -> list[tuple[Frame, str]]:
    return [
        (frame, role)
        for frame in frames(domain)
        for role in roles
        if kind in frame.kinds.get(role, ())
        and (frame.personal or not personal)
        and fitting_patterns(frame, wordings, having=frozenset({role}))
    ]
