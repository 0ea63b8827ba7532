"""The page in a real browser: a dialogue typed, both answers seen, and markup that stays text."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from friend_training.inference.model import Friends
from friend_training.web.service.app import abilities_of, make_app
from friend_training.web.service.messages import Limits
from helpers import patience
from helpers.chromium import chromium
from helpers.on_a_port import serving

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser: Any, friends: Friends) -> Iterator[Any]:
    with serving(make_app(friends, abilities_of(friends)), Limits()) as port:
        page = browser.new_page(base_url=f"http://127.0.0.1:{port}", viewport={"width": 900, "height": 1000})
        page.set_default_timeout(1000 * patience.ANSWER)
        page.complaints = []
        page.asked = []
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (page.complaints.append("a dialog"), dialog.dismiss()))
        page.on("request", lambda request: page.asked.append(request.url))
        yield page
        page.close()


def _ask(page: Any, *turns: str, predicates: str = "") -> None:
    page.goto("/")
    page.get_by_label("Dialogue").fill("\n".join(turns))
    page.get_by_label("Predicates").first.fill(predicates)
    page.get_by_role("button", name="Ask both friends").click()
    page.wait_for_selector("#answer:not([hidden]), #error:not([hidden])")


def test_both_answers_are_seen(page: Any, tmp_path: Path) -> None:
    _ask(page, "甲：你喜欢喝茶吗？", "乙：他来看你。")
    assert page.locator("#served").inner_text() == "untrained, method fdt"
    assert page.locator("#tabs button").all_inner_texts() == ["来", "看"]
    assert page.locator("#conversation .speaker").all_inner_texts()[-2:] == ["甲", "乙"]
    assert "".join(page.locator("mark.predicate").all_text_contents()) == "来"
    page.get_by_role("button", name="看").click()
    assert "".join(page.locator("mark.predicate").all_text_contents()) == "看"
    assert page.locator("#conversation .said").last.text_content() == "他来看你。"
    kept = page.locator("#edits").evaluate(
        "e => [...e.childNodes].filter(n => n.tagName !== 'DEL').map(n => n.textContent)"
    )
    assert "".join(kept) == page.locator("#rewrite").inner_text()
    assert page.locator("#agreement .compared").count() == 3
    assert "m = 1 − " in page.locator("#agreement").inner_text()
    page.screenshot(path=tmp_path / "service.png", full_page=True)
    assert page.complaints == []
    assert all(url.startswith("http://127.0.0.1:") for url in page.asked), "nothing is loaded from elsewhere"


def test_markup_stays_text(page: Any) -> None:
    evil = "<img src=x onerror=alert(1)><script>alert(2)</script>他来"
    _ask(page, f"<b>甲</b>：{evil}", f"</p>乙：{evil}", predicates="来")
    assert page.locator("#answer").is_visible()
    assert evil in page.locator("#conversation").inner_text()
    assert page.locator("main img, main script, main b").count() == 0
    assert page.complaints == []


def test_what_is_wrong_is_said(page: Any) -> None:
    _ask(page, "他来", predicates="<i>去</i>")
    assert "does not stand in the last turn" in page.get_by_role("alert").inner_text()
    assert page.locator("#answer").is_hidden()
    assert page.locator("main i").count() == 0


def test_the_api_page(page: Any) -> None:
    page.goto("/docs")
    page.wait_for_selector(".endpoint")
    shown = page.locator(".endpoint h2 code").all_inner_texts()
    service = ["/v1/rewrite", "/v1/condense", "/v1/roles", "/v1/agreement", "/v1/batch"]
    assert shown == [*service, "/health", "/metrics"]
    assert page.complaints == []
    assert all(url.startswith("http://127.0.0.1:") for url in page.asked)
