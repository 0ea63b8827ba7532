"""FriendTrainer from rows to a result, in a folder that every command can read; and what it refuses."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from friend_training import Estimator, FriendTrainer, Rule, label_friendship, load
from friend_training.errors import ConfigError, DataError, RunError, RunStoppedError
from friend_training.experiments.warnings import run_warnings
from friend_training.study.folders import is_finished, run_config
from friend_training.study.open import open_task
from friend_training.trainer import Event, FriendTrainingResult
from friend_training.types import Text
from helpers.friend_trainers import DEV, GOLD, POOL, STARS, TEST, estimator, finished_steps, rows, trainer

COMPARED = ("base", "fdt", "fdt-shuffled", "friend-labels")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reviews") / "run"


@pytest.fixture(scope="module")
def result(folder: Path) -> FriendTrainingResult:
    return trainer(folder).fit(POOL, compare=COMPARED)


def test_every_method_has_a_row_for_every_seed_and_task(result: FriendTrainingResult) -> None:
    found = {(row["method"], row["seed"], row["task"]) for row in result.rows()}
    assert found >= {(method, seed, "mood") for method in COMPARED for seed in (1, 2)}
    assert {row["metric"] for row in result.rows()} == {"accuracy", "macro_f1"}


def test_the_printed_result_has_table_differences_and_warnings(result: FriendTrainingResult) -> None:
    told = str(result)
    for title in ("Base", "FDT, shuffled friend", "friend's labels", "95 % intervals over 2 seeds"):
        assert title in told
    assert all(f"Warning: {warning}" in told for warning in result.warnings)


def test_in_a_notebook_the_printed_result_is_plain_text_too(
    result: FriendTrainingResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = str(result)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert str(result) == plain


def test_a_dataframe_of_the_results(result: FriendTrainingResult) -> None:
    frame = result.to_pandas()
    assert list(frame.columns) == ["seed", "method", "task", "metric", "value"]
    assert len(frame) == len(result.rows())


def test_a_figure_of_the_results_and_a_report_of_each_seed(result: FriendTrainingResult) -> None:
    assert len(result.plot().axes) == 2
    assert [path.is_file() for path in result.report()] == [True, True]


def test_the_run_of_a_seed_needs_no_program(result: FriendTrainingResult, folder: Path) -> None:
    run = folder / "seed-1"
    assert is_finished(run)
    assert set(run_config(run).kinds.values()) == {"estimator"}
    opened = open_task(run, "mood")
    assert opened.method == "fdt"


def test_the_best_model_is_that_of_the_seed_that_is_best_on_dev(
    result: FriendTrainingResult, folder: Path, tmp_path: Path
) -> None:
    best = result.best("mood")
    on_dev = []
    for seed in (1, 2):
        records = [json.loads(line) for line in (folder / f"seed-{seed}" / "results.jsonl").read_text().splitlines()]
        [record] = [one for one in records if one["method"] == "fdt"]
        on_dev.append(record["dev"]["mood"][record["best_iteration"]["mood"]]["accuracy"])
    assert best.dev["accuracy"] == max(on_dev)
    assert best.predict(["lovely superb"])[0][0].label == "good"
    saved = best.save_pretrained(tmp_path / "model")
    again = estimator("mood")
    again.load(saved)
    texts = ["dull rude", "superb kind"]
    assert [u[0].label for u in best.predict(texts)] == ["bad", "good"]
    assert f"seed {best.seed}" in (saved / "README.md").read_text(encoding="utf-8")


def test_fit_again_does_nothing_again(result: FriendTrainingResult, folder: Path) -> None:
    before = finished_steps(folder)
    again = trainer(folder).fit(POOL, compare=COMPARED)
    assert finished_steps(folder) == before
    assert again.rows() == result.rows()


def test_more_methods_and_seeds_may_be_asked_for_later(tmp_path: Path) -> None:
    trainer(tmp_path, seeds=(1,)).fit(POOL, compare=("base", "fdt"))
    before = finished_steps(tmp_path)
    more = trainer(tmp_path, seeds=(1, 2)).fit(POOL, compare=("base", "fdt", "sst"))
    assert finished_steps(tmp_path).items() >= before.items()
    assert {(row["method"], row["seed"]) for row in more.rows()} == {
        (method, seed) for method in ("base", "fdt", "sst") for seed in (1, 2)
    }


@pytest.mark.parametrize(
    ("changed", "pool", "named"),
    [
        ({"gold": GOLD[:-1]}, POOL, "gold of mood"),
        ({}, POOL[:-1], "pool"),
        ({"iterations": 2}, POOL, "iterations"),
        ({"settings": {"pick_threshold": 0.9}}, POOL, "tasks.mood.pick_threshold"),
        ({"settings": {"stars": {"pseudo_weight": 0.5}}}, POOL, "tasks.stars.pseudo_weight"),
    ],
)
def test_a_folder_is_of_what_it_was_begun_with(
    result: FriendTrainingResult, folder: Path, changed: dict[str, Any], pool: list[str], named: str
) -> None:
    with pytest.raises(RunError, match=f"was made with other {named}"):
        trainer(folder, **changed).fit(pool, compare=COMPARED)


def test_another_model_is_another_run(result: FriendTrainingResult, folder: Path) -> None:
    other = make_pipeline(CountVectorizer(), LogisticRegression(C=2.0))
    friends = FriendTrainer(
        tasks=[estimator("mood", model=other), estimator("stars")],
        friendships=[label_friendship("stars", "mood", STARS)],
        folder=folder,
        progress=False,
    )
    with pytest.raises(RunError, match="another model of task mood"):
        friends.fit(POOL)


def test_what_only_the_program_has_stays_with_it(tmp_path: Path) -> None:
    """A rule, a friendship of functions, a model with a function in it; friend's labels says why it cannot run."""
    mood = Estimator(
        "mood",
        LogisticRegression(),
        features=lambda texts: np.array([[text.text.count(word) for word in ("dull", "lovely")] for text in texts]),
        text="review",
        label="mood",
        gold=GOLD,
        dev=DEV,
        test=TEST,
    )
    rule = Rule("words", lambda text: "good" if "lovely" in text.text else "bad" if "dull" in text.text else None)
    friends = label_friendship("mood", "words", (lambda label: label, lambda label: label))
    found = FriendTrainer(tasks=[mood, rule], friendships=[friends], folder=tmp_path, seeds=(1,), progress=False)
    result = found.fit(POOL, compare=("base", "fdt", "friend-labels"))
    assert run_config(tmp_path / "seed-1").kinds == {"mood": "python", "words": "python"}
    assert "friend's labels: –, mood-words: what one task predicts cannot be said as a label of the other" in str(
        result
    )
    assert {row["task"] for row in result.rows()} == {"mood"}
    assert result.best("mood").predict(["lovely"])[0][0].label == "good"
    with pytest.raises(RunError, match="words is never trained"):
        result.best("words")
    with pytest.raises(ConfigError, match="Python object"):
        open_task(tmp_path / "seed-1", "mood")


