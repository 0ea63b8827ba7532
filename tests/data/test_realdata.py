"""The public files, read whole: the counts of their SOURCE.txt, the shared splits, the pool."""

import hashlib
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

from friend_training.core.limits import Limits
from friend_training.data import benchmarks
from friend_training.data.benchmarks import build_pool
from friend_training.data.catalogue import find_part, known_corpora, locate, part_path
from friend_training.data.read import Kind, native_kind, open_corpus, read_examples, sniff
from friend_training.data.splits import normalise
from friend_training.data.summary import summarise
from friend_training.data.text_io import Problems, numbered_lines, open_content
from friend_training.types import CsrlExample, Dialogue, RewritingExample, dialogue_group

pytestmark = pytest.mark.realdata


def groups(examples: list[CsrlExample]) -> set[str]:
    return {dialogue_group(example.dialogue.id) for example in examples}


@pytest.mark.parametrize(
    ("name", "dialogues", "predicates", "arguments", "bad"),
    [
        ("duconv/dev", 300, 2852, 6340, 1),
        ("duconv/test", 200, 1947, 4383, 0),
        ("csagn-duconv/dev", 300, 3300, 7758, 1),
        ("csagn-duconv/test", 200, 2257, 5372, 0),
        ("news-dialog/test", 300, 3621, 8591, 0),
        ("personal-dialog/test", 100, 737, 1788, 0),
        ("english-csrl/test", 50, 477, 1054, 2),
    ],
)
def test_csrl_counts(data_dir: Path, name: str, dialogues: int, predicates: int, arguments: int, bad: int) -> None:
    """SOURCE.txt counts lines and B- tags, those of bad lines too: an ARG0 over three turns, two English slips."""
    loaded = open_corpus(name, "csrl", data_dir=data_dir)
    skipped = {problem.line for problem in loaded.problems}
    path = part_path(name, data_dir)
    lost = sum(
        tag.startswith("B-") and tag != "B-V"
        for number, line in numbered_lines(path, Problems(path))
        if number in skipped
        for tag in line.split("|||")[4].split(" ")
    )
    summary = summarise(loaded.examples)
    assert len(skipped) == bad
    assert len(summary.dialogues) == dialogues
    assert summary.predicates + bad == predicates
    assert summary.arguments + lost == arguments
    assert len({example.dialogue.id for example in loaded.examples}) == len(loaded.examples)


def test_duconv_arguments_outside_and_speakers(data_dir: Path) -> None:
    summary = summarise(open_corpus("duconv/dev", "csrl", data_dir=data_dir).examples)
    assert round(100 * summary.outside / summary.arguments, 1) == 20.3
    assert round(100 * summary.speakers / summary.arguments, 1) == 9.4


def test_a_plain_split_would_lose_a_quarter_of_personal_dialog(data_dir: Path) -> None:
    path = part_path("personal-dialog/test", data_dir)
    lines = [line.split("|||") for _, line in numbered_lines(path, Problems(path))]
    assert sum(len(tokens.split()) != len(tags.split()) for _, _, tokens, _, tags in lines) == 183
    assert not read_examples(path, "csrl").problems


@pytest.mark.parametrize(
    ("name", "count", "bad"),
    [("rewrite/all", 18_996, 0), ("restoration/valid", 5095, 1), ("canard/dev", 3430, 0), ("canard/test", 5571, 0)],
)
def test_rewriting_counts(data_dir: Path, name: str, count: int, bad: int) -> None:
    """One line of RESTORATION has nothing to restore."""
    loaded = open_corpus(name, "rewriting", data_dir=data_dir)
    assert (len(loaded.examples) + bad, len(loaded.problems)) == (count, bad)


def test_restoration_unchanged_share(data_dir: Path) -> None:
    summary = summarise(open_corpus("restoration/valid", "rewriting", data_dir=data_dir).examples)
    assert round(100 * summary.unchanged / summary.examples, 1) == 40.8


def test_chat_counts(data_dir: Path) -> None:
    long_enough: Counter[str] = Counter()
    dialogues: Counter[str] = Counter()
    for corpus in known_corpora():
        if corpus.name in ("lccc", "xdailydialog", "cped", "corecode", "kdconv", "duconv-raw"):
            for part in corpus.parts:
                loaded = open_corpus(f"{corpus.name}/{part.name}", "dialogue", data_dir=data_dir)
                assert not loaded.problems
                dialogues[f"{corpus.name}/{part.name}"] = len(loaded.examples)
                long_enough[f"{corpus.name}/{part.name}"] = sum(len(d.turns) >= 4 for d in loaded.examples)
    assert (dialogues["lccc/valid"], long_enough["lccc/valid"]) == (20_000, 3861)
    assert (dialogues["lccc/test"], long_enough["lccc/test"]) == (10_000, 2097)
    assert long_enough["lccc/toy"] == 553
    assert (dialogues["xdailydialog/old"], long_enough["xdailydialog/old"]) == (8096, 7554)
    assert (dialogues["xdailydialog/dev"], long_enough["xdailydialog/dev"]) == (995, 928)
    assert (dialogues["cped/valid"], long_enough["cped/valid"]) == (934, 547)
    assert (dialogues["cped/test"], long_enough["cped/test"]) == (2815, 1853)
    assert [dialogues[f"corecode/{p}"] for p in ("easy-dev", "easy-test", "hard-dev", "hard-test")] == [
        1565,
        1526,
        1485,
        1470,
    ]
    assert sum(count for name, count in dialogues.items() if name.startswith("kdconv")) == 900
    assert dialogues["duconv-raw/dev"] == 1200


