"""A question before a search: rewritten or left, from a run, over HTTP, and from a folder that has left the run."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from friend_training import load, load_rewriter
from friend_training.core.task import Prediction
from friend_training.data.jsonl import write_jsonl
from friend_training.errors import ConfigError, DataError
from friend_training.inference.answers import RewriteMade, left_unless_sure
from friend_training.inference.condense import Asked, Condensed, condense
from friend_training.inference.export import export_model
from friend_training.inference.trained_tasks import TrainedTasks
from friend_training.study.config import parse_config
from friend_training.study.study import run_study
from friend_training.types import CoreferenceExample, Dialogue, Mention, Rewrite, RewritingExample, Turn
from friend_training.web.service.app import make_tasks_app

CONFIG = """
name: condensing
tasks:
  rewriting: {kind: rewriting-by-words, encoder: ENCODER, gold: r.jsonl, dev: r.jsonl, test: r.jsonl, base_steps: 2}
  coreference: {kind: coreference, encoder: ENCODER, gold: l.jsonl, dev: l.jsonl, test: l.jsonl, base_steps: 2}
friendships: [{kind: coreference-rewriting, first: rewriting, second: coreference}]
pool: {file: pool.jsonl}
methods: [base]
"""
HISTORY, QUESTION = ["call ann", "which ann ?"], "tell her"


class Rewriter:
    """Says "tell ann", as sure as it is told to be."""

    name, label_type = "rewriting", Rewrite

    def __init__(self, confidence: float, text: str = "tell ann") -> None:
        self.confidence, self.text = confidence, text

    def predict(self, inputs: Sequence[Dialogue]) -> list[list[Prediction]]:
        return [[Prediction(one.id, Rewrite(self.text), self.confidence)] for one in inputs]


def condensed(task: Any, unless_sure: float = 0.0) -> Condensed:
    return condense(task, [Asked(HISTORY, QUESTION, unless_sure)])[0]


def test_a_rewrite_that_is_not_sure_enough_is_not_made() -> None:
    assert condensed(Rewriter(0.7)) == Condensed("tell ann", 0.7, True)
    assert condensed(Rewriter(0.7), 0.7) == Condensed("tell ann", 0.7, True)
    assert condensed(Rewriter(0.7), 0.8) == Condensed(QUESTION, pytest.approx(0.3), False)
    assert condensed(Rewriter(0.6, QUESTION), 0.8) == Condensed(QUESTION, 0.6, False)
    with pytest.raises(DataError, match="unless_sure is 80, expected a probability from 0 to 1"):
        condensed(Rewriter(0.7), 80)


def test_the_same_for_rewrites_of_the_papers_pair() -> None:
    made = RewriteMade("他来了", 0.7, (), ())
    assert left_unless_sure(made, "来了", 0.6) == made
    assert left_unless_sure(made, "来了", 0.8) == RewriteMade("来了", pytest.approx(0.3), (), ())
    assert left_unless_sure(RewriteMade("来了", 0.2, (), ()), "来了", 0.8).confidence == 0.2


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> Path:
    place = tmp_path_factory.mktemp("condensing")
    given = [Dialogue(f"d{n}", (Turn("A", f"call ann {n}"), Turn("B", "tell her"))) for n in range(6)]
    write_jsonl(place / "r.jsonl", [RewritingExample(one, "tell ann") for one in given[:2]])
    write_jsonl(
        place / "l.jsonl", [CoreferenceExample(one, ((Mention(0, 5, 8), Mention(1, 5, 8)),)) for one in given[2:4]]
    )
    write_jsonl(place / "pool.jsonl", given[4:])
    run_study(parse_config(CONFIG.replace("ENCODER", str(tiny_encoder)), "x"), place / "run", data_dir=place)
    return place / "run"


def test_from_the_run_over_http_and_from_a_folder_it_is_the_same(run: Path, tmp_path: Path) -> None:
    models = load(run)
    assert isinstance(models, TrainedTasks)
    found = models.condense(HISTORY, QUESTION)
    with TestClient(make_tasks_app(models), base_url="http://127.0.0.1") as client:
        sent = {"history": HISTORY, "question": QUESTION}
        answer = client.post("/v1/condense", json=sent).json()
        assert answer == {
            "text": found.text,
            "probability": pytest.approx(found.probability, rel=1e-4),
            "changed": found.changed,
        }
        assert client.post("/v1/condense", json=sent | {"unless_sure": 1}).json()["text"] == QUESTION
        assert client.post("/v1/condense", json=sent | {"unless_sure": 2}).status_code == 422
        assert client.post("/v1/condense", json={"history": ["x" * 4001], "question": "why"}).status_code == 422
        assert client.post("/v1/condense", json={"history": [], "question": "  "}).status_code == 422
    export_model(run, "rewriting", tmp_path / "model")
    rewrite = load_rewriter(tmp_path / "model")
    assert rewrite(HISTORY, QUESTION) == found
    assert "load_rewriter" in (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    with pytest.raises(ConfigError, match=r"has no rewriter\.json; expected a rewriter by words"):
        load_rewriter(tmp_path)
