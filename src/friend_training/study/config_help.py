"""A config in full, with what each of its settings is for: the sentences of the models in config.py."""

import textwrap
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import yaml
from pydantic.fields import FieldInfo

from friend_training.study.config import Config, FoundThreshold, Section

_WIDTH = 100


def explained_config(config: Config) -> str:
    """The config as YAML, complete, each setting below the sentence that describes it; it can be saved and run.

    Sections of one kind (the two tasks, every training) are described where the first of them stands.
    """
    return "\n".join(_lines(config, "", set())).lstrip("\n") + "\n"


def _lines(section: Section, indent: str, described: set[type[Section]]) -> Iterator[str]:
    kind = type(section)
    new = kind not in described
    described.add(kind)
    for name, field in kind.model_fields.items():
        value = getattr(section, name)
        is_section = isinstance(value, Section) and not isinstance(value, FoundThreshold)
        if new or is_section:
            if not indent:
                yield ""
            comment = textwrap.wrap(_sentence(field), _WIDTH, break_on_hyphens=False)
            yield from (f"{indent}# {line}" for line in comment)
        if is_section:
            yield f"{indent}{name}:"
            yield from _lines(value, f"{indent}  ", described)
        else:
            note = "" if field.is_required() or value == field.default else f"  # {_inline(field.default)} if left out"
            yield f"{indent}{name}: {_inline(value)}{note}"


def _sentence(field: FieldInfo) -> str:
    values = list(_values(field.annotation))
    sentence = " ".join((field.description or "").split())
    return f"{sentence} [{' | '.join(values)}]" if len(values) > 1 else sentence


def _values(annotation: Any) -> Iterator[str]:
    """What can be written, where that is a choice; of a section that has kinds, the kinds."""
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
    elif isinstance(annotation, type) and issubclass(annotation, Section):
        if "kind" in annotation.model_fields:
            yield from _values(annotation.model_fields["kind"].annotation)
    else:
        for part in get_args(annotation):
            yield from _values(part)


def _inline(value: Any) -> str:
    plain = value.model_dump(mode="json") if isinstance(value, Section) else value
    plain = list(plain) if isinstance(plain, tuple) else plain
    text: str = yaml.safe_dump(plain, default_flow_style=True, allow_unicode=True, width=_WIDTH)
    return text.removesuffix("...\n").rstrip("\n")


def opening_words(path: Path) -> str:
    """What a config file says of itself: the first sentence of the comment that it begins with."""
    lines = path.read_text(encoding="utf-8").splitlines()
    comment = " ".join(line.removeprefix("#").strip() for line in takewhile(lambda line: line.startswith("#"), lines))
    return comment.partition(". ")[0].rstrip(".") + "."
