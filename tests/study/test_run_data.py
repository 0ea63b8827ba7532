"""Drawing a few labels, and the data of a run: fixed corpora, no dialogue on two sides, stable fingerprints."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from friend_training.core.task import Prediction
from friend_training.data.synthetic import Domain, csrl_examples, generate
from friend_training.errors import ConfigError
from friend_training.study import data
from friend_training.study.config import load_config
from friend_training.study.data import draw_predicates, first_units, load_data
from friend_training.study.run_data import draw_examples
from friend_training.tasks.csrl.model import unit_id
from friend_training.types import CsrlExample, Rewrite, Roles
from helpers.own_run import write_files
from helpers.tiny_config import tiny_config

EXAMPLES = csrl_examples(generate(60, seed=1, domain=Domain.FILM))
UNITS = {(example.dialogue.id, label.predicate): label for example in EXAMPLES for label in example.roles}


def units_of(examples: list[CsrlExample]) -> list[tuple[str, Roles]]:
    return [(example.dialogue.id, label) for example in examples for label in example.roles]


@given(count=st.integers(1, len(UNITS)), seed=st.integers(0, 1000))
@settings(max_examples=40)
def test_drawing_predicates(count: int, seed: int) -> None:
    drawn = draw_predicates(EXAMPLES, count, seed=seed)
    assert len(units_of(drawn)) == len(set(units_of(drawn))) == count
    for example in drawn:
        assert example.roles
        assert example.dialogue.predicates == tuple(label.predicate for label in example.roles)
        assert all(UNITS[example.dialogue.id, label.predicate] == label for label in example.roles)
    assert drawn == draw_predicates(EXAMPLES, count, seed=seed)


def test_another_seed_draws_others() -> None:
    assert draw_predicates(EXAMPLES, 10, seed=1) != draw_predicates(EXAMPLES, 10, seed=2)
    assert draw_examples(EXAMPLES, 10, seed=1) != draw_examples(EXAMPLES, 10, seed=2)


def test_every_predicate_is_as_likely() -> None:
    """Drawn predicate by predicate, not dialogue by dialogue: a dialogue of three is met three times as often."""
    sizes = {example.dialogue.id: len(example.roles) for example in EXAMPLES}
    met = [example.dialogue.id for seed in range(400) for example in draw_predicates(EXAMPLES, 1, seed=seed)]
    share = sum(sizes[name] > 1 for name in met) / len(met)
    assert share == pytest.approx(sum(size for size in sizes.values() if size > 1) / sum(sizes.values()), abs=0.08)


def test_drawing_examples_keeps_their_order() -> None:
    numbers = list(range(100))
    drawn = draw_examples(numbers, 30, seed=4)
    assert drawn == sorted(set(drawn))
    assert len(drawn) == 30
    assert draw_examples(numbers, 100, seed=4) == numbers


def test_more_than_there_is_cannot_be_drawn() -> None:
    with pytest.raises(ConfigError, match=rf"{len(UNITS) + 1} labelled predicates.*only {len(UNITS)}"):
        draw_predicates(EXAMPLES, len(UNITS) + 1, seed=1)
    with pytest.raises(ConfigError, match=r"4 labelled examples.*only 3"):
        draw_examples([1, 2, 3], 4, seed=1)


def test_first_units_are_whole_examples() -> None:
    assert first_units(EXAMPLES, 10_000) == EXAMPLES
    few = first_units(EXAMPLES, 5)
    assert few == EXAMPLES[: len(few)]
    assert len(units_of(few)) >= 5 > len(units_of(few[:-1]))


@pytest.fixture(autouse=True)
def fewer_to_draw_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "SYNTHETIC_TRAIN", 60)


def test_the_parts_of_a_run_have_no_dialogue_in_common() -> None:
    found = load_data(tiny_config(), None)
    parts = {
        "csrl_gold": [e.dialogue for e in found.tasks["csrl"].gold],
        "rewriting_gold": [e.dialogue for e in found.tasks["rewriting"].gold],
        "dev": [e.dialogue for e in found.tasks["rewriting"].dev],
        "test": [e.dialogue for e in found.tasks["rewriting"].test],
        "pool": list(found.pool),
    }
    ids = [dialogue.id for part in parts.values() for dialogue in part]
    assert len(ids) == len(set(ids))
    turns = [dialogue.turns for part in parts.values() for dialogue in part]
    assert len(turns) == len(set(turns))
    assert {e.dialogue.id for e in found.tasks["csrl"].dev} <= {d.id for d in parts["dev"]}
    assert {e.dialogue.id for e in found.tasks["csrl"].test} <= {d.id for d in parts["test"]}
    sentences = [example.sentence.id for part in (found.bridge.train, found.bridge.dev) for example in part]
    assert len(sentences) == len(set(sentences)) == 30


def test_fingerprints_are_stable() -> None:
    first, again = (load_data(tiny_config(), None).fingerprints() for _ in range(2))
    assert first == again
    # The run's seed draws the labels and nothing else: the corpora are as fixed as published ones.
    other = load_data(tiny_config("seed=2"), None).fingerprints()
    assert {name for name in first if first[name] != other[name]} == {"csrl_gold", "rewriting_gold"}
    assert first["bridge_train"][:16] == "ecb3aa780874dbad"
    assert first["pool"][:16] == "f27ffa051487b987"


def test_the_audit_knows_the_hidden_gold() -> None:
    found = load_data(tiny_config(), None)
    assert found.audit is not None
    made = generate(12, seed=data.POOL_SEED, domain=Domain.TRAVEL, prefix="pool-")
    assert [one.dialogue for one in made] == list(found.pool)
    for one in made:
        unit = one.dialogue.id
        assert found.audit("rewriting", Prediction(unit, one.rewrite, 1.0)) is True
        assert found.audit("rewriting", Prediction(unit, Rewrite(one.rewrite.text + "。"), 1.0)) is False
        for label in one.roles:
            unit = unit_id(one.dialogue.id, label.predicate)
            assert found.audit("csrl", Prediction(unit, label, 1.0)) is True
            fewer = Roles(label.predicate, label.arguments[1:])
            assert found.audit("csrl", Prediction(unit, fewer, 1.0)) is (not label.arguments)


def test_own_files_need_a_bridge_that_is_there() -> None:
    names = ", ".join(f"{task}_{part}: x" for task in ("csrl", "rewriting") for part in ("train", "dev", "test"))
    config = tiny_config(f"data={{kind: files, pool: x, {names}}}")
    with pytest.raises(ConfigError, match=r"bridge\.kind"):
        load_data(config, None)


def test_making_the_data_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "AT_ONCE", 7)
    told: list[tuple[int, int]] = []
    found = load_data(tiny_config(), None, lambda done, total: told.append((done, total)))
    total = 2 * 60 + 6 + 6 + 12 + 30
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    assert {of for _, of in told} == {total}
    assert told[-1] == (total, total)
    assert len(told) > 20
    assert found.fingerprints() == load_data(tiny_config(), None).fingerprints(), "in pieces or not"


def test_a_part_of_the_work_counts_by_its_own_measure() -> None:
    told: list[tuple[int, int]] = []
    work = data.Making(30, lambda done, total: told.append((done, total)))
    work.add(10)
    part = work.part(20)
    part(1, 4)
    part(4, 4)
    assert told == [(10, 30), (15, 30), (30, 30)]


def test_trials_score_a_part_of_test(tmp_path: Path) -> None:
    config = load_config(write_files(tmp_path))
    whole = load_data(config, tmp_path)
    cut = load_data(config.model_copy(update={"test_units": 5}), tmp_path)
    for name, task in whole.tasks.items():
        assert cut.tasks[name].test == list(task.test)[:5]
        assert (cut.tasks[name].gold, cut.tasks[name].dev) == (task.gold, task.dev)
    assert cut.fingerprints()["mood_test"] != whole.fingerprints()["mood_test"], "no result is taken for one of all"
    assert first_units(EXAMPLES, 1) == EXAMPLES[:1]
