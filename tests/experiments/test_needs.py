"""What a run needs of a machine: everything that is missing is told at once, and nothing that nobody uses."""

import json
import os
import shutil
from pathlib import Path

import huggingface_hub.constants
import pytest

from friend_training.bridges import hanlp
from friend_training.data.catalogue import known_part
from friend_training.experiments import estimate
from friend_training.experiments.estimate import (
    BERT_BASE,
    FOR_THE_BRIDGE,
    LABELLED,
    OTHER_DOMAIN,
    encoder_size,
    modelled,
    needs_of,
)
from friend_training.study.config import load_config
from friend_training.study.data import load_data
from friend_training.study.sections import Config
from helpers.tiny_config import tiny_config

CONFIGS = Path(__file__).parents[2] / "configs"
PAPER = CONFIGS / "paper"
MODEL = "HanLP with CLOSE_TOK_POS_NER_SRL_DEP_SDP_CON_ELECTRA_SMALL_ZH"
CHATS = [[f"你好{n}", f"你好呀{n}", f"今天去哪里{n}", f"去海边{n}"] for n in range(20)]


@pytest.fixture(autouse=True)
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has no data, no models and no HanLP, whatever this one has."""
    monkeypatch.delenv("FRIEND_TRAINING_DATA", raising=False)
    monkeypatch.setenv("FRIEND_TRAINING_MODELS", str(tmp_path / "models"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(hanlp, "find_spec", lambda name: None)
    (tmp_path / "data").mkdir()


def missing(config: Config, folder: Path, *, data_dir: Path | None = None) -> dict[str, str]:
    return {need.what: need.missing for need in needs_of(config, folder, data_dir) if need.missing}


def put(name: str, data_dir: Path) -> None:
    for file in known_part(name)[1].files:
        path = data_dir / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(CHATS) if name.startswith("lccc") else "", encoding="utf-8")


def put_encoder(folder: Path) -> None:
    folder.mkdir(parents=True)
    for name in ("config.json", "model.safetensors", "vocab.txt"):
        (folder / name).write_text(json.dumps({"num_hidden_layers": 4, "hidden_size": 312, "vocab_size": 100}))


def test_all_that_is_missing_is_told_at_once(tmp_path: Path) -> None:
    for name, corpora in (("few-shot", LABELLED), ("domain-generalisation", LABELLED + OTHER_DOMAIN)):
        config = load_config(PAPER / f"{name}.yaml")
        for data_dir in (None, tmp_path / "data", tmp_path / "nowhere"):
            found = missing(config, tmp_path / "run", data_dir=data_dir)
            found = {what: why for what, why in found.items() if what not in ("disk", "memory")}
            assert list(found) == [*corpora, "20,000 unlabeled dialogues", "encoder bert-base-chinese", MODEL]
            assert "FRIEND_TRAINING_DATA" in found["duconv/dev"] or "duconv.dev.csrl" in found["duconv/dev"]
            assert "hf download bert-base-chinese" in found["encoder bert-base-chinese"]
            assert "friend-training[hanlp]" in found[MODEL]


def test_nothing_is_missing_where_everything_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*LABELLED, "lccc/valid"):
        put(name, tmp_path / "data")
    put_encoder(tmp_path / "models" / "bert-base-chinese")
    monkeypatch.setattr(estimate, "missing_of_hanlp", lambda model: "")
    config = load_config(PAPER / "few-shot.yaml", ["data.pool=10"])
    found = needs_of(config, tmp_path / "run", tmp_path / "data")
    assert [need.what for need in found if need.missing] == []
    told = {need.what: need.here for need in found}
    assert told["10 unlabeled dialogues"] == "10 of lccc"
    assert told["encoder bert-base-chinese"] == str(tmp_path / "models" / "bert-base-chinese")
    few = load_config(PAPER / "few-shot.yaml", ["data.pool=1000"])
    assert (
        "20 unlabeled dialogues, 1000"
        in missing(few, tmp_path, data_dir=tmp_path / "data")["1,000 unlabeled dialogues"]
    )


def test_what_an_encoder_lacks_is_named_and_the_hub_s_cache_counts(tmp_path: Path) -> None:
    config = tiny_config("encoder={kind: pretrained, source: some/encoder}")
    assert encoder_size(config) is BERT_BASE
    put_encoder(tmp_path / "models" / "some" / "encoder")
    assert missing(config, tmp_path) == {}
    assert encoder_size(config).layers == 4
    (tmp_path / "models" / "some" / "encoder" / "model.safetensors").unlink()
    assert missing(config, tmp_path)["encoder some/encoder"].endswith("lacks weights")
    shutil.rmtree(tmp_path / "models")
    cached = tmp_path / "hub" / "models--some--encoder"
    put_encoder(cached / "snapshots" / "abc")
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text("abc")
    assert missing(config, tmp_path) == {}
    nowhere = tiny_config("encoder={kind: pretrained, source: /no/such/folder}")
    assert list(missing(nowhere, tmp_path)) == ["encoder /no/such/folder"]


def test_nothing_is_asked_for_that_nobody_uses(tmp_path: Path) -> None:
    def asked(config: Config) -> set[str]:
        return {need.what for need in needs_of(config, tmp_path, None)}

    few_shot = CONFIGS / "few-shot.yaml"
    ours = asked(load_config(few_shot))
    assert {*LABELLED, *FOR_THE_BRIDGE, "LTP in ltp-tiny-zh-srl"} <= ours
    assert not ours & {*OTHER_DOMAIN, MODEL}
    by_ltp = load_config(few_shot, ["bridge={kind: ltp, source: other-ltp}", "methods=[base, fdt]"])
    assert not asked(by_ltp) & {*FOR_THE_BRIDGE}
    assert {"LTP in other-ltp", "LTP in ltp-tiny-zh-srl"} <= asked(by_ltp)
    alone = load_config(few_shot, ["bridge={kind: hanlp, model: x}", "methods=[base, sst]"])
    assert not {what for what in asked(alone) if "HanLP" in what}, "no method asks a bridge"
    assert asked(tiny_config()) == {"disk", "memory"}
    assert "the package 'ray'" in asked(tiny_config("engine={kind: ray, address: auto, workers: null}"))


def test_own_files(tmp_path: Path) -> None:
    names = ", ".join(
        f"{task}_{part}: {task}.jsonl" for task in ("csrl", "rewriting") for part in ("train", "dev", "test")
    )
    config = tiny_config(f"data={{kind: files, pool: 'pool/*.jsonl', {names}}}", "bridge={kind: ltp, source: x}")
    (tmp_path / "csrl.jsonl").write_text("")
    found = missing(config, tmp_path, data_dir=tmp_path)
    assert {what for what in found if what.startswith("data.")} == {
        "data.rewriting_train",
        "data.rewriting_dev",
        "data.rewriting_test",
        "data.pool",
    }
    (tmp_path / "pool").mkdir()
    (tmp_path / "pool" / "one.jsonl").write_text("")
    assert "data.pool" not in missing(config, tmp_path, data_dir=tmp_path)


def test_disk_and_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = load_config(PAPER / "few-shot.yaml", ["methods=[base, fdt]", "iterations=3"])
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage._replace(free=3_000_000_000))
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": 1_000_000, "SC_PAGE_SIZE": 4096}.__getitem__)
    found = missing(config, tmp_path / "not" / "yet")
    # Two tasks, Base and, of FDT, Base again and three iterations: ten times 101 million numbers of four bytes.
    assert found["disk"] == f"about 4.0 GB needed, 3.0 GB free at {tmp_path}"
    assert found["memory"].startswith("about 5.")
    assert "4.1 GB on this machine" in found["memory"]
    larger = load_config(PAPER / "few-shot.yaml", ["methods=[base, cps]", "iterations=3"])
    assert missing(larger, tmp_path)["disk"].startswith("about 7.")


def test_a_larger_encoder_costs_more(tmp_path: Path) -> None:
    put_encoder(tmp_path / "models" / "small")
    small, unknown = (tiny_config(f"encoder={{kind: pretrained, source: {name}}}") for name in ("small", "gone"))
    assert modelled(unknown, "fdt") == pytest.approx(modelled(small, "fdt") * 12 * 768**2 / (4 * 312**2))


@pytest.mark.realdata
def test_what_is_asked_for_is_all_that_is_read(
    tmp_path: Path, data_dir: Path, models_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FRIEND_TRAINING_MODELS", str(models_dir))
    for name in (*LABELLED, "lccc/valid"):
        for file in known_part(name)[1].files:
            for end in ("", ".gz"):
                place = tmp_path / "data" / f"{file.path}{end}"
                if (data_dir / f"{file.path}{end}").exists():
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.symlink_to(data_dir / f"{file.path}{end}")
    changes = ["bridge={kind: ltp, source: ltp-tiny-zh-srl}", "methods=[base, fdt]", "data.pool=40", "data.dev=null"]
    changes.append("data.pool_corpora=[lccc]")
    config = load_config(CONFIGS / "few-shot.yaml", changes)
    assert missing(config, tmp_path / "run", data_dir=tmp_path / "data") == {}
    found = load_data(config, tmp_path / "data")
    assert (len(found.pool), len(found.tasks["rewriting"].dev), len(found.bridge.train)) == (40, 1000, 0)
