"""Bits flipped anywhere in a finished study, of the paper's pair or of one's own files: refused, or nothing changed."""

import csv
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from friend_training.cli.main import main
from friend_training.data.synthetic import Domain, generate
from friend_training.errors import FriendTrainingError
from friend_training.report.page import machine
from friend_training.report.run_reader import read_study
from friend_training.report.verification import verify
from friend_training.runs.inputs import load_counts, saved_gold, saved_inputs
from friend_training.runs.run import Run
from friend_training.study.config import CaseStudyConfig, Config, load_config, parse_config
from friend_training.study.folders import method_folder, methods_there, read_notes, read_records, run_config
from friend_training.study.open import open_task
from friend_training.study.resources import open_bridge
from friend_training.study.study import run_study
from friend_training.types import Text
from helpers.study_contents import contents
from helpers.toy_faults import files_of, flip, seeded

SLOW = pytest.mark.slow

SMALL = Path(__file__).parents[1] / "guards" / "small.yaml"

OWN = """
name: reviews
tasks:
  polarity: {kind: estimator, gold: gold.csv, dev: dev.csv, test: test.csv, label: polarity}
  emotion: {kind: estimator, gold: gold.csv, dev: dev.csv, test: test.csv, label: emotion}
friendships: [{first: emotion, second: polarity, means: learned}]
pool: {file: pool.csv}
methods: [base, fdt]
iterations: 1
"""
POLARITY = {"joy": "positive", "anger": "negative", "sadness": "negative"}

NOT_THE_SAME_BYTES = ("files.txt", "manifest.json", "model.skops")
"""Where the files lie as seen from the run; skops numbers objects anew, whose predictions are compared instead."""

MAY_BE_EDITED = {"methods", "threads", "engine", "device"}
"""Settings that people may change in config.yaml: a flipped bit there is an edit."""


def own_files(folder: Path) -> Path:
    """Reviews made up here, with two labels each."""
    for seed, (name, count) in enumerate({"gold": 40, "dev": 20, "test": 20, "pool": 60}.items()):
        draw = Random(seed)
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["text", "emotion", "polarity"])
            for number in range(count):
                emotion = draw.choice(list(POLARITY))
                words = " ".join(draw.choice([f"{emotion}{n}" for n in range(4)]) for _ in range(5))
                rows.writerow([f"{words} {name}{number}", emotion, POLARITY[emotion]])
    return folder


class Finished:
    """A finished study in `folder`, which shares its encoder and bridge with others, where it has any, in a folder
    beside it; `again` goes on with it wherever both are copied to."""

    def __init__(self, place: Path, config: Config, data: Path | None) -> None:
        self.place, self.config, self.data = place, config, data
        self.folder = place / "run"
        self.again(self.folder)

    def again(self, folder: Path) -> None:
        shared = None if self.data is not None else folder.parent / "shared"
        run_study(self.config, folder, data_dir=self.data, resources=shared)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    config = parse_config(OWN, "reviews.yaml")
    return Finished(tmp_path_factory.mktemp("own"), config, own_files(tmp_path_factory.mktemp("files")))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    config = load_config(SMALL, ["methods=[base, sst, fdt]"])
    return Finished(tmp_path_factory.mktemp("small"), config, None)


@pytest.fixture
def study(request: pytest.FixtureRequest) -> Finished:
    found: Finished = request.getfixturevalue(request.param)
    return found


def values(folder: Path, *, models: bool) -> dict[str, Any]:
    """What later steps, commands and pages read of a study; trained models by what they predict."""
    config, whole = run_config(folder), read_study(folder)
    found = {"config": config.model_dump(mode="json", exclude=MAY_BE_EDITED), "machine": machine(folder)}
    found |= {
        "records": read_records(folder),
        "notes": read_notes(folder),
        "scores": [m.evaluations for m in whole.methods],
    }
    runs = {method: Run.open(method_folder(folder, method)) for method in methods_there(folder)}
    for name, run in {"study": Run.open(folder), **runs}.items():
        found[f"{name} steps"] = {one.step.name: one.result for one in run.finished()}
        found[f"{name} store"] = [run.store.read(iteration).to_pylist() for iteration in run.store.iterations()]
        found[f"{name} fingerprints"] = run.fingerprints
        if (path := run.folder / "counts.npz").is_file():
            found[f"{name} counts"] = {task: counts.tolist() for task, counts in load_counts(path).items()}
    stored = {row["input"] for rows in found["fdt store"] for row in rows}
    found["inputs"] = saved_inputs(folder, sorted(stored))
    found["gold"] = {task: saved_gold(folder, task) for task in config.sections}
    if models:
        inputs: list[Any] = [Text("a", "joy1 joy2"), Text("b", "anger0")]
        if isinstance(config, CaseStudyConfig):
            inputs = [one.dialogue for one in generate(3, seed=1, domain=Domain.FILM)]
        found |= {f"{task} predicts": open_task(folder, task).task.predict(inputs) for task in config.sections}
        if isinstance(config, CaseStudyConfig):
            open_bridge(folder, config)
    return found


