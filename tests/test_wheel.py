"""The wheel, built, installed outside the tree and used from a folder that knows nothing of it."""

import os
import re
import shutil
import subprocess
import sys
from email.message import Message
from email.parser import BytesParser
from pathlib import Path

import pytest

from friend_training import __version__

ROOT = Path(__file__).parent.parent
SOURCES = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "src", "examples")

SMALLEST = [
    "methods=[base,fdt]",
    "iterations=1",
    "shard_size=20",
    "encoder.layers=1",
    "encoder.width=32",
    "encoder.heads=2",
    "data.pool=30",
    "data.dev=10",
    "data.test=10",
    "data.csrl_labels=30",
    "data.rewriting_labels=30",
    "data.bridge_sentences=100",
    "bridge.steps=10",
    "bridge.dev=10",
    "tasks.csrl.base_steps=10",
    "tasks.csrl.update_steps=10",
    "tasks.rewriting.base_steps=10",
    "tasks.rewriting.update_steps=10",
]


def run(*command: str, folder: Path, **environment: str) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"PYTHONUTF8": "1"} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the wheel was installed into; it was built from a copy, so that the tree stays clean."""
    place = tmp_path_factory.mktemp("wheel")
    source, target = place / "source", place / "installed"
    source.mkdir()
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
            )
        else:
            shutil.copy(ROOT / name, source / name)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    run(*pip, "wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", ".", str(source), folder=place)
    [wheel] = place.glob("friend_training-*.whl")
    run(*pip, "install", "--no-deps", "--no-index", "--target", str(target), str(wheel), folder=place)
    return target


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("elsewhere") / "a place, 别处"
    folder.mkdir()
    return folder


@pytest.fixture(scope="module")
def metadata(installed: Path) -> Message:
    [path] = installed.glob("*.dist-info/METADATA")
    return BytesParser().parsebytes(path.read_bytes())


def test_the_page_of_the_package_has_no_link_that_leads_nowhere(metadata: Message) -> None:
    page = metadata.get_payload(decode=True)
    assert isinstance(page, bytes)
    text = page.decode("utf-8")
    assert metadata["Version"] == __version__
    assert "`docs/results.md`" in text
    links = re.findall(r"\]\(([^)\s]*)\)", text)
    assert [link for link in links if not link.startswith("http")] == []
    assert (ROOT / "examples" / "two_classifiers.py").read_text(encoding="utf-8") in text, "programs stay as they are"


def test_links_of_the_readme_say_where_they_lead() -> None:
    """Where they cannot be followed their words are all there is."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\[([^\]]+)\]\(([^)\s]+)\)", text)
    assert links
    assert [words for words, target in links if not target.startswith("http") and words != target] == []


def test_the_smallest_study_runs_outside_the_tree(installed: Path, elsewhere: Path) -> None:
    where = "import friend_training; print(friend_training.__file__)"
    found = run(sys.executable, "-c", where, folder=elsewhere, PYTHONPATH=str(installed))
    assert Path(found.strip()).is_relative_to(installed)
    said = run(
        *(sys.executable, "-m", "friend_training.cli", "run", "synthetic-few-shot", "--out", "ein Lauf, 运行"),
        *(part for change in SMALLEST for part in ("--set", change)),
        folder=elsewhere,
        PYTHONPATH=str(installed),
    )
    assert "scores on test" in said
    assert {"results.jsonl", "report.html"} <= {path.name for path in (elsewhere / "ein Lauf, 运行").iterdir()}


def test_the_examples_come_along_and_run(installed: Path, elsewhere: Path) -> None:
    examples = installed / "share" / "friend-training" / "examples"
    assert {path.name for path in examples.glob("*.py")} == {path.name for path in (ROOT / "examples").glob("*.py")}
    program = str(examples / "two_classifiers.py")
    assert "polarity" in run(sys.executable, program, folder=elsewhere, PYTHONPATH=str(installed))
