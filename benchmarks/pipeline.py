"""How fast we label beside a token-classification pipeline of transformers: same encoder, texts and number of labels.

python benchmarks/pipeline.py --rounds 3     measure, append to results/pipeline.jsonl, print the table
python benchmarks/pipeline.py --show         only print the table
python benchmarks/pipeline.py --synthetic     with a small encoder from scratch, where there is no other

All with one thread, in turn, every other round backwards. What differs in what they do:

* The texts are synthetic dialogues. The pipeline sees one text: the turns run together, 我 or 你 before each. Tagging
  sees the same characters as words. CSRL sees the dialogue itself, as in a run: the same characters, a turn more
  (the empty opening one), and token types.
* The pipeline goes through the texts in their order, as many in a batch as its user says, padded to the longest among
  them. Ours sorts by length and fills batches by pieces (`labelling_pieces`), which nobody has to set.
* The pipeline gives for every piece its label, probability and place as a dict (aggregation_strategy "none", its
  cheapest). Tagging gives one label for each text, with a tag for each character and one confidence. CSRL gives the
  arguments of one predicate as spans: BIO sequences that are possible, decoded, with a confidence; and it tells the
  network of the predicate after the encoder, which is a layer more.
* Heads are untrained everywhere: an untrained CSRL decodes more arguments than a trained one, to its disadvantage.
* Both load the same weights; the pipeline's forward pass is transformers' own, ours is `nn/encoder.py`.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch is imported: see speed.py

import torch
import transformers
from growth_loads import with_turns
from pipeline_records import PIPELINE, RESULTS, Record, append, read, table
from stopwatch import Stopwatch
from workloads import SAMPLE_SEED, synthetic_texts

from friend_training.data.catalogue import model_source
from friend_training.data.synthetic import Domain, generate
from friend_training.nn.encoder import EncoderShape, load_encoder, pretrain_encoder
from friend_training.nn.task import TorchTask
from friend_training.nn.training import TrainingSettings
from friend_training.tasks.csrl.task import csrl_task
from friend_training.tasks.parsing.tagging.task import tagging_task
from friend_training.types import ROLES, Dialogue, Predicate, Words

ENCODER = "ernie-3.0-nano-zh-uie"
LABELS = ("O", *(f"{place}-{role}" for role in ROLES for place in "BI"))
BATCH_SIZES = (1, 8, 32)
TURNS = 6
MAX_LENGTH = 125


def main(arguments: Sequence[str] | None = None) -> None:
    asked = _parser().parse_args(arguments)
    if not asked.show:
        torch.set_num_threads(1)
        with tempfile.TemporaryDirectory() as scratch:
            source: str | Path = scratch
            if asked.synthetic:
                pretrain_encoder(Path(scratch), synthetic_texts(), EncoderShape(layers=2, width=64, heads=2), seed=0)
            else:
                source = model_source(asked.encoder)
            name = "scratch" if asked.synthetic else Path(asked.encoder).name
            measure(source, name, asked.texts, asked.rounds, asked.results)
    print(table(read(asked.results)))


def measure(source: str | Path, encoder: str, count: int, rounds: int, results: Path) -> None:
    dialogues = texts_as_dialogues(count)
    pieces, loops = _loops(source, dialogues)
    setup: dict[str, Any] = {
        "run": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "encoder": encoder,
        "labels": len(LABELS),
        "texts": len(dialogues),
        "pieces": pieces,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "cores": os.cpu_count(),
    }
    for label in loops.values():
        label(dialogues[:8])  # wakes up caches
    for number in range(rounds):
        for (loop, batch_size), label in loops.items() if number % 2 == 0 else reversed(loops.items()):
            watch = Stopwatch()
            watch.start()
            label(dialogues)
            watch.stop()
            times: dict[str, Any] = {"seconds": round(watch.seconds, 4), "cpu_seconds": round(watch.cpu_seconds, 4)}
            place: dict[str, Any] = {"round": number, "loop": loop, "batch_size": batch_size}
            place["load"] = round(os.getloadavg()[0], 2)
            append(Record(**setup, **place, **times), results)


def texts_as_dialogues(count: int) -> list[Dialogue]:
    """So many dialogues of six turns, asked for one predicate each; those that ours would cut are left out."""
    made = with_turns([one.dialogue for one in generate(count, seed=SAMPLE_SEED + 1, domain=Domain.FILM)], TURNS)
    asked = [replace(one, predicates=one.predicates[:1] or (Predicate(0, 1),)) for one in made]
    return [one for one in asked if len(text_of(one)) + 3 <= MAX_LENGTH]


def text_of(dialogue: Dialogue) -> str:
    """The turns run together; who speaks is 我 or 你, as CSRL writes it."""
    own = dialogue.utterance.speaker
    return "".join(("我" if turn.speaker == own else "你") + turn.text for turn in dialogue.turns)


def _loops(source: str | Path, dialogues: Sequence[Dialogue]) -> tuple[int, dict[tuple[str, int | None], Any]]:
    """The pieces of all texts, and everything that labels dialogues, by its name and batch size."""
    csrl = _fresh(csrl_task(source, TrainingSettings(), max_length=MAX_LENGTH), source)
    tagging = _fresh(tagging_task(source, TrainingSettings(), tags=LABELS), source)
    tokenizer = transformers.AutoTokenizer.from_pretrained(source, trust_remote_code=False)
    config = transformers.AutoConfig.from_pretrained(source, num_labels=len(LABELS), trust_remote_code=False)
    model = transformers.AutoModelForTokenClassification.from_pretrained(source, config=config, trust_remote_code=False)
    pipe = transformers.pipeline(
        "token-classification", model=model.eval(), tokenizer=tokenizer, device="cpu", trust_remote_code=False
    )

    def by_tagging(given: Sequence[Dialogue]) -> Any:
        return tagging.predict([Words(one.id, tuple(text_of(one))) for one in given])

    def by_pipeline(given: Sequence[Dialogue], batch_size: int) -> Any:
        return pipe([text_of(one) for one in given], batch_size=batch_size)

    loops: dict[tuple[str, int | None], Any] = {("tagging", None): by_tagging, ("csrl", None): csrl.predict}
    for size in BATCH_SIZES:
        loops[PIPELINE, size] = lambda given, size=size: by_pipeline(given, size)
    pieces = sum(len(ids) for ids in tokenizer([text_of(one) for one in dialogues])["input_ids"])
    return pieces, loops


def _fresh(task: TorchTask, source: str | Path) -> TorchTask:
    torch.manual_seed(0)
    task.network = task.definition.network(load_encoder(source))
    return task


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--texts", type=int, default=192, help="dialogues to be labelled in each measurement")
    parser.add_argument("--encoder", default=ENCODER, help="folder or hub name")
    parser.add_argument("--synthetic", action="store_true", help="a small encoder from scratch")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file that records are appended to")
    parser.add_argument("--show", action="store_true", help="measure nothing, print the table")
    return parser


if __name__ == "__main__":
    main()
