"""The pages of docs/reference that are written by a program: what a config can say, and what the command can do.

    python .ci/reference.py          writes docs/reference/config.md and docs/reference/cli.md

A test says whether they are up to date.
"""

import re
from collections.abc import Iterator, Mapping
from inspect import cleandoc
from pathlib import Path
from typing import Any

import yaml
from typer.main import get_command

from friend_training.cli.main import app
from friend_training.study.config import CaseStudyConfig, FriendsConfig

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"

CONFIG_OPENING = """# What a config can say

This page is written by `python .ci/reference.py` from the models in `study/sections.py` and `study/config.py`. A key
that is not here is an error. `friend-train config show CONFIG` prints a config in full with the same sentences, and
`--set tasks.polarity.base_steps=300` changes one key for a run. Defaults are what counts where a config says
nothing."""

CLI_OPENING = """# The command

This page is written by `python .ci/reference.py` from the command itself; `friend-train COMMAND --help` says the same.
Wrong input ends with code 2 and one line that says what was expected."""


def config_page() -> str:
    parts = [CONFIG_OPENING]
    told: set[str] = set()
    for title, model in (
        ("A config of your own tasks", FriendsConfig),
        ("A config of the paper's pair", CaseStudyConfig),
    ):
        schema = model.model_json_schema()
        sections = schema.get("$defs", {})
        parts += [f"## {title}", _first_line(schema), _table(schema, sections)]
        for name in _reached(schema, sections):
            if name not in told:
                told.add(name)
                parts += [f"### {_title(name)}", _first_line(sections[name]), _table(sections[name], sections)]
    return "\n\n".join(parts) + "\n"


def _reached(schema: Mapping[str, Any], sections: Mapping[str, Any]) -> list[str]:
    """The sections that the schema leads to, in the order in which a reader meets them."""
    found: list[str] = []
    for name in _referred(schema.get("properties", {})):
        if name not in found:
            found.append(name)
            found += [inner for inner in _reached(sections[name], sections) if inner not in found]
    return found


def _referred(schema: Any) -> Iterator[str]:
    match schema:
        case {"$ref": str(reference)}:
            yield reference.rpartition("/")[2]
        case dict():
            for key, value in schema.items():
                if key not in ("discriminator", "default"):
                    yield from _referred(value)
        case list():
            for value in schema:
                yield from _referred(value)


def _title(name: str) -> str:
    words = re.findall(r"[A-Z][a-z]+|[A-Z]+(?![a-z])", name.removesuffix("Config"))
    return " ".join(words).capitalize()


def _first_line(schema: Mapping[str, Any]) -> str:
    return " ".join(schema.get("description", "").split())


def _table(schema: Mapping[str, Any], sections: Mapping[str, Any]) -> str:
    needed = schema.get("required", [])
    rows = ["| key | value | default | what it is |", "|---|---|---|---|"]
    for key, field in schema.get("properties", {}).items():
        default = "needed" if key in needed else _default(field, sections)
        rows.append(f"| `{key}` | {_value(field)} | {default} | {_cell(_first_line(field))} |")
    return "\n".join(rows)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _value(field: Mapping[str, Any]) -> str:
    match field:
        case {"$ref": str(reference)}:
            title = _title(reference.rpartition("/")[2])
            return f"[{title}](#{title.lower().replace(' ', '-')})"
        case {"const": value}:
            return f"`{value}`"
        case {"enum": values}:
            return " or ".join(f"`{value}`" for value in values)
        case {"anyOf": choices} | {"oneOf": choices}:
            return " or ".join(dict.fromkeys(map(_value, choices)))
        case {"type": "array", "items": items}:
            return f"a list of: {_value(items)}"
        case {"type": "object", "additionalProperties": dict(inner)}:
            return f"names, each with: {_value(inner)}"
        case {"type": "object", "patternProperties": dict(inner)}:
            return "names, each with: " + " or ".join(map(_value, inner.values()))
        case {"type": "integer" | "number" as kind}:
            return {"integer": "whole number", "number": "number"}[kind] + _limits(field)
        case {"type": str(kind)}:
            return {"string": "text", "boolean": "`true` or `false`", "null": "null"}.get(kind, kind)
    return "anything"


def _limits(field: Mapping[str, Any]) -> str:
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    said = ", ".join(f"{sign} {field[name]:g}" for name, sign in signs.items() if name in field)
    return f" {said}" if said else ""


def _default(field: Mapping[str, Any], sections: Mapping[str, Any]) -> str:
    default = field.get("default")
    if isinstance(default, dict) and (names := list(_referred(field))):
        usual = {key: one.get("default") for key, one in sections[names[0]].get("properties", {}).items()}
        default = {key: value for key, value in default.items() if usual.get(key) != value}
        if not default:
            return ""
    return f"`{_inline(default)}`"


def _inline(value: Any) -> str:
    text: str = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10**6)
    return _cell(text.removesuffix("\n").removesuffix("\n...").rstrip("\n"))


def cli_page() -> str:
    return "\n\n".join([CLI_OPENING, *_command(get_command(app), ("friend-train",))]) + "\n"


def _command(command: Any, words: tuple[str, ...]) -> Iterator[str]:
    inner = sorted(getattr(command, "commands", {}).items())
    if len(words) > 1:
        parameters = [one for one in command.params if "--help" not in one.opts]
        arguments = [one for one in parameters if one.param_type_name == "argument"]
        usage = " ".join((*words, *map(_argument, arguments), "COMMAND" if inner else "[OPTIONS]"))
        yield f"## {' '.join(words)}"
        yield f"```text\n{usage}\n```"
        yield re.sub(r"^(Try:.*?)(?=\n\n|\Z)", r"```text\n\1\n```", _plain(command.help or ""), flags=re.M | re.S)
        if parameters:
            rows = ["| | default | |", "|---|---|---|", *map(_parameter, parameters)]
            yield "\n".join(rows)
    for name, one in inner:
        yield from _command(one, (*words, name))


def _plain(text: str) -> str:
    """Without the marks that a terminal shows as bold and the like."""
    return re.sub(r"\[/?(?:bold|dim|italic)\]", "", cleandoc(text)).replace("\b", "").strip()


def _argument(one: Any) -> str:
    name = one.metavar or one.name.upper()
    return name.replace("...", " …") if one.required else f"[{name}]"


def _parameter(one: Any) -> str:
    option = one.param_type_name == "option"
    names = ", ".join(f"`{name}`" for name in (*one.opts, *one.secondary_opts)) if option else f"`{_argument(one)}`"
    shown = one.show_default if isinstance(getattr(one, "show_default", None), str) else one.default
    plain = "" if shown is None or shown is False or shown in ((), []) or callable(shown) else f"`{shown}`"
    return f"| {names} | {plain} | {_cell(' '.join(_plain(getattr(one, 'help', '') or '').split()))} |"


PAGES = {"config.md": config_page, "cli.md": cli_page}

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")
