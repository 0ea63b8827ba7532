"""Whole methods by two processes, over gloo: the losses of every training are those of one process."""

from pathlib import Path

import pytest

from friend_training.runs.run import Run
from friend_training.runs.steps import Train, parse_step
from helpers.several import in_processes
from helpers.several_runs import runs
from helpers.toy_runs import start

FIRST = ("fdt", "mt")
OTHERS = ("multitask-base", "cps", "scot", "stbr", "stea")


class Both:
    """The same methods, once in this process and once in two."""

    def __init__(self, folder: Path, encoder: Path, methods: tuple[str, ...]) -> None:
        self.folder = folder
        for who in ("one", "two"):
            for method in methods:
                (folder / who).mkdir(exist_ok=True)
                start(folder / who / method)
        self.one = runs(str(folder / "one"), str(encoder), methods)
        self.two = in_processes(2, folder / "said", runs, str(folder / "two"), str(encoder), methods)

    def losses(self, method: str) -> list[float]:
        return [sum(shares) for shares in zip(*(of[method]["losses"] for of in self.two), strict=True)]

    def check(self, method: str) -> None:
        assert self.losses(method) == pytest.approx(self.one[method]["losses"], rel=1e-5, abs=1e-5)
        one, two = (Run.open(self.folder / who / method) for who in ("one", "two"))
        names = [sorted(path.name for path in run.folder.glob("phases/*.json")) for run in (one, two)]
        assert names[0] == names[1]
        for name in (name.removesuffix(".json") for name in names[0] if name.startswith(("train-", "select-"))):
            results = [run.require(parse_step(name)) for run in (one, two)]
            for key in ("steps", "best_step", "pseudo", "gold"):
                assert results[0].get(key) == results[1].get(key), (name, key)
        assert self.two[1][method]["written"] == []


@pytest.fixture(scope="module")
def first(tmp_path_factory, encoder):
    return Both(tmp_path_factory.mktemp("first"), encoder, FIRST)


@pytest.mark.parametrize("method", FIRST)
def test_two_processes_do_what_one_does(first, method):
    first.check(method)


def test_the_pseudo_labels_were_there_and_weighed(first):
    """Or else friend-training would not be more than Base here."""
    run = Run.open(first.folder / "two" / "fdt")
    trained = [run.require(Train(task, iteration)) for task in ("csrl", "rewriting") for iteration in (1, 2)]
    assert all(phase["pseudo"] > 3 for phase in trained)
    weights = [row["weight"] for row in run.store.read(1).to_pylist() if row["chosen"]]
    assert len(set(weights)) > 3
    assert run.store.shards(1) == [0, 1]


def test_only_the_first_process_writes(first):
    assert {"model.safetensors", "metrics.jsonl"} & set(first.two[0]["fdt"]["written"])
    assert "shard-00000.parquet" in first.two[0]["fdt"]["written"]
    assert first.two[1]["fdt"]["written"] == []
    assert (first.folder / "two" / "fdt" / "metrics.jsonl").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("method", OTHERS)
def test_the_other_methods_too(tmp_path, encoder, method):
    Both(tmp_path, encoder, (method,)).check(method)
