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
from friend_training.data.benchmarks import mudoco_few_shot
from friend_training.data.catalogue import part_path
from friend_training.data.readers.english import plain_english
from friend_training.data.text_io import open_content
from friend_training.tasks.rewriting.metrics import WordScore
from friend_training.tasks.rewriting.word_task import score_words
from friend_training.types import RewritingExample

HERE = Path(__file__).parent


def main() -> None:
    data_dir = Path(os.environ["FRIEND_TRAINING_DATA"])
    parts = mudoco_few_shot(data_dir)
    links = {cut.dialogue.id: cut for part in ("dev", "test") for cut in parts[f"links-{part}"]}
    test: Sequence[RewritingExample] = parts["rewrites-test"]
    said = cread(data_dir)
    copied = [one.dialogue.utterance.text for one in test]
    answers = {
        "every turn as it is": copied,
        "gold links turned into rewrites": [proposed_by_gold_links(one, links[one.dialogue.id]) for one in test],
        "CREAD (GPT-2, all labels)": [said.get(e.dialogue.id, copy) for e, copy in zip(test, copied, strict=True)],
    }
    _write("peers.jsonl", [{"name": name, **scored(test, texts)} for name, texts in answers.items()])
    named = {"dev": "rewrites-dev", "half of dev": "rewrites-half", "test file": "rewrites-file"}
    _write("gold_match.jsonl", [{"part": name, **measure(parts[part], links)} for name, part in named.items()])


def scored(test: Sequence[RewritingExample], texts: Sequence[str]) -> dict[str, float]:
    return {name: round(value, 2) for name, value in Evaluation.of(score_words(texts, test), WordScore()).items()}


def cread(data_dir: Path) -> dict[str, str]:
    """CREAD's rewrites by id; a turn that it copies is left out, for it copies its own spelling of it."""
    found = {}
    for part in ("dev", "test"):
        path = part_path(f"mudoco-qr/{part}", data_dir)
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
