"""What the server answers: what is asked for, and one clear line for whatever it cannot make sense of."""

import io
import json

import pyarrow.parquet as pq
import pytest
from fastapi.testclient import TestClient

from friend_training.analysis.audit import questions
from friend_training.runs.corrections import Correction, read_corrections, save_correction
from friend_training.runs.inputs import save_gold
from friend_training.types import Argument, Predicate, Roles
from friend_training.web.inspector.app import MAX_BODY, make_app
from friend_training.web.inspector.run_view import look_at

CSRL = {"task": "csrl", "iteration": 1}
REWRITING = {"task": "rewriting", "iteration": 1}


def listed(client, **wanted):
    answer = client.get("/api/units", params=wanted)
    assert answer.status_code == 200, answer.text
    return [unit["unit"] for unit in answer.json()["units"]]


def post(client, **said):
    return client.post("/api/corrections", json={**CSRL, **said})


def test_the_page_and_what_it_loads(client):
    for path, kind in [
        ("/", "text/html"),
        *((f"/static/{name}.js", "javascript") for name in ("inspector", "queue")),
        ("/static/inspector.css", "css"),
    ]:
        answer = client.get(path)
        assert answer.status_code == 200
        assert kind in answer.headers["content-type"]
        assert "default-src 'self'" in answer.headers["content-security-policy"]
        assert "http://" not in answer.text.replace("http://www.w3.org/2000/svg", ""), "no outside address"
        assert "https://" not in answer.text
        assert "innerHTML" not in answer.text


def test_the_run(client):
    run = client.get("/api/run").json()
    assert (run["name"], run["method"], run["iterations"], run["texts"]) == ("small", "FDT", [1], "ready")
    assert run["tasks"] == [{"name": "csrl", "units": 5}, {"name": "rewriting", "units": 5}]
    assert run["finished"] is False, "a second iteration is to come"


def test_the_selection_of_the_run_and_of_the_sliders(client):
    run = client.get("/api/selection", params=CSRL).json()
    assert (run["chosen"], run["precision"], run["reasons"]) == (
        2,
        0.0,  # d2 is wrong, of the other nobody knows
        {"chosen": 2, "no content": 1, "score below threshold": 2},
    )
    assert run["recorded"]["setting"] == {
        "confidence_weight": 0.2,
        "threshold": 0.75,
        "content": "only",
        "unmatched": "reject",
    }
    moved = client.get("/api/selection", params={**CSRL, "confidence_weight": 1, "threshold": 0.65}).json()
    assert (moved["chosen"], moved["precision"], moved["recorded"]["chosen"]) == (3, 1.0, 2)
    bars = moved["histogram"]
    assert sum(map(sum, bars["chosen"].values())) == 3
    assert sum(map(sum, bars["rejected"].values())) == 2


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"chosen": True}, ["d2|6-7", "d3|0-1"]),
        ({"chosen": False}, ["d1|2-4", "d3|2-4", "<b>d5</b>|0-2"]),
        ({"reason": "no content"}, ["d3|2-4"]),
        ({"correct": "right"}, ["d1|2-4"]),
        ({"correct": "unknown"}, ["d3|0-1", "d3|2-4"]),
        ({"confidence_from": 0.7, "confidence_to": 0.9}, ["d1|2-4", "d3|0-1"]),
        ({"match_from": 0.9}, ["d2|6-7", "d3|2-4"]),
        ({"overall_to": 0.5}, ["<b>d5</b>|0-2"]),
        ({"search": "红茶"}, ["d1|2-4"]),
        ({"search": "D3|2"}, ["d3|2-4"]),
        ({"search": "ONERROR"}, ["<b>d5</b>|0-2"]),
        ({"sort": "confidence"}, ["d3|2-4", "d1|2-4", "d3|0-1", "d2|6-7", "<b>d5</b>|0-2"]),
        ({"sort": "match", "descending": False}, ["<b>d5</b>|0-2", "d1|2-4", "d3|0-1", "d2|6-7", "d3|2-4"]),
        ({"size": 2, "page": 1}, ["d3|0-1", "d3|2-4"]),
        ({"page": 9}, []),
        ({"chosen": True, "confidence_weight": 1, "threshold": 0.65, "content": "only"}, ["d1|2-4", "d3|0-1"]),
    ],
)
def test_filters(client, wanted, expected):
    assert listed(client, **CSRL, **wanted) == expected


