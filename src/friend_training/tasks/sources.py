"""Friends that are never trained, as tasks of the loop: a rule, a file of answers, a service that is asked.

`FixedTask` is what they have in common; whatever else answers is a task by it.
"""

import csv
import hashlib
import http.client
import io
import json
import math
import os
import re
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypedDict, TypeVar, Unpack
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from friend_training.core.expected import expected
from friend_training.core.limits import Limits, exceeds
from friend_training.core.task import Evaluation, FitPlan, FitSummary, Prediction, PseudoLabel
from friend_training.errors import ConfigError, DataError, FriendTrainingError, RunError
from friend_training.runs.files import one_at_a_time, read_json_object
from friend_training.runs.run import DIGEST, has_its_digest, with_digest
from friend_training.tasks.class_metrics import classification_scores
from friend_training.tasks.given_examples import GivenExamples
from friend_training.types import text_of, words_of

NOTE = "task.json"


@dataclass(frozen=True, slots=True)
class Answer:
    """The label of a fixed friend for one input, and how sure it is."""

    label: Any
    confidence: float = 1.0


Answers = Callable[[Sequence[Any]], Sequence[Answer | None]]
"""A batch of inputs → one answer each; None where the friend has none, and then there is nothing to match."""

Scores = Callable[[Sequence[Any], Sequence[Any]], Evaluation]
"""Predicted labels, None where there is none, and gold labels → metrics."""


class OwnExamples(TypedDict, total=False):
    """What a friend that is never trained may be scored on, and the columns of its rows."""

    dev: Any
    test: Any
    text: str
    label: str
    id: str | None


def given_to_score(
    dev: Any = None, test: Any = None, text: str = "text", label: str = "label", id: str | None = None
) -> GivenExamples:
    return GivenExamples(None, dev, test, {"text": text, "label": label}, id)


class FixedTask:
    """Whatever answers, as a friend: it predicts and matches, `fit` does nothing, and none of its labels are chosen.

    Its plan is `loop.plan.fixed_friend(task)`: no gold, no training, and dev only if you want to see it scored.
    `version` names the thing that answers. It is saved in the run folder, and a run that is resumed with another
    version is refused. `answers` is asked anew in every iteration.

    Labels are of `label_type`, anything that pydantic reads. Gold is pairs of an input and its label. Without `scores`
    a label is right as a whole (accuracy and macro-F1); labels with parts have metrics of their own, as
    `token_scores` for tags.

    `dev` and `test` are for FriendTrainer, which then tells how good these answers are by themselves: rows with the
    columns `text`, `label` and `id`, as other tasks have them, or pairs of an input and its label.
    """

    trained = False
    described: Mapping[str, Any] | None = None
    """What a config says of it, if a config can say all of it."""

    def __init__(
        self,
        name: str,
        answers: Answers,
        *,
        version: str = "",
        label_type: Any = str,
        metric: str = "accuracy",
        scores: Scores | None = None,
        **own_examples: Unpack[OwnExamples],
    ) -> None:
        self.name, self.version, self.label_type, self.main_metric = name, version, label_type, metric
        self.examples = given_to_score(**own_examples)
        self._answers = answers
        self._scores = scores or WholeLabels(label_type)

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

    def evaluate(self, gold: Sequence[tuple[Any, Any]]) -> Evaluation:
        """No answer is a wrong one."""
        predicted = self.predict([given for given, _ in gold])
        return self._scores([units[0].label if units else None for units in predicted], [label for _, label in gold])

    def save(self, folder: Path) -> None:
        """There are no weights: what is saved is a note of who answered."""
        (folder / NOTE).write_text(json.dumps(self._note()) + "\n", encoding="utf-8")

    def load(self, folder: Path) -> None:
        if not (folder / NOTE).is_file():
            raise RunError(f"{folder}: there is no fixed friend here; {NOTE} was expected")
        found = read_json_object(folder / NOTE, "a fixed friend")
        if found != self._note():
            raise RunError(f"{folder}: the fixed friend of this run was {found}, now it is {self._note()}")

    def _note(self) -> dict[str, str]:
        return {"task": self.name, "fixed": "yes", "version": self.version}


