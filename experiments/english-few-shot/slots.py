"""Gold against gold of another pair: complete versions of CamRest676 turns, and the slots that their user has filled.

python experiments/english-few-shot/slots.py    writes slots.jsonl

Two rules by which slots could check a rewrite: it must contain what they inherit from turns before; or what it adds
and is a value of a slot must be what the slots hold. `shuffled` takes the slots of another dialogue.
"""

import json
import os
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from friend_training.data.catalogue import part_path
from friend_training.data.read import read_examples
from friend_training.data.readers.english import read_camrest_slots
from friend_training.data.text_io import Problems
from friend_training.types import RewritingExample

HERE = Path(__file__).parent
NO_VALUE = "dontcare"

Case = tuple[RewritingExample, Mapping[str, str]]
"""A changed turn and the slots after it."""


def main() -> None:
    path = part_path("camrest", os.environ["FRIEND_TRAINING_DATA"])
    slots = {one.id: one.informed for one in read_camrest_slots(path, Problems(path))}
    examples = read_examples(path, "rewriting").examples
    cases = [(one, slots[re.sub(r"~\d$", "", one.dialogue.id)]) for one in examples]
    changed = [(one, held) for one, held in cases if one.rewrite.lower() != one.dialogue.utterance.text.lower()]
    values = {value for held in slots.values() for value in held.values()} - {NO_VALUE}
    others = [held for _, held in changed]
    random.Random(1).shuffle(others)
    shuffled = [(one, held) for (one, _), held in zip(changed, others, strict=True)]
    record = {"turns": len(examples), "changed": len(changed)}
    for name, of in (("", changed), ("shuffled_", shuffled)):
        record |= {f"{name}{key}": value for key, value in (contained(of) | added(of, values)).items()}
    (HERE / "slots.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    print(record)


def contained(cases: Sequence[Case]) -> dict[str, float]:
    """Of the values that slots inherit, the share that the rewrite has, on average over the turns that inherit any."""
    scores = []
    for one, held in cases:
        context = " ".join(turn.text.lower() for turn in one.dialogue.context)
        inherited = [
            value
            for value in held.values()
            if value != NO_VALUE and value in context and value not in one.dialogue.utterance.text.lower()
        ]
        if inherited:
            scores.append(sum(value in one.rewrite.lower() for value in inherited) / len(inherited))
    return {"inheriting": len(scores), "inherited_contained": round(sum(scores) / len(scores), 3)}


def added(cases: Sequence[Case], values: set[str]) -> dict[str, float]:
    """Of the values that the rewrite adds, the share that the slots hold, over the turns that add any."""
    scores = []
    for one, held in cases:
        own, rewrite = one.dialogue.utterance.text.lower(), one.rewrite.lower()
        new = [value for value in values if _in(value, rewrite) and not _in(value, own)]
        if new:
            scores.append(sum(value in held.values() for value in new) / len(new))
    return {"adding": len(scores), "added_held": round(sum(scores) / len(scores), 3)}


def _in(value: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(value)}\b", text) is not None


if __name__ == "__main__":
    main()
