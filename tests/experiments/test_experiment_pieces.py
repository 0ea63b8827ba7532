"""What an experiment consists of: seeds, variants, methods and what of them is left."""

import json
from pathlib import Path

import pytest

from friend_training.errors import ConfigError
from friend_training.experiments.experiment import Piece, left, load_experiment, pieces
from friend_training.experiments.results import done
from friend_training.study.config import config_text
from helpers.own_run import TEXT
from helpers.tiny_config import tiny_config

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
SHIPPED = sorted(path.parent for path in EXPERIMENTS.glob("synthetic-*/experiment.yaml"))

RECORDED = sorted(path.parent for path in EXPERIMENTS.rglob("experiment.yaml") if done(path.parent))

CONFIG = config_text(tiny_config("methods=[base, sst, fdt]"))

VARIED = """
title: Varied
config: tiny.yaml
seeds: [1, 2]
set: [iterations=2]
vary:
  - name: few
    at: {csrl: 10, rewriting: 10}
    set: [data.csrl_labels=4]
    methods: [base, fdt, sst-as-many]
  - name: other-pool
    set: [data.pool=10]
    methods: [base]
  - name: as-it-is
"""


def write(tmp_path: Path, text: str = VARIED) -> Path:
    folder = tmp_path / "varied"
    folder.mkdir(exist_ok=True)
    (folder / "tiny.yaml").write_text(CONFIG, encoding="utf-8")
    (folder / "experiment.yaml").write_text(text, encoding="utf-8")
    return folder


def names(made: list[Piece]) -> list[tuple[str, tuple[str, ...]]]:
    return [(piece.name, piece.config.methods) for piece in made]


def test_without_variants_there_is_a_run_per_seed(tmp_path: Path) -> None:
    folder = write(tmp_path, "title: Plain\nconfig: tiny.yaml\nseeds: [1, 2]\n")
    first, second = pieces(folder, tmp_path / "runs")
    assert first.folder == tmp_path / "runs" / "varied" / "seed-1"
    assert second.config.seed == 2
    assert first.resources == second.resources == tmp_path / "runs" / "varied" / "resources"
    assert first.config_id == second.config_id


@pytest.mark.parametrize("folder", RECORDED, ids=lambda folder: folder.name)
def test_every_recorded_result_still_has_its_name(folder: Path, tmp_path: Path) -> None:
    named = {
        (piece.config_id, method, piece.config.seed)
        for piece in pieces(folder, tmp_path)
        for method in piece.config.methods
    }
    assert done(folder) <= named


def test_a_variant_changes_settings_and_methods(tmp_path: Path) -> None:
    folder = write(tmp_path)
    made = pieces(folder, tmp_path / "runs")
    assert names(made) == [
        ("few, seed 1", ("base", "fdt", "sst-as-many")),
        ("few, seed 2", ("base", "fdt", "sst-as-many")),
        ("other-pool, seed 1", ("base",)),
        ("other-pool, seed 2", ("base",)),
        ("as-it-is, seed 1", ("base", "sst", "fdt")),
        ("as-it-is, seed 2", ("base", "sst", "fdt")),
    ]
    assert {piece.config.iterations for piece in made} == {2}
    assert [piece.config.model_dump()["data"]["csrl_labels"] for piece in made[::2]] == [4, 8, 8]
    assert len({piece.config_id for piece in made}) == 3
    assert made[0].folder == tmp_path / "runs" / "varied" / "few" / "seed-1"
    # Labels do not change encoder and bridge; the pool, which they are made from, does.
    assert made[0].resources == made[4].resources != made[2].resources


