import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import ComplementNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from friend_training.core.selector import Selector, Threshold
from friend_training.core.task import FitPlan, PseudoLabel, Task
from friend_training.errors import ConfigError, DataError, RunError
from friend_training.loop.algorithm import LoopSettings, TaskPlan, Training, friend_train
from friend_training.runs.checkpoints import load_checkpoint, save_checkpoint
from friend_training.runs.run import Run
from friend_training.tasks.estimators import task as saving
from friend_training.tasks.estimators.task import Estimator, texts, weight_argument
from friend_training.testing import check_task
from friend_training.types import Text
from helpers.texts_and_models import inputs, pipeline, reviews

PLAN = FitPlan(seed=3, steps=1)


class Counting:
    """Not of scikit-learn: a model that always answers with the shares of the labels it was given."""

    def fit(self, x, y):
        self.classes_ = sorted(set(y))
        self.shares = [y.count(label) / len(y) for label in self.classes_]
        return self

    def predict_proba(self, x):
        return np.tile(self.shares, (len(x), 1))


@pytest.mark.filterwarnings("ignore:.*takes no sample_weight")
@pytest.mark.parametrize(
    "make",
    [
        pipeline,
        lambda: make_pipeline(CountVectorizer(), ComplementNB()),
        lambda: make_pipeline(CountVectorizer(), RandomForestClassifier(5)),
        lambda: make_pipeline(CountVectorizer(), KNeighborsClassifier(3)),
        Counting,
    ],
    ids=["logistic", "bayes", "forest", "neighbours", "own"],
)
def test_any_model_with_fit_and_predict_proba_is_a_task(make):
    check_task(lambda: Estimator("mood", make()), gold=reviews(30, 1), dev=reviews(20, 2), inputs=inputs(12, 3))
    assert isinstance(Estimator("mood", make()), Task)


def fitted(model, pseudo=(), plan=PLAN, gold=None):
    task = Estimator("mood", model)
    task.fit(gold or reviews(30, 1), pseudo, dev=reviews(20, 2), plan=plan)
    return task


def probabilities(task):
    return task.model.predict_proba([text.text for text in inputs(10, 3)])


def test_weights_reach_the_last_step_of_a_pipeline():
    """Ten pseudo-labels do what the same examples do as gold when scikit-learn is given their weights."""
    extra = reviews(10, 4)
    pseudo = [PseudoLabel(text, text.id, label, weight=0.2) for text, label in extra]
    ours = fitted(pipeline(), pseudo, FitPlan(seed=3, steps=1))
    gold = reviews(30, 1)
    theirs = pipeline().fit(
        [text.text for text, _ in gold + extra],
        [label for _, label in gold + extra],
        logisticregression__sample_weight=[1.0] * 30 + [0.2] * 10,
    )
    expected = theirs.predict_proba([text.text for text in inputs(10, 3)])
    np.testing.assert_array_equal(probabilities(ours), expected)
    assert not np.allclose(probabilities(ours), probabilities(fitted(pipeline())))


def test_a_model_without_weights_says_that_they_are_lost():
    neighbours = make_pipeline(CountVectorizer(), KNeighborsClassifier(3))
    assert weight_argument(neighbours) is None
    pseudo = [PseudoLabel(text, text.id, label, weight=0.5) for text, label in reviews(5, 4)]
    with pytest.warns(UserWarning, match="task mood: Pipeline takes no sample_weight"):
        fitted(neighbours, pseudo)
    with warnings.catch_warnings(action="error"):
        fitted(neighbours)  # nothing is lost where every weight is 1


def test_weights_of_a_pipeline_in_a_pipeline():
    inner = make_pipeline(LogisticRegression())
    assert weight_argument(make_pipeline(CountVectorizer(), inner)) == "pipeline__logisticregression__sample_weight"


def test_every_fit_begins_anew_and_leaves_the_given_model_alone():
    model = make_pipeline(CountVectorizer(), LogisticRegression(warm_start=True))
    task = fitted(model)
    once = probabilities(task)
    task.fit(reviews(30, 1), [], dev=reviews(20, 2), plan=PLAN)
    np.testing.assert_array_equal(probabilities(task), once)
    assert not hasattr(model[-1], "classes_")


