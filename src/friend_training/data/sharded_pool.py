"""A pool in files that nobody holds in memory: JSONL or Parquet, on this disk or at any address that fsspec knows.

The address is a file, a folder (all its *.jsonl and *.parquet, by name) or a pattern with *. A line of JSONL, or a row
of Parquet, is one dialogue of our own format (docs/data-formats.md). Parquet has a column `json` with such lines, or a
column for each of their fields. Whatever is broken is set aside when its shard is read.

To open a pool is to go through its files once, for their fingerprint, for where each shard begins, and for ids that
occur twice. What stays in memory is one line for each shard, and 8 bytes for each input while that goes on.
"""

import json
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b, sha256
from typing import IO, Any

import fsspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from fsspec.implementations.local import LocalFileSystem

from friend_training.core.limits import Limits
from friend_training.core.pool import ReadShard, SetAside
from friend_training.data.jsonl import parse_dialogue
from friend_training.data.text_io import decoded, parse_json
from friend_training.errors import DataError

# Where the shards of a pool lie in its files, and their lines: read from there, and no further.


JSONL, PARQUET = ".jsonl", ".parquet"

SUFFIXES = (JSONL, PARQUET)


_JSON_COLUMN = "json"

_BATCH = 1000

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class ShardPlace:
    """Lines (or rows) of a file: `count` of them, from line `first` (counted from 1), which begins at byte `offset`."""

    address: str
    first: int
    count: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Scanned:
    """What one pass over a file finds. `hashes` has a number for each line."""

    places: list[ShardPlace]
    hashes: npt.NDArray[np.uint64]
    digest: str


def scan(address: str, shard_size: int, hash_of: Callable[[bytes], int], limits: Limits) -> Scanned:
    """Go through a file once. `hash_of` is given a line above the limit only as far as it is read."""
    hashes = array("Q")
    places: list[ShardPlace] = []
    with _opened(address) as file:
        if address.endswith(PARQUET):
            digest = _digest(file)
            for _, raw in _parquet_rows(file, address, 1, None, only_ids=True):
                hashes.append(hash_of(raw))
            places = [
                ShardPlace(address, first + 1, min(shard_size, len(hashes) - first))
                for first in range(0, len(hashes), shard_size)
            ]
        else:
            total, offset = sha256(), 0
            number = 0
            while raw := file.readline(limits.line + 2):
                if number % shard_size == 0:
                    places.append(ShardPlace(address, number + 1, 0, offset))
                hashes.append(hash_of(raw))
                number += 1
                for part in _whole_line(raw, file):
                    total.update(part)
                    offset += len(part)
            digest = total.hexdigest()
            places = [
                ShardPlace(p.address, p.first, min(shard_size, len(hashes) - p.first + 1), p.offset) for p in places
            ]
    return Scanned(places, np.array(hashes, np.uint64), digest)


def rows_of(place: ShardPlace, limits: Limits) -> Iterator[tuple[int, bytes]]:
    """The lines of a shard as JSON, with their numbers; blank ones are left out. Of one above the limit a byte more
    than that is given."""
    with _opened(place.address) as file:
        if place.address.endswith(PARQUET):
            yield from _parquet_rows(file, place.address, place.first, place.count)
            return
        file.seek(place.offset)
        for number in range(place.first, place.first + place.count):
            raw = file.readline(limits.line + 2)
            if raw.strip():
                yield number, raw
            for _ in _whole_line(raw, file):
                pass


def _whole_line(begun: bytes, file: IO[bytes]) -> Iterator[bytes]:
    """The line that was begun, to its end, in parts of a size that does not matter."""
    part = begun
    while part:
        yield part
        part = b"" if part.endswith(b"\n") else file.readline(_BLOCK)


def _opened(address: str) -> Any:
    try:
        return fsspec.open(address, "rb").open()
    except FileNotFoundError:
        raise DataError("this file of the pool is gone", path=address) from None


def _digest(file: IO[bytes]) -> str:
    total = sha256()
    while block := file.read(_BLOCK):
        total.update(block)
    file.seek(0)
    return total.hexdigest()


def _parquet_rows(
    file: IO[bytes], address: str, first: int, count: int | None, *, only_ids: bool = False
) -> Iterator[tuple[int, bytes]]:
    """Rows as lines of JSON. Only the row groups that hold them are read: best not much larger than shards."""
    try:
        yield from _rows(pq.ParquetFile(file), first, count, only_ids=only_ids)
    except (pa.ArrowException, OSError, ValueError, RecursionError) as error:
        said = str(error).partition("\n")[0][:200]
        raise DataError(f"the Parquet file is damaged or of a kind that is not known ({said})", path=address) from error


def _rows(
    parquet: pq.ParquetFile, first: int, count: int | None, *, only_ids: bool = False
) -> Iterator[tuple[int, bytes]]:
    names = parquet.schema_arrow.names
    written = _JSON_COLUMN in names
    columns = [_JSON_COLUMN] if written else ["id"] if only_ids and "id" in names else names
    last = parquet.metadata.num_rows if count is None else first + count - 1
    groups, number, begin = [], 1, None
    for group in range(parquet.num_row_groups):
        end = number + parquet.metadata.row_group(group).num_rows
        if end > first and number <= last:
            groups.append(group)
            begin = number if begin is None else begin
        number = end
    number = begin or 1
    for batch in parquet.iter_batches(_BATCH, row_groups=groups, columns=columns):
        if number + len(batch) > first and number <= last:
            low = max(first - number, 0)
            part = batch.slice(low, min(last + 1 - number, len(batch)) - low)
            yield from enumerate(_lines(part, written), start=number + low)
        number += len(batch)


