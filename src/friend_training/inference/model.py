"""The models of a run, from Python: `load(run).rewrite(dialogue)`, `.roles(dialogue)`, `.agreement(dialogue)`.

Agreement is the friendship of the run, its selectors, and every score taken apart.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
import torch

from friend_training.bridges.bridge import Bridge, PredicateFinder
from friend_training.core.selector import Scores
from friend_training.core.task import Prediction, Task
from friend_training.friendships.csrl_rewriting import RoleMatcher, csrl_rewriting
from friend_training.inference.answers import (
    Agreement,
    GivenDialogue,
    GivenPredicate,
    GivenTurn,
    Judged,
    Numbered,
    PredicateAgreement,
    Question,
    RewriteMade,
    RolesFound,
    as_dialogue,
    in_parts,
    left_unless_sure,
    question,
    rewrite_made,
    roles_found,
)
from friend_training.inference.condense import Asked, Condensed, condense
from friend_training.inference.predicates import default_finder, no_finder
from friend_training.inference.trained_tasks import TrainedTasks, selector_at
from friend_training.nn.devices import AUTO
from friend_training.nn.training import computing_in
from friend_training.runs.run import Run
from friend_training.study.config import CaseStudyConfig, FriendsConfig, case_study
from friend_training.study.csrl_rewriting import TASKS
from friend_training.study.folders import run_config, whole_run
from friend_training.study.friends import saved_friendships
from friend_training.study.open import last_thresholds, open_task
from friend_training.study.resources import open_bridge
from friend_training.study.run_data import NO_OBJECTS, Objects
from friend_training.tasks.dialogue_input import LONGEST_UTTERANCE
from friend_training.types import Dialogue

Predictions = Sequence[Sequence[Prediction]]


class Judge:
    """Compares the friends' predictions as friend-training did in this run, and says what it would have chosen."""

    def __init__(self, settings: CaseStudyConfig, bridge: Bridge, thresholds: Mapping[str, float]) -> None:
        self.bridge = bridge
        self.matcher = RoleMatcher(**settings.friendship.model_dump())
        self.friendship = csrl_rewriting(bridge, self.matcher)
        self.selectors = {
            "csrl": selector_at(settings.tasks.csrl, thresholds["csrl"]),
            "rewriting": selector_at(settings.tasks.rewriting, thresholds["rewriting"]),
        }

    def agreements(self, dialogues: Sequence[Dialogue], roles: Predictions, rewrites: Predictions) -> list[Agreement]:
        """One `Agreement` per dialogue; the bridge reads all rewrites together."""
        said_by_roles = self.friendship.translate_first(dialogues, roles)
        said_by_rewrites = self.friendship.translate_second(dialogues, rewrites)
        matches = self.matcher(said_by_roles, said_by_rewrites)
        agreements: list[Agreement] = []
        for n, dialogue in enumerate(dialogues):
            found = roles_found(dialogue, roles[n])
            judged = self._judged("csrl", roles[n], matches[n].first)
            [whole] = self._judged("rewriting", rewrites[n], matches[n].second)
            apart = [self.matcher.explain(a, b) for a, b in zip(said_by_roles[n], said_by_rewrites[n], strict=True)]
            predicates = tuple(
                PredicateAgreement(one.predicate, one.start, one.end, parts.roles, parts.distance, parts.longest, mark)
                for one, parts, mark in zip(found, apart, judged, strict=True)
            )
            agreements.append(Agreement(rewrite_made(dialogue, rewrites[n]), found, predicates, whole))
        return agreements

    def _judged(self, task: str, predictions: Sequence[Prediction], matches: Sequence[float | None]) -> list[Judged]:
        selector = self.selectors[task]
        scores = Scores(
            unit=[prediction.unit for prediction in predictions],
            confidence=np.array([prediction.confidence for prediction in predictions], np.float64),
            match=np.array(matches, np.float64),  # None → NaN
            content=np.array([prediction.content for prediction in predictions], np.bool_),
        )
        decided = selector.decide(scores, selector.cutoff([]))
        return [
            Judged(
                match=matches[n],
                confidence=prediction.confidence,
                weight=selector.confidence_weight,
                overall=None if math.isnan(decided.overall[n]) else float(decided.overall[n]),
                threshold=float(decided.threshold[n]),
                chosen=bool(decided.chosen[n]),
                reason=str(decided.reason[n]),
            )
            for n, prediction in enumerate(predictions)
        ]


