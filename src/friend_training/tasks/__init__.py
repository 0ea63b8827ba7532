"""Tasks, one folder each, with the same files: task, model (with its decoding), metrics. No task knows another.

csrl              conversational semantic role labelling (section 4.1), and that of single sentences: the trained bridge
rewriting         dialogue rewriting by edits (section 4.1), of characters or of words
coreference       what each mention of the last turn stands for
parsing/          constituency, dependency, tagging
text_classification, token_classification    on any encoder; transformers loads what they save
estimators        any model with `fit` and `predict_proba`, such as scikit-learn's
sources           friends that are never trained: rules, files of answers, services
dialogue_input    dialogues as tokens, for csrl, rewriting and coreference; pointing at spans of words
repetitions       gold of coreference and rewriting made of what unlabeled dialogues say again
auto_classifier   the network of both classification tasks: transformers' own
"""

from typing import TYPE_CHECKING

from friend_training.rooms import opened_on_first_use

__all__ = [
    "AnswerFile",
    "Csrl",
    "Endpoint",
    "Estimator",
    "FixedTask",
    "Rewriting",
    "Rule",
    "TextClassification",
    "TokenClassification",
    "constituency_task",
    "coreference_task",
    "csrl_task",
    "dependency_task",
    "label_names",
    "read_lexicon",
    "relation_names",
    "rewriting_task",
    "srl_task",
    "tag_names",
    "tag_set",
    "tagging_task",
    "texts",
    "tree_names",
    "word_rewriting_task",
]

if TYPE_CHECKING:
    from friend_training.tasks.coreference.task import coreference_task
    from friend_training.tasks.csrl.task import Csrl, csrl_task, srl_task
    from friend_training.tasks.estimators.task import Estimator, texts
    from friend_training.tasks.parsing.constituency.task import constituency_task, tree_names
    from friend_training.tasks.parsing.dependency.task import dependency_task, relation_names
    from friend_training.tasks.parsing.tagging.task import tag_names, tagging_task
    from friend_training.tasks.rewriting.task import Rewriting, rewriting_task
    from friend_training.tasks.rewriting.word_task import word_rewriting_task
    from friend_training.tasks.sources import AnswerFile, Endpoint, FixedTask, Rule, read_lexicon
    from friend_training.tasks.text_classification.task import TextClassification, label_names
    from friend_training.tasks.token_classification.task import TokenClassification, tag_set
else:
    __getattr__ = opened_on_first_use(
        __name__,
        {
            "coreference.task": ("coreference_task",),
            "csrl.task": (
                "Csrl",
                "csrl_task",
                "srl_task",
            ),
            "estimators.task": (
                "Estimator",
                "texts",
            ),
            "parsing.constituency.task": (
                "constituency_task",
                "tree_names",
            ),
            "parsing.dependency.task": (
                "dependency_task",
                "relation_names",
            ),
            "parsing.tagging.task": (
                "tag_names",
                "tagging_task",
            ),
            "rewriting.task": ("Rewriting", "rewriting_task"),
            "rewriting.word_task": ("word_rewriting_task",),
            "sources": (
                "AnswerFile",
                "Endpoint",
                "FixedTask",
                "Rule",
                "read_lexicon",
            ),
            "text_classification.task": (
                "TextClassification",
                "label_names",
            ),
            "token_classification.task": (
                "TokenClassification",
                "tag_set",
            ),
        },
    )
