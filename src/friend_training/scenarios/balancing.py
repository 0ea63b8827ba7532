"""A selector that keeps a balance: as many labels with an argument in another turn, say, as gold has.

Friends agree most easily on what both leave out: CSRL does not find the argument in an earlier turn, the rewriter does
not insert it, and the two omissions match. Without balance a model is taught to leave it out.

Where dev is of another domain than gold, its balance is another one: in REWRITE every utterance needs a rewrite, in
RESTORATION six of ten. `balance: dev` keeps that of dev; of its labels nothing else is used.
"""

from collections.abc import Sequence

from friend_training.core.balance import shares_of_kinds
from friend_training.examples import CsrlExample, RewritingExample
from friend_training.scenarios.config import Config
from friend_training.scenarios.data import RunData
from friend_training.tasks.csrl.kinds import kind_of_roles
from friend_training.tasks.rewriting.kinds import kind_of_text


def wanted_balance(config: Config, data: RunData, task: str) -> dict[str, float] | None:
    """The shares that the config asks for, or None."""
    source = getattr(config.tasks, task).balance
    if source == "none":
        return None
    if task == "csrl":
        return csrl_shares(data.csrl_gold if source == "gold" else data.csrl_dev)
    return rewriting_shares(data.rewriting_gold if source == "gold" else data.rewriting_dev)


def csrl_shares(gold: Sequence[CsrlExample]) -> dict[str, float]:
    """Of the gold labels that say something: where their arguments stand."""
    found = [kind_of_roles(roles, len(e.dialogue.turns) - 1) for e in gold for roles in e.roles if roles.arguments]
    return shares_of_kinds(found)


def rewriting_shares(gold: Sequence[RewritingExample]) -> dict[str, float]:
    """How many utterances need a rewrite."""
    return shares_of_kinds([kind_of_text(example.rewrite, example.dialogue) for example in gold])