def damaged(study: Finished, flips: int) -> Iterator[tuple[Path, int]]:
    """Every file once, then any of them, with one bit the other way round."""
    random = seeded()
    files = [path for path in files_of(study.place) if path.stat().st_size and path.suffix != ".html"]
    random.shuffle(files)
    for number in range(flips):
        path = files[number] if number < len(files) else random.choice(files)
        bit = random.randrange(8 * path.stat().st_size)
        flip(path, bit)
        try:
            yield path, bit
        finally:
            flip(path, bit)


def ending(*words: object) -> int:
    """How a command exits."""
    with pytest.raises(SystemExit) as stopped:
        main([str(word) for word in words])
    return int(stopped.value.code or 0)


def predictions(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name.endswith("predicts")}


def value_or_refusal(read: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any] | str:
    try:
        return read()
    except FriendTrainingError as error:
        return str(error)


COUNTS = [pytest.param("own", 20), pytest.param("own", 500, marks=SLOW), pytest.param("small", 500, marks=SLOW)]


@pytest.mark.parametrize(("study", "flips"), COUNTS, indirect=["study"])
def test_a_flipped_bit_of_a_study_is_refused_or_changes_nothing(study: Finished, flips: int) -> None:
    expected = values(study.folder, models=True)
    assert not verify(study.folder).damages
    refused, unread, harmless = 0, 0, 0
    for number, (path, bit) in enumerate(damaged(study, flips)):
        where = f"bit {bit} of {path}"
        is_whole = not verify(study.folder).damages
        weights = "checkpoints" in path.parts or path.parent.name in ("encoder", "bridge")
        now = value_or_refusal(partial(values, study.folder, models=weights or is_whole))
        if isinstance(now, str):
            refused += 1
            assert not is_whole, f"{where}: {now}"
            assert "\n" not in now
        else:
            assert {name: expected[name] for name in now} == now, where
            harmless += is_whole
            unread += not is_whole
        if number < 20:
            assert ending("verify", study.folder) == (0 if is_whole else 2), where
            assert ending("show", study.folder) in ((0,) if is_whole else (0, 2)), where
    assert values(study.folder, models=True) == expected
    print(
        f"{flips} bits flipped in {study.config.name}: {refused} refused when read; {unread} in what only an earlier"
        f" step reads, all found by verify; {harmless} changed nothing"
    )
    assert refused + unread > 0.9 * flips


@pytest.mark.parametrize(
    ("study", "flips"),
    [pytest.param("own", 2), pytest.param("own", 60, marks=SLOW), pytest.param("small", 30, marks=SLOW)],
    indirect=["study"],
)
def test_a_flipped_bit_of_a_study_that_goes_on(study: Finished, tmp_path: Path, flips: int) -> None:
    """Of a study whose last iteration is to be labelled, chosen from and trained on once more."""
    half = shutil.copytree(study.place, tmp_path / "half")
    (half / "run" / "results.jsonl").unlink()
    last = Run.open(half / "run" / "methods" / "fdt")
    for step in (one.step for one in last.finished()):
        if step.name.startswith(("test", f"label-{study.config.iterations}")) or step.name.endswith(
            f"-{study.config.iterations}"
        ):
            (last.folder / "phases" / f"{step.name}.json").unlink()
    expected, random, refused = contents(study.folder), seeded(), 0
    predicted = predictions(values(study.folder, models=True))
    for _ in range(flips):
        place = shutil.copytree(half, tmp_path / "copy")
        path = random.choice([one for one in files_of(place) if one.stat().st_size])
        bit = random.randrange(8 * path.stat().st_size)
        flip(path, bit)

        def go_on(folder: Path = place / "run") -> dict[str, Any]:
            study.again(folder)
            return values(folder, models=True)

        now = value_or_refusal(go_on)
        if isinstance(now, str):
            refused += 1
            assert "\n" not in now
        else:
            assert predictions(now) == predicted or path.name == "config.yaml", (path, bit)
            after = contents(place / "run")
            other = [name for name in expected if after.get(name) != expected[name]]
            different = [name for name in other if not name.endswith(NOT_THE_SAME_BYTES)]
            assert different in ([], [os.path.relpath(path, place / "run")]), (path, bit, different)
            assert not different or verify(place / "run").damages or path.name == "config.yaml", (path, bit)
        shutil.rmtree(place)
    print(f"{flips} bits flipped in half of {study.config.name}: {refused} refused, the others ended in the same bytes")
