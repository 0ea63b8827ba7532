"""report.html: what is in it, that its numbers are those of the store, and that nothing in it can do harm."""

import re
import shutil
from pathlib import Path

import pyarrow.compute as pc
import pytest

from friend_training.core.selector import Nothing, Random, Threshold, TopN, TotalAgreement
from friend_training.errors import RunError
from friend_training.report.page import write_report
from friend_training.report.pseudo_labels import GRID
from friend_training.runs.run import Run
from helpers.made_runs import EVIL, THRESHOLDS, Page, evaluate, made_classifiers, made_study


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_study(tmp_path_factory.mktemp("report") / "study")


@pytest.fixture(scope="module")
def html(study: Path) -> str:
    path = write_report(study)
    assert path == study / "report.html"
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


def _page(folder: Path) -> Page:
    return Page(write_report(folder).read_text(encoding="utf-8"))


def test_it_is_one_file_that_loads_nothing(html: str, page: Page) -> None:
    assert html.startswith("<!doctype html>")
    assert not re.search(r"https?:|//[a-z]|@import|url\(|<link|<script", html)
    assert all((value or "").startswith("#") for name, value in page.attributes if name == "href")
    assert not {"src", "onerror", "onload", "onclick"} & {name for name, _ in page.attributes}
    assert "default-src 'none'" in html


def test_what_dialogues_contain_stays_text(page: Page, html: str) -> None:
    assert not {"script", "img", "b2"} & set(page.tags)
    assert "onerror" in page.text, "the text is there"
    assert EVIL in page.text
    assert page.tags.count("i") == len(re.findall(r"<i class", html)), "only our own bars are <i>, no speaker is"
    assert page.open == []


def test_every_method_stands_side_by_side(page: Page) -> None:
    rows = {row[0]: row for row in page.rows if len(row) == 5}
    assert rows["Base"] == ["Base", "42.5", "41.5", "42.5", "41.5"]
    assert rows["FDT"] == ["FDT", "45.2", "44.2", "45.2", "44.2"]
    assert rows["bridge alone"] == ["bridge alone", "13.0", "12.5", "–", "–"]
    assert ["FDT", "40.0", "45.0", "44.0"] in page.rows, "dev by iteration"
    assert "FDT takes csrl from 41.5 to 44.2 F1, and takes rewriting from 41.5 to 44.2 F1." in page.text
    assert "Self-training alone has 42.5. The strongest control, bridge alone, has 12.5." in page.text
    assert "No control was run: whether it was the friend that helped cannot be told." in page.text, "of rewriting"


def test_counts_are_those_of_the_store(study: Path, page: Page) -> None:
    for method, words in (("fdt", "FDT"), ("sst", "SST")):
        store = Run.open(study / "methods" / method).store
        for iteration in (1, 2):
            rows = store.read(iteration).to_pylist()
            for task in THRESHOLDS:
                units = [row for row in rows if row["task"] == task]
                chosen = [row for row in units if row["chosen"]]
                assert chosen
                right = sum(row["correct"] for row in chosen) / len(chosen)
                [found] = [row for row in page.rows if row[:3] == [words, task, str(iteration)]]
                assert found[3:5] == [f"{len(units):,}", f"{len(chosen):,}"]
                assert found[7] == f"{100 * right:.1f} %"
    assert "score below threshold" in page.text


def test_other_thresholds_are_counted_directly(study: Path, page: Page) -> None:
    store = Run.open(study / "methods" / "fdt").store
    tables = iter([row for row in page.rows if re.fullmatch(r"[01]\.\d\d", row[0] if row else "")])
    for task, used in THRESHOLDS.items():
        for threshold in GRID:
            row = next(tables)
            assert row[0] == f"{threshold:.2f}"
            for place, iteration in ((1, 1), (4, 2)):
                units = [unit for unit in store.read(iteration).to_pylist() if unit["task"] == task]
                now = sum(unit["chosen"] for unit in units)
                would = [
                    unit
                    for unit in units
                    if unit["content"] and unit["overall"] is not None and unit["overall"] >= threshold
                ]
                share = f"{100 * sum(unit['correct'] for unit in would) / len(would):.1f} %" if would else "–"
                difference = len(would) - now
                assert row[place : place + 3] == [
                    str(len(would)),
                    f"{difference:+}".replace("-", "−") if difference else "",
                    share,
                ]
                assert (len(would) == now) or threshold != used
    instead = sum(
        row["overall"] is not None and row["overall"] >= 0.7 and row["content"] and row["task"] == "csrl"
        for row in store.read(2).to_pylist()
    )
    assert f"At 0.70: {instead} instead of " in page.text


