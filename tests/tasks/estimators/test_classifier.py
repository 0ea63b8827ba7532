import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import ComplementNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from friend_training.core.selector import Selector, Threshold
from friend_training.core.task import FitPlan, PseudoLabel, Task
from friend_training.errors import DataError, RunError
from friend_training.loop.algorithm import friend_train
from friend_training.loop.plan import LoopSettings, TaskPlan, Training
from friend_training.runs.checkpoints import load_checkpoint, save_checkpoint
from friend_training.runs.run import Run
from friend_training.tasks.estimators import task as saving
from friend_training.tasks.estimators.task import ClassifierTask, weight_argument
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
    check_task(lambda: ClassifierTask("mood", make()), gold=reviews(30, 1), dev=reviews(20, 2), inputs=inputs(12, 3))
    assert isinstance(ClassifierTask("mood", make()), Task)


def fitted(model, pseudo=(), plan=PLAN, gold=None):
    task = ClassifierTask("mood", model)
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
        ClassifierTask("mood", pipeline()).predict(inputs(1, 1))


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
        load_checkpoint(ClassifierTask(name, model), folder)


def test_another_version_of_scikit_learn_is_refused_before_anything_is_run(tmp_path, monkeypatch):
    folder = saved(tmp_path)
    monkeypatch.setattr(saving, "version", lambda package: "0.1")
    monkeypatch.setattr(saving, "_joblib", lambda: pytest.fail("the file was opened"))
    with pytest.raises(RunError, match="scikit-learn of the saved classifier is"):
        load_checkpoint(ClassifierTask("mood", pipeline()), folder)


def test_a_file_that_was_exchanged_is_never_opened(tmp_path, monkeypatch):
    folder = saved(tmp_path)
    (folder / saving.MODEL).write_bytes(b"something else")
    monkeypatch.setattr(saving, "_joblib", lambda: pytest.fail("the file was opened"))
    with pytest.raises(RunError, match="sha256 of the saved classifier is"):
        load_checkpoint(ClassifierTask("mood", pipeline()), folder)


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(RunError, match="there is no classifier here"):
        ClassifierTask("mood", pipeline()).load(tmp_path)


def train(run: Run) -> None:
    once, settings = Training(steps=1), LoopSettings(seed=1, iterations=2, shard_size=25)
    selectors = [Selector(Threshold(0.5), confidence_weight=1.0)] * 2
    forest = make_pipeline(CountVectorizer(), RandomForestClassifier(5))
    task = ClassifierTask("mood", forest)
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
