"""What the tests of the command share: a study that takes seconds, and what the command said."""

from collections.abc import Callable
from typing import NamedTuple

CORPUS = 60
"""Synthetic training dialogues per task in these tests: the real number takes seconds to make."""

TINY = """\
name: tiny
seed: 1
threads: 1
methods: [base, fdt]
data:
  {kind: synthetic, domain: film, target: film, csrl_labels: 30, rewriting_labels: 30, dev: 10, test: 10, pool: 30,
   bridge_sentences: 100}
encoder: {kind: scratch, layers: 1, width: 32, heads: 2, dropout: 0.1}
bridge: {kind: trained, steps: 10, patience: null, dev: 10}
bridge_training: &training
  {batch_size: 8, encoder_rate: 0.001, head_rate: 0.001, weight_decay: 0.01, warm_up: 0.1, clip: 1.0, look_every: 10,
   early_stopping_units: 10, labelling_pieces: 4096}
max_length: 125
predicate_mark: after
span_source: dialogue
iterations: 1
shard_size: 20
tasks:
  csrl: &task
    {base_steps: 10, base_patience: 2, update_steps: 10, restart: false, pseudo_weight: 1.0, pick_threshold: 0.5,
     sst_threshold: 0.5, confidence_weight: 0.2, content: any, training: *training}
  rewriting: *task
friendship: {scoring: paper, mean: geometric, speakers: keep}
"""


class Said(NamedTuple):
    code: int
    out: str
    err: str


FriendTrain = Callable[..., Said]
