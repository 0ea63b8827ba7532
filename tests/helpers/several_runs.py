"""What the processes of test_several_processes.py do: methods on the tiny tasks, without dropout, and their losses."""

import os
from pathlib import Path
from typing import Any

import torch

from friend_training.core.friendship import Friendship, Match
from friend_training.core.selector import Selector, Threshold
from friend_training.methods.friend_training import fdt
from friend_training.nn import training
from friend_training.nn.encoder import ByteDropout
from friend_training.runs.run import Run
from helpers.tiny import METHODS, SETTINGS, plan, pool, run_method


def by_length() -> Friendship:
    """Friends that agree about an input the more, the longer its id's digits say: scores of all sizes, no model."""

    def translate(inputs: Any, predictions: Any) -> list[tuple[str, int]]:
        return [(given.id, len(units)) for given, units in zip(inputs, predictions, strict=True)]

    def match(first: Any, second: Any) -> list[Match]:
        scores = [0.3 + 0.1 * (sum(map(ord, name)) % 7) for name, _ in first]
        pairs = zip(scores, first, second, strict=True)
        return [Match((score,) * one[1], (score,) * other[1]) for score, one, other in pairs]

    return Friendship("by length", "csrl", "rewriting", translate, translate, match)


def run_fdt(run: Run, encoder: Path) -> None:
    """Base of both tasks, then pseudo-labels whose weights are their confidences, in shards of six inputs."""
    selectors = [Selector(Threshold(0.2), weight="confidence")] * SETTINGS.iterations
    plans = {name: plan(encoder, name, selectors=selectors) for name in ("csrl", "rewriting")}
    fdt(run, plans, [by_length()], pool(), settings=SETTINGS)


def runs(folder: str, encoder: str, methods: tuple[str, ...]) -> dict[str, Any]:
    """The loss of every step of every training, in the order they come; and the names of files that were written."""
    dropout, ByteDropout.forward = ByteDropout.forward, lambda self, given: given  # type: ignore[method-assign]
    found: dict[str, Any] = {}
    backward, rename = training.backward, os.replace
    losses: list[float] = []
    written: list[str] = []

    def spy(loss: torch.Tensor, networks: Any) -> None:
        losses.append(float(loss.detach()))
        backward(loss, networks)

    def spy_on_names(source: Any, target: Any) -> None:
        written.append(Path(target).name)
        rename(source, target)

    training.backward, os.replace = spy, spy_on_names
    for method in methods:
        losses.clear()
        written.clear()
        run = Run.open(Path(folder) / method)
        if method == "fdt":
            run_fdt(run, Path(encoder))
        else:
            assert method in METHODS
            run_method(run, Path(encoder), method)
        found[method] = {"losses": list(losses), "written": list(written)}
    training.backward, os.replace, ByteDropout.forward = backward, rename, dropout  # type: ignore[method-assign]
    return found
