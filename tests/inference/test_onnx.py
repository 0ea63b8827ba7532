"""The ONNX file gives the network's own logits, for batches of any size and length."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from friend_training.data.synthetic import Domain, generate
from friend_training.errors import MissingPackageError
from friend_training.inference import export
from friend_training.inference.export import OUTPUTS, export_model, network_inputs
from friend_training.study.csrl_rewriting import TASKS
from friend_training.study.open import open_task
from friend_training.types import Dialogue, Predicate, Turn
from helpers.untrained_run import make_run


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_the_same_logits(tmp_path: Path, tiny_encoder: Path, task: str) -> None:
    pytest.importorskip("onnxscript", reason="needs the extra friend-training[onnx]")
    runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime to run the file")
    run = make_run(tmp_path / "run", tiny_encoder)
    export_model(run, task, tmp_path / "out", onnx=True)
    assert "`model.onnx`" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    session = runtime.InferenceSession(str(tmp_path / "out" / "model.onnx"))
    opened = open_task(run, task).task
    definition, network = opened.definition, opened.network.eval()
    dialogues = [one.dialogue for one in generate(40, seed=6, domain=Domain.FILM) if one.dialogue.predicates]
    lengths = set()
    short = Dialogue("short", (Turn("A", "我来了"),), (Predicate(1, 2),))
    for part in ([short], [short, replace(dialogues[0], turns=dialogues[0].turns[-1:])], dialogues[1:30]):
        batch = definition.collate(definition.input_items(part))
        lengths.add(batch.ids.size(1))
        with torch.inference_mode():
            expected = [head.logits.numpy() for head in network(batch)]
        given = {name: tensor.numpy() for name, tensor in network_inputs(opened, batch).items()}
        for name, wanted, got in zip(OUTPUTS[task], expected, session.run(OUTPUTS[task], given), strict=True):
            np.testing.assert_allclose(got, wanted, atol=1e-4, rtol=0, err_msg=name)
    assert len(lengths) == 3


def test_without_the_extra_it_is_said_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match=r"friend-training\[onnx\]"):
        export_model(tmp_path / "run", "csrl", tmp_path / "out", onnx=True)
    assert not (tmp_path / "out").exists()
