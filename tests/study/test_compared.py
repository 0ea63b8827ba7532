"""All methods of the paper's table in one very small study."""

import json

import pytest
from torch import equal

from friend_training.errors import ConfigError
from friend_training.methods.registry import METHODS
from friend_training.runs.checkpoints import checkpoint_digest
from friend_training.runs.run import Run
from friend_training.runs.steps import Train
from friend_training.study import data
from friend_training.study.csrl_rewriting import TASKS
from friend_training.study.data import all_case_study_gold
from friend_training.study.folders import method_folder
from friend_training.study.kinds import Given, make_task
from friend_training.study.study import run_study
from helpers.tiny_config import tiny_config

CONTROLS = ("base-same-steps", "sst-as-many", "random-as-many", "fdt-shuffled", "bridge-labels", "bridge-alone")
SCORED_ONLY = [name for name, spec in METHODS.items() if spec.procedure == "score-only"]
OF_OTHER_FRIENDS = {"friend-labels", "fdt-parts", "merged-shuffled", "fdt-perfect", "merged-perfect"}
"""Methods that the friendship of CSRL and rewriting cannot do."""
ALL = ["base", "base-full", *(name for name in METHODS if name not in {"base", "base-full", *OF_OTHER_FRIENDS})]
"""All but the friend's own labels, which a rewrite cannot say without the bridge: for them there is bridge-labels."""
DRAWN_FROM = 20
LEARNT = "tasks.csrl.base_steps=80"
"""With fewer steps so small a network finds no argument at all, on some processors."""


@pytest.fixture(scope="module")
def studied(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data, "SYNTHETIC_TRAIN", DRAWN_FROM)
        config = tiny_config(f"methods={json.dumps(ALL)}", "data.target=film", "iterations=2", LEARNT)
        records = {record["method"]: record for record in run_study(config, folder)}
        again = {record["method"]: record for record in run_study(config, folder)}
    assert records == again
    return folder, records


def test_every_method_reports_both_tasks_and_the_same_budget(studied):
    _, records = studied
    assert set(records) == set(METHODS) - OF_OTHER_FRIENDS
    for method, record in records.items():
        if method.startswith("bridge"):
            assert "csrl.f1" in record["metrics"]
            assert "rewriting.em" not in record["metrics"]
            continue
        if method == "nothing-rewritten":
            assert record["metrics"]["rewriting.restored_f1"] == 0
            assert "csrl.f1" not in record["metrics"]
            continue
        if method == "sst-readers":
            assert "rewriting.em" in record["metrics"]
            assert "csrl.f1" not in record["metrics"]
            assert [steps or 0 for steps in record["steps"]["rewriting"][1:]] == [11, 11]
            continue
        assert {"csrl.f1", "rewriting.rouge_l"} <= set(record["metrics"]), method
        updates = {task: [steps or 0 for steps in taken[1:]] for task, taken in record["steps"].items()}
        expected = [] if method in ("base", "base-full", "multitask-base") else [11, 11]
        assert updates == dict.fromkeys(TASKS, expected), method


def test_every_method_starts_from_the_same_base(studied):
    folder, records = studied
    for task in TASKS:
        base = checkpoint_digest(Run.open(method_folder(folder, "base")).checkpoint(task, 0))
        for method in set(records) - {"base", "base-full", "multitask-base", *SCORED_ONLY}:
            if (method.startswith("bridge-labels") and task == "rewriting") or (method, task) == (
                "sst-readers",
                "csrl",
            ):
                continue
            assert checkpoint_digest(Run.open(method_folder(folder, method)).checkpoint(task, 0)) == base, method


@pytest.mark.parametrize(
    ("method", "updated"), [("fdt-s", True), ("fdt-sf", False), ("fdt-s-edits", True), ("fdt-sf-edits", False)]
)
def test_strong_friends_come_from_all_labels_and_only_fdt_s_updates_them(studied, method, updated):
    folder, _ = studied
    run, full = (Run.open(method_folder(folder, name)) for name in (method, "base-full"))
    assert full.require(Train("rewriting", 0))["gold"] == DRAWN_FROM
    for task in TASKS:
        strong = checkpoint_digest(run.checkpoint(f"{task}.strong", 0))
        assert strong == checkpoint_digest(full.checkpoint(task, 0))
        assert (run.result(Train(f"{task}.strong", 1)) is not None) == updated
    rows = run.store.read(1).to_pylist()
    friends = {row["task"]: {name for name, _ in row["matches"]} for row in rows}
    assert friends["csrl"] == friends["rewriting.strong"] != friends["rewriting"] == friends["csrl.strong"]
    assert all(row["correct"] is not None for row in rows)


