"""Any known file as examples of the kind that is wanted, whatever its format and compression."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, overload

from friend_training.core.limits import Limits
from friend_training.data import jsonl
from friend_training.data.catalogue import part_path
from friend_training.data.readers import dialogues, english
from friend_training.data.readers.propbank import read_propbank
from friend_training.data.summary import fingerprint
from friend_training.data.text_io import Problem, Problems, first_line, open_content, parse_json
from friend_training.errors import DataError
from friend_training.types import CoreferenceExample, CsrlExample, Dialogue, RewritingExample, SrlExample

FORMATS = (
    "jsonl",
    "csrl",
    "rewrite",
    "restoration",
    "canard",
    "mudoco",
    "mudoco-qr",
    "mudoco-domain",
    "camrest",
    "cast",
    "propbank",
    "lccc",
    "xdailydialog",
    "cped",
    "corecode",
    "kdconv",
    "duconv-raw",
)

_LOOK = 1 << 16

_PARTS = ("train", "valid", "test")

_BEGINS_WITH_PART = re.compile(rf'\s*{{\s*"({"|".join(_PARTS)})"\s*:')


_BEGINS_WITH_DOMAIN = re.compile(r'\s*{\s*"domain"\s*:\s*"[a-z]+",\s*"dialogs"\s*:')


_LISTS = {
    "messages": "kdconv",
    "transcript_complete": "camrest",
    "raw_utterance": "cast",
    "manual_rewritten_utterance": "cast",
}
"""What tells a JSON list of dialogues: a key that stands near its beginning."""


def sniff(path: str | Path) -> str:
    """The name of the file's format. A folder is taken for the column files of Chinese PropBank."""
    path = Path(path)
    if path.is_dir():
        return "propbank"
    line = first_line(path)
    guess = _json_format(path, line) if line.lstrip()[0] in "[{" else _text_format(line)
    if guess is None:
        raise DataError(
            f"the format of this file is not known; give it with --format ({', '.join(FORMATS)})", path=path, line=1
        )
    return guess


def json_object(line: str) -> Mapping[str, Any]:
    """The object on a line; nothing if there is none."""
    try:
        value = parse_json(line, Limits.from_environment())
    except DataError:
        return {}
    return value if isinstance(value, dict) else {}


def _beginning(path: str | Path) -> str:
    with open_content(path, Limits.from_environment()) as content:
        return content.read(_LOOK).decode(errors="replace")


_OF_OURS = re.compile(r'"(turns|predicates)"\s*:')
"""A key of the objects of our own format, which stands on one line with all the others."""


def _json_format(path: str | Path, line: str) -> str:
    listed = line.lstrip().startswith("[")
    if not listed and _BEGINS_WITH_DOMAIN.match(_beginning(path)):
        return "mudoco-domain"
    begin = _beginning(path) if listed or line.strip() == "{" else ""
    if _OF_OURS.search(begin):
        written, command = ("a JSON list", "jq -c '.[]'") if listed else ("JSON over several lines", "jq -c .")
        raise DataError(f"this is {written}; expected one object per line, as `{command} FILE` writes it", path=path)
    if listed:
        return next((name for mark, name in _LISTS.items() if f'"{mark}"' in begin), "lccc")
    keys = json_object(line).keys()
    if "doc_key" in keys:
        return "mudoco"
    if "QR_REF" in keys:
        return "mudoco-qr"
    if "conversation" in keys:
        return "duconv-raw"
    if "dialogue" in keys:
        return "corecode"
    # An object over several lines, or one of lists of dialogues, is LCCC's toy data; so is one whose first line is too
    # long to be read. Anything else that begins like one object per line is ours, so that a broken line is explained.
    parts = keys <= set(_PARTS) if keys else _BEGINS_WITH_PART.match(line) is not None
    return "lccc" if line.strip() == "{" or parts else "jsonl"


def _text_format(line: str) -> str | None:
    fields = line.split("\t")
    checks = {
        "csrl": line.count("|||") == 4,
        "xdailydialog": "__eou__" in line,
        "cped": line.startswith("TV_ID,"),
        "restoration": len(fields) == 8 and fields[6] in ("0", "1"),
        "rewrite": len(line.split("\t\t")) == 4 and len(fields) == 7,
        "canard": len(fields) >= 3,
        "propbank": all(cell.count("/") >= 2 for cell in line.split()),
    }
    return next((name for name, fits in checks.items() if fits), None)


Kind = Literal["csrl", "rewriting", "coreference", "dialogue", "sentence"]
"""What a file is read as: labelled for CSRL, for rewriting or for coreference, unlabeled, or sentences with roles."""


Reader = Callable[[str | Path, Problems], Iterator[Any]]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Loaded(Generic[T]):
    """What a file holds, and the lines of it that were skipped."""

    examples: list[T]
    problems: tuple[Problem, ...]
    format: str
    kind: Kind

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.examples)


@overload
def read_examples(
    path: str | Path, kind: Literal["csrl"], *, format: str | None = None, strict: bool = False
) -> Loaded[CsrlExample]: ...


@overload
def read_examples(
    path: str | Path, kind: Literal["rewriting"], *, format: str | None = None, strict: bool = False
) -> Loaded[RewritingExample]: ...


@overload
def read_examples(
    path: str | Path, kind: Literal["coreference"], *, format: str | None = None, strict: bool = False
) -> Loaded[CoreferenceExample]: ...


