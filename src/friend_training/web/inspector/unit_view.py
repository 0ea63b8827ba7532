"""What the page is told of units: a line for the list, everything for the one that is looked at.

The pseudo-labels of a run in memory: their scores as columns, their labels only once they are asked for.
"""

import json
import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import TypeAdapter

from friend_training.bridges.bridge import Bridge
from friend_training.core.selector import Decisions, Scores
from friend_training.core.task import Prediction
from friend_training.errors import FriendTrainingError, RunError
from friend_training.friendships.csrl_rewriting import RoleMatch, RoleMatcher, TranslateRewrite, translate_roles
from friend_training.report.label_text import Mark, edits, marks, sentence_marks
from friend_training.runs.corrections import Correction
from friend_training.runs.inputs import INPUTS, all_inputs, has_inputs
from friend_training.runs.run import Run
from friend_training.runs.store import DECISIONS, Store, scores_of
from friend_training.study.config import case_study
from friend_training.study.folders import run_config
from friend_training.tasks.label_text import label_parts
from friend_training.tasks.rewriting.edits import place_of
from friend_training.types import Dialogue, Heads, Predicate, Rewrite, Roles, Sentence, Tags, Tree

# The texts that the pseudo-labels are about. The store knows them by their ids, runs/inputs.py reads them.
#
# A run that was made before texts were saved, or is not that far yet, has its data read again, once, in the background:
# the page is there meanwhile, without texts.


MakeInputs = Callable[[], None]
"""Writes inputs.parquet into the study's folder."""


class Texts:
    """The inputs of a pool by id. `state` is "ready", "reading", or why there are none."""

    def __init__(self, study: Path, make: MakeInputs | None = None) -> None:
        self.study = study
        self.state = "reading"
        self._ids, self._inputs, self._texts = (pa.array([], pa.string()) for _ in range(3))
        self._places: dict[str, int] = {}
        self._thread = Thread(target=self._make_and_read, args=(make,), daemon=True)
        if has_inputs(study):
            self._read()
        elif make is not None:
            self._thread.start()
        else:
            self.state = f"this run keeps no texts: it has no {INPUTS}"

    def get(self, name: str) -> dict[str, Any] | None:
        """An input as JSON says it, or None while, or where, it is not known."""
        place = self._places.get(name)
        if place is None:
            return None
        found: dict[str, Any] = json.loads(self._inputs[place].as_py())
        return found

    def containing(self, search: str) -> pa.Array:
        """The ids of the inputs whose text has these characters, upper case or lower."""
        return self._ids.filter(pc.match_substring(self._texts, search, ignore_case=True))

    def wait(self) -> None:
        if self._thread.ident is not None:
            self._thread.join()

    def _make_and_read(self, make: MakeInputs) -> None:
        try:
            make()
            self._read()
        except (FriendTrainingError, OSError) as error:
            self.state = f"the texts of this run cannot be read: {error}"

    def _read(self) -> None:
        table = all_inputs(self.study)
        self._inputs = table["input"].combine_chunks()
        self._texts = pa.array((text_of(json.loads(given)) for given in self._inputs.to_pylist()), pa.string())
        self._ids = table["id"].combine_chunks()
        self._places = {name: row for row, name in enumerate(self._ids.to_pylist())}
        self.state = "ready"


def text_of(given: dict[str, Any]) -> str:
    """What of an input can be searched: turns line by line, or words with spaces between them."""
    if "turns" in given:
        return "\n".join(turn["text"] for turn in given["turns"])
    if "words" in given:
        return " ".join(given["words"])
    return str(given.get("text", ""))


def utterances(texts: Texts, names: Iterable[str]) -> list[str | None]:
    """What a list shows of each input: the last turn, or the sentence."""
    found: list[str | None] = []
    for name in names:
        given = texts.get(name)
        found.append(None if given is None else given["turns"][-1]["text"] if "turns" in given else text_of(given))
    return found


