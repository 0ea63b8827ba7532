"""Made-up data for the examples: reviews, tagged sentences, an encoder without training, a service that answers."""

import json
import random
from collections.abc import Iterator
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


def tiny_encoder(folder: Path) -> Path:
    """An encoder that knows the words of this page and nothing else: an example needs no download."""
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast, set_seed

    words = sorted({word.lower() for word in [*GOOD, *BAD, *PEOPLE, *PLACES, *FILLERS, *MOVES, *WORKS, "with"]})
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate([*SPECIAL, *words])}, "[UNK]"))
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
    """Stands for a language model behind an OpenAI-style address; it is right in most cases."""

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][0]["content"]
            good = sum(word in asked for word in GOOD) >= sum(word in asked for word in BAD)
            said = json.dumps({"choices": [{"message": {"content": "positive" if good else "negative"}}]}).encode()
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
