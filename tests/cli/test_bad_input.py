"""Whatever is wrong with what was given: one clear message, exit code 2, and nothing damaged."""

import json
from pathlib import Path

import pytest

from helpers.command import FriendTrain
from helpers.tiny_config import TEXT

GOOD = {
    "id": "1",
    "turns": [{"speaker": "A", "text": "你喜欢北京吗"}, {"speaker": "B", "text": "喜欢"}],
    "predicates": [{"start": 0, "end": 2, "arguments": [{"role": "ARG1", "turn": 0, "start": 3, "end": 5}]}],
    "rewrite": "喜欢北京",
}


def _with_argument(**changes: object) -> bytes:
    argument = GOOD["predicates"][0]["arguments"][0] | changes  # type: ignore[index]
    return _line(predicates=[{"start": 0, "end": 2, "arguments": [argument]}])


def _line(**changes: object) -> bytes:
    return json.dumps(GOOD | {"id": "2"} | changes, ensure_ascii=False).encode() + b"\n"


FIRST = json.dumps(GOOD, ensure_ascii=False).encode() + b"\n"
BAD = {
    "not UTF-8": (FIRST + _line().replace("喜".encode(), b"\xcf\xb2\xff"), ":2: ", "not UTF-8"),
    "broken JSON": (FIRST + b'{"id": "2", \n', ":2: ", "expected one object per line"),
    "wrong field": (FIRST + _line(speaker="A"), ":2: ", "unknown field 'speaker'"),
    "missing field": (FIRST + b'{"id": "2"}\n', ":2: ", "the field 'turns' is missing"),
    "span outside": (FIRST + _with_argument(end=99), ":2: ", "no span of turn 0, which has 6 characters"),
    "unseen label": (FIRST + _with_argument(role="ARG9"), ":2: ", "'ARG9'"),
    "duplicate id": (FIRST + FIRST, ":2: ", "given before, on line 1"),
    "empty file": (b"", ": ", "the file is empty"),
    "blank file": (b"\n\n", ": ", "the file is empty"),
}


@pytest.fixture(params=BAD)
def bad(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str, str]:
    content, place, words = BAD[request.param]
    path = tmp_path / "bad.jsonl"
    path.write_bytes(content)
    return path, f"{path}{place}", words


def _expect_one_message(said: object, *parts: str) -> None:
    assert said.code == 2  # type: ignore[attr-defined]
    assert said.out == ""  # type: ignore[attr-defined]
    [message] = said.err.strip().splitlines()  # type: ignore[attr-defined]
    assert message.startswith("error: ")
    assert all(part in message for part in parts), message


@pytest.mark.parametrize("command", ["evaluate", "predict"])
def test_bad_files_for_a_model(
    friend_train: FriendTrain, finished: Path, tmp_path: Path, bad: tuple[Path, str, str], command: str
) -> None:
    path, place, words = bad
    out = tmp_path / "out.jsonl"
    extra = [] if command == "evaluate" else ["--out", out]
    _expect_one_message(friend_train(command, finished, path, "--task", "csrl", *extra), place, words)
    assert not out.exists()


def test_bad_files_to_train_on(friend_train: FriendTrain, tmp_path: Path, bad: tuple[Path, str, str]) -> None:
    path, place, words = bad
    files = ("csrl_train", "csrl_dev", "csrl_test", "rewriting_train", "rewriting_dev", "rewriting_test", "pool")
    section = ", ".join(f"{name}: {path.name}" for name in files)
    config = tmp_path / "own.yaml"
    config.write_text(
        TEXT.replace(TEXT[TEXT.index("data:") : TEXT.index("encoder:")], f"data: {{kind: files, {section}}}\n").replace(
            "bridge: {kind: trained, steps: 12, patience: null, dev: 5}", "bridge: {kind: ltp, source: nowhere}"
        ),
        encoding="utf-8",
    )
    out = tmp_path / "run"
    _expect_one_message(friend_train("run", config, "--out", out, "--data-dir", tmp_path), place, words)
    assert not out.exists()


def test_files_that_are_not_there(friend_train: FriendTrain, finished: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone.jsonl"
    for command in ("evaluate", "predict"):
        _expect_one_message(friend_train(command, finished, gone, "--task", "csrl"), f"{gone}: no such file")
    _expect_one_message(friend_train("run", tmp_path / "gone.yaml"), "gone.yaml: no such config file", "demo")
    for command in (["show"], ["resume"], ["demo", "--out"]):
        empty = tmp_path / "empty"
        empty.mkdir(exist_ok=True)
        (empty / "run.json").write_text('{"format": 99}')
        _expect_one_message(friend_train(*command, empty), "format 99, this program reads 1")
    _expect_one_message(friend_train("show", tmp_path), "not a run folder")


def test_a_run_of_another_version(friend_train: FriendTrain, copy: Path, labelled: dict[str, Path]) -> None:
    (copy / "run.json").write_text('{"format": 99}')
    before = {path: path.stat().st_mtime_ns for path in copy.rglob("*")}
    file = labelled["csrl"]
    for arguments in (["show", copy], ["resume", copy], ["evaluate", copy, file, "--task", "csrl"]):
        _expect_one_message(friend_train(*arguments), str(copy), "another version: format 99, this program reads 1")
    assert {path: path.stat().st_mtime_ns for path in copy.rglob("*")} == before


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("iterations: 1", "iteration: 1"), "iteration: there is no such setting; did you mean 'iterations'?"),
        (("seed: 1", "seed: -1"), "seed: expected 0 or more (given: -1)"),
        (("kind: scratch", "kind: magic"), "'scratch', 'pretrained'"),
        (("name: tiny", "name: [tiny"), "not valid YAML"),
    ],
)
def test_bad_configs(friend_train: FriendTrain, tmp_path: Path, change: tuple[str, str], words: str) -> None:
    config = tmp_path / "bad.yaml"
    config.write_text(TEXT.replace(*change), encoding="utf-8")
    said = friend_train("run", config, "--out", tmp_path / "run")
    assert said.code == 2
    assert said.err.startswith(f"error: {config}: ")
    assert words in said.err
    assert "Traceback" not in said.err
    assert not (tmp_path / "run").exists()


def test_a_config_that_is_not_utf8(friend_train: FriendTrain, tmp_path: Path) -> None:
    config = tmp_path / "bad.yaml"
    config.write_bytes(b"name: \xff\n")
    _expect_one_message(friend_train("run", config), f"{config}: a config is UTF-8 text; byte 6 is not")


@pytest.mark.parametrize("override", ["seed", "sed=1", "tasks.csrl.steps=3"])
def test_bad_overrides(friend_train: FriendTrain, tiny: Path, tmp_path: Path, override: str) -> None:
    said = friend_train("run", tiny, "--out", tmp_path / "run", "--set", override)
    _expect_one_message(said, f"--set {override}: ")
    assert not (tmp_path / "run").exists()


def test_a_run_made_from_other_data(friend_train: FriendTrain, copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from friend_training.study import data

    (copy / "results.jsonl").unlink()
    monkeypatch.setattr(data, "POOL_SEED", 4711)
    said = friend_train("resume", copy)
    assert said.code == 2
    assert "was made from other data: pool" in said.err.splitlines()[-1]


def test_a_place_that_cannot_be_written(
    friend_train: FriendTrain, finished: Path, labelled: dict[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    out = tmp_path / "file" / "out.jsonl"
    said = friend_train("predict", finished, labelled["csrl"], "--task", "csrl", "--out", out)
    _expect_one_message(said, str(tmp_path / "file"))