def test_a_class_of_ones_own_gets_its_examples_as_they_are(tmp_path: Path) -> None:
    task = Classifier("mood")
    examples = {"gold": typed(GOLD), "dev": typed(DEV), "test": typed(TEST)}
    found = FriendTrainer(
        tasks=[task, estimator("stars")],
        friendships=[label_friendship("stars", "mood", STARS)],
        folder=tmp_path,
        examples={"mood": examples},
        seeds=(1,),
        progress=False,
    )
    result = found.fit([text for text, _ in typed(rows(40, 5))], compare=("base", "fdt"))
    assert run_config(tmp_path / "seed-1").kinds == {"mood": "python", "stars": "estimator"}
    assert {row["task"] for row in result.rows()} == {"mood", "stars"}
    changed = FriendTrainer(
        tasks=[task, estimator("stars")],
        friendships=[label_friendship("stars", "mood", STARS)],
        folder=tmp_path,
        examples={"mood": examples | {"dev": typed(DEV[:-1])}},
        progress=False,
    )
    with pytest.raises(RunError, match="dev of mood"):
        changed.fit([text for text, _ in typed(rows(40, 5))], compare=("base", "fdt"))


class Classifier(Estimator):
    """Stands for a class of the user's own."""

    def __init__(self, name: str) -> None:
        super().__init__(name, make_pipeline(CountVectorizer(), LogisticRegression()))


