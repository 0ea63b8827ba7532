"""What the friendships between parsers say about gold labels, and about parsers that know nothing.

The matching score of gold against gold is the ceiling of a friendship; parsers that ignore the sentence (chain, flat,
random) must stay far below it, or agreement means nothing; ε is the total agreement of gold labels of different
sentences.

    python experiments/parsing/match_of_gold.py DATA_DIR     measure on the Penn Treebank sample, append
    python experiments/parsing/match_of_gold.py              print the table of match_of_gold.jsonl
"""

import json
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from files import ParsedSentence, penn_sample

from friend_training.analysis.agreement import measured_epsilon
from friend_training.core.friendship import Friendship
from friend_training.core.task import Prediction
from friend_training.data.summary import fingerprint
from friend_training.friendships.parsing import constituency_dependency, constituency_tagging
from friend_training.types import Bracket, Heads, Tags, Tree

RESULTS = Path(__file__).parent / "match_of_gold.jsonl"
SEED = 1
ROUNDS = 5
Parser = Callable[[ParsedSentence, random.Random], Any]


def flat_tree(sentence: ParsedSentence, draw: random.Random) -> Tree:
    return Tree((Bracket(0, len(sentence.tree.tags), "S"),), sentence.tree.tags)


def random_tree(sentence: ParsedSentence, draw: random.Random) -> Tree:
    """Every span is parted at a random place, down to single words; labels are drawn from those of the gold tree."""
    labels = [bracket.label for bracket in sentence.tree.brackets] or ["NP"]
    brackets, spans = [], [(0, len(sentence.tree.tags))]
    while spans:
        start, end = spans.pop()
        brackets.append(Bracket(start, end, draw.choice(labels)))
        if end - start > 1:
            middle = draw.randrange(start + 1, end)
            spans += [span for span in ((start, middle), (middle, end)) if span[1] - span[0] > 1]
    return Tree(tuple(sorted(brackets, key=lambda b: (b.start, -b.end))), sentence.tree.tags)


def chain(sentence: ParsedSentence, draw: random.Random) -> Heads:
    return Heads(tuple(range(len(sentence.heads.heads))))


def flat_heads(sentence: ParsedSentence, draw: random.Random) -> Heads:
    return Heads((0, *[1] * (len(sentence.heads.heads) - 1)))


def random_heads(sentence: ParsedSentence, draw: random.Random) -> Heads:
    """In a random order of the words each hangs on one that came before it."""
    order = draw.sample(range(1, len(sentence.heads.heads) + 1), len(sentence.heads.heads))
    head_of = {word: draw.choice(order[:place]) if place else 0 for place, word in enumerate(order)}
    return Heads(tuple(head_of[word] for word in sorted(order)))


def heads_moved(share: float) -> Parser:
    """The gold heads, but this share of the words hangs on the word before, as the words of a weak parser do."""

    def parse(sentence: ParsedSentence, draw: random.Random) -> Heads:
        gold = sentence.heads.heads
        movable = [place > 0 and head > 0 for place, head in enumerate(gold)]
        return Heads(
            tuple(place if movable[place] and draw.random() < share else gold[place] for place in range(len(gold)))
        )

    return parse


def gold_tree(sentence: ParsedSentence, draw: random.Random) -> Tree:
    return sentence.tree


def gold_heads(sentence: ParsedSentence, draw: random.Random) -> Heads:
    return sentence.heads


def gold_tags(sentence: ParsedSentence, draw: random.Random) -> Tags:
    return Tags(sentence.tree.tags)


def all_nouns(sentence: ParsedSentence, draw: random.Random) -> Tags:
    return Tags(("NN",) * len(sentence.tree.tags))


PAIRS: dict[str, tuple[Parser, Parser]] = {
    "gold trees, gold heads": (gold_tree, gold_heads),
    "gold trees, 10 % of heads moved": (gold_tree, heads_moved(0.1)),
    "gold trees, 30 % of heads moved": (gold_tree, heads_moved(0.3)),
    "gold trees, chain": (gold_tree, chain),
    "gold trees, random heads": (gold_tree, random_heads),
    "gold trees, flat heads": (gold_tree, flat_heads),
    "flat trees, gold heads": (flat_tree, gold_heads),
    "random trees, gold heads": (random_tree, gold_heads),
    "flat trees, chain": (flat_tree, chain),
}


def predictions(sentences: Sequence[ParsedSentence], parser: Parser) -> list[list[Prediction]]:
    draw = random.Random(SEED)
    return [[Prediction(one.words.id, parser(one, draw), 1.0)] for one in sentences]


def measure(data_dir: Path) -> None:
    sentences = penn_sample(data_dir)
    words = [sentence.words for sentence in sentences]
    data = {"data": "penn-sample", "sentences": len(sentences), "fingerprint": fingerprint(sentences), "seed": SEED}
    with RESULTS.open("a", encoding="utf-8") as file:

        def record(friendship: Friendship, scoring: str, pair: str, first: Parser, second: Parser) -> None:
            ours, theirs = predictions(sentences, first), predictions(sentences, second)
            found = measured_epsilon(friendship, words, ours, theirs, seed=SEED, rounds=ROUNDS)
            line = data | {
                "friendship": friendship.name,
                "scoring": scoring,
                "pair": pair,
                "mean": found.unshuffled.mean_match,
                "total_agreement": found.unshuffled.total_agreement,
                "unmatched": found.unshuffled.unmatched,
                "epsilon": found.epsilon,
                "shuffled_mean": found.shuffled.mean_match,
            }
            file.write(json.dumps(line) + "\n")

        for scoring in ("head-rules", "paper", "paper-all"):
            for pair, parsers in PAIRS.items():
                record(constituency_dependency(scoring), scoring, pair, *parsers)
        for pair, tagger in {"gold trees, gold tags": gold_tags, "gold trees, all nouns": all_nouns}.items():
            record(constituency_tagging(), "tags", pair, gold_tree, tagger)


def table() -> None:
    print("| scoring | pair | mean match | total agreement | ε | mean, shuffled |\n|---|---|--:|--:|--:|--:|")
    for line in map(json.loads, RESULTS.read_text(encoding="utf-8").splitlines()):
        cells = [f"{line[name]:.4f}" for name in ("mean", "total_agreement", "epsilon", "shuffled_mean")]
        print(f"| {line['scoring']} | {line['pair']} | {' | '.join(cells)} |")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        measure(Path(sys.argv[1]))
    table()
