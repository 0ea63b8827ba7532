"""Methods whose rewriter learns CSRL's labels beside its own (methods/beside.py); CSRL learns as it always does.

Not the reverse: on dev CSRL forgot the arguments in other turns when it learnt rewrites beside its own labels
(docs/results.md).
"""

from dataclasses import replace
from pathlib import Path

from friend_training.core.plan import TaskPlan
from friend_training.methods.beside import BesideTask
from friend_training.nn.torch_task import TorchTask
from friend_training.scenarios.folders import method_folder

BESIDE = {
    "fdt-beside": "fdt-checked",
    "steps-beside": "base-same-steps",
    "sst-beside": "sst",
    "shuffled-beside": "checked-shuffled",
}
"""Each of them, and the method that it is in all else."""


def beside_csrl(plan: TaskPlan, rewriting: TorchTask, csrl: TorchTask, study: Path) -> TaskPlan:
    """Rewriting's plan, going on from the Multitask-Base of the study. `csrl` is a task object for the side head alone."""
    bases = method_folder(study, "multitask-base") / "checkpoints"
    task = BesideTask(rewriting, {"csrl": csrl}, {"csrl": bases / "csrl" / "iteration-000"})
    return replace(plan, task=task, base=bases / "rewriting" / "iteration-000", beside=("csrl",))
