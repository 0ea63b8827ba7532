"""A run on disk: a folder that can be stopped at any step and resumed, and that says how each of its labels came to be.

run           the run folder, its finished steps, and the digests of its files
steps         every kind of step, typed: the only file that knows the names of steps on disk
store         pseudo-labels, one row per unit and iteration (Parquet)
checkpoints   saved tasks; trainings that would end in the same bits are done once
corrections   what people decided about pseudo-labels
inputs        what a reader wants to see beside the store: texts, gold labels, what each test example got right
progress      how far a run is, for whoever watches it
files         files that appear whole or not at all, and which of several processes writes them
"""

from typing import TYPE_CHECKING

from friend_training.rooms import opened_on_first_use

__all__ = [
    "Correction",
    "Count",
    "Evaluate",
    "FindThresholds",
    "Label",
    "Listener",
    "MethodStep",
    "Prepare",
    "Run",
    "Select",
    "Silence",
    "Step",
    "Store",
    "Test",
    "Tidy",
    "Train",
    "TrainTogether",
    "atomic_file",
    "atomic_folder",
    "load_checkpoint",
    "read_corrections",
    "save_checkpoint",
    "scores_of",
    "write_text",
]

if TYPE_CHECKING:
    from friend_training.runs.checkpoints import load_checkpoint, save_checkpoint
    from friend_training.runs.corrections import Correction, read_corrections
    from friend_training.runs.files import atomic_file, atomic_folder, write_text
    from friend_training.runs.progress import Listener, Silence
    from friend_training.runs.run import Run
    from friend_training.runs.steps import (
        Count,
        Evaluate,
        FindThresholds,
        Label,
        MethodStep,
        Prepare,
        Select,
        Step,
        Test,
        Tidy,
        Train,
        TrainTogether,
    )
    from friend_training.runs.store import Store, scores_of
else:
    __getattr__ = opened_on_first_use(
        __name__,
        {
            "checkpoints": ("load_checkpoint", "save_checkpoint"),
            "corrections": ("Correction", "read_corrections"),
            "files": ("atomic_file", "atomic_folder", "write_text"),
            "progress": ("Listener", "Silence"),
            "run": ("Run",),
            "steps": (
                "Count",
                "Evaluate",
                "FindThresholds",
                "Label",
                "MethodStep",
                "Prepare",
                "Select",
                "Step",
                "Test",
                "Tidy",
                "Train",
                "TrainTogether",
            ),
            "store": ("Store", "scores_of"),
        },
    )
