"""Every view of both pages, clicked through in a real browser, with texts of an attacker in every field."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from friend_training.core.selector import Selector, Threshold
from friend_training.inference.model import Friends, load
from friend_training.runs.store import LABELLED
from friend_training.types import Dialogue, Predicate, Turn, Words
from friend_training.web.service.app import abilities_of, make_app
from friend_training.web.service.messages import Limits
from helpers import patience, small_run
from helpers.chromium import chromium
from helpers.on_a_port import serving
from helpers.on_the_inspector import served
from helpers.untrained_run import make_run

pytestmark = pytest.mark.browser

MARKUP = "<script>document.title='in'</script><img src=x onerror=\"document.title='in'\">"
TRICKS = "</textarea></style>\"'`&lt;b&gt;[/bold]${7*7}{{7*7}}\\ %00"
BACKWARDS = "\u202eabc\u2066\u200f"
LONG = "长word" * 60
HOSTILE = f"{MARKUP}{TRICKS}{BACKWARDS}{LONG}"
NAME = f"n{MARKUP}{BACKWARDS}{LONG}"
OTHER = f"\"'<b>other</b>{BACKWARDS}"
"""The name of a task."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


TOO_WIDE = """() => document.documentElement.scrollWidth <= document.documentElement.clientWidth ? [] :
  [...document.body.querySelectorAll('*')].filter((one) => one.getBoundingClientRect().right > window.innerWidth)
    .map((one) => `${one.tagName}#${one.id}.${one.className}`)"""


