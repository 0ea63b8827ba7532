"""A pool in files that nobody holds in memory: JSONL or Parquet, on this disk or at any address that fsspec knows.

The address is a file, a folder (all its *.jsonl and *.parquet, by name) or a pattern with *. A line of JSONL, or a row
of Parquet, is one dialogue of our own format (docs/data-formats.md). Parquet has a column `json` with such lines, or a
column for each of their fields. Whatever is broken is set aside when its shard is read.

To open a pool is to go through its files once, for their fingerprint, for where each shard begins, and for ids that
occur twice. What stays in memory is one line for each shard, and 8 bytes for each input while that goes on.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b, sha256
from typing import Any

import fsspec
import numpy as np
from fsspec.implementations.local import LocalFileSystem

from friend_training.core.limits import Limits
from friend_training.core.pool import ReadShard, SetAside
from friend_training.corpora.json_values import parse_json
from friend_training.corpora.jsonl import parse_dialogue
from friend_training.corpora.lines import decoded
from friend_training.corpora.shard_files import SUFFIXES, ShardPlace, rows_of, scan
from friend_training.errors import DataError

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
