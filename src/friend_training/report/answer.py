"""What a run answers: what friends bring to each task, which kinds of label gain, and how training went."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from friend_training.analysis.metrics import main_metric, metric_spec
from friend_training.analysis.significance import Comparison
from friend_training.core.task import PRF
from friend_training.errors import RunError
from friend_training.experiments.comparison import CONTROLS, comparison_table, comparisons, difference_rows
from friend_training.experiments.results import Result, settings_id, titles_of
from friend_training.experiments.tables import Table
from friend_training.report.names import method_in_words, percent
from friend_training.report.plots import Figure, Lesson, Part, Standing, answer_figure
from friend_training.report.run_reader import MethodRun, Study
from friend_training.report.scores import costs_of, names_of, printed
from friend_training.runs.steps import Test, Train
from friend_training.study.config import recorded_form

# The answer: what friends bring to each task, beside self-training and the strongest control.


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one task. `over` is how far friends are ahead of Base, of self-training and of the control."""

    task: str
    metric: str
    standings: tuple[Standing, ...]
    over: Mapping[Part, Comparison]
    seeds: int

    def of(self, part: Part) -> Standing | None:
        return next((one for one in self.standings if one.part == part), None)

    def text(self, part: Part) -> str:
        found = self.of(part)
        return "–" if found is None else metric_spec(self.metric).text(found.value)

    @property
    def title(self) -> str:
        return metric_spec(self.metric).title_and_direction

    @property
    def figure(self) -> Figure:
        return answer_figure(self.task, self.metric, self.standings)


def results_of(study: Study) -> list[Result]:
    """What each method of a run got on test so far, as experiments compare it."""
    found = []
    for method in study.methods:
        tested = [one for one in method.evaluations if one.split != "dev"]
        named = [one for one in tested if one.split == "test:test"] or tested
        metrics: dict[str, Any] = {}
        for one in named:  # of several test sets the first
            for name, value in one.metrics.items():
                metrics.setdefault(f"{one.task}.{name}", value)
        seed = study.config.get("seed", 0)
        record = {"method": method.name, "seed": seed, "metrics": metrics, "config": study.config}
        folder = study.folder if method.run is None else method.run.folder
        found.append(Result(record, folder / "counts.npz"))
    return found


def friends_on_dev(studies: Sequence[Study]) -> str | None:
    """Of the methods of friend-training in these runs the one with the best scores on dev."""
    scores: dict[str, list[float]] = {}
    for study in studies:
        for method in study.methods:
            if method.is_friends and (found := method.best_on_dev(study.own_metrics)):
                scores.setdefault(method.name, []).append(fmean(found.values()))
    return max(scores, key=lambda name: fmean(scores[name]), default=None)


def answers_of(studies: Sequence[Study]) -> list[Answer]:
    """For each task its main score; none where neither Base nor friends were tested."""
    friends = friends_on_dev(studies)
    results = [result for study in studies for result in results_of(study)]
    if friends is None or not studies:
        return []
    found = []
    own = studies[0].own_metrics
    there = dict.fromkeys(name.rpartition(".")[0] for result in results for name in result.record["metrics"])
    named = studies[0].config.get("tasks")
    tasks = [*(task for task in (named if isinstance(named, dict) else ()) if task in there)]
    tasks += [task for task in there if task not in tasks]
    parts: dict[str, Part] = {"base": "before", "sst": "self-training", friends: "friends"}
    from_base = comparisons(results, against="base")
    ahead = comparisons(results, against=friends)
    for task in tasks:
        names = [name for result in results for name in result.record["metrics"] if name.rpartition(".")[0] == task]
        metric = f"{task}.{main_metric([name.rpartition('.')[2] for name in names], own.get(task))}"
        each: dict[str, list[float]] = {}
        for result in results:
            if (value := result.record["metrics"].get(metric)) is not None:
                each.setdefault(result.method, []).append(value)
        if not {"base", friends} <= each.keys():
            continue
        sign = 1 if metric_spec(metric).higher_is_better else -1
        controls = [name for name in CONTROLS if name in each]
        control = max(controls, key=lambda name: sign * fmean(each[name]), default=None)
        shown = parts | ({} if control is None else {control: "control"})
        base = fmean(each["base"])
        standings = []
        for name, part in shown.items():
            if name in each:
                apart = from_base.get((name, metric))
                low, high = (None, None) if apart is None else (base - apart.high, base - apart.low)
                value = fmean(each[name])
                standings.append(Standing(part, method_in_words(name), value, low, high, tuple(each[name])))
        over = {part: ahead[name, metric] for name, part in shown.items() if (name, metric) in ahead}
        found.append(Answer(task, metric, tuple(standings), over, len(each[friends])))
    return found


