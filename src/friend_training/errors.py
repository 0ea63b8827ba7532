"""The few exceptions a user can meet. The command prints their message, without a traceback, and exits with code 2."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path


class FriendTrainingError(Exception):
    """Anything that is wrong with what the user gave us, said in one clear message."""


class DataError(FriendTrainingError):
    """A file of examples that does not hold what it should: names the file, the line and what was expected."""

    def __init__(self, message: str, *, path: Path | str | None = None, line: int | None = None) -> None:
        where = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(where + message)
        self.path, self.line = path, line


class ConfigError(FriendTrainingError):
    """A setting that does not exist or does not fit: names it, what was given and what is allowed."""


class RunError(FriendTrainingError):
    """A run folder that cannot be used: missing, of another version, of other data, or without disk space."""


class RunStoppedError(FriendTrainingError):
    """A run that a listener stopped: what is finished stays, and it can be gone on with."""


class DeviceMemoryError(RunError):
    """A device that cannot hold a batch: names the setting of the task that makes batches that large."""

    def __init__(self, task: str, setting: str, value: int, device: str) -> None:
        super().__init__(task, setting, value, device)  # as given: it comes from other processes too
        self.task, self.setting, self.value, self.device = task, setting, value, device

    def __str__(self) -> str:
        return (
            f"task {self.task}: {self.device} has not enough memory; lower {self.setting} (now {self.value})"
            " or use another device"
        )


class UnsupportedTaskError(FriendTrainingError):
    """A method that needs more of a task than this one offers."""


def did_you_mean(given: object, known: Iterable[str]) -> str:
    """'; did you mean 'iterations'?', or nothing where no known name is like it."""
    close = get_close_matches(str(given), list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


EXTRAS = {
    "torch": "torch",
    "transformers": "torch",
    "accelerate": "torch",
    "safetensors": "torch",
    "rapidfuzz": "torch",
    "fsspec": "torch",
    "jinja2": "plots",
    "matplotlib": "plots",
    "fastapi": "serving",
    "starlette": "serving",
    "uvicorn": "serving",
    "prometheus_client": "serving",
    "sklearn": "sklearn",
    "skops": "sklearn",
    "pandas": "frames",
    "tensorboard": "tensorboard",
    "onnx": "onnx",
    "onnxscript": "onnx",
    "onnxruntime": "onnx",
    "ray": "ray",
    "ltp": "ltp",
    "hanlp": "hanlp",
}
"""Packages that only a part of the library needs, by their names in imports: the extra that brings each."""


class MissingPackageError(FriendTrainingError, ImportError):
    """A package that is needed here and not installed: names it, and the command that installs it."""

    def __init__(self, package: str) -> None:
        super().__init__(
            f"the package {package!r} is not installed: pip install 'friend-training[{EXTRAS[package]}]'", name=package
        )

    def __reduce__(self) -> tuple[type["MissingPackageError"], tuple[str | None]]:
        """A worker on another machine sends it back: it is made again from the package, not from the message."""
        return MissingPackageError, (self.name,)


@contextmanager
def naming_missing_packages() -> Iterator[None]:
    """Around imports that may need an extra. What is no extra of ours is left to speak for itself."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise MissingPackageError(package) from error
