"""Data: public formats and our own, read as the typed examples of `types.py`; splits and the unlabeled pool.

read           any known file, by its format
readers/       one file per family of public formats
jsonl          our own formats, and those of public evaluation scripts
tables         columns of CSV, JSON and DataFrames as examples
text_io        text, JSON and CSV files, compressed or not, with errors that name the line; ids that occur twice
catalogue      the public datasets, and where data and encoders lie on this machine
splits         splits without near-duplicates on two sides
benchmarks     the splits that all experiments share, what a bridge is trained on, the pool of public corpora
sharded_pool   a pool that nobody holds in memory
summary        how many, how long; what data a run was made from
synthetic/     dialogues made by ourselves, with exact labels
"""

from typing import TYPE_CHECKING

from friend_training.rooms import opened_on_first_use

__all__ = [
    "FORMATS",
    "SPLIT_SEED",
    "Problems",
    "ShardedPool",
    "build_pool",
    "known_corpora",
    "known_corpus",
    "open_pool",
    "read_examples",
    "sniff",
    "split",
    "stream_examples",
    "to_line",
    "write_jsonl",
]

if TYPE_CHECKING:
    from friend_training.data.benchmarks import build_pool
    from friend_training.data.catalogue import known_corpora, known_corpus
    from friend_training.data.jsonl import to_line, write_jsonl
    from friend_training.data.read import FORMATS, read_examples, sniff, stream_examples
    from friend_training.data.sharded_pool import ShardedPool, open_pool
    from friend_training.data.splits import SPLIT_SEED, split
    from friend_training.data.text_io import Problems
else:
    __getattr__ = opened_on_first_use(
        __name__,
        {
            "benchmarks": ("build_pool",),
            "catalogue": (
                "known_corpora",
                "known_corpus",
            ),
            "jsonl": (
                "to_line",
                "write_jsonl",
            ),
            "read": (
                "FORMATS",
                "read_examples",
                "sniff",
                "stream_examples",
            ),
            "sharded_pool": (
                "ShardedPool",
                "open_pool",
            ),
            "splits": (
                "SPLIT_SEED",
                "split",
            ),
            "text_io": ("Problems",),
        },
    )
