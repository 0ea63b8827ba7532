"""Every definition of a task in the library, found by itself, in all its variants, with something to read.

A new task is tried without being named here, as long as its examples are of a known type and its parameters have
defaults or known names; else the tests say what is missing.
"""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, Literal, get_args, get_origin, get_type_hints

from friend_training import tasks
from friend_training.data.synthetic import Domain, csrl_examples, generate, generate_sentences, rewriting_examples
from friend_training.nn.encoder import Encoder
from friend_training.nn.interfaces import Definition
from friend_training.types import (
    CoreferenceExample,
    CsrlExample,
    Dialogue,
    HeadsExample,
    Mention,
    RewritingExample,
    SrlExample,
    TagsExample,
    Text,
    TreeExample,
    Turn,
)
from helpers.little_grammar import heads, tags, trees

TREES, HEADS, TAGS = trees(4, seed=1), heads(4, seed=1), tags(4, seed=1)
DIALOGUES = generate(12, seed=1, domain=Domain.FILM)

LINKED = [
    CoreferenceExample(
        Dialogue(f"d{number}/turn2", (Turn("A", "call ann"), Turn("B", "tell her"))),
        ((Mention(0, 5, 8), Mention(1, 5, 8)),),
    )
    for number in range(4)
]

EXAMPLES: dict[Any, Sequence[Any]] = {
    CoreferenceExample: LINKED,
    CsrlExample: [example for example in csrl_examples(DIALOGUES) if example.roles][:4],
    RewritingExample: rewriting_examples(DIALOGUES)[:4],
    SrlExample: generate_sentences(4, seed=1),
    TreeExample: TREES,
    HeadsExample: HEADS,
    TagsExample: TAGS,
    tuple[Text, str]: [(Text(str(n), "abc de"[: n + 2]), "ab"[n % 2]) for n in range(4)],
}

PARAMETERS: dict[str, Sequence[str]] = {
    "name": "some-task",
    "labels": ("a", "b"),
    "phrases": sorted({bracket.label for example in TREES for bracket in example.tree.brackets}),
    "tags": sorted({tag for example in TAGS for tag in example.tags.tags}),
    "relations": sorted({name for example in HEADS for name in example.heads.relations or ()}),
}


@dataclass(frozen=True)
class Variant:
    """A definition with one of its choices made, on one kind of encoder: `transformer`, `bert` or `words`."""

    made: type
    encoder: str
    choice: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        choice = "".join(f"-{name}-{value}" for name, value in self.choice.items())
        return f"{self.made.__name__}-{self.encoder}{choice}"

    def definition(self, folder: Path) -> Any:
        parameters = inspect.signature(self.made).parameters
        given = {name: PARAMETERS[name] for name in parameters if name in PARAMETERS}
        missing = [
            name for name, p in parameters.items() if p.default is p.empty and name not in given and name != "encoder"
        ]
        assert not missing, f"{self.made.__name__}: say in every_definition.PARAMETERS what to give as {missing}"
        return self.made(encoder=folder, **given, **self.choice)

    def examples(self) -> Sequence[Any]:
        (of,) = get_args(get_type_hints(self.made.gold_items)["examples"])  # type: ignore[attr-defined]
        assert of in EXAMPLES, f"{self.made.__name__}: say in every_definition.EXAMPLES what a {of} is like"
        return EXAMPLES[of]


def definitions() -> list[type]:
    """All classes below `friend_training.tasks` that have the methods of a `Definition`."""
    needed = [name for name, value in vars(Definition).items() if callable(value) and not name.startswith("_")]
    modules = [import_module(found.name) for found in walk_packages(tasks.__path__, tasks.__name__ + ".")]
    classes = {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__
    }
    return sorted((made for made in classes if all(hasattr(made, n) for n in needed)), key=lambda made: made.__name__)


def variants() -> list[Variant]:
    """With every value of every choice (`Literal`), one at a time: second networks are such choices."""
    return [variant for made in definitions() for variant in _variants(made)]


def one_of_each() -> list[Variant]:
    """Every definition once, as it is made when nothing is said."""
    return [next(_variants(made)) for made in definitions()]


def _variants(made: type) -> Iterator[Variant]:
    reads_words = get_type_hints(made.network)["encoder"] is not Encoder  # type: ignore[attr-defined]
    yield from (Variant(made, encoder) for encoder in ("bert", "transformer", *(["words"] if reads_words else [])))
    parameters = inspect.signature(made).parameters
    for name, hint in get_type_hints(made.__init__).items():  # type: ignore[misc]
        others = [value for value in get_args(hint) if value != parameters[name].default]
        yield from (Variant(made, "transformer", {name: value}) for value in others if get_origin(hint) is Literal)
