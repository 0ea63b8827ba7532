"""The model of costs: its formulas by hand, and that it tells what was measured from what is assumed."""

from dataclasses import replace
from pathlib import Path

import cost_model
import pytest
from cost_model import Inputs, Number


def number(value: float) -> Number:
    return Number("n", value, "", None)


INPUTS = Inputs(
    csrl_rate=number(50),
    rewriting_rate=number(200),
    bridge_share=number(0.5),
    predicates=number(2),
    ray_overhead=number(0.2),
    open_seconds=number(1e-4),
    select_seconds=number(2e-4),
    csrl_training_rate=number(10),
    rewriting_training_rate=number(50),
    chosen=number(0.1),
    bytes_per_unit=number(100),
    bytes_per_dialogue=number(400),
)


def test_the_formulas() -> None:
    cost = cost_model.predict(INPUTS, 3_600_000, 2)
    assert cost.seconds_per_dialogue == pytest.approx((1 / 50 + 1 / 200) / 0.5 * 1.2)  # 60 ms
    assert cost.label_core_hours == pytest.approx(2 * 1000 * 0.06)
    assert cost.serial_hours == pytest.approx(0.1 + 2 * 0.2)
    assert cost.csrl_training_hours == pytest.approx(2 * 0.1 * 7_200_000 / 10 / 3600)
    assert cost.rewriting_training_hours == pytest.approx(2 * 0.1 * 3_600_000 / 50 / 3600)
    assert cost.store_gb == pytest.approx(3 * 3 * 3_600_000 * 100 / 1e9)
    assert cost.pool_gb == pytest.approx(1.44)


def test_the_report_says_what_is_assumed() -> None:
    measured = replace(INPUTS, csrl_rate=Number("CSRL labels", 50, "dialogues / core s", "`speed.jsonl`"))
    text = cost_model.report(measured, 3_600_000, 2, cores=5)
    assert "| CSRL labels | 50 dialogues / core s | `speed.jsonl` |" in text
    assert text.count("**assumed**") == 11 + 1  # and graphics cards
    assert "| labelling, all iterations | 120 core hours |" in text
    assert "| … on one machine of 5 cores | 24 hours |" in text
    assert "| … machines of 5 cores to label within a day | 1 |" in text
    assert "| 20 | 6.0 hours | 2.0 hours |" in text


def test_rates_come_from_the_records_and_the_rest_is_assumed(tmp_path: Path) -> None:
    recorded = cost_model.RESULTS / "speed.jsonl"
    (tmp_path / "speed.jsonl").write_bytes(recorded.read_bytes())
    inputs = cost_model.inputs_from(tmp_path)
    assert inputs.csrl_rate.measured == "`speed.jsonl`"
    assert inputs.rewriting_rate.value > inputs.csrl_rate.value > 1
    assert inputs.ray_overhead.measured is None
    assert inputs.bytes_per_unit.measured is None


def test_only_what_stands_between_the_marks_changes() -> None:
    page = f"a\n{cost_model.BEGIN}\nold\n{cost_model.END}\nb\n"
    assert cost_model.between_marks(page, "new") == f"a\n{cost_model.BEGIN}\n\nnew\n\n{cost_model.END}\nb\n"
    with pytest.raises(SystemExit, match="cost model: begin"):
        cost_model.between_marks("nothing here", "new")
