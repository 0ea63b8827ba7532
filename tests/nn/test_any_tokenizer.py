"""Tokenizers of any kind: words as they stand in running text, characters that labels mean, special pieces by use."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer as Rules
from tokenizers import models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from friend_training.errors import ConfigError
from friend_training.nn.tokenizer import Tokenizer
from friend_training.nn.word_input import TokenReader
from friend_training.tasks.dialogue_input import render
from friend_training.tasks.rewriting.model import rewrite_item
from friend_training.types import Dialogue, Insertion, Rewrite, Turn, running_text
from helpers.encoder_families import fast_tokenizer, write_encoder

KINDS = ("wordpiece", "bytes", "unigram")
SENTENCES = (
    ("See", "you", "on", "Tuesday", ",", "my", "friend", "."),
    ("Tuesday",),
    ("I", "do", "n't", "like", "zyzzyva", "!"),
    ("我", "喜欢", "看", "电影", "。"),
    ("我", "喜欢", "Tuesday", "的", "电影"),
)


def tokenizer_of(kind: str) -> Tokenizer:
    return Tokenizer(fast_tokenizer(kind))


def with_blanks(trim: bool) -> Tokenizer:
    """Byte pieces whose places have the blank before the word in them, unless it is trimmed."""
    rules = fast_tokenizer("bytes").backend_tokenizer
    rules.post_processor = processors.ByteLevel(trim_offsets=trim)
    return Tokenizer(PreTrainedTokenizerFast(tokenizer_object=rules, unk_token="<unk>"))


@pytest.mark.parametrize("words", SENTENCES)
@pytest.mark.parametrize("kind", KINDS)
def test_words_are_cut_as_in_running_text(kind: str, words: tuple[str, ...]) -> None:
    tokenizer = tokenizer_of(kind)
    text = " ".join(words) if words[0].isascii() else "".join(words)
    whole = tokenizer.backend(text, add_special_tokens=False, return_offsets_mapping=True)
    pieces, begins = TokenReader(tokenizer).read(words)
    assert pieces.tolist() == [tokenizer.cls_id, *whole["input_ids"], tokenizer.sep_id]
    first = np.repeat(np.arange(len(begins)), begins) - 1
    assert len(first) == len(words)
    start = 0
    for word, piece in zip(words, first, strict=True):
        start = text.index(word, start)
        low, high = whole["offset_mapping"][piece]
        assert low <= start < high
        # No piece before it reaches into the word.
        assert all(end <= start for _, end in whole["offset_mapping"][:piece])
        start += len(word)


def test_a_word_in_the_middle_keeps_its_blank() -> None:
    reader = TokenReader(tokenizer_of("bytes"))
    pieces, begins = reader.read(("See", "you", "Tuesday"))
    named = reader.tokenizer.backend.convert_ids_to_tokens(pieces[begins > 0].tolist())
    assert named == ["See", "Ġyou", "ĠTuesday"]


def test_the_same_pieces_as_words_given_one_by_one() -> None:
    """What transformers makes of a list of words, for a tokenizer that begins a text with a blank."""
    rules = fast_tokenizer("bytes").backend_tokenizer
    rules.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    backend = PreTrainedTokenizerFast(tokenizer_object=rules, unk_token="<unk>", cls_token="<s>", sep_token="</s>")
    words = SENTENCES[0]
    expected = backend(list(words), is_split_into_words=True, add_special_tokens=False)
    pieces, begins = TokenReader(Tokenizer(backend)).read(words)
    assert pieces[1:-1].tolist() == expected["input_ids"]
    assert [expected.word_ids()[place] for place in np.flatnonzero(begins[1:-1])] == list(range(len(words)))


def test_running_text_has_blanks_where_people_write_them() -> None:
    assert running_text(("See", "you", "!")) == ("See you !", [0, 4, 8])
    assert running_text(("我", "喜欢", "GPT", "模型", "。")) == ("我喜欢GPT模型。", [0, 1, 3, 6, 8])
    assert running_text(()) == ("", [])


@pytest.mark.parametrize("kind", KINDS)
def test_every_word_has_a_piece(kind: str) -> None:
    reader = TokenReader(tokenizer_of(kind))
    for words in ((), (" ",), ("  ", "dog"), ("dog", "  "), ("dog", "", "dog"), ("我", "", "我")):
        pieces, begins = reader.read(words)
        assert begins.sum() == max(1, len(words))
        made = reader.collate([np.array([pieces, begins])])
        assert made.first.shape == (1, max(1, len(words)))
        assert 0 < int(made.first.min()) <= int(made.first.max()) < len(pieces) - 1


@pytest.mark.parametrize("trim", [True, False])
def test_places_leave_out_the_blank_before_a_word(trim: bool) -> None:
    text = "See you  on Tuesday"
    table = with_blanks(trim)(text)
    spelt = [text[start:end] for _, start, end in table.tolist()]
    assert "".join(spelt) == text.replace(" ", "")
    assert "Tuesday" in spelt


def test_a_span_of_words_can_be_inserted_whatever_the_pieces() -> None:
    dialogue = Dialogue("d", (Turn("A", "See you on Tuesday"), Turn("B", "when ?")))
    script = Rewrite("", (), (Insertion(5, 0, 8, 18),))
    for tokenizer in (*map(tokenizer_of, KINDS), with_blanks(False)):
        layout = render(dialogue, tokenizer, speakers=False, max_length=125)
        item = rewrite_item(dialogue, layout, script)
        assert item is not None
        assert item.decisions is not None
        assert (item.decisions.start <= item.decisions.end).sum() == 1


def test_a_character_of_several_pieces_is_deleted_once() -> None:
    dialogue = Dialogue("d", (Turn("A", "龘我"),))
    tokenizer = tokenizer_of("bytes")
    layout = render(dialogue, tokenizer, speakers=False, max_length=125)
    assert len(tokenizer("龘")) > 1
    item = rewrite_item(dialogue, layout, Rewrite("我", (0,)))
    assert item is not None
    assert item.decisions is not None
    assert item.decisions.keep.tolist() == [*[0] * len(tokenizer("龘")), *[1] * len(tokenizer("我"))]


def bare(**specials: str) -> Tokenizer:
    rules = Rules(models.WordLevel({"<s>": 0, "</s>": 1, "?": 2, "x": 3, "I": 4, "you": 5}, unk_token="?"))
    rules.pre_tokenizer = pre_tokenizers.Whitespace()
    return Tokenizer(PreTrainedTokenizerFast(tokenizer_object=rules, **specials))


def test_special_pieces_may_have_other_names_or_be_missing() -> None:
    roberta = tokenizer_of("bytes")
    assert (roberta.cls_id, roberta.sep_id, roberta.pad_id, roberta.unknown_id) == (0, 2, 1, 3)
    begins_and_ends = bare(bos_token="<s>", eos_token="</s>")
    assert (begins_and_ends.cls_id, begins_and_ends.sep_id) == (0, 1)
    assert begins_and_ends.pad_id == begins_and_ends.unknown_id == 1
    ends = bare(eos_token="</s>")
    assert (ends.cls_id, ends.sep_id) == (1, 1)
    unknown = bare(unk_token="?")
    assert (unknown.cls_id, unknown.sep_id, unknown.pad_id, unknown.unknown_id) == (2, 2, 2, 2)
    with pytest.raises(ConfigError, match="no special token"):
        _ = bare().cls_id


def test_speakers_are_pieces_that_the_encoder_knows() -> None:
    chinese = tokenizer_of("wordpiece")
    assert list(chinese.speaker_ids) == chinese.backend.convert_tokens_to_ids(["我", "你"])
    assert bare(unk_token="?").speaker_ids == (4, 5)
    same, other = tokenizer_of("bytes").speaker_ids
    assert same != other


def test_padding_and_cutting_of_the_makers_is_left_out(tmp_path: Path) -> None:
    folder = shutil.copytree(write_encoder(tmp_path / "made", "ernie"), tmp_path / "published")
    rules = Rules.from_file(str(folder / "tokenizer.json"))
    rules.enable_padding(length=12)
    rules.enable_truncation(5)
    rules.save(str(folder / "tokenizer.json"))
    assert np.array_equal(Tokenizer.load(folder)("我喜欢看电影"), Tokenizer.load(tmp_path / "made")("我喜欢看电影"))
