"""A training that an earlier method has done with the same weights, labels and plan is taken over, bit by bit."""

from dataclasses import replace
from pathlib import Path

from friend_training.core.selector import Selector, Threshold
from friend_training.core.task import FitPlan, PseudoLabel
from friend_training.loop.algorithm import friend_train
from friend_training.runs.checkpoints import EqualTrainings, Fit, checkpoint_digest, save_checkpoint
from friend_training.runs.run import Run
from helpers.toy_runs import POLARITY, SETTINGS, contents, friends, plan, pool, start
from helpers.toy_task import ToyTask


class Counting(ToyTask):
    """Counts its trainings."""

    fits = 0

    @property
    def identity(self):
        return repr((self.name, self.labels))

    def fit(self, gold, pseudo, *, dev, plan):
        self.fits += 1
        return super().fit(gold, pseudo, dev=dev, plan=plan)


def test_methods_that_differ_in_one_task_share_the_training_of_the_other(tmp_path: Path) -> None:
    tasks = {name: Counting(name, list(POLARITY[name])) for name in ("stars", "mood")}
    plans = {name: plan(name, task=task) for name, task in tasks.items()}
    strict = Selector(Threshold(0.9), confidence_weight=1.0)
    other = plans | {"stars": replace(plans["stars"], selectors=[strict] * SETTINGS.iterations)}
    once = replace(SETTINGS, iterations=1)
    sharing = replace(once, equal_trainings=EqualTrainings())
    fitted, made = [], []
    for name, asked, settings in (("alone", other, once), ("first", plans, sharing), ("second", other, sharing)):
        before = {task: tasks[task].fits for task in tasks}
        run = start(tmp_path / name)
        short = {task: replace(one, selectors=one.selectors[:1]) for task, one in asked.items()}
        friend_train(run, short, [friends("stars", "mood")], pool(), settings=settings)
        fitted.append({task: tasks[task].fits - before[task] for task in tasks})
        made.append(contents(run))
    assert fitted == [{"stars": 2, "mood": 2}, {"stars": 2, "mood": 2}, {"stars": 1, "mood": 0}]
    assert made[0] == made[2], "nothing but time depends on it"


def test_a_run_takes_over_trainings_of_finished_ones(tmp_path: Path) -> None:
    task = Counting("mood", list(POLARITY["mood"]))
    plans = {"mood": replace(plan("mood", task=task), selectors=[Selector(Threshold(0.5), confidence_weight=1.0)])}
    once = replace(SETTINGS, iterations=1)
    runs = [start(tmp_path / name) for name in ("first", "second")]
    friend_train(runs[0], plans, (), pool(), settings=replace(once, equal_trainings=EqualTrainings()))
    assert task.fits == 2
    later = EqualTrainings([Run.open(runs[0].folder)])
    friend_train(runs[1], plans, (), pool(), settings=replace(once, equal_trainings=later))
    assert task.fits == 2
    assert contents(runs[0]) == contents(runs[1])


def test_other_weights_plans_examples_and_labels_are_trained() -> None:
    task = Counting("mood", list(POLARITY["mood"]))
    said = PseudoLabel(pool()[0], "pool0", "sad")
    fit = Fit(task, str, ("gold",), ("dev",), "digest", FitPlan(seed=1, steps=2), [said])
    assert fit.digest() == replace(fit, task=Counting("mood", list(POLARITY["mood"]))).digest()
    others = [
        replace(fit, start="another"),
        replace(fit, start=None),
        replace(fit, plan=FitPlan(seed=2, steps=2)),
        replace(fit, gold=("dev",), dev=("gold",)),
        replace(fit, gold=("gold", "dev"), dev=()),
        replace(fit, pseudo=[]),
        replace(fit, pseudo=[replace(said, label="happy")]),
        replace(fit, pseudo=[replace(said, weight=0.5)]),
        replace(fit, task=Counting("mood", ["sad"])),
    ]
    assert len({one.digest() for one in (fit, *others)}) == len(others) + 1


def test_a_checkpoint_that_is_gone_or_damaged_is_made_again(tmp_path: Path) -> None:
    task = plan("mood").task
    task.fit(plan("mood").gold, (), dev=plan("mood").dev, plan=FitPlan(seed=1, steps=2, restart=True))
    digest = save_checkpoint(task, tmp_path / "saved")
    equal = EqualTrainings()
    equal.remember("removed", tmp_path / "removed", {"digest": digest})
    equal.remember("saved", tmp_path / "saved", {"digest": digest})
    assert equal.find("removed") is None
    assert equal.find("saved") is not None
    (tmp_path / "saved" / "more").write_text("damage")
    assert checkpoint_digest(tmp_path / "saved") != digest
    assert equal.find("saved") is None
