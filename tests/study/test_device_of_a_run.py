"""Where a run computes: a setting of the machine, not of the result; refused where it is missing; changed on resume."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from friend_training import FriendTrainedModel, load
from friend_training.errors import ConfigError, DeviceMemoryError, RunError
from friend_training.experiments.results import settings_id
from friend_training.inference.export import export_model
from friend_training.loop.engines.local import LocalEngine
from friend_training.loop.engines.ray import RayEngine
from friend_training.nn import task as torch_task
from friend_training.nn import training
from friend_training.report.page import machine
from friend_training.runs.run import Run
from friend_training.study import data, sections, study
from friend_training.study.config import config_text, parse_config
from friend_training.study.folders import (
    changed_on_resume,
    remember_device,
    remember_methods,
    resumed_config,
    run_config,
)
from friend_training.study.kinds import Given, make_task
from friend_training.study.setup import make_engine, visible_cards
from friend_training.study.study import run_study
from friend_training.tasks.csrl.task import CsrlDefinition
from helpers.study_contents import contents
from helpers.tiny_config import tiny_config
from helpers.untrained_run import make_run


@pytest.fixture
def cards(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """So many graphics cards, until somebody tries to compute on one."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def pretend(count: int) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: count)

    return pretend


def test_a_config_names_a_device_and_its_result_does_not() -> None:
    usual = tiny_config()
    assert usual.device == "auto"
    for name in ("cpu", "cuda", "cuda:1", "mps"):
        other = tiny_config(f"device={name}")
        assert f"device: {name}\n" in config_text(other)
        assert parse_config(config_text(other), "again") == other
        assert settings_id(other.model_dump(mode="json")) == settings_id(usual.model_dump(mode="json"))
    assert "device: auto\n" in config_text(usual)


