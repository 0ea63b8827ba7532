"""How many words per second the parsers parse on a CPU, decoding and making of the labels included.

python benchmarks/parsing_speed.py --threads 1 --rounds 3

Prints one JSON object: for each parser the words per second of the best round, on the wall and by processor time (which
suffers less from whoever else is running). The sentences are random words with the lengths of the Penn Treebank, about
24 on average; what the words are makes no difference to the work, nor do weights that are untrained. One thread unless
told otherwise: the operations are small, and on a machine that is not idle two threads mostly wait for each other.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from friend_training.nn.encoder import WordEncoderShape, open_encoder, pretrain_word_encoder
from friend_training.nn.task import TorchTask
from friend_training.tasks.parsing.constituency.task import constituency_task
from friend_training.tasks.parsing.dependency.task import dependency_task
from friend_training.types import Words

PHRASES, TAGS, RELATIONS = 60, 45, 40
"""As many as 200 sentences of the Penn Treebank and of an English Universal Dependencies treebank have, rounded."""

VOCABULARY = 8000


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="words parsed per second")
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args(arguments)
    torch.set_num_threads(asked.threads)
    sentences = random_sentences(asked.sentences)
    words = sum(len(sentence.words) for sentence in sentences)
    with tempfile.TemporaryDirectory() as folder:
        pretrain_word_encoder(Path(folder), [s.words for s in sentences], WordEncoderShape(), seed=0)
        speeds = {
            name: speed(task, folder, sentences, asked.rounds)
            for name, task in {
                "constituency": constituency_task(folder, phrases=names(PHRASES), tags=names(TAGS)),
                "dependency": dependency_task(folder),
                "dependency_with_relations": dependency_task(folder, relations=names(RELATIONS)),
            }.items()
        }
    setup = {
        "threads": asked.threads,
        "sentences": len(sentences),
        "words_per_sentence": round(words / len(sentences), 1),
    }
    print(json.dumps(setup | speeds, indent=2))


def speed(task: TorchTask, encoder: str, sentences: Sequence[Words], rounds: int) -> dict[str, Any]:
    torch.manual_seed(0)
    task.network = task.definition.network(open_encoder(encoder))
    task.predict(sentences[:100])  # wakes up threads and caches
    words = sum(len(sentence.words) for sentence in sentences)
    wall, processor = [], []
    for _ in range(rounds):
        begun, busy = time.perf_counter(), time.process_time()
        task.predict(sentences)
        wall.append(time.perf_counter() - begun)
        processor.append(time.process_time() - busy)
    return {"words_per_second": round(words / min(wall)), "words_per_cpu_second": round(words / min(processor))}


def random_sentences(count: int) -> list[Words]:
    """Lengths as in the Penn Treebank: 24 words on average, standard deviation 11, never more than 100."""
    rng = np.random.default_rng(0)
    lengths = np.clip(rng.gamma(24**2 / 11**2, 11**2 / 24, size=count).round(), 1, 100).astype(int)
    ranks = 1 / np.arange(1, VOCABULARY + 1)
    drawn = iter(rng.choice(VOCABULARY, size=int(lengths.sum()), p=ranks / ranks.sum()).tolist())
    return [Words(str(number), tuple(spelt(next(drawn)) for _ in range(n))) for number, n in enumerate(lengths)]


def spelt(rank: int) -> str:
    """A word of letters: digits would all be read as the same."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(rank))


def names(count: int) -> list[str]:
    return [f"N{number}" for number in range(count)]


if __name__ == "__main__":
    main()
