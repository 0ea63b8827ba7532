"""The benchmark of growth: its loads are what they say, a tiny measurement leaves its records, medians are by size."""

from pathlib import Path

import growth
import growth_loads
import growth_records
import pytest

from friend_training.data.synthetic import Domain, generate
from friend_training.friendships.csrl_rewriting import csrl_rewriting

MADE = generate(20, seed=5, domain=Domain.FILM)
DIALOGUES = [one.dialogue for one in MADE]


@pytest.mark.parametrize("count", [1, 2, 16])
def test_longer_dialogues_end_in_the_same_utterance(count: int) -> None:
    longer = growth_loads.with_turns(DIALOGUES, count)
    assert [len(one.turns) for one in longer] == [count] * len(DIALOGUES)
    assert [one.utterance for one in longer] == [one.utterance for one in DIALOGUES]
    assert [one.id for one in longer] == [one.id for one in DIALOGUES]
    if count == 16:
        assert longer[1].turns[-len(DIALOGUES[1].turns) - 1] == DIALOGUES[0].turns[-1]


def test_as_many_predicates_as_asked_for_and_the_same_dialogues() -> None:
    asked = {count: growth_loads.with_predicates(DIALOGUES, count, longest=8) for count in (1, 8)}
    assert [one.id for one in asked[1]] == [one.id for one in asked[8]]
    assert 0 < len(asked[8]) <= len(DIALOGUES)
    for one in asked[8]:
        assert len({predicate.start for predicate in one.predicates}) == 8
        assert max(predicate.end for predicate in one.predicates) <= len(one.utterance.text)


def test_gold_agrees_with_gold() -> None:
    made = {one.dialogue.id: one for one in MADE}
    tasks = growth_loads.gold_tasks(made)
    friendship = csrl_rewriting(growth_loads.GoldBridge(made))
    matches = friendship.match(DIALOGUES, *(tasks[name].predict(DIALOGUES) for name in ("csrl", "rewriting")))
    scores = [score for match in matches for score in match.first if score is not None]
    assert sum(scores) / len(scores) > 0.8


def test_points_are_medians_of_the_last_run() -> None:
    def record(run: str, size: int, cpu: float) -> growth_records.Record:
        return growth_records.Record(
            run=run,
            round=0,
            what=growth_records.TURNS,
            way="csrl",
            encoder="e",
            size=size,
            dialogues=10,
            units=20,
            pieces=30.0,
            seconds=9.0,
            cpu_seconds=cpu,
            added_mb=None,
            stored=4000,
            cores=2,
            load=0.0,
        )

    rows = [record("a", 2, 100.0), *(record("b", 2, cpu) for cpu in (1.0, 2.0, 50.0)), record("b", 4, 4.0)]
    (points,) = growth_records.curves(rows).values()
    assert [(point.size, point.ms_per_dialogue, point.rounds) for point in points] == [(2, 200.0, 3), (4, 400.0, 1)]
    assert points[0].units_per_second == 10.0
    assert points[0].bytes_per_unit == 200.0


def test_a_tiny_measurement(
    tmp_path: Path, tiny_encoder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growth, "TAUGHT_STEPS", 2)
    results = tmp_path / "growth.jsonl"
    size = ["--dialogues", "6", "--stored", "30", "--selected", "3000", "--rounds", "1", "--encoder", str(tiny_encoder)]
    growth.main([*size, "--results", str(results)])
    records = growth_records.read(results)
    turns = [r for r in records if (r.what, r.way) == (growth_records.TURNS, "csrl")]
    assert [r.size for r in turns] == list(growth.TURN_COUNTS)
    lengths = [r.pieces or 0.0 for r in turns]
    assert lengths == sorted(lengths)
    assert lengths[-1] <= 125
    predicates = [r for r in records if (r.what, r.way) == (growth_records.PREDICATES, "marked in the input")]
    assert [r.units // r.dialogues for r in predicates] == list(growth.PREDICATE_COUNTS)
    (stored,) = [r for r in records if r.what == growth_records.STORE]
    assert stored.units > 30
    assert stored.stored is not None
    assert stored.stored > 10 * stored.units
    selected = {r.way: r.units for r in records if r.what == growth_records.SELECTION}
    assert selected.keys() == {"threshold", "share", "share, balanced"}
    assert all(units >= 3000 for units in selected.values())
    assert all(r.cpu_seconds > 0 for r in records)
    assert capsys.readouterr().out.count("| matching |") == 2
