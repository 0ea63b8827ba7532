"""Methods, phases, metrics and amounts as a reader wants to see them, in the terminal and in the report."""

import re

from friend_training.methods.known import METHODS

_PHASES = {
    "data": "making or reading the data",
    "encoder": "pre-training the encoder",
    "bridge": "training the bridge",
    r"train-(.+)-0": r"\1 starts from Base",
    r"train-(.+)-(\d+)": r"training \1, iteration \2",
    r"evaluate-(.+)-0": r"scoring \1 on dev, Base",
    r"evaluate-(.+)-(\d+)": r"scoring \1 on dev, iteration \2",
    r"label-(\d+)-0*(\d+)": r"labelling the pool, iteration \1, shard \2",
    r"informed-.+": "csrl learns the bridge's sentences",
    r"aim-(\d+)": r"finding thresholds on dev, iteration \1",
    r"select-(\d+)": r"selecting, iteration \1",
    r"tidy-(\d+)": r"tidying up, iteration \1",
    r"test-(.+)": r"scoring \1 on test",
}

_METRICS = {
    "precision": "P",
    "recall": "R",
    "f1": "F1",
    "within_f1": "F1 within turn",
    "cross_f1": "F1 across turns",
    "rouge_l": "ROUGE-L",
    "bleu": "BLEU",
    "em": "EM",
    "wer": "WER",
    "restored_f1": "restored F1",
    "uas": "UAS",
    "las": "LAS",
}


def method_in_words(method: str) -> str:
    return METHODS[method].title if method in METHODS else method


def metric_in_words(metric: str) -> str:
    return _METRICS.get(metric, metric.replace("_", " "))


def phase_in_words(phase: str) -> str:
    """'fdt/train-csrl-2' → 'FDT: training csrl, iteration 2'."""
    method, slash, name = phase.rpartition("/")
    if method == "base" and name.startswith("train-"):
        return f"Base: training {name.split('-')[1]}"
    for pattern, words in _PHASES.items():
        if found := re.fullmatch(pattern, name):
            words = found.expand(words)
            return f"{method_in_words(method)}: {words}" if slash else words
    return phase


def duration(seconds: float) -> str:
    """'0.4 s', '59 s', '4 min 10 s', '2 h 5 min'."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, left = divmod(minutes, 60)
    if hours:
        return f"{hours} h {left} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def megabytes(memory: float | None) -> str:
    """'1,204 MB'; a dash where it is not known."""
    return "–" if memory is None else f"{memory:,.0f} MB"


def percent(share: float | None) -> str:
    """'35.1 %'; a dash where there is nothing to take a share of."""
    return "–" if share is None else f"{100 * share:.1f} %"


def score(value: float | None, *, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
