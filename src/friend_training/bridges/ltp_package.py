"""Adapter to the `ltp` package (4.2), for people who have it and one of its larger models."""

from collections.abc import Callable, Sequence
from typing import Any

from friend_training.bridges.bridge import Frame, ParsedSentence, word_spans
from friend_training.errors import naming_missing_packages
from friend_training.types import SentenceArgument

TASKS = ["cws", "pos", "srl"]
TEXTS_PER_CALL = 32
"""The package pads a call to its longest text: few texts, of similar length, at a time."""


class LtpPackageParser:
    """LTP by its own package. `pipeline` stands in for the package where a test or a wrapper brings its own."""

    name = "ltp-package"

    def __init__(self, model: str = "LTP/tiny", *, pipeline: Callable[..., Any] | None = None) -> None:
        self.pipeline = _load(model) if pipeline is None else pipeline

    def parse(self, texts: Sequence[str]) -> list[ParsedSentence]:
        parsed = [ParsedSentence(text, (), (), ()) for text in texts]
        order = sorted((i for i, text in enumerate(texts) if text.strip()), key=lambda i: len(texts[i]))
        for first in range(0, len(order), TEXTS_PER_CALL):
            batch = order[first : first + TEXTS_PER_CALL]
            output = self.pipeline([texts[i] for i in batch], tasks=TASKS)
            for i, words, tags, frames in zip(batch, output.cws, output.pos, output.srl, strict=True):
                spans = word_spans(texts[i], words)
                found = tuple(_frame(frame, spans) for frame in frames)
                parsed[i] = ParsedSentence(texts[i], spans, tuple(tags), found)
        return parsed


def _frame(frame: dict[str, Any], spans: Sequence[tuple[int, int]]) -> Frame:
    """The package gives (role, text, first word, last word): both ends belong to the argument."""
    arguments = (SentenceArgument(role, spans[i][0], spans[j][1]) for role, _, i, j in frame["arguments"])
    return Frame(frame["index"], tuple(arguments))


def _load(model: str) -> Callable[..., Any]:
    with naming_missing_packages():
        from ltp import LTP

    ltp = LTP(model)
    restore_batch_encode_plus(ltp.tokenizer)
    return ltp.pipeline  # type: ignore[no-any-return]


def restore_batch_encode_plus(tokenizer: Any) -> None:
    """ltp 4.2.14 calls `batch_encode_plus`, which transformers 5 no longer has: calling the tokenizer does the same."""
    if not hasattr(tokenizer, "batch_encode_plus"):
        tokenizer.batch_encode_plus = tokenizer.__call__
