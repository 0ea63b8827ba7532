"""The few exceptions a user can meet. The command prints their message, without a traceback, and exits with code 2."""

from pathlib import Path


class FriendTrainingError(Exception):
    """Anything that is wrong with what the user gave us, said in one clear message."""


class DataError(FriendTrainingError):
    """A file of examples that does not hold what it should: says the file, the line and what was expected."""

    def __init__(self, message: str, *, path: Path | str | None = None, line: int | None = None) -> None:
        where = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(where + message)
        self.path, self.line = path, line


class ConfigError(FriendTrainingError):
    """A setting that does not exist or does not fit: says which, what was given and what is allowed."""


class RunError(FriendTrainingError):
    """A run folder that cannot be used: missing, of another version, of other data, or without disk space."""


class DeviceMemoryError(RunError):
    """A device that cannot hold a batch: says which setting of the task makes batches that large."""

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
