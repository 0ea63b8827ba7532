"""What a release needs agrees: versions, the hooks' commands, and forms that GitHub can read."""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent


@pytest.fixture
def check() -> ModuleType:
    spec = importlib.util.spec_from_file_location("release_check", ROOT / ".ci" / "release_check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_changelog_citation_and_package_are_of_one_version(
    check: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(check.versions()) == []
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n\n## 0.0.9\n", encoding="utf-8")
    (tmp_path / "CITATION.cff").write_text("version: 7.0.0\n", encoding="utf-8")
    monkeypatch.setattr(check, "ROOT", tmp_path)
    assert len(list(check.versions())) == 2


def test_hooks_fetch_nothing() -> None:
    found: dict[str, Any] = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert {one["repo"] for one in found["repos"]} == {"local"}
    assert {hook["language"] for one in found["repos"] for hook in one["hooks"]} == {"system"}


@pytest.mark.parametrize("name", ["bug", "question", "new-friends"])
def test_an_issue_form_asks_each_thing_once(name: str) -> None:
    path = ROOT / ".github" / "ISSUE_TEMPLATE" / f"{name}.yaml"
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= form.keys()
    asked = [part["id"] for part in form["body"]]
    assert len(set(asked)) == len(asked)
    assert all(part["attributes"]["label"] for part in form["body"])
