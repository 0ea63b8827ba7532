"""Shares of the kinds of gold labels, and selectors that keep to them."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pyarrow as pa
import pytest
from pydantic import TypeAdapter

from friend_training.core.selector import Scores, Selector, Share, TopN
from friend_training.core.task import Task
from friend_training.errors import DataError
from friend_training.loop.selection import select_iteration
from friend_training.runs.store import LABELLED, Store
from friend_training.study import data
from friend_training.study.diagnosis import choices
from friend_training.study.plans import wanted_balance
from friend_training.study.run_data import label_shares
from friend_training.study.study import run_study
from friend_training.tasks.csrl.task import kind_of_roles
from friend_training.types import Argument, CsrlExample, Dialogue, Predicate, RewritingExample, Roles, Turn
from helpers.tiny_config import tiny_config

DIALOGUE = Dialogue("d", (Turn("A", "看电影吗"), Turn("B", "看")), (Predicate(0, 1),))
FILM = Argument("ARG1", 0, 1, 3)
HERE = Argument("ARG1", 1, 0, 1)


def task(name: str) -> Task:
    """As much of a task as balances need."""
    return cast(Task, SimpleNamespace(name=name, label_type=Roles))


def example(*arguments: Argument) -> CsrlExample:
    return CsrlExample(DIALOGUE, (Roles(Predicate(0, 1), arguments),))


def test_of_the_gold_labels_that_say_something() -> None:
    gold = [example(FILM), example(HERE), example(HERE, FILM), example(HERE), example()]
    assert label_shares(task("csrl"), gold) == {"across": 0.5, "within": 0.5}
    with pytest.raises(DataError, match="no gold labels"):
        label_shares(task("csrl"), [example()])


def test_how_many_utterances_need_a_rewrite() -> None:
    gold = [RewritingExample(DIALOGUE, text) for text in ("看", "看电影", "看", "看")]
    assert label_shares(task("rewriting"), gold) == {"changed": 0.25, "unchanged": 0.75}


def test_the_balance_is_golds_or_devs_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "SYNTHETIC_TRAIN", 20)
    config = tiny_config("tasks.csrl.balance=dev", "tasks.rewriting.balance=gold", "data.dev=20")
    made = data.load_data(config, None)
    csrl, rewriting = task("csrl"), task("rewriting")
    roles, rewrites = made.tasks["csrl"], made.tasks["rewriting"]
    assert wanted_balance(config, made, csrl) == label_shares(csrl, roles.dev) != label_shares(csrl, roles.gold)
    assert wanted_balance(config, made, rewriting) == label_shares(rewriting, rewrites.gold)
    turned = tiny_config("tasks.rewriting.balance=dev", "data.dev=20")
    assert wanted_balance(turned, made, csrl) is None
    assert wanted_balance(turned, made, rewriting) == label_shares(rewriting, rewrites.dev)
    assert label_shares(rewriting, rewrites.dev) != label_shares(rewriting, rewrites.gold)


@pytest.mark.parametrize("pick", [TopN(4), Share(0.5)])
def test_the_best_of_each_kind_are_chosen(pick: TopN | Share) -> None:
    """The four best are all within; of those that reach another turn the two best come in, however low they are."""
    score = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2])
    kinds = ["within"] * 5 + ["across"] * 3
    scores = Scores([f"u{n}" for n in range(8)], score, score, np.ones(8, bool), kinds)
    chosen = {}
    for balance in (None, {"across": 0.5, "within": 0.5}):
        selector = Selector(pick, 0.5, balance=balance)
        chosen[balance is None] = np.flatnonzero(selector.decide(scores, selector.cutoff([scores])).chosen).tolist()
    assert chosen == {True: [0, 1, 2, 3], False: [0, 1, 5, 6]}


def test_a_diagnosis_takes_the_balanced_share_of_what_it_looks_at(tmp_path: Path) -> None:
    """By match the right ones of both kinds, by confidence as many of each kind, which are wrong."""
    config = tiny_config("tasks.csrl.pick_threshold={share: 0.5}", "tasks.csrl.confidence_weight=0")
    right = np.array([True, True, False, False, True, True, False, False])
    match = np.where(right, 1.0, 0.0)
    kinds = ["within"] * 4 + ["across"] * 4
    scores = Scores([f"u{n}" for n in range(8)], 1 - match, match, np.ones(8, bool), kinds)
    found = choices(tmp_path, config, "fdt", "csrl", 1, scores, right, balance={"across": 0.5, "within": 0.5})
    assert [(rule.count, rule.precision) for rule in found.rules] == [(4, 1.0), (4, 0.0)]
    assert found.caught_by_match() == [2, 3, 6, 7]


def test_of_several_thresholds_the_strictest_is_on_record(tmp_path: Path) -> None:
    store = Store(tmp_path)
    columns = {
        "unit": list("abcd"),
        "input": list("abcd"),
        "task": ["t"] * 4,
        "label": ["{}"] * 4,
        "confidence": [0.9, 0.8, 0.4, 0.3],
        "content": [True] * 4,
        "kind": ["within", "within", "across", "across"],
        "match": [None] * 4,
        "matches": [[]] * 4,
        "correct": [None] * 4,
    }
    store.write_labelled(1, 0, pa.table(columns, schema=LABELLED))
    selector = Selector(Share(0.5), 1.0, balance={"across": 0.5, "within": 0.5})
    found = select_iteration(store, 1, 1, {"t": selector})["t"]
    assert (found["chosen"], found["threshold"]) == (2, 0.9)
    assert store.read(1)["chosen"].to_pylist() == [True, False, True, False]


def test_a_study_knows_the_kinds_of_its_labels_and_keeps_their_balance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "SYNTHETIC_TRAIN", 20)
    chosen = ("tasks.csrl.balance=gold", "tasks.csrl.content=only", "tasks.csrl.pick_threshold={share: 0.5}")
    few = ("data.target=film", "data.pool=12", "tasks.csrl.base_steps=80", "checked_labels=all")
    config = tiny_config('methods=["base", "fdt", "fdt-checked"]', *few, *chosen)
    run_study(config, tmp_path / "run")
    made = data.load_data(config, None)
    turns = {dialogue.id: len(dialogue.turns) for dialogue in made.pool}
    rows = Store(tmp_path / "run" / "methods" / "fdt" / "store").read(1).to_pylist()
    csrl = [row for row in rows if row["task"] == "csrl"]
    for row in csrl:
        label = TypeAdapter(Roles).validate_json(row["label"])
        assert row["kind"] == kind_of_roles(label, turns[row["input"]] - 1)
    assert {row["kind"] for row in rows if row["task"] == "rewriting"} <= {"changed", "unchanged"}
    possible = sum(row["content"] and row["match"] is not None for row in csrl)
    for kind, share in label_shares(task("csrl"), made.tasks["csrl"].gold).items():
        assert sum(row["chosen"] and row["kind"] == kind for row in csrl) <= share * round(possible / 2) + 1
    assert any(row["chosen"] for row in csrl)
    checked = Store(tmp_path / "run" / "methods" / "fdt-checked" / "store").read(1).to_pylist()
    assert all(row["chosen"] == row["content"] for row in checked if row["task"] == "csrl"), "all that say something"
