"""Made-up data for the examples: reviews, tagged sentences, dialogues, encoders, a service that answers.

As a program it writes all of it into a folder, for the configs beside the examples: python toy_data.py FOLDER
"""

import csv
import json
import random
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

GOOD, BAD = (words.split() for words in ("great lovely fine superb nice warm", "awful dull broken rude cold late"))
PEOPLE, PLACES = (names.split() for names in ("Ann Bob Cleo Dan Eve Fritz", "Oslo Rome Lima Kyiv Cairo Quito"))
FILLERS = ["again", "now", "today", "perhaps", "often", "soon"]
MOVES, WORKS = ["went", "to"], ["works", "in"]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def reviews(count: int, seed: int) -> list[dict[str, str]]:
    """Reviews with polarity, stars and emotion. Words tell the polarity in three of four cases."""
    draw = random.Random(seed)
    made = []
    for _ in range(count):
        good = draw.random() < 0.5
        told = [draw.choice(GOOD if good == (draw.random() < 0.75) else BAD) for _ in range(6)]
        stars, emotion = draw.choice("45" if good else "12"), "joy" if good else draw.choice(["anger", "sadness"])
        made.append({"text": " ".join(told), "polarity": "good" if good else "bad", "stars": stars, "emotion": emotion})
    return made


def sentences(count: int, seed: int) -> list[dict[str, Any]]:
    """Sentences in words; `people` marks persons, `names` persons and places, `kind` says what the sentence tells."""
    draw = random.Random(seed)
    made = []
    for _ in range(count):
        travel, alone = draw.random() < 0.5, draw.random() < 0.5
        told = [draw.choice(PEOPLE), *(MOVES if travel else WORKS), draw.choice(PLACES)]
        words = [*draw.choices(FILLERS, k=draw.randint(0, 3)), *told, *([] if alone else ["with", draw.choice(PEOPLE)])]
        words += draw.choices(FILLERS, k=draw.randint(0, 3))
        people = ["B-PER" if word in PEOPLE else "O" for word in words]
        names = ["B-PER" if word in PEOPLE else "B-LOC" if word in PLACES else "O" for word in words]
        verbs = ["B-MOVE" if word == "went" else "O" for word in words]
        kind = "travel" if travel else "work"
        made.append({"words": words, "people": people, "names": names, "verbs": verbs, "kind": kind})
    return made


WORDS = [*GOOD, *BAD, *PEOPLE, *PLACES, *FILLERS, *MOVES, *WORKS, "with"]


def tiny_encoder(folder: Path, words: Iterable[str] = WORDS) -> Path:
    """An encoder that knows these words, by default those of this page, and nothing else: it needs no download."""
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast, set_seed

    known = sorted({word.lower() for word in words})
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate([*SPECIAL, *known])}, "[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = Lowercase(), Whitespace()
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    named = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **named).save_pretrained(folder)
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    set_seed(0)
    BertModel(BertConfig(vocab_size=tokenizer.get_vocab_size(), **sizes)).save_pretrained(folder)
    return folder


@contextmanager
def language_model() -> Iterator[str]:
    """Stands for a language model behind an OpenAI-style address, right in most cases; it answers in JSON too."""

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked = sent["messages"][0]["content"]
            told = {"good": [w for w in GOOD if w in asked], "bad": [w for w in BAD if w in asked]}
            answer = max(told, key=lambda one: len(told[one]))
            if "response_format" in sent:
                answer = json.dumps({"polarity": answer, "because": told[answer]})
            said = json.dumps({"choices": [{"message": {"content": answer}}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: Any) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Answer)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def dialogues(labelled_for: str | None, count: int, seed: int) -> list[Any]:
    """Chinese dialogues that the library makes itself, with gold of one of the paper's tasks, or without."""
    from friend_training.data.synthetic import Domain, csrl_examples, generate, rewriting_examples

    made = generate(count, seed=seed, domain=Domain.FILM)
    if labelled_for is None:
        return [one.dialogue for one in made]
    return (
        rewriting_examples(made) if labelled_for == "rewriting" else [one for one in csrl_examples(made) if one.roles]
    )


def parser_of_sentences(folder: str, count: int = 2000, steps: int = 300) -> tuple[str, str]:
    """A small encoder and a bridge, in two folders: a parser that learns from sentences that the library makes."""
    from friend_training.core.task import FitPlan
    from friend_training.data.synthetic import generate_sentences
    from friend_training.nn.encoder import EncoderShape, pretrain_encoder
    from friend_training.nn.training import TrainingSettings
    from friend_training.tasks import srl_task

    encoder, bridge, sentences = Path(f"{folder}-encoder"), Path(f"{folder}-bridge"), generate_sentences(count, seed=7)
    if not bridge.is_dir():
        encoder.mkdir(parents=True, exist_ok=True)
        shape = EncoderShape(layers=1, width=64, heads=2, dropout=0.1)
        pretrain_encoder(encoder, [one.sentence.text for one in sentences], shape, seed=0)
        task = srl_task(encoder, TrainingSettings(encoder_rate=0.001), device="cpu")
        task.fit(sentences[count // 10 :], (), dev=sentences[: count // 10], plan=FitPlan(seed=0, steps=steps))
        bridge.mkdir()
        task.save(bridge)
    return str(encoder), str(bridge)


SIZES = {"gold": (100, 1), "dev": (100, 2), "test": (300, 3), "pool": (400, 4)}


def write_all(folder: Path) -> None:
    """Reviews as CSV, sentences and dialogues as JSON lines, two encoders and a bridge."""
    folder.mkdir(parents=True, exist_ok=True)
    tiny_encoder(folder / "encoder")
    parser_of_sentences(str(folder / "dialogues"))
    for part, size in SIZES.items():
        with (folder / f"reviews-{part}.csv").open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, ["text", "polarity", "stars", "emotion"])
            table.writeheader()
            table.writerows(reviews(*size))
        rows = [row | {"text": " ".join(row["words"])} for row in sentences(*size)]
        lines = [json.dumps(row) + "\n" for row in rows]
        (folder / f"sentences-{part}.jsonl").write_text("".join(lines), encoding="utf-8")
        write_dialogues(folder, part, *size)


def write_dialogues(folder: Path, part: str, count: int, seed: int) -> None:
    from friend_training.data.jsonl import write_jsonl

    for name in [None] if part == "pool" else ["csrl", "rewriting"]:
        write_jsonl(folder / f"{name or 'dialogues'}-{part}.jsonl", dialogues(name, count, seed))


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
