"""A trained model as a folder that can leave: weights, config, tokenizer, the plain encoder, a model card.

The card has what the model does, what it was made from, how good it is, and where it ends.

A network as an ONNX file: tensors in, logits out, batches of any size and length.
"""

import logging
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, cast

import torch
import yaml
from torch import Tensor, nn
from torch.export import Dim

from friend_training import __version__
from friend_training.analysis.metrics import metric_spec
from friend_training.errors import ConfigError, MissingPackageError, naming_missing_packages
from friend_training.inference.condense import save_settings
from friend_training.inference.transformers_model import FriendTrainedConfig, FriendTrainedModel
from friend_training.nn.task import TorchTask
from friend_training.runs.files import atomic_folder, read_json_lines
from friend_training.runs.run import Run, check_file
from friend_training.study.config import CaseStudyConfig, FriendsConfig, case_study
from friend_training.study.data import KnownData, known_data
from friend_training.study.folders import files_of, method_folder, run_config, whole_run
from friend_training.study.kinds import kind_of
from friend_training.study.open import open_task
from friend_training.study.sections import PretrainedEncoderConfig
from friend_training.tasks.csrl.model import RoleBatch
from friend_training.tasks.rewriting.model import RewriteBatch
from friend_training.tasks.rewriting.word_task import WordRewritingDefinition
from friend_training.types import ROLES, Dialogue, Predicate, Turn

TITLES: dict[str, str] = {
    "csrl": "Conversational semantic role labelling",
    "rewriting": "Dialogue rewriting",
}

WHAT: dict[str, str] = {
    "csrl": (
        "For a predicate of the last turn of a dialogue the model marks its arguments, wherever in the dialogue they"
        f" stand. Labels: {', '.join(ROLES)}, as BIO tags over tokens. Predicates must be named."
    ),
    "rewriting": (
        "The model rewrites the last turn of a dialogue so that it can be understood without the turns before it: each"
        " token is kept or deleted, and a span of the dialogue may be inserted before it. Labels: keep or delete,"
        " first and last token of the insertion."
    ),
}

USE: dict[str, str] = {
    "csrl": 'model.roles(["小李喝绿茶吗？", "他不喝。"], predicates=["喝"])',
    "rewriting": 'model.rewrite(["小李喝绿茶吗？", "他不喝。"]).text',
}

LIMITS: dict[str, str] = {
    "csrl": "An argument lies in one turn. Arguments of one predicate do not overlap.",
    "rewriting": (
        "What does not stand in the dialogue cannot be inserted, and at most one span goes before each token. A wrong"
        " insertion changes what somebody said: do not show a rewrite as their words."
    ),
}

DATA = {
    "synthetic": "dialogues that the project makes by itself from patterns; real speech is different",
    "public": "public datasets, read with friend-training",
    "files": "files of whoever trained it",
}

INPUTS: dict[str, str] = {
    "csrl": "ids, types, mask, turn [B, M]; dialogue, first, last [U], U ≥ 1 predicates; output: logits [U, M, 17]",
    "rewriting": (
        "ids, types, mask [B, M]; source [B, M] (bool: may be inserted); slots [B, N] (the tokens of the last turn and"
        " its end); output: keep [B, N, 2], start and end [B, N, M]"
    ),
}


