"""Tables from results: compare prints them, page puts them into Markdown."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from friend_training.cli.main import app
from friend_training.errors import DataError
from friend_training.scenarios.counts import save_counts

RUNNER = CliRunner()


def write_experiment(folder: Path) -> None:
    """Two methods, two seeds: FDT is right in twice as many dialogues."""
    records = []
    for method, right in (("sst", 0.3), ("fdt", 0.6)):
        for seed in (1, 2):
            draw = np.random.default_rng(seed)
            correct = (draw.random(200) < right).astype(float)
            csrl = np.tile(np.stack([correct, np.ones(200), np.ones(200)], axis=1), (1, 4))
            save_counts(folder / "counts" / f"abc-{method}-{seed}.npz", {"csrl": csrl})
            chosen = {"csrl": {"chosen": 10, "chosen_with_content": 9, "precision": right}}
            records.append(
                {
                    "method": method,
                    "seed": seed,
                    "config_id": "abc",
                    "metrics": {"csrl.f1": 100 * correct.mean()},
                    "chosen": [chosen],
                    "dev": {"csrl": [{"f1": 50.0}, {"f1": 100 * right}]},
                }
            )
    (folder / "results.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def test_the_table_says_means_and_significance(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    printed = RUNNER.invoke(app, ["compare", str(tmp_path), "--format", "csv"]).stdout
    means = {row["method"]: float(row["csrl.f1.mean"]) for row in csv.DictReader(printed.splitlines())}
    assert means == {"SST": 30.5, "FDT": 58.5}
    markdown = RUNNER.invoke(app, ["compare", str(tmp_path), "--format", "markdown"]).stdout
    assert "*" in next(line for line in markdown.splitlines() if line.startswith("| SST"))


def test_dev_is_shown_by_iteration(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    printed = RUNNER.invoke(app, ["compare", str(tmp_path), "--show", "dev"]).stdout
    assert "| SST | 0 | 50.0 |  |  |" in printed
    assert "| FDT | 1 | 60.0 |  |  |" in printed


def test_the_precision_of_the_chosen_is_shown(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    printed = RUNNER.invoke(app, ["compare", str(tmp_path), "--show", "chosen"]).stdout
    assert "| FDT | csrl | 1 | 10 | 9 | 60.0 |" in printed


def test_results_of_two_configs_are_not_mixed(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    line = (tmp_path / "results.jsonl").read_text(encoding="utf-8").splitlines()[0].replace("abc", "other")
    with (tmp_path / "results.jsonl").open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(DataError, match="2 different configs"):
        RUNNER.invoke(app, ["compare", str(tmp_path)], catch_exceptions=False)


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
