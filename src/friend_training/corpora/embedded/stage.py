"""What all the makers of turns share: the source of chance, the domain's words, the memory, and fresh entities."""

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from friend_training.corpora.embedded.clauses import Event, choose_roles, fitting_patterns
from friend_training.corpora.embedded.entities import Domain, Entity, Inventory, Kind, inventory
from friend_training.corpora.embedded.frames import Construction, Frame, frames
from friend_training.corpora.embedded.memory import Memory
from friend_training.corpora.embedded.pattern import Pattern, Wordings


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
