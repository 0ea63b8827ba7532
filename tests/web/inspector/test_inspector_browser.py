"""The page in a real browser: look, filter, move a slider, correct a label; and no text of a run is ever executed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from friend_training.core.selector import Selector, Threshold
from friend_training.runs.corrections import read_corrections
from friend_training.runs.inputs import save_gold
from friend_training.runs.run import Run
from friend_training.runs.store import LABELLED
from friend_training.types import Predicate, Rewrite, Roles, Words
from helpers import patience
from helpers.chromium import chromium
from helpers.on_the_inspector import served
from helpers.small_run import MARKUP, write_run

pytestmark = pytest.mark.browser
MILLISECONDS = 1000 * patience.ANSWER


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.fixture
def address(study: Path) -> Iterator[str]:
    with served(study) as here:
        yield here


class Tab:
    """A page with all that went wrong on it, and all that it asked for."""

    def __init__(self, browser: Any, address: str) -> None:
        self.page = browser.new_page(viewport={"width": 1400, "height": 900})
        self.page.set_default_timeout(MILLISECONDS)
        self.problems: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda said: self.problems.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("dialog", lambda dialog: self.problems.append(dialog.message))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(address)
        self.page.wait_for_selector("#decision")

    def chosen(self, expected: str) -> None:
        self.page.wait_for_function("n => document.getElementById('chosen').textContent === n", arg=expected)

    def listed(self, expected: list[str]) -> None:
        script = "n => JSON.stringify([...document.querySelectorAll('#units li')].map(li => li.dataset.unit)) === n"
        self.page.wait_for_function(script, arg=json.dumps(expected, ensure_ascii=False, separators=(",", ":")))

    def show(self, unit: str) -> None:
        self.page.click(f'#units li[data-unit="{unit}"]')
        self.page.wait_for_function("n => document.querySelector('.head .id')?.textContent === n", arg=unit)

    def task(self, name: str) -> None:
        self.page.click(f'[data-task="{name}"]')
        self.page.wait_for_selector("#decision")


@pytest.fixture
def tab(browser: Any, address: str) -> Iterator[Tab]:
    opened = Tab(browser, address)
    yield opened
    assert opened.problems == []
    assert all(url.startswith(address) for url in opened.asked), "nothing is loaded from elsewhere"
    opened.page.close()


def test_a_unit_is_drawn_in_its_dialogue(tab: Tab) -> None:
    tab.chosen("2")
    assert tab.page.inner_text("#run-name") == "small"
    tab.show("d1|2-4")
    assert tab.page.locator(".turn").count() == 2
    assert tab.page.inner_text(".conversation .ARG1") == "红茶"
    assert tab.page.inner_text(".conversation .ARG0") == "我"
    assert tab.page.inner_text(".conversation .predicate") == "喜欢"
    assert "score below threshold" in tab.page.inner_text("#decision")
    assert "right by hidden gold" in tab.page.inner_text(".head")


def test_a_slow_unit_says_that_it_is_being_read(tab: Tab) -> None:
    """The first unit of a large run waits for its texts: an empty column looks broken."""
    held: list[Any] = []
    tab.page.route("**/api/unit?*", lambda route: held.append(route))
    tab.page.click('#units li[data-unit="d1|2-4"]')
    tab.page.wait_for_selector("#detail [role=status]")
    held[0].continue_()
    tab.page.wait_for_selector(".conversation .ARG1")
    assert tab.page.locator("#detail [role=status]").count() == 0


def test_marks_stand_right_where_there_are_emoji_and_bare_speakers(tab: Tab) -> None:
    tab.show("d2|6-7")
    assert tab.page.inner_text(".conversation .ARG0") == "小林"
    assert tab.page.inner_text(".conversation .TMP") == "什么时候"
    tab.show("d3|0-1")
    assert tab.page.inner_text(".speaker.ARG0") == "B"
    tab.show("<b>d5</b>|0-2")
    assert tab.page.locator(".turn").count() == 3, "the opening turn of whoever has not spoken yet"


def test_a_rewrite_shows_what_goes_and_comes(tab: Tab) -> None:
    tab.task("rewriting")
    tab.listed(["d1", "d2", "d3", "d4", "<b>d5</b>"])
    tab.show("d2")
    assert tab.page.inner_text("ins.inserted") == "小林"
    assert tab.page.inner_text("del.deleted") == "他"
    assert tab.page.inner_text(".conversation .source") == "小林"


def test_filters_narrow_the_list(tab: Tab) -> None:
    tab.page.fill("#search", "红茶")
    tab.listed(["d1|2-4"])
    tab.page.click("#filter button[type=reset]")
    tab.page.select_option("#filter-reason", "no content")
    tab.listed(["d3|2-4"])
    tab.page.select_option("#filter-reason", "")
    tab.page.fill("#confidence_from", "0.65")
    tab.page.select_option("#sort", "confidence")
    tab.listed(["d3|2-4", "d1|2-4", "d3|0-1"])
    assert tab.page.get_attribute("#export-jsonl", "href").count("confidence_from=0.65") == 1


def test_an_export_is_downloaded(tab: Tab) -> None:
    tab.page.select_option("#filter-chosen", "true")
    tab.listed(["d2|6-7", "d3|0-1"])
    with tab.page.expect_download() as loading:
        tab.page.click("#export-jsonl")
    lines = Path(loading.value.path()).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["unit"] for line in lines] == ["d2|6-7", "d3|0-1"]


def test_a_slider_selects_anew_at_once(tab: Tab) -> None:
    tab.chosen("2")
    tab.page.fill("#threshold", "0.2")
    tab.chosen("3")
    assert "(+1)" in tab.page.inner_text("#against-run")
    tab.page.fill("#weight", "1")
    tab.chosen("4")
    tab.page.uncheck("#content")
    tab.chosen("5")
    tab.page.click("#reset")
    tab.chosen("2")
    assert tab.page.input_value("#threshold") == "0.75"


def test_accepting_rejecting_and_taking_back(tab: Tab, study: Path) -> None:
    tab.chosen("2")
    tab.show("d1|2-4")
    tab.page.click("#accept")
    tab.chosen("3")
    assert tab.page.inner_text("#verdict") == "accepted by hand"
    tab.page.keyboard.press("x")
    tab.chosen("2")
    tab.page.click("#withdraw")
    tab.page.wait_for_selector("#verdict", state="detached")
    kept = read_corrections(study / "methods" / "fdt")
    assert [one.verdict for one in kept] == ["accepted", "rejected", "withdrawn"]


SELECT = """([turn, start, end]) => {
  const text = document.querySelector(`.bubble[data-turn="${turn}"] [data-start]`).firstChild;
  const range = document.createRange();
  range.setStart(text, start); range.setEnd(text, end);
  const selection = window.getSelection(); selection.removeAllRanges(); selection.addRange(range);
}"""


def test_roles_are_corrected_by_selecting_words(tab: Tab, study: Path) -> None:
    tab.chosen("2")
    tab.show("d2|6-7")
    tab.page.click("#edit")
    for _ in range(2):
        tab.page.locator(".arguments button").first.click()
    # 😀小林去了海边: two code units of the browser for the emoji, one character for us.
    tab.page.evaluate(SELECT, [0, 2, 4])
    tab.page.click('[data-add="ARG1"]')
    assert tab.page.inner_text(".conversation .ARG1") == "小林"
    tab.page.click('.speaker[data-turn="1"]')
    tab.page.click('[data-add="ARG0"]')
    tab.page.click("#save")
    tab.page.wait_for_selector("#verdict")
    [kept] = read_corrections(study / "methods" / "fdt")
    assert kept.verdict == "corrected"
    assert kept.label == {
        "predicate": {"start": 6, "end": 7},
        "arguments": [
            {"role": "ARG0", "turn": 1, "start": -1, "end": 0},
            {"role": "ARG1", "turn": 0, "start": 1, "end": 3},
        ],
    }
    tab.chosen("2")


def test_a_rewrite_is_corrected_by_typing(browser: Any, address: str, study: Path) -> None:
    tab = Tab(browser, address)
    tab.task("rewriting")
    tab.chosen("2")
    tab.show("d2")
    tab.page.keyboard.press("e")
    tab.page.fill(".editor textarea", "老王什么时候去的")
    tab.page.click("#save")
    tab.page.wait_for_selector("#problem:not([hidden])")
    assert "cannot be built" in tab.page.inner_text("#problem")
    tab.page.fill(".editor textarea", "小林什么时候去的海边")
    tab.page.click("#save")
    tab.chosen("3")
    assert tab.page.is_hidden("#problem")
    [kept] = read_corrections(study / "methods" / "fdt")
    assert kept.label["text"] == "小林什么时候去的海边"
    tab.page.close()


def test_markup_in_a_run_is_text_and_nothing_else(tab: Tab) -> None:
    tab.show("<b>d5</b>|0-2")
    assert MARKUP in tab.page.inner_text(".conversation")
    assert "<i>A</i>" in tab.page.inner_text(".conversation")
    tab.task("rewriting")
    tab.show("<b>d5</b>")
    tab.page.evaluate("() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    assert tab.page.title() == "small · inspector"
    assert tab.page.locator("img, b, #detail script, #units script").count() == 0


def test_light_and_dark(tab: Tab) -> None:
    def ground() -> str:
        return str(tab.page.evaluate("getComputedStyle(document.body).backgroundColor"))

    before = ground()
    tab.page.click("#theme")
    assert ground() != before


def test_with_a_token_the_printed_address_opens_the_page(browser: Any, study: Path) -> None:
    with served(study, "0123456789abcdef") as address:
        tab = Tab(browser, f"{address}/?token=0123456789abcdef")
        tab.chosen("2")
        assert "token" not in tab.page.url
        tab.show("d1|2-4")
        tab.page.click("#accept")
        tab.chosen("3")
        tab.page.close()


WORDS = ("The", "<b>dog</b>", "chased", "it")
TREE = {
    "brackets": [
        {"start": 0, "end": 4, "label": "S"},
        {"start": 0, "end": 2, "label": "NP"},
        {"start": 2, "end": 4, "label": "VP"},
    ],
    "tags": ["DT", "NN", "VBD", "PRP"],
}
HEADS = {"heads": [2, 3, 0, 3], "relations": ["det", "nsubj", "root", "obj"]}


def test_trees_are_drawn(browser: Any, tmp_path: Path) -> None:
    rows = [
        {
            "unit": "s1",
            "input": "s1",
            "task": task,
            "label": json.dumps(label),
            "confidence": 0.9,
            "content": True,
            "match": 1.0,
            "matches": [("pair", 1.0)],
            "correct": None,
        }
        for task, label in [("constituency", TREE), ("dependency", HEADS)]
    ]
    selectors = {name: Selector(Threshold(0.5), 0.2) for name in ("constituency", "dependency")}
    table = pa.Table.from_pylist(rows, schema=LABELLED)
    study = write_run(tmp_path / "parses", table, selectors, [Words("s1", WORDS)])
    with served(study) as address:
        tab = Tab(browser, address)
        drawn = tab.page.locator("svg.tree")
        assert drawn.count() == 2, "the unit's own tree and its friend's"
        assert tab.page.locator("svg.tree .phrase").count() == 3
        assert tab.page.locator("svg.tree .edge").count() == 4
        texts = drawn.nth(0).locator("text").all_text_contents()
        assert set(texts) == {"S", "NP", "VP", *TREE["tags"], *WORDS}
        heights = {
            text: drawn.nth(0).locator(f'text:text-is("{text}")').bounding_box()["y"] for text in ("S", "NP", "DT")
        }
        assert heights["S"] < heights["NP"] < heights["DT"]
        assert tab.problems == []
        tab.page.close()


def test_the_queue_is_answered_by_keys(tab: Tab, study: Path) -> None:
    """Answered units leave it, the next one is shown at once, and the last one can be had again."""
    tab.chosen("2")
    tab.page.click("#queue")
    tab.page.wait_for_function("() => document.getElementById('found').textContent.includes('to look at')")
    asked = [item.get_attribute("data-unit") for item in tab.page.locator("#units li").all()]
    assert "random check" in tab.page.inner_text("#units li:first-child .why")
    assert "by hidden gold" not in tab.page.inner_text("#detail")

    def shows(unit: str | None) -> None:
        tab.page.wait_for_function("n => document.querySelector('.head .id')?.textContent === n", arg=unit)

    shows(asked[0])
    tab.page.keyboard.press("a")
    tab.listed(asked[1:])
    shows(asked[1])
    tab.page.keyboard.press("n")
    shows(asked[2])
    tab.page.keyboard.press("x")
    tab.listed([asked[1], *asked[3:]])
    tab.page.keyboard.press("u")
    shows(asked[2])
    assert tab.page.inner_text("#verdict") == "rejected by hand"
    kept = read_corrections(study / "methods" / "fdt")
    assert [(one.unit, one.verdict) for one in kept] == [(asked[0], "accepted"), (asked[2], "rejected")]
    tab.page.click("#queue")
    tab.page.wait_for_function("() => document.getElementById('found').textContent === '5 units'")


def test_an_empty_queue_says_so(tab: Tab) -> None:
    tab.page.click("#queue")
    tab.page.wait_for_function("() => document.getElementById('found').textContent.includes('to look at')")
    while left := tab.page.locator("#units li").count():
        # The unit before it stays in view until this one has come; a key pressed then is of that one.
        first = tab.page.locator("#units li").first.get_attribute("data-unit")
        tab.page.wait_for_function("n => document.querySelector('.head .id')?.textContent === n", arg=first)
        tab.page.keyboard.press("a")
        tab.page.wait_for_function("n => document.querySelectorAll('#units li').length === n", arg=left - 1)
    assert "Nothing is left to look at" in tab.page.inner_text("#detail")
    assert "known to ±0.05" in tab.page.inner_text("#audit")


def test_on_a_phone_nothing_is_cut_and_the_unit_comes_into_view(tab: Tab) -> None:
    tab.page.set_viewport_size({"width": 390, "height": 844})
    assert tab.page.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert not tab.page.is_visible("#weight"), "the sliders are folded away"
    tab.page.click("#panel")
    assert tab.page.is_visible("#weight")
    assert tab.page.evaluate("() => document.documentElement.scrollWidth") <= 390
    tab.page.click("#panel")
    tab.page.click("#units li")
    tab.page.wait_for_function("() => document.getElementById('detail').getBoundingClientRect().top < innerHeight / 2")


def test_what_is_right_stands_beside_what_is_wrong(browser: Any, study: Path) -> None:
    rows = Run.open(study / "methods" / "fdt").store.read(1).to_pylist()
    wrong = next(row for row in rows if row["correct"] is False)
    right = Rewrite("对") if wrong["task"] == "rewriting" else Roles(Predicate(2, 4), ())
    save_gold(study, {}, {wrong["task"]: {wrong["unit"]: right}})
    with served(study) as address:
        opened = Tab(browser, address)
        opened.task(wrong["task"])
        opened.show(wrong["unit"])
        assert "Hidden gold" in opened.page.inner_text("#detail")
        assert opened.problems == []
        opened.page.close()