class Page:
    """A page on which nothing may ever run, look as if it were ours, or push the rest away."""

    def __init__(self, browser: Any, address: str) -> None:
        self.page = browser.new_page(viewport={"width": 1400, "height": 900}, base_url=address)
        self.page.set_default_timeout(1000 * patience.ANSWER)
        self.problems: list[str] = []
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.problems.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda asked: asked.url.startswith(address) or self.problems.append(asked.url))

    def _said(self, message: Any) -> None:
        if message.type == "error" and "Failed to load resource" not in message.text:  # what was refused
            self.problems.append(message.text)

    def check(self, view: str) -> None:
        page = self.page
        page.evaluate("() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
        assert self.problems == [], view
        assert page.title() != "in", view
        assert page.locator("body img, body script, body b, body style").count() == 0, view
        assert page.evaluate(TOO_WIDE) == [], f"{view}: a long word makes the page wider than the window"


def row(task: str, unit: str, given: str, label: Any) -> dict[str, Any]:
    scores = {"confidence": 0.9, "content": True, "match": 0.8, "matches": [(HOSTILE, 0.8)], "correct": None}
    return {"unit": unit, "input": given, "task": task, "label": json.dumps(label)} | scores


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Labels of every kind that a page draws."""
    said = f"看见{HOSTILE}"
    dialogue = Dialogue(f"d{HOSTILE}", (Turn(f"A{HOSTILE}", said), Turn(f"B{HOSTILE}", said)), (Predicate(0, 2),))
    words = Words(f"w{HOSTILE}", (HOSTILE, LONG, BACKWARDS))
    roles = {
        "predicate": {"start": 0, "end": 2},
        "arguments": [
            {"role": "ARG0", "turn": 0, "start": -1, "end": 0},
            {"role": "ARG1", "turn": 0, "start": 2, "end": len(said)},
        ],
    }
    insertion = {"before": 0, "turn": 0, "start": 0, "end": len(said)}
    rewrite = {"text": said + said[1:], "deleted": [0], "insertions": [insertion]}
    whole = {"start": 0, "end": 3, "label": HOSTILE}
    labels = {
        "csrl": (dialogue.id, roles),
        "rewriting": (dialogue.id, rewrite),
        "constituency": (words.id, {"brackets": [whole], "tags": [HOSTILE] * 3}),
        "dependency": (words.id, {"heads": [0, 1, 1], "relations": [HOSTILE] * 3}),
        "tagging": (words.id, {"tags": [HOSTILE] * 3}),
        OTHER: (words.id, HOSTILE),
    }
    rows = [row(task, f"{given}|u", given, label) for task, (given, label) in labels.items()]
    monkeypatch.setattr(small_run, "CONFIG", small_run.CONFIG | {"name": NAME})
    selectors = {task: Selector(Threshold(0.5), 0.2) for task in labels}
    table = pa.Table.from_pylist(rows, schema=LABELLED)
    return small_run.write_run(tmp_path / "hostile", table, selectors, [dialogue, words])


def test_the_inspector(browser: Any, study: Path) -> None:
    with served(study) as address:
        tab = Page(browser, address)
        page = tab.page
        page.goto("/")
        page.wait_for_selector("#decision")
        tab.check("the first view")
        assert "<script>" in page.title(), "the run's name is told as it is"
        for number in range(page.locator("#tasks [data-task]").count()):
            button = page.locator("#tasks [data-task]").nth(number)
            task = button.get_attribute("data-task")
            button.click()
            page.locator("#units li").first.click()
            page.wait_for_selector("#decision")
            tab.check(task)
            for verdict in ("#accept", "#reject"):
                page.click(verdict)
                page.wait_for_selector("#verdict")
                tab.check(f"{task} {verdict}")
            page.click("#edit")
            page.wait_for_selector(".editor")
            tab.check(f"{task}, the editor")
            if page.locator(".editor textarea").count():
                page.fill(".editor textarea", json.dumps(HOSTILE))
                page.click("#save")
                page.wait_for_function(
                    "() => !document.querySelector('#problem').hidden || !document.querySelector('.editor')"
                )
                tab.check(f"{task}, corrected")
            else:
                page.locator(".speaker").first.click()
                tab.check(f"{task}, a speaker")
            if page.locator("#cancel").count():
                page.click("#cancel")
            page.click("#withdraw")
            page.wait_for_selector("#verdict", state="detached")
            for kind in ("jsonl", "parquet"):
                asked = page.request.get(address + (page.get_attribute(f"#export-{kind}", "href") or ""))
                assert asked.ok, (task, kind, asked.text())
                assert asked.headers["content-disposition"].startswith("attachment")
        for place in ("#search", "#confidence_from"):
            page.fill(place, HOSTILE[:200] if place == "#search" else "0.1")
            page.wait_for_timeout(200)
            tab.check(place)
        for select in ("#sort", "#filter-chosen", "#filter-correct", "#filter-reason", "#iteration"):
            for value in page.eval_on_selector_all(f"{select} option", "all => all.map(one => one.value)"):
                page.select_option(select, value)
                tab.check(f"{select} {value}")
        for button in ("#direction", "#content", "#reset", "#filter-by-hand", "#theme"):
            page.click(button)
            tab.check(button)
        page.close()


def test_the_page_of_the_service(browser: Any, tmp_path: Path, tiny_encoder: Path) -> None:
    friends = load(make_run(tmp_path / "run", tiny_encoder))
    with serving(make_app(friends, abilities_of(friends)), Limits()) as port:
        tab = Page(browser, f"http://127.0.0.1:{port}")
        page = tab.page
        page.goto("/")
        tab.check("the first view")
        said = HOSTILE[:380].replace("\n", " ")
        for turns, predicates in [
            (f"A{said}\n看见{said}", "看见"),
            (f"<b>甲</b>：{said}\n</p>乙：看见{said}", f"看见,{MARKUP}"),
            (f"看见{said}", f"{BACKWARDS}<i>{LONG}</i>"),
        ]:
            page.fill("#turns", turns)
            page.fill("#predicates", predicates)
            page.get_by_role("button", name="Ask both friends").click()
            page.wait_for_selector("button[type=submit]:enabled")
            tab.check(predicates)
            for number in range(page.locator("#tabs button:visible").count()):
                page.locator("#tabs button:visible").nth(number).click()
                tab.check(f"predicate {number}")
        page.goto("/docs")
        page.wait_for_selector(".endpoint")
        page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
        tab.check("the description of the API")
        page.close()


HOSTILE_ANSWER = HOSTILE[:300]


def test_answers_of_models_are_only_text(browser: Any, tmp_path: Path, tiny_encoder: Path) -> None:
    """Whatever the models of a run from elsewhere may answer."""
    friends: Friends = load(make_run(tmp_path / "run", tiny_encoder))
    with serving(make_app(friends, abilities_of(friends)), Limits()) as port:
        tab = Page(browser, f"http://127.0.0.1:{port}")
        page = tab.page

        def answered(route: Any) -> None:
            answer = route.fetch()
            route.fulfill(json=_with_hostile_texts(answer.json()))

        page.route("**/v1/agreement", answered)
        page.route("**/health", answered)
        page.goto("/")
        page.fill("#turns", "甲看见\n他看见你。")
        page.fill("#predicates", "看见")
        page.get_by_role("button", name="Ask both friends").click()
        page.wait_for_selector("#answer:not([hidden]), #error:not([hidden])")
        tab.check("the answer")
        assert MARKUP in (page.text_content("#rewrite") or "")
        page.close()


def _with_hostile_texts(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with_hostile_texts(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_with_hostile_texts(inner) for inner in value]
    return HOSTILE_ANSWER if isinstance(value, str) else value