def test_the_seed_of_the_plan_is_that_of_the_model_unless_it_has_one():
    forest = lambda state: make_pipeline(CountVectorizer(), RandomForestClassifier(5, random_state=state))  # noqa: E731
    one, other = FitPlan(seed=1, steps=1), FitPlan(seed=2, steps=1)
    assert not np.array_equal(
        probabilities(fitted(forest(None), plan=one)), probabilities(fitted(forest(None), plan=other))
    )
    np.testing.assert_array_equal(
        probabilities(fitted(forest(7), plan=one)), probabilities(fitted(forest(7), plan=other))
    )


def test_one_class_is_too_few():
    with pytest.raises(DataError, match=r"task mood: gold of at least two classes was expected, there is \['good'\]"):
        fitted(pipeline(), gold=[(Text("a", "nice"), "good")])


def test_an_untrained_task_says_so():
    with pytest.raises(RunError, match="task mood is not trained yet"):
        Estimator("mood", pipeline()).predict(inputs(1, 1))


def saved(tmp_path: Path) -> Path:
    save_checkpoint(fitted(pipeline()), tmp_path / "kept")
    return tmp_path / "kept"


@pytest.mark.parametrize(
    ("name", "model", "message"),
    [
        ("stars", pipeline(), "task of the saved classifier is 'mood', expected 'stars'"),
        ("mood", LogisticRegression(), "model of the saved classifier is 'sklearn.pipeline.Pipeline'"),
    ],
)
def test_only_what_was_saved_for_this_task_is_loaded(tmp_path, name, model, message):
    folder = saved(tmp_path)
    with pytest.raises(RunError, match=message):
        load_checkpoint(Estimator(name, model), folder)


def test_another_version_of_scikit_learn_is_refused_before_anything_is_loaded(tmp_path, monkeypatch):
    folder = saved(tmp_path)
    monkeypatch.setattr(saving, "version", lambda package: "0.1")
    monkeypatch.setattr(saving, "_load_by_skops", lambda path: pytest.fail("the file was opened"))
    with pytest.raises(RunError, match="scikit-learn of the saved classifier is"):
        load_checkpoint(Estimator("mood", pipeline()), folder)


def test_a_file_that_skops_cannot_read_is_told(tmp_path):
    folder = saved(tmp_path)
    (folder / saving.MODEL).write_bytes(b"something else")
    with pytest.raises(RunError, match=r"model.skops: skops does not load this file"):
        load_checkpoint(Estimator("mood", pipeline()), folder)


def test_the_note_shows_the_types_that_were_trusted(tmp_path):
    folder = saved(tmp_path)
    note = json.loads((folder / saving.NOTE).read_text())
    assert {"sklearn.pipeline.Pipeline", "sklearn.linear_model._logistic.LogisticRegression"} <= {
        *note["trusted types"]
    }
    assert {path.name for path in folder.iterdir()} == {saving.NOTE, saving.MODEL}


def test_the_same_model_has_the_same_bytes_whenever_it_is_written(tmp_path):
    """skops names the parts of a model by their addresses, and every copy lies somewhere else."""
    first, again = (saved(tmp_path / name) for name in ("first", "again"))
    assert (first / saving.MODEL).read_bytes() == (again / saving.MODEL).read_bytes()
    task = Estimator("mood", pipeline())
    task.load(first)
    assert [units[0].label for units in task.predict(inputs(12, 3))]


class Shifted(BaseEstimator, TransformerMixin):
    """A step of a pipeline that skops does not know."""

    def fit(self, x, y=None):
        return self

    def transform(self, x):
        return x + 1


def lengths(inputs):
    return np.array([[float(len(given.text)), float(given.text.count("o"))] for given in inputs])


REFUSED = {
    "class of your own": (Counting, texts, "skops does not trust"),
    "forest": (lambda: make_pipeline(CountVectorizer(), RandomForestClassifier(5)), texts, "_tree.Tree"),
    "function": (lambda: make_pipeline(CountVectorizer(tokenizer=str.split), ComplementNB()), texts, "method"),
    "step": (lambda: make_pipeline(Shifted(), LogisticRegression()), lengths, "Shifted"),
    "sparse": (lambda: RandomForestClassifier(5), lambda inputs: csr_matrix(lengths(inputs)), "_tree.Tree"),
}