SCORES = ["unit", "input", "task", "confidence", "content", "kind", "match", *DECISIONS.names, "correct"]

KEPT = 4
"""Iterations that stay in memory; a hundred thousand units take some tens of megabytes."""


Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Units:
    """The units of one task in one iteration. `rows` has every column but label and matches."""

    task: str
    iteration: int
    rows: pa.Table
    labels: pa.Table

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def scores(self) -> Scores:
        return scores_of(self.rows)

    @cached_property
    def correct(self) -> Floats:
        """1, 0, or NaN where nobody knows."""
        found: Floats = pc.cast(self.rows["correct"], pa.float64()).to_numpy()
        return found

    @cached_property
    def recorded(self) -> Decisions:
        """What the run decided."""
        columns = {name: self.rows[name].to_numpy(zero_copy_only=False) for name in DECISIONS.names}
        return Decisions(**columns | {"reason": columns["reason"].astype(str)})

    def place(self, unit: str) -> int:
        """The row of a unit, -1 if it is not there."""
        return int(pc.index(self.rows["unit"], unit).as_py())

    def of_input(self, name: str) -> list[int]:
        """The rows of an input's units, in the order of its predictions."""
        found: list[int] = np.flatnonzero(pc.equal(self.rows["input"], name).to_numpy()).tolist()
        return found


class UnitReader:
    """Reads the store, an iteration at a time. What a finished selection wrote never changes."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._lock = Lock()
        self._read = lru_cache(KEPT)(self._read_iteration)

    def iterations(self) -> list[int]:
        return self.store.iterations()

    def of_iteration(self, iteration: int) -> dict[str, Units]:
        """By task, in the order of the store."""
        if iteration not in self.iterations():
            raise RunError(f"there is no iteration {iteration}; there are {self.iterations()}")
        with self._lock:
            return self._read(iteration)

    def of(self, task: str, iteration: int) -> Units:
        found = self.of_iteration(iteration)
        if task not in found:
            raise RunError(f"there is no task {task!r} in iteration {iteration}; there are {', '.join(found)}")
        return found[task]

    def _read_iteration(self, iteration: int) -> dict[str, Units]:
        whole = self.store.read(iteration, [*SCORES, "label", "matches"])
        found = {}
        for task in pc.unique(whole["task"]).to_pylist():
            rows = whole.filter(pc.equal(whole["task"], task)).combine_chunks()
            found[task] = Units(task, iteration, rows.select(SCORES), rows.select(["label", "matches"]))
        return found


# What the friend says: both labels of a dialogue in the common space, as the run's own bridge and matcher see them.
#
# The store keeps labels and scores, not translations. They are made again for the one dialogue that is looked at; the
# bridge is loaded when the first is.


@dataclass(frozen=True, slots=True)
class ComparedPredicate:
    """One predicate: m_k = 1 − distance / longest, role by role; `read` is what the bridge sees in u_t'.

    `deleted`: the predicate has no place in u_t', so the rewrite says nothing of it.
    """

    start: int
    end: int
    text: str
    match: float
    distance: int
    longest: int
    roles: tuple[RoleMatch, ...]
    read: list[Mark]
    deleted: bool


@dataclass(frozen=True, slots=True)
class Compared:
    """`match` is m' of the utterance, None where there is no predicate to match."""

    rewrite: str
    predicates: tuple[ComparedPredicate, ...]
    match: float | None
    scoring: str
    mean: str


