"""The paper's pair by FriendTrainer: dialogues as examples, dicts or files become a run that every command can read."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from friend_training import Csrl, FriendTrainedModel, FriendTrainer, Rewriting, load, rewriting_friendship
from friend_training.cli.main import main
from friend_training.data.jsonl import to_line, write_jsonl
from friend_training.data.synthetic import Domain, csrl_examples, generate, rewriting_examples
from friend_training.errors import ConfigError, DataError, RunError
from friend_training.inference.model import Friends
from friend_training.nn.encoder import open_encoder
from friend_training.nn.training import TrainingSettings
from friend_training.runs.run import Run
from friend_training.study.config import CaseStudyConfig, parse_config
from friend_training.study.folders import method_folder, run_config
from friend_training.tasks.csrl.task import srl_task
from friend_training.trainer import FriendTrainingResult

MADE = {part: generate(12, seed=seed, domain=Domain.FILM) for seed, part in enumerate(("gold", "dev", "test", "pool"))}
ROLES = {part: [one for one in csrl_examples(made) if one.roles] for part, made in MADE.items()}
REWRITES = {part: rewriting_examples(made) for part, made in MADE.items()}
POOL = [one.dialogue for one in MADE["pool"]]
SETTINGS = {"base_steps": 4, "update_steps": 3, "pick_threshold": 0.0, "content": "any"}


@pytest.fixture(scope="module")
def bridge(tiny_encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    task, folder = srl_task(tiny_encoder, TrainingSettings(), device="cpu"), tmp_path_factory.mktemp("bridge")
    torch.manual_seed(0)
    task.network = task.definition.network(open_encoder(tiny_encoder))
    task.save(folder)
    return folder


def trainer(folder: Path, encoder: Path, bridge: Path, **changes: Any) -> FriendTrainer:
    roles = {part: ROLES[part] for part in ("gold", "dev", "test")} | changes.pop("roles", {})
    rewrites = {part: REWRITES[part] for part in ("gold", "dev", "test")}
    given: dict[str, Any] = {"seeds": (1,), "iterations": 1, "settings": SETTINGS, "progress": False, "device": "cpu"}
    return FriendTrainer(
        tasks=[
            Csrl(encoder=encoder, repeated_roles="joined", **roles),
            Rewriting(encoder=encoder, turns=2, **rewrites),
        ],
        friendships=[rewriting_friendship(bridge, scoring="role-aware")],
        folder=folder,
        **given | changes,
    )


@pytest.fixture(scope="module")
def result(tiny_encoder: Path, bridge: Path, tmp_path_factory: pytest.TempPathFactory) -> FriendTrainingResult:
    folder = tmp_path_factory.mktemp("pair") / "run"
    methods = ("base", "sst", "fdt", "friend-labels", "bridge-alone")
    return trainer(folder, tiny_encoder, bridge).fit(POOL, compare=methods)


def test_the_run_is_one_of_the_papers_pair(result: FriendTrainingResult) -> None:
    config = run_config(result.runs[1])
    assert isinstance(config, CaseStudyConfig)
    assert (config.repeated_roles, config.rewriting_turns, config.friendship.scoring) == ("joined", 2, "role-aware")
    assert config.tasks.csrl.base_steps == 4
    store = Run.open(method_folder(result.runs[1], "fdt")).store
    assert {row["input"] for row in store.read(1, ["input"]).to_pylist()} == {one.id for one in POOL}


def test_the_result_has_baselines_and_controls_and_says_what_could_not_be(result: FriendTrainingResult) -> None:
    told = str(result)
    assert all(title in told for title in ("Base", "SST", "FDT", "bridge alone"))
    assert "friend's labels: –, csrl-rewriting: what one task predicts cannot be said as a label of the other" in told
    assert (result.main_metric("csrl"), result.main_metric("rewriting")) == ("f1", "em")
    assert max(len(line) for line in told.splitlines() if "minus" not in line and "Warning" not in line) <= 110


def test_models_answer_as_those_of_any_run_of_the_pair(result: FriendTrainingResult, tmp_path: Path) -> None:
    friends = load(result.runs[1])
    assert isinstance(friends, Friends)
    assert friends.agreement(POOL[0])
    folder = result.best("rewriting").save_pretrained(tmp_path / "rewriting")
    model = FriendTrainedModel.from_pretrained(str(folder))
    assert model.rewrite(POOL[0]).text == friends.rewrite(POOL[0]).text
    assert "license: other" in (folder / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["resume", "verify", "diagnose"])
def test_a_command_goes_on_with_it_and_finds_its_files(
    command: str, result: FriendTrainingResult, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        main([command, str(result.runs[1])])
    assert not stopped.value.code


def test_dicts_and_files_are_the_same_examples(
    result: FriendTrainingResult, tiny_encoder: Path, bridge: Path, tmp_path: Path
) -> None:
    """The folder is the same, so what is not the same would be refused."""
    write_jsonl(tmp_path / "dev.jsonl", ROLES["dev"])
    roles = {"gold": [json.loads(to_line(one)) for one in ROLES["gold"]], "dev": tmp_path / "dev.jsonl"}
    again = trainer(result.folder, tiny_encoder, bridge, roles=roles)
    pool = [json.loads(to_line(one)) for one in POOL]
    assert again.fit(pool, compare=("base", "fdt")).rows() == [
        row for row in result.rows() if row["method"] in ("base", "fdt")
    ]
    with pytest.raises(RunError, match="made with other pool"):
        again.fit(pool[:6], compare=("base", "fdt"))


def test_check_matches_gold_of_both_tasks(tiny_encoder: Path, bridge: Path, tmp_path: Path) -> None:
    [found] = trainer(tmp_path / "run", tiny_encoder, bridge).check().friendships
    assert found.gold is not None
    assert found.gold.texts >= 12
    assert found.gold.match is not None
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"roles": {"gold": ["a text"]}}, DataError, r"csrl-gold:1: expected CsrlExamples or mappings, found 'a text'"),
        ({"roles": {"gold": [{"id": "1", "turns": []}]}}, DataError, "csrl-gold:1: "),
        ({"roles": {"gold": REWRITES["gold"]}}, DataError, "expected CsrlExamples"),
    ],
)
def test_what_is_no_dialogue_is_told(
    tiny_encoder: Path, bridge: Path, tmp_path: Path, changes: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        trainer(tmp_path, tiny_encoder, bridge, **changes).fit(POOL)


def test_a_folder_without_a_bridge_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="expected the folder of a bridge"):
        rewriting_friendship(tmp_path)


# The same pair in a config, listed by kinds.


KINDS = """
name: pair
tasks:
  csrl: {kind: csrl, encoder: tiny, gold: a.jsonl, dev: b.jsonl, test: c.jsonl, predicate_mark: input, base_steps: 7}
  rewriting: {kind: rewriting, encoder: tiny, gold: d.jsonl, dev: e.jsonl, test: f.jsonl, metric: restored_f1}
