"""A pool whose gold is known: labelled training dialogues that are not among the few a run may learn from.

Selection and training see none of its labels. It is for ceilings (FDT with oracle selection) and for counting on real
dialogues how many of the chosen pseudo-labels are right.
"""

import random
from collections.abc import Sequence

from friend_training.errors import ConfigError
from friend_training.examples import CsrlExample, RewritingExample, dialogue_group


def left_over(
    csrl: Sequence[CsrlExample],
    rewriting: Sequence[RewritingExample],
    *,
    csrl_gold: Sequence[CsrlExample],
    rewriting_gold: Sequence[RewritingExample],
    count: int,
    seed: int,
) -> tuple[list[CsrlExample], list[RewritingExample]]:
    """`count` dialogues, half of them from each task's training set; rewriting, the larger one, fills up.

    Of a dialogue that gold has a turn of, no turn is taken.
    """
    seen = {dialogue_group(example.dialogue.id) for example in csrl_gold}
    others = [example for example in csrl if dialogue_group(example.dialogue.id) not in seen and example.roles]
    drawn = {example.dialogue.id for example in rewriting_gold}
    rest = [example for example in rewriting if example.dialogue.id not in drawn]
    generator = random.Random(seed)
    for_csrl = generator.sample(others, min(count // 2, len(others)))
    wanted = count - len(for_csrl)
    if wanted > len(rest):
        raise ConfigError(
            f"data.pool: {count} labelled dialogues are asked for; {len(for_csrl) + len(rest)} are left over"
        )
    return for_csrl, generator.sample(rest, wanted)
