"""The benchmark of engines, tiny: what it measures is the same work, and its table says so."""

import json
from dataclasses import asdict, replace
from pathlib import Path

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
    rows = [line for line in capsys.readouterr().out.splitlines()[2:] if line.startswith("|")]
    assert [row.split("|")[4].strip() for row in rows] == ["here", "local-2"]
    assert all(first.store[:8] in row for row in rows)


def test_no_text_of_a_pool_occurs_twice(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """Repeated texts would hide whatever remembers texts."""
    monkeypatch.setattr(engines, "DIFFERENT", 5)
    engines.make_pool(tmp_path / "pool", 40)
    lines = [json.loads(line) for line in (tmp_path / "pool" / "000000000.jsonl").read_text().splitlines()]
    assert len(lines) == len({line["id"] for line in lines}) == 40
    first_turns = [line["turns"][0]["text"] for line in lines]
    assert len(set(first_turns)) == 40
    assert first_turns[0][: -engines.MARK_LENGTH] == first_turns[5][: -engines.MARK_LENGTH]
