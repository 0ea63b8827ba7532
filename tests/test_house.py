"""The rules of the house (DESIGN, section 3): who may import whom, read off the sources."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import friend_training

PACKAGE = Path(next(iter(friend_training.__path__)))
NAME = friend_training.__name__
TASK_ROOMS = sorted(path.name for path in (PACKAGE / "tasks").iterdir() if (path / "__init__.py").is_file())

GROUND = {"errors", "examples", "role_names", "__init__"}
"""Beside the rooms: what everybody may import, and which imports no room."""

MAY_IMPORT = {
    "runs": set(),
    "core": {"runs"},
    "loop": {"core", "runs"},
    "nn": {"core"},
    "corpora": {"core"},
    "tasks": {"core", "nn"},
    "methods": {"core", "runs", "loop", "nn"},
    "friends": {"core", "nn", "tasks"},
    "evaluation": {"core", "nn", "tasks", "corpora", "friends"},
    "report": {"core", "runs", "methods", "evaluation"},
    "scenarios": {"core", "runs", "loop", "nn", "tasks", "corpora", "methods", "friends", "evaluation", "report"},
    "export": {"core", "nn", "tasks", "scenarios"},
    "web": {"core", "nn", "tasks", "corpora", "methods", "friends", "evaluation", "scenarios", "report"},
    "cli": {
        "core",
        "runs",
        "nn",
        "tasks",
        "corpora",
        "methods",
        "friends",
        "evaluation",
        "scenarios",
        "report",
        "export",
        "web",
    },
}
"""For each room, the other rooms it may import. The ground belongs to nobody."""

KNOW_TWO_TASKS = {"friends", "scenarios", "export", "web", "cli"}
"""friends/ joins tasks; what stands above it composes runs of them and shows them."""


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def room_of(path: Path) -> str:
    first, *rest = path.relative_to(PACKAGE).parts
    return first if rest else "ground"


def imports_of(path: Path) -> Iterator[str]:
    """Every module that a file imports, absolute and dotted, inside functions too."""
    here = [NAME, *path.relative_to(PACKAGE).with_suffix("").parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join([*here[: len(here) - node.level], node.module or ""]) if node.level else str(node.module)
            yield base.rstrip(".")
            yield from (f"{base}.{alias.name}" for alias in node.names)


def parts_of(imported: str) -> list[str]:
    """The parts of one of our own modules' names, below the package; nothing for others."""
    first, *rest = imported.split(".")
    return rest if first == NAME else []


def test_the_map_has_every_room() -> None:
    rooms = {room_of(path) for path in modules()} - {"ground"}
    assert rooms <= set(MAY_IMPORT), "a new room: say here what it may import, and in docs/architecture.md why"
    assert {"core", "nn", "corpora", "tasks", "methods", "friends", "scenarios", "cli"} <= rooms


@pytest.mark.parametrize("room", sorted(MAY_IMPORT))
def test_a_room_imports_only_what_stands_below_it(room: str) -> None:
    allowed = MAY_IMPORT[room] | {room} | GROUND
    for path in modules():
        if room_of(path) != room:
            continue
        for imported in imports_of(path):
            known = [part for part in parts_of(imported)[:1] if part in MAY_IMPORT or part in GROUND]
            assert set(known) <= allowed, f"{path.relative_to(PACKAGE)} imports {imported}"


def test_the_ground_imports_no_room() -> None:
    """But for the front door, which names what is in the rooms; tests/test_front_door.py looks at what it loads."""
    for path in modules():
        if room_of(path) == "ground" and path.name != "__init__.py":
            for imported in imports_of(path):
                assert not set(parts_of(imported)[:1]) & set(MAY_IMPORT), f"{path.name} imports {imported}"


def test_the_core_knows_no_torch() -> None:
    foreign = {"torch", "transformers", "accelerate", "safetensors"}
    for path in modules():
        if room_of(path) in ("core", "corpora"):
            for imported in imports_of(path):
                assert imported.split(".")[0] not in foreign, f"{path.relative_to(PACKAGE)} imports {imported}"


def test_the_core_knows_no_typed_example() -> None:
    """The core only ever looks at an input's id: dialogues, spans and trees are not its business."""
    for path in modules():
        if room_of(path) == "core":
            assert "examples" not in {part for imported in imports_of(path) for part in parts_of(imported)[:1]}


def tasks_in(path: Path) -> set[str]:
    """The task rooms whose modules a file imports."""
    found = (parts_of(imported) for imported in imports_of(path))
    return {parts[1] for parts in found if parts[:1] == ["tasks"] and len(parts) > 1 and parts[1] in TASK_ROOMS}


def test_only_friends_and_what_composes_runs_know_two_tasks() -> None:
    assert len(TASK_ROOMS) >= 3
    for path in modules():
        room, tasks = room_of(path), tasks_in(path)
        if room == "tasks":
            assert tasks <= {path.relative_to(PACKAGE).parts[1]}, f"{path.relative_to(PACKAGE)} imports {tasks}"
        elif room not in KNOW_TWO_TASKS:
            assert len(tasks) <= 1, f"{path.relative_to(PACKAGE)} imports {tasks}"


def test_the_library_never_imports_experiments_benchmarks_or_tests() -> None:
    for path in modules():
        for imported in imports_of(path):
            first = imported.split(".")[0]
            assert first not in ("experiments", "benchmarks", "tests"), (
                f"{path.relative_to(PACKAGE)} imports {imported}"
            )


def test_the_library_does_not_print() -> None:
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            assert called != "print", f"{path.relative_to(PACKAGE)} prints"


def test_imports_are_read_right() -> None:
    """The reader itself: a rule that never finds anything would pass for ever."""
    found = set(imports_of(PACKAGE / "friends" / "csrl_rewriting.py"))
    assert {"friend_training.core.friendship", "friend_training.tasks.srl.bridge", "numpy"} <= found
    assert tasks_in(PACKAGE / "friends" / "csrl_rewriting.py") == {"rewriting", "srl"}
