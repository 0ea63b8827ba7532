"""The notebooks: run from the first cell to the last in a folder of their own, and saved with what they print.

    python .ci/notebooks.py [NAME …]      runs all of them, or those named, and saves them in notebooks/

A test runs them as well and compares what they print with what was saved (tests/test_notebooks.py).
"""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "notebooks"
SECONDS = re.compile(r"(?<=about )[\d.]+ (?:s|min|h)\b")
NUMBER = re.compile(r"[-+±]?\d+(?:\.\d+)?")
VARIES = "varies"
"""The tag of a cell whose words may be others on another machine: a network wrote them."""


def run(path: Path, place: Path) -> Any:
    """The notebook with what it prints now; it finds examples/ beside its folder, as in the repository."""
    if not (place / "examples").exists():
        shutil.copytree(ROOT / "examples", place / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    here = place / "notebooks"
    here.mkdir(exist_ok=True)
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=None, record_timing=False, kernel_name="python3", resources={"metadata": {"path": str(here)}}
    )
    client.execute(env=environment(place))
    return cleaned(notebook)


def environment(place: Path) -> dict[str, str]:
    """One thread, this tree's package and commands, and no settings of whoever runs it."""
    paths = {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        "PYTHONPATH": str(ROOT / "src"),
        "IPYTHONDIR": str(place / "ipython"),
    }
    quiet = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1", "TQDM_DISABLE": "1"}
    quiet["PYTHONWARNINGS"] = "ignore:IProgress not found"  # tqdm would like ipywidgets
    return dict(os.environ) | paths | quiet


def cleaned(notebook: Any) -> Any:
    """Without what differs from run to run and from machine to machine and tells nobody anything."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in code_cells(notebook):
        outputs = []
        for output in cell.outputs:
            if output.output_type == "stream":
                output.text = SECONDS.sub("… s", output.text)
                if outputs and outputs[-1].get("name") == output.name:
                    outputs[-1].text += output.text
                    continue
            outputs.append(output)
        cell.outputs = outputs
    return notebook


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def printed(output: Any) -> str:
    """What an output says in plain text; a picture says only that it is one."""
    if output.output_type == "stream":
        return str(output.text)
    if "image/png" in output.get("data", {}):
        return "a picture"
    return str(output.get("data", {}).get("text/plain", output.output_type))


def differences(saved: Any, now: Any, *, tolerance: float) -> Iterator[str]:
    """Where two runs of a notebook print something else: other words, or numbers that are further apart than that."""
    before, after = code_cells(saved), code_cells(now)
    if len(before) != len(after):
        yield f"{len(before)} cells of code are now {len(after)}"
        return
    for number, (old, new) in enumerate(zip(before, after, strict=True), start=1):
        if VARIES in old.metadata.get("tags", ()):
            continue
        told, tells = ("\n".join(map(printed, cell.outputs)) for cell in (old, new))
        if _words(told) != _words(tells):
            yield f"cell {number} printed\n{told}\nand now prints\n{tells}"
            continue
        for one, other in zip(NUMBER.findall(told), NUMBER.findall(tells), strict=True):
            if abs(float(one.strip("±")) - float(other.strip("±"))) > tolerance:
                yield f"cell {number} printed {one} and now prints {other}"


def _words(text: str) -> list[str]:
    """The words of a text, whatever its numbers and however wide its columns."""
    return re.sub(r"[─━\-|:]{3,}", " ", NUMBER.sub("#", text)).split()


def main(names: list[str]) -> None:
    for path in sorted(FOLDER.glob("*.ipynb")):
        if names and path.stem not in names:
            continue
        with tempfile.TemporaryDirectory() as place:
            nbformat.write(run(path, Path(place)), path)


if __name__ == "__main__":
    main(sys.argv[1:])
