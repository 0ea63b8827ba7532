"""Configs and run folders from before defaults were in code: they still open, and mean what they meant."""

import hashlib
import json
from pathlib import Path

import pytest

from friend_training.experiments.results import settings_id
from friend_training.runs.run import Run
from friend_training.study.config import CHANGED_DEFAULTS, find_config, load_config, parse_config, recorded_form
from friend_training.study.folders import remember_methods, run_config

CONFIGS = Path(__file__).parents[2] / "configs"

OLD = """\
name: embedded-few-shot
seed: 1
threads: 1
methods: [base, multitask-base, base-same-steps, sst, mt, cps, scot, stbr, stea, fdt, base-full, fdt-s, fdt-sf,
          sst-as-many, fdt-shuffled, random-as-many, bridge-labels, bridge-alone]

data:
  kind: embedded
  domain: film
  target: film
  csrl_labels: 300
  rewriting_labels: 500
  dev: 300
  test: 1000
  pool: 4000
  bridge_sentences: 4000

encoder:
  kind: scratch
  layers: 2
  width: 128
  heads: 4
  dropout: 0.1

bridge:
  kind: trained
  steps: 1000
  patience: null
  dev: 300
bridge_training: &training
  batch_size: 16
  encoder_rate: 0.001
  head_rate: 0.001
  weight_decay: 0.01
  warm_up: 0.1
  clip: 1.0
  look_every: 75
  early_stopping_units: 300
  labelling_pieces: 8192

max_length: 125
predicate_mark: after
span_source: dialogue
iterations: 2
shard_size: 500

tasks:
  csrl:
    base_steps: 600
    base_patience: null
    update_steps: 150
    restart: false
    pseudo_weight: 1.0
    pick_threshold: 0.85
    sst_threshold: 0.8
    confidence_weight: 0.2
    content: only
    training: *training
  rewriting:
    base_steps: 600
    base_patience: null
    update_steps: 150
    restart: false
    pseudo_weight: 1.0
    pick_threshold: 0.7
    sst_threshold: 0.8
    confidence_weight: 0.5
    content: only
    training: *training

friendship:
  scoring: paper
  mean: geometric
  speakers: keep
"""
"""embedded-few-shot.yaml as it was shipped when every value was written out."""

BEFORE = {
    "all-labels": "f4bc1c74093ca2da",
    "domain-generalisation-iterated": "7a55bfc92c55c2d6",
    "domain-generalisation": "aba9ee7c776cd3a1",
    "few-shot-informed": "d6b0b817b68d99b6",
    "few-shot-iterated": "bf8d0bfb7dba4e9c",
    "few-shot": "c1029a68ab0d5130",
    "paper-domain-generalisation": "c93b72385d1972ad",
    "paper-few-shot": "ec863d82bdfc94e7",
    "synthetic-domain-generalisation": "279e12db248d7701",
    "synthetic-few-shot": "12196b0d1cfd604f",
}
"""Digests of the shipped configs as results are recorded with them, which settings that came later leave as it was."""

DECIDED_SINCE = [f"{key}={value}" for key, value in CHANGED_DEFAULTS.items()]
ONLY_THIS_SINCE = {"domain-generalisation-iterated", "few-shot-iterated"}
"""Configs that had all but one of the decided settings before they were everybody's."""


def pins(name: str) -> list[str]:
    """What an experiment sets to have the settings that its results are recorded with."""
    return ["predicate_as_argument=allowed"] if name in ONLY_THIS_SINCE else DECIDED_SINCE


def test_an_old_config_is_read_and_has_its_id() -> None:
    old, now = parse_config(OLD, "old"), find_config("synthetic-few-shot")
    assert old == now.model_copy(update={"name": "embedded-few-shot"})
    assert find_config("embedded-few-shot") == now
    as_recorded = parse_config(OLD, "old", pins("synthetic-few-shot"))
    assert settings_id(as_recorded.model_dump(mode="json")) == "2e4f9a7a5073", "under which results are recorded"
    assert settings_id(now.model_dump(mode="json")) != "2e4f9a7a5073", "other decoding, other results"


def test_an_old_run_folder_opens_and_takes_more_methods(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", OLD.replace("fdt-sf,", ""), {})
    assert run_config(run.folder).data.kind == "synthetic"
    remember_methods(run, find_config("synthetic-few-shot", DECIDED_SINCE))
    assert "fdt-sf" in run_config(run.folder).methods


@pytest.mark.parametrize("name", BEFORE)
def test_a_short_config_means_what_the_long_one_did(name: str) -> None:
    path = CONFIGS / f"{name.replace('paper-', 'paper/')}.yaml"
    config = load_config(path, pins(name)) if path.is_file() else find_config(name, pins(name))
    values = json.dumps(recorded_form(config.model_dump(mode="json")), sort_keys=True)
    assert hashlib.sha256(values.encode()).hexdigest()[:16] == BEFORE[name]


def test_old_values_can_be_set() -> None:
    assert find_config("demo", ["data={kind: embedded, pool: 5}"]).data.kind == "synthetic"