def test_some_seeds_variants_and_methods(tmp_path: Path) -> None:
    folder, runs = write(tmp_path), tmp_path / "runs"
    assert names(pieces(folder, runs, seeds=[2], variants=["few"])) == [("few, seed 2", ("base", "fdt", "sst-as-many"))]
    assert names(pieces(folder, runs, seeds=[1], only=["fdt"])) == [
        ("few, seed 1", ("base", "fdt")),
        ("as-it-is, seed 1", ("base", "fdt")),
    ]
    assert names(pieces(folder, runs, seeds=[1], variants=["few"], only=["sst-as-many"]))[0][1][1:] == (
        "fdt",
        "sst-as-many",
    )
    with pytest.raises(ConfigError, match="--only: mt: this experiment has base, fdt, sst-as-many, sst"):
        pieces(folder, runs, only=["mt"])
    with pytest.raises(ConfigError, match="--variants: none: this experiment has few, other-pool, as-it-is"):
        pieces(folder, runs, variants=["none"])


def test_what_has_a_result_is_not_left(tmp_path: Path) -> None:
    folder = write(tmp_path)
    first, second, *_ = pieces(folder, tmp_path / "runs")
    record = {"config_id": first.config_id, "method": "fdt", "seed": 1}
    (folder / "results.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    assert left(folder, first) == ["base", "sst-as-many"]
    assert left(folder, second) == ["base", "fdt", "sst-as-many"]
    assert first.only(["sst-as-many"]).config.methods == ("base", "fdt", "sst-as-many")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("name: few", "name: a/b", r"vary.0.name: .*given: 'a/b'"),
        ("name: few", "name: as-it-is", "two variants have the same name"),
        ("at: {csrl: 10", "at: {srl: 10", "vary.0.at.srl"),
        ("methods: [base, fdt, sst-as-many]", "methods: [base, magic]", "there is no such method"),
        ("seeds: [1, 2]", "seeds: []", "seeds: "),
        ("title: Varied", "titel: Varied", "line 2, titel: there is no such setting; did you mean 'title'"),
        ("title: Varied", "figure: 3d\ntitle: Varied", "'thresholds', 'strength' or 'co-updating'"),
        ("title: Varied", "title: [", "not valid YAML"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in VARIED
    with pytest.raises(ConfigError, match=said) as caught:
        load_experiment(write(tmp_path, VARIED.replace(old, new, 1)))
    assert "experiment.yaml" in str(caught.value)


def test_variants_must_differ_and_fit_the_config(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'few, seed 1' and 'as-it-is, seed 1' have the same settings"):
        pieces(write(tmp_path, VARIED.replace("csrl_labels=4", "csrl_labels=8")), tmp_path)
    with pytest.raises(ConfigError, match=r"no setting 'data\.labels'"):
        pieces(write(tmp_path, VARIED.replace("data.csrl_labels", "data.labels")), tmp_path)
    with pytest.raises(ConfigError, match="fdt needs base before it"):
        pieces(write(tmp_path, VARIED.replace("[base, fdt, sst", "[fdt, base, sst")), tmp_path)


@pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: folder.name)
def test_every_experiment_can_be_run(folder: Path, tmp_path: Path) -> None:
    made = pieces(folder, tmp_path)
    assert len(made) == len(load_experiment(folder).seeds) * max(1, len(load_experiment(folder).vary))
    for piece in made:
        assert piece.config.methods[0] == "base"


def test_variants_of_a_config_of_any_tasks(tmp_path: Path) -> None:
    folder = write(tmp_path, VARIED_OF_ANY)
    (folder / "reviews.yaml").write_text(TEXT, encoding="utf-8")
    first, second = pieces(folder, tmp_path / "runs")
    assert first.config.sections["mood"].selection.score == "learned"
    assert second.config.sections["mood"].selection.score == "paper"
    assert first.config_id != second.config_id
    assert first.folder == tmp_path / "runs" / "varied" / "learned" / "seed-1"


VARIED_OF_ANY = """
title: Varied
config: reviews.yaml
seeds: [1]
vary:
  - {name: learned, set: [tasks.mood.selection.score=learned], methods: [base, fdt]}
  - {name: paper}
"""