@dataclass(frozen=True, slots=True)
class WholeLabels:
    """Accuracy and macro-F1 of labels of any type: one that is not right as a whole is wrong."""

    label_type: Any

    def __call__(self, predicted: Sequence[Any], gold: Sequence[Any]) -> Evaluation:
        if self.label_type is str:
            return classification_scores(predicted, gold)
        to_json = TypeAdapter(self.label_type).dump_json
        written = [None if label is None else to_json(label).decode() for label in predicted]
        return classification_scores(written, [to_json(label).decode() for label in gold])


class Rule(FixedTask):
    """A function of one input, as a friend: it gives a label, a pair of a label and a confidence, or None (no answer).

    A label alone has the confidence 1. A label that is itself a pair with a number is given as an `Answer`.
    """

    def __init__(
        self,
        name: str,
        rule: Callable[[Any], Any],
        *,
        version: str = "",
        label_type: Any = str,
        metric: str = "accuracy",
        scores: Scores | None = None,
        **own_examples: Unpack[OwnExamples],
    ) -> None:
        if not callable(rule):
            raise ConfigError(f"task {name}: the rule is {rule!r}, expected a function of an input")
        answers = RuleAnswers(name, rule, label_type)
        super().__init__(
            name, answers, version=version, label_type=label_type, metric=metric, scores=scores, **own_examples
        )


@dataclass(frozen=True, slots=True)
class RuleAnswers:
    """The answers of a function, each checked for what it should be."""

    task: str
    rule: Callable[[Any], Any]
    label_type: Any

    def __call__(self, inputs: Sequence[Any]) -> list[Answer | None]:
        check = TypeAdapter(self.label_type).validate_python
        return [self._answer(given, check) for given in inputs]

    def _answer(self, given: Any, check: Callable[..., Any]) -> Answer | None:
        try:
            said = self.rule(given)
        except FriendTrainingError:
            raise
        except Exception as error:  # whatever a function of the user's raises
            raise ConfigError(
                f"task {self.task}: the rule failed for input {given.id!r}, {type(error).__name__}: {error};"
                " where it has no answer, None is expected"
            ) from error
        if said is None:
            return None
        answer = said if isinstance(said, Answer) else Answer(*said) if _is_pair(said) else Answer(said)
        try:
            check(answer.label, strict=True)
        except ValidationError:
            raise self._unexpected(given, said) from None
        if not 0.0 <= answer.confidence <= 1.0:
            raise self._unexpected(given, said)
        return answer

    def _unexpected(self, given: Any, said: Any) -> ConfigError:
        kind = getattr(self.label_type, "__name__", str(self.label_type))
        return ConfigError(
            f"task {self.task}: for input {given.id!r} the rule gave {said!r}, expected a label ({kind}),"
            " a pair of a label and a confidence from 0 to 1, or None"
        )


def _is_pair(said: Any) -> bool:
    return isinstance(said, tuple) and len(said) == 2 and type(said[1]) in (int, float)


L = TypeVar("L")


