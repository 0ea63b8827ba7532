"""How models are decoded, what they see, what becomes of pronouns and of checked labels."""

import json
from pathlib import Path

from friend_training.runs.run import Run
from friend_training.study.config import CHANGED_DEFAULTS, recorded_form
from friend_training.study.csrl_rewriting import TASKS, naming_bridge
from friend_training.study.folders import method_folder, run_config
from friend_training.study.kinds import Given, make_task
from friend_training.study.study import run_study
from friend_training.types import Predicate, Sentence, SentenceArgument, SentenceRoles
from helpers.tiny_config import tiny_config

LATER = (
    *("repeated_roles=once", "insertion_spans=together", "rewriting_turns=2", "rewriting_metric=restored_f1"),
    *("predicate_as_argument=never", "pronouns=resolved", "checked_labels=all"),
)

BEFORE = tuple(f"{name}={value}" for name, value in CHANGED_DEFAULTS.items())


def test_a_config_of_before_is_the_one_it_was() -> None:
    plain, better = tiny_config(*BEFORE), tiny_config(*LATER)
    names = {setting.partition("=")[0] for setting in LATER}
    assert names.isdisjoint(recorded_form(plain.model_dump(mode="json")))
    given = {name: str(better.model_dump(mode="json")[name]) for name in names}
    assert given == dict(setting.split("=") for setting in LATER)
    assert better.model_dump(exclude=names) == plain.model_dump(exclude=names)


def test_training_depends_on_how_models_are_decoded_and_on_nothing_behind_it(tiny_encoder: Path) -> None:
    """Decoding and metric decide which weights are best on dev: another setting of these is another training."""

    def identities(*settings: str) -> list[str]:
        return [make_task(tiny_config(*settings), name, Given(tiny_encoder)).identity for name in TASKS]

    changed = [identities(*BEFORE, setting) != identities(*BEFORE) for setting in LATER]
    assert changed == [True, True, True, True, True, False, False]


def test_a_study_trains_labels_and_tests_with_them(tmp_path: Path) -> None:
    config = tiny_config('methods=["base", "fdt-checked", "bridge-labels-all", "bridge-alone"]', *LATER)
    records = run_study(config, tmp_path / "run")
    assert [record["method"] for record in records] == list(config.methods)
    assert run_config(tmp_path / "run") == config
    encoder = str(tmp_path / "run" / "encoder")
    for given in (Given(encoder), Given(encoder, second=True)):
        csrl = make_task(config, "csrl", given).definition
        assert (csrl.adjacent, csrl.itself) == ("once", "never")
        rewriting = make_task(config, "rewriting", given).definition
        assert (rewriting.spans, rewriting.context_turns) == ("together", 2)
        assert rewriting.main_metric == "restored_f1"


def test_a_study_has_labels_decided_on_together(tmp_path: Path) -> None:
    """CSRL's with each kind of friend; rewrites only where edits are asked for, and then in parts."""
    methods = ("base", "fdt-joint", "joint-shuffled", "joint-bridge", "fdt-edits", "edits-alone")
    config = tiny_config(f"methods={json.dumps(methods)}", "joint.best=4", "joint.sure=0.5")
    records = run_study(config, tmp_path / "run")
    assert [record["method"] for record in records] == list(methods)
    labels: dict[tuple[str, str], list[str]] = {}
    for method in methods[1:]:
        for row in Run.open(method_folder(tmp_path / "run", method)).store.read(1).to_pylist():
            labels.setdefault((method, row["task"]), []).append(row["label"])
    in_parts = {of for of, found in labels.items() if any('"unsure":' in label for label in found)}
    assert {of for of in in_parts if of[1] == "rewriting"} == {("fdt-edits", "rewriting"), ("edits-alone", "rewriting")}
    assert labels["fdt-edits", "csrl"] == labels["fdt-joint", "csrl"]
    assert labels["fdt-joint", "rewriting"] == labels["joint-bridge", "rewriting"]


def test_the_bridge_answers_in_csrls_place_as_the_config_says() -> None:
    class HeAlone:
        name = "he alone"

        def label(self, sentences):
            return [(SentenceRoles(s.predicates[0], (SentenceArgument("ARG0", 0, 1),)),) for s in sentences]

    asked = [Sentence("s", "他看", (Predicate(1, 2),))]
    (plain,), (better,) = (naming_bridge(tiny_config(*some), HeAlone()).label(asked) for some in ((), LATER))
    assert (len(plain[0].arguments), len(better[0].arguments)) == (1, 0)
