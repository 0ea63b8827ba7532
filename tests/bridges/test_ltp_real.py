"""LTP tiny itself, on its own check sentence and on gold dialogues."""

import gzip
from itertools import islice
from pathlib import Path

import pytest
from transformers import AutoTokenizer

from friend_training.bridges.bridge import FramedVerbFinder, ParserBridge, VerbFinder
from friend_training.bridges.ltp import LtpParser, labelled_spans, restore_batch_encode_plus
from friend_training.friendships.bridge_quality import bridge_quality
from friend_training.types import Predicate, Sentence, SentenceArgument, SentenceRoles, SrlExample

pytestmark = pytest.mark.realdata
FOLDER = "ltp-tiny-zh-srl"


@pytest.fixture(scope="module")
def parser(models_dir: Path) -> LtpParser:
    return LtpParser.load(models_dir / FOLDER)


def within_utterance(path: Path, lines: int) -> list[SrlExample]:
    """Predicates whose arguments all stand in their own utterance, of the first lines of a CSRL file."""
    examples = []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in islice(file, lines):
            name, _, words, distances, tags = (field.split(" ") for field in line.rstrip("\n").split("|||"))
            first = distances.index("0") + 1  # after the speaker token
            ends = [0]
            for word in words[first:]:
                ends.append(ends[-1] + len(word))
            spans = list(labelled_spans(tags))
            if any(start < first for _, start, _ in spans):
                continue
            placed = [(role, ends[start - first], ends[end - first]) for role, start, end in spans]
            [predicate] = [Predicate(start, end) for role, start, end in placed if role == "V"]
            arguments = tuple(sorted(SentenceArgument(*span) for span in placed if span[0] != "V"))
            sentence = Sentence(f"{name}-{len(examples)}", "".join(words[first:]), (predicate,))
            examples.append(SrlExample(sentence, (SentenceRoles(predicate, arguments),)))
    return examples


def test_the_check_sentence_of_the_model_comes_out_exactly(parser: LtpParser) -> None:
    [parsed] = parser.parse(["昨天小明在北京买了一部新手机。"])
    tagged = " ".join(f"{parsed.word_text(i)}/{tag}" for i, tag in enumerate(parsed.pos))
    assert tagged == "昨天/nt 小明/nh 在/p 北京/ns 买/v 了/u 一/m 部/q 新/a 手机/n 。/wp"
    [frame] = parsed.frames
    assert parsed.word_text(frame.word) == "买"
    assert [(a.role, parsed.text[a.start : a.end]) for a in frame.arguments] == [
        ("ARGM-TMP", "昨天"), ("A0", "小明"), ("ARGM-LOC", "在北京"), ("A1", "一部新手机"),
    ]  # fmt: skip


def test_quality_as_a_bridge(parser: LtpParser, data_dir: Path) -> None:
    """A sample of DuConv dev. All of it gives 0.77, 0.50 and match 0.55 (docs/appendix/bridges.md)."""
    examples = within_utterance(data_dir / "csrl_duconv" / "duconv.dev.csrl.gz", 700)
    quality = bridge_quality(parser, examples)
    assert quality["predicates"] > 250
    assert quality["precision"] == pytest.approx(0.78, abs=0.05)
    assert quality["recall"] == pytest.approx(0.48, abs=0.05)
    assert quality["match"] == pytest.approx(0.54, abs=0.05)
    assert 0.12 < quality["left_empty"] < 0.28


def test_rows_alone_give_the_answers_of_the_full_parse(parser: LtpParser, data_dir: Path) -> None:
    examples = within_utterance(data_dir / "csrl_csagn" / "personal.test.data.gz", 150)
    sentences = [example.sentence for example in examples]
    assert parser.label(sentences) == ParserBridge(parser).label(sentences)


def test_finders_recall(parser: LtpParser, data_dir: Path) -> None:
    examples = within_utterance(data_dir / "csrl_duconv" / "duconv.dev.csrl.gz", 400)
    texts = [example.sentence.text for example in examples]
    verbs, framed = VerbFinder(parser).find(texts), FramedVerbFinder(parser).find(texts)

    def recall(found: list[tuple[Predicate, ...]]) -> float:
        hits = [e.sentence.predicates[0] in predicates for e, predicates in zip(examples, found, strict=True)]
        return sum(hits) / len(hits)

    assert recall(verbs) > 0.8
    assert 0.6 < recall(framed) < recall(verbs)


def test_a_tokenizer_of_transformers_5_gets_batch_encode_plus_back(models_dir: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(models_dir / FOLDER)
    restore_batch_encode_plus(tokenizer)
    encoded = tokenizer.batch_encode_plus(
        ["今天下雨", "好"], max_length=512, padding="longest", truncation="longest_first", return_tensors="pt",
        is_split_into_words=False,
    )  # fmt: skip
    assert tuple(encoded["input_ids"].shape) == (2, 6)
    assert encoded.encodings[1].offsets[1] == (0, 1)
