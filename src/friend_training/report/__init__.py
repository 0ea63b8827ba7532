"""The report of a run: one HTML page, and labels in words for every page and command."""

from typing import TYPE_CHECKING

from friend_training.rooms import opened_on_first_use

__all__ = ["read_study", "write_report"]

if TYPE_CHECKING:
    from friend_training.report.page import write_report
    from friend_training.report.run_reader import read_study
else:
    __getattr__ = opened_on_first_use(
        __name__,
        {
            "page": ("write_report",),
            "run_reader": ("read_study",),
        },
    )
