"""Opening the bridge of a finished run, which tells what a rewrite says about each predicate."""

from pathlib import Path

from friend_training.errors import RunError
from friend_training.scenarios.config import Config, HanlpBridge, LtpBridge
from friend_training.scenarios.folders import shared_resources
from friend_training.scenarios.places import model_source
from friend_training.tasks.srl.bridge import Bridge
from friend_training.tasks.srl.hanlp import HanlpParser
from friend_training.tasks.srl.ltp import LtpParser
from friend_training.tasks.srl.parsed import ParserBridge
from friend_training.tasks.srl.task import open_bridge as open_trained


def open_bridge(folder: Path, config: Config) -> Bridge:
    """The bridge that the run matched with; a trained one lies in the run's folder, or with what several runs share."""
    if isinstance(config.bridge, LtpBridge):
        return LtpParser.load(Path(model_source(config.bridge.source)), device=config.device)
    if isinstance(config.bridge, HanlpBridge):
        return ParserBridge(HanlpParser(config.bridge.model, device=config.device))
    place = (shared_resources(folder, None) or folder) / "bridge"
    if not (place / "task.json").is_file():
        raise RunError(f"{folder}: its bridge is not at {place}, so nobody can say how far the friends agree")
    return open_trained(place, device=config.device)
