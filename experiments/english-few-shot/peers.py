"""What stands beside our methods on the same turns: nothing rewritten, CREAD's predictions, and the gold links alone.

python experiments/english-few-shot/peers.py    writes peers.jsonl and gold_match.jsonl
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from gold_match import measure, proposed_by_gold_links

from friend_training.core.limits import Limits
from friend_training.core.task import Evaluation
from friend_training.data.catalogue import part_path
from friend_training.data.readers.english import plain_english
from friend_training.data.text_io import open_content
from friend_training.tasks.rewriting.metrics import WordScore
from friend_training.tasks.rewriting.word_task import score_words
from study import Data, mudoco

HERE = Path(__file__).parent


def main() -> None:
    data = mudoco(Path(os.environ["FRIEND_TRAINING_DATA"]))
    ids = [*data.half, *data.test]
    copied = [data.rewrites[id].dialogue.utterance.text for id in ids]
    said = cread()
    answers = {
        "every turn as it is": copied,
        "gold links turned into rewrites": [proposed_by_gold_links(data, id) for id in ids],
        "CREAD (GPT-2, all labels)": [said.get(id, copy) for id, copy in zip(ids, copied, strict=True)],
    }
    _write("peers.jsonl", [{"name": name, **scored(data, ids, texts)} for name, texts in answers.items()])
    parts = {"dev": data.dev, "half of dev": data.half, "test file": data.test}
    _write("gold_match.jsonl", [{"part": name, **measure(data, part)} for name, part in parts.items()])


def scored(data: Data, ids: Sequence[str], texts: Sequence[str]) -> dict[str, float]:
    units = score_words(texts, [data.rewrites[id] for id in ids])
    return {name: round(value, 2) for name, value in Evaluation.of(units, WordScore()).items()}


def cread() -> dict[str, str]:
    """CREAD's rewrites by id; a turn that it copies is left out, for it copies its own spelling of it."""
    found = {}
    for part in ("dev", "test"):
        path = part_path(f"mudoco-qr/{part}", os.environ["FRIEND_TRAINING_DATA"])
        beside = path.with_name(path.name.replace("rewrites", "cread_predictions"))
        with open_content(beside, Limits.from_environment()) as content:
            for line in content.lines():
                given = json.loads(line)
                if not given["QR_HYP"].startswith("<CUR>"):
                    found[f"{given['dialog_id']}/turn{given['number']}"] = plain_english(given["QR_HYP"])
    return found


def _write(name: str, records: Sequence[dict[str, object]]) -> None:
    (HERE / name).write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")


if __name__ == "__main__":
    main()
