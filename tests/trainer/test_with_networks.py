"""FriendTrainer with networks: losses and callbacks of transformers, and pipelines that load what it saves."""

from pathlib import Path
from typing import Any

import pytest
from transformers import TrainerCallback, pipeline

from friend_training import FriendTrainer, TextClassification, label_friendship
from friend_training.errors import ConfigError, RunStoppedError
from friend_training.study.folders import run_config
from friend_training.study.open import open_task
from friend_training.trainer import Event, FriendTrainingResult, TensorBoard
from helpers.friend_trainers import DEV, GOLD, POOL, STARS, TEST


class Recording(TrainerCallback):  # type: ignore[misc]
    """Writes down what it is called for, and stops at the log that has `stop_at` in a name."""

    def __init__(self, stop_at: str = "never") -> None:
        self.called: list[str] = []
        self.logs: dict[str, float] = {}
        self._stop_at = stop_at

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        self.called.append("begin")

    def on_log(self, args: Any, state: Any, control: Any, *, logs: dict[str, float], **given: Any) -> None:
        self.called.append("log")
        self.logs |= logs
        control.should_training_stop = any(self._stop_at in name for name in logs)

    def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        self.called.append("end")


def friends(folder: Path, encoder: Path, listener: Any) -> FriendTrainer:
    rows = {"gold": GOLD, "dev": DEV[:20], "test": TEST[:20], "text": "review"}
    return FriendTrainer(
        tasks=[TextClassification(name, encoder=encoder, label=name, **rows) for name in ("mood", "stars")],
        friendships=[label_friendship("stars", "mood", STARS)],
        folder=folder,
        seeds=(1,),
        iterations=1,
        settings={"base_steps": 20, "update_steps": 10, "training": {"batch_size": 4}},
        listener=listener,
        progress=False,
        device="cpu",
    )


@pytest.fixture(scope="module")
def heard() -> list[Event]:
    return []


@pytest.fixture(scope="module")
def callback() -> Recording:
    return Recording()


@pytest.fixture(scope="module")
def result(
    tiny_encoder: Path, tmp_path_factory: pytest.TempPathFactory, heard: list[Event], callback: Recording
) -> FriendTrainingResult:
    folder = tmp_path_factory.mktemp("networks")
    listeners = [heard.append, callback, TensorBoard(folder / "board")]
    return friends(folder / "run", tiny_encoder, listeners).fit(POOL[:30], compare=("base", "fdt"))


def test_losses_are_heard_of(result: FriendTrainingResult, heard: list[Event]) -> None:
    losses = [event for event in heard if event.kind == "loss"]
    assert {(event.method, event.task, event.iteration) for event in losses} >= {
        ("base", "mood", 0),
        ("base", "stars", 0),
    }
    assert [event.number for event in losses if (event.method, event.task) == ("base", "mood")] == [10, 20]
    assert all(event.values["loss"] > 0 for event in losses)


def test_a_callback_of_transformers_is_called_at_begin_log_and_end(
    result: FriendTrainingResult, callback: Recording
) -> None:
    assert (callback.called[0], callback.called[-1]) == ("begin", "end")
    assert callback.called.count("begin") == callback.called.count("end") == 1
    assert {"base/mood/loss", "fdt/mood/dev/accuracy", "fdt/stars/chosen"} <= callback.logs.keys()


def test_a_callback_can_stop_the_run(tmp_path: Path, tiny_encoder: Path) -> None:
    with pytest.raises(RunStoppedError, match="seed 1 at loss of base mood"):
        friends(tmp_path, tiny_encoder, Recording(stop_at="loss")).fit(POOL[:30], compare=("base",))


def test_tensorboard_has_a_file(result: FriendTrainingResult) -> None:
    assert list((result.folder.parent / "board").glob("events*"))


def test_a_pipeline_loads_the_best_model(result: FriendTrainingResult, tmp_path: Path) -> None:
    best = result.best("mood")
    loaded = pipeline("text-classification", model=str(best.save_pretrained(tmp_path / "model")), device="cpu")
    texts = [row["review"] for row in TEST[:5]]
    assert [one["label"] for one in loaded(texts)] == [units[0].label for units in best.predict(texts)]


def test_the_run_needs_no_program(result: FriendTrainingResult) -> None:
    run = result.runs[1]
    assert set(run_config(run).kinds.values()) == {"text-classification"}
    assert open_task(run, "stars").task.main_metric == "accuracy"


def test_a_task_without_labels_needs_the_trainer(tiny_encoder: Path) -> None:
    task = TextClassification("mood", encoder=tiny_encoder, gold=GOLD, dev=DEV, test=TEST)
    with pytest.raises(ConfigError, match="task mood: its labels are not known; name them, or give the task to"):
        task.definition.labels  # noqa: B018