def model_card(*, task: str, method: str, iteration: int, config: CaseStudyConfig, run: Run, onnx: bool) -> str:
    """README.md in the form that model hubs read; every number comes from the run."""
    rows = read_json_lines(run.folder / "metrics.jsonl", "an evaluation", needed=("task", "iteration"))
    check_file(run.folder / "metrics.jsonl")
    mine: list[Mapping[str, Any]] = [row for row in rows if row["task"] == task and row["iteration"] == iteration]
    encoder = config.encoder
    begun = (
        encoder.source if isinstance(encoder, PretrainedEncoderConfig) else f"a {encoder.layers}-layer one of our own"
    )
    before = "" if iteration else " (Base, before any pseudo-label)"
    return f"""\
---
language: zh
library_name: transformers
tags: [friend-training, {task}]
{_front_of_pair(config)}---
# {TITLES[task]}, {config.name}

{WHAT[task]}

| | |
|---|---|
| task | `{task}` |
| method | `{method}`, iteration {iteration}{before}: the best on dev |
| run | `{config.name}`, seed {config.seed} |
| encoder it began with | {begun} |
| made with | friend-training {__version__} |

## How to load it

With `pip install 'friend-training[torch]'`:

```python
from friend_training import FriendTrainedModel

model = FriendTrainedModel.from_pretrained("this folder")
{USE[task]}
```

The encoder alone, as it is after training and without our heads, is a plain transformers model:

```python
from transformers import AutoModel, AutoTokenizer

encoder = AutoModel.from_pretrained("this folder/encoder")  # a pooler that transformers adds is untrained
tokenizer = AutoTokenizer.from_pretrained("this folder/encoder")
```
{_onnx(task) if onnx else ""}
## How good it is

{_table(mine)}

Dev chose the iteration, test was looked at once. {_units(task)}

## What it was made from

Data: {DATA[config.data.kind]}. Fingerprints (SHA-256, shortened) of the parts, as the run recorded them:

{_fingerprints(run.fingerprints)}

## Limits

- It was trained and tested on Chinese dialogues of the kind named above. How it does elsewhere nobody has measured.
- It sees at most {config.max_length} tokens: of a longer dialogue the oldest are cut off. {LIMITS[task]}
- A confidence is the product of the model's own probabilities, not the share of cases in which it is right.

## Licence

The code of friend-training is under Apache-2.0. The weights derive from the encoder and the data named above: what you
may do with them depends on the licences of both.{_licences_of_pair(config)}
"""


def _front_of_pair(config: CaseStudyConfig) -> str:
    encoder = config.encoder.source if isinstance(config.encoder, PretrainedEncoderConfig) else ""
    base = {"base_model": encoder} if encoder and not Path(encoder).exists() else {}
    return yaml.safe_dump(known_data(config, Path()).front | base, sort_keys=False, allow_unicode=True)


def _licences_of_pair(config: CaseStudyConfig) -> str:
    known = known_data(config, Path())
    return f" {_licences(known)}" if known.corpora else ""


def _onnx(task: str) -> str:
    return f"""
`model.onnx` is the network without tokenizer and decoding, for batches of any size. Inputs: {INPUTS[task]}. How
dialogues are laid out is in `friend_training.tasks.dialogue_input`.
"""