def test_strong_friends_decide_together_with_the_tasks_and_are_taught_nothing_where_they_are_fixed(studied):
    folder, _ = studied

    def labels(method, task):
        rows = Run.open(method_folder(folder, method)).store.read(1).to_pylist()
        return {row["unit"]: row["label"] for row in rows if row["task"] == task}

    for task in TASKS:
        assert labels("fdt-sf-edits", task) == labels("fdt-s-edits", task)
        assert labels("fdt-sf-edits", f"{task}.strong") == labels("fdt-sf", f"{task}.strong")  # its own
    for task in ("rewriting", "rewriting.strong"):  # so small a bridge finds nothing that CSRL could dispute
        assert labels("fdt-s-edits", task) != labels("fdt-s", task)


def test_second_models_are_different_models(studied):
    folder, _ = studied
    config = tiny_config()
    encoder = str(folder / "encoder")
    csrl, rewriting = (make_task(config, name, Given(encoder, second=True)).definition for name in TASKS)
    assert csrl.mark != make_task(config, "csrl", Given(encoder)).definition.mark
    assert rewriting.scorer != make_task(config, "rewriting", Given(encoder)).definition.scorer
    run = Run.open(method_folder(folder, "cps"))
    tasks = [make_task(config, "csrl", Given(encoder)) for _ in range(2)]
    for task, name in zip(tasks, ("csrl", "csrl.second"), strict=True):
        task.load(run.checkpoint(name, 0))
    assert not equal(*(task.network.classify.weight for task in tasks))


def test_as_many_means_as_many_as_fdt(studied):
    _, records = studied
    for task in TASKS:
        counts = {m: [chosen[task]["chosen"] for chosen in records[m]["chosen"]] for m in ("fdt", *CONTROLS[1:3])}
        assert counts["sst-as-many"] == counts["random-as-many"] == counts["fdt"]


@pytest.mark.parametrize("method", ["fdt-checked", "fdt-answers", "fdt-readers", "checked-shuffled", "unchecked"])
def test_with_checked_arguments_every_predicate_is_learnt_that_has_one_left(studied, method):
    folder, _ = studied
    rows = Run.open(method_folder(folder, method)).store.read(1).to_pylist()
    labelled = [(row["chosen"], json.loads(row["label"])) for row in rows if row["task"] == "csrl"]
    assert [chosen for chosen, _ in labelled] == [bool(label["arguments"]) for _, label in labelled]
    assert any(chosen for chosen, _ in labelled)
    vetoes = method in ("fdt-checked", "fdt-readers", "checked-shuffled")
    assert vetoes or not any(label.get("unsure") for _, label in labelled)


@pytest.mark.parametrize("method", ["fdt-readers", "sst-readers"])
def test_of_two_rewriters_the_surer_one_is_learnt_by_both(studied, method):
    folder, records = studied
    run = Run.open(method_folder(folder, method))
    for iteration in (1, 2):
        rows = run.store.read(iteration).to_pylist()
        first, second = ([row for row in rows if row["task"] == name] for name in ("rewriting", "rewriting.second"))
        assert [row["unit"] for row in first] == [row["unit"] for row in second]
        assert all(one["confidence"] >= other["confidence"] for one, other in zip(first, second, strict=True))
        taken = [pair for pair in zip(first, second, strict=True) if pair[0]["confidence"] == pair[1]["confidence"]]
        assert all(one["label"] == other["label"] for one, other in taken)
        assert not any(row["chosen"] for row in second)
        chosen = records[method]["chosen"][iteration - 1]["rewriting"]["chosen"]
        assert chosen == sum(row["chosen"] for row in first) > 0
        learnt = [run.require(Train(name, iteration))["pseudo"] for name in ("rewriting", "rewriting.second")]
        assert learnt == [chosen, chosen]


def test_the_second_rewriter_has_learnt_with_csrl_or_has_a_base_of_its_own(studied):
    folder, _ = studied
    starts = {
        name: checkpoint_digest(Run.open(method_folder(folder, name)).checkpoint(task, 0))
        for name, task in (
            ("multitask-base", "rewriting"),
            ("fdt-readers", "rewriting.second"),
            ("sst-readers", "rewriting.second"),
            ("base", "rewriting"),
        )
    }
    assert starts["fdt-readers"] == starts["multitask-base"]
    assert len(set(starts.values())) == 3


def test_all_the_bridges_labels_are_all(studied):
    folder, records = studied
    chosen = records["bridge-labels-all"]["chosen"][0]["csrl"]["chosen"]
    rows = Run.open(method_folder(folder, "bridge-labels-all")).store.read(1).to_pylist()
    assert chosen == sum(row["content"] or row["chosen"] for row in rows) > 0


def test_all_labels_are_those_of_the_domain_that_gold_is_from():
    gold = all_case_study_gold(tiny_config(), None)
    assert (len(gold["rewriting"]), gold["rewriting"][0].dialogue.id) == (data.SYNTHETIC_TRAIN, "train-film-11-2000")
    files = ("csrl_train", "csrl_dev", "csrl_test", "rewriting_train", "rewriting_dev", "rewriting_test", "pool")
    section = {"kind": "files"} | dict.fromkeys(files, "x.jsonl")
    with pytest.raises(ConfigError, match="all labels are gold"):
        all_case_study_gold(tiny_config(f"data={json.dumps(section)}"), None)