@overload
def read_examples(
    path: str | Path, kind: Literal["dialogue"], *, format: str | None = None, strict: bool = False
) -> Loaded[Dialogue]: ...


@overload
def read_examples(
    path: str | Path, kind: Literal["sentence"], *, format: str | None = None, strict: bool = False
) -> Loaded[SrlExample]: ...


@overload
def read_examples(path: str | Path, kind: Kind, *, format: str | None = None, strict: bool = False) -> Loaded[Any]: ...


def read_examples(path: str | Path, kind: Kind, *, format: str | None = None, strict: bool = False) -> Loaded[Any]:
    """The examples of a file, all in memory; `format` is told by the first line unless given.

    Lines of public files that contradict themselves are skipped and listed, or an error with `strict`. Our own JSONL is
    somebody's own work: there a wrong line is always an error.
    """
    known = format or sniff(path)
    problems = Problems(path, strict=strict or known == "jsonl")
    examples = list(some_examples(stream_examples(path, kind, problems, format=known), problems, kind, known))
    return Loaded(examples, tuple(problems.found), known, kind)


def some_examples(examples: Iterator[T], problems: Problems, kind: Kind, format: str) -> Iterator[T]:
    """The same examples, and an error where there is none at all."""
    none = True
    for example in examples:
        none = False
        yield example
    if none:
        first = f"; line {problems.found[0].line}: {problems.found[0].message}" if problems.found else ""
        raise DataError(f"no {kind} example can be read from this file (format {format}){first}", path=problems.path)


def stream_examples(path: str | Path, kind: Kind, problems: Problems, *, format: str) -> Iterator[Any]:
    """The same as a stream, for files that do not fit in memory and for seeing every bad line."""
    reader = _readers(format).get(kind)
    if reader is None:
        raise DataError(f"a file of format {format} has no {kind} examples, only {_kinds(format)}", path=path)
    return reader(path, problems)


def open_corpus(
    name: str, kind: Kind, *, format: str | None = None, data_dir: str | Path | None = None, strict: bool = False
) -> Loaded[Any]:
    """`read_examples` for a path or for the name of a known dataset, such as duconv/test."""
    path = Path(name) if Path(name).exists() else part_path(name, data_dir)
    return read_examples(path, kind, format=format, strict=strict)


def native_kind(path: str | Path, format: str) -> Kind:
    """The most that a file's format holds: its labels where it has some. Our own format is told by its first line."""
    if format != "jsonl":
        return next(iter(_readers(format)))
    line = json_object(first_line(path))
    if "rewrite" in line:
        return "rewriting"
    if "clusters" in line:
        return "coreference"
    if "text" in line:
        return "sentence"
    predicates = line.get("predicates")
    labelled = isinstance(predicates, list) and all(isinstance(p, dict) and "arguments" in p for p in predicates)
    return "csrl" if labelled else "dialogue"


def _readers(format: str) -> dict[Kind, Reader]:
    """The readers of a format by kind, the one that holds most first."""
    readers: dict[str, dict[Kind, Reader]] = {
        "jsonl": {
            "csrl": jsonl.read_csrl_lines,
            "rewriting": jsonl.read_rewriting_lines,
            "coreference": jsonl.read_coreference_lines,
            "dialogue": jsonl.read_dialogues,
            "sentence": jsonl.read_sentences,
        },
        "csrl": {"csrl": dialogues.read_csrl, "dialogue": _without_labels(dialogues.read_csrl)},
        "rewrite": {"rewriting": dialogues.read_rewrite, "dialogue": _without_labels(dialogues.read_rewrite)},
        "restoration": {
            "rewriting": dialogues.read_restoration,
            "dialogue": _without_labels(dialogues.read_restoration),
        },
        "canard": {"rewriting": dialogues.read_canard, "dialogue": _without_labels(dialogues.read_canard)},
        "mudoco": {"coreference": english.read_mudoco, "dialogue": _without_labels(english.read_mudoco)},
        "mudoco-qr": {"rewriting": english.read_mudoco_qr, "dialogue": _without_labels(english.read_mudoco_qr)},
        "mudoco-domain": {
            "coreference": english.read_mudoco_domain_links,
            "rewriting": english.read_mudoco_domain,
            "dialogue": _without_labels(english.read_mudoco_domain_links),
        },
        "camrest": {"rewriting": english.read_camrest, "dialogue": _without_labels(english.read_camrest)},
        "cast": {"rewriting": english.read_cast, "dialogue": _without_labels(english.read_cast)},
        "propbank": {"sentence": _sentences},
        "lccc": {"dialogue": dialogues.read_lccc},
        "xdailydialog": {"dialogue": dialogues.read_xdailydialog},
        "cped": {"dialogue": dialogues.read_cped},
        "corecode": {"dialogue": dialogues.read_corecode},
        "kdconv": {"dialogue": dialogues.read_kdconv},
        "duconv-raw": {"dialogue": dialogues.read_duconv_raw},
    }
    if format not in readers:
        raise DataError(f"there is no format {format!r}; known are {', '.join(FORMATS)}")
    return readers[format]


def _kinds(format: str) -> str:
    return " and ".join(_readers(format))


def _without_labels(reader: Reader) -> Reader:
    def read(path: str | Path, problems: Problems) -> Iterator[Dialogue]:
        return (example.dialogue for example in reader(path, problems))

    return read


def _sentences(path: str | Path, problems: Problems) -> Iterator[SrlExample]:
    return (sentence.example for sentence in read_propbank(path, problems))
