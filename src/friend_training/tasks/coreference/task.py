"""Coreference as a task: a unit is one mention of u_t, its label the link to what it stands for, or to nothing."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from torch import nn

from friend_training.core.task import PRF, Evaluation, Prediction, PseudoLabel
from friend_training.nn.devices import AUTO
from friend_training.nn.encoder import Encoder
from friend_training.nn.heads import Head
from friend_training.nn.task import TorchTask
from friend_training.nn.tokenizer import Tokenizer
from friend_training.nn.training import TrainingSettings
from friend_training.tasks.coreference.mentions import gold_links, queried, without_speakers
from friend_training.tasks.coreference.metrics import AntecedentScore, ClusterScore
from friend_training.tasks.coreference.model import (
    AntecedentPointer,
    CoreferenceBatch,
    CoreferenceItem,
    clusters_of_links,
    collate_coreference,
    coreference_item,
    decode_links,
    log_likelihood_of_links,
)
from friend_training.tasks.dialogue_input import render_all
from friend_training.tasks.repetitions import repeated_links
from friend_training.types import CoreferenceExample, Dialogue, Link, Mention, Mentioned, dialogue_group

CoreferenceMetric = Literal["link_f1", "accuracy", "conll"]


def unit_of(dialogue: Dialogue, mention: Mention) -> str:
    return f"{dialogue.id}#{mention.start}-{mention.end}"


def dialogue_of(unit: str) -> str:
    """The id of the dialogue that a unit belongs to."""
    return unit.rpartition("#")[0]


def gold_link_units(example: CoreferenceExample) -> list[tuple[str, Link]]:
    """The units of an example with their gold labels; those who speak are left out."""
    return [(unit_of(example.dialogue, link.mention), link) for link in gold_links(without_speakers(example))]


class CoreferenceDefinition:
    """Inputs are dialogues, whose mentions are found by rules, or `Mentioned`; gold is scored on its own mentions.

    Links of those who speak (I, you) are left out of training and of tests, as CREAD leaves them out.
    """

    label_type = Link
    repeated = staticmethod(repeated_links)
    """Makes gold of what unlabeled dialogues say again."""

    def __init__(
        self,
        *,
        encoder: str | Path,
        name: str = "coreference",
        max_length: int = 125,
        main_metric: CoreferenceMetric = "link_f1",
    ) -> None:
        self.name = name
        self.main_metric: str = main_metric
        self.tokenizer = Tokenizer.load(encoder)
        self.max_length = max_length

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"max_length": self.max_length, "main_metric": self.main_metric}

    def network(self, encoder: Encoder) -> nn.Module:
        return AntecedentPointer(encoder)

    def save(self, folder: Path) -> None:
        self.tokenizer.save(folder)

    def check(self, folder: Path) -> None:
        """Links are the same everywhere: any folder of this task will do."""

    def gold_items(self, examples: Sequence[CoreferenceExample]) -> list[CoreferenceItem]:
        plain = [without_speakers(example) for example in examples]
        links = [gold_links(example) for example in plain]
        return self._items(self.inputs_of(examples), links, [1.0] * len(examples))

    def pseudo_items(self, chosen: Sequence[PseudoLabel]) -> list[CoreferenceItem]:
        """Each chosen mention by itself: each has a weight of its own."""
        inputs = [Mentioned(queried(pseudo.input).dialogue, (pseudo.label.mention,)) for pseudo in chosen]  # type: ignore[arg-type]
        return self._items(inputs, [[pseudo.label] for pseudo in chosen], [pseudo.weight for pseudo in chosen])

    def input_items(self, inputs: Sequence[Dialogue | Mentioned]) -> list[CoreferenceItem]:
        return self._items([queried(given) for given in inputs], None, [1.0] * len(inputs))

    def _items(
        self, inputs: Sequence[Mentioned], links: Sequence[Sequence[Link]] | None, weights: Sequence[float]
    ) -> list[CoreferenceItem]:
        layouts = render_all(
            [given.dialogue for given in inputs], self.tokenizer, speakers=False, max_length=self.max_length
        )
        labels: Sequence[Sequence[Link] | None] = [None] * len(inputs) if links is None else links
        items = [coreference_item(*row) for row in zip(inputs, layouts, labels, weights, strict=True)]
        return items if links is None else [item for item in items if item.seen]

    def inputs_of(self, examples: Sequence[CoreferenceExample]) -> list[Mentioned]:
        links = [gold_links(without_speakers(example)) for example in examples]
        return [
            Mentioned(example.dialogue, tuple(link.mention for link in own))
            for example, own in zip(examples, links, strict=True)
        ]

    def units_in(self, example: CoreferenceExample) -> int:
        return len(gold_links(without_speakers(example)))

    def collate(self, items: Sequence[CoreferenceItem]) -> CoreferenceBatch:
        return collate_coreference(items, self.tokenizer.pad_id)

    def decode(self, heads: Sequence[Head], batch: CoreferenceBatch) -> list[list[Prediction]]:
        return [[best for (best, *_) in units] for units in self.n_best(heads, batch, 1)]

    def n_best(self, heads: Sequence[Head], batch: CoreferenceBatch, k: int) -> list[list[list[Prediction]]]:
        """The k likeliest links of every mention."""
        return [
            [
                [
                    Prediction(
                        unit_of(item.given.dialogue, link.mention),
                        link,
                        min(1.0, probability),
                        content=link.antecedent is not None,
                        kind="none" if link.antecedent is None else "linked",
                    )
                    for link, probability in candidates
                ]
                for candidates in links
            ]
            for item, links in zip(batch.items, decode_links(heads, batch, n=k), strict=True)
        ]

    def log_likelihood(
        self, heads: Sequence[Head], batch: CoreferenceBatch, labels: Sequence[Sequence[Sequence[Link]]]
    ) -> list[list[list[float]]]:
        """Of each link; -inf where its antecedent is not seen, or does not stand before its mention."""
        return log_likelihood_of_links(heads, batch, labels)

    def score(self, examples: Sequence[CoreferenceExample], predictions: Sequence[Sequence[Prediction]]) -> Evaluation:
        """The cuts of one dialogue are one group; its clusters are the closure of the links of all of them."""
        links = [[unit.label for unit in units] for units in predictions]
        return score_links(links, examples)


def score_links(links: Sequence[Sequence[Link]], examples: Sequence[CoreferenceExample]) -> Evaluation:
    """Links of gold mentions. An antecedent that overlaps a gold mention stands for it, any other for itself.

    Clusters are scored on the mentions of u_t in all the given cuts of a dialogue and on what they are linked to.
    """
    rows: dict[str, AntecedentScore] = {}
    said: dict[str, list[tuple[Mention, Mention | None]]] = {}
    true: dict[str, list[tuple[Mention, Mention | None]]] = {}
    for own, example in zip(links, map(without_speakers, examples), strict=True):
        group = dialogue_group(example.dialogue.id)
        score, aligned = _scored(own, example)
        rows[group] = rows.get(group, AntecedentScore()) + score
        said.setdefault(group, []).extend(aligned)
        true.setdefault(group, []).extend((link.mention, link.antecedent) for link in gold_links(example))
    whole = [
        rows[group]
        + AntecedentScore(clusters=ClusterScore.of(clusters_of_links(said[group]), clusters_of_links(true[group])))
        for group in rows
    ]
    return Evaluation.of(whole, AntecedentScore())


def _scored(
    links: Sequence[Link], example: CoreferenceExample
) -> tuple[AntecedentScore, list[tuple[Mention, Mention | None]]]:
    home = {mention: cluster for cluster in example.clusters for mention in cluster}
    gold = {link.mention: link.antecedent for link in gold_links(example)}
    right = linked = correct = 0
    aligned: list[tuple[Mention, Mention | None]] = []
    for link in links:
        antecedent = None if link.antecedent is None else _named(link.antecedent, link.mention, home)
        aligned.append((link.mention, antecedent))
        same = antecedent is not None and antecedent in home.get(link.mention, ())
        linked += antecedent is not None
        correct += same
        right += same or (antecedent is None and gold.get(link.mention) is None)
    some = sum(antecedent is not None for antecedent in gold.values())
    return AntecedentScore(len(gold), right, PRF(correct, linked, some)), aligned


def _named(place: Mention, mention: Mention, home: Mapping[Mention, tuple[Mention, ...]]) -> Mention:
    """The gold mention that a predicted antecedent overlaps most, one of the mention's own entity before others."""
    shared = {
        one: min(place.end, one.end) - max(place.start, one.start)
        for one in home
        if one.turn == place.turn and one < mention and min(place.end, one.end) > max(place.start, one.start)
    }
    own = home.get(mention, ())
    return max(shared, key=lambda one: (one in own, shared[one]), default=place)


def link_is_right(link: Link, example: CoreferenceExample) -> bool | None:
    """Whether the antecedent overlaps an earlier mention of the same entity; None: gold does not know the mention."""
    clusters = without_speakers(example).clusters
    own = [cluster for cluster in clusters if any(_overlap(one, link.mention) for one in cluster)]
    if not own:
        return None
    if link.antecedent is None:
        return not any(one < link.mention and not _overlap(one, link.mention) for cluster in own for one in cluster)
    return any(_overlap(one, link.antecedent) for cluster in own for one in cluster)


def _overlap(one: Mention, other: Mention) -> bool:
    return one.turn == other.turn and min(one.end, other.end) > max(one.start, other.start)


def coreference_task(
    encoder: str | Path,
    settings: TrainingSettings,
    *,
    name: str = "coreference",
    max_length: int = 125,
    main_metric: CoreferenceMetric = "link_f1",
    device: str = AUTO,
) -> TorchTask:
    definition = CoreferenceDefinition(encoder=encoder, name=name, max_length=max_length, main_metric=main_metric)
    return TorchTask(definition, encoder=encoder, settings=settings, device=device)
