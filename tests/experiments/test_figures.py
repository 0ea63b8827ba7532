"""The paper's figures from made-up results: which lines they have, and what cannot be drawn."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from friend_training.errors import ConfigError, DataError
from friend_training.experiments.figures import Point, panels

Record = dict[str, Any]


def record(variant: str, at: dict[str, float], method: str, seed: int, value: float, **thresholds: float) -> Record:
    tasks = {task: {"pick_threshold": thresholds.get(task, 0.6)} for task in ("csrl", "rewriting")}
    return {
        "variant": {"name": variant, "at": at, "set": []},
        "config_id": variant,
        "config": {"tasks": tasks},
        "method": method,
        "seed": seed,
        "metrics": {"csrl.f1": value, "rewriting.wer": 100 - value},
    }


def write(folder: Path, figure: str | None, records: Iterable[Record]) -> Path:
    kind = "" if figure is None else f"figure: {figure}\n"
    (folder / "experiment.yaml").write_text(f"title: T\nconfig: c.yaml\nseeds: [1]\n{kind}", encoding="utf-8")
    (folder / "results.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return folder


def test_strength_has_a_line_per_method_and_fdt_on_all_labels(tmp_path: Path) -> None:
    records = [
        record(f"{percent}-percent", {"csrl": percent, "rewriting": percent}, method, seed, percent / 2 + gain + seed)
        for percent in (50, 10)
        for method, gain in (("base", 0), ("stbr", 1), ("stea", 2), ("fdt", 3), ("sst", 9))
        for seed in (1, 2)
    ]
    records += [record("all-labels", {}, method, 1, 70) for method in ("base", "fdt")]
    csrl, rewriting = panels(write(tmp_path, "strength", records))
    assert [curve.label for curve in csrl.curves] == ["FDT", "STBR", "STea", "Base"]
    assert csrl.curves[0].points == (Point(10, (9.0, 10.0)), Point(50, (29.0, 30.0)))
    assert rewriting.curves[3].points[0] == Point(10, (94.0, 93.0))
    assert [(level.label, level.values) for level in csrl.levels] == [("FDT, all labels", (70,))]
    assert [level.values for level in rewriting.levels] == [(30,)]
    assert csrl.curves[3].quiet
    assert (csrl.y_label, rewriting.y_label) == ("F1", "WER (less is better)")


def test_thresholds_are_drawn_against_the_friend_s_fixed_one(tmp_path: Path) -> None:
    records = [
        record("best", {"csrl": 0.8, "rewriting": 0.6}, "fdt", 1, 50, csrl=0.8),
        record("csrl-low", {"csrl": 0.4}, "fdt", 1, 40, csrl=0.4),
        record("rewriting-low", {"rewriting": 0.4}, "fdt", 1, 45, csrl=0.8, rewriting=0.4),
    ]
    csrl, rewriting = panels(write(tmp_path, "thresholds", records))
    assert csrl.curves[0].points == (Point(0.4, (40,)), Point(0.8, (50,)))
    assert rewriting.curves[0].points == (Point(0.4, (55,)), Point(0.6, (50,)))
    assert csrl.x_label == "pick threshold of CSRL (its friend's: 0.6)"
    assert rewriting.x_label == "pick threshold of rewriting (its friend's: 0.8)"
    records.append(record("both-low", {"csrl": 0.5}, "fdt", 1, 30, csrl=0.5, rewriting=0.5))
    with pytest.raises(DataError, match="threshold of rewriting changes where that of csrl is drawn"):
        panels(write(tmp_path, "thresholds", records))


def test_co_updating_compares_the_strong_friend_updated_and_fixed(tmp_path: Path) -> None:
    at = {"csrl": 10.0, "rewriting": 10.0}
    records = [record("10", at, method, 1, 20) for method in ("base", "base-full", "fdt-s", "fdt-sf")]
    csrl, rewriting = panels(write(tmp_path, "co-updating", records))
    assert [curve.label for curve in csrl.curves] == ["FDT, friend updated", "FDT-SF, friend fixed", "Base"]
    assert "100 %" in rewriting.x_label


def test_a_part_without_results_is_left_out(tmp_path: Path) -> None:
    (only,) = panels(write(tmp_path, "strength", [record("10", {"csrl": 10}, "fdt", 1, 20)]))
    assert only.title.startswith("CSRL")


def test_what_cannot_be_drawn(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="`figure` does not say"):
        panels(write(tmp_path, None, []))
    with pytest.raises(DataError, match="no results to draw yet"):
        panels(write(tmp_path, "strength", []))
    twice = [record(name, {"csrl": 10}, "fdt", 1, 20) for name in ("a", "b")]
    with pytest.raises(DataError, match="two results of fdt, seed 1, stand at one place"):
        panels(write(tmp_path, "strength", twice))
