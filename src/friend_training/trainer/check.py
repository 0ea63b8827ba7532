"""What can be known of friends before they are trained: gold against gold, chance agreement, collapse, and the cost."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from friend_training.analysis.agreement import MeasuredEpsilon, measured_epsilon
from friend_training.core.friendship import Friendship
from friend_training.core.task import Prediction
from friend_training.errors import DataError
from friend_training.report.names import duration, percent, score
from friend_training.study.run_data import TaskData, gold_units, input_of, whole_text
from friend_training.tasks.rewriting.edits import build_script
from friend_training.types import RewritingExample, Tags, Text

FEW = 20
"""With fewer texts that have labels of both tasks, what they say is hardly more than an anecdote."""

ROUNDS = 5
NEARLY_ALL = 0.95


@dataclass(frozen=True, slots=True)
class GoldAgreement:
    """How gold of both tasks matches where a text has both; None where nothing could be matched."""

    texts: int
    match: float | None
    silent: float | None
    """The share of units that have nothing to match."""


@dataclass(frozen=True, slots=True)
class FriendshipCheck:
    """What is known of one friendship."""

    name: str
    missing: tuple[str, ...] = ()
    """Labels in gold of the first task that the table says nothing of."""
    unreached: tuple[str, ...] = ()
    """Labels in gold of the second task that no label of the first means."""
    gold: GoldAgreement | None = None
    measured: MeasuredEpsilon | None = None

    def lines(self) -> list[str]:
        found = []
        if self.missing:
            found.append(f"the table says nothing of {', '.join(self.missing)}, labels in gold of the first task")
        if self.unreached:
            found.append(f"no label of the first task means {', '.join(self.unreached)}, labels in gold of the second")
        if self.gold is not None:
            found.append(_of_gold(self.gold))
        if self.measured is not None:
            found += _of_predictions(self.measured)
        return found


def _of_gold(gold: GoldAgreement) -> str:
    if not gold.texts:
        return "gold against gold: no text has labels of both tasks, so nobody knows how well right answers match"
    few = f"; {gold.texts} texts are too few to be sure" if gold.texts < FEW else ""
    return (
        f"gold against gold: mean match {score(gold.match)} over {gold.texts} texts with both labels,"
        f" {percent(gold.silent)} with nothing to match{few}"
    )


def _of_predictions(found: MeasuredEpsilon) -> list[str]:
    own, null = found.unshuffled, found.shuffled
    lines = [
        f"predictions: mean match {score(own.mean_match)}, with the friend's answers shuffled {score(null.mean_match)};"
        f" total agreement {percent(own.total_agreement)}, by chance (ε) {percent(found.epsilon)};"
        f" {percent(own.unmatched / max(1, own.units + own.unmatched))} with nothing to match"
    ]
    if own.mean_match is None:
        lines.append("Warning: there is never anything to match: the friends say nothing to each other")
    elif null.mean_match is not None and own.mean_match - null.mean_match < max(0.02, 2 * (found.standard_error or 0)):
        lines.append("Warning: the friends agree hardly more than by chance")
    return lines


@dataclass(frozen=True, slots=True)
class TaskCheck:
    """How a task's predictions for the pool are spread, beside its gold."""

    name: str
    units: int
    label: str = ""
    share: float = 0.0
    in_gold: float | None = None
    empty: float = 0.0

    def lines(self) -> list[str]:
        if not self.units:
            return ["Warning: no unit was found in these texts"]
        beside = "" if self.in_gold is None else f" (in gold {percent(self.in_gold)})"
        found = [f"the commonest label is {self.label}, {percent(self.share)} of {self.units} units{beside}"]
        if self.share >= NEARLY_ALL > (self.in_gold or 0.0):
            found.append("Warning: nearly everything has one label")
        elif self.empty >= NEARLY_ALL:
            found.append(f"Warning: {percent(self.empty)} of the labels say nothing")
        return found


@dataclass(frozen=True, slots=True)
class Check:
    """What was found; `print` it. `unknown` is what could not be known, and why."""

    friendships: tuple[FriendshipCheck, ...]
    tasks: tuple[TaskCheck, ...] = ()
    cost: str = ""
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def warnings(self) -> list[str]:
        """The lines that begin with a warning, with what each is about."""
        return [line.removeprefix("Warning: ") for line in self._lines() if "Warning: " in line]

    def __str__(self) -> str:
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> list[str]:
        found = [f"{one.name}: {line}" for one in self.friendships for line in one.lines()]
        found += [f"{one.name}: {line}" for one in self.tasks for line in one.lines()]
        found += self.notes
        found += [self.cost] if self.cost else []
        return found + [f"not known: {one}" for one in self.unknown]


