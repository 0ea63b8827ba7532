"""What labels say, told by their shape and not by their task: to count them, and to write them in one line.

Known shapes are those of examples.py (roles, rewrites, trees, heads, tags); any other label is what it says as a text.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from friend_training.examples import ROLES

MOST_KINDS = 16
"""So many kinds of label are told apart; a classifier with more classes shows its most frequent ones."""

LONGEST = 300


@dataclass(frozen=True, slots=True)
class Share:
    """How many labels are of this kind: of gold, of everything predicted, and of what was chosen. None: no labels."""

    kind: str
    gold: float | None
    predicted: float | None
    chosen: float | None


def kinds(label: Any) -> list[str]:
    """The kinds a label belongs to, each once: the roles it has, what a rewrite does, or the label itself."""
    match label:
        case {"predicate": dict(), "arguments": list(arguments)}:
            last = max((a.get("turn", 0) for a in arguments), default=0)
            earlier = any(a.get("turn", last) < last for a in arguments)
            found = [role["role"] for role in arguments] or ["no argument"]
            return list(dict.fromkeys([*found, *(["arguments in several turns"] if earlier else [])]))
        case {"text": str(), "deleted": list(deleted), "insertions": list(insertions)}:
            done = ["one insertion"] if len(insertions) == 1 else ["more insertions"] if insertions else []
            return [*done, *(["deletion"] if deleted else [])] or ["unchanged"]
        case {"brackets": list(brackets)}:
            return list(dict.fromkeys(bracket["label"] for bracket in brackets)) or ["no phrase"]
        case {"heads": list(), "relations": list(names)} | {"tags": list(names)}:
            return list(dict.fromkeys(names))
        case _:
            return [label_text(label)]


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


def label_text(label: Any, words: Sequence[str] = ()) -> str:
    """A label in one line; with the words it is about, where it is one of a sentence in words."""
    match label:
        case str():
            text = label
        case {"brackets": list(brackets)} if words:
            text = _bracketed(brackets, words)
        case {"heads": list(heads)} if words:
            names = ["ROOT", *words]
            text = "  ".join(f"{word}→{names[head]}" for word, head in zip(words, heads, strict=True))
        case {"tags": list(tags)} if words:
            text = "  ".join(f"{word}/{tag}" for word, tag in zip(words, tags, strict=True))
        case _:
            text = json.dumps(label, ensure_ascii=False, separators=(", ", ": "))
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def _count(labels: Iterable[str]) -> tuple[Counter[str], int]:
    # Labels repeat: each different one is read once.
    distinct = Counter(labels)
    counts: Counter[str] = Counter()
    for text, times in distinct.items():
        for kind in kinds(json.loads(text)):
            counts[kind] += times
    return counts, distinct.total()


def _bracketed(brackets: Sequence[Mapping[str, Any]], words: Sequence[str]) -> str:
    opened, closed = [""] * len(words), [""] * len(words)
    for bracket in sorted(brackets, key=lambda b: (b["start"], -b["end"])):
        opened[bracket["start"]] += f"[{bracket['label']} "
        closed[bracket["end"] - 1] += "]"
    return " ".join(before + word + after for before, word, after in zip(opened, words, closed, strict=True))