def headline_of(answers: Sequence[Answer]) -> str:
    """'FDT brings csrl from 49.8 to 55.3 F1, and rewriting from 36.5 to 40.2 EM.'"""
    friends = answers[0].of("friends")
    assert friends is not None, "an answer has friends"
    told = [_from_to(answer) for answer in answers]
    return f"{friends.words} {', and '.join(told)}."


def _from_to(answer: Answer) -> str:
    before, after = answer.text("before"), answer.text("friends")
    if before == after:
        return f"leaves {answer.task} at {after} {answer.title}"
    return f"takes {answer.task} from {before} to {after} {answer.title}"


def verdict(answer: Answer) -> str:
    """Whether the friend was what helped, as far as the run can tell."""
    sst, control = answer.of("self-training"), answer.of("control")
    text = "" if sst is None else f"Self-training alone has {answer.text('self-training')}. "
    if control is None:
        return f"{text}No control was run: whether it was the friend that helped cannot be told."
    text += f"The strongest control, {control.words}, has {answer.text('control')}"
    apart = answer.over.get("control")
    if apart is None:
        return f"{text}."
    better = 1 if metric_spec(answer.metric).higher_is_better else -1
    low, high = sorted((better * apart.low, better * apart.high))
    interval = f"{apart.difference:+.1f} [{apart.low:+.1f}, {apart.high:+.1f}]"
    if low > 0:
        said = "friends are ahead of it, beyond chance"
    elif high < 0:
        said = "it is ahead of friends, beyond chance"
    else:
        said = "the difference can be chance"
    return f"{text}: {interval}, {said}{'' if answer.seeds > 1 else ' over test examples (other seeds are not known)'}."


# What friends gain for each kind of label, and what happened inside training.


@dataclass(frozen=True, slots=True)
class KindGain:
    """F1 of one kind of label on test for some methods, None where the kind neither is there nor is predicted."""

    kind: str
    gold: int
    f1: tuple[float | None, ...]

    @property
    def gain(self) -> float | None:
        first, last = self.f1[0], self.f1[-1]
        return None if first is None or last is None else last - first


@dataclass(frozen=True, slots=True)
class KindTable:
    methods: tuple[str, ...]
    rows: tuple[KindGain, ...]


MOST_GAINS = 16


