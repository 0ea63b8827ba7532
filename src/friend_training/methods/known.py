"""Every method that a config can name, one line each, in the order of the paper's table, controls below.

A new method is its file in this folder and its line here (docs/adding-a-method.md). Configs, tables and progress only
need the names, so this file imports no method and no torch.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Known:
    """What a study and its tables know of a method.

    `needs` are the methods that must be run before it. `labels` says how many models and friendships answer for each
    input of the pool in an iteration; 0 where the pool is not labelled. `bridge` says whether it asks the sentence
    parser that joins the paper's two tasks.
    """

    title: str
    needs: tuple[str, ...] = ("base",)
    labels: int = 2
    bridge: bool = True


METHODS: dict[str, Known] = {
    "base": Known("Base", needs=(), labels=0, bridge=False),
    "multitask-base": Known("Multitask-Base", labels=0, bridge=False),
    "base-same-steps": Known("Base, same steps", labels=0, bridge=False),
    "sst": Known("SST", bridge=False),
    "mt": Known("MT", labels=0, bridge=False),
    "cps": Known("CPS", labels=0, bridge=False),
    "scot": Known("SCoT", labels=4, bridge=False),
    "stbr": Known("STBR", bridge=False),
    "stea": Known("STea", labels=0, bridge=False),
    "fdt": Known("FDT", labels=3),
    "fdt-merged": Known("FDT, merged labels", labels=3),
    "fdt-checked": Known("FDT, checked arguments", labels=3),
    "fdt-answers": Known("FDT, the friend's answers", labels=3),
    "fdt-readers": Known("FDT, two rewriters", needs=("base", "multitask-base"), labels=5),
    "fdt-s": Known("FDT-S", needs=("base", "base-full"), labels=6),
    "fdt-sf": Known("FDT-SF", needs=("base", "base-full"), labels=6),
    "sst-as-many": Known("SST, as many as FDT", needs=("base", "fdt"), bridge=False),
    "fdt-shuffled": Known("FDT, shuffled friend", labels=3),
    "random-as-many": Known("random, as many as FDT", needs=("base", "fdt"), bridge=False),
    "merged-random": Known("merged labels, random as many", needs=("base", "fdt-merged"), labels=3),
    "sst-readers": Known("two rewriters, no friend", labels=3, bridge=False),
    "checked-shuffled": Known("checked arguments, shuffled friend", labels=3),
    "unchecked": Known("the same arguments, unchecked", labels=3),
    "bridge-labels-all": Known("bridge's labels, all", labels=1),
    "bridge-labels": Known("bridge's labels", needs=("base", "fdt"), labels=1),
    "bridge-alone": Known("bridge alone", needs=(), labels=0),
    "nothing-rewritten": Known("nothing rewritten", needs=(), labels=0, bridge=False),
    "fdt-oracle": Known("FDT, oracle selection", labels=3),
    "fdt-gold-bridge": Known("FDT, gold bridge", labels=3),
    "base-full": Known("Fully-trained Base", labels=0, bridge=False),
}


SCORED_ONLY = ("bridge-alone", "nothing-rewritten")
"""Nothing is trained for these: the study scores the bridge as a CSRL parser, and u_t as its own rewrite."""


def with_needed(methods: list[str], among: tuple[str, ...]) -> list[str]:
    """Some methods and all that must be run before them, in the order of `among`, which holds them all."""
    kept = set(methods)
    for method in reversed(among):  # what a method needs stands before it
        if method in kept:
            kept.update(METHODS[method].needs)
    return [method for method in among if method in kept]
