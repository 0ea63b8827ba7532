"""The models of a run of any tasks, from Python: `load(run).predict("polarity", texts)`, `.agreement(texts)`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from friend_training.core.expected import expected
from friend_training.core.friendship import Friendship
from friend_training.core.selector import Selector, Threshold
from friend_training.core.task import Prediction, Task
from friend_training.errors import DataError
from friend_training.loop.labelling import label_shard
from friend_training.runs.store import scores_of, with_decisions
from friend_training.study.config import FriendsConfig
from friend_training.study.sections import TaskConfig
from friend_training.tasks.label_text import as_stored
from friend_training.types import Dialogue, Text, Words

if TYPE_CHECKING:
    from friend_training.inference.answers import GivenTurn
    from friend_training.inference.condense import Condensed

AT_A_TIME = 256
"""Inputs labelled together: enough to fill batches of equal length, few enough for any memory."""


@dataclass(frozen=True, slots=True)
class LabelFound:
    """What a model says of one unit, and how sure it is, from 0 to 1."""

    unit: str
    label: Any
    confidence: float


@dataclass(frozen=True, slots=True)
class UnitAgreement:
    """What a task says of one unit, how far its friends agree, and whether friend-training would choose the label.

    `matches` has the score of each friendship; None where there is nothing to match.
    """

    task: str
    unit: str
    label: Any
    confidence: float
    match: float | None
    matches: Mapping[str, float | None]
    overall: float | None
    threshold: float
    chosen: bool
    reason: str


def selector_at(section: TaskConfig, threshold: float) -> Selector:
    """The selector of friend-training, whatever method made the models: its question is what is asked here."""
    return Selector(Threshold(threshold), section.confidence_weight, content=section.content)


class TrainedTasks:
    """The tasks of a run, trained together or not. For one thread at a time.

    An input is a text, a list of words, or a mapping with `text`, `words` or `turns`.
    """

    def __init__(
        self,
        run: Path,
        config: FriendsConfig,
        tasks: Mapping[str, Task],
        friendships: Sequence[Friendship],
        thresholds: Mapping[str, float],
        *,
        method: str,
    ) -> None:
        self.run, self.config, self.tasks, self.method = run, config, tasks, method
        self.friendships, self.thresholds = friendships, thresholds

    def predict(self, task: str, inputs: Sequence[Any]) -> list[LabelFound | None]:
        """One label for each input; None where the task has no answer."""
        found: list[LabelFound | None] = []
        labels = self.predict_units(task, inputs)
        for given, units in zip(inputs, labels, strict=True):
            if len(units) > 1:
                raise DataError(f"task {task!r} has {len(units)} units in {given!r}: ask with predict_units")
            found.append(units[0] if units else None)
        return found

    def predict_units(self, task: str, inputs: Sequence[Any]) -> list[list[LabelFound]]:
        """The same for tasks that label several units of an input, such as every mention of a dialogue."""
        if task not in self.tasks:
            raise DataError(f"there is no task {task!r}; the tasks are {', '.join(self.tasks)}")
        if isinstance(inputs, str | Mapping) or not isinstance(inputs, Iterable):
            raise DataError(f"inputs are {inputs!r:.100}, expected a list of texts, lists of words or dialogues")
        from friend_training.nn.training import computing_in

        asked = [as_input(given, number) for number, given in enumerate(inputs)]
        with computing_in(self.config.threads):
            return [
                [LabelFound(unit.unit, unit.label, unit.confidence) for unit in units]
                for chunk in chunks(asked)
                for units in self.tasks[task].predict(chunk)
            ]

    def condense(self, history: Sequence["GivenTurn"], question: str, *, unless_sure: float = 0.0) -> "Condensed":
        """The question as it can be understood without the turns before it, oldest first, by the task that rewrites."""
        from friend_training.inference.condense import Asked, condense, rewriter_of

        return condense(rewriter_of(self.tasks), [Asked(history, question, unless_sure)])[0]

    def agreement(self, inputs: Sequence[Any]) -> list[list[UnitAgreement]]:
        """What every task says of each input, and how far the friends agree."""
        from friend_training.nn.training import computing_in

        asked = [as_input(given, number) for number, given in enumerate(inputs)]
        with computing_in(self.config.threads):
            return [found for chunk in chunks(asked) for found in self._agreement(chunk)]

    def _agreement(self, inputs: Sequence[Any]) -> list[list[UnitAgreement]]:
        # Ids of the caller may repeat; inside they must not.
        numbered = {given.id: number for number, given in enumerate(inputs)}
        if len(numbered) < len(inputs):
            raise DataError("two inputs have the same id, ids must differ")
        rows = label_shard(self.tasks, self.friendships, inputs, aggregate=self.config.aggregate)
        found: list[list[UnitAgreement]] = [[] for _ in inputs]
        for task in self.tasks:
            of_task = rows.filter([name == task for name in rows["task"].to_pylist()])
            if not len(of_task):
                continue
            section = self.config.sections[task]
            selector = selector_at(section, self.thresholds.get(task, 1.0))
            decided = with_decisions(of_task, selector.decide(scores_of(of_task), selector.cutoff([])))
            read = TypeAdapter[Any](self.tasks[task].label_type).validate_json
            for row in decided.to_pylist():
                names = ("task", "unit", "confidence", "match", "overall", "threshold", "chosen", "reason")
                told = {name: row[name] for name in names}
                matches = dict(row["matches"])
                found[numbered[row["input"]]].append(UnitAgreement(label=read(row["label"]), matches=matches, **told))
        return found


def as_input(given: Any, number: int = 0) -> Any:
    """What a task labels, of what a person or a program gives; without an id it is called by its number."""
    match given:
        case str() if given.strip():
            return Text(str(number), given)
        case Text() | Words() | Dialogue():
            return given
        case {"turns": _}:
            return _read(Dialogue, given, number)
        case {"words": _}:
            return _read(Words, given, number)
        case {"text": str(text)} if text.strip():
            return Text(str(given.get("id", number)), text)
        case [*words] if words and all(isinstance(word, str) and word for word in words):
            return Words(str(number), tuple(words))
    raise DataError(f"input {number} is {str(given)[:100]!r}, expected a text, a list of words or a dialogue")


def _read(kind: Any, given: Mapping[str, Any], number: int) -> Any:
    known = {name: value for name, value in given.items() if name in kind.__dataclass_fields__}
    try:
        return TypeAdapter(kind).validate_python({"id": str(number), **known})
    except ValidationError as error:
        problem = error.errors()[0]
        raise DataError(f"input {number}: {'.'.join(map(str, problem['loc']))}: {expected(problem)}") from None


def chunks(inputs: Sequence[Any]) -> Iterator[list[Any]]:
    stream = iter(inputs)
    while chunk := list(islice(stream, AT_A_TIME)):
        yield chunk


def label_as_json(task: Task, prediction: Prediction | LabelFound | UnitAgreement) -> Any:
    """A label as a program reads it: a class as its name, tags as their list, others as the store has them."""
    stored = TypeAdapter[Any](task.label_type).dump_python(prediction.label, mode="json")
    match stored:
        case {"tags": list(tags)} if len(stored) == 1:
            return tags
    return stored


def labelled_inputs(
    task: Task, inputs: Sequence[Any], advanced: Callable[[int], None] = lambda done: None
) -> Iterator[dict[str, Any]]:
    """Each input with its label and confidence, as a line of JSON: both are null where the task has no answer.

    A task with several units in an input has a list of them under `labels`.
    """
    done = 0
    for chunk in chunks(inputs):
        for given, units in zip(chunk, task.predict(chunk), strict=True):
            told = as_stored(given)
            found = [{"label": label_as_json(task, one), "confidence": float(f"{one.confidence:.6g}")} for one in units]
            if len(units) > 1 or (units and units[0].unit != given.id):
                named = [{"unit": one.unit, **of_unit} for one, of_unit in zip(units, found, strict=True)]
                yield told | {"labels": named}
            else:
                yield told | (found[0] if found else {"label": None, "confidence": None})
        done += len(chunk)
        advanced(done)
