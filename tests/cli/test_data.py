"""friend-train data, as a user meets it."""

import json
import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from friend_training.cli.data import data
from friend_training.data.read import read_examples
from friend_training.errors import ConfigError, DataError, FriendTrainingError
from friend_training.types import dialogue_group

LINE = "{0}|||3|||agent human {1} 去 过|||1 0 0 0 0|||O O B-ARG1 B-V O"
BAD = "9|||3|||agent human 他 去|||1 0 0 0|||O O O O"


def run(*arguments: object) -> Result:
    result = CliRunner(env={"COLUMNS": "80", "FRIEND_TRAINING_DATA": ""}).invoke(data, [str(a) for a in arguments])
    if isinstance(result.exception, FriendTrainingError):
        raise result.exception
    assert result.exit_code == 0, result.output
    assert all(len(line) <= 80 for line in result.output.splitlines()) or arguments[0] != "list"
    return result


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "x.csrl"
    places = ["北京", "上海", "广州", "深圳", "杭州", "成都", "西安", "南京", "武汉", "大理"]
    path.write_text("\n".join([LINE.format(i, place) for i, place in enumerate(places)] + [BAD]), encoding="utf-8")
    return path


def test_list_shows_what_is_here(tmp_path: Path, file: Path) -> None:
    assert "not here" in run("list").output
    (tmp_path / "csrl_duconv").mkdir()
    file.rename(tmp_path / "csrl_duconv" / "duconv.dev.csrl")
    output = run("list", "--data-dir", tmp_path).output
    assert "partly here" in output
    assert "test (missing)" in output
    assert "Apache-2.0" in output
    assert "syxu828/CSRL_dataset" in output
    assert "in-domain test" in output


def test_check_counts_and_names_bad_lines(file: Path) -> None:
    output = " ".join(run("check", file).output.split())
    assert "examples 10" in output
    assert "predicates 10" in output
    assert "arguments 10 (ARG1 10)" in output
    assert "bad lines 1" in output
    assert "line 11: the predicate is said to be token [3], but the tags mark []" in output
    with pytest.raises(DataError, match=r"x\.csrl:11"):
        run("check", file, "--strict")


def test_check_shows_ten_bad_lines(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"id": "a", "turns": [{"speaker": "A", "text": "好"}]}\n' + "{}\n" * 12, encoding="utf-8")
    result = CliRunner().invoke(data, ["check", str(path)])
    assert result.output.count("'id' is missing") == 10
    assert "and 2 more" in result.output
    assert isinstance(result.exception, DataError)


def test_check_says_what_edits_can_build(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("吃面\t\t哪家\t\t楼下\t\t楼下吃面\n吃面\t\t哪家\t\t楼下\t\t楼下喝汤\n", encoding="utf-8")
    output = " ".join(run("check", path).output.split())
    assert "buildable 50.0% with spans from context" in output


def test_convert(tmp_path: Path, file: Path) -> None:
    output = run("convert", file, tmp_path / "out.jsonl").output
    assert "10 csrl examples, 1 bad lines left out" in output
    assert read_examples(tmp_path / "out.jsonl", "csrl").examples == read_examples(file, "csrl").examples


def test_split(tmp_path: Path, file: Path) -> None:
    arguments = ("split", file, tmp_path / "parts", "--part", "train=7", "--part", "dev=rest")
    run(*arguments)
    record = json.loads((tmp_path / "parts" / "split.json").read_text(encoding="utf-8"))
    assert record["source"] == read_examples(file, "csrl").fingerprint
    sides = []
    for name, size in (("train", 7), ("dev", 3)):
        part = read_examples(tmp_path / "parts" / f"{name}.jsonl", "csrl")
        assert record["parts"][name] == {"examples": size, "dialogues": size, "sha256": part.fingerprint}
        sides.append({dialogue_group(e.dialogue.id) for e in part.examples})
    assert sides[0].isdisjoint(sides[1])


@pytest.mark.parametrize("parts", [["train"], ["train=0"], ["../x=3"], ["a=rest", "b=rest"], ["a=1", "a=2"]])
def test_split_refuses_parts_it_does_not_understand(tmp_path: Path, file: Path, parts: list[str]) -> None:
    options = [option for part in parts for option in ("--part", part)]
    with pytest.raises(ConfigError, match="--part"):
        run("split", file, tmp_path / "parts", *options)
    assert not (tmp_path / "parts").exists()


def test_unknown_file() -> None:
    with pytest.raises(DataError, match="no such file, nor"):
        run("check", "nowhere.txt")


def test_fetch_without_internet_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_name(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", no_name)
    for proxy in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(proxy, raising=False)
    with pytest.raises(FriendTrainingError, match="on a machine with internet"):
        run("fetch", "duconv", "--data-dir", tmp_path)
    with pytest.raises(DataError, match="known are"):
        run("fetch", "nothing", "--data-dir", tmp_path)
    with pytest.raises(ConfigError, match="FRIEND_TRAINING_DATA"):
        run("fetch", "duconv")