def check_gold(friendship: Friendship, data: Mapping[str, TaskData]) -> FriendshipCheck:
    """Without any model: is the table whole, and do right answers match? Test is not looked at."""
    first, second = (data.get(name, TaskData()) for name in (friendship.first, friendship.second))
    missing: tuple[str, ...] = ()
    unreached: tuple[str, ...] = ()
    described = friendship.described or {}
    if isinstance(means := described.get("means"), Mapping):
        spans = described["kind"] == "spans"
        reached = {label for meaning in means.values() for label in meaning or ()}
        missing = tuple(sorted(_labels(first, spans) - means.keys()))
        unreached = tuple(sorted(_labels(second, spans) - reached))
    gold = None if missing else _gold_agreement(friendship, first, second)  # what has no meaning cannot be matched
    return FriendshipCheck(friendship.name, missing, unreached, gold)


def _labels(data: TaskData, spans: bool) -> set[str]:
    """The labels of gold; of spans their types."""
    found = [label for example in data.gold for _, label in gold_units(example)]
    single = {one for label in found for one in (label.tags if isinstance(label, Tags) else (label,))}
    return {str(one)[2:] for one in single if one != "O"} if spans else {one for one in single if isinstance(one, str)}


def _gold_agreement(friendship: Friendship, first: TaskData, second: TaskData) -> GoldAgreement:
    by_text: dict[str, Any] = {whole_text(input_of(one)): one for one in [*second.gold, *second.dev]}
    pairs = [
        (one, by_text[text])
        for one in [*first.gold, *first.dev]
        if (text := whole_text(input_of(one))) in by_text and all(map(_told, (one, by_text[text])))
    ]
    if not pairs:
        return GoldAgreement(0, None, None)
    inputs = [input_of(one) for one, _ in pairs]
    answers = [[[_sure(unit, label) for unit, label in _told(one[side])] for one in pairs] for side in (0, 1)]
    scores = [one for match in friendship.match(inputs, *answers) for one in match.first]
    known = [one for one in scores if one is not None]
    return GoldAgreement(
        len(pairs), sum(known) / len(known) if known else None, 1 - len(known) / len(scores) if scores else None
    )


def _told(example: Any) -> list[tuple[str, Any]]:
    """The units of an example as a model would predict them; nothing of a rewrite that no edits build."""
    if not isinstance(example, RewritingExample):
        return gold_units(example)
    script = build_script(example.dialogue, example.rewrite, span_source="dialogue")
    return [] if script is None else [(example.dialogue.id, script)]


def _sure(unit: str, label: Any) -> Prediction:
    return Prediction(unit, label, 1.0)


def check_task(name: str, predictions: Sequence[Sequence[Prediction]], gold: Sequence[Any]) -> TaskCheck:
    """How the labels of a task are spread."""
    units = [unit for of_input in predictions for unit in of_input]
    if not units:
        return TaskCheck(name, 0)
    [(label, count)] = Counter(_shown(unit.label) for unit in units).most_common(1)
    told = [_shown(one) for example in gold for _, one in gold_units(example)]
    in_gold = told.count(label) / len(told) if told else None
    return TaskCheck(
        name, len(units), label, count / len(units), in_gold, sum(not unit.content for unit in units) / len(units)
    )


def _shown(label: Any) -> str:
    text = " ".join(label.tags) if isinstance(label, Tags) else str(label)
    return text if len(text) <= 40 else f"{text[:40]}…"


def check_labels(inputs: Sequence[Any], first: Sequence[Any], second: Sequence[Any], friendship: Friendship) -> Check:
    """Two tasks by labels that somebody has for the same texts already, one label each or None; nothing is trained."""
    given = [Text(str(number), one) if isinstance(one, str) else one for number, one in enumerate(inputs, start=1)]
    names = (friendship.first, friendship.second)
    for name, labels in zip(names, (first, second), strict=True):
        if len(labels) != len(given):
            raise DataError(f"labels of {name}: {len(labels)} for {len(given)} texts, expected one each, or None")
    answers = [[_given(one, label) for one, label in zip(given, labels, strict=True)] for labels in (first, second)]
    measured = measured_epsilon(friendship, given, *answers, seed=0, rounds=ROUNDS)
    return Check(
        (FriendshipCheck(friendship.name, measured=measured),),
        tuple(check_task(name, labels, ()) for name, labels in zip(names, answers, strict=True)),
        unknown=("how many of the labels are right: none of them is compared with gold",),
    )


def _given(text: Any, label: Any) -> list[Prediction]:
    if label is None:
        return []
    return [_sure(text.id, Tags(tuple(label)) if isinstance(label, list | tuple) else label)]


@dataclass(frozen=True, slots=True)
class Cost:
    """What one training and one prediction took, and how much of both fit will do."""

    training: float
    """Seconds for Base of all tasks."""
    labelling: float
    """Seconds for one input, by all tasks."""
    pool: int
    seeds: int
    iterations: int
    methods: int
    """Of those that label the pool and train anew."""
    update: float
    """How long an update is, as a share of Base's steps."""

    @property
    def seconds(self) -> float:
        of_method = self.iterations * (self.training * self.update + self.pool * self.labelling)
        return self.seeds * (self.training + self.methods * of_method)

    def line(self) -> str:
        return (
            f"fit will take about {duration(self.seconds)}: {self.seeds} seeds, {self.methods} methods after Base,"
            f" {self.iterations} iterations, {self.pool} texts (a rough guess by what Base took here)"
        )
