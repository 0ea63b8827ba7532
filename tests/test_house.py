"""The rules of the house: who may import whom, how many files a room has, and how much a file must know."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeGuard

import pytest

import friend_training

PACKAGE = Path(next(iter(friend_training.__path__)))
NAME = friend_training.__name__

LAYERS = (
    ("types", "errors", "rooms"),
    ("core",),
    ("runs",),
    ("loop",),
    ("nn",),
    ("methods", "analysis"),
    ("tasks",),
    ("bridges",),
    ("friendships",),
    ("data",),
    ("study",),
    ("experiments", "inference"),
    ("report",),
    ("trainer",),
    ("web",),
    ("cli",),
)
"""Rooms and single files in the order of dependence: none imports what stands to the right of it."""

ASIDE = ("__init__", "testing")
"""The front door opens onto every room, and checks of your own parts serve tests only."""

UPWARD = {("study/study.py", "report")}
"""What still breaks the order: a study writes its report when it is done."""

WITHOUT_TORCH = ("types.py", "errors.py", "rooms.py", "core", "runs", "loop", "data")

FILES_PER_FOLDER = 18
IMPORTS_PER_FILE = 20

KNOWS_MORE = {"study/resources.py", "study/diagnosis.py"}
"""Files that still import more of ours than a person can keep in mind."""


def rank(room: str) -> int:
    return next(place for place, rooms in enumerate(LAYERS) if room in rooms)


@cache
def modules() -> dict[str, Path]:
    """Every module by its dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join((NAME, *(parts[:-1] if parts[-1] == "__init__" else parts)))] = path
    return found


def room_of(path: Path) -> str:
    first, *rest = path.relative_to(PACKAGE).parts
    return first if rest else path.stem


@cache
def imports_of(path: Path) -> frozenset[tuple[str, bool]]:
    """Every module that a file imports, ours as far as its name reaches, and whether it does so when it is imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(_imports(tree))


def _imports(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    at_once = set(tree.body)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node in at_once) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute here"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield (whole if whole in modules() else str(node.module), node in at_once)
        elif _is_import_by_string(node):
            yield (str(node.args[0].value), node in at_once)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # by string: import_module, an entry of a table of modules, a program that is started
            yield from (
                (found, False) for found in re.findall(rf"\b{NAME}(?:\.\w+)+", node.value) if found in modules()
            )


def _is_import_by_string(node: ast.AST) -> TypeGuard[ast.Call]:
    """import_module("…") of anything, also of what is not ours."""
    if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Constant):
        return False
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return called in ("import_module", "__import__")


def ours(path: Path, *, at_once: bool = False) -> set[str]:
    found = {name for name, first in imports_of(path) if name in modules() and (first or not at_once)}
    return found - {NAME} - {name for name, there in modules().items() if there == path}


def test_every_room_has_its_place() -> None:
    rooms = {room_of(path) for path in modules().values()}
    assert rooms - set(ASIDE) == {room for rooms in LAYERS for room in rooms}


@pytest.mark.parametrize("room", [room for rooms in LAYERS for room in rooms])
def test_a_room_imports_nothing_that_stands_above_it(room: str) -> None:
    found = set()
    for path in modules().values():
        if room_of(path) == room:
            above = {room_of(modules()[name]) for name in ours(path)} - set(ASIDE)
            found |= {(path.relative_to(PACKAGE).as_posix(), other) for other in above if rank(other) > rank(room)}
    assert found <= UPWARD


def test_rooms_of_one_layer_do_not_know_each_other() -> None:
    for path in modules().values():
        room = room_of(path)
        if room not in ASIDE:
            beside = {other for other in LAYERS[rank(room)] if other not in (room, "errors", "types", "rooms")}
            assert not beside & {room_of(modules()[name]) for name in ours(path)}, path.relative_to(PACKAGE)


def test_some_rooms_do_without_torch() -> None:
    foreign = {"torch", "transformers", "accelerate", "safetensors"}
    for path in modules().values():
        if path.relative_to(PACKAGE).parts[0] in WITHOUT_TORCH:
            assert not foreign & {name.split(".")[0] for name, _ in imports_of(path)}, path.relative_to(PACKAGE)


def test_the_core_knows_no_typed_example() -> None:
    """Algorithm 1 only ever looks at an input's id: dialogues, spans and trees are not its business."""
    for path in modules().values():
        if room_of(path) in ("core", "loop", "methods"):
            assert f"{NAME}.types" not in ours(path), path.relative_to(PACKAGE)


