"""Files that ask for more than they are worth: each is refused with one line, in bounded memory and time."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest

from friend_training.core.limits import Limits
from friend_training.data.read import FORMATS, sniff, stream_examples
from friend_training.data.sharded_pool import open_pool
from friend_training.data.text_io import Problems
from friend_training.errors import ConfigError, DataError

MEMORY_MB = 500
"""What `data check` and `data convert` may take, whatever the file."""

MEASURE = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
"""Started from a small process: a child begins with the peak of the one that it was made by."""

GOOD = json.dumps({"id": "1", "turns": [{"speaker": "A", "text": "你好"}]}).encode() + b"\n"

Command = Callable[..., str]
Sparse = Callable[..., Path]


def peak_mb(*arguments: object) -> tuple[int, float, str]:
    """Exit code, peak memory and errors of a command in a process of its own."""
    command = [sys.executable, "-m", "friend_training.cli.main", *map(str, arguments)]
    done = subprocess.run([sys.executable, "-c", MEASURE, *command], capture_output=True, text=True, check=True)
    code, kilobytes = done.stdout.split()[-2:]
    return int(code), int(kilobytes) / 1024, done.stderr


@pytest.mark.parametrize("begin", [b'{"id": "', b'[["', b"a\t\tb\t\tc\t\t"], ids=["jsonl", "lccc", "rewrite"])
def test_a_line_of_200_mb(sparse: Sparse, begin: bytes) -> None:
    path = sparse("line", begin, 200 << 20, b'"}\n')
    for command in (["check", path], ["convert", path, path.with_name("out")]):
        code, memory, said = peak_mb("data", *command)
        assert code == 2 or (command[0] == "check" and begin[:1] == b"a"), said  # a public file may have bad lines
        assert memory < MEMORY_MB
        assert "Traceback" not in said
        assert not path.with_name("out").exists()


def test_a_gzip_file_that_unfolds_without_end(refused: Command, tmp_path: Path) -> None:
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(GOOD + bytes(50 << 20)))
    assert path.stat().st_size < 100_000
    for format in FORMATS:
        if format != "cped":  # which looks no further than the header
            assert "unfolds to more than 100 times its size" in refused("data", "check", path, "--format", format)


@pytest.mark.slow
def test_five_megabytes_of_gzip_that_hold_gigabytes(tmp_path: Path) -> None:
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(1100):
            file.write(bytes(1 << 20))
    code, memory, said = peak_mb("data", "check", path, "--format", "jsonl")
    assert code == 2
    assert memory < MEMORY_MB
    assert "times its size" in said


@pytest.mark.slow
def test_millions_of_lines_stay_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(1_500_000):
            file.write(
                f'{{"id": "a-rather-long-name-of-a-dialogue-{number}", "turns": [{{"speaker": "A", "text": "a"}}]}}\n'
            )
            file.write("{broken\n" if number % 2 else "")
    code, memory, said = peak_mb("data", "check", path)
    assert code == 2
    assert "750000 bad lines" in said
    assert memory < MEMORY_MB


def test_a_million_wrong_parts_are_one_problem(tmp_path: Path) -> None:
    """pydantic would make an error of a kilobyte for each."""
    path = tmp_path / "wrong.jsonl"
    path.write_text('{"id": "1", "turns": [' + ",".join(["1"] * 500_000) + "]}\n")
    code, memory, said = peak_mb("data", "check", path)
    assert code == 2
    assert "1 bad lines" in said
    assert memory < MEMORY_MB


def test_a_rewrite_of_ten_thousand_characters_is_quickly_told(done: Command, tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text(
        f"{'哈' * 1700}\t\t好\t\t{'哈' * 1500}\t\t{'哈' * 1600}\n你\t\t好\t\t{'哈' * 5000}\t\t{'哈' * 5000}好\n"
    )
    said = done("data", "check", path)
    assert "1 for an edit script" in said
    assert "50.0% with spans from context" in said


def test_lines_above_the_limit_are_bad_lines_and_the_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    long = json.dumps({"id": "2", "turns": [{"speaker": "A", "text": "a" * 3000}]}).encode()
    path.write_bytes(GOOD + long + b"\n" + GOOD.replace(b'"1"', b'"3"'))
    problems = Problems(path, limits=Limits(line=2000))
    assert [example.id for example in stream_examples(path, "dialogue", problems, format="jsonl")] == ["1", "3"]
    assert [problem.line for problem in problems.found] == [2]
    assert "at most 2,000 are read (set FRIEND_TRAINING_MAX_LINE for more)" in problems.found[0].message
    with pytest.raises(DataError, match=r"x\.jsonl:2: a line of more than 2,000 bytes"):
        list(stream_examples(path, "dialogue", Problems(path, strict=True, limits=Limits(line=2000)), format="jsonl"))


def test_texts_above_the_limit_are_bad_lines_in_every_format(tmp_path: Path) -> None:
    many = "字" * 60
    lines = {
        "jsonl": json.dumps({"id": "1", "turns": [{"speaker": "A", "text": many}]}),
        "csrl": f"1|||1|||human {many}|||0 0|||O B-V",
        "rewrite": f"a\t\tb\t\t{many}\t\tc",
        "restoration": f"a\tb\tc\td\t{many}\tf\t1\tg",
        "canard": f"a\tb\t{many}",
        "mudoco": json.dumps({"doc_key": "1", "sentences": [[many]], "speakers": [["user"]], "clusters": []}),
        "mudoco-qr": json.dumps(
            {"dialog_id": "1", "number": 1, "CTX": [], "USR": f"<CUR> {many}", "QR_REF": many, "Bi_REF": False}
        ),
        "mudoco-domain": json.dumps(
            {"domain": "a", "dialogs": {"d": {"turns": [{"number": 1, "utterance": many, "links": []}]}}}
        ),
        "camrest": json.dumps(
            [{"dialogue_id": 1, "dial": [{"usr": dict.fromkeys(_VERSIONS, "") | {"transcript": many}}]}]
        ),
        "cast": json.dumps([{"number": 1, "turn": [{"raw_utterance": many, "manual_rewritten_utterance": many}]}]),
        "propbank": f"{many}/NN/rel",
        "lccc": json.dumps([[many, "b"]]),
        "xdailydialog": f"{many}__eou__b",
        "cped": f"TV_ID,Dialogue_ID,Speaker,Utterance\n1,1,A,{many}",
        "corecode": json.dumps({"dialogue": [f"A: {many}"]}),
        "kdconv": json.dumps([{"messages": [{"message": many}]}]),
        "duconv-raw": json.dumps({"conversation": [many]}),
    }
    assert set(lines) == set(FORMATS)
    for format, text in lines.items():
        path = tmp_path / format
        path.write_text(text + "\n", encoding="utf-8")
        for limit, expected in ((1000, 1), (50, 0)):
            problems = Problems(path, limits=Limits(text=limit))
            found = list(stream_examples(path, _kind(format), problems, format=format))
            assert (len(found), problems.count) == (expected, 1 - expected), format
        assert "at most 50 are read (set FRIEND_TRAINING_MAX_TEXT for more)" in problems.found[0].message


_VERSIONS = ("transcript_complete", "transcript_with_ellipsis", "transcript_with_coreference")


def _kind(format: str) -> str:
    kinds = {"propbank": "sentence", "mudoco": "coreference", "mudoco-domain": "coreference"}
    rewriting = ("rewrite", "restoration", "canard", "mudoco-qr", "camrest", "cast")
    return "rewriting" if format in rewriting else kinds.get(format, "dialogue")


@pytest.mark.parametrize(
    "value",
    ["[" * 100_000, '{"a":' * 100_000, "9" * 5000, "-" + "9" * 5000 + ".5"],
    ids=["lists", "objects", "digits", "float"],
)
@pytest.mark.parametrize("format", ["jsonl", "corecode", "kdconv", "duconv-raw", "lccc"])
def test_deep_nesting_and_endless_numbers(refused: Command, tmp_path: Path, value: str, format: str) -> None:
    path = tmp_path / "deep"
    path.write_text(f'[{{"messages": {value}}}]\n' if format in ("kdconv", "lccc") else f'{{"dialogue": {value}}}\n')
    if format == "lccc" and value[0] in "9-":
        path.write_text(f"[[{value}]]")
    refused("data", "convert", path, tmp_path / "out", "--format", format)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("format", ["lccc", "kdconv", "duconv-raw", "corecode"])
def test_half_a_character_is_a_bad_line(tmp_path: Path, format: str) -> None:
    """JSON can say \\ud83d alone; no UTF-8 file can, so it could be read and never be written."""
    half, whole = '"A: a\\ud83d"', '"A: b"'
    lines = {
        "lccc": f"[[{half}], [{whole}]]",
        "kdconv": f'[{{"messages": [{{"message": {half}}}]}}, {{"messages": [{{"message": {whole}}}]}}]',
        "duconv-raw": f'{{"conversation": [{half}]}}\n{{"conversation": [{whole}]}}',
        "corecode": f'{{"dialogue": [{half}]}}\n{{"dialogue": [{whole}]}}',
    }
    path = tmp_path / "half"
    path.write_text(lines[format])
    problems = Problems(path)
    assert len(list(stream_examples(path, "dialogue", problems, format=format))) == 1
    assert "half a character (a lone surrogate, U+D83D)" in problems.found[0].message


@pytest.mark.parametrize("format", FORMATS)
def test_a_gzip_file_that_was_cut_off(refused: Command, tmp_path: Path, format: str) -> None:
    content = b'[["' + os.urandom(4000).hex().encode() + b'"]]'
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(content)[:-1000])
    assert "damaged or cut off" in refused("data", "check", path, "--format", format)
    assert "damaged or cut off" in refused("data", "check", path)


def test_a_quotation_mark_that_is_never_closed(refused: Command, tmp_path: Path) -> None:
    path = tmp_path / "open.csv"
    path.write_text('TV_ID,Dialogue_ID,Speaker,Utterance\n1,1,A,"' + "a\n" * 200_000)
    assert "broken CSV: field larger than field limit" in refused("data", "check", path)


def test_lists_of_dialogues_on_one_line_may_be_longer_than_a_line(tmp_path: Path) -> None:
    """LCCC is one line of hundreds of megabytes: its dialogues count."""
    path = tmp_path / "lccc.json"
    path.write_text(json.dumps({"train": [["你 好", "好"]] * 100_000}, ensure_ascii=False), encoding="utf-8")
    assert path.stat().st_size > Limits().line
    assert sniff(path) == "lccc"
    assert sum(1 for _ in stream_examples(path, "dialogue", Problems(path), format="lccc")) == 100_000


def test_limits_are_set_by_the_environment(refused: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(GOOD)
    monkeypatch.setenv("FRIEND_TRAINING_MAX_LINE", "20")
    assert Limits.from_environment() == Limits(line=20)
    assert "a line of more than 20 bytes" in refused("data", "convert", path, tmp_path / "out")
    for wrong in ("0", "-1", "many", "9" * 5000, "٣"):
        monkeypatch.setenv("FRIEND_TRAINING_MAX_LINE", wrong)
        with pytest.raises(ConfigError, match=r"FRIEND_TRAINING_MAX_LINE: .* expected a number"):
            Limits.from_environment()


def test_the_documentation_names_every_limit() -> None:
    page = (Path(__file__).parents[2] / "docs" / "data-formats.md").read_text(encoding="utf-8")
    for limit in fields(Limits):
        assert f"| {limit.name.upper()} | {limit.default:,} |" in page


def test_damaged_shards_of_a_pool(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(DataError, match=r"a\.parquet: the Parquet file is damaged"):
        open_pool(str(tmp_path), shard_size=10)


def test_long_and_deep_lines_of_a_pool_are_set_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = b'{"id": "2", "turns": ' + b"[" * 3000 + b"]" * 3000 + b"}\n"
    long = b'{"id": "3", "turns": "' + b"a" * 40_000 + b'"}\n'
    (tmp_path / "a.jsonl").write_bytes(GOOD + deep + long + GOOD.replace(b'"1"', b'"4"'))
    monkeypatch.setenv("FRIEND_TRAINING_MAX_LINE", "20000")
    pool = open_pool(str(tmp_path), shard_size=2)
    read = [pool.shard(number).read() for number in range(pool.shards)]
    assert [given.id for shard in read for given in shard.inputs] == ["1", "4"]
    assert [(aside.line, aside.reason[:20]) for shard in read for aside in shard.set_aside] == [
        (2, "lists and objects ne"),
        (3, "a line of more than "),
    ]
