"""The bridge: a fixed sentence-level SRL parser that carries rewritten utterances over to the space of CSRL labels."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol

from friend_training.errors import ConfigError, RunError
from friend_training.examples import Predicate, Sentence, SentenceRoles


class Bridge(Protocol):
    """Extracts the arguments B_k of given predicates from sentences (section 4.2), in large batches.

    For each sentence one `SentenceRoles` per given predicate, in that order, arguments sorted and in our role names
    (`ROLES`); other roles are left out. A bridge that finds predicates by itself answers with no arguments for a given
    predicate that it did not find.
    """

    @property
    def name(self) -> str: ...

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]: ...


Key = tuple[str, tuple[Predicate, ...]]


class CachedBridge:
    """A bridge that remembers its answers by text and predicates; the least recently used are forgotten first.

    From one iteration to the next most rewrites stay the same, and so do most utterances that need no rewriting.
    """

    def __init__(self, bridge: Bridge, *, max_entries: int) -> None:
        if max_entries < 1:
            raise ConfigError(f"max_entries must be at least 1, not {max_entries}")
        self.bridge = bridge
        self.name = bridge.name
        self.max_entries = max_entries
        self._answers: OrderedDict[Key, tuple[SentenceRoles, ...]] = OrderedDict()

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]:
        """What the bridge says, each different sentence asked once, all new ones in one batch.

        The batch may be larger than the cache: answers are given from the batch first, then as many kept as fit.
        """
        keys = [(sentence.text, sentence.predicates) for sentence in sentences]
        answers = {key: self._answers[key] for key in keys if key in self._answers}
        new = {key: sentence for key, sentence in zip(keys, sentences, strict=True) if key not in answers}
        answers |= zip(new, self.bridge.label(list(new.values())), strict=True) if new else ()
        for key in keys:
            self._answers[key] = answers[key]
            self._answers.move_to_end(key)
        while len(self._answers) > self.max_entries:
            self._answers.popitem(last=False)
        return [answers[key] for key in keys]


class NoBridge:
    """Stands where a run has no method that asks a bridge, so that none is trained or loaded for nothing."""

    name = "none"

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]:
        raise RunError("a bridge was asked, but no method of this run is known to ask one (methods/registry.py)")
