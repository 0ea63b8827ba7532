"""The README prints the first example whole; test_friends_of_any_kind.py runs them."""

import re
import runpy
from pathlib import Path

import pytest

from friend_training.inference.condense import Condensed

ROOT = Path(__file__).parents[2]


def test_the_readme_prints_the_example_as_it_is() -> None:
    code = (ROOT / "examples" / "two_classifiers.py").read_text(encoding="utf-8")
    assert f"```python\n{code}```" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("link", ["docs/results.md", "docs/architecture.md", "docs/theory.md", "docs/data.md"])
def test_the_readme_links_to_pages_that_exist(link: str) -> None:
    assert f"]({link})" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert (ROOT / link).is_file()


def test_questions_of_a_conversation_are_found_once_they_are_rewritten(capsys: pytest.CaptureFixture[str]) -> None:
    example = runpy.run_path(str(ROOT / "examples" / "search_in_conversation.py"))

    def rewrite(history: list[str], question: str) -> Condensed:
        place = history[0].removeprefix("Tell me about ").removesuffix(" .")
        return Condensed(re.sub(r"\bit\b", place, question), 1.0, True)

    shares = example["main"](rewrite, questions=24)
    assert shares["as asked"] < 0.1
    assert shares["rewritten"] > 0.9
    assert "p99" in capsys.readouterr().out