def test_a_unit_without_a_match_comes_last_and_is_in_no_range(client):
    assert listed(client, **REWRITING, sort="match")[-1] == "d4"
    assert "d4" not in listed(client, **REWRITING, match_from=0)


def test_one_unit_of_roles(client):
    unit = client.get("/api/unit", params={**CSRL, "unit": "d1|2-4"}).json()
    assert unit["given"]["turns"][0] == {"speaker": "A", "text": "你喜欢红茶吗"}
    assert {(m["turn"], m["start"], m["end"], m["what"]) for m in unit["marks"]} == {
        (1, 0, 1, "ARG0"),
        (0, 3, 5, "ARG1"),
        (1, 2, 4, "predicate"),
    }
    assert unit["recorded"]["matches"] == {"csrl-rewriting": 0.5}
    assert [friend["task"] for friend in unit["friends"]] == ["rewriting"]
    assert "cannot be used" in unit["not_compared"], "this config is no study's: it says why nothing is compared"


def test_hidden_gold_stands_beside_a_label(client, study):
    assert client.get("/api/unit", params={**CSRL, "unit": "d1|2-4"}).json()["gold"] is None, "this run has saved none"
    right = Roles(Predicate(2, 4), (Argument("ARG1", 0, 3, 5),))
    save_gold(study, {}, {"csrl": {"d1|2-4": right}})
    with TestClient(make_app(look_at(study)), base_url="http://127.0.0.1:8747") as asking:
        gold = asking.get("/api/unit", params={**CSRL, "unit": "d1|2-4"}).json()["gold"]
    assert (gold["kind"], gold["says"]) == ("roles", [["predicate", "喜欢"], ["ARG1", "红茶"]])


def test_one_unit_of_rewriting(client):
    unit = client.get("/api/unit", params={**REWRITING, "unit": "d2"}).json()
    assert [(piece["kind"], piece["text"]) for piece in unit["edits"]] == [
        ("inserted", "小林"),
        ("deleted", "他"),
        ("kept", "🎈什么时候去的"),
    ]


def test_exports_are_what_is_listed(client, study):
    save_correction(study / "methods" / "fdt", Correction("rewriting", "d3", "corrected", {"text": "x"}))
    wanted = {**REWRITING, "chosen": True}
    lines = client.get("/api/export", params=wanted)
    assert 'filename="fdt-rewriting-iteration-1.jsonl"' in lines.headers["content-disposition"]
    rows = [json.loads(line) for line in lines.text.splitlines()]
    assert [row["unit"] for row in rows] == listed(client, **wanted)
    assert [row["label"]["text"] for row in rows] == ["我很喜欢红茶", "x"], "corrected by hand"
    assert rows[0]["data"]["turns"][1]["text"] == "我很喜欢"
    assert rows[1]["reason"] == "corrected by hand"
    table = pq.read_table(io.BytesIO(client.get("/api/export", params={**wanted, "format": "parquet"}).content))
    assert table["unit"].to_pylist() == [row["unit"] for row in rows]
    assert [json.loads(label) for label in table["label"].to_pylist()] == [row["label"] for row in rows]


def test_an_empty_export_is_an_empty_file(client):
    wanted = {**CSRL, "search": "nowhere to be found"}
    assert client.get("/api/export", params=wanted).text == ""
    table = pq.read_table(io.BytesIO(client.get("/api/export", params={**wanted, "format": "parquet"}).content))
    assert len(table) == 0


def test_by_hand_the_count_changes_and_the_run_folder_keeps_it(client, study):
    def chosen():
        return client.get("/api/selection", params=CSRL).json()["chosen"]

    assert chosen() == 2
    assert post(client, unit="d1|2-4", verdict="accepted").status_code == 200
    assert chosen() == 3
    arguments = [{"role": "ARG1", "turn": 0, "start": 1, "end": 3}, {"role": "ARG0", "turn": 1, "start": -1, "end": 0}]
    answer = post(client, unit="d2|6-7", verdict="corrected", label=arguments)
    assert answer.json()["label"] == {"predicate": {"start": 6, "end": 7}, "arguments": arguments[::-1]}
    assert post(client, unit="d3|0-1", verdict="rejected").status_code == 200
    assert chosen() == 2
    assert listed(client, **CSRL, by_hand=True) == ["d1|2-4", "d2|6-7", "d3|0-1"]
    kept = read_corrections(study / "methods" / "fdt")
    assert [(one.unit, one.verdict) for one in kept] == [
        ("d1|2-4", "accepted"),
        ("d2|6-7", "corrected"),
        ("d3|0-1", "rejected"),
    ]
    assert kept[0].label["arguments"][1] == {"role": "ARG1", "turn": 0, "start": 3, "end": 5}
    assert post(client, unit="d3|0-1", verdict="withdrawn").status_code == 200
    assert chosen() == 3


