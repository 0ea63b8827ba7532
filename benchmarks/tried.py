"""What was tried for speed and what came of it, by processor time in one thread.

python benchmarks/tried.py dropout         torch's dropout beside ours, forward and back
python benchmarks/tried.py batches RUN     labelling a real pool in batches of 512 to 8,192 pieces
python benchmarks/tried.py forward RUN     the networks' forward passes by int8 weights, ONNX Runtime (with and without
                                           int8), torch.compile and bf16: how fast, and whether the labels stay the same
python benchmarks/tried.py steps RUN       training steps on the run's gold, in fp32 and with the encoder in bf16
python benchmarks/tried.py show            only print the table

RUN is a finished run of configs/few-shot.yaml with method base. torch.compile needs a C++ compiler.
"""

import argparse
import copy
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from record_lines import append_line, read_lines
from torch import Tensor

from friend_training.core.task import FitPlan, Prediction
from friend_training.data.catalogue import model_source
from friend_training.inference.export import export_onnx, network_inputs
from friend_training.nn.encoder import ByteDropout, Precision, compute_in
from friend_training.nn.heads import Head
from friend_training.nn.interfaces import in_batches
from friend_training.nn.task import TorchTask
from friend_training.study.config import load_config
from friend_training.study.csrl_rewriting import TASKS
from friend_training.study.data import load_data
from friend_training.study.folders import method_folder
from friend_training.study.kinds import Given, make_task

RESULTS = Path(__file__).parent / "results" / "tried.jsonl"
PIECES = (512, 1024, 2048, 4096, 8192)
SURE = 0.6
ROUNDS = 3
STEPS = 20
BATCH = (16, 125, 312)
"""A training batch of ernie nano: dialogues, pieces, width."""

Logits = Callable[[Any], Sequence[Tensor]]
"""A batch in, the logits of each head out."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["dropout", "batches", "forward", "steps", "show"])
    parser.add_argument("run", type=Path, nargs="?")
    parser.add_argument("--dialogues", type=int, default=500)
    parser.add_argument("--only", nargs="+", choices=list(WAYS), default=list(WAYS), help="forward: only these ways")
    parser.add_argument("--results", type=Path, default=RESULTS)
    asked = parser.parse_args(arguments)
    if asked.what in ("batches", "forward", "steps") and asked.run is None:
        parser.error(f"{asked.what} needs a finished run")
    torch.set_num_threads(1)
    if asked.what == "dropout":
        append_line(asked.results, dropout())
    elif asked.what == "steps":
        for name in TASKS:
            append_line(asked.results, steps(asked.run, name))
    elif asked.what != "show":
        for task, pool in base_of(asked.run, asked.dialogues):
            if asked.what == "batches":
                append_line(asked.results, batches(task, pool))
                continue
            for way in asked.only:
                append_line(asked.results, forward(task, pool, way))
    print(table(asked.results))


def table(path: Path) -> str:
    """The last measurement of each thing that was tried."""
    last = {(line["what"], line.get("task", "")): line for line in read_lines(path)}
    rows = ["| tried | task | dialogues | what came of it |", "|---|---|--:|---|"]
    for (what, task), line in last.items():
        rows.append(f"| {what} | {task} | {line.get('dialogues', '')} | {_said(line)} |")
    return "\n".join(rows)


def _said(line: Mapping[str, Any]) -> str:
    if line["what"] == "dropout":
        return f"{line['ours_ms']} ms by bytes, {line['torch_ms']} ms by torch's own"
    if line["what"] == "batches":
        times = ", ".join(f"{pieces:,}: {line[f'seconds_{pieces}']} s" for pieces in PIECES)
        return f"{line['mean_pieces']} pieces and {line['units'] / line['dialogues']:.2f} units per dialogue; {times}"
    if line["what"] == "steps in bf16":
        return f"{line['fp32']} s of processor time a step in fp32, {line['bf16']} s in bf16"
    return f"{line['times_as_fast']} times as fast, {line['same_labels']:.0%} of labels, overlap {line['jaccard']:.2f}"


def base_of(run: Path, dialogues: int) -> Iterator[tuple[TorchTask, Sequence[Any]]]:
    """Both tasks of a run as its Base left them, and dialogues of its pool."""
    config = load_config(run / "config.yaml", [f"data.pool={dialogues}"])
    pool = list(load_data(config, None).pool)
    for name in TASKS:
        task = make_task(config, name, Given(model_source(getattr(config.encoder, "source", ""))))
        task.load(method_folder(run, "base") / "checkpoints" / name / "iteration-000")
        yield task, pool


def dropout() -> dict[str, Any]:
    values = torch.randn(BATCH, requires_grad=True)
    back = torch.randn(BATCH)

    def passed(module: torch.nn.Module) -> Callable[[], None]:
        return lambda: module(values).backward(back)

    theirs, ours = (best_of(passed(module), 40) for module in (torch.nn.Dropout(0.1), ByteDropout(0.1)))
    return {"what": "dropout", "torch_ms": round(1000 * theirs, 2), "ours_ms": round(1000 * ours, 2)}


def batches(task: TorchTask, pool: Sequence[Any]) -> dict[str, Any]:
    items: Sequence[Any] = task.definition.input_items(pool)
    found: dict[str, Any] = {"what": "batches", "task": task.name, "dialogues": len(pool)}
    found["mean_pieces"] = round(sum(item.length for item in items) / len(items), 1)
    found["units"] = sum(len(units) for units in task.predict(pool))
    for pieces in PIECES:
        task.settings = replace(task.settings, labelling_pieces=pieces)
        found[f"seconds_{pieces}"] = round(best_of(lambda: task.predict(pool), ROUNDS), 2)
    return found


def forward(task: TorchTask, pool: Sequence[Any], way: str) -> dict[str, Any]:
    """Another way through the network, with our batches and our decoder. `jaccard` is that of what would be chosen."""
    items: Sequence[Any] = task.definition.input_items(pool)
    collated = [task.definition.collate(some) for _, some in in_batches(items, lambda item: item.length, 1024)]
    task.network.eval()
    with tempfile.TemporaryDirectory() as scratch, torch.inference_mode():
        other = WAYS[way](task, Path(scratch))
        heads = [task.network(batch) for batch in collated]
        before = decoded(task, collated, heads)
        after = decoded(task, collated, [with_logits(one, other(b)) for one, b in zip(heads, collated, strict=True)])
        ours = best_of(lambda: [task.network(batch) for batch in collated], ROUNDS)
        theirs = best_of(lambda: [other(batch) for batch in collated], ROUNDS)
    chosen_before, chosen_after = (sure(labelled) for labelled in (before, after))
    return {
        "what": way,
        "task": task.name,
        "dialogues": len(pool),
        "times_as_fast": round(ours / theirs, 2),
        "same_labels": round(sum(a.label == b.label for a, b in zip(before, after, strict=True)) / len(before), 3),
        "jaccard": round(len(chosen_before & chosen_after) / len(chosen_before | chosen_after), 3),
    }


def steps(run: Path, name: str) -> dict[str, Any]:
    """Seconds of a step from the encoder's own weights, with the run's batch size; dev is looked at once, one unit."""
    config = load_config(run / "config.yaml", ["data.pool=3"])
    data = load_data(config, None)
    gold, dev = (
        (data.tasks["csrl"].gold, data.tasks["csrl"].dev)
        if name == "csrl"
        else (data.tasks["rewriting"].gold, data.tasks["rewriting"].dev)
    )
    found: dict[str, Any] = {"what": "steps in bf16", "task": name, "dialogues": len(gold)}
    precisions: tuple[Precision, ...] = ("fp32", "bf16")
    for precision in precisions:
        task = make_task(config, name, Given(model_source(getattr(config.encoder, "source", ""))))
        task.settings = replace(task.settings, precision=precision)
        task.fit(gold, (), dev=dev[:1], plan=FitPlan(seed=1, steps=1))
        plan = FitPlan(seed=1, steps=STEPS)
        found[precision] = round(best_of(partial(task.fit, gold, (), dev=dev[:1], plan=plan), 1) / STEPS, 3)
    return found


def by_bf16(task: TorchTask, scratch: Path) -> Logits:
    """The encoder's products in bf16, as `precision: bf16` of a config has it."""
    exact, rough = compute_in("fp32", task.network), compute_in("bf16", copy.deepcopy(task.network))
    assert exact is task.network
    return lambda batch: [head.logits for head in rough(batch)]


