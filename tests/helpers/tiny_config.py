"""The one config of the tests, the smallest that still has every phase: a tiny encoder and bridge, a handful of labels,
two shards of pool. Whoever needs it otherwise names the settings that differ."""

from friend_training.study.config import parse_config
from friend_training.study.sections import Config

TRAINING = """
  batch_size: 4
  encoder_rate: 0.003
  head_rate: 0.003
  weight_decay: 0.01
  warm_up: 0.1
  clip: 1.0
  look_every: 4
  early_stopping_units: 20
  labelling_pieces: 600
"""
TASK = """
    base_steps: 12
    base_patience: null
    update_steps: 11
    restart: false
    pseudo_weight: 0.5
    pick_threshold: 0.0
    sst_threshold: 0.0
    confidence_weight: 0.2
    content: any
    training: *training
"""
TEXT = f"""
name: tiny
seed: 1
threads: 1
methods: [base, fdt]
data: {{kind: synthetic, domain: film, target: travel, csrl_labels: 8, rewriting_labels: 8, dev: 6, test: 6, pool: 12,
  bridge_sentences: 30}}
encoder: {{kind: scratch, layers: 1, width: 32, heads: 2, dropout: 0.1}}
bridge: {{kind: trained, steps: 12, patience: null, dev: 5}}
bridge_training: &training{TRAINING}
max_length: 125
predicate_mark: after
span_source: dialogue
iterations: 1
shard_size: 8
tasks:
  csrl:{TASK}
  rewriting:{TASK}
friendship: {{scoring: paper, mean: geometric, speakers: keep}}
"""


DRAWN_FROM = 40
"""So many dialogues to draw gold from, instead of thousands, which take seconds to make."""


def tiny_config(*changes: str) -> Config:
    return parse_config(TEXT, "tiny.yaml", list(changes))
