"""What a person should know before believing a run: every warning, provoked, in terminal, result and report alike."""

import html
import random
import re
from pathlib import Path
from typing import Any

import pytest

from friend_training import FriendTrainer, Rule, label_friendship
from friend_training.cli.run import show_outcome
from friend_training.core.selector import Reason
from friend_training.experiments.warnings import Warned, told
from friend_training.runs.run import Run
from friend_training.study.folders import method_folder
from friend_training.trainer import FriendTrainingResult
from helpers.friend_trainers import DEV, POOL, STARS, TEST, estimator, rows

LOVELY = [row["review"] for row in rows(200, 7) if row["mood"] == "good"]
NEARLY_LOVELY = [*LOVELY[:40], *(row["review"] for row in rows(40, 8) if row["mood"] == "bad")]


def fitted(
    folder: Path,
    tasks: list[Any],
    friendships: list[Any],
    pool: list[str],
    compare: tuple[str, ...] = ("base", "fdt"),
    **settings: Any,
) -> Any:
    trainer = FriendTrainer(
        tasks=tasks,
        friendships=friendships,
        folder=folder,
        iterations=1,
        seeds=(1,),
        progress=False,
        settings=settings,
    )
    return trainer.fit(pool, compare=compare)


@pytest.fixture(scope="module")
def collapsed(tmp_path_factory: pytest.TempPathFactory) -> FriendTrainingResult:
    """A pool of one mood, a dev of six, and gold of stars that is test of mood."""
    tasks = [estimator("mood", dev=DEV[:6]), estimator("stars", gold=TEST[:24])]
    promised = {"precision": 0.95, "confidence": 0.9}
    friends = [label_friendship("stars", "mood", STARS)]
    return fitted(tmp_path_factory.mktemp("collapsed"), tasks, friends, LOVELY, mood={"pick_threshold": promised})


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> FriendTrainingResult:
    """Friends that mean the opposite, quotas, and a third friend who never answers."""
    opposite = label_friendship("stars", "mood", {"1": "good", "3": "mixed", "5": "bad"})
    silent = label_friendship("silent", "mood", {"good": "good"})
    tasks = [estimator("mood"), estimator("stars"), Rule("silent", lambda text: None)]
    settings = {"balance": "gold", "pick_threshold": {"share": 0.7}}
    folder = tmp_path_factory.mktemp("filled")
    return fitted(folder, tasks, [opposite, silent], NEARLY_LOVELY, mood=settings)


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> FriendTrainingResult:
    """A friend who throws dice, thresholds that let everything pass, and texts of test and dev in the pool."""
    draw = random.Random(5)
    dice = Rule("dice", lambda text: draw.choice(["good", "bad", "mixed"]))
    friends = label_friendship("dice", "mood", {"good": "good", "bad": ["bad", "mixed"], "mixed": ["bad", "mixed"]})
    pool = [*POOL, *(row["review"] for row in [*TEST[:5], *DEV[:2]])]
    every = {"pick_threshold": 0.0, "sst_threshold": 0.0}
    folder = tmp_path_factory.mktemp("idle")
    methods = ("base", "sst", "fdt", "fdt-shuffled", "base-same-steps", "friend-labels")
    return fitted(folder, [estimator("mood"), dice], [friends], pool, methods, mood=every)


PROVOKED = [
    ("collapsed", '% of the pool has the label "5"', "FDT, stars"),
    ("collapsed", "dev is too small, or too little of it is right, for the threshold asked for", "FDT, mood"),
    ("collapsed", "no pseudo-label was chosen in any iteration: it was trained on gold alone", "FDT, mood"),
    ("collapsed", "24 of 60 texts in test of mood are gold of stars", ""),
    ("filled", "chosen labels have a match of 0: the friend disputes them", "FDT, mood"),
    ("filled", "of them to fill the quotas of their labels", "FDT, mood"),
    ("filled", "no unit was found in the pool", "FDT, silent"),
    ("idle", "its friends agree hardly more than by chance: mean match", "FDT, mood"),
    ("idle", "it chose exactly what self-training chose: the friend made no difference", "FDT, mood"),
    ("idle", "7 inputs of the pool were left out because they also stand elsewhere: 2 of dev of mood, 5 of test", ""),
]


@pytest.mark.parametrize(("provoked", "words", "about"), PROVOKED)
def test_a_warning_stands_in_terminal_result_and_report(
    provoked: str, words: str, about: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    result: FriendTrainingResult = request.getfixturevalue(provoked)
    run = result.runs[1]
    assert [one for one in result.warnings if words in one and one.startswith(about)], result.warnings
    assert f"Warning: {about}" in str(result)
    assert words in str(result)
    show_outcome(run)
    assert words in capsys.readouterr().out
    [page] = result.report()
    assert words in " ".join(html.unescape(re.sub("<[^>]+>", "", page.read_text(encoding="utf-8"))).split())


def test_what_has_no_score_says_why(idle: FriendTrainingResult, capsys: pytest.CaptureFixture[str]) -> None:
    """An estimator takes no steps; of the dice good alone means one label, and no mood means one throw."""
    reason = "Base, same steps, mood: –, it takes no steps, each update trains it anew"
    assert reason in str(idle)
    show_outcome(idle.runs[1])
    assert reason in capsys.readouterr().out
    [page] = idle.report()
    assert "it takes no steps, each update trains it anew" in html.unescape(page.read_text(encoding="utf-8"))
    own = label_friendship("stars", "mood", {"1": ["bad", "mixed"], "5": ["good", "mixed"]})
    assert own.propose_second is None
    assert own.propose_first is not None


def test_what_is_the_same_of_several_is_told_once() -> None:
    found = [Warned("x", "sst", "mood"), Warned("y", "fdt", "mood"), Warned("x", "fdt", "stars"), Warned("data")]
    assert told(found) == ["SST, mood; FDT, stars: x", "FDT, mood: y", "data"]


def test_seeds_of_which_nothing_depends_are_no_evidence(tmp_path: Path) -> None:
    """With gold to draw from they differ."""

    def warned(folder: Path, **settings: Any) -> list[str]:
        two = FriendTrainer(
            tasks=[estimator("mood"), estimator("stars")],
            friendships=[label_friendship("stars", "mood", STARS)],
            folder=folder,
            seeds=(1, 2),
            iterations=1,
            progress=False,
            settings=settings,
        )
        return [one for one in two.fit(POOL, compare=("base", "fdt")).warnings if "the same with every seed" in one]

    assert len(warned(tmp_path / "all")) == 2
    assert warned(tmp_path / "drawn", draw=12) == []


def test_the_store_tells_who_fills_a_quota_and_who_found_it_full(filled: FriendTrainingResult) -> None:
    store = Run.open(method_folder(filled.runs[1], "fdt")).store
    of_mood = [row for row in store.read(1).to_pylist() if row["task"] == "mood"]
    reasons = {reason: [row for row in of_mood if row["reason"] == reason.value] for reason in Reason}
    assert reasons[Reason.FILLS_QUOTA]
    assert all(row["chosen"] for row in reasons[Reason.FILLS_QUOTA])
    assert reasons[Reason.QUOTA_FULL]
    assert not any(row["chosen"] for row in reasons[Reason.QUOTA_FULL])
    best = max(row["overall"] for row in reasons[Reason.QUOTA_FULL])
    assert best >= min(row["overall"] for row in reasons[Reason.FILLS_QUOTA])
