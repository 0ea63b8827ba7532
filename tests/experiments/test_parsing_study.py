"""The parsing study, all of its methods, on sentences of the little grammar."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from parsing_split import ParsedSentence, ParsingSplit

from friend_training.core.task import Prediction
from friend_training.experiments.results import read_results
from friend_training.nn.encoder import WordEncoderShape
from friend_training.nn.word_input import WORD_SETTINGS
from friend_training.runs.steps import Train
from friend_training.types import Heads, Tags, Tree

ROOT = Path(__file__).parents[2]
SEED = 3
ITERATIONS = 2


@pytest.fixture(scope="module")
def study_modules() -> Iterator[Any]:
    """The experiment's programs, as Python finds them when run.py is started; other experiments have a run.py too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "experiments" / "parsing")
        sys.modules.pop("run", None)
        import run

        yield run
        sys.modules.pop("run", None)


@pytest.fixture(scope="module")
def split(study_modules: Any) -> ParsingSplit:
    from helpers.little_grammar import sentences

    found = [
        ParsedSentence(tree.words, tree.tree, Heads(heads.heads.heads)) for tree, heads, _ in sentences(96, seed=SEED)
    ]
    return ParsingSplit(
        constituency=tuple(one.tree_example for one in found[:12]),
        dependency=tuple(one.heads_example for one in found[12:24]),
        tagging=tuple(one.tags_example for one in found[24:36]),
        pool=tuple(found[36:72]),
        dev=tuple(found[72:84]),
        test=tuple(found[84:]),
    )


@pytest.fixture(scope="module")
def settings(study_modules: Any) -> Any:
    """Of the pool some is chosen, and some is not."""
    return replace(
        study_modules.SETTINGS,
        base_steps=16,
        update_steps=4,
        iterations=ITERATIONS,
        shares={"sst": 0.5, "fdt": 0.5, "fdt-three": 0.5},
        training=replace(WORD_SETTINGS, batch_size=8, encoder_rate=1e-2, head_rate=1e-2, look_every=8),
        encoder=WordEncoderShape(word=8, affix=8, width=16, layers=1, dropout=0.1, forget=0.1),
    )


@pytest.fixture(scope="module")
def finished(
    study_modules: Any, split: ParsingSplit, settings: Any, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Any, Path]:
    results = tmp_path_factory.mktemp("results")
    study = study_modules.Study(split, settings, SEED, tmp_path_factory.mktemp("runs"))
    study_modules.run_methods(study, study_modules.METHODS, results)
    return study, results


@pytest.fixture(scope="module")
def records(finished: tuple[Any, Path]) -> dict[str, dict[str, Any]]:
    return {one["method"]: one for one in read_results(finished[1])}


def test_each_method_says_what_its_tasks_scored(study_modules: Any, records: dict[str, dict[str, Any]]) -> None:
    assert list(records) == list(study_modules.METHODS)
    tasks = {method: {name.split(".")[0] for name in record["metrics"]} for method, record in records.items()}
    two, three = {"constituency", "dependency"}, {"constituency", "dependency", "tagging"}
    assert {method for method, found in tasks.items() if found == two} == {"fdt", "fdt-shuffled"}
    assert {method for method, found in tasks.items() if found == {"dependency"}} == {"converted", "rules"}
    assert all(found in (two, three, {"dependency"}) for found in tasks.values())
    for method, record in records.items():
        expected = {"base": 1, "rules": 0}.get(method, 1 + ITERATIONS)
        assert all(len(dev) == expected for dev in record["dev"].values())
        assert record["fingerprints"].keys() >= {"pool", "test"}


def test_every_method_starts_from_the_same_base(records: dict[str, dict[str, Any]]) -> None:
    for method, record in records.items():
        if method not in ("converted", "rules"):
            for task, dev in record["dev"].items():
                assert dev[0] == records["base"]["dev"][task][0], method


def test_controls_choose_as_many(records: dict[str, dict[str, Any]]) -> None:
    def how_many(method: str) -> dict[tuple[str, int], int]:
        return {(row["task"], row["iteration"]): row["chosen"] for row in records[method]["chosen"]}

    two, three = how_many("fdt"), how_many("fdt-three")
    assert any(0 < count < 36 for count in two.values())
    expected = {key: count for key, count in three.items() if key[0] == "tagging"} | two
    assert how_many("sst-as-many") == how_many("random-as-many") == expected
    assert how_many("fdt-shuffled") == two


def test_what_was_chosen_is_judged_by_the_hidden_gold(finished: tuple[Any, Path]) -> None:
    study, _ = finished
    one = study.split.pool[0]
    tags = one.tree.tags
    right = {"constituency": one.tree, "dependency": one.heads, "tagging": Tags(tags)}
    wrong = {
        "constituency": Tree(one.tree.brackets[:1], tags),
        "dependency": Heads(tuple(range(len(tags)))),
        "tagging": Tags(("NN",) * len(tags)),
    }
    for task in right:
        assert study.audit(task, Prediction(one.words.id, right[task], 1.0))
        assert not study.audit(task, Prediction(one.words.id, wrong[task], 1.0))


def test_the_controls_of_the_head_rules(finished: tuple[Any, Path], records: dict[str, dict[str, Any]]) -> None:
    study, _ = finished
    run, _ = study.run("converted")
    assert run.require(Train("dependency", 0))["gold"] == 24
    converted = study._converted()["dependency"].gold[12:]
    assert [one.words.id for one in converted] == [one.words.id for one in study.split.constituency]
    assert records["rules"]["metrics"]["dependency.uas"] == pytest.approx(
        records["base-same-steps"]["metrics"]["constituency.uas_by_rules"]
    )


def test_head_rules_give_the_gold_heads_of_gold_trees(finished: tuple[Any, Path], study_modules: Any) -> None:
    study, _ = finished
    trees = [sentence.tree for sentence in study.split.test]
    assert study_modules.uas(study_modules.counts_by_rules(study, trees)) == 100


def test_what_is_recorded_is_not_run_again(
    finished: tuple[Any, Path], study_modules: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, results = finished
    before = (results / "results.jsonl").read_text(encoding="utf-8")
    monkeypatch.setattr(study_modules, "one_method", None)
    monkeypatch.setattr(study_modules, "rules_alone", None)
    study_modules.run_methods(study, study_modules.METHODS, results)
    assert (results / "results.jsonl").read_text(encoding="utf-8") == before


def test_a_share_concerns_only_those_who_use_it(settings: Any, study_modules: Any) -> None:
    changed = replace(settings, shares={**settings.shares, "fdt": 0.4})
    differ = {method for method in study_modules.METHODS if changed.id_of(method) != settings.id_of(method)}
    assert differ == {"fdt", "sst-as-many", "random-as-many", "fdt-shuffled"}


def test_the_tables_have_a_row_for_each_method(
    finished: tuple[Any, Path], study_modules: Any, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    study_modules.show(finished[1], ",".join(study_modules.TABLES))
    shown = capsys.readouterr().out
    for title in sys.modules["parsing_tables"].TITLES.values():
        assert f"\n| {title} | " in shown
    assert "FDT, two friends − SST" in shown
    assert "| dev | iteration |" in shown
    study_modules.show(finished[1], "differences")
    assert "| dev | iteration |" not in capsys.readouterr().out