MOST_FOUND = 32
"""Predicates of one turn that are looked for: more stand only in text that is no speech."""


Answer = RewriteMade | tuple[RolesFound, ...] | Agreement


def load(
    run: str | Path,
    method: str | None = None,
    *,
    ltp: str | Path | None = None,
    device: str = AUTO,
    objects: Objects = NO_OBJECTS,
) -> "Friends | TrainedTasks":
    """The models of a run folder as a method left them: friend-training's, else the last of the config's methods.

    `Friends` for the paper's pair, `TrainedTasks` for any other. `run` may also be the folder of one method
    (RUN/methods/fdt). Where a dialogue names no predicates they are found by LTP in the folder `ltp`; without one, see
    `default_finder`. Models, bridge and LTP compute on `device`: auto, cpu, cuda, cuda:N or mps, wherever the run was
    made. `objects` are tasks and friendships of a run that were given in Python. Each call computes in as many threads
    as the run's config says; torch's own number stays what it is in your program.
    """
    with computing_in(torch.get_num_threads()):
        return _load(Path(run), method, ltp, device, objects)


def _load(
    given: Path, method: str | None, ltp: str | Path | None, device: str, objects: Objects
) -> "Friends | TrainedTasks":
    study = whole_run(given)
    chosen = method or (None if study == given else given.resolve().name)
    config = run_config(study, device=device)
    if isinstance(config, FriendsConfig):
        return _load_tasks(study, config, chosen, device, objects)
    pair = case_study(config)
    opened = {name: open_task(study, name, chosen, device=device) for name in TASKS}
    return Friends(
        study,
        pair,
        {name: one.task for name, one in opened.items()},
        method=opened["csrl"].method,
        ltp=None if ltp is None else Path(ltp),
    )


def _load_tasks(study: Path, config: FriendsConfig, method: str | None, device: str, objects: Objects) -> TrainedTasks:
    opened = {name: open_task(study, name, method, device=device, objects=objects) for name in config.sections}
    return TrainedTasks(
        study,
        config,
        {name: one.task for name, one in opened.items()},
        saved_friendships(Run.open(study), config, objects.friendships),
        last_thresholds(study, config),
        method=next(iter(opened.values())).method,
    )


