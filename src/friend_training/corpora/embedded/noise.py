"""Noise as on social media. It touches plain text only, never a verb or an argument, so labels stay exact."""

import random
from dataclasses import replace

from friend_training.corpora.embedded.pieces import Piece

_LAUGHTER = ("哈哈", "哈哈哈", "嘿嘿", "呜呜", "emmm", "233")
_STOPS = ("", "~", "。。。", "！！", "……", "~~")
_QUESTIONS = ("", "??", "？？", "?")


def add_noise(pieces: list[Piece], *, rng: random.Random, rate: float) -> list[Piece]:
    """Drop or double punctuation and add laughter, each with probability `rate`."""
    noisy = [replace(p, text=_roughen(p.text, rng, rate)) if p.is_plain else p for p in pieces]
    if rng.random() < rate / 2:
        noisy.insert(0, Piece(rng.choice(_LAUGHTER) + rng.choice(("", "，"))))
    if rng.random() < rate / 2:
        noisy.append(Piece(rng.choice(_LAUGHTER)))
    return noisy


def _roughen(text: str, rng: random.Random, rate: float) -> str:
    if not any(c in text for c in "，。？！"):
        return text
    rough = ""
    for char in text:
        if char not in "，。？！" or rng.random() >= rate:
            rough += char
        elif char == "，":
            rough += rng.choice(("", ",", "，，", "…"))
        else:
            rough += rng.choice(_QUESTIONS if char == "？" else _STOPS)
    return rough
