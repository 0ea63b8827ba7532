"""Formats are told by their first line, and files are read as what was asked for."""

import gzip
from pathlib import Path

import pytest

from friend_training.data.jsonl import write_jsonl
from friend_training.data.read import FORMATS, native_kind, open_corpus, read_examples, sniff
from friend_training.data.summary import fingerprint
from friend_training.errors import DataError

SAMPLES = {
    "jsonl": '{"id": "a", "turns": [{"speaker": "A", "text": "好"}]}\n',
    "csrl": "1|||2|||agent human 走|||1 0 0|||O O B-V\n",
    "rewrite": "甲\t\t乙\t\t丙\t\t乙丙\n",
    "restoration": "一\t二\t三\t四\t五\t六\t0\t\n",
    "canard": "Ann\tLife\tWhere?\tWhere is Ann?\n",
    "mudoco": (
        '{"doc_key": "d", "sentences": [["Ann", "likes", "her", "."]],'
        ' "speakers": [["user"]], "clusters": [[[0, 0], [2, 2]]]}\n'
    ),
    "mudoco-qr": (
        '{"dialog_id": "d", "number": 3, "CTX": ["<USR> Hi"], "USR": "<CUR> Call her .", "QR_REF": "Call Ann ."}\n'
    ),
    "mudoco-domain": (
        '{"domain": "calling", "dialogs": {"d": {"split": "train", "turns": [{"number": 1, "utterance": "Call her",'
        ' "links": [], "graded": true, "rewrite_required": true, "rewritten_utterance": "Call Ann"}]}}}\n'
    ),
    "camrest": (
        '[\n{"dialogue_id": 1, "dial": [{"usr": {"transcript": "Thai?", "transcript_complete": "Thai food?",'
        ' "transcript_with_ellipsis": "Thai?", "transcript_with_coreference": ""}}]}]\n'
    ),
    "cast": '[{"number": 8, "turn": [{"raw_utterance": "Why?", "manual_rewritten_utterance": "Why so?"}]}]\n',
    "propbank": "他/PN/S-ARG0 走/VV/rel\n",
    "lccc": '[\n["你 好", "好"]\n]\n',
    "xdailydialog": "好__eou__行__eou__\n",
    "cped": "TV_ID,Dialogue_ID,Utterance_ID,Speaker,Utterance\n1,1,1,甲,走\n",
    "corecode": '{"id": 0, "dialogue": ["A: 好", "B: 行"]}\n',
    "kdconv": '[\n  {"messages": [{"message": "好"}]}\n]\n',
    "duconv-raw": '{"conversation": ["好 吧", "行"]}\n',
}


def test_there_is_a_sample_of_every_format() -> None:
    assert set(SAMPLES) == set(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_sniffing_and_compression(tmp_path: Path, name: str) -> None:
    plain, packed = tmp_path / "plain", tmp_path / "packed"
    plain.write_text("\n" + SAMPLES[name], encoding="utf-8")
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert sniff(plain) == sniff(packed) == name
    kind = native_kind(plain, name)
    loaded = read_examples(plain, kind)
    assert len(loaded.examples) == 1
    assert read_examples(packed, kind).fingerprint == loaded.fingerprint


@pytest.mark.parametrize("name", FORMATS)
def test_conversion_loses_nothing(tmp_path: Path, name: str) -> None:
    path, out = tmp_path / "in", tmp_path / "out.jsonl"
    path.write_text(SAMPLES[name], encoding="utf-8")
    kind = native_kind(path, name)
    loaded = read_examples(path, kind)
    write_jsonl(out, loaded.examples)
    assert native_kind(out, "jsonl") == kind
    assert read_examples(out, kind).fingerprint == loaded.fingerprint


def test_toy_lccc_is_an_object(tmp_path: Path) -> None:
    path = tmp_path / "toy.json"
    for text in ('{\n"valid": [["好", "行"]]\n}', '{"train": [["好", "行"]], "test": []}'):
        path.write_text(text, encoding="utf-8")
        assert sniff(path) == "lccc"


def test_labels_can_be_left_aside_but_not_made_up(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text(SAMPLES["csrl"], encoding="utf-8")
    assert read_examples(path, "dialogue").examples[0].utterance.text == "走"
    with pytest.raises(DataError, match="format csrl has no rewriting examples, only csrl and dialogue"):
        read_examples(path, "rewriting")


def test_unknown_formats(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("just text\n", encoding="utf-8")
    with pytest.raises(DataError, match="--format"):
        read_examples(path, "csrl")
    with pytest.raises(DataError, match="no format 'xml'"):
        read_examples(path, "csrl", format="xml")


def test_a_file_of_bad_lines_only_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("1|||2|||agent human 走|||1 0 0|||O O O\n", encoding="utf-8")
    with pytest.raises(DataError, match="line 1: the predicate"):
        read_examples(path, "csrl")


def test_datasets_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "csrl_duconv"
    folder.mkdir()
    (folder / "duconv.dev.csrl").write_text(SAMPLES["csrl"], encoding="utf-8")
    assert len(open_corpus("duconv/dev", "csrl", data_dir=tmp_path).examples) == 1
    with pytest.raises(DataError, match="friend-train data fetch duconv"):
        open_corpus("duconv/test", "csrl", data_dir=tmp_path)
    with pytest.raises(DataError, match="duconv/dev, duconv/test"):
        open_corpus("duconv", "csrl", data_dir=tmp_path)
    with pytest.raises(DataError, match="FRIEND_TRAINING_DATA"):
        open_corpus("duconv/dev", "csrl")
    with pytest.raises(DataError, match="known are duconv, "):
        open_corpus("nothing", "csrl", data_dir=tmp_path)


def test_fingerprints_tell_content_and_order() -> None:
    from friend_training.types import Text

    a, b = Text("1", "甲"), Text("1", "乙")
    assert len({fingerprint([a, b]), fingerprint([b, a]), fingerprint([a]), fingerprint([])}) == 4
    assert fingerprint(iter([a, b])) == fingerprint([a, b])
