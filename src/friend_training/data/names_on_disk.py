"""A number for each of any number of names: files of any size are gone through, and their ids do not fit in memory."""

import sqlite3

_CACHE_KB = 32_000
_AT_A_TIME = 20_000


class NamesOnDisk:
    """A value for each name. SQLite holds them in a file of its own making, which is gone with this object."""

    def __init__(self) -> None:
        self._recent: dict[str, int] = {}
        self._any_written = False
        # The empty name asks for a database in a temporary file that only comes to be where its cache is full.
        self._database = sqlite3.connect("", check_same_thread=False, isolation_level=None)
        self._database.execute(f"pragma cache_size = -{_CACHE_KB}")
        self._database.execute("pragma journal_mode = off")
        self._database.execute("create table names (name text primary key, number integer) without rowid")

    def get(self, name: str) -> int | None:
        if name in self._recent:
            return self._recent[name]
        if not self._any_written:
            return None
        row = self._database.execute("select number from names where name = ?", (name,)).fetchone()
        return None if row is None else int(row[0])

    def put(self, name: str, number: int) -> None:
        self._recent[name] = number
        if len(self._recent) >= _AT_A_TIME:
            self._write()

    def __len__(self) -> int:
        self._write()
        [(count,)] = self._database.execute("select count(*) from names")
        return int(count)

    def _write(self) -> None:
        with self._database:
            self._database.execute("begin")
            self._database.executemany("insert or replace into names values (?, ?)", self._recent.items())
        self._recent.clear()
        self._any_written = True