def gains_by_kind(studies: Sequence[Study], task: str, methods: Sequence[str]) -> KindTable | None:
    """Counts are summed over runs; the commonest kinds of gold come first, the method in question stands last."""
    counts: dict[str, dict[str, PRF]] = {name: {} for name in methods}
    for study in studies:
        for method in study.methods:
            if method.name in counts and method.run is not None:
                result = method.run.result(Test(task)) or {}
                for kind, (right, predicted, gold) in result.get("kinds", {}).get("test", {}).items():
                    before = counts[method.name].get(kind, PRF(0, 0, 0))
                    counts[method.name][kind] = before + PRF(right, predicted, gold)
    having = [name for name in methods if counts[name]]
    if methods[-1] not in having or len(having) < 2:
        return None
    last = counts[having[-1]]
    order = sorted(last, key=lambda kind: (-last[kind].gold, kind))[:MOST_GAINS]
    rows = [
        KindGain(kind, last[kind].gold // len(studies), tuple(_f1(counts[name].get(kind)) for name in having))
        for kind in order
    ]
    return KindTable(tuple(method_in_words(name) for name in having), tuple(rows))


def _f1(found: PRF | None) -> float | None:
    if found is None or not found.predicted + found.gold:
        return None
    return 100 * found.f1


def lessons_of(methods: Sequence[MethodRun], task: str) -> list[Lesson]:
    """Every training of a task that looked at dev: Base once, then every method's iterations, steps counted on."""
    found = []
    base = 0
    for method in methods:
        steps, iteration = 0 if method.name == "base" else base, 0
        while method.run is not None and (result := method.run.result(Train(task, iteration))) is not None:
            points = [(steps + step, float(value)) for step, value in result.get("curve", ()) if value is not None]
            if points:
                found.append(Lesson(method.name, iteration, tuple(points)))
            steps += result.get("steps") or 0
            iteration += 1
        base = steps if method.name == "base" else base
    return found


def gains_of(studies: Sequence[Study], focus: MethodRun | None) -> list[tuple[str, KindTable]]:
    """By task; from Base over self-training to the method that is shown."""
    if focus is None:
        return []
    methods = list(dict.fromkeys(["base", "sst", focus.name]))
    found = ((task, gains_by_kind(studies, task, methods)) for task in focus.tested)
    return [(task, table) for task, table in found if table is not None]


# Several runs on one page.


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run among others: the score of friends in each task, and what they chose last."""

    study: Study
    seed: str
    scores: tuple[str, ...]
    chosen: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class RunGroup:
    """The runs of one config, which differ in their seeds at most."""

    title: str
    seeds: int
    headline: str
    answers: list[Answer]
    table: Table
    difference_titles: list[str]
    differences: list[tuple[str, list[Comparison | None]]]
    gains: list[tuple[str, KindTable]]
    tasks: tuple[str, ...]
    runs: list[RunRow]


def compared(studies: Sequence[Study]) -> list[RunGroup]:
    """Runs by config, in the order in which they are given."""
    by_config: dict[str, list[Study]] = {}
    for study in studies:
        if not study.is_ours:
            raise RunError(f"{study.folder}: several runs are compared by their configs, and this one has none of ours")
        by_config.setdefault(settings_id(study.config), []).append(study)
    titles = titles_of([recorded_form(group[0].config) for group in by_config.values()])
    return [_group(title, group) for title, group in zip(titles, by_config.values(), strict=True)]


def _group(title: str, studies: Sequence[Study]) -> RunGroup:
    seeds = [study.config.get("seed") for study in studies]
    if len(set(seeds)) < len(seeds):
        raise RunError(f"{title}: two of the runs have the same config and the same seed; compare runs that differ")
    answers = answers_of(studies)
    results = [result for study in studies for result in results_of(study)]
    friends = friends_on_dev(studies)
    focus = next((one for study in studies for one in study.methods if one.name == friends), None)
    titles, rows = ([], []) if friends is None else difference_rows(results, against=friends)
    tasks = tuple(dict.fromkeys(task for study in studies for one in study.methods for task in one.tested))
    return RunGroup(
        title=title,
        seeds=len(seeds),
        headline=headline_of(answers) if answers else "",
        answers=answers,
        table=comparison_table(results, against=friends or "fdt"),
        difference_titles=titles,
        differences=rows,
        gains=gains_of(studies, focus),
        tasks=tasks,
        runs=[_run_row(study, tasks) for study in studies],
    )


def _run_row(study: Study, tasks: Sequence[str]) -> RunRow:
    focus = study.focus
    scores, chosen = [], []
    for task in tasks:
        metric = main_metric(names_of(study.methods, task), study.own_metrics.get(task))
        value = None if focus is None else focus.on_test(task, metric)
        scores.append(printed(value, [100.0]))
        last = focus.selected(focus.iterations[-1]).get(task) if focus and focus.iterations else None
        right = "" if last is None or last["precision"] is None else f", {percent(last['precision'])} right"
        chosen.append("–" if last is None else f"{last['chosen']:,}{right}")
    seconds = sum(cost.total for cost in costs_of(study))
    return RunRow(study, str(study.config.get("seed", "–")), tuple(scores), tuple(chosen), seconds)
