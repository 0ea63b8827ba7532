"""A study: a config, and the runs of all its methods from the same Base.

study             one run of a config, top to bottom
config, sections  what a config can say; aliases: names and values of before
kinds             the hinge: the kinds of tasks that a config can name, and what is known of each
friends           the friendships of a run, by kind, and what a method makes of them
run_data, data    gold, dev, test and pool: of files of your own, and of the paper's pair
setup             what the methods of a run share
plans             what each task of a method is given, and how its pseudo-labels are chosen
methods           one function for each procedure of the registry
csrl_rewriting    what is special to the paper's pair; resources: its encoder, bridge and informed start
folders, open     the folders of a study, and what a finished one holds
agreement         how far friends agree, and by chance
diagnosis         a finished run, measured on dev; diagnosis_page its text
"""

from typing import TYPE_CHECKING

from friend_training.rooms import opened_on_first_use

__all__ = ["Config", "find_config", "load_config", "run_study"]

if TYPE_CHECKING:
    from friend_training.study.config import find_config, load_config
    from friend_training.study.sections import Config
    from friend_training.study.study import run_study
else:
    __getattr__ = opened_on_first_use(
        __name__,
        {
            "config": ("find_config", "load_config"),
            "sections": ("Config",),
            "study": ("run_study",),
        },
    )