class AnswerLine(BaseModel, Generic[L]):
    """A line of a file of answers, one JSON object per input; a CSV file has the same names as columns.

        {"id": "meld:12.3", "label": "positive", "confidence": 0.83}

    `confidence` is from 0 to 1 and may be left out (1). A label of null, in CSV an empty cell, is no answer.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    id: str
    label: L | None
    confidence: float = Field(default=1.0, ge=0.0, le=1.0)


class AnswerFile(FixedTask):
    """Labels that were made elsewhere, in a file of JSON lines or CSV (`AnswerLine`), as a friend.

    An input that the file does not have has no answer. The file's digest is the version of this friend.
    """

    def __init__(
        self,
        name: str,
        path: str | Path,
        *,
        label_type: Any = str,
        metric: str = "accuracy",
        scores: Scores | None = None,
        **own_examples: Unpack[OwnExamples],
    ) -> None:
        path = Path(path)
        if not path.is_file():
            raise DataError("no such file", path=path)
        content = path.read_bytes()
        answers = FileAnswers(_by_id(_lines(content, path, label_type), path))
        version = hashlib.sha256(content).hexdigest()
        super().__init__(
            name, answers, version=version, label_type=label_type, metric=metric, scores=scores, **own_examples
        )
        if label_type is str and scores is None:
            self.described = {"kind": "answer-file", "file": path, "metric": metric}


@dataclass(frozen=True, slots=True)
class FileAnswers:
    """The answers of a file by the ids of inputs."""

    lines: Mapping[str, AnswerLine[Any]]

    def __call__(self, inputs: Sequence[Any]) -> list[Answer | None]:
        found = [self.lines.get(given.id) for given in inputs]
        return [None if line is None or line.label is None else Answer(line.label, line.confidence) for line in found]


def _by_id(lines: Iterator[tuple[int, AnswerLine[Any]]], path: Path) -> dict[str, AnswerLine[Any]]:
    found: dict[str, AnswerLine[Any]] = {}
    for number, line in lines:
        if line.id in found:
            raise DataError(f"a second answer for {line.id!r}", path=path, line=number)
        found[line.id] = line
    return found


def _lines(content: bytes, path: Path, label_type: Any) -> Iterator[tuple[int, AnswerLine[Any]]]:
    """Every line with its number; the first that is not right is an error."""
    model = AnswerLine[label_type]
    limit = Limits.from_environment().line
    for number, line in enumerate(content.split(b"\n"), start=1):
        if len(line) > limit:
            raise DataError(f"a line of more than {limit:,} bytes; {exceeds('line', limit)}", path=path, line=number)
    if path.suffix.lower() == ".csv":
        yield from (
            (number, _checked(model, json.dumps(row), path, number)) for number, row in _rows(content, path, label_type)
        )
        return
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            yield number, _checked(model, line, path, number)


def _checked(model: type[AnswerLine[Any]], line: bytes | str, path: Path, number: int) -> AnswerLine[Any]:
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise DataError(f"{where + ': ' if where else ''}{expected(first)}", path=path, line=number) from None


def _rows(content: bytes, path: Path, label_type: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a CSV file as the objects of JSON lines: a label with parts stands in its cell as JSON."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"not UTF-8: byte 0x{content[error.start]:02x}", path=path, line=line) from None
    reader = csv.DictReader(io.StringIO(text, newline=""), restkey="too many cells")
    read = TypeAdapter(label_type).validate_python
    try:
        columns = list(reader.fieldnames or ())
        if not {"id", "label"} <= set(columns) or len(set(columns)) < len(columns):
            raise DataError(
                f"columns are {', '.join(columns)}; expected id, label and perhaps confidence", path=path, line=1
            )
        for row in reader:
            found: dict[str, Any] = {**row, "label": _cell(row["label"], read)}
            if confidence := found.pop("confidence", None):
                found["confidence"] = _as_json(confidence)
            yield reader.line_num, found
    except csv.Error as error:  # a quotation mark that is never closed
        raise DataError(f"broken CSV: {error}", path=path, line=reader.line_num + 1) from None


def _cell(cell: str | None, read: Callable[..., Any]) -> Any:
    if not cell:
        return None
    try:
        read(cell, strict=True)
    except ValidationError:
        return _as_json(cell)
    return cell


def _as_json(cell: str) -> Any:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return cell


class Endpoint(FixedTask):
    """A language model behind an OpenAI-style service (`url`/chat/completions), as a friend.

    `prompt` has {text} in it, or {words} (a JSON list), and perhaps {labels}. The answer is one of `labels`, or JSON
    of `label_type`, whose schema is sent along; any other answer is none. With several `samples` the confidence is the
    share of them that gave the commonest label.

    Answers are saved in the file `cache`, by text and by what was asked how, so that nothing is asked twice, in a run
    that is resumed neither. `budget` is how many requests this may cost, those whose answers are saved already
    included; when it is used up, that is an error. The key is read from the environment variable `key_variable`.
    """

    def __init__(
        self,
        name: str,
        url: str,
        *,
        model: str,
        prompt: str,
        cache: str | Path,
        labels: Sequence[str] | None = None,
        label_type: Any = str,
        samples: int = 1,
        temperature: float | None = None,
        budget: int | None = None,
        key_variable: str | None = None,
        concurrency: int = 4,
        retries: int = 4,
        timeout: float = 60.0,
        metric: str = "accuracy",
        scores: Scores | None = None,
        **own_examples: Unpack[OwnExamples],
    ) -> None:
        if urlsplit(url).scheme not in ("http", "https"):
            raise ConfigError(f"task {name}: url is {url!r}, expected http://… or https://…")
        if "{text}" not in prompt and "{words}" not in prompt:
            raise ConfigError(f"task {name}: prompt is {prompt!r}, expected {{text}} or {{words}} in it")
        if (labels is None) == (label_type is str):
            raise ConfigError(f"task {name}: expected either labels or the label_type of labels with parts")
        if labels is not None and (isinstance(labels, str) or len(labels) < 2):
            raise ConfigError(f"task {name}: labels are {labels!r}, expected a list of at least two")
        for setting, value, least in (
            ("samples", samples, 1),
            ("concurrency", concurrency, 1),
            ("retries", retries, 0),
        ):
            if value < least:
                raise ConfigError(f"task {name}: {setting} is {value}, expected {least} or more")
        warmth = temperature if temperature is not None else 0.0 if samples == 1 else 1.0
        question = Question(model, prompt, None if labels is None else tuple(labels), label_type, warmth)
        service = Service(name, url.rstrip("/"), key_variable, retries, timeout)
        said = AnswerCache(Path(cache), question.version)
        said.read()  # a file that is none of ours is told before anything is asked
        answers = EndpointAnswers(service, question, said, samples, budget, concurrency)
        version = f"{question.version}, {samples} samples"
        super().__init__(
            name, answers, version=version, label_type=label_type, metric=metric, scores=scores, **own_examples
        )
        if labels is not None and scores is None and temperature is None:
            self.described = {
                "kind": "endpoint",
                "url": url,
                "model": model,
                "prompt": prompt,
                "labels": list(labels),
                "cache": Path(cache),
                "samples": samples,
                "budget": budget,
                "concurrency": concurrency,
                "key_variable": key_variable,
                "metric": metric,
            }


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked, and how its answer is read."""

    model: str
    prompt: str
    labels: tuple[str, ...] | None
    label_type: Any
    temperature: float

    @property
    def version(self) -> str:
        """Equal for two questions only if they ask the same of the same model in the same way."""
        asked = json.dumps([self.model, self.prompt, self.labels, self._schema(), self.temperature], sort_keys=True)
        return hashlib.sha256(asked.encode()).hexdigest()[:16]

    def text(self, given: Any) -> str:
        parts = {"{labels}": ", ".join(self.labels or ())}
        if "{text}" in self.prompt:
            parts["{text}"] = text_of(given)
        if "{words}" in self.prompt:
            parts["{words}"] = json.dumps(words_of(given), ensure_ascii=False)
        return re.sub("|".join(map(re.escape, parts)), lambda found: parts[found.group()], self.prompt)

    def body(self, text: str, sample: int) -> dict[str, Any]:
        """The request; the number of the sample is its seed."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": "user", "content": text}],
            "temperature": self.temperature,
            "seed": sample,
        }
        if (schema := self._schema()) is not None:
            body["response_format"] = {"type": "json_schema", "json_schema": {"name": "label", "schema": schema}}
        return body

    def label(self, said: str) -> Any:
        """The label that an answer stands for; None if it stands for none."""
        said = said.rpartition("</think>")[2].strip()
        if self.labels is not None:
            return self._named(said)
        try:
            return TypeAdapter(self.label_type).validate_json(_FENCE.sub("", said))
        except ValidationError:
            return None

    def _named(self, said: str) -> str | None:
        assert self.labels is not None
        bare = said.strip("\"'`*. \n")
        same = [label for label in self.labels if label == bare] or [
            label for label in self.labels if label.casefold() == bare.casefold()
        ]
        return same[0] if len(same) == 1 else None

    def _schema(self) -> Any:
        return None if self.labels is not None else TypeAdapter(self.label_type).json_schema()


_FENCE = re.compile(r"^```(?:json)?\s*|\s*```$")


class AnswerCache:
    """A file of JSON lines: what was answered to which text, in which version.

    Each line has its digest: one that was cut off or damaged does not count, and is asked again.
    """

    def __init__(self, path: Path, version: str) -> None:
        self.path, self.version = path, version
        self.answers: dict[tuple[str, int], str] = {}
        self._read = 0
        self._is_ours = False

    def read(self) -> None:
        """Take note of what was added since, by other processes too."""
        if not self.path.is_file():
            if self.path.exists():
                raise ConfigError(f"{self.path}: expected a file that keeps answers, or none; this is no file")
            return
        with self.path.open("rb") as file:
            file.seek(self._read)
            content = file.read()
        whole = content[: content.rfind(b"\n") + 1]
        self._read += len(whole)
        lines = [found for line in whole.split(b"\n") if (found := _cached(line)) is not None]
        self._is_ours = self._is_ours or bool(lines)
        if content and not self._is_ours and not content.startswith(_BEGINS):  # our first line may be damaged
            raise ConfigError(f"{self.path}: expected a file that keeps answers, or none; this one has other content")
        for found in lines:
            if found["version"] == self.version:
                self.answers[found["text"], found["sample"]] = found["answer"]

    def add(self, text: str, sample: int, answer: str) -> None:
        line = with_digest({"version": self.version, "text": text, "sample": sample, "answer": answer})
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with one_at_a_time(self.path), self.path.open("ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":  # whoever wrote last was stopped in the middle of a line
                    file.write(b"\n")
            file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        self.answers[text, sample] = answer


_BEGINS = b'{"version": "'
_OF_A_LINE = {"version": str, "text": str, "sample": int, "answer": str}


def _cached(line: bytes) -> dict[str, Any] | None:
    """A line of the cache; None if it is none. Those of before lines had digests are taken as they are."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.keys() - {DIGEST} != _OF_A_LINE.keys():
        return None
    if DIGEST in found and not has_its_digest(found):
        return None
    return found if all(isinstance(found[name], kind) for name, kind in _OF_A_LINE.items()) else None