def test_a_task_knows_no_other_task() -> None:
    folders = {path.relative_to(PACKAGE).parts[:-1] for path in modules().values() if room_of(path) == "tasks"}
    of_one_task = {parts for parts in folders if len(parts) > 1}
    assert len(of_one_task) >= 5
    for path in modules().values():
        here = path.relative_to(PACKAGE).parts[:-1]
        if room_of(path) == "tasks" and len(here) > 1:
            there = {modules()[name].relative_to(PACKAGE).parts[:-1] for name in ours(path)}
            assert there & of_one_task <= {here[:depth] for depth in range(2, len(here) + 1)}, path.relative_to(PACKAGE)


def test_no_two_files_need_each_other() -> None:
    """Importing any module first works, and whoever reads one file needs not have read it already."""
    graph = {name: ours(path, at_once=True) for name, path in modules().items()}
    done: set[str] = set()

    def visit(name: str, way: tuple[str, ...]) -> None:
        assert name not in way, " -> ".join((*way[way.index(name) :], name))
        if name not in done:
            for other in sorted(graph[name]):
                visit(other, (*way, name))
            done.add(name)

    for name in graph:
        visit(name, ())


def test_no_folder_has_more_files_than_a_person_overlooks() -> None:
    for folder in sorted({path.parent for path in modules().values()}):
        files = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
        assert len(files) <= FILES_PER_FOLDER, folder.relative_to(PACKAGE)


def test_no_file_knows_too_many_others() -> None:
    found = {path.relative_to(PACKAGE).as_posix(): len(ours(path)) for path in modules().values()}
    assert {name for name, count in found.items() if count > IMPORTS_PER_FILE} - {"__init__.py"} <= KNOWS_MORE


def test_the_library_never_imports_experiments_benchmarks_or_tests() -> None:
    for path in modules().values():
        firsts = {name.split(".")[0] for name, _ in imports_of(path)}
        assert not firsts & {"experiments", "benchmarks", "tests"}, path.relative_to(PACKAGE)


def test_the_library_does_not_print() -> None:
    for path in modules().values():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            assert called != "print", f"{path.relative_to(PACKAGE)} prints"


def test_imports_are_read_right() -> None:
    """The reader itself: a rule that never finds anything would pass for ever."""
    found = {name for name, _ in imports_of(PACKAGE / "friendships" / "csrl_rewriting.py")}
    assert {f"{NAME}.core.friendship", f"{NAME}.bridges.bridge", "numpy"} <= found
    by_string = {name for name, _ in _imports(ast.parse(f'x = "{NAME}.core.friendship"'))}
    assert by_string == {f"{NAME}.core.friendship"}
    foreign = {name for name, _ in _imports(ast.parse('importlib.import_module("torch.nn"), import_module("numpy")'))}
    assert foreign == {"torch.nn", "numpy"}
    assert f"{NAME}.inference.model" in ours(PACKAGE / "__init__.py"), "the table of the front door"


def test_the_page_on_the_house_says_where_things_are() -> None:
    """Every path on it is there, and what the paper's symbols are called is found in the files beside them."""
    page = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = {room_of(path) for path in modules().values()}
    for path in re.findall(r"`((?:\w+/)+(?:\w+(?:\.\w+)?)?)`", page):
        if path.split("/")[0] in rooms:
            assert (PACKAGE / path).exists() or (PACKAGE / f"{path}.py").exists(), path
    table = page[page.index("## From the paper to the code") : page.index("## One dialogue")]
    rows = [row.split(" | ") for row in table.splitlines() if "`" in row]
    assert len(rows) > 30
    for _, called, where in rows:
        text = "".join((PACKAGE / file).read_text(encoding="utf-8") for file in re.findall(r"`([\w/]+\.py)`", where))
        for name in re.findall(r"`([\w.]+)`", called):
            assert re.search(rf"\b{name.split('.')[-1]}\b", text), f"{name} is not in {where}"
