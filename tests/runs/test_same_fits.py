"""A training that an earlier method has done with the same weights, labels and plan is taken over, bit by bit."""

from dataclasses import replace
from pathlib import Path

from friend_training.core.selector import Selector, Threshold
from friend_training.core.task import FitPlan, PseudoLabel
from friend_training.loop.algorithm import friend_train
from friend_training.runs.checkpoints import Fit, SameFits
from helpers.toy_runs import POLARITY, SETTINGS, contents, friends, plan, pool, start
from helpers.toy_task import ToyTask


class Counting(ToyTask):
    """Counts its trainings."""

    fits = 0

    def fit(self, gold, pseudo, *, dev, plan):
        self.fits += 1
        return super().fit(gold, pseudo, dev=dev, plan=plan)


def test_methods_that_differ_in_one_task_share_the_training_of_the_other(tmp_path: Path) -> None:
    tasks = {name: Counting(name, list(POLARITY[name])) for name in ("stars", "mood")}
    plans = {name: plan(name, task=task) for name, task in tasks.items()}
    strict = Selector(Threshold(0.9), confidence_weight=1.0)
    other = plans | {"stars": replace(plans["stars"], selectors=[strict] * SETTINGS.iterations)}
    once = replace(SETTINGS, iterations=1)
    sharing = replace(once, same_fits=SameFits())
    fitted, made = [], []
    for name, asked, settings in (("alone", other, once), ("first", plans, sharing), ("second", other, sharing)):
        before = {task: tasks[task].fits for task in tasks}
        run = start(tmp_path / name)
        short = {task: replace(one, selectors=one.selectors[:1]) for task, one in asked.items()}
        friend_train(run, short, [friends("stars", "mood")], pool(), settings=settings)
        fitted.append({task: tasks[task].fits - before[task] for task in tasks})
        made.append(contents(run))
    assert fitted == [{"stars": 2, "mood": 2}, {"stars": 2, "mood": 2}, {"stars": 2, "mood": 1}]
    assert made[0] == made[2], "nothing but time depends on it"


def test_other_weights_plans_and_labels_are_trained(tmp_path: Path) -> None:
    task, same = ToyTask("mood", list(POLARITY["mood"])), SameFits()
    said = PseudoLabel(pool()[0], "pool0", "sad")
    fit = Fit(task, (), (), "digest", FitPlan(seed=1, steps=2), [said])
    same.remember(fit.digest(), fit, tmp_path, {"steps": 2})
    found = same.found(fit.digest())
    assert found is not None
    assert found.result == {"steps": 2}
    for changed in (
        replace(fit, start="another"),
        replace(fit, plan=FitPlan(seed=2, steps=2)),
        replace(fit, pseudo=[]),
        replace(fit, pseudo=[replace(said, label="happy")]),
        replace(fit, pseudo=[replace(said, weight=0.5)]),
        replace(fit, task=ToyTask("mood", list(POLARITY["mood"]))),
    ):
        assert same.found(changed.digest()) is None


def test_a_checkpoint_that_is_gone_is_made_again(tmp_path: Path) -> None:
    same = SameFits()
    fit = Fit(ToyTask("mood", ["sad"]), (), (), "digest", FitPlan(seed=1, steps=2), [])
    same.remember(fit.digest(), fit, tmp_path / "removed", {})
    assert same.found(fit.digest()) is None
