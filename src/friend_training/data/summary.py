"""What a file of examples holds, in numbers."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any

from friend_training.data.text_io import NamesOnDisk
from friend_training.types import (
    SPEAKER,
    CoreferenceExample,
    CsrlExample,
    Dialogue,
    RewritingExample,
    SrlExample,
    dialogue_group,
)

# What data a run has seen, in 64 characters: the same examples give the same fingerprint, however they were stored.


def fingerprint(examples: Iterable[Any]) -> str:
    """SHA-256 over the examples in their order, read once. Compression, file names and file formats do not matter."""
    digest = hashlib.sha256()
    for example in examples:
        if isinstance(example, tuple):  # a pair of an input and its label
            content: Any = [_plain(part) for part in example]
        else:
            content = _plain(example)
        digest.update(
            json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=_plain).encode()
        )
        digest.update(b"\n")
    return digest.hexdigest()


def _plain(part: Any) -> Any:
    if isinstance(part, dict):
        return {key: _plain(value) for key, value in part.items()}
    return asdict(part, dict_factory=_without_unsure) if is_dataclass(part) and not isinstance(part, type) else part


def _without_unsure(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    """Gold leaves nothing open, and had its fingerprints before labels could."""
    return {name: value for name, value in fields if not name.startswith("unsure") or value}


Example = Dialogue | CsrlExample | RewritingExample | CoreferenceExample | SrlExample


@dataclass
class Summary:
    """Sums that grow with every example; lengths are characters of the whole dialogue or sentence."""

    examples: int = 0
    dialogues: NamesOnDisk = field(default_factory=NamesOnDisk)
    turns: int = 0
    characters: int = 0
    longest: int = 0
    predicates: int = 0
    roles: Counter[str] = field(default_factory=Counter)
    outside: int = 0
    speakers: int = 0
    unchanged: int = 0
    mentions: int = 0
    linked: int = 0

    @property
    def arguments(self) -> int:
        return self.roles.total()


def summarise(examples: Iterable[Example]) -> Summary:
    summary = Summary()
    for example in examples:
        add_to(summary, example)
    return summary


def add_to(summary: Summary, example: Example) -> None:
    summary.examples += 1
    match example:
        case SrlExample(sentence, labels):
            _add_texts(summary, sentence.id, [sentence.text])
            summary.predicates += len(labels)
            summary.roles.update(a.role for label in labels for a in label.arguments)
        case CsrlExample(dialogue, roles):
            _add_texts(summary, dialogue.id, [turn.text for turn in dialogue.turns])
            summary.predicates += len(roles)
            arguments = [argument for label in roles for argument in label.arguments]
            summary.roles.update(argument.role for argument in arguments)
            summary.outside += sum(argument.turn != len(dialogue.turns) - 1 for argument in arguments)
            summary.speakers += sum(argument.start == SPEAKER for argument in arguments)
        case RewritingExample(dialogue, rewrite):
            _add_texts(summary, dialogue.id, [turn.text for turn in dialogue.turns])
            summary.unchanged += rewrite == dialogue.utterance.text
        case CoreferenceExample(dialogue, clusters):
            _add_texts(summary, dialogue.id, [turn.text for turn in dialogue.turns])
            last = len(dialogue.turns) - 1
            for cluster in clusters:
                summary.mentions += sum(mention.turn == last for mention in cluster)
                summary.linked += sum(mention.turn == last for mention in cluster[1:])
        case Dialogue():
            _add_texts(summary, example.id, [turn.text for turn in example.turns])
            summary.predicates += len(example.predicates)


def _add_texts(summary: Summary, name: str, texts: list[str]) -> None:
    length = sum(map(len, texts))
    summary.dialogues.put(dialogue_group(name), 1)
    summary.turns += len(texts)
    summary.characters += length
    summary.longest = max(summary.longest, length)
