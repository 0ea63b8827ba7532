"""The notebooks run from the first cell to the last, and what is saved in them is what they print."""

import copy
import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
TOLERANCE = {"two-classifiers": 0.1, "language-model-friend": 0.1, "condensing-questions": 20.0}
"""How far numbers may be from those that are saved: those of a network differ from processor to processor."""

FOREIGN_PATH = re.compile(r"(?<![\w.:/])/(?:home|root|tmp|work|usr|opt|var|private|Users)/|\b[A-Z]:\\\\")
NOISE = re.compile(r"\x1b|Traceback|\w+Warning:|https?://(?!127\.0\.0\.1)")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def program() -> ModuleType:
    spec = importlib.util.spec_from_file_location("notebooks", ROOT / ".ci" / "notebooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NOTEBOOK = program()


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def faults(notebook: Any) -> list[str]:
    """What nobody should find in a notebook that is given away."""
    found = []
    cells = NOTEBOOK.code_cells(notebook)
    if [cell.execution_count for cell in cells] != list(range(1, len(cells) + 1)):
        found.append("the cells were not run once, from the first to the last")
    for number, cell in enumerate(cells, start=1):
        for output in cell.outputs:
            if output.output_type == "error" or output.get("name") == "stderr":
                found.append(f"cell {number}: {output.output_type} {output.get('name', '')}")
            for text in [NOTEBOOK.printed(output), *map(str, output.get("data", {}).values())]:
                found += [f"cell {number}: {one!r}" for one in NOISE.findall(text)]
    return found + [f"a path: {one}" for one in FOREIGN_PATH.findall(nbformat.writes(notebook))]


def test_there_are_notebooks() -> None:
    assert {path.stem for path in NOTEBOOKS} == TOLERANCE.keys()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_is_saved_is_fit_to_be_given_away(path: Path) -> None:
    notebook = read(path)
    nbformat.validate(notebook)
    assert faults(notebook) == []
    pictures = [cell for cell in NOTEBOOK.code_cells(notebook) if "a picture" in map(NOTEBOOK.printed, cell.outputs)]
    assert pictures


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_links_of_a_notebook_lead_somewhere(path: Path) -> None:
    links = [link for cell in read(path).cells if cell.cell_type == "markdown" for link in LINK.findall(cell.source)]
    assert links
    assert [link for link in links if not (path.parent / link).is_file()] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_prints_what_is_saved(path: Path, tmp_path: Path) -> None:
    now = NOTEBOOK.run(path, tmp_path)
    assert faults(now) == []
    assert list(NOTEBOOK.differences(read(path), now, tolerance=TOLERANCE[path.stem])) == []


def test_a_rewriter_makes_the_search_find_what_is_wanted() -> None:
    """What the page says of its tables, by those that are saved."""
    saved = read(ROOT / "notebooks" / "condensing-questions.ipynb")
    told = "\n".join(NOTEBOOK.printed(one) for cell in NOTEBOOK.code_cells(saved) for one in cell.outputs)
    [needed] = re.findall(r"^base +[\d.]+ +([\d.]+).*\n(?:.*\n)*?fdt +[\d.]+ +([\d.]+).*\n", told, re.MULTILINE)
    assert float(needed[1]) > float(needed[0]) + 10
    shares = re.findall(r"^(as asked|rewritten) +(\S+) +(\S+)$", told, re.MULTILINE)
    recall = {name: list(map(float, found)) for name, *found in shares}
    assert max(recall["as asked"]) < 0.1
    assert min(recall["rewritten"]) > 0.7


def test_other_words_other_numbers_and_noise_are_found() -> None:
    """The comparison itself: one that never finds anything would pass for ever."""
    saved = read(NOTEBOOKS[-1])
    number = next(n for n, cell in enumerate(NOTEBOOK.code_cells(saved)) if "print(result)" in cell.source)

    def changed(old: str, new: str) -> Any:
        other = copy.deepcopy(saved)
        output = NOTEBOOK.code_cells(other)[number].outputs[0]
        assert old in output.text
        output.text = output.text.replace(old, new)
        return other

    def found(other: Any) -> list[str]:
        return list(NOTEBOOK.differences(saved, other, tolerance=0.1))

    assert found(saved) == []
    assert found(changed(" Base   ", " Base ")) == [], "the width of a column"
    assert found(changed("FDT, shuffled friend", "FDT, another friend"))
    assert found(changed("89.6±", "79.6±"))
    assert faults(saved) == []
    for noise in ("/home/somebody/x.py", "x.py:1: FutureWarning: old", "\x1b[1m"):
        assert faults(changed("89.6±", noise)), noise
    for kind in (nbformat.v4.new_output("error"), nbformat.v4.new_output("stream", name="stderr", text="x")):
        other = copy.deepcopy(saved)
        NOTEBOOK.code_cells(other)[number].outputs.append(kind)
        assert faults(other)


def test_seconds_are_not_saved() -> None:
    output = nbformat.v4.new_output("stream", name="stdout", text="fit will take about 5.5 s: 3 seeds\n")
    cell = nbformat.v4.new_code_cell("x", outputs=[output])
    cleaned = NOTEBOOK.cleaned(nbformat.v4.new_notebook(cells=[cell]))
    assert cleaned.cells[0].outputs[0].text == "fit will take about … s: 3 seeds\n"
