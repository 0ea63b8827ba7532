"""Rewrites and slots: which values a rewrite adds, whether the slots hold them, and where there is nothing to match."""

from pathlib import Path

import pytest

from friend_training.core.task import Prediction
from friend_training.data.jsonl import write_jsonl
from friend_training.errors import ConfigError
from friend_training.friendships.rewriting_slots import held_values, rewriting_slots
from friend_training.study.config import parse_config
from friend_training.study.study import run_study
from friend_training.testing import check_friendship
from friend_training.types import Dialogue, Rewrite, RewritingExample, Turn

VALUES = ("chinese", "south", "cheap", "asian oriental")
CONFIG = """
name: bot
tasks:
  rewriting: {kind: rewriting-by-words, encoder: ENCODER, gold: r.jsonl, dev: r.jsonl, test: r.jsonl, base_steps: 2,
    update_steps: 2, pick_threshold: 0.0}
  slots: {kind: answer-file, file: slots.jsonl}
friendships: [{kind: rewriting-slots, first: rewriting, second: slots, values: [chinese, south]}]
pool: {file: pool.jsonl}
methods: [base, fdt]
iterations: 1
"""


def asked(text: str) -> Dialogue:
    return Dialogue("d", (Turn("user", "chinese food please"), Turn("system", "cheap or not ?"), Turn("user", text)))


@pytest.mark.parametrize(
    ("text", "rewrite", "slots", "score"),
    [
        ("in the south", "Chinese food in the south", "food=chinese; area=south", 1.0),
        ("in the south", "cheap chinese food in the south", "food=chinese; area=south", 0.5),
        ("in the south", "cheap food in the south", "food=chinese; area=south", 0.0),
        ("in the south", "asian oriental in the south", "food=Asian Oriental", 1.0),
        ("in the south", "in the south", "food=chinese", None),
        ("chinese", "chinese cheaply", "food=thai", None),
    ],
)
def test_what_is_added_must_be_held(text: str, rewrite: str, slots: str, score: float | None) -> None:
    friendship = rewriting_slots(VALUES)
    first, second = [[Prediction("d", Rewrite(rewrite), 0.9)]], [[Prediction("d", slots, 0.9)]]
    [match] = friendship.match([asked(text)], first, second)
    assert (match.first, match.second) == ((score,), (score,))
    [nothing] = friendship.match([asked(text)], first, [[]])
    assert (nothing.first, nothing.second) == ((None,), ())


def test_labels_of_slots() -> None:
    assert held_values("food=Chinese; area= south;price=;x") == {"chinese", "south"}


def test_it_passes_the_checks_of_friendships() -> None:
    texts = ["in the south", "cheap", "yes"]
    given = [Dialogue(f"d{n}", asked(text).turns) for n, text in enumerate(texts)]
    rewrites = [[Prediction(one.id, Rewrite(f"chinese {one.utterance.text}"), 0.9)] for one in given]
    slots = [[Prediction(one.id, f"food={food}", 0.5)] for one, food in zip(given, VALUES, strict=False)]
    check_friendship(rewriting_slots(VALUES), inputs=given, first=rewrites, second=slots, agreeing=[0])


def test_by_a_config_with_the_state_that_a_bot_has_written(tmp_path: Path, tiny_encoder: Path) -> None:
    given = [Dialogue(f"d{n}", (Turn("user", f"chinese food {n}"), Turn("user", "in the south"))) for n in range(5)]
    write_jsonl(tmp_path / "r.jsonl", [RewritingExample(one, "chinese in the south") for one in given[:2]])
    write_jsonl(tmp_path / "pool.jsonl", given[2:])
    lines = [f'{{"id": "d{n}", "label": "food=chinese", "confidence": 1.0}}' for n in range(2, 5)]
    (tmp_path / "slots.jsonl").write_text("\n".join(lines), encoding="utf-8")
    text = CONFIG.replace("ENCODER", str(tiny_encoder))
    records = run_study(parse_config(text, "x"), tmp_path / "run", data_dir=tmp_path)
    assert [record["method"] for record in records] == ["base", "fdt"]
    with pytest.raises(ConfigError, match="slots is of the kind answer-file; the first of rewriting-slots is"):
        parse_config(text.replace("first: rewriting, second: slots", "first: slots, second: rewriting"), "x")
