"""Torch parts that know no task: whoever writes a task on torch defines a network and its batches, the rest is here.

interfaces     what a task on torch defines (`Definition`)
task           a `Definition` made into a `Task` of the core, and what methods inside training need of it
training       the one training loop: steps, gradients, early stopping on dev
heads          the losses of units (Eq. 1), masked where a label is unknown
encoder        encoders of transformers, and small ones made from their shape; bf16
pretrained     opening encoders that somebody else trained
pretraining    vectors for an encoder made from scratch
tokenizer      tokens, and where they stand in the text
word_encoder   a BiLSTM over words
word_input     sentences in words for either kind of encoder
class_names    the names of classes, saved beside the weights
batching       items into batches
optimizer      AdamW with warm-up and decay
devices        the run's device
memory         an error that says which setting filled a device
threads        several threads in one process
distributed    several processes
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
    from friend_training.nn.batching import endless_batches, in_batches, pad
    from friend_training.nn.class_names import Numbering, check_names, save_names
    from friend_training.nn.devices import AUTO, choose_device, on_device
    from friend_training.nn.encoder import AnyEncoder, Encoder, EncoderShape, load_encoder, open_encoder
    from friend_training.nn.heads import MASKED, UNKNOWN, Head, unit_losses
    from friend_training.nn.interfaces import Batch, Definition, Item
    from friend_training.nn.pretraining import pretrain_encoder, pretrain_word_encoder
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
    from friend_training.nn.word_encoder import WordEncoderShape
    from friend_training.nn.word_input import WORD_SETTINGS
else:
    __getattr__ = opened_on_first_use(
        __name__,
        {
            "batching": ("endless_batches", "in_batches", "pad"),
            "class_names": ("Numbering", "check_names", "save_names"),
            "devices": ("AUTO", "choose_device", "on_device"),
            "encoder": ("AnyEncoder", "Encoder", "EncoderShape", "load_encoder", "open_encoder"),
            "heads": ("MASKED", "UNKNOWN", "Head", "unit_losses"),
            "interfaces": ("Batch", "Definition", "Item"),
            "pretraining": ("pretrain_encoder", "pretrain_word_encoder"),
            "task": ("NetworkTask", "TorchTask", "network_task"),
            "tokenizer": ("Tokenizer",),
            "training": ("Learning", "TrainingSettings", "gradients_of", "learn", "seed_everything", "weighted_mean"),
            "word_encoder": ("WordEncoderShape",),
            "word_input": ("WORD_SETTINGS",),
        },
    )
