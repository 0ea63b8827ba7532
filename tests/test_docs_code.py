"""The code in our pages: programs compile, configs and commands can be used, what a program writes is up to date."""

import csv
import importlib.util
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import typer
import yaml
from typer.exceptions import TyperException
from typer.main import get_command

from friend_training.cli.main import app
from friend_training.data.jsonl import DialogueLine
from friend_training.report.names import method_in_words
from friend_training.runs.run import Run
from friend_training.study.config import load_config, parse_config
from friend_training.study.folders import method_folder
from friend_training.study.study import run_study

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$?\s*(friend-train\s.*)$")


def blocks(page: Path, *kinds: str) -> list[str]:
    return [code for kind, code in BLOCK.findall(page.read_text(encoding="utf-8")) if kind in kinds]


def of_pages(*kinds: str) -> list[Any]:
    """Every block of these kinds, under the name of its page."""
    return [
        pytest.param(code, id=f"{page.name}-{number}")
        for page in PAGES
        for number, code in enumerate(blocks(page, *kinds), start=1)
    ]


@pytest.mark.parametrize("code", of_pages("python"))
def test_a_program_is_python(code: str) -> None:
    compile(code, "page", "exec")


@pytest.mark.parametrize("code", of_pages("yaml"))
def test_a_config_is_one(code: str) -> None:
    """Whatever has a name is a whole config; other blocks are lines of one."""
    if code.startswith("name:"):
        parse_config(code, "page")
        return
    for line in code.splitlines():
        assert isinstance(yaml.safe_load(line), dict), line


def test_the_config_of_own_dialogues_is_the_one_that_comes_along() -> None:
    shipped = ROOT / "configs" / "own-dialogues.yaml"
    printed = parse_config(blocks(ROOT / "docs" / "own-dialogues.md", "yaml")[0], "page")
    assert load_config(shipped) == printed


@pytest.mark.parametrize("code", of_pages("jsonl"))
def test_a_line_of_jsonl_is_json_and_a_dialogue_is_one_of_ours(code: str) -> None:
    for line in code.splitlines():
        found = json.loads(line)
        if "turns" in found:
            DialogueLine.model_validate_json(line)


def commands(page: Path) -> Iterator[str]:
    for code in blocks(page, "", "console", "sh"):
        for line in code.replace("\\\n", " ").splitlines():
            if (found := COMMAND.match(line)) and not re.search(r"\.\.\.|…|\s\[| \| ", found[1]):
                yield re.split(r"\s{2,}", found[1].strip())[0].partition(" #")[0]


def parse(line: str) -> None:
    """Says that the command is not there, or does not take these options and arguments. It is not run."""
    command: Any = get_command(app)
    words = shlex.split(line)[1:]
    context = typer.Context(command, info_name="friend-train")
    while inner := getattr(command, "commands", {}):
        if not words or words[0] not in inner:
            raise LookupError(f"there is no command {line!r}")
        command = inner[words[0]]
        words = words[1:]
        context = typer.Context(command, parent=context)
    command.parse_args(context, words)