def test_chinese_propbank(data_dir: Path) -> None:
    train, dev = benchmarks.chinese_propbank_tagged(data_dir)
    assert (len(train), len(dev)) == (6650, 422)
    texts = [{"".join(sentence.words) for sentence in part} for part in (train, dev)]
    assert texts[0].isdisjoint(texts[1])
    loaded = open_corpus("chinese-propbank/train", "sentence", data_dir=data_dir)
    assert all("duplicate" in problem.message for problem in loaded.problems)
    assert summarise(loaded.examples).predicates + len(loaded.problems) == 17_839
    slashes = read_examples(part_path("chinese-propbank/dev-slashes", data_dir), "sentence")
    assert slashes.fingerprint == read_examples(part_path("chinese-propbank/dev", data_dir), "sentence").fingerprint


def test_every_format_is_told_by_its_first_line(data_dir: Path) -> None:
    for corpus in known_corpora():
        for part in corpus.parts:
            path = find_part(corpus, part, data_dir)
            assert path is not None
            assert sniff(path) == (part.format or corpus.format)
            assert native_kind(path, part.format or corpus.format) in get_args(Kind)


def test_hashes_of_the_catalogue(data_dir: Path) -> None:
    for file in (file for corpus in known_corpora() for part in corpus.parts for file in part.files if file.sha256):
        path = locate(file.path, data_dir)
        assert path is not None
        with open_content(path, Limits()) as stream:
            assert hashlib.sha256(stream.read(-1)).hexdigest() == file.sha256, file.path


def test_splits(data_dir: Path) -> None:
    train, dev, test = benchmarks.duconv(data_dir)
    assert [len(groups(part)) for part in (train, dev, test)] == [240, 60, 200]
    assert groups(train).isdisjoint(groups(dev) | groups(test))
    assert groups(dev).isdisjoint(groups(test))
    personal_dev, personal_test = benchmarks.personal_dialog(data_dir)
    assert [len(groups(part)) for part in (personal_dev, personal_test)] == [30, 70]
    assert groups(personal_dev).isdisjoint(groups(personal_test))
    assert len(groups(benchmarks.news_dialog(data_dir))) == 300
    assert [len(part) for part in benchmarks.restoration(data_dir)] == [2000, 3094]
    parts = benchmarks.rewrite(data_dir)
    assert [len(part) for part in parts] == [16_000, 1_000, 1_000]
    contexts = [{_context(example) for example in part} for part in parts]
    assert contexts[0].isdisjoint(contexts[1] | contexts[2])
    assert contexts[1].isdisjoint(contexts[2])


def _context(example: RewritingExample) -> tuple[str, ...]:
    return tuple(turn.text for turn in example.dialogue.context)


def test_no_dialogue_of_a_labelled_dev_or_test_set_is_in_the_pool(data_dir: Path) -> None:
    """By plain containment, not by the keys that the pool itself uses: no dialogue's text is part of another's."""
    held_out = [
        example.dialogue
        for part in (
            *benchmarks.duconv(data_dir)[1:],
            *benchmarks.personal_dialog(data_dir),
            *benchmarks.rewrite(data_dir)[1:],
            *benchmarks.restoration(data_dir),
        )
        for example in part
    ]
    pool = build_pool(data_dir, count=36_000, exclude=held_out, seed=1)
    assert len(pool) == 36_000
    assert all(len(dialogue.turns) >= 4 for dialogue in pool)
    assert all(dialogue.id.startswith("lccc") for dialogue in pool[:5000])
    assert not _contained(held_out, pool)
    assert _contained(held_out, build_pool(data_dir, count=36_000, exclude=[], seed=1)), "this check can fail"


def _contained(held_out: list[Dialogue], pool: list[Dialogue]) -> set[str]:
    """Held-out dialogues whose turns stand in a row in one of the pool, or that hold one of the pool whole."""
    whole = [f"\n{_text(dialogue)}\n" for dialogue in pool]
    by_turn: dict[str, set[int]] = {}
    for position, dialogue in enumerate(pool):
        for turn in dialogue.turns:
            by_turn.setdefault(normalise(turn.text), set()).add(position)
    found = set()
    for dialogue in held_out:
        text = f"\n{_text(dialogue)}\n"
        if len(normalise(text)) >= 8:  # a dialogue of one short turn (你好) is contained in many by chance
            candidates = set[int]().union(*(by_turn.get(normalise(turn.text), ()) for turn in dialogue.turns))
            if any(text in whole[position] or whole[position] in text for position in candidates):
                found.add(dialogue.id)
    return found


def _text(dialogue: Dialogue) -> str:
    return "\n".join(normalise(turn.text) for turn in dialogue.turns)