class Friends:
    """A role labeller and a rewriter that were trained together. For one thread at a time.

    A dialogue is a list of strings (two speakers in turn), of (speaker, text) pairs, or a `Dialogue`; its last turn is
    the one that is labelled. Predicates are words of that turn or offsets (start, end); without them they are found.
    """

    def __init__(
        self,
        run: Path,
        config: CaseStudyConfig,
        tasks: Mapping[str, Task],
        *,
        method: str,
        ltp: Path | None = None,
    ) -> None:
        self.run, self.config, self.tasks, self.method = run, config, tasks, method
        self._ltp = ltp

    def rewrite(self, dialogue: GivenDialogue, *, unless_sure: float = 0.0) -> RewriteMade:
        """The last turn as it reads without the turns before it, or as it is where a rewrite is less sure than that."""
        given = as_dialogue(dialogue)
        [answer] = self.answer([Question("rewrite", given)])
        assert isinstance(answer, RewriteMade)
        return left_unless_sure(answer, given.utterance.text, unless_sure)

    def condense(self, history: Sequence[GivenTurn], question: str, *, unless_sure: float = 0.0) -> Condensed:
        """The question as it can be understood without the turns before it, oldest first."""
        return condense(self.tasks["rewriting"], [Asked(history, question, unless_sure)])[0]

    def roles(
        self, dialogue: GivenDialogue, predicates: Sequence[GivenPredicate] | None = None
    ) -> tuple[RolesFound, ...]:
        """Who does what to whom: the arguments of each predicate of the last turn, anywhere in the dialogue."""
        [answer] = self.answer([question("roles", dialogue, predicates)])
        assert isinstance(answer, tuple)
        return answer

    def agreement(self, dialogue: GivenDialogue, predicates: Sequence[GivenPredicate] | None = None) -> Agreement:
        """Both answers, and how far they agree: m_k of every predicate taken apart, overall scores, chosen or not."""
        [answer] = self.answer([question("agreement", dialogue, predicates)])
        assert isinstance(answer, Agreement)
        return answer

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """Many questions at once: each model labels all the dialogues it is needed for together."""
        with computing_in(self.config.threads):
            return self._answer(questions)

    def _answer(self, questions: Sequence[Question]) -> list[Answer]:
        questions = self._with_predicates(questions)
        rewrites = self._rewrites({n: q.dialogue for n, q in enumerate(questions) if q.kind != "roles"})
        roles = self._roles({n: q.dialogue for n, q in enumerate(questions) if q.kind != "rewrite"})
        both = {n: q.dialogue for n, q in enumerate(questions) if q.kind == "agreement"}
        agreements = self._agreements(both, roles, rewrites)
        answers: list[Answer] = []
        for number, one in enumerate(questions):
            if one.kind == "agreement":
                answers.append(agreements[number])
            elif one.kind == "roles":
                answers.append(roles_found(one.dialogue, roles[number]))
            else:
                answers.append(rewrite_made(one.dialogue, rewrites[number]))
        return answers

    @cached_property
    def finder(self) -> PredicateFinder | None:
        return default_finder(self.run, self.config, ltp=self._ltp)

    @cached_property
    def judge(self) -> Judge:
        """Who compares the friends; needs the run's bridge, which may be gone (`RunError`)."""
        return Judge(self.config, open_bridge(self.run, self.config), last_thresholds(self.run, self.config))

    def _with_predicates(self, questions: Sequence[Question]) -> list[Question]:
        """Where predicates are to be found the finder looks, at all these dialogues in one go."""
        open_ones = [n for n, one in enumerate(questions) if one.find]
        if open_ones and self.finder is None:
            raise no_finder()
        texts = [questions[n].dialogue.utterance.text for n in open_ones]
        found = dict(zip(open_ones, self.finder.find(texts), strict=True)) if self.finder and texts else {}
        return [
            Question(one.kind, replace(one.dialogue, predicates=found[n][:MOST_FOUND])) if n in found else one
            for n, one in enumerate(questions)
        ]

    def _rewrites(self, dialogues: Numbered) -> dict[int, list[Prediction]]:
        task = self.tasks["rewriting"]
        return dict(zip(dialogues, task.predict(list(dialogues.values())), strict=True))

    def _roles(self, dialogues: Numbered) -> dict[int, list[Prediction]]:
        task = self.tasks["csrl"]
        lengths = {n: max(self.config.max_length, len(d.utterance.text)) for n, d in dialogues.items()}
        found: dict[int, list[Prediction]] = {}
        for part in in_parts(dialogues, lengths):
            found |= zip(part, task.predict([dialogues[n] for n in part]), strict=True)
        return found

    def _agreements(
        self, dialogues: Numbered, roles: dict[int, list[Prediction]], rewrites: dict[int, list[Prediction]]
    ) -> dict[int, Agreement]:
        if not dialogues:  # the bridge is opened only for whom it is needed
            return {}
        lengths = {n: min(len(rewrites[n][0].label.text), LONGEST_UTTERANCE) for n in dialogues}
        found: dict[int, Agreement] = {}
        for part in in_parts(dialogues, lengths):
            asked = [dialogues[n] for n in part]
            judged = self.judge.agreements(asked, [roles[n] for n in part], [rewrites[n] for n in part])
            found |= zip(part, judged, strict=True)
        return found