COMMANDS = list(dict.fromkeys(line for page in PAGES for line in commands(page)))


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_is_one(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    parse(line)


@pytest.mark.parametrize(
    "line", ["friend-train run a.yaml --no-such-option", "friend-train rum a.yaml", "friend-train run"]
)
def test_a_wrong_command_is_found(line: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"```\n{line}  # what it does\n```\n", encoding="utf-8")
    assert list(commands(page)) == [line]
    with pytest.raises((LookupError, TyperException)):
        parse(line)


def program(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    return program("reference")


def test_the_site_has_no_link_out_of_its_pages_and_loads_nothing_from_elsewhere() -> None:
    site = program("site")
    page = SimpleNamespace(file=SimpleNamespace(src_uri="reference/cli.md"))
    text = "[a](../theory.md#x), [b](../../tests/test_house.py), [c](https://example.org/x)"
    kept = site.on_page_markdown(text, page=page)
    assert kept == "[a](../theory.md#x), `b`, [c](https://example.org/x)"
    html = (
        '<a href="https://example.org"></a><script src="//cdn/x.js"></script><img src="a.png"><link href="https://f/y">'
    )
    assert list(site.loaded_from_elsewhere(html)) == ["//cdn/x.js", "https://f/y"]


@pytest.mark.parametrize("name", ["config.md", "cli.md"])
def test_the_reference_is_current(reference: ModuleType, name: str) -> None:
    there = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert there == reference.PAGES[name](), "python .ci/reference.py writes it anew"


OWN_DATA = ROOT / "docs" / "own-data.md"


@pytest.fixture(scope="module")
def reviews(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], Path]:
    """What becomes of the page when it is followed: its files, its config, its run."""
    place = tmp_path_factory.mktemp("own-data")
    (program, _), (config,) = blocks(OWN_DATA, "python"), blocks(OWN_DATA, "yaml")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        exec(compile(program, "make_reviews.py", "exec"), {})
    out = place / "runs" / "reviews-seed1"
    return run_study(parse_config(config, "reviews.yaml"), out, data_dir=place), out


def test_own_data_gives_the_table_of_the_page(reviews: tuple[list[dict[str, Any]], Path]) -> None:
    records, out = reviews
    rows = re.findall(r"^ (\w.*?) {2,}([\d.]+ +[\d.]+ +[\d.]+ +[\d.]+)$", OWN_DATA.read_text("utf-8"), re.MULTILINE)
    printed = {method: [float(score) for score in scores.split()] for method, scores in rows}
    columns = ("polarity.macro_f1", "polarity.accuracy", "emotion.macro_f1", "emotion.accuracy")
    found = {method_in_words(one["method"]): [one["metrics"][column] for column in columns] for one in records}
    assert printed.keys() == found.keys()
    for method, scores in printed.items():
        assert found[method] == pytest.approx(scores, abs=2), method
    assert found["FDT"][1] > max(found["SST"][1], found["FDT, shuffled friend"][1]) + 5
    with (out.parents[1] / "pool.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 1000


def test_the_program_of_own_data_says_the_same(
    reviews: tuple[list[dict[str, Any]], Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(reviews[1].parents[1])
    names: dict[str, Any] = {}
    exec(compile(blocks(OWN_DATA, "python")[1], "own-data.md", "exec"), names)
    assert "FDT, shuffled friend" in capsys.readouterr().out
    rows = [row for row in names["result"].rows() if (row["task"], row["metric"]) == ("polarity", "accuracy")]
    scores = {row["method"]: row["value"] for row in rows if row["seed"] == 1}
    assert scores["fdt"] > scores["sst"] > scores["base"]


def test_the_models_of_own_data_answer(
    reviews: tuple[list[dict[str, Any]], Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first program of docs/serving.md."""
    monkeypatch.chdir(reviews[1].parents[1])
    exec(compile(blocks(ROOT / "docs" / "serving.md", "python")[0], "serving.md", "exec"), {})
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said] == ["positive", "negative", "polarity", "emotion"]


def test_the_function_on_the_page_of_run_folders_finds_disputed_units(
    reviews: tuple[list[dict[str, Any]], Path],
) -> None:
    (program,) = blocks(ROOT / "docs" / "run-folder.md", "python")
    names: dict[str, Any] = {}
    exec(compile(program, "run-folder.md", "exec"), names)
    folder = method_folder(reviews[1], "sst")
    columns = Run.open(method_folder(reviews[1], "fdt")).store.read(1).column_names
    text = (ROOT / "docs" / "run-folder.md").read_text(encoding="utf-8").partition("## The store")[2]
    assert set(re.findall(r"`(\w+)`", text.partition("```")[0])) == set(columns)
    assert names["disputed"](folder, 1) == []


def test_pages_have_at_most_thirty_thousand_words() -> None:
    """Written by hand: results, their appendix and what programs write do not count."""
    written = ("results.md", "benchmarks.md", "notes-on-the-paper.md")
    pages = [page for page in PAGES[2:] if page.name not in written]
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in pages) < 30_000