def test_a_rewrite_is_corrected_by_its_text(client):
    said = {**REWRITING, "unit": "d1", "verdict": "corrected", "label": "我很喜欢茶"}
    answer = client.post("/api/corrections", json=said)
    assert answer.json()["label"]["insertions"] == [{"before": 4, "turn": 0, "start": 4, "end": 5}]
    refused = client.post("/api/corrections", json={**said, "label": "我很喜欢咖啡"})
    assert (refused.status_code, "cannot be built" in refused.json()["error"]) == (422, True)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"verdict": "corrected"}, "needs the right one"),
        ({"verdict": "accepted", "label": []}, "only a corrected unit"),
        ({"verdict": "corrected", "label": "text"}, "label"),
        ({"verdict": "corrected", "label": [{"role": "ARG9", "turn": 0, "start": 0, "end": 1}]}, "none of ARG0"),
        ({"verdict": "corrected", "label": [{"role": "ARG0", "turn": 7, "start": 0, "end": 1}]}, "no turn 7"),
        ({"verdict": "corrected", "label": [{"role": "ARG0", "turn": -1, "start": 0, "end": 1}]}, "no turn -1"),
        ({"verdict": "corrected", "label": [{"role": "ARG0", "turn": 0, "start": 2, "end": 99}]}, "no span of turn 0"),
        (
            {"verdict": "corrected", "label": [{"role": r, "turn": 0, "start": 1, "end": 3} for r in ("ARG0", "ARG1")]},
            "overlap",
        ),
    ],
)
def test_labels_that_cannot_be_are_refused_and_not_kept(client, study, said, message):
    answer = post(client, unit="d1|2-4", **said)
    assert (answer.status_code, message in answer.json()["error"]) == (422, True), answer.text
    assert read_corrections(study / "methods" / "fdt") == []


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("/api/units", 422, "task: is missing"),
        ("/api/units?task=csrl&iteration=one", 422, "iteration"),
        ("/api/units?task=csrl&iteration=9", 422, "there is no iteration 9; there are [1]"),
        ("/api/units?task=none&iteration=1", 422, "there are csrl, rewriting"),
        ("/api/units?task=csrl&iteration=1&size=1000000", 422, "size"),
        ("/api/units?task=csrl&iteration=1&page=-1", 422, "page"),
        ("/api/units?task=csrl&iteration=1&confidence_from=nan", 422, "confidence_from"),
        ("/api/units?task=csrl&iteration=1&sort=label", 422, "sort"),
        ("/api/units?task=csrl&iteration=1&colour=red", 422, "colour"),
        ("/api/units?task=csrl&iteration=1&search=" + 300 * "x", 422, "search"),
        ("/api/selection?task=csrl&iteration=1&threshold=0.5", 422, "confidence_weight and threshold"),
        ("/api/selection?task=csrl&iteration=1&threshold=2&confidence_weight=0", 422, "threshold"),
        ("/api/unit?task=csrl&iteration=1&unit=../../etc/passwd", 404, "no unit of this name"),
        ("/api/unit?task=..%2F..%2Fetc&iteration=1&unit=x", 422, "there is no task"),
        ("/api/export?task=csrl&iteration=1&format=exe", 422, "format"),
        ("/api/nothing", 404, "Not Found"),
        ("/static/..%2fapp.py", 404, "Not Found"),
        ("/static/%2e%2e/%2e%2e/guard.py", 404, "Not Found"),
        ("/docs", 404, "Not Found"),
        ("/openapi.json", 404, "Not Found"),
    ],
)
def test_bad_questions_get_one_clear_line(client, path, status, message):
    answer = client.get(path)
    assert answer.status_code == status, answer.text
    assert message in answer.json()["error"]
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{broken", 422),
        (b"", 422),
        (b"[]", 422),
        (b'{"task": "csrl"}', 422),
        (b'{"task":"csrl","iteration":1,"unit":"d1|2-4","verdict":"maybe"}', 422),
        (b'{"task":"csrl","iteration":1,"unit":"d1|2-4","verdict":"rejected","more":1}', 422),
        (b'{"task":"csrl","iteration":1,"unit":"nobody","verdict":"rejected"}', 404),
        (b'{"task":"csrl","iteration":1,"unit":"\\ud800","verdict":"rejected"}', 422),
        (b'{"task":"csrl","iteration":1,"unit":"d1|2-4","verdict":"corrected","label":"\\ud800"}', 422),
        (b'{"task":"rewriting","iteration":1,"unit":"d1","verdict":"corrected","label":"\\ud800"}', 422),
        (b'{"task":"csrl","iteration":1e400,"unit":"d1|2-4","verdict":"rejected"}', 422),
        (b"\xff\xfe", 422),
        (b"[" * 200_000, 400),
    ],
)
def test_broken_bodies(client, study, body, status):
    answer = client.post("/api/corrections", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]
    assert "Traceback" not in answer.text
    assert read_corrections(study / "methods" / "fdt") == []


