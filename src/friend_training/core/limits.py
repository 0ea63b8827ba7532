"""How large what we are given may be, and YAML within these limits. Whatever is larger is refused in one line.

Files come from anywhere, and a small one can ask for a lot: a gzip file of 5 MB holds gigabytes, a line of 200 MB makes
objects of 6 GB. Every limit lies far above what dialogues need, and each can be set by an environment variable:
FRIEND_TRAINING_MAX_LINE=8000000 for one command.

YAML that somebody else wrote is read as plain values: text, numbers, yes and no, lists and mappings, and nothing else.
PyYAML's safe loader runs no code, but aliases of aliases make it build billions of values out of ten lines, a key that
is given twice silently wins, and dates and tags become objects that no setting can be.
"""

import os
from dataclasses import dataclass, fields
from typing import Any, NoReturn, Self

import yaml

from friend_training.errors import ConfigError

PREFIX = "FRIEND_TRAINING_MAX_"


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that is read; `from_environment` reads what the environment sets.

    line        bytes of one line, or of one dialogue of a JSON file that is a single list
    nesting     lists and objects inside each other
    expansion   a compressed file may unfold to so many times its own size (the public ones: 3 to 28 times)
    text        characters of one dialogue or sentence
    script      characters of an utterance, and of its rewrite, between which an edit script is searched
    whole       bytes of a file that can only be read whole (Chinese PropBank), or of one dialogue over many lines
    config      bytes of a YAML file, and how many values it may have once its aliases are written out
    """

    line: int = 1 << 20
    nesting: int = 64
    expansion: int = 100
    text: int = 100_000
    script: int = 2_000
    whole: int = 16 << 20
    config: int = 100_000

    @classmethod
    def from_environment(cls) -> Self:
        given = {field.name: os.environ.get(PREFIX + field.name.upper(), "") for field in fields(cls)}
        return cls(**{name: _number(name, text) for name, text in given.items() if text})


def exceeds(name: str, limit: int) -> str:
    """The end of every message about a limit: what it is, and how to change it."""
    return f"at most {limit:,} are read (set {PREFIX}{name.upper()} for more)"


def _number(name: str, text: str) -> int:
    # Of more digits than this no number of bytes is meant, and Python refuses to read very long ones.
    if not text.isdecimal() or not text.isascii() or len(text) > 15 or int(text) == 0:
        raise ConfigError(f"{PREFIX}{name.upper()}: {text[:40]!r} was given, expected a number such as 1000000")
    return int(text)


_KNOWN = {f"tag:yaml.org,2002:{name}": name for name in ("str", "int", "float", "bool", "null", "seq", "map", "merge")}
_HINTS = {"tag:yaml.org,2002:timestamp": "a date; in quotation marks it is a text"}
_DELETE = 127


def read_yaml(text: str, where: str) -> Any:
    """The value of a YAML text; `where` names its place in messages."""
    limits = Limits.from_environment()
    if len(text) > limits.config:
        raise ConfigError(f"{where}: {len(text):,} characters of YAML; {exceeds('config', limits.config)}")
    try:
        _check_nesting(text, where, limits)
        loader = yaml.SafeLoader(text)
        try:
            node = loader.get_single_node()
            if node is None:
                return None
            _Check(where, limits).size(node, ())
            return loader.construct_document(node)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f"line {mark.line + 1}: " if mark is not None else ""
        raise ConfigError(f"{where}: {line}not valid YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{where}: not valid YAML: {' '.join(str(error).split())}") from None
    except ValueError:  # an integer of more digits than Python reads, a float that is none
        raise ConfigError(f"{where}: a number in it cannot be read") from None


def _check_nesting(text: str, where: str, limits: Limits) -> None:
    """Before the nodes are made, which calls itself for each level."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > limits.nesting:
                line = f"line {event.start_mark.line + 1}: " if event.start_mark is not None else ""
                message = f"{line}lists and mappings nested more than {limits.nesting} deep"
                raise ConfigError(f"{where}: {message}; {exceeds('nesting', limits.nesting)}")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


class _Check:
    """Goes through the nodes, each once however often an alias names it."""

    def __init__(self, where: str, limits: Limits) -> None:
        self._where, self._limits = where, limits
        self._sizes: dict[int, int] = {}

    def size(self, node: yaml.Node, above: tuple[int, ...]) -> int:
        """How many values this is once all aliases are written out."""
        if id(node) in above:
            self._refuse(node, "an alias stands inside of what it names")
        if id(node) not in self._sizes:
            self._check_tag(node)
            inside = (*above, id(node))
            total = 1 + sum(self.size(part, inside) for part in self._parts(node))
            if total > self._limits.config:
                self._refuse(node, f"aliases make more values of it; {exceeds('config', self._limits.config)}")
            self._sizes[id(node)] = total
        return self._sizes[id(node)]

    def _parts(self, node: yaml.Node) -> list[yaml.Node]:
        if isinstance(node, yaml.SequenceNode):
            return list(node.value)
        if not isinstance(node, yaml.MappingNode):
            return []
        lines: dict[str, int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._refuse(key, "the name of a setting must be a text")
            if key.value in lines:
                self._refuse(key, f"{key.value!r} is given twice, first on line {lines[key.value]}")
            lines[key.value] = key.start_mark.line + 1
        return [part for pair in node.value for part in pair]

    def _check_tag(self, node: yaml.Node) -> None:
        if node.tag not in _KNOWN:
            self._refuse(node, f"{_HINTS.get(node.tag, f'the tag {node.tag!r}')}, which no setting is")
        if isinstance(node, yaml.ScalarNode):
            odd = next((c for c in node.value if (ord(c) < ord(" ") and c not in "\t\n") or ord(c) == _DELETE), None)
            if odd is not None:
                self._refuse(node, f"a control character (U+{ord(odd):04X}) in a text")

    def _refuse(self, node: yaml.Node, message: str) -> NoReturn:
        raise ConfigError(f"{self._where}: line {node.start_mark.line + 1}: {message}")