@dataclass(slots=True)
class EndpointAnswers:
    """The answers of a service: from the cache, or else asked for, several at a time."""

    service: "Service"
    question: Question
    cache: AnswerCache
    samples: int
    budget: int | None
    concurrency: int

    def __call__(self, inputs: Sequence[Any]) -> list[Answer | None]:
        texts = [self.question.text(given) for given in inputs]
        self.cache.read()
        samples = range(self.samples)
        wanted = [key for text in dict.fromkeys(texts) for key in ((text, sample) for sample in samples)]
        self._ask([key for key in wanted if key not in self.cache.answers])
        to_json = TypeAdapter(self.question.label_type).dump_json
        return [self._majority([self.cache.answers[text, sample] for sample in samples], to_json) for text in texts]

    def _majority(self, said: Sequence[str], to_json: Callable[[Any], bytes]) -> Answer | None:
        labels = [label for label in map(self.question.label, said) if label is not None]
        if not labels:
            return None
        written = [to_json(label) for label in labels]
        commonest, count = Counter(written).most_common(1)[0]
        return Answer(labels[written.index(commonest)], count / len(said))

    def _ask(self, missing: Sequence[tuple[str, int]]) -> None:
        """Save what is answered, and stop asking at the first error."""
        if not missing:
            return
        spent = Spending(self.service.task, self.budget, len(self.cache.answers))
        failed: Exception | None = None
        with ThreadPoolExecutor(self.concurrency) as threads:
            asked = {threads.submit(self.service.ask, self.question.body(*key), spent): key for key in missing}
            for future in as_completed(asked):
                if future.cancelled():
                    continue
                if (error := future.exception()) is None:
                    self.cache.add(*asked[future], future.result())
                elif failed is None:
                    failed = error  # type: ignore[assignment]
                    for other in asked:
                        other.cancel()
        if failed is not None:
            raise failed


