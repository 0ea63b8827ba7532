"""Both loops over one workload, each as a function that does the work once and says how long it took."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from stopwatch import Stopwatch
from straightforward_loop import DialogueDefinition, label_one_by_one, train_one_by_one
from workloads import Workload

from friend_training.core.task import FitPlan, Prediction
from friend_training.nn.task import TorchTask
from friend_training.nn.training import train

EPOCH_SEED = 1


@dataclass(frozen=True, slots=True)
class Done:
    """One measurement. `examples` are units in both loops: predicates of CSRL, utterances of rewriting."""

    watch: Stopwatch
    dialogues: int
    examples: int
    predictions: list[Prediction] | None = None


Loop = Callable[[], Done]


def labelling_loops(task: TorchTask, workload: Workload) -> dict[str, Loop]:
    """Dialogues in, predictions out. Nothing is remembered: text is cut into pieces anew in every measurement."""
    definition = _definition(task)
    together = definition.inputs_of(workload.examples)
    apart = definition.inputs_of([one for example in workload.examples for one in workload.one_by_one(example)])

    def measured(predict: Callable[[], list[list[Prediction]]]) -> Done:
        definition.tokenizer.memory.clear()
        watch = Stopwatch()
        watch.start()
        predictions = [prediction for units in predict() for prediction in units]
        watch.stop()
        return Done(watch, len(together), len(predictions), predictions)

    return {
        "ours": lambda: measured(lambda: task.predict(together)),
        "straightforward": lambda: measured(lambda: label_one_by_one(definition, task.network, apart)),
    }


def training_loops(task: TorchTask, workload: Workload) -> dict[str, Loop]:
    """One epoch over the same gold units, from the first batch to the last step; items are made before."""
    definition = _definition(task)
    together = definition.gold_items(workload.examples)
    apart = definition.gold_items([one for example in workload.examples for one in workload.one_by_one(example)])
    settings = task.settings
    our_network, their_network = deepcopy(task.network), deepcopy(task.network)

    def ours() -> Done:
        watch, units = Stopwatch(), 0

        def collate(items: Sequence[Any]) -> Any:  # called first in every step
            nonlocal units
            watch.start()
            batch = definition.collate(items)
            units += len(batch.weights)
            return batch

        def dev_score() -> float:  # called when the last step is done
            watch.stop()
            return 0.0

        steps = -(-len(together) // settings.batch_size)
        plan, unwatched = FitPlan(seed=EPOCH_SEED, steps=steps), replace(settings, look_every=steps)
        train(our_network, together, collate, dev_score, plan=plan, settings=unwatched)
        return Done(watch, len(together), units)

    def straightforward() -> Done:
        watch = Stopwatch()
        watch.start()
        units = train_one_by_one(definition, their_network, apart, settings, seed=EPOCH_SEED)
        watch.stop()
        return Done(watch, len(together), units)

    return {"ours": ours, "straightforward": straightforward}


def _definition(task: TorchTask) -> DialogueDefinition:
    assert isinstance(task.definition, DialogueDefinition)
    return task.definition
