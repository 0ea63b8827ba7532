"""A rewriter before a retriever: questions of a conversation, searched for by BM25 over passages that are made up here.

friend-train export RUN --task rewriting --out rewriter
python examples/search_in_conversation.py rewriter
"""

import math
import re
import sys
import time
from collections import Counter
from itertools import product

from friend_training import load_rewriter

ADJECTIVES = ["Blue", "Old", "Silver", "Quiet", "Crooked", "Golden", "Northern", "Little"]
NOUNS = ["Lantern", "Mill", "Harbour", "Anchor", "Orchard", "Kettle", "Sparrow", "Bridge"]
TOPICS = {
    "The {} opens at {} in the morning and closes in the evening.": "When does it open ?",
    "The {} is known for its plum cake, number {} on the card.": "What is it known for ?",
    "The {} was built by a captain {} years ago.": "Who built it ?",
    "To reach the {} take tram {} to the last stop.": "How do I reach it ?",
}


class BM25:
    """Scores of passages for a query; words are letters and digits in lower case."""

    def __init__(self, passages, k1=0.9, b=0.4):
        self.counts = [Counter(words(passage)) for passage in passages]
        self.lengths = [sum(count.values()) for count in self.counts]
        self.mean, self.k1, self.b = sum(self.lengths) / len(passages), k1, b
        self.holders = Counter(word for count in self.counts for word in count)

    def scores(self, query):
        asked = [word for word in words(query) if word in self.holders]
        rare = {word: math.log(1 + (len(self.counts) - n + 0.5) / (n + 0.5)) for word, n in self.holders.items()}
        norms = [self.k1 * (1 - self.b + self.b * length / self.mean) for length in self.lengths]
        return [
            sum(rare[word] * count[word] * (self.k1 + 1) / (count[word] + norm) for word in asked)
            for count, norm in zip(self.counts, norms, strict=True)
        ]

    def rank(self, query, answer):
        """The place of the passage with this number, from 1; others of the same score stand before it."""
        scores = self.scores(query)
        return sum(score >= scores[answer] for score in scores)


def words(text):
    return re.findall(r"[a-z0-9]+", text.lower())


def conversations():
    """The passages, and for each (history, question, its number), a question that needs the turns before it."""
    places = [f"{adjective} {noun}" for adjective, noun in product(ADJECTIVES, NOUNS)]
    passages = [topic.format(place, 7 + n % 4) for n, place in enumerate(places) for topic in TOPICS]
    asked = []
    for number, place in enumerate(places):
        for topic, question in enumerate(TOPICS.values()):
            history = [f"Tell me about the {place} .", f"What would you like to know about the {place} ?"]
            asked.append((history, question, number * len(TOPICS) + topic))
    return passages, asked


def main(rewrite, questions=None):
    passages, asked = conversations()
    index, ranks, wall, processor = BM25(passages), Counter(), [], []
    asked = asked[:questions]
    for history, question, answer in asked:
        began, worked = time.perf_counter(), time.process_time()
        found = rewrite(history, question)
        wall.append(1000 * (time.perf_counter() - began))
        processor.append(1000 * (time.process_time() - worked))
        ranks["as asked"] += index.rank(question, answer) <= 5
        ranks["rewritten"] += index.rank(found.text, answer) <= 5
    shares = {name: ranks[name] / len(asked) for name in ("as asked", "rewritten")}
    print("recall@5: " + ", ".join(f"{name} {share:.2f}" for name, share in shares.items()))
    for name, times in (("milliseconds", sorted(wall)), ("of the processor", sorted(processor))):
        print(f"{name}: p50 {times[len(times) // 2]:.1f}, p99 {times[int(0.99 * (len(times) - 1))]:.1f}")
    return shares


if __name__ == "__main__":
    main(load_rewriter(sys.argv[1]))
