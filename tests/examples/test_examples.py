"""The README prints the first example whole; test_friends_of_any_kind.py runs them."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_readme_prints_the_example_as_it_is() -> None:
    code = (ROOT / "examples" / "two_classifiers.py").read_text(encoding="utf-8")
    assert f"```python\n{code}```" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("link", ["docs/results.md", "docs/architecture.md", "docs/theory.md", "docs/data.md"])
def test_the_readme_links_to_pages_that_exist(link: str) -> None:
    assert f"]({link})" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert (ROOT / link).is_file()
