"""Methods and phases as a reader wants to see them."""

import re

METHODS = {
    "base": "Base",
    "base-same-steps": "Base, same steps",
    "sst": "SST",
    "fdt": "FDT",
    "sst-as-many": "SST, as many as FDT",
    "fdt-shuffled": "FDT, shuffled friend",
    "random-as-many": "random, as many as FDT",
    "bridge-labels": "bridge's labels",
    "bridge-alone": "bridge alone",
}

_PHASES = {
    "data": "making or reading the data",
    "encoder": "pre-training the encoder",
    "bridge": "training the bridge",
    r"train-(.+)-0": r"\1 starts from Base",
    r"train-(.+)-(\d+)": r"training \1, iteration \2",
    r"evaluate-(.+)-0": r"scoring \1 on dev, Base",
    r"evaluate-(.+)-(\d+)": r"scoring \1 on dev, iteration \2",
    r"label-(\d+)-0*(\d+)": r"labelling the pool, iteration \1, shard \2",
    r"select-(\d+)": r"selecting, iteration \1",
    r"tidy-(\d+)": r"tidying up, iteration \1",
    r"test-(.+)": r"scoring \1 on test",
}


def method_in_words(method: str) -> str:
    return METHODS.get(method, method)


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
