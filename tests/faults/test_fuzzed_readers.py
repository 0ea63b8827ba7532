"""Every reader on files that no reader was written for: it answers, or refuses with an exception of ours.

The inputs are good files with pieces cut out, doubled and put in. `FRIEND_TRAINING_FUZZ_SEED` gives other inputs; the
seed is printed with every failure, and hypothesis prints how to make the very input again.
"""

import bz2
import gzip
import io
import json
import os
import zipfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st

from friend_training.core.limits import Limits, read_yaml
from friend_training.data.jsonl import write_jsonl
from friend_training.data.read import FORMATS, _readers, native_kind, sniff
from friend_training.data.readers.emotions import read_cped_emotions, read_meld
from friend_training.data.readers.treebanks import read_conll, read_dp, read_treebank
from friend_training.data.sharded_pool import open_pool
from friend_training.data.summary import fingerprint
from friend_training.data.text_io import Problems
from friend_training.errors import FriendTrainingError

SEED = int(os.environ.get("FRIEND_TRAINING_FUZZ_SEED", "20230517"))
SLOWEST_MS = 5000
LONGEST_MESSAGE = 1500
LIMITS = Limits(line=4000, text=1500, nesting=20, whole=20_000)

_TURNS = [{"speaker": "A", "text": "你喜欢北京吗"}, {"speaker": "B", "text": "喜欢"}]
_ARGUMENTS = [{"role": "ARG1", "turn": 0, "start": 3, "end": 5}]
GOOD = {
    "jsonl": [
        json.dumps({"id": "1", "turns": _TURNS, "predicates": [{"start": 0, "end": 2, "arguments": _ARGUMENTS}]}),
        json.dumps({"id": "2", "turns": _TURNS, "rewrite": "喜欢北京"}),
        json.dumps({"id": "3", "text": "他走", "predicates": [{"start": 1, "end": 2, "arguments": []}]}),
    ],
    "csrl": ["d|||3|||agent human 我 喜欢 你|||1 0 0 0 0|||O O B-ARG0 B-V B-ARG1"] * 2,
    "rewrite": ["你 好\t\t好\t\t他 呢\t\t小 王 呢"] * 2,
    "restoration": ["a\tb\tc\td\te\tf\t1\tge"] * 2,
    "canard": ["who\twhat\the\tshe"] * 2,
    "mudoco": [
        json.dumps(
            {
                "doc_key": "d",
                "sentences": [["Call", "Ann"], ["Call", "her"]],
                "speakers": [["user", "user"], ["system", "system"]],
                "clusters": [[[1, 1], [3, 3]]],
            }
        )
    ],
    "mudoco-qr": [
        '{"dialog_id": "d", "number": 3, "CTX": ["<USR> Hi"], "USR": "<CUR> Call her .", "QR_REF": "Call Ann ."}'
    ],
    "mudoco-domain": [
        '{"domain": "calling", "dialogs": {"d": {"split": "train", "turns": [{"number": 1, "utterance": "Call her",'
        ' "links": [], "graded": true, "rewrite_required": true, "rewritten_utterance": "Call Ann"}]}}}'
    ],
    "camrest": [
        '[{"dialogue_id": 1, "dial": [{"usr": {"transcript": "Thai?", "transcript_complete": "Thai food?",'
        ' "transcript_with_ellipsis": "Thai?", "transcript_with_coreference": ""}, "sys": {"sent": "Yes."}}]}]'
    ],
    "cast": ['[{"number": 8, "turn": [{"raw_utterance": "Why?", "manual_rewritten_utterance": "Why so?"}]}]'],
    "propbank": ["他/PN/A0 走/VV/rel 了/AS/O"] * 2,
    "lccc": ['[["你 好", "好"], ["再 见", "\\u597d"]]'],
    "xdailydialog": ["你好__eou__好\t1"] * 2,
    "cped": ["TV_ID,Dialogue_ID,Speaker,Utterance", '1,1,A,"你\n好"', "1,1,B,好"],
    "corecode": ['{"dialogue": ["A: 你好", "B: 好"]}'] * 2,
    "kdconv": ['[{"messages": [{"message": "你好"}, {"message": "好"}]}]'],
    "duconv-raw": ['{"conversation": ["你 好", "好"]}'] * 2,
    "treebank": ["( (S (NP-SBJ (PRP We) ) (VP (VBD left) (-NONE- *T*-1) )))"] * 2,
    "conll": ["1\tWe\twe\tPRON\tPRP\t_\t2\tnsubj\t_\t_", "2\tleft\tleave\tVERB\tVBD\t_\t0\troot\t_\t_", ""],
    "dp": ["We\tPRP\t2", "left\tVBD\t0", ""],
    "meld": ["Dialogue_ID,Utterance_ID,Utterance,Emotion,Sentiment", "0,0,Oh!,joy,positive"],
    "cped-emotions": ["Dialogue_ID,Utterance_ID,Utterance,Emotion,Sentiment", "0,0,好,happy,positive"],
}
NASTY = [
    *(
        b"",
        b"\n",
        b"\r",
        b"\t",
        b"\t\t",
        b"|||",
        b" ",
        b"/",
        b",",
        b'"',
        b"'",
        b"\\",
        b"\x00",
        b"\xff",
        b"\xed\xa0\x80",
    ),
    *(b"\xef\xbb\xbf", b"\\ud800", b"\\u0000", b"[", b"]", b"{", b"}", b"(", b")", b"[" * 50, b"{" * 50, b"9" * 5000),
    *(b"-1", b"0", b"1e999", b"NaN", b"null", b"true", b"a" * 2000, b"B-ARG0", b"I-ARG0", b"rel", b"__eou__", b"~"),
    *("字\u2028".encode(), "٣".encode(), "²".encode(), b"\x1f\x8b", b"PK\x03\x04", b"#", b"1-2", b"8.1", b"[/bold]"),
    *(b"&a [*a]", b"<<: *a", b"!!int x", b"2020-99-99", b": ", b"- ", b"---", b"? ", b"%YAML"),
]


