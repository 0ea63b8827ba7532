"""A study: a config, and the runs of all its methods from the same Base.

study             one run of a config, top to bottom
config, aliases   what a config can say; names and values of before
data              gold, dev, test and pool, as a config asks for them
resources         encoder, bridge and informed start, made once
setup             what the methods of a run share
tasks             the two tasks of the case study, as a config describes them
plans             what each task of a method is given, and how its pseudo-labels are chosen
probes            dev as a pool would have it, to find thresholds on
methods           one function for each procedure of the registry
strong_friends    friends that were trained on all their labels
csrl_rewriting    what is special to the paper's pair
folders, open     the folders of a study, and what a finished one holds
agreement         how far friends agree, and by chance
diagnosis         a finished run, measured on dev; diagnosis_page its text
"""

from typing import TYPE_CHECKING

from friend_training.rooms import opened_on_first_use

__all__ = ["Config", "find_config", "load_config", "run_study"]

if TYPE_CHECKING:
    from friend_training.study.config import Config, find_config, load_config
    from friend_training.study.study import run_study
else:
    __getattr__ = opened_on_first_use(
        __name__,
        {
            "config": ("Config", "find_config", "load_config"),
            "study": ("run_study",),
        },
    )
