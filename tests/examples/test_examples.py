"""The examples are run as they stand, and the README prints the first of them whole."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_two_classifiers(tmp_path: Path) -> None:
    """One class for all would be right in about 1/2 and 1/4; the two stars of a polarity are told apart by nothing."""
    accuracy = load("two_classifiers").main(tmp_path / "run")
    assert accuracy["polarity"] > 0.9
    assert accuracy["stars"] > 0.4


def test_the_readme_prints_the_example_as_it_is() -> None:
    code = (ROOT / "examples" / "two_classifiers.py").read_text(encoding="utf-8")
    assert f"```python\n{code}```" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("link", ["docs/results.md", "docs/architecture.md", "docs/theory.md", "docs/data.md"])
def test_the_readme_links_to_pages_that_exist(link: str) -> None:
    assert f"]({link})" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert (ROOT / link).is_file()
