"""A pool in files: the same inputs whatever holds them, broken lines set aside, ids never twice."""

import json
from pathlib import Path

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from friend_training.data import synthetic
from friend_training.data.jsonl import to_line
from friend_training.data.sharded_pool import ShardedPool, is_sharded, open_pool
from friend_training.data.synthetic import Domain
from friend_training.errors import DataError
from friend_training.types import Dialogue

DIALOGUES = [one.dialogue for one in synthetic.generate(23, seed=4, domain=Domain.FILM)]
LINES = [to_line(dialogue) for dialogue in DIALOGUES]


def jsonl(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def typed(path: Path, dialogues: list[Dialogue], rows_in_group: int) -> None:
    rows = [json.loads(to_line(dialogue)) for dialogue in dialogues]
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=rows_in_group)


def held(pool: ShardedPool) -> list[Dialogue]:
    return [given for number in range(pool.shards) for given in pool.shard(number).read().inputs]


def test_the_same_dialogues_from_any_kind_of_file(tmp_path: Path) -> None:
    for name in ("lines", "json", "typed"):
        (tmp_path / name).mkdir()
    jsonl(tmp_path / "lines" / "a.jsonl", LINES[:13])
    jsonl(tmp_path / "lines" / "b.jsonl", LINES[13:])
    pq.write_table(pa.table({"json": LINES, "source": ["x"] * 23}), tmp_path / "json" / "all.parquet", row_group_size=4)
    typed(tmp_path / "typed" / "a.parquet", DIALOGUES[:13], 5)
    typed(tmp_path / "typed" / "b.parquet", DIALOGUES[13:], 100)
    for name in ("lines", "json", "typed"):
        pool = open_pool(str(tmp_path / name), shard_size=5)
        sizes = [len(pool.shard(number).read().inputs) for number in range(pool.shards)]
        assert sizes == ([5] * 4 + [3] if name == "json" else [5, 5, 3, 5, 5]), name
        assert held(pool) == DIALOGUES == list(pool), name
        assert not any(pool.shard(number).read().set_aside for number in range(pool.shards))


def test_an_address_or_a_pattern(tmp_path: Path) -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe("/pool-of-test/one.jsonl", "\n".join(LINES[:4]).encode())
    memory.pipe("/pool-of-test/two.jsonl", "\n".join(LINES[4:6]).encode())
    memory.pipe("/pool-of-test/notes.txt", b"not a shard")
    assert held(open_pool("memory://pool-of-test", shard_size=3)) == DIALOGUES[:6]
    assert held(open_pool("memory://pool-of-test/t*.jsonl", shard_size=3)) == DIALOGUES[4:6]
    jsonl(tmp_path / "p1.jsonl", LINES[:3])
    jsonl(tmp_path / "q1.jsonl", LINES[3:5])
    assert held(open_pool(str(tmp_path / "p*.jsonl"), shard_size=3)) == DIALOGUES[:3]
    assert held(open_pool(str(tmp_path / "q1.jsonl"), shard_size=3)) == DIALOGUES[3:5]
    assert [is_sharded(str(place)) for place in (tmp_path, tmp_path / "p1.jsonl", "s3://a/b", "x/*.jsonl")] == [
        True,
        False,
        True,
        True,
    ]


def test_what_is_broken_is_set_aside_with_its_place(tmp_path: Path) -> None:
    lines = [*LINES[:3], "{broken", "", LINES[3], '{"id": "z"}', '["no", "object"]', LINES[1], *LINES[4:6]]
    jsonl(tmp_path / "a.jsonl", lines)
    with (tmp_path / "a.jsonl").open("ab") as file:
        file.write(b'{"id": "\xff"}\n')
    jsonl(tmp_path / "b.jsonl", [LINES[0], LINES[6]])
    pool = open_pool(str(tmp_path), shard_size=4)
    assert held(pool) == DIALOGUES[:7]
    found = [one for number in range(pool.shards) for one in pool.shard(number).read().set_aside]
    assert [(Path(one.path).name, one.line) for one in found] == [
        ("a.jsonl", 4),
        ("a.jsonl", 7),
        ("a.jsonl", 8),
        ("a.jsonl", 9),
        ("a.jsonl", 12),
        ("b.jsonl", 1),
    ]
    for one, word in zip(found, ("broken JSON", "turns", "", "id was given before", "UTF-8", "given"), strict=True):
        assert word in one.reason


def test_a_row_of_parquet_can_be_broken_too(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in LINES[:4]]
    rows[2]["turns"] = []
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    shard = open_pool(str(tmp_path), shard_size=10).shard(0).read()
    assert list(shard.inputs) == [*DIALOGUES[:2], DIALOGUES[3]]
    assert [one.line for one in shard.set_aside] == [3]


def test_the_fingerprint_is_that_of_the_content(tmp_path: Path) -> None:
    for name, lines in (("one", LINES[:5]), ("two", LINES[:5]), ("three", [*LINES[:4], LINES[5]])):
        jsonl(tmp_path / name / f"{name}.jsonl", lines)
    one, two, three = (open_pool(str(tmp_path / name), shard_size=2).fingerprint for name in ("one", "two", "three"))
    assert one == two != three
    assert one == open_pool(str(tmp_path / "one"), shard_size=3).fingerprint


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda folder: None, "no such file, and no folder"),
        (lambda folder: jsonl(folder / "a.jsonl", []), "there is no line"),
        (lambda folder: (folder / "a.jsonl.gz").write_bytes(b"\x1f\x8b"), "no such file, and no folder"),
    ],
)
def test_a_pool_that_is_none(tmp_path: Path, make, message: str) -> None:  # type: ignore[no-untyped-def]
    make(tmp_path)
    with pytest.raises(DataError, match=message):
        open_pool(str(tmp_path), shard_size=3)
