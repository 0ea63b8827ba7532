"""Tables from results: compare prints them, page puts them into Markdown."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from friend_training.cli.main import app
from friend_training.core.task import Counts
from friend_training.errors import ConfigError, DataError
from friend_training.runs.inputs import save_counts
from friend_training.runs.run import Run
from friend_training.study.config import config_text
from friend_training.study.folders import method_folder
from helpers.tiny_config import tiny_config

RUNNER = CliRunner()


METHODS = {"stbr": 0.3, "fdt": 0.6}
"""How often each is right: FDT in twice as many dialogues."""


def result(method: str, seed: int, right: float) -> tuple[dict[str, Any], Counts]:
    draw = np.random.default_rng(seed)
    correct = (draw.random(200) < right).astype(float)
    chosen = {"csrl": {"chosen": 10, "chosen_with_content": 9, "precision": right}}
    record = {
        "method": method,
        "seed": seed,
        "metrics": {"csrl.f1": 100 * correct.mean()},
        "chosen": [chosen],
        "dev": {"csrl": [{"f1": 50.0}, {"f1": 100 * right}]},
    }
    return record, np.tile(np.stack([correct, np.ones(200), np.ones(200)], axis=1), (1, 4))


def lines(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def write_experiment(folder: Path, variants: dict[str, float] | None = None, *, seeds: int = 5) -> None:
    """Two methods, five seeds; in a variant methods are right so much more often."""
    records = []
    for variant, more in (variants or {"": 0.0}).items():
        for method, right in METHODS.items():
            for seed in range(1, seeds + 1):
                record, csrl = result(method, seed, right + more)
                save_counts(folder / "counts" / f"abc{variant}-{method}-{seed}.npz", {"csrl": csrl})
                named = {"variant": {"name": variant, "at": {}, "set": []}} if variant else {}
                records.append(record | {"config_id": f"abc{variant}"} | named)
    folder.mkdir(exist_ok=True)
    (folder / "results.jsonl").write_text(lines(records), encoding="utf-8")


def write_run(folder: Path, seed: int, *changes: str, methods: tuple[str, ...] = ("stbr", "fdt")) -> Path:
    """A finished run as far as its table needs it: config, records, counts."""
    config = tiny_config(f"seed={seed}", "methods=[base, stbr, fdt]", *changes)
    run = Run.create(folder, config_text(config), {})
    records = []
    for method, right in {"base": 0.1, **METHODS}.items():
        record, csrl = result(method, seed, right)
        save_counts(method_folder(folder, method) / "counts.npz", {"csrl": csrl})
        if method in ("base", *methods):
            records.append(record | {"config": config.model_dump(mode="json")})
    (run.folder / "results.jsonl").write_text(lines(records), encoding="utf-8")
    return folder


def means(printed: str) -> dict[tuple[str, ...], float]:
    """F1 by method, or by table and method."""
    rows = list(csv.DictReader(printed.splitlines()))
    return {tuple(row[k] for k in ("table", "method") if k in row): float(row["csrl.f1.mean"]) for row in rows}


def test_the_table_says_means_and_significance(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    printed = RUNNER.invoke(app, ["compare", str(tmp_path), "--format", "csv"]).stdout
    assert means(printed) == {("STBR",): 28.2, ("FDT",): 58.7}
    markdown = RUNNER.invoke(app, ["compare", str(tmp_path), "--format", "markdown"]).stdout
    assert "*" in next(line for line in markdown.splitlines() if line.startswith("| STBR"))


def test_methods_with_other_seeds_say_so_and_can_be_put_on_equal_terms(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    records = (tmp_path / "results.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "results.jsonl").write_text("".join(records[1:]), encoding="utf-8")  # STBR without its seed 1
    printed = RUNNER.invoke(app, ["compare", str(tmp_path), "--format", "csv"]).stdout
    assert list(means(printed)) == [("STBR (4 seeds)",), ("FDT (5 seeds)",)]
    markdown = RUNNER.invoke(app, ["compare", str(tmp_path), "--format", "markdown"]).stdout
    assert "*" not in next(line for line in markdown.splitlines() if line.startswith("| STBR (4 seeds)"))
    alike = RUNNER.invoke(app, ["compare", str(tmp_path), "--format", "csv", "--seeds", "2"]).stdout
    assert list(means(alike)) == [("STBR",), ("FDT",)]
    assert means(alike)["FDT",] != means(printed)["FDT (5 seeds)",]


def test_fewer_than_five_seeds_have_intervals_and_no_stars(tmp_path: Path) -> None:
    write_experiment(tmp_path, seeds=4)
    table = RUNNER.invoke(app, ["compare", str(tmp_path), "--format", "markdown"]).stdout
    assert "*" not in next(line for line in table.splitlines() if line.startswith("| STBR"))
    differences = RUNNER.invoke(app, ["compare", str(tmp_path), "--show", "differences"]).stdout
    row = next(line for line in differences.splitlines() if line.startswith("| STBR |"))
    difference, low, high = map(float, re.findall(r"[+-][0-9.]+", row))
    assert 0 < low < difference < high
    assert "*" not in row


def test_seeds_that_are_none_are_an_error(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    with pytest.raises(ConfigError, match="--seeds one: numbers were expected"):
        RUNNER.invoke(app, ["compare", str(tmp_path), "--seeds", "one"], catch_exceptions=False)


def test_a_score_that_came_later_is_shown_where_every_result_has_it(tmp_path: Path) -> None:
    """Old results have no restored F1, neither in their records nor in their counts."""
    rows = {
        "base": {"rewriting.em": 40.0, "rewriting.restored_f1": 10.0},
        "fdt": {"rewriting.em": 30.0, "rewriting.restored_f1": 50.0},
        "bridge-alone": {"csrl.f1": 20.0},
    }
    counted = {"base": 17, "fdt": 17}

    def shown(show: str) -> str:
        for method, columns in counted.items():
            counts = np.random.default_rng(len(method)).integers(1, 9, (50, columns)).astype(float)
            save_counts(tmp_path / "counts" / f"abc-{method}-1.npz", {"rewriting": counts})
        records = [
            {"method": method, "seed": 1, "config_id": "abc", "metrics": metrics} for method, metrics in rows.items()
        ]
        (tmp_path / "results.jsonl").write_text(lines(records), encoding="utf-8")
        command = ["compare", str(tmp_path), "--show", show, "--format", "markdown"]
        return RUNNER.invoke(app, command, catch_exceptions=False).stdout

    assert "restored F1" in shown("scores")
    assert "50.0" in shown("scores")
    assert "restored F1" in shown("differences")
    assert "| Base | restored F1 | +40.0 |" in shown("seeds")
    del rows["base"]["rewriting.restored_f1"]
    counted["base"] = 14
    for show in ("scores", "differences", "seeds"):
        assert "restored" not in shown(show)
        assert "EM" in shown(show)


def test_dev_is_shown_by_iteration(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    printed = RUNNER.invoke(app, ["compare", str(tmp_path), "--show", "dev"]).stdout
    assert "| STBR | Base | 50.0 |  |  |  |" in printed
    assert "| FDT | 1 | 60.0 |  |  |  |" in printed


def test_the_precision_of_the_chosen_is_shown(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    printed = RUNNER.invoke(app, ["compare", str(tmp_path), "--show", "chosen"]).stdout
    assert "| FDT | csrl | 1 | 10 | 9 | 60.0 |" in printed


def test_differences_are_shown_with_intervals(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    printed = RUNNER.invoke(app, ["compare", str(tmp_path), "--show", "differences"]).stdout
    assert "| FDT minus | F1 | ROUGE-L | EM | WER |" in printed
    row = next(line for line in printed.splitlines() if line.startswith("| STBR |"))
    difference, low, high = map(float, re.findall(r"[+-][0-9.]+", row))
    assert low < difference < high
    assert difference == pytest.approx(30, abs=6)
    assert row.endswith("]\\* |  |  |  |")


def test_differences_are_shown_by_seed(tmp_path: Path) -> None:
    scores = {("sst", 1): 40.0, ("sst", 2): 41.0, ("mt", 2): 40.5, ("fdt", 1): 41.0, ("fdt", 2): 44.0}
    records = [
        {"config_id": "abc", "method": method, "seed": seed, "metrics": {"csrl.f1": f1}}
        for (method, seed), f1 in scores.items()
    ]
    (tmp_path / "results.jsonl").write_text(lines(records), encoding="utf-8")
    printed = RUNNER.invoke(app, ["compare", str(tmp_path), "--show", "seeds"]).stdout
    assert printed.splitlines() == [
        "| FDT minus | score | seed 1 | seed 2 | mean ± deviation |",
        "|---|---|--:|--:|--:|",
        "| SST | F1 | +1.0 | +3.0 | +2.0 ± 1.4 |",
        "| MT | F1 |  | +3.5 | +3.5 |",
    ]


@pytest.mark.parametrize("show", ["differences", "seeds"])
def test_what_the_others_are_compared_with_must_be_there(tmp_path: Path, show: str) -> None:
    write_experiment(tmp_path)
    with pytest.raises(DataError, match="no result of cps to compare the others with; there are: fdt, stbr"):
        RUNNER.invoke(app, ["compare", str(tmp_path), "--show", show, "--against", "cps"], catch_exceptions=False)


def test_stars_are_explained_where_there_are_any(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    of_fdt = RUNNER.invoke(app, ["compare", str(tmp_path), "--format", "markdown"]).stdout
    of_none = RUNNER.invoke(app, ["compare", str(tmp_path), "--format", "markdown", "--against", "mt"]).stdout
    assert "differs from FDT" in of_fdt
    assert "differs from" not in of_none


def test_scores_stand_beside_the_papers(tmp_path: Path) -> None:
    metrics = {"csrl.f1": 41.0, "rewriting.em": 24.0, "rewriting.wer": 33.0}
    record = {"config_id": "abc", "method": "sst", "config": {"data": {"scenario": "domain-generalisation"}}}
    records = [
        record | {"seed": seed, "metrics": metrics | {"csrl.f1": 40.0 + seed, "csrl.string_f1": 41.0 + seed}}
        for seed in (1, 2)
    ]
    (tmp_path / "results.jsonl").write_text(lines(records), encoding="utf-8")
    printed = RUNNER.invoke(app, ["compare", str(tmp_path), "--show", "paper"]).stdout
    assert "| SST | 58.6 | **41.5 ± 0.7** | 42.5 ± 0.7 | 33.0 | **24.0 ± 0.0** | 22.2 | **33.0 ± 0.0** |" in printed
    assert "| STBR (not run) | 59.4 | – | – | 33.8 | – | 23.3 | – |" in printed
    assert "FDT-S" not in printed, "it exists in few-shot only"
    (tmp_path / "results.jsonl").write_text(lines([records[0] | {"config": {"data": {}}}]), encoding="utf-8")
    with pytest.raises(DataError, match="few-shot and one for domain-generalisation on public data"):
        RUNNER.invoke(app, ["compare", str(tmp_path), "--show", "paper"], catch_exceptions=False)


def test_a_summary_has_a_line_for_each_task_of_each_folder(tmp_path: Path) -> None:
    for name in ("one", "two"):
        records = []
        for method, right in {"base": 0.2, "sst": 0.3, "fdt": 0.6, "bridge-labels": 0.4}.items():
            for seed in range(1, 6):
                record, csrl = result(method, seed, right)
                save_counts(tmp_path / name / "counts" / f"abc-{method}-{seed}.npz", {"csrl": csrl})
                records.append(record | {"config_id": "abc", "config": {}})
        (tmp_path / name / "results.jsonl").write_text(lines(records), encoding="utf-8")
    folders = [str(tmp_path / name) for name in ("one", "two")]
    printed = RUNNER.invoke(app, ["compare", *folders, "--show", "summary"], catch_exceptions=False).stdout
    assert [line.split(" | ")[0] for line in printed.splitlines()[2:]] == ["| one", "| two"]
    cells = printed.splitlines()[2].split(" | ")
    assert cells[1:3] == ["F1", "17.4"]
    assert cells[5] == "FDT **58.7**"
    assert cells[7].startswith("bridge's labels **")
    assert all(cells[place].endswith("]\\*") for place in (6, 8)), "far ahead of both, with five seeds"
    assert cells[-1] == "5 |"
    command = ["compare", *folders, "--show", "summary", "--against", "fdt,fdt,fdt"]
    with pytest.raises(ConfigError, match="names 3 methods; expected one, or one for each of 2 folders"):
        RUNNER.invoke(app, command, catch_exceptions=False)


def test_a_summary_of_any_tasks_names_each_by_its_own_metric(tmp_path: Path) -> None:
    sections = {"stars": {"kind": "estimator", "metric": "accuracy"}, "mood": {"kind": "estimator"}}
    scores = {"base": 40.0, "sst": 45.0, "fdt": 50.0, "friend-labels": 47.0, "fdt-shuffled": 44.0}
    of_tasks = [
        {
            "config_id": "abc",
            "method": method,
            "seed": 1,
            "config": {"tasks": sections},
            "metrics": {"stars.macro_f1": score - 9, "stars.accuracy": score, "mood.macro_f1": score + 1},
        }
        for method, score in scores.items()
    ]
    (tmp_path / "results.jsonl").write_text(lines(of_tasks), encoding="utf-8")
    printed = RUNNER.invoke(app, ["compare", str(tmp_path), "--show", "summary"], catch_exceptions=False).stdout
    rows = [line.split(" | ")[1:8] for line in printed.splitlines()[2:]]
    assert ["stars accuracy", "40.0", "45.0", "50.0", "FDT **50.0**", "–", "friend's labels **47.0**"] in rows
    assert ["mood macro F1", "41.0", "46.0", "51.0", "FDT **51.0**", "–", "friend's labels **48.0**"] in rows


def test_results_of_two_configs_are_not_mixed(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    line = (tmp_path / "results.jsonl").read_text(encoding="utf-8").splitlines()[0].replace("abc", "other")
    with (tmp_path / "results.jsonl").open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(DataError, match="2 different configs"):
        RUNNER.invoke(app, ["compare", str(tmp_path)], catch_exceptions=False)


def test_every_variant_has_a_table_of_its_own(tmp_path: Path) -> None:
    write_experiment(tmp_path, {"weak": -0.2, "strong": 0.2})
    printed = RUNNER.invoke(app, ["compare", str(tmp_path), "--format", "csv"]).stdout
    assert list(means(printed)) == [(v, m) for v in ("weak", "strong") for m in ("STBR", "FDT")]
    assert means(printed)["weak", "FDT"] < means(printed)["strong", "FDT"]
    markdown = RUNNER.invoke(app, ["compare", str(tmp_path), "--format", "markdown"]).stdout
    assert markdown.index("**weak**") < markdown.index("| Method") < markdown.index("**strong**")
    chosen = RUNNER.invoke(app, ["compare", str(tmp_path), "--show", "chosen"]).stdout
    assert "**weak**\n\n| Method" in chosen
    assert "**strong**" in RUNNER.invoke(app, ["compare", str(tmp_path), "--show", "dev"]).stdout
    assert "% weak\n" in RUNNER.invoke(app, ["compare", str(tmp_path), "--format", "latex"]).stdout


def test_seeds_of_runs_make_the_table_of_an_experiment(tmp_path: Path) -> None:
    write_experiment(tmp_path / "experiment")
    runs = [write_run(tmp_path / f"seed-{seed}", seed) for seed in (1, 2, 3, 4, 5)]
    of_experiment, of_runs = (
        RUNNER.invoke(app, ["compare", *map(str, places), "--format", "markdown"], catch_exceptions=False).stdout
        for places in ([tmp_path / "experiment"], runs)
    )
    assert [line for line in of_runs.splitlines() if "| Base" not in line] == of_experiment.splitlines()
    assert "*" in next(line for line in of_runs.splitlines() if line.startswith("| STBR"))


def test_runs_of_other_settings_stand_apart(tmp_path: Path) -> None:
    first, second = write_run(tmp_path / "a", 1), write_run(tmp_path / "b", 1, "tasks.csrl.pick_threshold=0.9")
    third = write_run(tmp_path / "c", 2, "threads=2")
    printed = RUNNER.invoke(app, ["compare", str(first), str(second), str(third), "--format", "csv"]).stdout
    titles = [f"tiny, tasks.csrl.pick_threshold={value}" for value in (0.0, 0.9)]
    assert list(dict.fromkeys(table for table, _ in means(printed))) == titles
    named = write_run(tmp_path / "d", 1, "name=mine")
    printed = RUNNER.invoke(app, ["compare", str(first), str(named), "--format", "csv"]).stdout
    assert list(dict.fromkeys(table for table, _ in means(printed))) == ["tiny", "mine"]


def test_a_run_that_is_not_finished_is_not_compared(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "a", 1, methods=("stbr",))
    with pytest.raises(DataError, match=f"{folder} is not finished; go on with `friend-train resume"):
        RUNNER.invoke(app, ["compare", str(folder)], catch_exceptions=False)
    (tmp_path / "none").mkdir()
    with pytest.raises(DataError, match="has no results yet"):
        RUNNER.invoke(app, ["compare", str(tmp_path / "none")], catch_exceptions=False)
    (tmp_path / "results.jsonl").write_text('{"method": "fdt", \n', encoding="utf-8")
    with pytest.raises(DataError, match=r"results.jsonl:1: broken JSON"):
        RUNNER.invoke(app, ["compare", str(tmp_path)], catch_exceptions=False)


def test_a_figure_is_drawn(tmp_path: Path) -> None:
    write_experiment(tmp_path, {"weak": -0.2, "strong": 0.2})
    (tmp_path / "experiment.yaml").write_text(
        "title: T\nconfig: c.yaml\nseeds: [1, 2]\nfigure: strength\n", encoding="utf-8"
    )
    records = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    for record in records:
        record["variant"]["at"] = {"csrl": {"weak": 10, "strong": 90}[record["variant"]["name"]]}
    (tmp_path / "results.jsonl").write_text(lines(records), encoding="utf-8")
    out = tmp_path / "figures" / "strength.svg"
    said = RUNNER.invoke(app, ["figure", str(tmp_path), "--out", str(out)], catch_exceptions=False)
    assert said.exit_code == 0
    assert out.is_file()


def test_a_page_is_made_anew_and_checked(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    page = tmp_path / "page.md"
    command = f"compare {tmp_path} --show chosen"
    page.write_text(f"before\n<!-- made by: friend-train {command} -->\nold\n<!-- end -->\nafter\n", encoding="utf-8")
    with pytest.raises(DataError, match="not those of the results"):
        RUNNER.invoke(app, ["page", str(page), "--check"], catch_exceptions=False)
    assert RUNNER.invoke(app, ["page", str(page)]).exit_code == 0
    text = page.read_text(encoding="utf-8")
    assert "old" not in text
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "| FDT | csrl |" in text
    assert RUNNER.invoke(app, ["page", str(page), "--check"]).exit_code == 0


def test_a_page_runs_programs_of_experiments_and_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("experiments", "elsewhere"):
        Path(folder).mkdir()
        Path(folder, "words.py").write_text(f"SAID = 'from {folder}'\n", encoding="utf-8")
        Path(folder, "said.py").write_text("import sys\nfrom words import SAID\nprint(SAID, *sys.argv[1:])\n", "utf-8")
    page = Path("page.md")
    page.write_text("<!-- made by: python experiments/said.py twice -->\n<!-- end -->\n", encoding="utf-8")
    for _ in range(2):
        assert RUNNER.invoke(app, ["page", str(page)], catch_exceptions=False).exit_code == 0
        assert "\nfrom experiments twice\n" in page.read_text(encoding="utf-8")
    page.write_text("<!-- made by: python elsewhere/said.py -->\n<!-- end -->\n", encoding="utf-8")
    with pytest.raises(DataError, match="expected a program below experiments/ or benchmarks/"):
        RUNNER.invoke(app, ["page", str(page)], catch_exceptions=False)
