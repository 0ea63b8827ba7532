"""The benchmark of engines, tiny: what it measures is the same work, and its table says so."""

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import engines


def test_a_measurement_and_its_row(tmp_path: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    made = tmp_path / "made"
    made.mkdir()
    engines.make_models(made)
    engines.make_pool(made / "pool-24", 24)
    first, again = (engines.measure("here", 24, 10, made, Path(str(tmp_path / name))) for name in ("first", "again"))
    assert first.store == again.store
    assert first.units > 24
    results = tmp_path / "engines.jsonl"
    records = [replace(first, what="overhead"), replace(again, what="overhead", engine="local-2", workers_peak_mb=9.0)]
    results.write_text("".join(json.dumps(asdict(record)) + "\n" for record in records))
    engines.main(["show", "--results", str(results)])
    rows = capsys.readouterr().out.splitlines()[2:]
    assert [row.split("|")[3].strip() for row in rows] == ["here", "local-2"]
    assert all(first.store[:8] in row for row in rows)