@pytest.mark.filterwarnings("ignore:.*takes no sample_weight", "ignore:.*token_pattern")
@pytest.mark.parametrize("kind", REFUSED)
def test_a_model_that_skops_refuses_is_fitted_again(tmp_path, kind):
    """On gold and pseudo-labels with their weights and the seed; and it can be saved once more."""
    make, features, why = REFUSED[kind]
    pseudo = [PseudoLabel(text, text.id, label, weight=0.5) for text, label in reviews(9, 4)]
    task = Estimator("mood", make(), features=features)
    task.fit(reviews(30, 1), pseudo, dev=reviews(20, 2), plan=PLAN)
    for folder in (tmp_path / "once", tmp_path / "twice"):
        save_checkpoint(task, folder)
        note = json.loads((folder / saving.NOTE).read_text())
        assert why in note["fitted again when it is loaded, because"]
        assert not (folder / saving.MODEL).exists()
        again = Estimator("mood", make(), features=features)
        load_checkpoint(again, folder)
        assert again.predict(inputs(20, 3)) == task.predict(inputs(20, 3))
        task = again


def test_a_model_with_other_settings_is_not_taken_for_the_one_that_was_saved(tmp_path):
    def forest(trees):
        return Estimator("mood", make_pipeline(CountVectorizer(), RandomForestClassifier(trees)))

    task = forest(5)
    task.fit(reviews(30, 1), [], dev=[], plan=PLAN)
    save_checkpoint(task, tmp_path / "kept")
    with pytest.raises(RunError, match="fitted again on the same examples, predicts something else"):
        load_checkpoint(forest(6), tmp_path / "kept")


def test_features_that_cannot_be_put_on_record_are_told(tmp_path):
    task = Estimator("mood", Counting(), features=lambda inputs: {given.id for given in inputs})
    task.fit(reviews(30, 1), [], dev=[], plan=PLAN)
    with pytest.raises(RunError, match="its features are a set, expected an array, a sparse matrix or a list"):
        save_checkpoint(task, tmp_path / "kept")


@pytest.mark.parametrize("model", [LinearSVC(), SVC(), make_pipeline(CountVectorizer(), LinearSVC()), object()])
def test_a_model_without_probabilities_is_refused_when_the_task_is_made(model):
    with pytest.raises(ConfigError, match=r"task mood: \w+ has no .*predict_proba; expected a model that can fit"):
        Estimator("mood", model)


def test_a_class_in_place_of_a_model_is_refused():
    with pytest.raises(ConfigError, match="the model is the class LogisticRegression, expected an object of it"):
        Estimator("mood", LogisticRegression)


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(RunError, match="there is no classifier here"):
        Estimator("mood", pipeline()).load(tmp_path)


def train(run: Run) -> None:
    once, settings = Training(steps=1), LoopSettings(seed=1, iterations=2, shard_size=25)
    selectors = [Selector(Threshold(0.5), confidence_weight=1.0)] * 2
    forest = make_pipeline(CountVectorizer(), RandomForestClassifier(5))
    task = Estimator("mood", forest)
    plan = TaskPlan(task, reviews(20, 1), reviews(20, 2), once, once, selectors, {"test": reviews(20, 5)})
    friend_train(run, {"mood": plan}, (), inputs(60, 3), settings=settings)


def test_a_resumed_run_labels_and_scores_the_same_to_the_bit(tmp_path):
    """The checkpoint files themselves may differ: a CountVectorizer keeps an address in memory among its attributes."""
    run = Run.create(tmp_path / "run", "", {})
    train(run)
    kept = [run.folder / "metrics.jsonl", *sorted(run.folder.glob("store/**/*.parquet"))]
    before = [path.read_bytes() for path in kept]
    for path in [*run.folder.glob("phases/*-2*.json"), *run.folder.glob("phases/*mood-1.json")]:
        path.unlink()
    for path in kept[1:]:
        if "iteration-002" in str(path):
            path.unlink()
    train(Run.open(run.folder))
    assert [path.read_bytes() for path in kept] == before
