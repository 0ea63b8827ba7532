"""A labelled dialogue as one line, in our own format with confidences or as public evaluation scripts read it."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from friend_training.core.task import Prediction
from friend_training.corpora.exports import csagn_object
from friend_training.corpora.jsonl import to_line
from friend_training.errors import ConfigError
from friend_training.examples import SPEAKER, CsrlExample, Dialogue, RewritingExample, Roles

PredictionFormat = Literal["jsonl", "rast-plus", "csagn"]
_ONLY_FOR = {"rast-plus": "rewriting", "csagn": "csrl"}


def check_format(task: str, format: PredictionFormat) -> None:
    only = _ONLY_FOR.get(format, task)
    if only != task:
        raise ConfigError(
            f"--format {format} is for --task {only}; for {task} there is " + " and ".join(_formats(task))
        )


def prediction_line(dialogue: Dialogue, predictions: Sequence[Prediction], format: PredictionFormat) -> str:
    """The line without its line feed. A dialogue that asked for nothing has no predictions and is written as it is."""
    if predictions and not isinstance(predictions[0].label, Roles):
        [prediction] = predictions
        if format == "rast-plus":
            return " ".join("".join(prediction.label.text.split()))
        # A rewrite that deletes everything says nothing: the format has no empty rewrite.
        example = RewritingExample(dialogue, prediction.label.text or dialogue.utterance.text)
        return _dumped(json.loads(to_line(example)) | {"confidence": _rounded(prediction)})
    example_ = CsrlExample(dialogue, tuple(_writable(prediction.label) for prediction in predictions))
    if format == "csagn":
        return _dumped(csagn_object(example_))
    line = json.loads(to_line(example_))
    for predicate, prediction in zip(line["predicates"], predictions, strict=True):
        predicate["confidence"] = _rounded(prediction)
    return _dumped(line)


def _writable(roles: Roles) -> Roles:
    """A span from a speaker token into the words is written as its words: the formats know only bare speaker tokens."""
    arguments = (replace(a, start=0) if a.start == SPEAKER and a.end > 0 else a for a in roles.arguments)
    return replace(roles, arguments=tuple(arguments))


def _rounded(prediction: Prediction) -> float:
    """Six digits that count: the product of many decisions may be very small."""
    return float(f"{prediction.confidence:.6g}")


def _dumped(line: dict[str, object]) -> str:
    return json.dumps(line, ensure_ascii=False)


def _formats(task: str) -> list[str]:
    return ["jsonl", *(name for name, only in _ONLY_FOR.items() if only == task)]
