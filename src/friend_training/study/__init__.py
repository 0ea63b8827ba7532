"""A study: a config, and the runs of all its methods from the same Base."""

from typing import TYPE_CHECKING

from friend_training.rooms import opened_on_first_use

__all__ = ["Config", "find_config", "load_config", "run_study"]

if TYPE_CHECKING:
    from friend_training.study.config import Config, find_config, load_config
    from friend_training.study.study import run_study
else:
    __getattr__ = opened_on_first_use(
        __name__,
        {
            "config": ("Config", "find_config", "load_config"),
            "study": ("run_study",),
        },
    )