def by_int8(task: TorchTask, scratch: Path) -> Logits:
    """All linear layers by torch's dynamic quantisation."""
    with warnings.catch_warnings(action="ignore"):
        small = torch.ao.quantization.quantize_dynamic(copy.deepcopy(task.network), {torch.nn.Linear})
    return lambda batch: [head.logits for head in small(batch)]


def by_compile(task: TorchTask, scratch: Path) -> Logits:
    quick = torch.compile(task.network, dynamic=True)
    return lambda batch: [head.logits for head in quick(batch)]


def by_onnx(task: TorchTask, scratch: Path, *, small: bool = False) -> Logits:
    """ONNX Runtime on the file that `friend-train export --onnx` writes; `small` with int8 weights."""
    import onnxruntime
    from onnxruntime.quantization import quantize_dynamic

    path = scratch / "network.onnx"
    with torch.inference_mode(False):
        export_onnx(task, path)
    if small:
        quantize_dynamic(path, scratch / "small.onnx")
        path = scratch / "small.onnx"
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    wanted = {given.name for given in session.get_inputs()}

    def run(batch: Any) -> list[Tensor]:
        given = {name: value.numpy() for name, value in network_inputs(task, batch).items() if name in wanted}
        return [torch.from_numpy(logits) for logits in session.run(None, given)]

    return run


WAYS: dict[str, Callable[[TorchTask, Path], Logits]] = {
    "int8": by_int8,
    "onnx": by_onnx,
    "onnx-int8": partial(by_onnx, small=True),
    "compile": by_compile,
    "bf16": by_bf16,
}


def with_logits(heads: Sequence[Head], logits: Sequence[Tensor]) -> list[Head]:
    return [replace(head, logits=others) for head, others in zip(heads, logits, strict=True)]


def decoded(task: TorchTask, collated: Sequence[Any], heads: Sequence[Sequence[Head]]) -> list[Prediction]:
    return [
        one
        for batch, made in zip(collated, heads, strict=True)
        for units in task.definition.decode(made, batch)
        for one in units
    ]


def sure(labelled: Sequence[Prediction]) -> set[tuple[str, str]]:
    return {(one.unit, repr(one.label)) for one in labelled if one.content and one.confidence >= SURE}


def best_of(work: Callable[[], object], rounds: int) -> float:
    work()
    found = []
    for _ in range(rounds):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


if __name__ == "__main__":
    main()