class Translator:
    """Compares the friends of the case study. `problem` says why it cannot, if so."""

    def __init__(self, study: Path) -> None:
        self.study = study
        self.problem: str | None = None
        self._matcher = RoleMatcher()
        self._bridge: Bridge | None = None
        self._lock = Lock()  # the bridge is a network: one question at a time

    def compare(self, dialogue: Dialogue, roles: Sequence[Roles], rewrite: Rewrite) -> Compared | None:
        """The roles are those of all predicates of u_t; None where the run's bridge is not at hand."""
        with self._lock:
            bridge = self._opened()
            if bridge is None:
                return None
            asked = Dialogue(dialogue.id, dialogue.turns, tuple(label.predicate for label in roles))
            [a] = translate_roles([asked], [[Prediction("", label, 1.0) for label in roles]])
            [b] = TranslateRewrite(bridge)([asked], [[Prediction("", rewrite, 1.0)]])
            places = [place_of(rewrite, asked.utterance.text, p.start, p.end) for p in asked.predicates]
            found = [Predicate(*place) for place in places if place is not None]
            answers = iter(bridge.label([Sentence(asked.id, rewrite.text, tuple(found))])[0] if found else ())
        [match] = self._matcher([a], [b])
        predicates = []
        for predicate, place, left, right in zip(asked.predicates, places, a, b, strict=True):
            apart = self._matcher.explain(left, right)
            predicates.append(
                ComparedPredicate(
                    start=predicate.start,
                    end=predicate.end,
                    text=asked.utterance.text[predicate.start : predicate.end],
                    match=apart.match,
                    distance=apart.distance,
                    longest=apart.longest,
                    roles=apart.roles,
                    read=[] if place is None else sentence_marks(next(answers)),
                    deleted=place is None,
                )
            )
        return Compared(rewrite.text, tuple(predicates), match.second[0], self._matcher.scoring, self._matcher.mean)

    def _opened(self) -> Bridge | None:
        if self._bridge is None and self.problem is None:
            # Only now torch: a page must not wait for it.
            from friend_training.study.resources import open_bridge

            try:
                config = case_study(run_config(self.study))
                self._matcher = RoleMatcher(**config.friendship.model_dump())
                self._bridge = open_bridge(self.study, config)
            except (FriendTrainingError, OSError) as error:
                self.problem = str(error)
        return self._bridge


class Meanings:
    """What the labels of friends mean in the common space of each friendship of a config with tasks of one's own."""

    def __init__(self, study: Path) -> None:
        self.study = study
        self._friendships: list[Any] | None = None

    def of(self, task: str, given: dict[str, Any], labels: Mapping[str, list[Prediction]]) -> list[dict[str, str]]:
        """One entry per friendship of the task: both sides in words. `labels` are all tasks' of this input."""
        found = []
        for friendship in self._opened():
            pair = (friendship.first, friendship.second)
            if task in pair and labels.keys() >= {*pair}:
                from friend_training.inference.trained_tasks import as_input

                asked = [as_input(given)]
                first = friendship.translate_first(asked, [labels[pair[0]]])[0]
                second = friendship.translate_second(asked, [labels[pair[1]]])[0]
                told = {"friendship": friendship.name, "first": pair[0], "second": pair[1]}
                found.append(told | {"first_says": meaning_in_words(first), "second_says": meaning_in_words(second)})
        return found

    def _opened(self) -> list[Any]:
        if self._friendships is None:
            # Only now: it loads what a page must not wait for.
            from friend_training.study.config import FriendsConfig
            from friend_training.study.friends import saved_friendships

            self._friendships = []
            try:
                config = run_config(self.study)
                if isinstance(config, FriendsConfig):
                    self._friendships = saved_friendships(Run.open(self.study), config, {})
            except FriendTrainingError:  # friendships of a program, or a run that somebody made with the library
                pass
        return self._friendships


def meaning_in_words(value: Any) -> str:
    """An element of a common space: of a set any member will do, and an empty one says nothing."""
    match value:
        case frozenset() | set():
            return " or ".join(sorted(map(str, value))) or "nothing"
        case tuple() | list():
            return " · ".join(map(meaning_in_words, value)) or "nothing"
    return str(value)


# Labels as the store keeps them, JSON, and what kind of thing each of them is.


Kind = Literal["roles", "rewrite", "tree", "heads", "tags", "other"]


TYPES: dict[Kind, Any] = {"roles": Roles, "rewrite": Rewrite, "tree": Tree, "heads": Heads, "tags": Tags}