class Spending:
    """Counts requests, those that failed too, up to a budget."""

    def __init__(self, task: str, budget: int | None, spent: int) -> None:
        self.task, self.budget, self.spent = task, budget, spent
        self._lock = threading.Lock()

    def one_more(self) -> None:
        with self._lock:
            if self.budget is not None and self.spent >= self.budget:
                raise RunError(
                    f"task {self.task}: the budget of {self.budget} requests is used up; what was answered is saved and"
                    " is not asked again: give a larger budget to go on"
                )
            self.spent += 1


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A key is for the service that it was given for, not for whom that service points to."""

    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirects)

_LONGEST_RESPONSE = 16 << 20

BACKOFF = 1.0
"""Seconds before a request is sent again; twice as long each time, unless the service names a time."""


@dataclass(frozen=True, slots=True)
class Service:
    """Where requests go, and how often one that fails is sent again."""

    task: str
    url: str
    key_variable: str | None
    retries: int
    timeout: float

    def ask(self, body: Mapping[str, Any], spent: Spending) -> str:
        """The answer to one request, as text."""
        failure = ""
        for attempt in range(self.retries + 1):
            spent.one_more()
            try:
                return self._content(self._post(body))
            except urllib.error.HTTPError as error:
                failure = f"{error.code} {error.reason}: {error.read(200).decode(errors='replace')}"
                if error.code not in (408, 409, 425, 429) and error.code < 500:
                    raise RunError(f"task {self.task}: {self.url} refuses the request, {failure}") from None
                wait = _seconds(error.headers.get("Retry-After"))
            except (OSError, http.client.HTTPException) as error:
                failure, wait = f"{type(error).__name__}: {error}", None
            if attempt < self.retries:
                time.sleep(BACKOFF * 2**attempt if wait is None else wait)
        raise RunError(f"task {self.task}: {self.url} gave no answer in {self.retries + 1} attempts, {failure}")

    def _post(self, body: Mapping[str, Any]) -> bytes:
        headers = {"Content-Type": "application/json"}
        if self.key_variable is not None:
            if not (key := os.environ.get(self.key_variable)):
                raise ConfigError(f"task {self.task}: the environment variable {self.key_variable} has no key in it")
            headers["Authorization"] = f"Bearer {key}"
        request = urllib.request.Request(
            f"{self.url}/chat/completions", json.dumps(body).encode(), headers, method="POST"
        )
        with _OPENER.open(request, timeout=self.timeout) as response:
            content: bytes = response.read(_LONGEST_RESPONSE + 1)
        if len(content) > _LONGEST_RESPONSE:
            raise RunError(f"task {self.task}: {self.url} answered with more than {_LONGEST_RESPONSE:,} bytes")
        return content

    def _content(self, response: bytes) -> str:
        try:
            said = str(json.loads(response)["choices"][0]["message"]["content"] or "")
            return said.encode("utf-8", "replace").decode()  # JSON can say half a character, which no file can hold
        except (ValueError, LookupError, TypeError, RecursionError):
            raise RunError(
                f"task {self.task}: {self.url} answered {response[:200].decode(errors='replace')!r}, expected"
                " choices with a message, as OpenAI's chat completions"
            ) from None


def _seconds(header: str | None) -> float | None:
    try:
        return None if header is None else min(60.0, max(0.0, float(header)))
    except ValueError:
        return None


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
