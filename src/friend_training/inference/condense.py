"""A question that can be searched for without what was said before it: the step before a retriever in a conversation.

from friend_training import load_rewriter
rewrite = load_rewriter("rewriting-model")  # a folder of friend-train export
found = rewrite(["Who wrote Emma?", "Jane Austen."], "When was she born?", unless_sure=0.5)
found.text, found.probability, found.changed
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from friend_training.core.task import Prediction, Task
from friend_training.errors import ConfigError, DataError
from friend_training.inference.answers import GivenTurn, as_dialogue
from friend_training.nn.devices import AUTO
from friend_training.nn.training import TrainingSettings
from friend_training.tasks.rewriting.word_task import WordRewritingDefinition, word_rewriting_task
from friend_training.types import Rewrite

SETTINGS = "rewriter.json"


@dataclass(frozen=True, slots=True)
class Condensed:
    """`text` is what to search for, `probability` how sure the model is of it; `changed`: it is not what was asked."""

    text: str
    probability: float
    changed: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the turns before it, oldest first; a rewrite that is less sure than `unless_sure` is not made."""

    history: Sequence[GivenTurn]
    question: str
    unless_sure: float = 0.0


def condense(task: Task, asked: Sequence[Asked]) -> list[Condensed]:
    """Many questions at once, by a task that rewrites."""
    for one in asked:
        if not 0 <= one.unless_sure <= 1:
            raise DataError(f"unless_sure is {one.unless_sure}, expected a probability from 0 to 1")
    predictions = task.predict([as_dialogue([*one.history, one.question]) for one in asked])
    return [_condensed(one, units[0]) for one, units in zip(asked, predictions, strict=True)]


def _condensed(asked: Asked, found: Prediction) -> Condensed:
    """A question that is left because no rewrite was sure enough has what is left of the rewrite's probability."""
    if found.label.text == asked.question:
        return Condensed(asked.question, found.confidence, False)
    if found.confidence < asked.unless_sure:
        return Condensed(asked.question, 1 - found.confidence, False)
    return Condensed(found.label.text, found.confidence, True)


def rewriter_of(tasks: Mapping[str, Task]) -> Task:
    """The task among these that rewrites."""
    found = [task for task in tasks.values() if task.label_type is Rewrite]
    if not found:
        raise ConfigError(f"no task of this run rewrites; its tasks are {', '.join(tasks)}")
    return found[0]


class WordRewriter:
    """A rewriter by words that has left its run. For one thread at a time."""

    def __init__(self, task: Task) -> None:
        self.task = task

    def __call__(self, history: Sequence[GivenTurn], question: str, *, unless_sure: float = 0.0) -> Condensed:
        """The question as it can be understood without the turns before it, oldest first."""
        return condense(self.task, [Asked(history, question, unless_sure)])[0]


def load_rewriter(folder: str | Path, *, device: str = AUTO) -> WordRewriter:
    """The rewriter by words that `friend-train export` has written into a folder."""
    folder = Path(folder)
    if not (folder / SETTINGS).is_file():
        raise ConfigError(f"{folder} has no {SETTINGS}; expected a rewriter by words, written by friend-train export")
    settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    task = word_rewriting_task(
        folder,
        TrainingSettings(precision=settings["precision"]),
        max_length=settings["max_length"],
        function_words=settings["function_words"],
        unless_sure=settings["unless_sure"],
        device=device,
    )
    task.load(folder)
    return WordRewriter(task)


def save_settings(definition: WordRewritingDefinition, precision: str, folder: Path) -> None:
    """What a folder of the task needs to be a rewriter by itself."""
    settings = {
        "max_length": definition.max_length,
        "function_words": list(definition.function_words),
        "unless_sure": definition.unless_sure,
        "precision": precision,
    }
    (folder / SETTINGS).write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
