"""Results as tables: the paper's, scores on dev by iteration, and how precise the chosen pseudo-labels were."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from friend_training.analysis.metrics import main_metric, metric_spec
from friend_training.analysis.significance import ENOUGH_SEEDS, SIGNIFICANT, Comparison, Metric, paired_bootstraps
from friend_training.core.task import Counts
from friend_training.errors import DataError
from friend_training.experiments.results import Result
from friend_training.experiments.tables import Cell, Column, Table, build_table, columns_of
from friend_training.methods.registry import METHODS
from friend_training.runs.inputs import load_counts
from friend_training.tasks.class_metrics import accuracy_of, macro_f1_of
from friend_training.tasks.csrl.metrics import f1_overall_of
from friend_training.tasks.parsing.constituency.metrics import bracket_f1_of
from friend_training.tasks.parsing.dependency.metrics import uas_of
from friend_training.tasks.parsing.tagging.metrics import accuracy_of as accuracy_of_tags
from friend_training.tasks.rewriting.metrics import exact_match_of, restored_f1_of, rouge_l_of, word_error_rate_of
from friend_training.tasks.token_classification.metrics import span_f1_of, word_accuracy_of

COLUMNS = (
    Column("csrl.precision"),
    Column("csrl.recall"),
    Column("csrl.f1"),
    Column("csrl.cross_f1"),
    Column("rewriting.rouge_l"),
    Column("rewriting.em"),
    Column("rewriting.wer"),
    Column("rewriting.restored_f1"),
)

CLASSES: dict[str, Metric] = {
    "macro_f1": lambda counts: 100 * macro_f1_of(counts),
    "accuracy": lambda counts: 100 * accuracy_of(counts),
}

TESTED_OF_KIND: dict[str, dict[str, Metric]] = {
    **dict.fromkeys(("text-classification", "estimator", "answer-file", "endpoint"), CLASSES),
    "token-classification": {"span_f1": span_f1_of, "accuracy": word_accuracy_of},
    "constituency": {"f1": bracket_f1_of},
    "dependency": {"uas": uas_of},
    "tagging": {"accuracy": accuracy_of_tags},
}
"""What is tested of the tasks of a config, by their kinds: metrics that can be had from counts of a part of test."""

TESTED: tuple[tuple[str, str, Metric], ...] = (
    ("csrl.f1", "csrl", f1_overall_of),
    ("rewriting.rouge_l", "rewriting", rouge_l_of),
    ("rewriting.em", "rewriting", exact_match_of),
    ("rewriting.wer", "rewriting", word_error_rate_of),
    ("rewriting.restored_f1", "rewriting", restored_f1_of),
)

LATER = "rewriting.restored_f1"
"""A score that older results do not have: a table shows it where all of its results do."""


def columns_for(results: Sequence[Result]) -> list[Column]:
    """The columns of a table: the paper's for its pair, else those of each task."""
    metrics = dict.fromkeys(name for result in results for name in result.record["metrics"])
    return [column for column in columns_of(metrics, COLUMNS) if _shown(column.metric, results)]


def metric_title(metric: str, results: Sequence[Result]) -> str:
    """What a score is called beside others of the same results."""
    titles = {column.metric: column.title for column in columns_for(results)}
    return titles.get(metric, metric_spec(metric).title)


def comparison_table(results: Sequence[Result], *, title: str = "", against: str = "fdt") -> Table:
    """Mean and deviation over seeds; a star marks what differs from `against` (`Comparison.significant`)."""
    names = names_with_seeds(results)
    records = [
        {"method": names[r.method], "seed": r.seed, "scenario": title, "metrics": r.record["metrics"]}
        for r in _in_order(results)
    ]
    marks = {
        (names[method], metric): "*"
        for (method, metric), found in comparisons(results, against=against, seeds_at_least=ENOUGH_SEEDS).items()
        if found.significant
    }
    columns = columns_for(results)
    caption = ""
    if against in names:
        caption = _about_stars(against, "examples" if any(column.task for column in columns) else "dialogues")
    return build_table(records, columns, scenario=title, marks=marks, caption=caption)