def test_settings_data_machine_and_costs(study: Path, page: Page) -> None:
    rows = {row[0]: row[1:] for row in page.rows if row}
    assert rows["tasks.csrl"] == ["pick_threshold 0.6"]
    assert rows["seed"] == ["7"]
    assert rows["pool <x>"] == ["ab" * 8]
    assert rows["python"][0].startswith("3.")
    assert "made <b>up</b>" in page.text
    assert "labelling the pool, iteration 2, 1 shard" in rows
    assert rows["encoder and bridge"][-1].endswith(" MB")


def test_examples_are_drawn_with_marks(html: str, page: Page) -> None:
    assert '<span class="role role-0">' in html
    assert '<span class="predicate">买</span>' in html
    assert '<ins class="inserted">&lt;script&gt;' in html
    assert '<del class="deleted">他</del>' in html
    assert "✓ right" in page.text
    assert "✗ wrong" in page.text
    for kind in ("Chosen", "Rejected by match", "Rejected by confidence"):
        assert re.search(rf"{kind}: \d+ of \d+", page.text)


def test_gold_is_beside_what_was_chosen(page: Page) -> None:
    [row] = [row for row in page.rows if row[:2] == ["ARG1", "75.0 %"]]
    assert len(row) == 4
    assert any(row[:2] == ["unchanged", "50.0 %"] for row in page.rows)


def test_a_method_of_a_study_has_a_report_of_its_own(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "sst.html"
    assert write_report(study / "methods" / "sst", out) == out
    page = Page(out.read_text(encoding="utf-8"))
    assert "made <b>up</b>: SST" in page.text
    assert EVIL in page.text, "it finds the texts of its study"
    assert "Confidence against match" not in page.text, "SST has no friend to match"
    assert "rejected by confidence" in page.text.lower()


def test_a_run_of_plain_labels(tmp_path: Path) -> None:
    made_classifiers(tmp_path / "run", pick=Threshold(0.5))
    page = _page(tmp_path / "run")
    assert "run has 0.875 accuracy on test." in page.text
    assert "gold labels are not known" in page.text
    assert "What the scores are worth" not in page.text
    assert {"happy", "sad", EVIL} <= {row[0] for row in page.rows if row}, "each class is a kind of label"
    assert f"review 1 {EVIL}" in page.text
    assert not {"script", "img"} & set(page.tags)


@pytest.mark.parametrize("pick", [TotalAgreement(), TopN(5), Random(5, seed=1), Nothing(), Threshold(2.0)])
def test_every_way_to_pick(tmp_path: Path, pick: object) -> None:
    run = made_classifiers(tmp_path / "run", pick=pick, audited=True, kept=False)
    page = _page(tmp_path / "run")
    chosen = pc.sum(run.store.read(1)["chosen"]).as_py()
    [row] = [row for row in page.rows if row[:3] == ["run", "mood", "1"]]
    assert row[4] == str(chosen)
    assert "What the scores are worth" in page.text
    shown = re.search(r"Chosen: (\d+) of (\d+)", page.text)
    assert shown is not None
    assert (int(shown[1]), int(shown[2])) == (min(20, chosen), chosen)


def test_runs_that_have_only_begun(study: Path, tmp_path: Path) -> None:
    Run.create(tmp_path / "new", "", {})
    text = _page(tmp_path / "new").text
    assert "This run is not finished" in text
    assert "Nothing has been tested yet" in text
    begun = Path(shutil.copytree(study, tmp_path / "begun"))
    (begun / "results.jsonl").unlink()
    shutil.rmtree(begun / "methods" / "sst")
    text = _page(begun).text
    assert "This run is not finished" in text
    assert "FDT takes csrl from 41.5 to 44.2 F1" in text
    assert "Self-training alone" not in text
    evaluated = Run.create(tmp_path / "evaluated", "", {})
    evaluate(evaluated, "mood", [0.5], 0.25)
    assert "not finished" not in _page(tmp_path / "evaluated").text


def test_the_same_run_gives_the_same_page(study: Path, tmp_path: Path) -> None:
    first, second = (write_report(study, tmp_path / name).read_bytes() for name in ("a.html", "b.html"))
    assert first == second
    assert not list(tmp_path.glob("*.tmp"))


def test_folders_that_are_no_runs_or_damaged(study: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="not a run folder"):
        write_report(tmp_path)
    damaged = Path(shutil.copytree(study, tmp_path / "damaged"))
    (damaged / "results.jsonl").write_text("{", encoding="utf-8")
    with pytest.raises(RunError, match=r"results\.jsonl:1: expected a record, one JSON object per line"):
        write_report(damaged)
