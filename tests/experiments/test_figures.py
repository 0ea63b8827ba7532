"""The paper's figures from made-up results: which lines they have, and what cannot be drawn."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from friend_training.errors import ConfigError, DataError
from friend_training.experiments.figures import Point, draw, panels

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


def own_record(variant: str, at: dict[str, float], method: str, seed: int, value: float, **thresholds: float) -> Record:
    """Of three tasks of a user's own, one of which is a friend of both others; one is never trained."""
    tasks: Record = {
        "trees": {"kind": "constituency", "pick_threshold": thresholds.get("trees", 0.6)},
        "mood": {"kind": "estimator", "metric": "macro_f1", "pick_threshold": thresholds.get("mood", {"share": 0.1})},
        "words": {"kind": "answer-file", "pick_threshold": 0.6},
    }
    friendships = [{"first": "trees", "second": "mood"}, {"first": "words", "second": "trees"}]
    metrics = {"trees.f1": value, "trees.precision": 1.0, "mood.accuracy": 2.0, "mood.macro_f1": value / 2}
    return {
        **({"variant": {"name": variant, "at": at, "set": []}} if variant else {}),
        "config_id": variant,
        "config": {"tasks": tasks, "friendships": friendships},
        "method": method,
        "seed": seed,
        "metrics": metrics,
    }


def test_tasks_of_any_kind_have_a_panel_each_with_their_own_metric(tmp_path: Path) -> None:
    records = [
        own_record(f"at-{place}", {"trees": place, "mood": place}, method, seed, 10 * place + seed)
        for place in (1, 2)
        for method in ("fdt", "sst", "base")
        for seed in (1, 2)
    ]
    trees, mood = panels(write(tmp_path, "strength", records))
    assert (trees.title, mood.title) == ("Trees: strength of the base model", "Mood: strength of the base model")
    assert (trees.y_label, mood.y_label) == ("F1", "macro F1")
    assert [curve.label for curve in mood.curves] == ["Base", "SST", "FDT"]
    assert mood.curves[0].points == (Point(1, (5.5, 6.0)), Point(2, (10.5, 11.0)))


def test_thresholds_of_any_friends_are_told(tmp_path: Path) -> None:
    records = [own_record(f"t{place}", {"trees": place}, "fdt", 1, 9, trees=place) for place in (0.4, 0.8)]
    (trees,) = panels(write(tmp_path, "thresholds", records))
    assert trees.x_label == "pick threshold of trees (its friend's: share 0.1, 0.6)"
    records.append(own_record("other", {"trees": 0.5}, "fdt", 1, 9, trees=0.5, mood=0.3))
    with pytest.raises(DataError, match="threshold of mood changes where that of trees is drawn"):
        panels(write(tmp_path, "thresholds", records))


def test_without_a_figure_methods_stand_side_by_side(tmp_path: Path) -> None:
    records = [own_record("", {}, method, seed, 10 + seed) for method in ("fdt", "base") for seed in (1, 2)]
    trees, mood = panels(write(tmp_path, None, records))
    assert (trees.title, trees.names) == ("Trees", ("Base", "FDT"))
    assert mood.curves[0].points == (Point(0, (5.5, 6.0)), Point(1, (5.5, 6.0)))
    draw([trees, mood], tmp_path / "methods.svg")
    assert (tmp_path / "methods.svg").read_text(encoding="utf-8").startswith("<?xml")
    named = [own_record("two-friends", {}, "fdt", 1, 3), record("pair", {}, "fdt", 1, 4)]
    titles = [panel.title for panel in panels(write(tmp_path, None, named))]
    assert titles == ["Trees, two friends", "Mood, two friends", "CSRL, pair", "Rewriting, pair"]


def test_what_cannot_be_drawn(tmp_path: Path) -> None:
    for kind in (None, "strength"):
        with pytest.raises(DataError, match="no results to draw yet"):
            panels(write(tmp_path, kind, []))
    with pytest.raises(ConfigError, match="figure: expected 'thresholds', 'strength' or 'co-updating'"):
        panels(write(tmp_path, "pie", []))
    twice = [record(name, {"csrl": 10}, "fdt", 1, 20) for name in ("a", "b")]
    with pytest.raises(DataError, match="two results of fdt, seed 1, stand at one place"):
        panels(write(tmp_path, "strength", twice))
