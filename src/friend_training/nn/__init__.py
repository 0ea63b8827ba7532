"""Torch parts that know no task: whoever writes a task on torch defines a network and its batches, the rest is here.

interfaces    what a task on torch defines (`Definition`), and its items in batches
task          a `Definition` made into a `Task` of the core, and what methods inside training need of it
training      the one training loop: steps, gradients, AdamW with warm-up and decay, early stopping on dev;
              several processes, and several threads in one of them
heads         the losses of units (Eq. 1), masked where a label is unknown
encoder       encoders of transformers, and small ones made from their shape (a BiLSTM over words too); bf16
pretrained    opening encoders that somebody else trained
tokenizer     tokens, and where they stand in the text
word_input    sentences in words for either kind of encoder
class_names   the names of classes, saved beside the weights
devices       the run's device
"""

from typing import TYPE_CHECKING

from friend_training.rooms import opened_on_first_use

__all__ = [
    "AUTO",
    "MASKED",
    "UNKNOWN",
    "WORD_SETTINGS",
    "AnyEncoder",
    "Batch",
    "Definition",
    "Encoder",
    "EncoderShape",
    "Head",
    "Item",
    "Learning",
    "NetworkTask",
    "Numbering",
    "Tokenizer",
    "TorchTask",
    "TrainingSettings",
    "WordEncoderShape",
    "check_names",
    "choose_device",
    "endless_batches",
    "gradients_of",
    "in_batches",
    "learn",
    "load_encoder",
    "network_task",
    "on_device",
    "open_encoder",
    "pad",
    "pretrain_encoder",
    "pretrain_word_encoder",
    "save_names",
    "seed_everything",
    "unit_losses",
    "weighted_mean",
]

if TYPE_CHECKING:
    from friend_training.nn.class_names import Numbering, check_names, save_names
    from friend_training.nn.devices import AUTO, choose_device, on_device
    from friend_training.nn.encoder import (
        AnyEncoder,
        Encoder,
        EncoderShape,
        WordEncoderShape,
        load_encoder,
        open_encoder,
        pretrain_encoder,
        pretrain_word_encoder,
    )
    from friend_training.nn.heads import MASKED, UNKNOWN, Head, unit_losses
    from friend_training.nn.interfaces import Batch, Definition, Item, endless_batches, in_batches, pad
    from friend_training.nn.task import NetworkTask, TorchTask, network_task
    from friend_training.nn.tokenizer import Tokenizer
    from friend_training.nn.training import (
        Learning,
        TrainingSettings,
        gradients_of,
        learn,
        seed_everything,
        weighted_mean,
    )
    from friend_training.nn.word_input import WORD_SETTINGS
else:
    __getattr__ = opened_on_first_use(
        __name__,
        {
            "class_names": ("Numbering", "check_names", "save_names"),
            "devices": ("AUTO", "choose_device", "on_device"),
            "encoder": (
                "AnyEncoder",
                "Encoder",
                "EncoderShape",
                "WordEncoderShape",
                "load_encoder",
                "open_encoder",
                "pretrain_encoder",
                "pretrain_word_encoder",
            ),
            "heads": ("MASKED", "UNKNOWN", "Head", "unit_losses"),
            "interfaces": ("Batch", "Definition", "Item", "endless_batches", "in_batches", "pad"),
            "task": ("NetworkTask", "TorchTask", "network_task"),
            "tokenizer": ("Tokenizer",),
            "training": ("Learning", "TrainingSettings", "gradients_of", "learn", "seed_everything", "weighted_mean"),
            "word_input": ("WORD_SETTINGS",),
        },
    )