def _zipped(content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("a.mrg", "a.conllu", "a.dp"):
            archive.writestr(name, content)
    return file.getvalue()


PACKINGS: list[Callable[[bytes], bytes]] = [bytes, bytes, bytes, gzip.compress, bz2.compress, _zipped]


@st.composite
def files(draw: st.DrawFn, good: Iterable[str]) -> bytes:
    content = "\n".join(good).encode()
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 12)))
        put = draw(st.one_of(st.sampled_from(NASTY), st.just(content[start:end] * 2), st.binary(max_size=8)))
        content = content[:start] + put + content[end:]
    packed = draw(st.sampled_from(PACKINGS))(content)
    cut = draw(st.one_of(st.none(), st.integers(0, len(packed))))
    return packed[:cut]


def _examples(format: str, path: Path) -> None:
    """All kinds, and what `data check` and `data convert` do with them."""
    for reader in _readers(format).values():
        _refusing(partial(_read_and_write, reader, path))


def _read_and_write(reader: Callable[..., Any], path: Path) -> None:
    found = list(reader(path, Problems(path, limits=LIMITS)))
    fingerprint(found)
    write_jsonl(path.with_name("out.jsonl"), found)


def _others(reader: Callable[..., Any], path: Path) -> None:
    fingerprint(list(reader(path, Problems(path, limits=LIMITS))))


def _sniffed(path: Path) -> None:
    native_kind(path, sniff(path))


def _pool(path: Path) -> None:
    shards = path.rename(path.with_name("pool.jsonl"))
    try:
        pool = open_pool(str(shards), shard_size=1)
        for number in range(pool.shards):
            pool.shard(number).read()
    finally:
        shards.rename(path)


def _yaml(path: Path) -> None:
    read_yaml(path.read_text(encoding="utf-8", errors="replace"), "x.yaml")


def _refusing(read: Callable[[], None]) -> None:
    said = ""
    try:
        read()
    except FriendTrainingError as error:
        said = str(error)
    assert len(said) < LONGEST_MESSAGE


READERS: dict[str, Callable[[Path], None]] = {
    **{format: partial(_examples, format) for format in FORMATS},
    "treebank": partial(_others, read_treebank),
    "conll": partial(_others, read_conll),
    "dp": partial(_others, read_dp),
    "meld": partial(_others, read_meld),
    "cped-emotions": partial(_others, read_cped_emotions),
}
EVERYWHERE = (_sniffed, _pool, _yaml)


def _fuzz(name: str, folder: Path, count: int) -> None:
    path = folder / "input"

    @seed(SEED)
    @settings(
        max_examples=count,
        deadline=SLOWEST_MS,
        database=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(files(GOOD[name]))
    def fuzz(content: bytes) -> None:
        note(f"FRIEND_TRAINING_FUZZ_SEED={SEED}, reader {name}")
        path.write_bytes(content)
        for read in (READERS[name], *EVERYWHERE):
            _refusing(partial(read, path))

    fuzz()


@pytest.mark.parametrize("name", READERS)
def test_a_few_fuzzed_files(name: str, tmp_path: Path) -> None:
    _fuzz(name, tmp_path, 25)


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_ten_thousand_fuzzed_files(name: str, tmp_path: Path) -> None:
    _fuzz(name, tmp_path, 10_000 // len(READERS) + 1)
