"""The metrics of all tasks: what they are called where people read them, and whether more of them is better.

Tables, figures, report, model card and terminal all ask here. A metric that is not listed, such as one of a task of
your own, is called by its name, and more of it is better.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """A metric as people see it; `digits` are those behind the point."""

    title: str
    higher_is_better: bool = True
    digits: int = 1

    @property
    def title_and_direction(self) -> str:
        """'F1', 'WER (less is better)': for where no arrow can say it."""
        return self.title if self.higher_is_better else f"{self.title} (less is better)"

    def text(self, value: float) -> str:
        return f"{value:.{self.digits}f}"


METRICS = {
    "precision": MetricSpec("P"),
    "recall": MetricSpec("R"),
    "f1": MetricSpec("F1"),
    "macro_f1": MetricSpec("macro F1"),
    "accuracy": MetricSpec("accuracy"),
    "rouge_l": MetricSpec("ROUGE-L"),
    "bleu": MetricSpec("BLEU"),
    "em": MetricSpec("EM"),
    "wer": MetricSpec("WER", higher_is_better=False),
    "restored_f1": MetricSpec("restored F1"),
    "wer_joined": MetricSpec("WER, sentences joined", higher_is_better=False),
    "rouge_l_distinct": MetricSpec("ROUGE-L, distinct characters"),
    "restoration_1": MetricSpec("restoration score, n = 1"),
    "restoration_2": MetricSpec("restoration score, n = 2"),
    "restoration_3": MetricSpec("restoration score, n = 3"),
    "uas": MetricSpec("UAS"),
    "las": MetricSpec("LAS"),
    "tag_accuracy": MetricSpec("accuracy of tags"),
    "complete": MetricSpec("complete"),
}

PARTS = {
    "within_": "within",
    "cross_": "across",
    "string_": "of strings",
    "span_": "of spans",
    "buildable_": "where buildable",
}
"""Metrics of a part of the examples or arguments are called after the whole: cross_f1 is 'F1 across'."""


def metric_spec(name: str) -> MetricSpec:
    """The metric of this name, with its task before it (csrl.f1) or without."""
    name = name.rpartition(".")[2]
    if name in METRICS:
        return METRICS[name]
    for prefix, words in PARTS.items():
        whole = METRICS.get(name.removeprefix(prefix))
        if whole is not None:
            return MetricSpec(f"{whole.title} {words}", whole.higher_is_better, whole.digits)
    return MetricSpec(name.replace("_", " "))


HEADLINE = (
    *("precision", "recall", "f1", "cross_f1", "rouge_l", "em", "wer", "restored_f1"),
    *("tag_accuracy", "span_f1", "macro_f1", "accuracy", "uas", "las"),
)
"""What a table of results shows of a task, in this order; a task that has none of them shows all its metrics."""

MAIN = ("f1", "em", "las", "uas", "span_f1", "macro_f1", "accuracy")
"""The one number of a task, where there is room for only one and nobody says which; else its first."""


def headline(metrics: Sequence[str]) -> list[str]:
    return [metric for metric in HEADLINE if metric in metrics] or list(metrics)


def main_metric(names: Iterable[str], own: str | None = None) -> str:
    """The task's `own` metric where the config names one that is there."""
    there = dict.fromkeys(names)
    return next((metric for metric in (own, *MAIN) if metric in there), next(iter(there), "")) or ""
