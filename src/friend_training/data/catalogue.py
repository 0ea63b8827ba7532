"""The public datasets we can read: what they are, whose they are, and where data and encoders lie on this machine.

Folders are given, or named by FRIEND_TRAINING_DATA and FRIEND_TRAINING_MODELS.
"""

import hashlib
import os
from collections.abc import Callable, Iterable
from functools import cache
from http.client import HTTPException
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

import yaml
from pydantic import BaseModel, ConfigDict

from friend_training.errors import ConfigError, DataError, FriendTrainingError
from friend_training.runs.files import check_output

DATA_VARIABLE = "FRIEND_TRAINING_DATA"
"""The environment variable that names the data folder where no --data-dir is given."""


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CorpusFile(_Entry):
    """One original file: its place in the data folder and in its public repository."""

    path: str
    source: str
    sha256: str | None
    repository: str | None = None
    commit: str | None = None


class Part(_Entry):
    """What is read at once: a file, or a folder of column files; `format` where it is not its dataset's."""

    name: str
    files: tuple[CorpusFile, ...]
    format: str | None = None


class Corpus(_Entry):
    """A dataset; `paper` is what the friend-training paper uses it for, or what we do."""

    name: str
    title: str
    format: str
    licence: str
    paper: str
    repository: str
    commit: str
    parts: tuple[Part, ...]


@cache
def known_corpora() -> tuple[Corpus, ...]:
    text = files("friend_training.data").joinpath("catalogue.yaml").read_text(encoding="utf-8")
    return tuple(Corpus.model_validate(entry) for entry in yaml.safe_load(text))


def known_corpus(name: str) -> Corpus:
    for corpus in known_corpora():
        if corpus.name == name:
            return corpus
    names = ", ".join(corpus.name for corpus in known_corpora())
    raise DataError(f"no dataset is called {name!r}; known are {names}")


def locate(path: str, data_dir: str | Path) -> Path | None:
    """The file as it lies in the data folder, plain or compressed."""
    data_dir = Path(data_dir)
    for candidate in (data_dir / path, data_dir / f"{path}.gz"):
        if candidate.is_file():
            return candidate
    return None


def find_part(corpus: Corpus, part: Part, data_dir: str | Path) -> Path | None:
    """What to give to a reader: the file, or the folder that holds all the files of the part."""
    data_dir = Path(data_dir)
    found = [locate(file.path, data_dir) for file in part.files]
    if None in found:
        return None
    return found[0] if len(found) == 1 else (data_dir / part.files[0].path).parent


def known_part(name: str) -> tuple[Corpus, Part]:
    """What is called `corpus/part`, or just `corpus` if it has one part."""
    corpus_name, _, part_name = name.partition("/")
    corpus = known_corpus(corpus_name)
    parts = [part for part in corpus.parts if part.name == part_name or (not part_name and len(corpus.parts) == 1)]
    if not parts:
        raise DataError(f"{corpus.name} has the parts {', '.join(f'{corpus.name}/{p.name}' for p in corpus.parts)}")
    return corpus, parts[0]


def is_here(name: str, data_dir: Path) -> bool:
    return find_part(*known_part(name), data_dir) is not None


def part_path(name: str, data_dir: str | Path | None) -> Path:
    """The place of `corpus/part` in the data folder."""
    corpus, part = known_part(name)
    if data_dir is None:
        raise DataError(f"{name} is searched in the data folder: give --data-dir or set {DATA_VARIABLE}")
    found = find_part(corpus, part, data_dir)
    if found is None:
        missing = next(file.path for file in part.files if locate(file.path, data_dir) is None)
        raise DataError(
            f"{name} is not in {data_dir}: {missing} (or {missing}.gz) is missing. "
            f"Where there is internet, `friend-train data fetch {corpus.name}` gets it"
        )
    return found


def corpora_of(given: Iterable[str | Path]) -> list[Corpus]:
    """The known datasets that some files are of: by their place in a data folder, or by their bytes."""
    paths = [Path(one).resolve() for one in given]
    placed = {path.as_posix().removesuffix(".gz") for path in paths}
    digests = {hashlib.sha256(path.read_bytes()).hexdigest() for path in paths if path.is_file()}
    return [
        corpus
        for corpus in known_corpora()
        if any(
            file.sha256 in digests or any(path.endswith(f"/{file.path}") for path in placed)
            for part in corpus.parts
            for file in part.files
        )
    ]


_STRICTEST_FIRST = (
    ("none stated", "unknown"),
    ("LDC", "other"),
    ("quoted from others", "other"),
    ("BY-NC", "cc-by-nc-4.0"),
    ("BY-SA", "cc-by-sa-4.0"),
    ("CC BY", "cc-by-4.0"),
    ("MIT", "mit"),
    ("Apache-2.0", "apache-2.0"),
)
"""What the licences of the catalogue say, and how hubs call it."""


def strictest_licence(corpora: Iterable[Corpus]) -> str:
    """The name by which hubs know the most restrictive licence of some datasets."""
    stated = [corpus.licence for corpus in corpora]
    return next((name for words, name in _STRICTEST_FIRST if any(words in one for one in stated)), "other")


# Downloads of the public datasets from their own repositories: resumed when broken off, checked by hash.
#
# Nothing here runs unless somebody calls it: the library itself works offline.


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
            f"with internet and copy DIR here, or save the file as {target}; what was loaded so far is saved"
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


def named_data_folder(given: str | Path | None) -> Path | None:
    """The folder that was named, there or not."""
    named = given or os.environ.get("FRIEND_TRAINING_DATA")
    return Path(named) if named else None


def data_folder(given: str | Path | None) -> Path:
    named = named_data_folder(given)
    if named is None:
        raise ConfigError("this run needs public datasets: name their folder by --data-dir or FRIEND_TRAINING_DATA")
    if not named.is_dir():
        raise ConfigError(f"the data folder {named} does not exist")
    return named


def model_file(source: str, name: str) -> Path | None:
    """A file of a model that is on this machine: in its folder, or in the hub's cache. Nothing is downloaded."""
    folder = Path(model_source(source))
    if folder.is_dir():
        return folder / name if (folder / name).is_file() else None
    # Only now: it takes a moment, and a folder is asked for more often than the hub.
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = try_to_load_from_cache(source, name)
    except HFValidationError:  # a path that is no name of the hub
        return None
    return Path(found) if isinstance(found, str) else None


def model_source(source: str) -> str:
    """A folder as given, a folder below FRIEND_TRAINING_MODELS, or else a hub name, left to transformers."""
    below = Path(os.environ.get("FRIEND_TRAINING_MODELS", "")) / source
    for folder in (Path(source), below):
        if folder.is_dir():
            return str(folder)
    return source
