"""Every page at two widths, light and dark: nothing is cut, and a picture of each is there to be looked at.

The pictures go to FRIEND_TRAINING_PICTURES, or nowhere that lasts; FRIEND_TRAINING_SHOWN is a finished run that they
show, by default small made ones. Those in docs/pictures are these, of a longer run on the demo's dialogues.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from friend_training import load
from friend_training.report.page import write_report
from friend_training.web.service.app import abilities_of, make_app
from friend_training.web.service.messages import Limits
from helpers import patience
from helpers.chromium import chromium
from helpers.made_runs import made_study
from helpers.on_a_port import serving
from helpers.on_the_inspector import served
from helpers.small_run import small_study
from helpers.untrained_run import make_run

pytestmark = pytest.mark.browser
SITE = Path(__file__).parents[2] / "site" / "index.html"
SHOWN = os.environ.get("FRIEND_TRAINING_SHOWN")
DIALOGUE = "A：你喜欢《沉默的情书》吗？\nB：当然了，我上周六早上还推荐给他了。"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> Iterator[dict[str, str]]:
    """Where each page is."""
    folder = tmp_path_factory.mktemp("shown")
    shown = Path(SHOWN) if SHOWN else None
    friends = load(shown or make_run(folder / "run", tiny_encoder))
    report = write_report(shown or made_study(folder / "made"), folder / "report.html")
    with ExitStack() as stack:
        inspector = stack.enter_context(served(shown or small_study(folder / "small")))
        port = stack.enter_context(serving(make_app(friends, abilities_of(friends)), Limits()))
        pages = {"report": report.as_uri(), "inspector": inspector, "service": f"http://127.0.0.1:{port}/"}
        yield pages | ({"home": SITE.as_uri()} if SITE.is_file() else {})


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["report", "inspector", "service", "home"])
def test_nothing_is_cut(
    browser: Any, addresses: dict[str, str], tmp_path: Path, name: str, width: int, scheme: str
) -> None:
    if name not in addresses:
        pytest.skip("the site is not built; `make docs` builds it")
    page = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page.set_default_timeout(1000 * patience.ANSWER)
    page.goto(addresses[name])
    if name == "inspector":
        page.wait_for_selector("#decision")
        page.wait_for_selector("section.part")
    if name == "service":
        page.get_by_label("Dialogue").fill(DIALOGUE)
        page.get_by_label("Predicates").first.fill("推荐")
        page.get_by_role("button", name="Ask both friends").click()
        page.wait_for_selector("#answer:not([hidden])")
    page.screenshot(path=Path(os.environ.get("FRIEND_TRAINING_PICTURES", tmp_path)) / f"{name}-{width}-{scheme}.png")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    if name == "report":
        # A table of more columns than a phone has room for may scroll, where it is opened by hand.
        cut = """() => [...document.querySelectorAll('.scroll')]
            .filter(one => one.clientWidth < one.scrollWidth && !one.closest('details'))
            .map(one => one.innerText.slice(0, 80))"""
        assert page.evaluate(cut) == []
    page.close()
