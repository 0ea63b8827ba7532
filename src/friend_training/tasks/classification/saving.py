"""Classifiers on disk, as scikit-learn's own documentation saves them: with joblib.

The networks of this package are saved as safetensors, which can hold numbers and nothing else. A scikit-learn model
is an arbitrary Python object, and joblib, like the pickle it is built on, stores objects as instructions: WHOEVER
LOADS SUCH A FILE RUNS IT. So a checkpoint of a classifier is a program. Load those that your own runs wrote, and none
that somebody sent you; a run checks the digest of its checkpoints before it loads them, and here the file must be the
one that was written beside its `task.json`, by the same version of scikit-learn: another version may read it without
an error and predict something else.
"""

import hashlib
import json
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from friend_training.errors import RunError, naming_missing_packages

MODEL, NOTE = "model.joblib", "task.json"


def save_model(model: Any, folder: Path, *, task: str) -> None:
    """Write the model, and a note that says what it is."""
    _joblib().dump(model, folder / MODEL)
    (folder / NOTE).write_text(json.dumps(_note(type(model), folder, task)) + "\n", encoding="utf-8")


def load_model(folder: Path, *, task: str, kind: type) -> Any:
    """The model that was saved there, after its note has been compared with what is asked for."""
    if not (folder / NOTE).is_file() or not (folder / MODEL).is_file():
        raise RunError(f"{folder}: there is no classifier here; {NOTE} and {MODEL} were expected")
    found = json.loads((folder / NOTE).read_text(encoding="utf-8"))
    for name, wanted in _note(kind, folder, task).items():
        if found.get(name) != wanted:
            raise RunError(f"{folder}: {name} of the saved classifier is {found.get(name)!r}, expected {wanted!r}")
    return _joblib().load(folder / MODEL)


def _note(kind: type, folder: Path, task: str) -> dict[str, str]:
    return {
        "task": task,
        "model": f"{kind.__module__}.{kind.__qualname__}",
        "scikit-learn": _version("scikit-learn"),
        "sha256": hashlib.sha256((folder / MODEL).read_bytes()).hexdigest(),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _joblib() -> Any:
    with naming_missing_packages():
        return import_module("joblib")