def _table(rows: list[Mapping[str, Any]]) -> str:
    names = sorted({name for row in rows for name in row["metrics"]})
    head = [row["split"].removeprefix("test:") for row in rows]
    lines = [f"| metric, in percent | {' | '.join(head)} |", "|---|" + "--:|" * len(head)]
    for name in names:
        spec = metric_spec(name)
        cells = [spec.text(row["metrics"][name]) for row in rows]
        lines.append(f"| {spec.title_and_direction} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _units(task: str) -> str:
    if task == "csrl":
        return "An argument counts if role and span are exactly right; 'across' are those in earlier turns."
    return (
        "EM is exact match, WER the word error rate over characters, restored F1 how much of what u_t leaves out is"
        " written out."
    )


def _fingerprints(found: Mapping[str, str]) -> str:
    return "\n".join(["| part | fingerprint |", "|---|---|", *(f"| {n} | `{v[:16]}` |" for n, v in found.items())])


ENCODER = "encoder"


def push_folder(folder: Path, name: str, kind: Literal["model", "dataset"]) -> str:
    """Upload a folder to the hub that huggingface_hub knows, as a private repository; its address there."""
    with naming_missing_packages():
        from huggingface_hub import HfApi, get_token
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError
    if not get_token():
        raise ConfigError(f"--push {name}: there is no token of the hub here; set HF_TOKEN, or `hf auth login`")
    hub = HfApi()
    try:
        created = hub.create_repo(name, repo_type=kind, private=True, exist_ok=True)
        hub.upload_folder(repo_id=name, folder_path=folder, repo_type=kind, commit_message="friend-train")
    except (HfHubHTTPError, HFValidationError, OSError) as error:  # no network is an OSError
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ConfigError(f"--push {name}: the hub did not take it: {first}; it is all in {folder}") from None
    return str(created)


def export_model(
    run: str | Path,
    task: str,
    out: str | Path,
    *,
    method: str | None = None,
    onnx: bool = False,
    device: str = "auto",
) -> None:
    """Write the model of one task, as a method left it, into a new folder `out`; it appears whole or not at all.

    What is written is for any device; `device` is where the ONNX file is traced.

    out/           what `FriendTrainedModel.from_pretrained` reads, README.md, and model.onnx if asked for
    out/encoder/   the encoder alone, after training, for `transformers.AutoModel.from_pretrained`
    """
    run = Path(run)
    out = Path(out)
    if out.exists():
        raise ConfigError(f"{out} is already there; choose another folder")
    if onnx:
        check_onnx()
    study = whole_run(run)
    chosen = method or (None if study == run else run.resolve().name)
    whole = run_config(study)
    if isinstance(whole, FriendsConfig):
        if onnx:
            raise ConfigError("--onnx is for CSRL and rewriting; of a classifier others can make it from the folder")
        _export_own(whole, study, task, out, chosen, device)
        return
    if task not in TITLES:
        raise ConfigError(f"{study} has no task {task!r}; its tasks are {', '.join(whole.sections)}")
    config = case_study(whole)
    opened = open_task(study, task, chosen, device=device)
    trained = cast(TorchTask, opened.task)
    model = FriendTrainedModel(_config(trained))
    model.network.load_state_dict(trained.network.state_dict())
    card = model_card(
        task=task,
        method=opened.method,
        iteration=opened.iteration,
        config=config,
        run=Run.open(method_folder(study, opened.method)),
        onnx=onnx,
    )
    with atomic_folder(out) as new:
        model.save_pretrained(str(new))
        trained.definition.save(new)
        _save_encoder(trained, new / ENCODER)
        (new / "README.md").write_text(card, encoding="utf-8")
        if onnx:
            export_onnx(trained, new / "model.onnx")


# Tasks with files of your own: what others can load.


LOADED_BY = {
    "text-classification": (
        'from transformers import pipeline\n\nprint(pipeline("text-classification", "this folder")(["a text"]))'
    ),
    "token-classification": (
        'from transformers import pipeline\n\nprint(pipeline("token-classification", "this folder")("some words"))'
    ),
    "rewriting-by-words": """\
from friend_training import load_rewriter

rewrite = load_rewriter("this folder")
history = ["Who wrote Emma?", "Jane Austen."]
found = rewrite(history, "When was she born?", unless_sure=0.5)  # a rewrite that is less sure is not made
print(found.text, found.probability, found.changed)""",
    "estimator": (
        'import skops.io\n\nmodel = skops.io.load("this folder/model.skops")\nprint(model.predict(["a text"]))'
    ),
    **{
        kind: (
            "from pathlib import Path\n\n"
            "from friend_training.nn.class_names import read_names\n"
            f"from friend_training.tasks import {make}\n"
            "from friend_training.types import Words\n\n"
            'folder = Path("this folder")\n'
            f"task = {make}(folder, **read_names(folder))\n"
            "task.load(folder)\n"
            'print(task.predict([Words("1", ("some", "words"))]))'
        )
        for kind, make in (
            ("constituency", "constituency_task"),
            ("dependency", "dependency_task"),
            ("tagging", "tagging_task"),
        )
    },
}
"""The kinds that leave as a folder of another library's, or of ours, with the program that loads it."""

LIBRARIES = {
    "text-classification": "transformers",
    "token-classification": "transformers",
    "estimator": "sklearn",
}
"""Of other libraries, as model hubs call them."""


def _export_own(config: FriendsConfig, study: Path, task: str, out: Path, method: str | None, device: str) -> None:
    opened = open_task(study, task, method, device=device)
    kind = config.kinds[task]
    if kind not in LOADED_BY:
        raise ConfigError(
            f"task {task!r} is of kind {kind}, which has no folder to leave as; there is one for {', '.join(LOADED_BY)}"
        )
    run = Run.open(method_folder(study, opened.method))
    with atomic_folder(out) as new:
        opened.task.save(new)
        if kind == "rewriting-by-words":
            rewriter = cast(TorchTask, opened.task)
            save_settings(cast(WordRewritingDefinition, rewriter.definition), rewriter.settings.precision, new)
        if kind == "estimator" and not (new / "model.skops").is_file():
            raise ConfigError(f"task {task!r}: skops does not trust this model, so it cannot leave the run")
        card = own_card(config, task, opened.method, opened.iteration, run, files_of(study, None) or Path())
        (new / "README.md").write_text(card, encoding="utf-8")


def own_card(config: FriendsConfig, task: str, method: str, iteration: int, run: Run, base: Path) -> str:
    """README.md in the form that model hubs read; every number comes from the run. `base` is where its files lie."""
    section: Any = config.sections[task]
    kind = config.kinds[task]
    rows = read_json_lines(run.folder / "metrics.jsonl", "an evaluation", needed=("task", "iteration"))
    check_file(run.folder / "metrics.jsonl")
    mine: list[Mapping[str, Any]] = [row for row in rows if row["task"] == task and row["iteration"] == iteration]
    tested = [row for row in mine if row["split"] != "dev"]
    encoder: str | None = getattr(section, "encoder", None)
    learnt_from = known_data(config, base)
    known: dict[str, Any] = {"tags": ["friend-training", task], **learnt_from.front}
    known |= {"library_name": LIBRARIES.get(kind, "friend-training")}
    if known["library_name"] == "transformers":
        known |= {"pipeline_tag": kind}
    if encoder is not None and not Path(encoder).exists():  # a folder of this machine is no name of the hub
        known |= {"base_model": encoder}
    known["metrics"] = sorted({name for row in tested for name in row["metrics"]})
    known["model-index"] = [
        {
            "name": f"{config.name}-{task}",
            "results": [
                {
                    "task": {"type": "text-classification" if kind == "estimator" else kind},
                    "dataset": {"name": str(section.test), "type": "own", "split": "test"},
                    "metrics": [{"type": name, "value": round(value, 2)} for name, value in row["metrics"].items()],
                }
                for row in tested
            ],
        }
    ]
    front = yaml.safe_dump(known, sort_keys=False, allow_unicode=True)
    pairs = [(one.first, one.second) for one in config.friendships if task in (one.first, one.second)]
    friends = sorted({first if second == task else second for first, second in pairs})
    before = "" if iteration else " (Base, before any pseudo-label)"
    return f"""\
---
{front}---
# {task}, {config.name}

| | |
|---|---|
| task | `{task}`, {kind_of(config, task).title} |
| friends | {", ".join(f"`{name}`" for name in friends) or "none"} |
| method | `{method}`, iteration {iteration}{before}: the best on dev |
| run | `{config.name}`, seed {config.seed} |
| began with | {encoder or getattr(section, "model", kind)} |
| made with | friend-training {__version__} |

## How to load it

```python
{LOADED_BY[kind]}
```

## How good it is

{_table(mine)}

Dev chose the iteration, test was looked at once.

## What it was made from

Gold: `{section.gold}`; dev: `{section.dev}`; test: `{section.test}`; unlabeled: `{config.pool.file}`. Fingerprints
(SHA-256, shortened) of the parts, as the run recorded them:

{_fingerprints(run.fingerprints)}

## Limits

- It was trained and tested on texts like those named above. How it does elsewhere nobody has measured.
- A confidence is the model's own probability, not the share of cases in which it is right.

## Licence

The weights derive from the model and the data named above: what you may do with them depends on the licences of both.
{_licences(learnt_from)} The code of friend-training is under Apache-2.0.
"""


def _licences(known: KnownData) -> str:
    if not known.corpora:
        return "friend-training does not know that of your files."
    return f"Among what it was trained on are {known}: the strictest stands above. That of other files is not known."


def _config(task: TorchTask) -> FriendTrainedConfig:
    definition: Any = task.definition
    return FriendTrainedConfig(
        task=task.name,
        encoder=_shape(task),
        max_pieces=definition.max_length,
        predicate_mark=getattr(definition, "mark", "after"),
        repeated_roles=getattr(definition, "adjacent", "apart"),
        predicate_as_argument=getattr(definition, "itself", "allowed"),
        span_source=getattr(definition, "span_source", "dialogue"),
        insertion_spans=getattr(definition, "spans", "apart"),
        context_turns=getattr(definition, "context_turns", None),
        scorer=getattr(definition, "scorer", "dot"),
        labelling_pieces=task.settings.labelling_pieces,
    )


def _shape(task: TorchTask) -> dict[str, Any]:
    """The encoder's config without the place on this machine that it was loaded from."""
    config: dict[str, Any] = encoder_of(task).config.to_dict()
    return {name: value for name, value in config.items() if name not in ("_name_or_path", "transformers_version")}


def _save_encoder(task: TorchTask, folder: Path) -> None:
    encoder_of(task).save_pretrained(str(folder))
    task.definition.save(folder)


def encoder_of(task: TorchTask) -> Any:
    """The transformers model under a task's network."""
    encoder: Any = task.network.encoder
    return encoder.model


TENSORS = {
    "csrl": ("ids", "types", "mask", "turn", "dialogue", "first", "last"),
    "rewriting": ("ids", "types", "mask", "source", "slots"),
}
OUTPUTS = {"csrl": ("logits",), "rewriting": ("keep", "start", "end")}

SAMPLE = (
    Dialogue("a", (Turn("A", "你喜欢我吗？"), Turn("B", "你来看我吗？")), (Predicate(1, 2), Predicate(2, 3))),
    Dialogue("b", (Turn("A", "我来看你了。"), Turn("B", "我很喜欢。"), Turn("A", "来吗？")), (Predicate(0, 1),)),
)
"""What the network is traced with; no size of it is special to the file that comes out."""


class _TensorsIn(nn.Module):
    """The network with its batch taken apart: what decoding alone looks at is left out."""

    def __init__(self, task: str, network: nn.Module) -> None:
        super().__init__()
        self.task, self.network = task, network

    def forward(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        given: dict[str, Any] = dict(zip(TENSORS[self.task], tensors, strict=True))
        nothing: Any = {"targets": (), "weights": tensors[0], "items": ()}
        if self.task == "csrl":
            batch: Any = RoleBatch(**given, **nothing)
        else:
            slots = given["slots"] >= 0
            batch = RewriteBatch(**given, turn=tensors[0], is_token=slots, is_slot=slots, **nothing)
        return tuple(head.logits for head in self.network(batch))


def network_inputs(task: TorchTask, batch: Any) -> dict[str, Tensor]:
    """The tensors of a collated batch that the file takes, by name."""
    return {name: getattr(batch, name) for name in TENSORS[task.name]}


def check_onnx() -> None:
    for name in ("onnx", "onnxscript"):
        if find_spec(name) is None:
            raise MissingPackageError(name)


def export_onnx(task: TorchTask, path: str | Path) -> None:
    """Write `path`; needs the extra friend-training[onnx]. It takes some ten seconds."""
    check_onnx()
    definition = task.definition
    batch = task.collate(definition.input_items(SAMPLE))
    tensors = network_inputs(task, batch)
    names = {"B": Dim("dialogues"), "M": Dim("tokens"), "U": Dim("predicates"), "N": Dim("slots")}
    axes = dict.fromkeys(("ids", "types", "mask", "turn", "source"), "BM")
    axes |= {"dialogue": "U", "first": "U", "last": "U", "slots": "BN"}
    shapes = tuple({at: names[axis] for at, axis in enumerate(axes[name])} for name in tensors)
    network = _TensorsIn(task.name, task.network).eval()
    with torch.no_grad(), _quiet():
        program = torch.onnx.export(
            network,
            tuple(tensors.values()),
            dynamo=True,
            dynamic_shapes=(shapes,),
            input_names=list(tensors),
            output_names=list(OUTPUTS[task.name]),
            verbose=False,
        )
    assert program is not None
    program.save(str(path))


@contextmanager
def _quiet() -> Iterator[None]:
    """The exporter tells of packages it could have used and of axes that have one name: nothing anybody can change."""
    logger = logging.getLogger("torch.onnx")
    before = logger.level
    logger.setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    logger.setLevel(before)
