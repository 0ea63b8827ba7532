"""Configs: those that we ship, unknown and missing settings, and --set."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
import yaml
from pydantic import BaseModel

import friend_training.study
from friend_training.core.selector import Precision, Share, Threshold
from friend_training.errors import ConfigError
from friend_training.experiments.experiment import pieces
from friend_training.experiments.results import settings_id
from friend_training.loop.engines.local import LocalEngine
from friend_training.loop.engines.ray import RayEngine
from friend_training.study.config import (
    CHANGED_DEFAULTS,
    LATER_SETTINGS,
    CaseStudyConfig,
    FriendsConfig,
    config_text,
    explained_config,
    find_config,
    load_config,
    parse_config,
    recorded_form,
)
from friend_training.study.kinds import training_settings
from friend_training.study.sections import THIS_PROCESS, in_words, pick_of
from friend_training.study.setup import make_engine
from helpers.tiny_config import TEXT, tiny_config

CONFIGS = Path(__file__).parents[2] / "configs"
SHIPPED = [*CONFIGS.rglob("*.yaml"), *Path(next(iter(friend_training.study.__path__))).rglob("*.yaml")]


def test_there_are_configs() -> None:
    assert {"demo", "few-shot", "domain-generalisation"} <= {path.stem for path in SHIPPED}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_config_is_short_and_is_kept_complete(path: Path) -> None:
    """A file has the lines that matter; a run folder and `config show` have every setting."""
    config = load_config(path)
    text = path.read_text(encoding="utf-8")
    assert len([line for line in text.splitlines() if not line.strip().startswith("#")]) <= 25
    assert yaml.safe_load(config_text(config)) == config.model_dump(mode="json")
    assert yaml.safe_load(explained_config(config)) == config.model_dump(mode="json")
    assert parse_config(config_text(config), "again") == config
    bridges = [config.bridge_training] if isinstance(config, CaseStudyConfig) else []
    for section in (*bridges, *(one.training for one in config.sections.values())):
        assert training_settings(section).batch_size == section.batch_size


def models(annotation: Any) -> Iterator[type[BaseModel]]:
    """All sections that a setting's type mentions, however deep."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        for field in annotation.model_fields.values():
            yield from models(field.annotation)
    elif get_origin(annotation) is not None:
        for part in get_args(annotation):
            yield from models(part)


def test_every_setting_has_a_sentence() -> None:
    sections = {*models(CaseStudyConfig), *models(FriendsConfig)}
    assert len(sections) > 20
    for section in sections:
        assert section.__name__.endswith("Config")
        for name, field in section.model_fields.items():
            assert (field.description or "").endswith("."), f"{section.__name__}.{name}"


def test_what_the_recorded_form_leaves_out_are_defaults() -> None:
    """Records that lack a later setting are read with its default: it must stay what was done before it came."""
    synthetic = find_config("demo").model_dump(mode="json")
    public = load_config(CONFIGS / "domain-generalisation.yaml", ["tasks.rewriting={}"]).model_dump(mode="json")
    bare = parse_config(
        "{name: bare, data: {kind: public, scenario: few-shot}, encoder: {kind: scratch}, bridge: {kind: trained}}",
        "bare",
    ).model_dump(mode="json")
    friends = parse_config("{name: bare, tasks: {}, friendships: [], pool: {file: p.csv}}", "bare")
    known = friends.model_dump(mode="json") | bare
    for setting, default in LATER_SETTINGS.items():
        value: Any = known
        for part in setting.replace("*", "csrl").split("."):
            value = value[part]
        assert value == default or default == CHANGED_DEFAULTS.get(setting), setting
    assert "engine" not in recorded_form(synthetic)
    assert "balance" not in recorded_form(public)["tasks"]["rewriting"]
    assert recorded_form(recorded_form(synthetic)) == recorded_form(synthetic)


def test_an_engine_changes_neither_the_identity_of_a_config_nor_what_it_says_without_one() -> None:
    usual = tiny_config()
    assert usual.engine == THIS_PROCESS
    assert "engine" not in recorded_form(usual.model_dump(mode="json"))
    for given in ("engine={kind: ray, address: auto, workers: null}", "engine.workers=2"):
        other = tiny_config(given)
        assert parse_config(config_text(other), "again") == other != usual
        assert settings_id(other.model_dump(mode="json")) == settings_id(usual.model_dump(mode="json"))
        assert other.model_dump(exclude={"engine"}) == usual.model_dump(exclude={"engine"})


