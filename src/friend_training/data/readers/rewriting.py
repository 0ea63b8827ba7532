"""Dialogue rewriting files: REWRITE, RESTORATION-200K and CANARD (in the tab-separated form of SARG).

The speaker of u_t is always A and the turns before it alternate, whatever their number: so "same speaker as u_t" means
the same in every corpus. Empty context utterances are left out after that.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from friend_training.data.text_io import Problems, check_texts, numbered_lines
from friend_training.errors import DataError
from friend_training.types import Dialogue, RewritingExample, Turn


def read_rewrite(path: str | Path, problems: Problems) -> Iterator[RewritingExample]:
    """REWRITE: two context utterances, u_t and its rewrite, parted by two tabs."""
    return _read(path, problems, "rewrite", _rewrite_fields)


def read_restoration(path: str | Path, problems: Problems) -> Iterator[RewritingExample]:
    """RESTORATION-200K: four context utterances, u_t, the one after it, a label (0: complete), the restored one."""
    return _read(path, problems, "restoration", _restoration_fields)


def read_canard(path: str | Path, problems: Problems) -> Iterator[RewritingExample]:
    """CANARD: article, section, questions and answers so far, the question, its rewrite; any number of fields.

    The questions of one conversation follow each other, each with all that was said before it. Their ids say that they
    are cuts of one dialogue, so that a split keeps them together.
    """
    source = ""
    before: tuple[str, ...] = ("",)
    for example in _read(path, problems, "canard", _canard_fields):
        texts = tuple(turn.text for turn in example.dialogue.turns)
        if texts[: len(before)] != before:
            source = example.dialogue.id
        before = texts
        name = f"{source}/turn{len(texts)}"
        yield RewritingExample(replace(example.dialogue, id=name), example.rewrite)


def _rewrite_fields(line: str) -> tuple[Sequence[str], str]:
    fields = line.split("\t\t")
    if len(fields) != 4:
        raise DataError(f"{len(fields)} fields parted by two tabs, expected 4")
    return fields[:3], fields[3]


def _restoration_fields(line: str) -> tuple[Sequence[str], str]:
    fields = line.split("\t")
    if len(fields) != 8:
        raise DataError(f"{len(fields)} fields parted by tabs, expected 8")
    if fields[6] not in ("0", "1"):
        raise DataError(f"the label (7th field) is {fields[6]!r}, expected 0 or 1")
    # The utterance after u_t (6th field) was not there when u_t was said: it is no context.
    return fields[:5], fields[7] if fields[6] == "1" else fields[4]


def _canard_fields(line: str) -> tuple[Sequence[str], str]:
    fields = line.split("\t")
    if len(fields) < 3:
        raise DataError(f"{len(fields)} fields parted by tabs, expected at least 3: context, question, rewrite")
    return fields[:-1], fields[-1]


def _read(
    path: str | Path, problems: Problems, name: str, fields: Callable[[str], tuple[Sequence[str], str]]
) -> Iterator[RewritingExample]:
    for number, line in numbered_lines(path, problems):
        example = None
        with problems.skipping(number):
            utterances, rewrite = fields(line)
            check_texts((*utterances, rewrite), problems.limits)
            example = _example(f"{name}:{number}", [utterance.strip() for utterance in utterances], rewrite.strip())
        if example is not None:
            yield example


def _example(name: str, utterances: Sequence[str], rewrite: str) -> RewritingExample:
    if not utterances[-1]:
        raise DataError("the utterance to rewrite is empty")
    if not rewrite:
        raise DataError("the rewrite is empty")
    last = len(utterances) - 1
    turns = (Turn("AB"[(last - i) % 2], utterance) for i, utterance in enumerate(utterances) if utterance)
    return RewritingExample(Dialogue(name, tuple(turns)), rewrite)
