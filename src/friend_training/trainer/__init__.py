"""Friend-training by one call, from tasks, friendships and texts that a program has.

trainer    `FriendTrainer`: check, fit, and go on
given      what a program gives, as a config and files that every command can read
watching   progress, listeners, TensorBoard, callbacks of transformers
result     what came of it: the table, differences, warnings, the best models
"""

from typing import TYPE_CHECKING

from friend_training.rooms import opened_on_first_use

__all__ = ["BestModel", "Event", "FriendTrainer", "FriendTrainingResult", "TensorBoard"]

if TYPE_CHECKING:
    from friend_training.trainer.result import BestModel, FriendTrainingResult
    from friend_training.trainer.trainer import FriendTrainer
    from friend_training.trainer.watching import Event, TensorBoard
else:
    __getattr__ = opened_on_first_use(
        __name__,
        {
            "result": ("BestModel", "FriendTrainingResult"),
            "trainer": ("FriendTrainer",),
            "watching": ("Event", "TensorBoard"),
        },
    )
