"""The examples of FriendTrainer and of a triangle, run as they stand."""

import importlib.util
import re
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest

from friend_training.cli.main import main
from friend_training.methods.registry import METHODS
from friend_training.runs.run import Run
from friend_training.study.folders import is_finished, method_folder, run_config
from friend_training.trainer.trainer import COMPARED

EXAMPLES = Path(__file__).parents[2] / "examples"
README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")

ONE_CALL = {
    "two_classifiers": {"estimator"},
    "two_text_classifiers": {"text-classification"},
    "two_taggers": {"token-classification"},
    "endpoint_friend": {"estimator", "endpoint"},
    "tagger_and_classifier": {"token-classification", "text-classification"},
    "papers_pair": {"csrl", "rewriting"},
}
"""The examples of one call, and the kinds of task in each."""

MOST_LINES = 30


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(EXAMPLES)

    def loaded(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return loaded


NETWORKS = [name for name, kinds in ONE_CALL.items() if not kinds & {"estimator"}]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in NETWORKS else []) for name in ONE_CALL]
)
def test_one_call_compares_friends_with_baselines_and_controls(load, tmp_path: Path, name: str) -> None:
    result = load(name).main(tmp_path / "run")
    run = tmp_path / "run" / "seed-1"
    assert is_finished(run)
    assert set(run_config(run).kinds.values()) == ONE_CALL[name]
    told = str(result)
    compared = {*COMPARED, "bridge-alone"} - {"friend-labels"} if name == "papers_pair" else COMPARED
    assert all(METHODS[method].title in told for method in compared)
    if name == "two_classifiers":
        printed = README.partition("This is what it prints")[2].split("```")[1]
        numbers = re.findall(r"[+-]\d+\.\d \[[+-]\d+\.\d, [+-]\d+\.\d\]|\d+\.\d±\d+\.\d", printed)
        assert len(numbers) > 10
        assert [number for number in numbers if number not in told] == [], "what the README says that it prints"
    scored = {(row["method"], row["seed"]) for row in result.rows()}
    assert scored >= {(method, seed) for method in ("base", "sst", "fdt", "fdt-shuffled") for seed in (1, 2, 3)}


def test_friends_help_each_other_where_each_knows_something(load, tmp_path: Path) -> None:
    """The language model reads the words, the classifier has seen 16 reviews."""
    rows = load("endpoint_friend").main(tmp_path / "run").rows()
    accuracy = {
        method: [row["value"] for row in rows if (row["method"], row["metric"]) == (method, "accuracy")]
        for method in ("base", "fdt")
    }
    assert sum(accuracy["fdt"]) > sum(accuracy["base"]) + 3


def test_a_friend_that_only_answers_has_a_score_of_its_own(load, tmp_path: Path) -> None:
    """It is asked for JSON in the one example, and for a word in the other, where its labels are compared with gold."""
    rows = load("endpoint_friend").main(tmp_path / "run").rows()
    own = {row["value"] for row in rows if (row["task"], row["metric"], row["method"]) == ("asked", "accuracy", "fdt")}
    assert len(own) == 1
    assert 80 < own.pop() < 95
    found = load("endpoint_in_json").main(tmp_path / "json")
    [base], [fdt] = (
        [row["value"] for row in found.rows() if (row["method"], row["metric"]) == (method, "accuracy")]
        for method in ("base", "fdt")
    )
    assert fdt > base
    chosen = Run.open(method_folder(found.runs[1], "fdt")).store.read(1).to_pylist()
    assert {row["task"] for row in chosen} == {"polarity", "opinion"}
    assert any('"because":["' in row["label"] for row in chosen if row["task"] == "opinion")


# The same as configs.


SMALL = {
    "two_taggers": ("people", "names"),
    "two_text_classifiers": ("polarity", "emotion"),
    "tagger_and_classifier": ("verbs", "kind"),
    "papers_pair": ("csrl", "rewriting"),
}
"""The tasks that take steps, of which a test needs only a few."""


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toy")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXAMPLES)
        import toy_data

        sizes = {"gold": (40, 1), "dev": (20, 2), "test": (30, 3), "pool": (40, 4)}
        patch.setattr(toy_data, "SIZES", sizes)
        patch.setattr(toy_data, "parser_of_sentences", partial(toy_data.parser_of_sentences, count=30, steps=2))
        toy_data.write_all(folder)
    return folder


@pytest.mark.parametrize("name", ONE_CALL)
def test_each_example_is_a_config_too(
    load, name: str, toy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(toy)
    import toy_data

    settings = [f"tasks.{task}.{steps}=4" for task in SMALL.get(name, ()) for steps in ("base_steps", "update_steps")]
    with toy_data.language_model() as url:
        settings += [f"tasks.asked.url={url}"] if name == "endpoint_friend" else []
        changes = [f"--set={one}" for one in ["iterations=1", *settings]]
        with pytest.raises(SystemExit) as stopped:
            main(["run", str(EXAMPLES / f"{name}.yaml"), "--out", f"runs/{name}", *changes])
    said = capsys.readouterr()
    assert not stopped.value.code, said.err
    config = run_config(toy / "runs" / name)
    assert is_finished(toy / "runs" / name)
    assert set(config.kinds.values()) == ONE_CALL[name]
    assert all(METHODS[method].title in said.out for method in config.methods)


def test_three_friends_know_how_good_they_are(load, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By construction the rule is right in 0.5 + 0.5/3 of the cases."""
    triangles = load("three_friends").main(tmp_path / "run")
    assert set(triangles) == {1, 2}
    for found in triangles.values():
        rule = found.friends[2]
        assert rule.accuracy == pytest.approx(2 / 3, abs=0.05)
        assert found.warnings == ()
    assert "1 polarity" in capsys.readouterr().out


@pytest.mark.parametrize("name", ONE_CALL)
def test_an_example_is_short_and_needs_one_import_of_ours(name: str) -> None:
    lines = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= MOST_LINES
    assert sum("friend_training" in line for line in lines) == 1
