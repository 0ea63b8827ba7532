"""Downloads: resumed, checked, and refused at once without internet."""

import hashlib
from email.message import Message
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request

import pytest

from friend_training.data.catalogue import Corpus, CorpusFile, Part, fetch_file, known_corpora, public_address
from friend_training.data.read import FORMATS
from friend_training.errors import DataError, FriendTrainingError

CONTENT = b"one line\nand another\n"
FILE = CorpusFile(path="folder/x.txt", source="data/x y.txt", sha256=hashlib.sha256(CONTENT).hexdigest())
CORPUS = Corpus(
    name="demo", title="Demo", format="csrl", licence="none", paper="-", repository="who/what", commit="abc",
    parts=(Part(name="all", files=(FILE,)),),
)  # fmt: skip


class Answer(BytesIO):
    def __init__(self, content: bytes, *, status: int, length: int) -> None:
        super().__init__(content)
        self.status, self.headers = status, {"Content-Length": str(length)}


class Server:
    """Answers like a web server that knows ranges, sending at most `limit` bytes before it breaks off."""

    def __init__(self, *, ranges: bool = True, limit: int | None = None) -> None:
        self.ranges, self.limit, self.asked = ranges, limit, list[str | None]()

    def __call__(self, request: Request, *, timeout: float) -> Any:
        asked = request.get_header("Range")
        self.asked.append(asked)
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked and self.ranges else 0
        if start >= len(CONTENT):
            raise HTTPError(request.full_url, 416, "range", Message(), None)
        return Answer(CONTENT[start:][: self.limit], status=206 if start else 200, length=len(CONTENT) - start)


def test_address() -> None:
    assert public_address(CORPUS, FILE) == "https://raw.githubusercontent.com/who/what/abc/data/x%20y.txt"


def test_download(tmp_path: Path) -> None:
    path = fetch_file(CORPUS, FILE, tmp_path, opener=Server())
    assert path.read_bytes() == CONTENT
    assert list(path.parent.iterdir()) == [path]


def test_what_is_here_is_not_loaded_again(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "x.txt.gz").write_bytes(b"")
    server = Server()
    assert fetch_file(CORPUS, FILE, tmp_path, opener=server).name == "x.txt.gz"
    assert not server.asked


@pytest.mark.parametrize("ranges", [True, False])
def test_broken_off_and_resumed(tmp_path: Path, ranges: bool) -> None:
    with pytest.raises(FriendTrainingError, match="broken off with 16 bytes missing"):
        fetch_file(CORPUS, FILE, tmp_path, opener=Server(limit=5))
    assert not (tmp_path / FILE.path).exists()
    server = Server(ranges=ranges)
    assert fetch_file(CORPUS, FILE, tmp_path, opener=server).read_bytes() == CONTENT
    assert server.asked == ["bytes=5-"]


def test_broken_off_after_the_last_byte(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "x.txt.part").write_bytes(CONTENT)
    assert fetch_file(CORPUS, FILE, tmp_path, opener=Server()).read_bytes() == CONTENT


def test_wrong_hash(tmp_path: Path) -> None:
    wrong = FILE.model_copy(update={"sha256": "0" * 64})
    with pytest.raises(DataError, match="expected 0000"):
        fetch_file(CORPUS, wrong, tmp_path, opener=Server())
    assert not any(p.is_file() for p in tmp_path.rglob("*"))


def test_without_internet_it_says_what_to_do(tmp_path: Path) -> None:
    def nobody(request: Request, *, timeout: float) -> Any:
        raise URLError("Name or service not known")

    with pytest.raises(FriendTrainingError, match="on a machine with internet and copy DIR here"):
        fetch_file(CORPUS, FILE, tmp_path, opener=nobody)
    assert not list(tmp_path.iterdir())


def test_the_catalogue_is_sound() -> None:
    corpora = known_corpora()
    paths = [file.path for corpus in corpora for part in corpus.parts for file in part.files]
    assert len(set(paths)) == len(paths)
    assert len({corpus.name for corpus in corpora}) == len(corpora)
    assert {corpus.format for corpus in corpora} <= set(FORMATS)
    assert all(len(corpus.commit) == 40 and corpus.repository.count("/") == 1 for corpus in corpora)