_KEYS: dict[Kind, set[str]] = {
    "roles": {"predicate", "arguments"},
    "rewrite": {"text", "deleted", "insertions"},
    "tree": {"brackets", "tags"},
    "heads": {"heads"},
    "tags": {"tags"},
}

_MAY_BE_THERE = {"relations", "unsure"}

_dialogue = TypeAdapter(Dialogue)


def kind_of(label: Any) -> Kind:
    """Told by its keys: tasks have names of their own, and a study may have two of a kind."""
    if isinstance(label, dict):
        for kind, keys in _KEYS.items():
            if set(label) - _MAY_BE_THERE == keys:
                return kind
    return "other"


def parsed(kind: Kind, label: Any) -> Any:
    """A label of a known kind as our own type."""
    return TypeAdapter(TYPES[kind]).validate_python(label)


def dialogue_of(given: dict[str, Any] | None) -> Dialogue | None:
    """An input as a dialogue, if it is known and is one."""
    return None if given is None or "turns" not in given else _dialogue.validate_python(given)


CASE_STUDY = ("csrl", "rewriting")

Corrections = Mapping[tuple[str, str], Correction]


def number(value: float) -> float | None:
    """JSON knows no NaN: what there is not, is null."""
    return None if math.isnan(value) else float(value)


def truth(value: float) -> bool | None:
    return None if math.isnan(value) else bool(value)


def listed(
    units: Units, decisions: Decisions, rows: Iterable[int], texts: Texts, corrections: Corrections
) -> list[dict[str, Any]]:
    """One line per unit: its text, what the label says in short, its scores and what became of it."""
    chosen_rows = [int(row) for row in rows]
    names = [units.rows["input"][row].as_py() for row in chosen_rows]
    lines = []
    for row, name, text in zip(chosen_rows, names, utterances(texts, names), strict=True):
        label = json.loads(units.labels["label"][row].as_py())
        said = corrections.get((units.task, units.scores.unit[row]))
        lines.append(
            scores_of_row(units, decisions, row)
            | {"input": name, "text": text, "says": in_short(label, texts.get(name))}
            | {"by_hand": None if said is None else said.verdict}
        )
    return lines


def scores_of_row(units: Units, decisions: Decisions, row: int) -> dict[str, Any]:
    return {
        "unit": units.scores.unit[row],
        "confidence": float(units.scores.confidence[row]),
        "match": number(units.scores.match[row]),
        "overall": number(decisions.overall[row]),
        "chosen": bool(decisions.chosen[row]),
        "reason": str(decisions.reason[row]),
        "correct": truth(units.correct[row]),
    }


def in_short(label: Any, given: dict[str, Any] | None) -> list[list[str]]:
    """Pairs of a mark ("predicate", a role, "unsure", or nothing) and words."""
    if kind_of(label) == "tree":
        return [["", " ".join(sorted({bracket["label"] for bracket in label["brackets"]}))]]
    if kind_of(label) in ("heads", "tags"):
        return [["", " ".join(str(value) for value in label[kind_of(label)])]]
    return [["unsure" if part.unsure else part.mark, part.words] for part in label_parts(label, given)]


def friends_of(task: str, tasks: Container[str]) -> tuple[str, str]:
    """The CSRL and the rewriting task that a task of the case study is compared as; a strong friend goes first."""
    mine, _, other = task.partition(".")
    weak = {name: name for name in CASE_STUDY}
    strong = {name: f"{name}.strong" if f"{name}.strong" in tasks else name for name in CASE_STUDY}
    pair = (weak if other == "strong" else strong) | {mine: task}
    return pair["csrl"], pair["rewriting"]


