"""A friend that is never trained: a rule, an outside service or a file of predictions, as a task of the loop."""

import hashlib
import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from friend_training.core.task import FitPlan, FitSummary, Prediction, PseudoLabel
from friend_training.errors import DataError, FriendTrainingError, RunError
from friend_training.tasks.class_metrics import ClassMetric, classification_scores


class PredictionLine(BaseModel):
    """A line of a file of predictions made elsewhere, one JSON object per input.

        {"id": "meld:12.3", "label": "positive", "confidence": 0.83}

    `confidence` is from 0 to 1 and may be left out (1). A label of null means that there is no prediction for this
    input. An input that the file does not name at all is an error: ids that do not fit would otherwise be taken for a
    friend without predictions.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    id: str
    label: str | None
    confidence: float = Field(default=1.0, ge=0.0, le=1.0)


@dataclass(frozen=True, slots=True)
class Predictions:
    """The lines of a file by id, and the digest of its content."""

    path: Path
    lines: dict[str, PredictionLine]
    digest: str

    def of(self, id: str) -> PredictionLine:
        if id not in self.lines:
            raise DataError(f"no prediction for input {id!r}; the file has {len(self.lines)} others", path=self.path)
        return self.lines[id]


def read_predictions(path: str | Path) -> Predictions:
    """The whole file; the first line that is not right is an error."""
    path = Path(path)
    if not path.is_file():
        raise DataError("no such file", path=path)
    content = path.read_bytes()
    lines: dict[str, PredictionLine] = {}
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            found = _parsed(line, path, number)
            if found.id in lines:
                raise DataError(f"a second prediction for {found.id!r}", path=path, line=number)
            lines[found.id] = found
    return Predictions(path, lines, hashlib.sha256(content).hexdigest())


def _parsed(line: bytes, path: Path, number: int) -> PredictionLine:
    try:
        return PredictionLine.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise DataError(f"{where + ': ' if where else ''}{first['msg']}", path=path, line=number) from None


NOTE = "task.json"


@dataclass(frozen=True, slots=True)
class Answer:
    """The prediction of a fixed friend for one input, and how sure it is."""

    label: str
    confidence: float = 1.0


Answers = Callable[[Sequence[Any]], Sequence[Answer | None]]
"""A batch of inputs → one answer each; None where the friend has none, and then there is nothing to match."""


class FixedTask:
    """Whatever answers, as a friend: it predicts and matches, `fit` does nothing, and none of its labels are chosen.

    Its plan is `core.plan.fixed_friend(task)`: no gold, no training, and dev only if you want to see it scored.
    `version` names the thing that answers. It is saved in the run folder, and a run that is resumed with another
    version is refused. It is queried anew in every iteration: what costs money or changes its mind (a service)
    should be queried once, its answers written to a file, and the file used (`from_file`, which takes the file's digest
    as its version).
    """

    label_type: Any = str

    def __init__(
        self, name: str, answers: Answers, *, version: str = "", main_metric: ClassMetric = "accuracy"
    ) -> None:
        self.name, self.version, self.main_metric = name, version, main_metric
        self._answers = answers

    @classmethod
    def from_rule(cls, name: str, rule: Callable[[Any], str | None], *, version: str = "") -> "FixedTask":
        """A function of one input. It is never in doubt: its confidence is 1."""

        def answers(inputs: Sequence[Any]) -> list[Answer | None]:
            return [None if label is None else Answer(label) for label in map(rule, inputs)]

        return cls(name, answers, version=version)

    @classmethod
    def from_file(cls, name: str, path: str | Path) -> "FixedTask":
        """Predictions made elsewhere, by the id of the input (see prediction_file.py)."""
        path = Path(path)
        predictions = read_predictions(path)

        def answers(inputs: Sequence[Any]) -> list[Answer | None]:
            found = [predictions.of(given.id) for given in inputs]
            return [None if line.label is None else Answer(line.label, line.confidence) for line in found]

        return cls(name, answers, version=predictions.digest)

    def fit(
        self, gold: Sequence[Any], pseudo: Sequence[PseudoLabel], *, dev: Sequence[Any], plan: FitPlan
    ) -> FitSummary:
        return FitSummary(steps=0, best_step=0, best_score=math.nan)

    def predict(self, inputs: Sequence[Any]) -> list[list[Prediction]]:
        if not inputs:
            return []
        answers = self._answers(inputs)
        if len(answers) != len(inputs):
            raise FriendTrainingError(f"task {self.name}: {len(answers)} answers for {len(inputs)} inputs")
        return [
            [] if answer is None else [Prediction(given.id, answer.label, answer.confidence)]
            for given, answer in zip(inputs, answers, strict=True)
        ]

    def evaluate(self, gold: Sequence[tuple[Any, str]]) -> Mapping[str, float]:
        """No answer is a wrong one."""
        predicted = self.predict([given for given, _ in gold])
        return classification_scores(
            [units[0].label if units else None for units in predicted], [label for _, label in gold]
        )

    def save(self, folder: Path) -> None:
        """There are no weights: what is saved is a note of who answered."""
        (folder / NOTE).write_text(json.dumps(self._note()) + "\n", encoding="utf-8")

    def load(self, folder: Path) -> None:
        if not (folder / NOTE).is_file():
            raise RunError(f"{folder}: there is no fixed friend here; {NOTE} was expected")
        found = json.loads((folder / NOTE).read_text(encoding="utf-8"))
        if found != self._note():
            raise RunError(f"{folder}: the fixed friend of this run was {found}, now it is {self._note()}")

    def _note(self) -> dict[str, str]:
        return {"task": self.name, "fixed": "yes", "version": self.version}


_LONGEST = 6
"""Characters of the longest word that is searched in text without spaces."""


@dataclass(frozen=True)
class Lexicon:
    """A rule: words that tell a polarity vote, and a negation before them turns their vote round. `spaced` text has
    spaces between its words.

    Where its words do not decide it predicts `undecided`; None is no prediction, and then there is nothing to match.

    The rule is as plain as it looks: it knows no irony and no context. That is its worth as a third friend: what it
    gets wrong has little to do with what trained models get wrong.
    """

    positive: Collection[str]
    negative: Collection[str]
    negations: Collection[str]
    spaced: bool
    undecided: str | None = "neutral"

    def __call__(self, given: Any) -> str | None:
        """The polarity of an input's text; `undecided` when nothing votes, or as many on both sides."""
        votes = self._votes(given.text.lower().replace("’", "'"))
        return "positive" if votes > 0 else "negative" if votes < 0 else self.undecided

    def _votes(self, text: str) -> int:
        return self._votes_of_words(text) if self.spaced else self._votes_in(text)

    def _votes_of_words(self, text: str) -> int:
        words = "".join(c if c.isalnum() or c == "'" else " " for c in text).split()
        turned = [any(before in self.negations for before in words[max(0, at - 3) : at]) for at in range(len(words))]
        return sum(-self._vote(word) if turn else self._vote(word) for word, turn in zip(words, turned, strict=True))

    def _votes_in(self, text: str) -> int:
        """Without spaces: the longest word that begins at a place votes, and the words within it do not."""
        votes = at = 0
        while at < len(text):
            word = next((text[at : at + n] for n in range(_LONGEST, 0, -1) if self._vote(text[at : at + n])), "")
            turn = any(negation in text[max(0, at - 3) : at] for negation in self.negations)
            votes += -self._vote(word) if turn else self._vote(word)
            at += len(word) or 1
        return votes

    def _vote(self, word: str) -> int:
        return (word in self.positive) - (word in self.negative)


def read_lexicon(path: str | Path, *, spaced: bool) -> Lexicon:
    """Lines `positive: word word …`, `negative: …`, `negation: …`; a kind may have several lines, # is a remark."""
    path = Path(path)
    words: dict[str, set[str]] = {"positive": set(), "negative": set(), "negation": set()}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        kind, colon, rest = line.partition(":")
        if not colon or kind not in words:
            raise DataError(f"expected one of {', '.join(words)} and a colon", path=path, line=number)
        words[kind].update(rest.split())
    return Lexicon(
        frozenset(words["positive"]), frozenset(words["negative"]), frozenset(words["negation"]), spaced=spaced
    )
