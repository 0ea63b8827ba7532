"""Dialogues of a user's own: predicates that a pool lacks, other languages, leaks, dialogues that are hardly meant."""

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from friend_training.data.jsonl import to_line, write_jsonl
from friend_training.data.read import read_examples
from friend_training.data.synthetic import Domain, csrl_examples, generate, rewriting_examples
from friend_training.errors import ConfigError, DataError, FriendTrainingError
from friend_training.study.data import load_data
from friend_training.study.run_data import RunData
from friend_training.study.study import run_study
from friend_training.types import Dialogue, Turn
from helpers.tiny_config import tiny_config
from helpers.tiny_ltp import CHARACTERS, save_tiny_ltp

PARTS = {part: generate(6, seed=seed, domain=Domain.FILM) for seed, part in enumerate(("train", "dev", "test"))}
ROLES = {part: [one for one in csrl_examples(made) if one.roles] for part, made in PARTS.items()}
REWRITES = {part: rewriting_examples(made) for part, made in PARTS.items()}
DRAW = random.Random(1)
PLAIN = [Dialogue(f"p{n}", (Turn("A", "小明"), Turn("B", "".join(DRAW.choices(CHARACTERS, k=12))))) for n in range(40)]
ASKED = [one.dialogue for one in generate(8, seed=9, domain=Domain.FILM)]


@pytest.fixture(scope="module")
def parser(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_ltp(tmp_path_factory.mktemp("models") / "ltp")


def read(folder: Path, bridge: str, pool: Sequence[Dialogue], *changes: str, **other: Any) -> RunData:
    folder.mkdir(exist_ok=True)
    files = {f"csrl_{part}": of for part, of in ROLES.items()} | {
        f"rewriting_{part}": of for part, of in REWRITES.items()
    }
    for name, examples in {**files, "pool": pool, **other}.items():
        write_jsonl(folder / f"{name}.jsonl", examples)
    named = ", ".join(f"{name}: {name}.jsonl" for name in [*files, "pool"])
    return load_data(tiny_config(f"data={{kind: files, {named}}}", f"bridge={bridge}", *changes), folder)


SAVED = "{kind: saved, source: somewhere}"


def test_the_bridges_parser_finds_predicates_where_the_pool_names_none(tmp_path: Path, parser: Path) -> None:
    found = read(tmp_path, f"{{kind: ltp, source: {parser}}}", PLAIN)
    assert any(dialogue.predicates for dialogue in found.pool)
    assert [replace(one, predicates=()) for one in found.pool] == PLAIN
    [note] = found.notes
    assert note.startswith("the pool names no predicates: the parser of the bridge found ")


def test_a_pool_without_predicates_is_refused_where_nobody_finds_them(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no dialogue of the pool names predicates, so CSRL would label nothing"):
        read(tmp_path, SAVED, PLAIN)
    assert read(tmp_path, SAVED, PLAIN, "methods=[base]").pool == PLAIN, "nobody labels it"
    assert read(tmp_path, SAVED, ASKED).notes == ()


def test_english_gets_no_chinese_bridge(tmp_path: Path, parser: Path) -> None:
    english = [Dialogue("e", (Turn("A", "Does Ann drink tea?"), Turn("B", "She does not.")))]
    with pytest.raises(
        DataError, match="0 % of its letters are Chinese, and a bridge of kind ltp is a parser of Chinese"
    ):
        read(tmp_path, f"{{kind: ltp, source: {parser}}}", english)


def test_leaks_and_odd_dialogues_are_said(tmp_path: Path) -> None:
    of_test = ROLES["test"][0].dialogue
    alone = replace(ASKED[0], turns=tuple(replace(turn, speaker="A") for turn in ASKED[0].turns))
    blank = replace(ASKED[1], turns=(Turn("A", " "), *ASKED[1].turns))
    train = [*ROLES["train"], replace(ROLES["test"][0], dialogue=replace(of_test, id="other"))]
    found = read(
        tmp_path, SAVED, [alone, blank, *ASKED[2:], replace(of_test, id="again")], csrl_train=train, csrl_dev=train
    )
    assert len(found.pool) == len(ASKED)
    told = "\n".join(found.notes)
    many = len(train)
    for note in (
        f"{many} of {many} texts in dev of csrl are gold of csrl",
        f"1 of {len(ROLES['test'])} texts in test of csrl are gold of csrl",
        f"1 of {len(ROLES['test'])} texts in test of csrl are its dev",
        "1 inputs of the pool were left out because they also stand elsewhere",
        "dialogues of CSRL's gold and the pool have blank turns",
        "dialogues of CSRL's gold and the pool have one speaker only",
    ):
        assert note in told


def test_json_that_is_not_one_object_per_line_is_called_what_it_is(tmp_path: Path) -> None:
    """A list was read as another format, with no example in it."""
    objects = [json.loads(to_line(one)) for one in ROLES["train"]]
    written = {
        "a JSON list": json.dumps(objects, ensure_ascii=False),
        "a JSON list; ": json.dumps(objects, indent=1, ensure_ascii=False),
        "JSON over several lines": "\n".join(json.dumps(one, indent=1) for one in objects),
    }
    for words, text in written.items():
        (tmp_path / "file.json").write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match=f"this is {words}.*expected one object per line, as `jq -c"):
            read_examples(tmp_path / "file.json", "csrl")


def test_a_model_that_is_not_there_is_told_before_a_run_is_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once: the hub's library would try it five times."""

    def unreachable(address: tuple[str, int], timeout: float) -> None:
        raise OSError

    def asked(*given: Any, **more: Any) -> None:
        raise AssertionError("the hub was asked")

    monkeypatch.setattr("socket.create_connection", unreachable)
    monkeypatch.setattr("transformers.AutoConfig.from_pretrained", asked)
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigError, match=r"neither as given nor below FRIEND_TRAINING_MODELS.* hub cannot be reached"):
        run_study(tiny_config("encoder={kind: pretrained, source: no-such-encoder}"), tmp_path / "run")
    monkeypatch.undo()
    with pytest.raises(FriendTrainingError, match="LTP's folder 'no-such-parser' is not there"):
        run_study(tiny_config("bridge={kind: ltp, source: no-such-parser}"), tmp_path / "run")
    assert not (tmp_path / "run").exists()