class Detail:
    """Everything about one unit: the input, its label and that of its friends, and where the scores come from."""

    def __init__(
        self, of_iteration: Mapping[str, Units], texts: Texts, translator: Translator, meanings: Meanings
    ) -> None:
        self.of_iteration, self.texts, self.translator, self.meanings = of_iteration, texts, translator, meanings

    def of(self, task: str, row: int, decisions: Decisions, corrections: Corrections) -> dict[str, Any]:
        units = self.of_iteration[task]
        name = units.rows["input"][row].as_py()
        given = self.texts.get(name)
        label = json.loads(units.labels["label"][row].as_py())
        said = corrections.get((task, units.scores.unit[row]))
        recorded = scores_of_row(units, units.recorded, row) | {
            "threshold": number(units.recorded.threshold[row]),
            "weight": float(units.recorded.weight[row]),
            "matches": dict(units.labels["matches"][row].as_py()),
        }
        return (
            scores_of_row(units, decisions, row)
            | {"task": task, "input": name, "given": given, "texts": self.texts.state}
            | self.drawn(label, given)
            | {"recorded": recorded, "friends": self._friends(task, name, given)}
            | self._compared(task, name, given)
            | {"means": [] if given is None else self.meanings.of(task, given, self._predictions(name))}
            | {"correction": None if said is None else asdict(said) | self._drawn_correction(said, given)}
        )

    def drawn(self, label: Any, given: dict[str, Any] | None) -> dict[str, Any]:
        """The label, what it marks in the dialogue, and what it says in short."""
        kind = kind_of(label)
        drawn: dict[str, Any] = {"kind": kind, "label": label, "says": in_short(label, given)}
        dialogue = dialogue_of(given)
        if dialogue is not None and kind in ("roles", "rewrite"):
            typed: Roles | Rewrite = parsed(kind, label)
            drawn["marks"] = [asdict(mark) for mark in marks(dialogue, typed)]
            if isinstance(typed, Rewrite):
                drawn["edits"] = [asdict(piece) for piece in edits(dialogue, typed)]
        return drawn

    def _drawn_correction(self, said: Correction, given: dict[str, Any] | None) -> dict[str, Any]:
        return {} if said.label is None else {"drawn": self.drawn(said.label, given)}

    def _friends(self, task: str, name: str, given: dict[str, Any] | None) -> list[dict[str, Any]]:
        """What the other tasks say of the same input."""
        found = []
        for other, units in self.of_iteration.items():
            for row in units.of_input(name) if other != task else ():
                label = json.loads(units.labels["label"][row].as_py())
                scores = scores_of_row(units, units.recorded, row)
                found.append(scores | {"task": other} | self.drawn(label, given))
        return found

    def _predictions(self, name: str) -> dict[str, list[Prediction]]:
        """What every task says of an input, as predictions."""
        found: dict[str, list[Prediction]] = {}
        for task, units in self.of_iteration.items():
            for row in units.of_input(name):
                label = json.loads(units.labels["label"][row].as_py())
                kind = kind_of(label)
                typed = label if kind == "other" else parsed(kind, label)
                sure = float(units.scores.confidence[row])
                found.setdefault(task, []).append(Prediction(units.scores.unit[row], typed, sure))
        return found

    def _compared(self, task: str, name: str, given: dict[str, Any] | None) -> dict[str, Any]:
        """The case study's common space: what CSRL says of each predicate, and what the bridge reads in the rewrite."""
        dialogue = dialogue_of(given)
        roles, rewrites = (self._labels(one, name) for one in friends_of(task, self.of_iteration))
        if dialogue is None or not roles or len(rewrites) != 1:
            return {"compared": None}
        compared = self.translator.compare(dialogue, roles, rewrites[0])
        if compared is None:
            return {"compared": None, "not_compared": self.translator.problem}
        return {"compared": asdict(compared)}

    def _labels(self, task: str, name: str) -> list[Any]:
        units = self.of_iteration.get(task)
        if units is None:
            return []
        labels = [json.loads(units.labels["label"][row].as_py()) for row in units.of_input(name)]
        return [parsed(kind_of(label), label) for label in labels if kind_of(label) in ("roles", "rewrite")]