def _lines(batch: pa.RecordBatch, written: bool) -> Iterator[bytes]:
    for row in batch.to_pylist():
        text = (row[_JSON_COLUMN] or "") if written else json.dumps(_said(row), ensure_ascii=False, default=str)
        yield text if isinstance(text, bytes) else text.encode(errors="surrogatepass")


def _said(value: Any) -> Any:
    """Without the fields that are null: a Parquet column is there for every row, a field of JSON need not be."""
    if isinstance(value, dict):
        return {name: _said(part) for name, part in value.items() if part is not None}
    return [_said(part) for part in value] if isinstance(value, list) else value


Parse = Callable[[str], Any]
"""A line of JSON → an input; what is wrong with the line is a DataError. It is sent to workers: no inner function."""


@dataclass(frozen=True, slots=True)
class FileShard:
    """A shard that is read from its file by whoever labels it. `twice` are lines whose ids were given before."""

    place: ShardPlace
    twice: frozenset[int]
    parse: Parse

    def read(self) -> ReadShard:
        inputs, set_aside = [], []
        limits = Limits.from_environment()
        for number, raw in rows_of(self.place, limits):
            try:
                if number in self.twice:
                    raise DataError("its id was given before; ids must be unique in the whole pool")
                inputs.append(self.parse(decoded(raw, limits)))
            except DataError as error:
                set_aside.append(SetAside(self.place.address, number, str(error)))
        return ReadShard(inputs, tuple(set_aside))


@dataclass(frozen=True, slots=True)
class ShardedPool:
    """All shards of a pool, by their places. `fingerprint` is that of the files' bytes, in the order of their names."""

    files: tuple[FileShard, ...]
    fingerprint: str

    @property
    def shards(self) -> int:
        return len(self.files)

    def shard(self, number: int) -> FileShard:
        return self.files[number]

    def __iter__(self) -> Iterator[Any]:
        for shard in self.files:
            yield from shard.read().inputs


def is_sharded(address: str) -> bool:
    """Whether this names shards to be read one by one (a folder, pattern or URL), and not a file to be read whole."""
    return "://" in address or "*" in address or LocalFileSystem().isdir(address)


def open_pool(address: str, *, shard_size: int, parse: Parse = parse_dialogue) -> ShardedPool:
    """Shards of `shard_size` lines at most; no shard is of two files."""
    places: list[ShardPlace] = []
    digest = sha256()
    hashes: list[np.ndarray] = []
    limits = Limits.from_environment()
    for file in _files(address):
        found = scan(file, shard_size, partial(_id_hash, limits=limits), limits)
        places += found.places
        hashes.append(found.hashes)
        digest.update(found.digest.encode())
    if not places:
        raise DataError("there is no line in these files", path=address)
    twice = _twice(places, np.concatenate(hashes))
    return ShardedPool(
        tuple(FileShard(place, twice.get(place, frozenset()), parse) for place in places), digest.hexdigest()
    )


def _files(address: str) -> list[str]:
    filesystem, root = fsspec.core.url_to_fs(address)
    if "*" in root:
        found = filesystem.glob(root)
    elif filesystem.isdir(root):
        found = [path for path in filesystem.ls(root, detail=False) if path.endswith(SUFFIXES)]
    else:
        found = [root] if filesystem.isfile(root) else []
    if not found:
        raise DataError(f"no such file, and no folder or pattern of {' and '.join(SUFFIXES)} files", path=address)
    for path in found:
        if not path.endswith(SUFFIXES):
            raise DataError(f"shards are {' or '.join(SUFFIXES)} files, not compressed", path=path)
    local = isinstance(filesystem, LocalFileSystem)
    return sorted(path if local else filesystem.unstrip_protocol(path) for path in found)


def _id_hash(raw: bytes, limits: Limits) -> int:
    """64 bits that stand for the id of a line; 0 where it has none, which is said when the line is read."""
    try:
        found = parse_json(decoded(raw, limits), limits)
    except DataError:
        return 0
    name = found.get("id") if isinstance(found, dict) else None
    return (
        int.from_bytes(blake2b(name.encode(errors="replace"), digest_size=8).digest()) if isinstance(name, str) else 0
    )


def _twice(places: list[ShardPlace], hashes: np.ndarray) -> dict[ShardPlace, frozenset[int]]:
    """The lines of each shard whose id stands on an earlier line of the pool."""
    ordered = np.sort(hashes)
    repeated = np.unique(ordered[1:][(ordered[1:] == ordered[:-1]) & (ordered[1:] != 0)])
    if not len(repeated):
        return {}
    where = np.flatnonzero(np.isin(hashes, repeated))
    seen: set[int] = set()
    later = []
    for line in where:
        if int(hashes[line]) in seen:
            later.append(int(line))
        seen.add(int(hashes[line]))
    found: dict[ShardPlace, frozenset[int]] = {}
    begin = 0
    for place in places:
        own = [place.first + line - begin for line in later if begin <= line < begin + place.count]
        if own:
            found[place] = frozenset(own)
        begin += place.count
    return found
