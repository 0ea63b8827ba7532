"""Whether the tree could be released: wheel and source distribution are built from a copy of it, and looked into.

    python .ci/release_check.py      ends with 1 and a line for each thing that is wrong

Links of pages and the use of the installed wheel are tests: tests/test_docs_links.py, tests/test_wheel.py.
"""

import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from email.parser import BytesParser
from pathlib import Path

import yaml

from friend_training import __version__

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff")
NEEDED = {"Name": "friend-training", "Version": __version__, "License-Expression": "Apache-2.0"}
BUILD = "import sys, setuptools.build_meta as backend; getattr(backend, sys.argv[1])(sys.argv[2])"


def tree(into: Path) -> None:
    """What belongs to the repository, committed or not, and nothing else that lies about."""
    listed = ("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
    names = subprocess.run(listed, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout.decode().split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, into / name)


def built(source: Path, into: Path) -> tuple[Path, Path]:
    for kind in ("build_wheel", "build_sdist"):
        command = (sys.executable, "-c", BUILD, kind, str(into))
        done = subprocess.run(command, cwd=source, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
        if done.returncode:
            sys.exit(done.stdout)
    (wheel,), (sdist,) = into.glob("*.whl"), into.glob("*.tar.gz")
    return wheel, sdist


def versions() -> Iterator[str]:
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    if newest is None or newest[1] != __version__:
        yield f"CHANGELOG.md begins with {newest and newest[1]}, the package is {__version__}"
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    if str(cited["version"]) != __version__:
        yield f"CITATION.cff is of {cited['version']}, the package is {__version__}"


def metadata(wheel: Path) -> Iterator[str]:
    with zipfile.ZipFile(wheel) as opened:
        names = opened.namelist()
        (path,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        found = BytesParser().parsebytes(opened.read(path))
    yield from (
        f"metadata: {name} is {found[name]}, not {value}" for name, value in NEEDED.items() if found[name] != value
    )
    for name in ("Summary", "Requires-Python", "License-File", "Keywords"):
        if not found[name]:
            yield f"metadata: there is no {name}"
    if "friend_training/py.typed" not in names:
        yield "the wheel has no friend_training/py.typed"
    yield from (f"the wheel has {name}" for name in names if name.startswith(("tests/", "docs/", "experiments/")))


def contents(sdist: Path) -> Iterator[str]:
    with tarfile.open(sdist) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    yield from (f"the source distribution has no {page}" for page in PAGES if page not in names)
    yield from (
        f"the source distribution has no {folder}/"
        for folder in ("docs", "configs", "examples", "notebooks")
        if folder not in names
    )


def problems() -> list[str]:
    with tempfile.TemporaryDirectory() as place:
        source, out = Path(place, "source"), Path(place, "out")
        source.mkdir()
        out.mkdir()
        tree(source)
        wheel, sdist = built(source, out)
        return [*versions(), *metadata(wheel), *contents(sdist)]


if __name__ == "__main__":
    found = problems()
    print("\n".join(found) or f"friend-training {__version__}: wheel and source distribution are as they should be")
    sys.exit(bool(found))
