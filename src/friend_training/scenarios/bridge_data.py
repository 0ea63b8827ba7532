"""What our own bridge may learn from: Chinese PropBank and what NewsDialog has within utterances, never DuConv."""

from pathlib import Path

from friend_training.corpora import scenarios
from friend_training.corpora.within import within_utterance
from friend_training.examples import SrlExample

NEWS_DEV = 200


def bridge_sentences(folder: Path) -> tuple[list[SrlExample], list[SrlExample]]:
    """Train and dev. Few-shot labels would leak through a bridge that had seen DuConv (DESIGN 5.17)."""
    propbank_train, propbank_dev = scenarios.chinese_propbank(folder)
    news = [within_utterance(example) for example in scenarios.news_dialog(folder)]
    news = [example for example in news if example.roles]
    return propbank_train + news[NEWS_DEV:], propbank_dev[:NEWS_DEV] + news[:NEWS_DEV]