def typed(made: list[dict[str, str]]) -> list[tuple[Text, str]]:
    return [(Text(f"own-{number}-{len(made)}", row["review"]), row["mood"]) for number, row in enumerate(made)]


@pytest.mark.parametrize("kind", ["csv", "dicts", "frame", "jsonl"])
def test_rows_come_from_anywhere(tmp_path: Path, kind: str) -> None:
    import pandas

    frame, path = pandas.DataFrame(GOLD), tmp_path / f"gold.{kind}"
    given: dict[str, Callable[[], Any]] = {
        "csv": lambda: frame.to_csv(path, index=False) or path,
        "jsonl": lambda: (
            frame.to_json(tmp_path / "gold.jsonl", orient="records", lines=True) or tmp_path / "gold.jsonl"
        ),
        "dicts": lambda: iter(GOLD),
        "frame": lambda: frame,
    }
    pool = pandas.DataFrame({"review": POOL}) if kind == "frame" else (text for text in POOL)
    trainer(tmp_path / "run", gold=given[kind](), seeds=(1,)).fit(pool, compare=("base",))
    lines = (tmp_path / "run" / "data" / "mood-gold.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["text"] for line in lines] == [row["review"] for row in GOLD]


def test_texts_of_test_in_the_pool_are_left_out_and_told(tmp_path: Path) -> None:
    result = trainer(tmp_path, seeds=(1,)).fit([*POOL, TEST[0]["review"]], compare=("base", "fdt"))
    [note] = [warning for warning in result.warnings if "left out" in warning]
    assert note.startswith("1 inputs of the pool were left out")


def test_friends_that_have_nothing_to_do_with_each_other_are_told_of(tmp_path: Path) -> None:
    """Every label means any label: the match is 1 whoever's answers are compared."""
    friends = label_friendship("stars", "mood", {star: ["good", "bad", "mixed"] for star in "135"})
    result = trainer(tmp_path, friendship=friends, seeds=(1,)).fit(POOL, compare=("base", "fdt", "fdt-shuffled"))
    assert any("hardly more than by chance" in warning for warning in result.warnings)


def test_nothing_chosen_and_the_same_as_self_training_are_told_of(tmp_path: Path) -> None:
    none = {"pick_threshold": 1.0, "sst_threshold": 1.0}
    trainer(tmp_path / "none", seeds=(1,), settings=none).fit(POOL, compare=("base", "sst", "fdt"))
    texts = {str(one) for one in run_warnings(tmp_path / "none" / "seed-1")}
    assert any(text.startswith("SST, mood: no pseudo-label was chosen") for text in texts)
    every = {"pick_threshold": 0.0, "sst_threshold": 0.0}
    wrong = label_friendship("stars", "mood", {"1": "good", "3": "mixed", "5": "bad"})
    trainer(tmp_path / "all", seeds=(1,), settings=every, friendship=wrong).fit(POOL, compare=("base", "sst", "fdt"))
    texts = {str(one) for one in run_warnings(tmp_path / "all" / "seed-1")}
    assert any("exactly what self-training chose" in text for text in texts)
    assert any("a match of 0" in text for text in texts)


def test_a_listener_hears_of_metrics_and_selections_and_can_stop(tmp_path: Path) -> None:
    heard: list[Event] = []

    def stop_at_friends(event: Event) -> bool:
        heard.append(event)
        return event.method != "fdt"

    with pytest.raises(RunStoppedError, match="seed 1"):
        trainer(tmp_path, seeds=(1,), listener=stop_at_friends).fit(POOL, compare=("base", "sst", "fdt"))
    kinds = [event.kind for event in heard]
    assert kinds[0] == "begin"
    assert {"metrics", "selection"} <= set(kinds)
    assert next(event for event in heard if event.kind == "selection").values["units"] == len(POOL)
    before = finished_steps(tmp_path)
    heard.clear()
    result = trainer(tmp_path, seeds=(1,), listener=heard.append).fit(POOL, compare=("base", "sst", "fdt"))
    assert heard[-1].kind == "end"
    assert {event.method for event in heard} == {"", "fdt"}, "what was finished before is not told again"
    assert finished_steps(tmp_path).items() >= before.items()
    assert len(result.results) == 3


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda f: trainer(f, gold=[("lovely", "good")]), DataError, "mood-gold:1: expected a mapping"),
        (lambda f: trainer(f, gold=None), ConfigError, "task mood: it has no gold"),
        (lambda f: trainer(f, gold=[{"text": "a", "mood": "b"}]), DataError, "no column 'review'"),
        (lambda f: trainer(f, settings="fast"), ConfigError, "settings are 'fast', expected a mapping"),
        (lambda f: trainer(f, settings={"base_stepz": 3}), ConfigError, "base_stepz"),
        (lambda f: trainer(f, seeds=(1, 1)), ConfigError, "each once"),
        (lambda f: trainer(f, seeds="1"), ConfigError, "expected whole numbers"),
        (lambda f: trainer(None), ConfigError, "folder is None, expected the path of a folder"),
        (lambda f: trainer(Path(__file__)), ConfigError, "is a file, expected a folder for the runs"),
        (
            lambda f: trainer(f, friendship=label_friendship("stars", "mood", {"1": "badd", "3": "good", "5": "good"})),
            ConfigError,
            "1 means 'badd', which is no label of mood; did you mean 'bad'",
        ),
        (lambda f: trainer(f, listener=3), ConfigError, "expected a function of an event"),
        (lambda f: trainer(f, friendship=label_friendship("stars", "x", STARS)), ConfigError, "no task 'x'"),
        (lambda f: trainer(f, friendship=label_friendship("stars", "mood", {"1": "bad"})), ConfigError, "nothing of 3"),
    ],
)
def test_a_mistake_is_told_in_one_line(
    tmp_path: Path, make: Callable[[Path], FriendTrainer], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make(tmp_path).fit(POOL, compare=("base",))


def test_a_method_that_nobody_knows(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no method 'fdtt'; did you mean 'fdt'"):
        trainer(tmp_path).fit(POOL, compare=("base", "fdtt"))
    with pytest.raises(ConfigError, match="'base' is a text, expected a list of methods"):
        trainer(tmp_path).fit(POOL, compare="base")


@pytest.mark.parametrize("pool", [None, {"text": ["a", "b"]}, 3])
def test_a_pool_that_is_none(tmp_path: Path, pool: Any) -> None:
    with pytest.raises(DataError, match=r"the pool is .*, expected texts, rows, a DataFrame or a file"):
        trainer(tmp_path).fit(pool, compare=("base",))


def test_models_are_asked_for_lists(result: FriendTrainingResult, folder: Path) -> None:
    models = load(folder / "seed-1")
    for given in ("lovely", None, {"text": "lovely"}):
        with pytest.raises(DataError, match="expected a list of texts"):
            models.predict("mood", given)


def test_the_printed_result_fits_a_terminal_of_80_columns(result: FriendTrainingResult) -> None:
    tables = [line for line in str(result).splitlines() if not line.startswith(("Warning", "FDT minus"))]
    assert max(map(len, tables)) <= 80
