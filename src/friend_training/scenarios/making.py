"""How much of the data of a run is there already, told while they are made or read."""

from collections.abc import Callable

from friend_training.corpora import embedded
from friend_training.corpora.embedded import Domain, EmbeddedDialogue
from friend_training.examples import SrlExample

Progress = Callable[[int, int], None]
"""Told how many of how many are done."""

AT_ONCE = 250
"""Embedded dialogues made between two reports: a third of a second."""


class Making:
    """Counts up to a known total, in whatever takes about the same time."""

    def __init__(self, total: int, progress: Progress) -> None:
        self.total, self.progress = total, progress
        self.done = 0

    def add(self, count: int) -> None:
        self.done += count
        self.progress(self.done, self.total)

    def part(self, size: int) -> Progress:
        """Progress of a part of this work, which is `size` of its total, however the part itself counts."""
        before = self.done

        def advanced(done: int, total: int) -> None:
            self.done = before + size * done // total
            self.progress(self.done, self.total)

        return advanced

    def dialogues(self, count: int, *, seed: int, domain: Domain, prefix: str) -> list[EmbeddedDialogue]:
        made: list[EmbeddedDialogue] = []
        while len(made) < count:
            some = min(AT_ONCE, count - len(made))
            made += embedded.generate(some, seed=seed, domain=domain, prefix=prefix, first=len(made))
            self.add(some)
        return made

    def sentences(self, count: int, *, seed: int) -> list[SrlExample]:
        made = embedded.generate_sentences(count, seed=seed)
        self.add(count)
        return made
