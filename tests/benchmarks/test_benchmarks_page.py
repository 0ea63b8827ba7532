"""The page of benchmarks is made from whatever records there are; the command for all calls programs as they are."""

import importlib
import shutil
from pathlib import Path

import all as everything
import page
import pytest

BENCHMARKS = Path(page.__file__).parent


def test_the_page_from_what_was_measured(tmp_path: Path) -> None:
    results, docs = tmp_path / "results", tmp_path / "docs"
    results.mkdir()
    docs.mkdir()
    shutil.copy(BENCHMARKS / "results" / "speed.jsonl", results)
    shutil.copy(BENCHMARKS / "results" / "service.jsonl", results)
    shutil.copy(BENCHMARKS.parent / "docs" / "scale.md", docs)
    page.main(["--results", str(results), "--docs", str(docs)])
    text = (docs / "benchmarks.md").read_text(encoding="utf-8")
    assert "| rewriting, rewrite/all | labelling | 3.94 |" in text
    assert "`/v1/rewrite`" in text
    assert text.count(page.NOTHING) == 6  # ceiling, pipeline, setfit, first answer, memory, tried
    longer = (docs / "appendix" / "benchmarks.md").read_text(encoding="utf-8")
    assert longer.count(page.NOTHING) == 4  # iteration, engines, growth, processes
    pictures = [path.name for path in (docs / "pictures").iterdir()]
    assert pictures == ["benchmark-speed.png"]
    assert all(f"(pictures/{name})" in text for name in pictures)
    assert "core hours" in (docs / "scale.md").read_text(encoding="utf-8")
    first = (docs / "pictures" / "benchmark-speed.png").read_bytes()
    page.main(["--results", str(results), "--docs", str(docs)])
    assert (docs / "pictures" / "benchmark-speed.png").read_bytes() == first


@pytest.mark.parametrize("quick", [False, True])
def test_all_asks_for_what_the_programs_understand(tmp_path: Path, quick: bool) -> None:
    commands = everything.commands(tmp_path, quick=quick)
    assert {program for program, *_ in commands} == {
        "speed.py",
        "pipeline.py",
        "growth.py",
        "processes.py",
        "engines.py",
    }
    for program, *rest in commands:
        asked = importlib.import_module(program.removesuffix(".py"))._parser().parse_args(rest)
        assert asked.results.parent == tmp_path
