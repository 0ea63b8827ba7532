from friend_training.export.model import FriendTrainedModel as FriendTrainedModel
from friend_training.scenarios.loading import load as load

__version__: str
FRONT_DOOR: dict[str, str]