def test_a_body_that_is_too_large_is_not_read(client):
    answer = client.post("/api/corrections", content=b" " * (MAX_BODY + 1))
    assert (answer.status_code, "larger" in answer.json()["error"]) == (413, True)


def test_what_goes_wrong_inside_is_not_shown(client, look, monkeypatch):
    monkeypatch.setattr(look.reader, "iterations", lambda: 1 / 0)
    answer = client.get("/api/run")
    assert (answer.status_code, "division" in answer.text) == (500, False)
    assert answer.json()["error"]


def test_corrections_that_somebody_broke_by_hand_are_told(client, study):
    (study / "methods" / "fdt" / "corrections.jsonl").write_text("{}\n", encoding="utf-8")
    answer = client.get("/api/selection", params=CSRL)
    assert (answer.status_code, "corrections.jsonl:1" in answer.json()["error"]) == (422, True)


def test_with_a_token_nothing_is_answered_without_it(study):
    from fastapi.testclient import TestClient

    token = "a token of some length".replace(" ", "-")
    with TestClient(make_app(look_at(study), token), base_url="http://example.test") as client:
        for path in ("/", "/api/run", "/static/inspector.js"):
            assert client.get(path).status_code == 401
        assert client.get("/", params={"token": token}).status_code == 200, "the cookie is there from now on"
        assert client.get("/api/run").status_code == 200


# The queue: what friend-train ask would ask, and what the answers say.


def queued(client, **wanted):
    answer = client.get("/api/queue", params={**REWRITING, **wanted})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_queue_is_what_the_command_asks(client, look):
    units = look.reader.of("rewriting", 1)
    asked = questions(units.rows.append_column("label", units.labels["label"]), 3, audit=1, seed=0)
    found = queued(client, n=3, audit=1)
    assert [(unit["unit"], unit["why"]) for unit in found["units"]] == [(one.unit, one.why) for one in asked]
    assert {unit["why"] for unit in found["units"]} == {"random check", "tells most"}
    assert all(unit["correct"] is None for unit in found["units"]), "whoever is asked is not told"
    assert queued(client, n=0, audit=0)["units"] == []


def test_what_was_answered_leaves_the_queue_and_tells_the_precision(client):
    before = queued(client)
    assert "how precisely is not known" in before["audit"]
    checks = [unit["unit"] for unit in before["units"] if unit["why"] == "random check"]
    for unit, verdict in zip(checks, ("accepted", "rejected"), strict=True):
        assert client.post("/api/corrections", json={**REWRITING, "unit": unit, "verdict": verdict}).status_code == 200
    after = queued(client)
    assert not set(checks) & {unit["unit"] for unit in after["units"]}
    assert "50.0% of them right" in after["audit"]
    client.post("/api/corrections", json={**REWRITING, "unit": checks[0], "verdict": "withdrawn"})
    assert checks[0] in {unit["unit"] for unit in queued(client)["units"]}


@pytest.mark.parametrize("wrong", [{"n": -1}, {"audit": 501}, {"within": 0}, {"task": "parsing"}, {"sort": "match"}])
def test_a_queue_that_cannot_be_is_refused(client, wrong):
    answer = client.get("/api/queue", params={**REWRITING, **wrong})
    assert 400 <= answer.status_code < 500
    assert answer.json()["error"]
