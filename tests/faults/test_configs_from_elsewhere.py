"""Configs that hang, hide a setting, leave their folder or run code: refused with one line that says where."""

import ast
import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import friend_training
from friend_training.cli.main import main
from friend_training.core.limits import read_yaml
from friend_training.errors import ConfigError
from friend_training.experiments.experiment import Variant, load_experiment
from friend_training.nn.encoder import load_encoder
from friend_training.study.config import parse_config

PACKAGE = Path(next(iter(friend_training.__path__)))
ROOT = Path(__file__).parents[2]

LOADS = ("from_pretrained", "from_config")
"""What transformers may run the code of a repository in."""

Command = Callable[..., str]


def _aliases() -> str:
    """The billion laughs: nine lists of nine, each of the one before."""
    lines = ["a0: &a0 [lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 15)]
    return "\n".join(lines)


def _merges() -> str:
    lines = ["a0: &a0 {x: 1}"]
    lines += [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 15)]
    return "\n".join(lines)


BOMBS = {
    "aliases": (_aliases(), "aliases make more values"),
    "merge keys": (_merges(), "aliases make more values"),
    "an alias of itself": ("a: &a [*a]", "line 1: an alias stands inside of what it names"),
    "nesting": ("a: " + "[" * 5000 + "]" * 5000, "line 1: lists and mappings nested more than 64 deep"),
    "blocks": ("\n".join(f"{' ' * n}a:" for n in range(200)), "nested more than 64 deep"),
    "size": ("a: 1\n" * 30_000, "at most 100,000 are read (set FRIEND_TRAINING_MAX_CONFIG for more)"),
    "a key twice": ("seed: 1\nname: a\nseed: 2", "line 3: 'seed' is given twice, first on line 1"),
    "a key twice, deeper": ("a:\n  - {b: 1, b: 2}", "line 2: 'b' is given twice, first on line 2"),
    "a date": ("name: 2020-01-01", "line 1: a date; in quotation marks it is a text"),
    "no date": ("a: 1\nname: 2020-99-99", "line 2: a date"),
    "a tag": (
        "a: !!python/object/apply:os.system ['true']",
        "the tag 'tag:yaml.org,2002:python/object/apply:os.system'",
    ),
    "a tag of one's own": ("a: !mine 3", "the tag '!mine', which no setting is"),
    "a set": ("a: !!set {b, c}", "line 1: the tag"),
    "bytes": ("a: !!binary aGk=", "line 1: the tag"),
    "no number": ("a: !!int many", "a number in it cannot be read"),
    "digits": ("a: " + "9" * 5000, "a number in it cannot be read"),
    "a list as a key": ("? [a, b]\n: 1", "line 1: the name of a setting must be a text"),
    "NUL": ('a: "b\\0c"', "line 1: a control character (U+0000) in a text"),
    "no YAML": ("a: [b", "not valid YAML"),
    "two documents": ("a: 1\n---\na: 2", "not valid YAML"),
    "a raw control character": ("a: \x01", "not valid YAML"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_yaml_is_refused(name: str) -> None:
    text, words = BOMBS[name]
    began = time.perf_counter()
    with pytest.raises(ConfigError) as refused:
        read_yaml(text, "some.yaml")
    assert str(refused.value).startswith("some.yaml: ")
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)
    assert time.perf_counter() - began < 60  # expanded, the bombs take for ever


def test_what_configs_use_is_read() -> None:
    text = "a: &a {b: 1.5, c: [x, null, yes]}\nd: *a\ne: {<<: *a, b: 2}\nf: '2020-01-01'\n"
    shared = {"b": 1.5, "c": ["x", None, True]}
    assert read_yaml(text, "x") == {"a": shared, "d": shared, "e": shared | {"b": 2}, "f": "2020-01-01"}
    assert read_yaml("", "x") is None


@pytest.mark.parametrize("name", ["aliases", "a date", "a key twice", "NUL"])
def test_the_command_says_it_in_one_line(refused: Command, tmp_path: Path, name: str) -> None:
    text, words = BOMBS[name]
    (tmp_path / "bad.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "experiment.yaml").write_text(text, encoding="utf-8")
    assert words in refused("run", tmp_path / "bad.yaml", "--out", tmp_path / "run")
    assert words in refused("experiment", tmp_path)
    assert words.removeprefix("line 3: ") in refused("run", "demo", "--set", f"tasks={text}", "--out", tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["../out", "/tmp/out", "a/b", "a\\b", "..", ".", "", "~", "[/bold]", "a b", "x" * 101])
def test_a_name_is_no_way_out_of_the_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        _run("run", "demo", "--set", f"name='{name}'")
    assert stopped.value.code == 2
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="name"):
        Variant(name=name)


def _run(*arguments: str) -> None:
    main(list(arguments))


@pytest.mark.parametrize(("width", "heads"), [(128, 3), (10, 4), (12, 4), (7, 1)])
def test_heads_must_divide_the_width(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, width: int, heads: int
) -> None:
    with pytest.raises(SystemExit) as stopped:
        _run(
            "run",
            "demo",
            "--out",
            str(tmp_path / "run"),
            "--set",
            f"encoder.width={width}",
            "--set",
            f"encoder.heads={heads}",
        )
    assert stopped.value.code == 2
    assert f"{heads} heads cannot share a width of {width}" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_settings_that_are_shown_are_cut() -> None:
    with pytest.raises(ConfigError) as refused:
        parse_config(f"name: {'x' * 50_000}", "x.yaml")
    assert len(str(refused.value)) < 10_000


def test_an_experiment_that_is_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "experiment.yaml").write_bytes(b"title: \xff")
    with pytest.raises(ConfigError, match="byte 7 is not"):
        load_experiment(tmp_path)


def _loads(path: Path) -> list[ast.Call]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    return [call for call in calls if call.func.attr in LOADS]  # type: ignore[attr-defined]


def test_no_load_runs_code_that_a_folder_brings_along() -> None:
    found = 0
    for path in [*PACKAGE.rglob("*.py"), *(ROOT / "benchmarks").glob("*.py"), *(ROOT / "examples").glob("*.py")]:
        for call in _loads(path):
            receiver = ast.unparse(call.func)
            if "Auto" not in receiver and "super()" not in receiver:
                continue  # our own classes, which load through these
            found += 1
            given = {keyword.arg: keyword.value for keyword in call.keywords}
            value = given.get("trust_remote_code")
            assert isinstance(value, ast.Constant), f"{path}:{call.lineno}"
            assert value.value is False, f"{path}:{call.lineno}"
    assert found >= 9


def test_code_in_an_encoder_is_not_run(tmp_path: Path, tiny_encoder: Path) -> None:
    folder = shutil.copytree(tiny_encoder, tmp_path / "encoder")
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "evil", "auto_map": {"AutoConfig": "evil.Evil", "AutoModel": "evil.Evil"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "evil.py").write_text(f"open({str(tmp_path / 'run')!r}, 'w')\n")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_encoder(folder)
    assert not (tmp_path / "run").exists()
