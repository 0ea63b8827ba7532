"""The front door is light: what a command or a name does not need is not loaded, and need not be installed."""

import pickle
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import friend_training
from friend_training.errors import EXTRAS, MissingPackageError, naming_missing_packages
from friend_training.runs.run import Run
from helpers.small_run import small_study
from helpers.untrained_run import make_run

ROOT = Path(__file__).parent.parent
CORE = {"numpy", "scipy", "pyarrow", "pydantic", "pyyaml", "typer", "rich", "filelock", "narwhals"}
LEFT_OUT_OF_ALL = {"ray", "ltp", "hanlp"}

CORE_ALONE = f"import sys\nsys.modules |= dict.fromkeys({sorted({*EXTRAS, 'pandas'})!r})\n"
"""The beginning of a program for which nothing but the core's packages is installed."""


def python(program: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True)


def friend_train_with_the_core_alone(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return python(f"{CORE_ALONE}from friend_training.cli.main import main\nmain(sys.argv[1:])", *arguments)


def test_importing_the_package_loads_nothing_heavy() -> None:
    done = python("import sys, friend_training; print(*sys.modules)")
    heavy = {"torch", "transformers", "pyarrow", "matplotlib", "pandas", "numpy", "pydantic", "typer"}
    assert done.returncode == 0, done.stderr
    assert heavy.isdisjoint(done.stdout.split())


NOT_NEEDED = {
    "torch",
    "transformers",
    "accelerate",
    "tokenizers",
    "scipy",
    "matplotlib",
    "sklearn",
    "fastapi",
}
"""What makes up seconds of a command's start; a command that only reads results has no use for any of it. (pandas is
loaded by pyarrow itself, where it is installed.)"""

AND_LOADED = """
import sys
from friend_training.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit as stopped:
    print(*sys.modules, file=sys.stderr)
    raise
"""


@pytest.mark.parametrize("command", ["--help", "show", "report", "compare", "compare nowhere", "serve nowhere"])
def test_commands_that_read_results_load_only_what_they_use(tmp_path: Path, tiny_encoder: Path, command: str) -> None:
    """Imports are counted, not seconds."""
    words = command.split()
    if command == "show":
        words.append(str(make_run(tmp_path / "study", tiny_encoder)))
    elif command == "report":
        words.append(str(small_study(tmp_path / "study")))
    elif command == "compare":
        words.append(str(ROOT / "experiments" / "synthetic-strength"))
    done = python(AND_LOADED, *words)
    assert done.returncode == (2 if "nowhere" in words else 0), done.stderr
    loaded = set(done.stderr.splitlines()[-1].split())
    assert loaded >= {"friend_training", "typer"}
    assert loaded & NOT_NEEDED == set()
    assert ("pyarrow.dataset" in loaded) <= (command == "report"), "only texts are looked up by it"


def test_every_name_of_the_front_door_is_there_and_is_listed() -> None:
    assert set(friend_training.__all__) == set(dir(friend_training))
    for name in friend_training.__all__:
        assert getattr(friend_training, name) is not None
    with pytest.raises(AttributeError, match="'friend_training' has no attribute 'lode'"):
        friend_training.lode  # noqa: B018


HELP_OF_ALL = f"""{CORE_ALONE}
import typer
from friend_training.cli.main import app, main
names = [()]
for name, command in typer.main.get_command(app).commands.items():
    names += [(name,), *((name, inner) for inner in getattr(command, "commands", ()))]
for name in names:
    try:
        main([*name, "--help"])
    except SystemExit as stopped:
        assert stopped.code == 0, name
print(len(names))
"""


def test_the_help_of_every_command_needs_the_core_alone() -> None:
    done = python(HELP_OF_ALL)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.splitlines()[-1]) > 20


def test_the_version_is_told_by_the_core_alone() -> None:
    done = friend_train_with_the_core_alone("--version")
    assert (done.returncode, done.stdout) == (0, f"friend-train {friend_training.__version__}\n")


@pytest.mark.parametrize("command", [("run", "demo"), ("demo",)])
def test_a_command_names_the_package_it_misses_and_how_to_get_it(tmp_path: Path, command: tuple[str, ...]) -> None:
    done = friend_train_with_the_core_alone(*command, *(("--out", str(tmp_path / "run")) if "demo" in command else ()))
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith("is not installed: pip install 'friend-training[torch]'")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()


def test_serve_names_its_extra_and_a_run_that_is_not_there_before_any_package(tmp_path: Path) -> None:
    done = friend_train_with_the_core_alone("serve", str(tmp_path))
    assert (done.returncode, done.stderr) == (2, f"error: {tmp_path} is not a run folder: it has no run.json\n")
    Run.create(tmp_path, "name: none\n", {})
    done = friend_train_with_the_core_alone("serve", str(tmp_path))
    assert done.returncode == 2
    assert done.stderr.endswith("is not installed: pip install 'friend-training[serving]'\n")


def test_a_name_of_the_front_door_says_what_it_misses() -> None:
    lines = ("import friend_training", "try: friend_training.load", "except ImportError as error: print(repr(error))")
    done = python(CORE_ALONE + "\n".join(lines))
    assert done.stdout.startswith("MissingPackageError(")
    assert "pip install 'friend-training[torch]'" in done.stdout


def _import_nothing_known() -> None:
    import no_such_package  # noqa: F401


def test_a_missing_package_that_is_no_extra_speaks_for_itself() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_package") as raised, naming_missing_packages():
        _import_nothing_known()
    assert not isinstance(raised.value, MissingPackageError)


def test_the_error_can_be_sent_by_a_worker() -> None:
    sent = MissingPackageError("jinja2")
    assert str(pickle.loads(pickle.dumps(sent))) == str(sent)


def test_pip_installs_the_core_and_every_package_we_name_has_its_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {name.partition(">")[0] for name in project["dependencies"]} == CORE
    extras = project["optional-dependencies"]
    [everything] = extras["all"]
    assert set(EXTRAS.values()) == {*everything.partition("[")[2].rstrip("]").split(","), *LEFT_OUT_OF_ALL}
    brought_along = {"starlette": "fastapi", "sklearn": "scikit-learn", "prometheus_client": "prometheus-client"}
    for package, extra in EXTRAS.items():
        named = {name.partition(">")[0] for name in extras[extra]}
        assert brought_along.get(package, package) in named, f"{package} is not in [{extra}]"
    assert "friend-training[all]" in extras["dev"]
