"""Encoders in bf16: near to fp32, attention in fp32, gradients in fp32, and the setting reaches every network."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from transformers import BertConfig, BertModel

from friend_training.core.task import FitPlan
from friend_training.data.synthetic import Domain, csrl_examples, generate
from friend_training.nn.encoder import ATTENTION, Encoder, compute_in, load_encoder
from friend_training.nn.training import TrainingSettings
from friend_training.tasks.csrl.task import csrl_task

IDS = torch.tensor([[5, 6, 7, 8, 0], [9, 10, 11, 12, 13]])
MASK = torch.tensor([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]])


def small_bert() -> Encoder:
    torch.manual_seed(0)
    shape = BertConfig(vocab_size=20, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32)
    return Encoder(BertModel(shape, add_pooling_layer=False)).eval()  # type: ignore[no-untyped-call]


def vectors(encoder: Encoder) -> torch.Tensor:
    return encoder(IDS, torch.zeros_like(IDS), MASK)[MASK.bool()]


def test_bf16_is_near_fp32_and_another_computation() -> None:
    encoder = small_bert()
    exact = vectors(encoder)
    compute_in("bf16", encoder)
    rough = vectors(encoder)
    assert rough.dtype == torch.float32
    assert not torch.equal(rough, exact)
    assert torch.allclose(rough, exact, atol=0.05)


def test_back_in_fp32_it_computes_what_it_did() -> None:
    encoder = small_bert()
    exact = vectors(encoder)
    compute_in("fp32", compute_in("bf16", encoder))
    assert torch.equal(vectors(encoder), exact)


def test_attention_itself_is_computed_in_fp32(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[torch.dtype] = []
    plain = torch.nn.functional.scaled_dot_product_attention

    def noting(query: torch.Tensor, *others: torch.Tensor, **how: object) -> torch.Tensor:
        seen.append(query.dtype)
        return plain(query, *others, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", noting)
    encoder = compute_in("bf16", small_bert())
    assert isinstance(encoder, Encoder)
    assert encoder.model.config._attn_implementation == ATTENTION  # type: ignore[union-attr]
    vectors(encoder)
    assert seen == [torch.float32, torch.float32]


def test_weights_and_gradients_stay_fp32(tiny_encoder: Path) -> None:
    encoder = compute_in("bf16", load_encoder(tiny_encoder).train())
    assert isinstance(encoder, Encoder)
    vectors(encoder).pow(2).mean().backward()
    gradients = [weight.grad for weight in encoder.parameters() if weight.grad is not None]
    assert gradients
    assert {gradient.dtype for gradient in gradients} == {torch.float32}
    assert {weight.dtype for weight in encoder.parameters()} == {torch.float32}


def test_a_task_trains_and_labels_in_the_precision_of_its_settings(tiny_encoder: Path, tmp_path: Path) -> None:
    gold = csrl_examples(generate(12, seed=1, domain=Domain.FILM))
    settings = TrainingSettings(batch_size=4, encoder_rate=1e-3, look_every=2, precision="bf16")
    task = csrl_task(tiny_encoder, settings)
    task.fit(gold, (), dev=gold[:3], plan=FitPlan(seed=1, steps=4))
    said = task.predict([one.dialogue for one in gold])
    task.save(tmp_path)
    again = csrl_task(tiny_encoder, settings)
    again.load(tmp_path)
    assert again.predict([one.dialogue for one in gold]) == said
    exact = csrl_task(tiny_encoder, TrainingSettings())
    exact.load(tmp_path)
    assert exact.predict([one.dialogue for one in gold]) != said  # confidences, at least


MANY_SHAPES = """
import ctypes, torch
import friend_training.nn.encoder
class Heap(ctypes.Structure):
    names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = [(name, ctypes.c_size_t) for name in names.split()]
count = ctypes.CDLL(None).mallinfo2
count.restype = Heap
torch.set_num_threads(1)
layer, held = torch.nn.Linear(312, 1248), []
for length in range(40, 640, 3):
    with torch.autocast("cpu", torch.bfloat16):
        layer(torch.ones(length, 312)).float().sum().backward()
    held.append(count().uordblks / 2**20)
print(held[-1] - held[39])
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="the C library does not say what it holds")
def test_batches_of_ever_other_lengths_leave_nothing_behind() -> None:
    """Torch would keep a compiled product for each of the last 1,024 shapes: here some 100 MB, in a run gigabytes."""
    environment = {name: value for name, value in os.environ.items() if not name.endswith("CACHE_CAPACITY")}
    started = [sys.executable, "-c", MANY_SHAPES]
    done = subprocess.run(started, capture_output=True, text=True, check=True, env=environment)
    assert float(done.stdout) < 30