@pytest.mark.parametrize("name", ["gpu", "cuda:x", "cpu:0", "cuda:", "CUDA"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=r"device: .*expected auto, cpu, cuda, cuda:N or mps \(given"):
        tiny_config(f"device='{name}'")


@pytest.mark.parametrize("name", ["cuda", "cuda:7", "mps"])
def test_a_device_that_is_not_here_is_refused_before_anything_is_made(
    name: str, cards: Callable[[int], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_late(*given: Any) -> None:
        raise AssertionError("the data were made first")

    cards(0)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    monkeypatch.setattr(study, "load_data", too_late)
    with pytest.raises(ConfigError, match=f"device '{name}'"):
        run_study(tiny_config(f"device={name}"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_local_workers_have_a_card_each(cards: Callable[[int], None], monkeypatch: pytest.MonkeyPatch) -> None:
    eight, two, one = (tiny_config(f"engine.workers={count}").engine for count in (8, 2, 1))
    cards(3)
    for name in ("auto", "cuda"):
        assert make_engine(eight, name) == LocalEngine(3, ("0", "1", "2"))
        assert make_engine(two, name) == LocalEngine(2, ("0", "1"))
        assert make_engine(one, name) is None
    assert make_engine(eight, "cuda:1") is None, "one card has one worker, and this process is there already"
    assert make_engine(eight, "cpu") == LocalEngine(8)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4, GPU-b,7")
    assert visible_cards() == ("4", "GPU-b", "7")
    cards(0)
    assert make_engine(eight, "auto") == LocalEngine(8), "nothing changes on a machine without cards"


def test_ray_is_asked_for_cards(cards: Callable[[int], None]) -> None:
    ray = sections.RayEngineConfig(kind="ray", address=None, workers=4)
    assert make_engine(ray, "auto") == RayEngine(None, 4)
    cards(2)
    assert make_engine(ray, "auto") == make_engine(ray, "cuda") == RayEngine(None, 4, cards=True)
    assert make_engine(ray, "cpu") == RayEngine(None, 4)
    with pytest.raises(ConfigError, match="Ray gives each worker a card of its own"):
        make_engine(ray, "cuda:1")


def begun(folder: Path, *changes: str) -> Run:
    return Run.create(folder, config_text(tiny_config(*changes)), {})


def test_a_run_may_go_on_elsewhere(tmp_path: Path) -> None:
    run = begun(tmp_path / "run", "device=cuda")
    before = run.config_text
    remember_methods(run, tiny_config("device=cpu"))
    assert run.config_text == before
    assert resumed_config(run.folder, []).device == "cuda", "resumed, it computes where it did"
    assert resumed_config(run.folder, ["device=mps", "threads=2"]).device == "mps"
    assert resumed_config(run.folder, ["engine.workers=4"]).engine == sections.LocalEngineConfig(
        kind="local", workers=4
    )
    assert run_config(run.folder).device == "auto", "opened, wherever it is opened"
    assert run_config(run.folder, device="cpu").device == "cpu"
    assert run.config_text == before
    for device in ("cpu", "cuda:0 (a card)", "cpu"):
        remember_device(run.folder, device)
    environment = json.loads((run.folder / "environment.json").read_text())
    assert environment["devices"] == ["cpu", "cuda:0 (a card)"]
    assert environment["packages"]
    assert ("devices", "cpu, cuda:0 (a card)") in machine(run.folder)


def test_batches_may_be_made_smaller_and_nothing_else(tmp_path: Path) -> None:
    run = begun(tmp_path / "run")
    lower = ["tasks.csrl.training.batch_size=2", "bridge_training.labelling_pieces=100"]
    config = resumed_config(run.folder, lower)
    assert (config.tasks.csrl.training.batch_size, config.tasks.rewriting.training.batch_size) == (2, 4)
    assert config.bridge_training.labelling_pieces == 100
    assert resumed_config(run.folder, []) == config, "it stays so"
    remember_methods(run, config)
    assert changed_on_resume(run.folder) == lower
    with pytest.raises(RunError, match=r"seed, tasks.csrl.base_steps cannot change in a run that has begun"):
        resumed_config(run.folder, ["seed=3", "tasks.csrl.base_steps=5", "bridge_training.batch_size=1"])
    assert resumed_config(run.folder, []) == config


def test_a_base_of_changed_batches_is_not_taken_over(tiny_encoder: Path) -> None:
    usual, lowered = (
        make_task(tiny_config(*changes), "csrl", Given(tiny_encoder)).identity
        for changes in ((), ("tasks.csrl.training.batch_size=2",))
    )
    assert usual != lowered


def failing_at(call: int, error: Exception, function: Callable[..., Any]) -> Callable[..., Any]:
    calls = 0

    def counted(*given: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == call:
            raise error
        return function(*given, **named)

    return counted


def test_a_full_device_says_what_to_lower_and_the_run_goes_on_to_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "SYNTHETIC_TRAIN", 40)
    config = tiny_config("methods=[base, fdt]", "device=cpu")
    run_study(config, tmp_path / "whole")
    cuda = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
    with monkeypatch.context() as patch:
        patch.setattr(training, "backward", failing_at(30, cuda, training.backward))
        with pytest.raises(DeviceMemoryError, match=r"task rewriting: cpu .* lower batch_size \(now 4\)"):
            run_study(config, tmp_path / "stopped")
    assert not (tmp_path / "stopped" / "methods" / "base" / "phases" / "train-rewriting-0.json").exists()
    apple = RuntimeError("MPS backend out of memory (MPS allocated: 17.93 GB)")
    with monkeypatch.context() as patch:
        patch.setattr(CsrlDefinition, "decode", failing_at(2, apple, CsrlDefinition.decode))
        with pytest.raises(DeviceMemoryError, match=r"task csrl: cpu .* lower labelling_pieces \(now 600\)"):
            run_study(config, tmp_path / "stopped")
    run_study(config, tmp_path / "stopped")
    assert contents(tmp_path / "stopped") == contents(tmp_path / "whole")
    assert json.loads((tmp_path / "whole" / "environment.json").read_text())["devices"] == ["cpu"]
    assert "device" not in json.loads((tmp_path / "whole" / "results.jsonl").read_text().splitlines()[0])["config"]


def test_another_error_of_a_network_stays_what_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "SYNTHETIC_TRAIN", 40)
    monkeypatch.setattr(training, "backward", failing_at(1, RuntimeError("shapes differ"), training.backward))
    with pytest.raises(RuntimeError, match="shapes differ"):
        run_study(tiny_config("methods=[base]"), tmp_path / "run")


@pytest.fixture(scope="module")
def untrained(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "untrained", tiny_encoder)


def test_models_bridge_and_all_are_opened_on_the_device(untrained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def choose(name: str) -> torch.device:
        asked.append(name)
        return torch.device("cpu")

    friends = load(untrained, device="cpu")
    assert {task.device for task in friends.tasks.values()} == {torch.device("cpu")}
    with pytest.raises(ConfigError, match=r"device 'cuda:99'"):
        load(untrained, device="cuda:99")
    monkeypatch.setattr(torch_task, "choose_device", choose)
    monkeypatch.setattr("friend_training.nn.devices.choose_device", choose)
    friends = load(untrained, device="cuda:1")
    asked.clear()
    friends.agreement(["你喜欢喝茶吗？", "他来看你。"], predicates=["看"])
    assert set(asked) == {"cuda:1"}, "the bridge, which is opened when it is needed"


def test_an_exported_model_is_opened_on_a_device_and_can_be_moved(untrained: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"device 'cuda:99'"):
        export_model(untrained, "rewriting", tmp_path / "model", device="cuda:99")
    assert not (tmp_path / "model").exists()
    export_model(untrained, "rewriting", tmp_path / "model", device="cpu")
    with pytest.raises(ConfigError, match=r"device 'cuda:99'"):
        FriendTrainedModel.from_pretrained(tmp_path / "model", device="cuda:99")
    model = FriendTrainedModel.from_pretrained(tmp_path / "model", device="cpu")
    turns = ["你喜欢喝茶吗？", "他来看你。"]
    before = model.rewrite(turns)
    assert model.task is not None
    model.task.device = torch.device("meta")  # where it would be if the model had been there before
    assert model.rewrite(turns) == before
