"""A trained model as transformers knows models: `FriendTrainedModel.from_pretrained(folder)`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from torch import nn
from transformers import AutoConfig, AutoModel, PreTrainedConfig, PreTrainedModel

from friend_training.core.task import Prediction
from friend_training.errors import UnsupportedTaskError
from friend_training.inference.answers import (
    GivenDialogue,
    GivenPredicate,
    RewriteMade,
    RolesFound,
    as_dialogue,
    left_unless_sure,
    rewrite_made,
    roles_found,
)
from friend_training.nn.devices import AUTO
from friend_training.nn.encoder import Encoder
from friend_training.nn.heads import Head
from friend_training.nn.interfaces import Definition
from friend_training.nn.pretrained import empty_model
from friend_training.nn.task import TorchTask
from friend_training.nn.training import TrainingSettings
from friend_training.tasks.csrl.model import Adjacent, Itself, PredicateMark, RoleLabeller
from friend_training.tasks.csrl.task import CsrlDefinition
from friend_training.tasks.rewriting.edits import SpanSource
from friend_training.tasks.rewriting.model import BiaffineRewriter, Rewriter, Scorer, SpanChoice
from friend_training.tasks.rewriting.task import RewritingDefinition
from friend_training.types import Dialogue


class FriendTrainedConfig(PreTrainedConfig):  # type: ignore[no-untyped-call]
    """What the weights do not tell: the task, how dialogues are laid out for it, and the shape of the encoder.

    `encoder` is the encoder's own config as a dictionary. `labelling_pieces` is the size of the batches in which the
    run labelled: the same batches give the same bits.
    """

    model_type = "friend-trained"

    def __init__(
        self,
        task: str = "csrl",
        encoder: dict[str, Any] | None = None,
        max_pieces: int = 125,
        predicate_mark: PredicateMark = "after",
        repeated_roles: Adjacent = "apart",
        predicate_as_argument: Itself = "allowed",
        span_source: SpanSource = "dialogue",
        insertion_spans: SpanChoice = "apart",
        context_turns: int | None = None,
        scorer: Scorer = "dot",
        labelling_pieces: int = 8192,
        **others: Any,
    ) -> None:
        self.task = task
        self.encoder = encoder or {"model_type": "bert"}
        self.max_pieces = max_pieces
        self.predicate_mark = predicate_mark
        self.repeated_roles = repeated_roles
        self.predicate_as_argument = predicate_as_argument
        self.span_source = span_source
        self.insertion_spans = insertion_spans
        self.context_turns = context_turns
        self.scorer = scorer
        self.labelling_pieces = labelling_pieces
        super().__init__(**others)


class FriendTrainedModel(PreTrainedModel):  # type: ignore[no-untyped-call]
    """One of our networks with its encoder. `from_pretrained` also opens the tokenizer, so that it takes dialogues."""

    config_class = FriendTrainedConfig
    base_model_prefix = "network"

    def __init__(self, config: FriendTrainedConfig) -> None:
        super().__init__(config)
        self.network = _network(config)
        self.task: TorchTask | None = None
        self.post_init()  # type: ignore[no-untyped-call]

    @classmethod
    def from_pretrained(  # type: ignore[override]
        cls, source: str | Path, *inputs: Any, device: str = AUTO, **options: Any
    ) -> Self:
        """Load a folder that `friend-train export` wrote, or a hub repository that holds one, to compute on `device`:
        auto, cpu, cuda, cuda:N or mps. `to` moves it later."""
        options.pop("trust_remote_code", None)  # all code of these models is here
        model: Self = super().from_pretrained(str(source), *inputs, trust_remote_code=False, **options)
        config = model.config
        assert isinstance(config, FriendTrainedConfig)
        model.task = _task(config, source, model.network, device)
        return model

    def forward(self, batch: Any) -> tuple[Head, ...]:
        """The logits of a batch as the task's definition collates it."""
        heads: tuple[Head, ...] = self.network(batch)
        return heads

    def predict(self, dialogues: Sequence[Dialogue]) -> list[list[Prediction]]:
        """Label dialogues: one list per dialogue, one prediction per unit, exactly as the run's own model does."""
        if self.task is None:
            raise UnsupportedTaskError("this model was not made by from_pretrained, so it has no tokenizer")
        self.task.device = self.device  # whoever owns a module may have moved it
        return self.task.predict(dialogues)

    def rewrite(self, dialogue: GivenDialogue, *, unless_sure: float = 0.0) -> RewriteMade:
        """The last turn as it reads without the turns before it, or as it is where a rewrite is less sure than that
        (a model of the task 'rewriting')."""
        self._expect("rewriting")
        given = as_dialogue(dialogue)
        return left_unless_sure(rewrite_made(given, self.predict([given])[0]), given.utterance.text, unless_sure)

    def roles(self, dialogue: GivenDialogue, predicates: Sequence[GivenPredicate]) -> tuple[RolesFound, ...]:
        """The arguments of the named predicates of the last turn (a model of the task 'csrl')."""
        self._expect("csrl")
        given = as_dialogue(dialogue, predicates)
        return roles_found(given, self.predict([given])[0])

    def _expect(self, task: str) -> None:
        if self.config.task != task:
            raise UnsupportedTaskError(f"this is a model of the task {self.config.task!r}, not of {task!r}")

    def _init_weights(self, module: nn.Module) -> None:
        """All weights come from the folder."""


AutoConfig.register(FriendTrainedConfig.model_type, FriendTrainedConfig)
AutoModel.register(FriendTrainedConfig, FriendTrainedModel)


def _network(config: FriendTrainedConfig) -> nn.Module:
    settings = dict(config.encoder)
    shape = AutoConfig.for_model(settings.pop("model_type"), **settings)
    encoder = Encoder(empty_model(shape))
    if config.task == "csrl":
        return RoleLabeller(encoder, mark=config.predicate_mark)
    return Rewriter(encoder) if config.scorer == "dot" else BiaffineRewriter(encoder)


def _task(config: FriendTrainedConfig, source: str | Path, network: nn.Module, device: str) -> TorchTask:
    definition: Definition
    if config.task == "csrl":
        definition = CsrlDefinition(
            encoder=source,
            max_length=config.max_pieces,
            mark=config.predicate_mark,
            adjacent=config.repeated_roles,
            itself=config.predicate_as_argument,
        )
    else:
        definition = RewritingDefinition(
            encoder=source,
            max_length=config.max_pieces,
            span_source=config.span_source,
            scorer=config.scorer,
            spans=config.insertion_spans,
            context_turns=config.context_turns,
        )
    settings = TrainingSettings(labelling_pieces=config.labelling_pieces)
    task = TorchTask(definition, encoder=source, settings=settings, device=device)
    task.network = network
    return task
