"""TextClassification beside transformers' Trainer: the same encoder, texts, batch size and number of steps.

python benchmarks/trainer.py                     a small random BERT
python benchmarks/trainer.py --encoder FOLDER    any encoder of transformers

Who goes first changes every round, so that whatever else the machine does meets all. The table has milliseconds per
step and the ratios theirs / ours (1 and more: ours is at least as fast). All cut texts into tokens within the time that
is measured, pad to the longest text of a batch, clip gradients and use AdamW with warm-up; ours also labels one text of
dev at the end. Ours differs in two ways from the Trainer as it comes: texts of about equal length share a batch, and
there is no dropout inside attention, where it keeps torch from its fastest kernel. So the Trainer is measured as it
comes, and with both set like ours.
"""

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertConfig,
    BertModel,
    BertTokenizerFast,
    DataCollatorWithPadding,
    Trainer,
    TrainingArguments,
)

from friend_training import TextClassification
from friend_training.core.task import FitPlan
from friend_training.nn.pretrained import ATTENTION_DROPOUT
from friend_training.nn.training import TrainingSettings
from friend_training.types import Text

LABELS = ("bad", "good")
WORDS = tuple(f"{first}{second}" for first in "bdfgklmnprst" for second in ("a", "e", "i", "o", "u"))
Example = tuple[Text, str]


def made_texts(count: int, seed: int) -> list[Example]:
    """Texts of 3 to 40 made-up words; the first word tells the label."""
    draw = random.Random(seed)
    made = []
    for number in range(count):
        words = draw.choices(WORDS, k=draw.randint(3, 40))
        made.append((Text(f"{seed}-{number}", " ".join(words)), LABELS[WORDS.index(words[0]) % 2]))
    return made


def random_bert(folder: Path, *, layers: int = 4, width: int = 256) -> Path:
    """An encoder that has learnt nothing, with a vocabulary of the made-up words."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS)
    BertTokenizerFast(vocab={word: number for number, word in enumerate(vocabulary)}).save_pretrained(folder)
    sizes = {"num_hidden_layers": layers, "hidden_size": width, "intermediate_size": 4 * width}
    torch.manual_seed(0)
    BertModel(BertConfig(vocab_size=len(vocabulary), num_attention_heads=width // 32, **sizes)).save_pretrained(folder)
    return folder


def ours(encoder: Path, texts: Sequence[Example], *, batch: int) -> Callable[[int], float]:
    """Trains for so many steps and gives the seconds that took; the network is there before."""
    settings = TrainingSettings(batch_size=batch, encoder_rate=4e-5, head_rate=4e-5, look_every=10**9)
    task = TextClassification("mood", encoder=encoder, labels=LABELS, settings=settings, device="cpu")
    task.fit(texts[:1], [], dev=texts[:1], plan=FitPlan(seed=1, steps=0))

    def train(steps: int) -> float:
        task.definition.tokenizer.memory.clear()  # type: ignore[attr-defined]
        begun = time.perf_counter()
        task.fit(texts, [], dev=texts[:1], plan=FitPlan(seed=1, steps=steps))
        return time.perf_counter() - begun

    return train


def theirs(encoder: Path, texts: Sequence[Example], *, batch: int, like_ours: bool) -> Callable[[int], float]:
    """The same by transformers' Trainer, with nothing logged, saved or evaluated."""
    tokenizer = AutoTokenizer.from_pretrained(encoder, trust_remote_code=False)
    config = AutoConfig.from_pretrained(encoder, num_labels=len(LABELS), trust_remote_code=False)
    if like_ours:
        for name in ATTENTION_DROPOUT:
            if hasattr(config, name):
                setattr(config, name, 0.0)
    model = AutoModelForSequenceClassification.from_pretrained(encoder, config=config, trust_remote_code=False)

    def train(steps: int) -> float:
        begun = time.perf_counter()
        with tempfile.TemporaryDirectory() as scratch:
            arguments = TrainingArguments(
                output_dir=scratch,
                max_steps=steps,
                per_device_train_batch_size=batch,
                learning_rate=4e-5,
                weight_decay=0.01,
                warmup_steps=steps // 10,
                train_sampling_strategy="group_by_length" if like_ours else "random",
                use_cpu=True,
                report_to=[],
                logging_strategy="no",
                save_strategy="no",
                eval_strategy="no",
                disable_tqdm=True,
            )
            encoded = tokenizer([text.text for text, _ in texts], truncation=True, max_length=128)
            items: Any = [
                {"input_ids": ids, "attention_mask": mask, "labels": LABELS.index(label)}
                for ids, mask, (_, label) in zip(encoded["input_ids"], encoded["attention_mask"], texts, strict=True)
            ]
            collator = DataCollatorWithPadding(tokenizer)
            Trainer(model=model, args=arguments, train_dataset=items, data_collator=collator).train()
        return time.perf_counter() - begun

    return train


OURS, SAME, AS_IT_COMES = "ours", "Trainer with settings like ours", "Trainer as it comes"


def measure(encoder: Path, *, texts: int, batch: int, steps: int, rounds: int) -> list[dict[str, float]]:
    """Milliseconds per step of each loop, round by round."""
    made = made_texts(texts, 1)
    loops = {
        OURS: ours(encoder, made, batch=batch),
        SAME: theirs(encoder, made, batch=batch, like_ours=True),
        AS_IT_COMES: theirs(encoder, made, batch=batch, like_ours=False),
    }
    for loop in loops.values():
        loop(2)
    found = []
    for number in range(rounds):
        order = list(loops)[number % 3 :] + list(loops)[: number % 3]
        found.append({name: 1000 * loops[name](steps) / steps for name in order})
    return found


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", type=Path, help="a folder of transformers (default: a small random BERT)")
    parser.add_argument(
        "--texts", type=int, default=320, help="steps × batch of them are one epoch, in which all see the same"
    )
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=4)
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        encoder = asked.encoder or random_bert(Path(scratch) / "bert")
        found = measure(encoder, texts=asked.texts, batch=asked.batch, steps=asked.steps, rounds=asked.rounds)
    print(f"{torch.get_num_threads()} threads, {asked.steps} steps of {asked.batch} texts; milliseconds per step")
    for number, times in enumerate(found, start=1):
        print(f"round {number}: " + "   ".join(f"{name} {times[name]:.1f}" for name in (OURS, SAME, AS_IT_COMES)))
    ratios = {name: statistics.median(times[name] / times[OURS] for times in found) for name in (SAME, AS_IT_COMES)}
    for name, ratio in ratios.items():
        print(f"{name} / ours: median {ratio:.2f}")
    return ratios


if __name__ == "__main__":
    main()
