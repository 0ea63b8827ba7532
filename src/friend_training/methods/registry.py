"""Every method that a config can name, in the order of the paper's table, controls below.

A `MethodSpec` holds all that configs, studies, tables, progress and estimates have to know of a method; what it does is
the function of its procedure (docs/adding-a-method.md). This file imports no method and no torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from friend_training.errors import did_you_mean

Procedure = Literal[
    "base",
    "same-steps",
    "multitask",
    "self-training",
    "friend-training",
    "strong-friends",
    "co-training",
    "two-readers",
    "mean-teacher",
    "cross-pseudo-supervision",
    "batch-reweighting",
    "self-teaching",
    "score-only",
]
"""What a method does, step by step; `study.methods` has the function of each."""

Choice = Literal["by-match", "by-confidence", "as-many", "random", "random-of-matched", "everything"]
"""How pseudo-labels are chosen: by the overall score of match and confidence (Eq. 5), by confidence alone, the surest
as many as `like` chose, drawn as many as `like` chose (of all, or of those that have a match), or all of them."""

Labels = Literal[
    "own",
    "merged",
    "merged-with-foreign",
    "checked",
    "answers",
    "checked-by-foreign",
    "unchecked",
    "parts",
    "joint",
    "joint-with-foreign",
    "joint-with-bridge",
    "joint-edits",
    "joint-edits-with-gold",
    "edits-alone",
    "bridge",
    "friend",
]
"""Whose labels a task is trained on: its own; its own and its friend's put together, or its own and those of a friend
that knows nothing; those put together part by part, a part being taken that the friend confirms, that the friend
answers, that a foreign friend confirms, or that anybody has; its own, of which what a friend disputes is left open;
those that task and friend decide on together, or task and foreign friend, or task and bridge alone; the same with
rewrites learnt edit by edit, with a friend that never errs in the friend's place, or only these, without a friend; the
bridge's; or its friend's predictions as its own."""

Friend = Literal["partner", "shuffled", "oracle", "perfect", "gold-bridge", "none"]
"""Who checks pseudo-labels: the other task, the other task's predictions for other inputs, hidden gold, the other task
as if it were never wrong, the other task through a perfect bridge, or nobody."""

Second = Literal["other-head", "other-seed", "multitask"]
"""How a second model of a task differs from the first: in its head, in the seed of its Base, or it begins as
Multitask-Base."""


@dataclass(frozen=True, slots=True)
class MethodSpec:
    """A method.

    `needs` are the methods that must be run before it. `label_parts` is how many models and friendships answer for
    each input of the pool in an iteration; 0 where the pool is not labelled. `step_cost` is what a training step costs,
    as a multiple of one network's. `from_encoder` says that it trains a network of its own from the encoder on, instead
    of starting from the shared Base. `bridge` says whether it queries the sentence parser that joins the paper's two
    tasks.
    """

    title: str
    procedure: Procedure
    choice: Choice = "by-confidence"
    like: str | None = None
    labels: Labels = "own"
    friend: Friend = "none"
    second: Second | None = None
    needs: tuple[str, ...] = ("base",)
    label_parts: int = 2
    step_cost: float = 1.0
    from_encoder: bool = False
    fixed_friends: bool = False
    all_gold: bool = False
    bridge: bool = False

    @property
    def part_by_part(self) -> bool:
        """Whether labels are put together part by part, so that none is chosen as a whole."""
        return self.labels not in ("own", "parts", "bridge", "friend") and not self.labels.startswith("merged")

    @property
    def learns_from_friend(self) -> bool:
        """Whether this is friend-training as it would be used: with a trained friend of few labels, and no control."""
        labels = ("own", "merged", "checked", "answers", "joint", "joint-edits")
        return (
            self.procedure in ("friend-training", "two-readers") and self.friend == "partner" and self.labels in labels
        )


FDT = MethodSpec("FDT", "friend-training", choice="by-match", friend="partner", label_parts=3, bridge=True)
STRONG = replace(
    FDT, title="FDT-S", procedure="strong-friends", needs=("base", "base-full"), label_parts=6, step_cost=2.0
)

METHODS: dict[str, MethodSpec] = {
    "base": MethodSpec("Base", "base", needs=(), label_parts=0),
    "multitask-base": MethodSpec("Multitask-Base", "multitask", label_parts=0, from_encoder=True),
    "base-same-steps": MethodSpec("Base, same steps", "same-steps", label_parts=0),
    "sst": MethodSpec("SST", "self-training"),
    "mt": MethodSpec("MT", "mean-teacher", label_parts=0, step_cost=1.4),
    "cps": MethodSpec(
        "CPS", "cross-pseudo-supervision", second="other-seed", label_parts=0, step_cost=2.0, from_encoder=True
    ),
    "scot": MethodSpec("SCoT", "co-training", second="other-head", label_parts=4, step_cost=2.0, from_encoder=True),
    "stbr": MethodSpec("STBR", "batch-reweighting"),
    "stea": MethodSpec("STea", "self-teaching", label_parts=0, step_cost=1.4),
    "fdt": FDT,
    "fdt-merged": replace(FDT, title="FDT, merged labels", labels="merged"),
    "fdt-checked": replace(FDT, title="FDT, checked arguments", labels="checked"),
    "fdt-answers": replace(FDT, title="FDT, the friend's answers", labels="answers"),
    "fdt-parts": replace(FDT, title="FDT, part by part", labels="parts"),
    "fdt-joint": replace(FDT, title="FDT, joint labels", labels="joint", label_parts=5),
    "fdt-edits": replace(FDT, title="FDT, joint labels and edits", labels="joint-edits", label_parts=20),
    "fdt-readers": replace(
        FDT,
        title="FDT, two rewriters",
        procedure="two-readers",
        labels="checked",
        second="multitask",
        needs=("base", "multitask-base"),
        label_parts=5,
        step_cost=1.5,
    ),
    "fdt-s": STRONG,
    "fdt-sf": replace(STRONG, title="FDT-SF", step_cost=1.0, fixed_friends=True),
    "fdt-s-edits": replace(STRONG, title="FDT-S, joint labels and edits", labels="joint-edits", label_parts=40),
    "fdt-sf-edits": replace(
        STRONG,
        title="FDT-SF, joint labels and edits",
        labels="joint-edits",
        label_parts=23,
        step_cost=1.0,
        fixed_friends=True,
    ),
    "sst-as-many": MethodSpec(
        "SST, as many as FDT", "self-training", choice="as-many", like="fdt", needs=("base", "fdt")
    ),
    "fdt-shuffled": replace(FDT, title="FDT, shuffled friend", friend="shuffled"),
    "random-as-many": MethodSpec(
        "random, as many as FDT", "self-training", choice="random", like="fdt", needs=("base", "fdt")
    ),
    "friend-labels": replace(
        FDT, title="friend's labels", choice="as-many", like="fdt", labels="friend", needs=("base", "fdt")
    ),
    "merged-random": replace(
        FDT,
        title="merged labels, random as many",
        labels="merged",
        choice="random-of-matched",
        like="fdt-merged",
        needs=("base", "fdt-merged"),
    ),
    "merged-shuffled": replace(FDT, title="merged labels, random friend", labels="merged-with-foreign"),
    "sst-readers": MethodSpec(
        "two rewriters, no friend",
        "two-readers",
        second="other-seed",
        label_parts=3,
        step_cost=1.5,
        from_encoder=True,
    ),
    "checked-shuffled": replace(FDT, title="checked arguments, shuffled friend", labels="checked-by-foreign"),
    "joint-shuffled": replace(FDT, title="joint labels, shuffled friend", labels="joint-with-foreign", label_parts=5),
    "joint-bridge": replace(FDT, title="joint labels, bridge alone", labels="joint-with-bridge", label_parts=5),
    "edits-alone": replace(FDT, title="edits without a friend", labels="edits-alone", label_parts=5),
    "unchecked": replace(FDT, title="the same arguments, unchecked", labels="unchecked"),
    "bridge-labels-all": MethodSpec(
        "bridge's labels, all", "self-training", choice="everything", labels="bridge", label_parts=1, bridge=True
    ),
    "bridge-labels": MethodSpec(
        "bridge's labels",
        "self-training",
        choice="random",
        like="fdt",
        labels="bridge",
        needs=("base", "fdt"),
        label_parts=1,
        bridge=True,
    ),
    "bridge-alone": MethodSpec("bridge alone", "score-only", needs=(), label_parts=0, bridge=True),
    "nothing-rewritten": MethodSpec("nothing rewritten", "score-only", needs=(), label_parts=0),
    "fdt-oracle": replace(FDT, title="FDT, oracle selection", friend="oracle"),
    "fdt-perfect": replace(FDT, title="FDT, perfect friend", friend="perfect"),
    "merged-perfect": replace(FDT, title="merged labels, perfect friend", labels="merged", friend="perfect"),
    "fdt-gold-bridge": replace(FDT, title="FDT, gold bridge", friend="gold-bridge"),
    "edits-perfect": replace(
        FDT, title="joint labels and edits, perfect friend", labels="joint-edits-with-gold", label_parts=20
    ),
    "base-full": MethodSpec("Fully-trained Base", "base", label_parts=0, all_gold=True),
}


def leading(methods: Sequence[str]) -> str:
    """The method that a run is asked about where nobody names one: FDT, else the first that learns from a friend, else
    the last."""
    friends = [method for method in methods if method in METHODS and METHODS[method].learns_from_friend]
    return "fdt" if "fdt" in methods else next(iter(friends), methods[-1])


def meant_methods(name: str) -> str:
    """What may have been meant by a name that no method has: the one like it, or all that there are."""
    return did_you_mean(name, METHODS) or f"; known are {', '.join(METHODS)}"


def with_needed(methods: list[str], among: tuple[str, ...]) -> list[str]:
    """Some methods and all that must be run before them, in the order of `among`, which holds them all."""
    wanted = set(methods)
    for method in reversed(among):  # what a method needs stands before it
        if method in wanted:
            wanted.update(METHODS[method].needs)
    return [method for method in among if method in wanted]