def _about_stars(against: str, tested: str) -> str:
    return (
        f"* differs from {_in_words(against)}: paired bootstrap over seeds and test {tested}, p < {SIGNIFICANT},"
        f" at least {ENOUGH_SEEDS} seeds of both"
    )


def _shown(metric: str, results: Sequence[Result]) -> bool:
    rewriters = [result.record["metrics"] for result in results if "rewriting.em" in result.record["metrics"]]
    return metric != LATER or (bool(rewriters) and all(metric in metrics for metrics in rewriters))


def _tested(results: Sequence[Result]) -> list[tuple[str, str, Metric]]:
    """The scores that differences are told of: (task.metric, task, the function of its counts)."""
    kinds: dict[str, str] = {}
    for result in results:
        for name, section in _tasks(result.record).items():
            kinds[name] = section.get("kind", name)
    own = [
        (f"{task}.{metric}", task, function)
        for task, kind in kinds.items()
        for metric, function in TESTED_OF_KIND.get(kind, {}).items()
    ]
    return [*(one for one in TESTED if _shown(one[0], results) and one[1] in kinds), *own]


def _tasks(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The tasks of a record's config, by name; where the config is not told, those of the paper's pair."""
    named: Mapping[str, Any] = record.get("config", {}).get("tasks", {})
    return named or {"csrl": {}, "rewriting": {}}


def names_with_seeds(results: Sequence[Result]) -> dict[str, str]:
    """Each method in words; where not all were run with the same seeds, with how many it was."""
    seeds: dict[str, set[int]] = {}
    for result in results:
        seeds.setdefault(result.method, set()).add(result.seed)
    alike = len({frozenset(own) for own in seeds.values()}) < 2
    return {
        m: _in_words(m) if alike else f"{_in_words(m)} ({len(own)} seed{'s' if len(own) > 1 else ''})"
        for m, own in seeds.items()
    }


def comparisons(
    results: Sequence[Result], *, against: str, seeds_at_least: int = 1
) -> dict[tuple[str, str], Comparison]:
    """(method, metric) → the difference `against` − method on the seeds that both have, if they are so many."""
    counts = {(r.method, r.seed): load_counts(r.counts) for r in results if r.counts.is_file()}
    seeds = {
        method: [seed for name, seed in counts if name == method and (against, seed) in counts]
        for method in dict.fromkeys(method for method, _ in counts if method != against)
    }
    found: dict[tuple[str, str], Comparison] = {}
    for task in dict.fromkeys(task for _, task, _ in _tested(results)):
        methods = [
            method
            for method, own in seeds.items()
            if len(own) >= seeds_at_least
            and all(task in counts[name, seed] for name in (method, against) for seed in own)
        ]
        ours = {own: _stack(counts, against, own, task) for own in {tuple(seeds[method]) for method in methods}}
        pairs = [(ours[tuple(seeds[method])], _stack(counts, method, seeds[method], task)) for method in methods]
        tested = [(metric, function) for metric, of, function in _tested(results) if of == task]
        compared = paired_bootstraps(pairs, [function for _, function in tested])
        for method, of_method in zip(methods, compared, strict=True):
            found |= {(method, metric): one for (metric, _), one in zip(tested, of_method, strict=True)}
    return found


def difference_rows(
    results: Sequence[Result], *, against: str
) -> tuple[list[str], list[tuple[str, list[Comparison | None]]]]:
    """The titles, and for each method how much better `against` is (worse, where less is better), with intervals."""
    _must_be_there(against, results)
    found = comparisons(results, against=against)
    metrics = [metric for metric, _, _ in _tested(results)]
    rows: list[tuple[str, list[Comparison | None]]] = [
        (_in_words(method), [found.get((method, metric)) for metric in metrics])
        for method in METHODS
        if any(name == method for name, _ in found)
    ]
    return [_in_words(against), *(metric_title(metric, results) for metric in metrics)], rows


def seed_rows(
    results: Sequence[Result], *, against: str
) -> tuple[list[str], list[tuple[str, str, list[float | None]]]]:
    """The titles, and for each method and score by how much `against` is more with each of its seeds.

    Whether a difference is one seed's alone is seen here.
    """
    _must_be_there(against, results)
    metrics: dict[str, dict[int, dict[str, float]]] = {}
    for result in _in_order(results):
        metrics.setdefault(result.method, {})[result.seed] = result.record["metrics"]
    ours = metrics.pop(against)
    rows: list[tuple[str, str, list[float | None]]] = []
    for method, theirs in metrics.items():
        for metric, _, _ in _tested(results):
            both = [metric in ours[seed] and metric in theirs.get(seed, {}) for seed in ours]
            ahead = [
                ours[seed][metric] - theirs[seed][metric] if has else None for seed, has in zip(ours, both, strict=True)
            ]
            if any(both):
                rows.append((_in_words(method), metric_title(metric, results), ahead))
    return [_in_words(against), *(f"seed {seed}" for seed in ours)], rows


def _must_be_there(method: str, results: Sequence[Result]) -> None:
    there = sorted({result.method for result in results})
    if method not in there:
        raise DataError(
            f"no result of {method} to compare the others with; there are: {', '.join(there)} (see --against)"
        )


def _stack(counts: dict[tuple[str, int], dict[str, Counts]], method: str, seeds: Sequence[int], task: str) -> Counts:
    # Counts that came later stand last, and older results do not have them.
    known = min(of[task].shape[1] for of in counts.values() if task in of)
    return np.stack([counts[method, seed][task][:, :known] for seed in seeds])


ON_DEV = ("csrl.f1", "csrl.cross_f1", "rewriting.em", "rewriting.wer", LATER)


def dev_rows(results: Sequence[Result]) -> tuple[list[str], list[tuple[str, int, list[float | None]]]]:
    """The titles, and (method, iteration, scores on dev), means over seeds: what each iteration did."""
    columns = [column for column in columns_for(results) if column.task or column.metric in ON_DEV]
    shown = [column.metric.split(".") for column in columns]
    rows: list[tuple[str, int, list[float | None]]] = []
    for method, records in _by_method(results, having="dev"):
        dev = [record["dev"] for record in records]
        for iteration in range(max(len(of_task) for one in dev for of_task in one.values())):
            found = [
                [one[task][iteration][metric] for one in dev if metric in _at(one.get(task, ()), iteration)]
                for task, metric in shown
            ]
            rows.append((_in_words(method), iteration, [fmean(values) if values else None for values in found]))
    return [column.title for column in columns], rows


def _at(metrics: Sequence[dict[str, float]], iteration: int) -> dict[str, float]:
    return metrics[iteration] if iteration < len(metrics) else {}


def detail_rows(results: Sequence[Result]) -> tuple[list[str], list[tuple[str, list[float | None]]]]:
    """Every metric of test, by its name: the mean over seeds for each method."""
    by_method = list(_by_method(results, having="metrics"))
    names = sorted({name for _, records in by_method for record in records for name in record["metrics"]})

    def mean(records: list[dict[str, Any]], name: str) -> float | None:
        values = [record["metrics"][name] for record in records if name in record["metrics"]]
        return fmean(values) if values else None

    rows = [(name, [mean(records, name) for _, records in by_method]) for name in names]
    return [_in_words(method) for method, _ in by_method], rows


def chosen_rows(results: Sequence[Result]) -> list[tuple[str, str, int, float, float, float | None]]:
    """(method, task, iteration, chosen, chosen with content, precision of the chosen), means over seeds."""
    rows = []
    for method, records in _by_method(results, having="chosen"):
        # Strong friends and second models (csrl.strong) are chosen for too, and are no task of the config.
        for task in dict.fromkeys(task for record in records for task in _tasks(record)):
            for iteration in range(max(len(record["chosen"]) for record in records)):
                found = [(record["chosen"][iteration] or {}).get(task) for record in records]
                told = [counts for counts in found if counts]
                if told and any(counts["chosen"] for counts in told):
                    precise = [counts["precision"] for counts in told if counts["precision"] is not None]
                    rows.append(
                        (
                            _in_words(method),
                            task,
                            iteration + 1,
                            fmean(counts["chosen"] for counts in told),
                            fmean(counts["chosen_with_content"] for counts in told),
                            fmean(precise) if precise else None,
                        )
                    )
    return rows


def _in_words(method: str) -> str:
    """A method that this version no longer knows is called by its name."""
    return METHODS[method].title if method in METHODS else method


def _in_order(results: Sequence[Result]) -> list[Result]:
    places = {name: place for place, name in enumerate(METHODS)}
    return sorted(results, key=lambda result: (places.get(result.method, len(places)), result.seed))


def _by_method(results: Sequence[Result], *, having: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The records of each method that has such an entry in one of them, in the order of tables."""
    found: dict[str, list[dict[str, Any]]] = {}
    for result in _in_order(results):
        found.setdefault(result.method, []).append(result.record)
    for method, records in found.items():
        if any(record.get(having) for record in records):
            yield method, [record for record in records if having in record]


# The paper's Table 1, to stand beside ours.
#
# Its encoder has twelve layers, its pool 20,000 dialogues, and its CSRL for domain generalisation is tested on
# WeiboCSRL, ours on PersonalDialog: compare what methods gain, not their scores.


METRICS = ("csrl.f1", "rewriting.em", "rewriting.wer")

CSAGN = "csrl.string_f1"
"""The paper follows CSAGN's evaluation, which compares one string per role: ours by that formula."""


TABLE: dict[str, dict[str, tuple[float, float, float]]] = {
    "few-shot": {
        "base": (25.14, 3.60, 39.98),
        "multitask-base": (21.49, 11.70, 40.46),
        "sst": (30.46, 27.80, 31.02),
        "mt": (33.27, 33.00, 31.66),
        "cps": (32.86, 23.30, 32.60),
        "scot": (31.10, 22.31, 33.79),
        "stbr": (28.34, 29.80, 30.31),
        "stea": (33.25, 31.57, 30.36),
        "fdt": (34.97, 34.20, 27.87),
        "fdt-s": (36.46, 37.10, 26.88),
        "base-full": (69.17, 52.30, 20.54),
    },
    "domain-generalisation": {
        "base": (56.16, 25.25, 28.69),
        "multitask-base": (53.99, 22.49, 32.44),
        "sst": (58.62, 32.97, 22.22),
        "mt": (57.03, 28.82, 26.49),
        "cps": (56.36, 32.68, 22.78),
        "scot": (55.69, 29.25, 24.87),
        "stbr": (59.38, 33.78, 23.30),
        "stea": (57.50, 34.23, 22.17),
        "fdt": (61.78, 38.22, 20.31),
    },
}
"""F1 · EM, WER of each method; the paper reports no deviations."""


def beside_the_paper(results: Sequence[Result], *, against: str = "fdt") -> Table:
    """The paper's scores and ours (mean ± deviation, stars as in our own tables), for every method that has either."""
    scenarios = {result.record.get("config", {}).get("data", {}).get("scenario") for result in results}
    if len(scenarios) > 1 or not scenarios <= TABLE.keys():
        raise DataError(f"the paper has a table for {' and one for '.join(TABLE)} on public data, not for these")
    paper, names = TABLE[scenarios.pop()], names_with_seeds(results)
    ours = comparison_table(results, against=against)
    rows = dict(ours.rows)
    strings: dict[str, list[float]] = {}
    for result in results:
        if CSAGN in result.record["metrics"]:
            strings.setdefault(names[result.method], []).append(result.record["metrics"][CSAGN])
    found: list[tuple[str, tuple[Cell | None, ...]]] = []
    for method, known in METHODS.items():
        name = names.get(method, f"{known.title} (not run)")
        cells: list[Cell | None] = []
        for number, metric in enumerate(METRICS):
            place = next(place for place, column in enumerate(ours.columns) if column.metric == metric)
            cells.append(Cell((paper[method][number],)) if method in paper else None)
            cells.append(rows[name][place] if name in rows else None)
            if metric == "csrl.f1":
                cells.append(Cell(tuple(strings[name])) if name in strings else None)
        if any(cells):
            found.append((name, tuple(cells)))
    shown = [column for metric in METRICS for column in ours.columns if column.metric == metric]
    columns = [Column(column.metric, f"{column.title}, {whose}") for column in shown for whose in ("paper", "here")]
    columns.insert(2, Column(CSAGN, "by strings"))
    return Table("", tuple(columns), tuple(found), ours.caption)


# One row per task of an experiment: what friends bring, and what explains it without them.


CONTROLS = (
    "base-same-steps",
    "sst-as-many",
    "fdt-shuffled",
    "random-as-many",
    "merged-random",
    "merged-shuffled",
    "sst-readers",
    "checked-shuffled",
    "joint-shuffled",
    "joint-bridge",
    "edits-alone",
    "unchecked",
    "bridge-labels-all",
    "bridge-labels",
    "bridge-alone",
    "friend-labels",
    "nothing-rewritten",
)
"""Methods that see no friend, or one who knows nothing of the dialogue."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A score of one task, means over seeds: Base, self-training, FDT as the paper has it, friends, strongest control.

    `over` is how far the friends are ahead of self-training, and of the control.
    """

    metric: str
    title: str
    scores: dict[str, float]
    friends: str
    control: str
    seeds: dict[str, int]
    over: dict[str, Comparison]

    def cell(self, method: str) -> str:
        """The score, and with how many seeds, if with others than the friends'."""
        if method not in self.scores:
            return _MISSING
        several = "" if self.seeds[method] == self.seeds[self.friends] else f" ({self.seeds[method]})"
        return metric_spec(self.metric).text(self.scores[method]) + several

    def ahead_of(self, method: str) -> str:
        """With its interval, and a star where one is due."""
        found = self.over.get(method)
        if found is None:
            return _MISSING
        return f"{found.difference:+.1f} [{found.low:+.1f}, {found.high:+.1f}]" + "\\*" * found.significant


_MISSING = "–"


def summaries(results: Sequence[Result], *, friends: str) -> list[Summary]:
    """For each task the score by which its iterations were compared on dev."""
    _must_be_there(friends, results)
    values: dict[str, dict[str, list[float]]] = {}
    for result in _in_order(results):
        for metric in _compared_on_dev(result.record):
            values.setdefault(metric, {}).setdefault(result.method, []).append(result.record["metrics"][metric])
    found = []
    for metric, of in values.items():
        scores = {method: fmean(numbers) for method, numbers in of.items()}
        controls = [method for method in CONTROLS if method in scores]
        if not controls:
            raise DataError(f"a summary names the strongest control, and none was run: {', '.join(CONTROLS)}")
        control = max(controls, key=scores.__getitem__)
        seeds = {method: len(numbers) for method, numbers in of.items()}
        compared = [result for result in results if result.method in (friends, "sst", control)]
        ahead = comparisons(compared, against=friends)
        over = {method: one for (method, tested), one in ahead.items() if tested == metric}
        found.append(Summary(metric, metric_title(metric, results), scores, friends, control, seeds, over))
    return found


def _compared_on_dev(record: Mapping[str, Any]) -> Iterator[str]:
    """For each task of a record the score by which its iterations were compared on dev: one that the config names, or
    the first that a kind of task is known by."""
    metrics: Mapping[str, float] = record["metrics"]
    of_rewriting = record.get("config", {}).get("rewriting_metric")
    for task, section in _tasks(record).items():
        scores = [name.removeprefix(f"{task}.") for name in metrics if name.startswith(f"{task}.")]
        if scores:
            yield f"{task}.{main_metric(scores, section.get('metric') or (of_rewriting if 'em' in scores else None))}"
