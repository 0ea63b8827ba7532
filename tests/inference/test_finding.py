"""Which finder a run uses where nobody names predicates."""

from pathlib import Path

import pytest

from friend_training.bridges.bridge import FramedVerbFinder, LexiconFinder
from friend_training.inference.predicates import default_finder
from friend_training.runs.inputs import save_inputs
from friend_training.types import Dialogue, Turn
from helpers.tiny_config import tiny_config
from helpers.untrained_run import POOL

PUBLIC = (
    "data={kind: public, scenario: few-shot, csrl_labels: 1, rewriting_labels: 1, dev: 1, pool: 1,"
    " finder: ltp-framed-verbs, ltp: LTP}"
)


@pytest.fixture
def ltp(tmp_path: Path) -> Path:
    from helpers.tiny_ltp import save_tiny_ltp

    save_tiny_ltp(tmp_path / "ltp")
    return tmp_path / "ltp"


def test_the_words_of_the_pool_that_the_run_keeps(tmp_path: Path) -> None:
    save_inputs(tmp_path, POOL)
    finder = default_finder(tmp_path, tiny_config(), ltp=None)
    assert isinstance(finder, LexiconFinder)
    assert finder.words == {"喜欢", "来", "看"}


def test_embedded_dialogues_are_made_again(tmp_path: Path) -> None:
    finder = default_finder(tmp_path, tiny_config(), ltp=None)
    assert isinstance(finder, LexiconFinder)
    assert finder.words


def test_a_parser_comes_first(tmp_path: Path, ltp: Path) -> None:
    save_inputs(tmp_path, POOL)
    assert isinstance(default_finder(tmp_path, tiny_config(), ltp=ltp), FramedVerbFinder)
    by_bridge = tiny_config(f"bridge={{kind: ltp, source: {ltp}}}")
    assert isinstance(default_finder(tmp_path, by_bridge, ltp=None), FramedVerbFinder)
    assert isinstance(
        default_finder(tmp_path, tiny_config(PUBLIC.replace("LTP", str(ltp))), ltp=None), FramedVerbFinder
    )


def test_nothing_to_make_a_finder_of(tmp_path: Path) -> None:
    gone = tiny_config(PUBLIC.replace("LTP", "nowhere/at/all"))
    assert default_finder(tmp_path, gone, ltp=None) is None
    save_inputs(tmp_path, [Dialogue("1", (Turn("A", "没有谓词"),))])
    assert default_finder(tmp_path, gone, ltp=None) is None
