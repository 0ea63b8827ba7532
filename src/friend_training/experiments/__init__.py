"""Many runs: an experiment is a config, its variants and seeds, and the results of all its methods.

experiment   the file that describes an experiment, and its runs one after the other
estimate     what it needs of this machine, and how long it will take
results      one line per config, method and seed
comparison   methods side by side, and the paper's table
warnings     what to know before believing a run
tables       tables as Markdown, LaTeX, CSV or on the terminal
figures      the paper's figures 3 and 4
"""

from typing import TYPE_CHECKING

from friend_training.rooms import opened_on_first_use

__all__ = [
    "Column",
    "Experiment",
    "Result",
    "build_table",
    "comparison_table",
    "gather",
    "load_experiment",
    "read_results",
    "to_csv",
    "to_latex",
    "to_markdown",
]

if TYPE_CHECKING:
    from friend_training.experiments.comparison import comparison_table
    from friend_training.experiments.experiment import Experiment, load_experiment
    from friend_training.experiments.results import Result, gather, read_results
    from friend_training.experiments.tables import Column, build_table, to_csv, to_latex, to_markdown
else:
    __getattr__ = opened_on_first_use(
        __name__,
        {
            "comparison": ("comparison_table",),
            "experiment": ("Experiment", "load_experiment"),
            "results": ("Result", "gather", "read_results"),
            "tables": ("Column", "build_table", "to_csv", "to_latex", "to_markdown"),
        },
    )