def test_engines() -> None:
    assert make_engine(tiny_config().engine, "cpu") is None
    assert make_engine(tiny_config("engine.workers=3").engine, "cpu") == LocalEngine(3)
    ray = tiny_config("engine={kind: ray, address: auto, workers: null}").engine
    assert make_engine(ray, "cpu") == RayEngine("auto", None)
    with pytest.raises(ConfigError, match="engine"):
        tiny_config("engine={kind: spark}")
    with pytest.raises(ConfigError, match=r"engine.workers: expected 1 or more"):
        tiny_config("engine.workers=0")


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("tempo: 3", "tempo"),
        ("friendship: {scoring: paper, mean: geometric, speakers: keep, volume: 11}", "friendship.volume"),
        ("encoder: {kind: pretrained, source: x, layers: 3}", "layers"),
    ],
)
def test_an_unknown_setting_is_named(line: str, named: str) -> None:
    with pytest.raises(ConfigError, match=named) as caught:
        parse_config(f"{_without(line.partition(':')[0])}\n{line}\n", "mine.yaml")
    assert "mine.yaml" in str(caught.value)


def _without(setting: str) -> str:
    """The text without one of its settings: no setting may be given twice."""
    return re.sub(rf"^{setting}:.*\n(?:[ ].*\n)*", "", TEXT, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("name: tiny", "", "name: this setting is missing \\("),
        ("threads: 1", "threads: none", "threads: .*given: 'none'"),
        ("pick_threshold: 0.0", "pick_threshold: 1.5", r"tasks.csrl.pick_threshold: expected at most 1"),
        ("methods: [base, fdt]", "methods: [base, magic]", "methods.1: .*given: 'magic'"),
        ("kind: synthetic", "kind: imaginary", "data: .*'synthetic'"),
    ],
)
def test_what_is_wrong_is_said_with_its_place_and_value(old: str, new: str, named: str) -> None:
    assert old in TEXT
    with pytest.raises(ConfigError, match=named):
        parse_config(TEXT.replace(old, new), "mine.yaml")


def test_set_knows_settings_that_a_config_may_leave_out() -> None:
    assert tiny_config("informed=true").informed
    assert tiny_config("bridge.predicate_mark=input").bridge.model_dump()["predicate_mark"] == "input"
    assert (
        load_config(CONFIGS / "few-shot.yaml", ["tasks.rewriting.training.clip=2"]).tasks.rewriting.training.clip == 2
    )
    with pytest.raises(ConfigError, match=r"no setting 'data.predicate_mark'; here are kind, domain, target"):
        tiny_config("data.predicate_mark=input")
    with pytest.raises(ConfigError, match=r"pool_of: .*only in few-shot"):
        load_config(CONFIGS / "domain-generalisation.yaml", ["data.pool_of=labelled"])


def test_the_paper_s_settings_are_the_paper_s() -> None:
    few_shot, other_domain = (
        load_config(CONFIGS / "paper" / f"{name}.yaml") for name in ("few-shot", "domain-generalisation")
    )
    for config in (few_shot, other_domain):
        assert config.data.model_dump() | {"pool": 20_000, "dev": None, "ltp": None} == config.data.model_dump()
        assert config.max_length == 125
        for task in (config.tasks.csrl, config.tasks.rewriting):
            training = task.training
            assert (training.batch_size, training.encoder_rate, task.pseudo_weight) == (16, 4e-5, 1.0)
            assert (task.pick_threshold, task.confidence_weight) == (0.6, 0.2)
        assert {"base", "multitask-base", "sst", "mt", "cps", "scot", "stbr", "stea", "fdt"} <= set(config.methods)
    assert {"fdt-s", "base-full"} <= set(few_shot.methods), "few-shot alone has labels to spare"
    for name in ("paper-few-shot", "paper-domain-generalisation"):
        assert [piece.config.seed for piece in pieces(EXPERIMENTS / name, Path("runs"))] == [1, 2, 3]


def test_a_finder_comes_with_its_parser() -> None:
    paper = CONFIGS / "paper" / "few-shot.yaml"
    with pytest.raises(ConfigError, match=r"data.ltp: .*name its folder"):
        load_config(paper, ["data.finder=ltp-verbs"])
    with pytest.raises(ConfigError, match=r"bridge: .*must be hanlp too"):
        load_config(paper, ["bridge={kind: ltp, source: x}"])


def test_a_threshold_is_a_number_or_what_it_is_found_by() -> None:
    config = tiny_config("tasks.csrl.pick_threshold={precision: 0.8}", "tasks.rewriting.sst_threshold={share: 0.1}")
    assert parse_config(config_text(config), "again") == config
    assert pick_of(config.tasks.csrl.pick_threshold) == Precision(0.8)
    assert pick_of(config.tasks.rewriting.sst_threshold) == Share(0.1)
    assert pick_of(config.tasks.rewriting.pick_threshold) == Threshold(0.0)
    tasks = config.model_dump(mode="json")["tasks"]
    assert [in_words(tasks["csrl"][name]) for name in ("pick_threshold", "sst_threshold")] == [
        "precision 0.8 confidence 0.9",
        "0",
    ]
    for given in ("{precison: 0.8}", "{precision: 2}", "{share: 0.1, precision: 0.8}", "high"):
        with pytest.raises(ConfigError, match=r"tasks.csrl.pick_threshold"):
            tiny_config(f"tasks.csrl.pick_threshold={given}")


