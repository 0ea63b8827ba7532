"""Commands that show a run read its texts from its folder: nobody makes the pool again."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from friend_training.study import agreement, data
from friend_training.types import Sentence, SentenceRoles
from friend_training.web.inspector.run_view import look_at
from helpers.command import FriendTrain


class SaysNothing:
    name = "says nothing"

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]:
        return [tuple(SentenceRoles(predicate, ()) for predicate in one.predicates) for one in sentences]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is made of a pool while a test runs: dialogues of ours, dialogues of corpora, their predicates."""
    calls: list[str] = []

    def spied(place: Any, name: str) -> None:
        real = getattr(place, name)

        def spy(*arguments: Any, **named: Any) -> Any:
            calls.append(f"{name} {named.get('prefix', '')}".strip())
            return real(*arguments, **named)

        monkeypatch.setattr(place, name, spy)

    spied(data.synthetic, "generate")
    for name in ("build_pool", "pool_finder", "read_examples"):
        spied(data, name)
    return calls


def test_show_report_and_inspector_make_no_data(friend_train: FriendTrain, copy: Path, made: list[str]) -> None:
    assert friend_train("show", copy, "--examples", 2).code == 0
    assert friend_train("report", copy).code == 0
    look = look_at(copy)
    look.texts.wait()
    assert look.texts.state == "ready"
    assert made == []


def test_agreement_makes_no_data(copy: Path, made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreement, "open_bridge", lambda folder, config: SaysNothing())
    [record] = agreement.agreement_of_run(copy, "fdt", None)
    assert record["iteration"] == 1
    assert made == []


def test_a_run_of_an_earlier_version_makes_its_pool_once(
    friend_train: FriendTrain, copy: Path, made: list[str]
) -> None:
    for name in ("inputs.parquet", "gold.parquet"):
        (copy / name).unlink()
    before = friend_train("show", copy, "--examples", 1)
    assert made.count("generate pool-") == 1
    made.clear()
    assert friend_train("show", copy, "--examples", 1) == before
    assert made == []


def test_without_its_pool_no_parser_is_opened(made: list[str], copy: Path) -> None:
    config = agreement.run_config(copy)
    whole, rest = data.load_data(config, None), data.load_data(config, None, pool=False)
    assert len(whole.pool) == config.data.pool
    assert not rest.pool
    assert made.count("generate pool-") == 1
    same = [name for name, found in whole.fingerprints().items() if rest.fingerprints()[name] == found]
    assert same == [name for name in whole.fingerprints() if name != "pool"]
