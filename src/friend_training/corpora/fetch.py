"""Downloads of the public datasets from their own repositories: resumed when broken off, checked by hash.

Nothing here runs unless somebody asks for it: the library itself works offline.
"""

import hashlib
import os
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

from friend_training.core.files import check_output
from friend_training.corpora.catalogue import Corpus, CorpusFile, locate
from friend_training.errors import DataError, FriendTrainingError

Opener = Callable[..., Any]
_TIMEOUT = 20.0
_CHUNK = 1 << 16
_PARTIAL_CONTENT = 206
_RANGE_NOT_SATISFIABLE = 416


def public_address(corpus: Corpus, file: CorpusFile) -> str:
    repository, commit = file.repository or corpus.repository, file.commit or corpus.commit
    return f"https://raw.githubusercontent.com/{repository}/{commit}/{quote(file.source)}"


def fetch_file(corpus: Corpus, file: CorpusFile, data_dir: str | Path, *, opener: Opener = urlopen) -> Path:
    """The file in the data folder: as it lies there, or downloaded now."""
    data_dir = Path(data_dir)
    here = locate(file.path, data_dir)
    if here is not None:
        return here
    target = data_dir / file.path
    partial = target.with_name(target.name + ".part")
    address = public_address(corpus, file)
    for path in (partial, target):
        check_output(path, force=True)
    try:
        _download(address, partial, opener)
    except (OSError, HTTPException) as error:  # URLError is an OSError
        raise FriendTrainingError(
            f"cannot get {address} ({error}). Run `friend-train data fetch {corpus.name} --data-dir DIR` on a machine "
            f"with internet and copy DIR here, or save the file as {target}; what was loaded so far is kept"
        ) from error
    digest = hashlib.sha256(partial.read_bytes()).hexdigest()
    if file.sha256 is not None and digest != file.sha256:
        partial.unlink()
        raise DataError(f"{address} has the SHA-256 {digest}, expected {file.sha256}; it was thrown away", path=target)
    os.replace(partial, target)
    return target


def _download(address: str, partial: Path, opener: Opener) -> None:
    """Appends what is missing; starts anew where the server does not send a part of a file."""
    have = partial.stat().st_size if partial.exists() else 0
    request = Request(address, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        answer = opener(request, timeout=_TIMEOUT)
    except HTTPError as error:
        if have and error.code == _RANGE_NOT_SATISFIABLE:
            return  # it was broken off after the last byte
        raise
    partial.parent.mkdir(parents=True, exist_ok=True)
    missing = int(answer.headers.get("Content-Length") or 0)
    with answer, partial.open("ab" if answer.status == _PARTIAL_CONTENT else "wb") as stream:
        while chunk := answer.read(_CHUNK):
            stream.write(chunk)
            missing -= len(chunk)
    if missing > 0:  # a sized read does not complain about a connection that ends too early
        raise ConnectionError(f"broken off with {missing} bytes missing")