def test_a_config_that_was_written_whole_means_what_it_meant() -> None:
    """Before there was a confidence a precision was an estimate; before decoding was decided on dev it was another."""
    settings = ("repeated_roles", "predicate_as_argument", "insertion_spans")
    values = yaml.safe_load(config_text(tiny_config("tasks.csrl.pick_threshold={expected_precision: 0.8}")))
    old = {name: value for name, value in values.items() if name not in settings}
    old["tasks"]["csrl"]["pick_threshold"] = {"precision": 0.8}
    read = parse_config(yaml.safe_dump(old), "a record", whole=True)
    assert pick_of(read.sections["csrl"].pick_threshold) == Precision(0.8, confidence=None)
    assert [getattr(read, name) for name in settings] == ["apart", "allowed", "apart"]
    assert settings_id(read.model_dump(mode="json")) == settings_id(old)
    new = parse_config(yaml.safe_dump(old), "a file of today")
    assert pick_of(new.sections["csrl"].pick_threshold) == Precision(0.8, confidence=0.9)
    assert [getattr(new, name) for name in settings] == ["once", "never", "together"]


def test_informed_few_shot_is_few_shot_but_for_its_start_and_its_controls() -> None:
    usual, informed = (load_config(CONFIGS / f"{name}.yaml") for name in ("few-shot", "few-shot-informed"))
    assert informed.informed
    assert "bridge-alone" in informed.methods
    aside = {"name", "methods", "informed"}
    assert informed.model_dump(exclude=aside) == usual.model_dump(exclude=aside)


EXPERIMENTS = CONFIGS.parent / "experiments"
REAL = sorted(path.parent for path in EXPERIMENTS.rglob("real-*/experiment.yaml"))


@pytest.mark.parametrize("folder", REAL, ids=lambda folder: folder.name)
def test_every_real_experiment_can_be_begun(folder: Path, tmp_path: Path) -> None:
    made = pieces(folder, tmp_path)
    assert made
    for piece in made:
        assert piece.config.data.kind == "public"
        assert "base" in piece.config.methods


def test_set_changes_one_value() -> None:
    config = tiny_config("tasks.csrl.base_steps=300", "name=other", "methods=[base]", "bridge.patience=3")
    assert config.tasks.csrl.base_steps == 300
    assert config.tasks.rewriting.base_steps == 12
    assert (config.name, config.methods) == ("other", ("base",))
    assert config.bridge.model_dump()["patience"] == 3


def test_set_in_a_section_that_is_an_alias_leaves_the_others_alone() -> None:
    config = tiny_config("tasks.csrl.training.batch_size=9")
    assert config.tasks.csrl.training.batch_size == 9
    assert config.tasks.rewriting.training.batch_size == 4
    assert config.bridge_training.batch_size == 4


def test_set_can_exchange_a_whole_section() -> None:
    config = tiny_config("bridge={kind: ltp, source: some-folder}")
    assert config.bridge.kind == "ltp"


@pytest.mark.parametrize(
    ("override", "named"),
    [
        ("tasks.csrl.base_stepz=300", "no setting 'tasks.csrl.base_stepz'"),
        ("seed.deeper=1", "no setting 'seed.deeper'"),
        ("seed", "key=value was expected"),
        ("seed=[1", "not valid YAML"),
        ("seed=many", "seed: .*given: 'many'"),
    ],
)
def test_a_wrong_set_is_refused(override: str, named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        tiny_config(override)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"name: [", "not valid YAML"),
        (b"- a\n- b\n", "found \"\\['a', 'b'\\]\""),
        (b"", "this is empty"),
        (b"name: \xff\xfe", "UTF-8"),
    ],
)
def test_files_that_are_no_config(tmp_path: Path, content: bytes, named: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=named) as caught:
        load_config(path)
    assert "mine.yaml" in str(caught.value)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such config file"):
        load_config(tmp_path / "none.yaml")


def test_configs_that_need_no_data_go_by_name_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").mkdir()  # a folder of that name, such as one with runs, is no config
    for name in ("demo", "synthetic-few-shot", "synthetic-domain-generalisation"):
        config = find_config(name)
        assert (config.name, config.data.kind) == (name, "synthetic")
    mine = tmp_path / "configs" / "mine.yaml"
    mine.parent.mkdir()
    mine.write_text(TEXT, encoding="utf-8")
    assert find_config("mine.yaml", folder=tmp_path / "configs") == find_config(str(mine)) == tiny_config()
