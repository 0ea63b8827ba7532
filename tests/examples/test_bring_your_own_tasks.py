"""The page that walks from two models to a run: its code is one program, and it is run."""

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "bring-your-own-tasks.md"
TEXT = PAGE.read_text(encoding="utf-8")


def blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    found: dict[str, Any] = {"__name__": "page"}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("page"))
        for number, source in enumerate(blocks(), start=1):
            exec(compile(source, f"{PAGE.name}, block {number}", "exec"), found)
    return found


def test_every_block_of_code_is_python_and_runs(names: dict[str, Any]) -> None:
    assert TEXT.count("```") == 2 * len(blocks())
    assert len(blocks()) >= 10


def test_the_run_of_the_page_helps(names: dict[str, Any]) -> None:
    gains = {
        name: names["after"][name].test["test"]["accuracy"] - names["before"][name].test["test"]["accuracy"]
        for name in ("polarity", "stars")
    }
    assert gains["polarity"] > 2
    assert gains["stars"] > -2


def test_the_triangle_of_the_page_has_an_estimate_for_every_friend(names: dict[str, Any]) -> None:
    assert set(names["triangles"]) == {1, 2}
    for triangle in names["triangles"].values():
        assert all(friend.accuracy is not None for friend in triangle.friends)


def test_links_lead_somewhere() -> None:
    for target, anchor in re.findall(r"\]\(([^)#]+)(#[^)]*)?\)", TEXT):
        if target.startswith("https://"):
            continue
        page = (PAGE.parent / target).resolve()
        assert page.is_file(), target
        if anchor:
            titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
            slugs = {"#" + re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
            assert anchor in slugs, anchor