friendships:
  - {kind: csrl-rewriting, first: csrl, second: rewriting, bridge: {kind: saved, source: there}, speakers: drop}
pool: {file: g.jsonl}
methods: [base, fdt]
"""


def test_a_config_that_lists_the_pair_by_kinds_is_the_pairs_config() -> None:
    config = parse_config(KINDS, "pair.yaml", ["tasks.csrl.update_steps=3"])
    assert isinstance(config, CaseStudyConfig)
    files = config.data.model_dump(exclude={"kind"})
    assert list(files.values()) == [f"{letter}.jsonl" for letter in "abcdefg"]
    assert config.encoder.model_dump() == {"kind": "pretrained", "source": "tiny"}
    assert (config.predicate_mark, config.rewriting_metric, config.friendship.speakers) == (
        "input",
        "restored_f1",
        "drop",
    )
    assert (config.tasks.csrl.base_steps, config.tasks.csrl.update_steps) == (7, 3)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  rewriting: {kind: rewriting", "  other: {kind: rewriting", "a pair with the same names"),
        ("gold: a.jsonl, ", "", "tasks.csrl.gold: a file of labelled examples is needed"),
        ("encoder: tiny, gold: d", "encoder: another, gold: d", "share an encoder, so it must be the same"),
        ("pool: {file: g.jsonl}", "pool: {}", "pool.file: a file of unlabeled dialogues"),
        ("kind: csrl-rewriting", "kind: labels", "csrl and rewriting have one, {kind: csrl-rewriting"),
        ("metric: restored_f1", "metrics: x", "tasks.rewriting.metrics"),
    ],
)
def test_what_is_wrong_in_it_is_told(old: str, new: str, message: str) -> None:
    assert old in KINDS
    with pytest.raises(ConfigError, match=message):
        parse_config(KINDS.replace(old, new), "pair.yaml")
