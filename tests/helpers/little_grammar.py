"""Sentences of a little grammar of our own, with trees, heads and tags that belong together."""

import random

from friend_training.types import Bracket, Heads, HeadsExample, Tags, TagsExample, Tree, TreeExample, Words

NOUNS = ("cat", "dog", "painter", "river", "window", "teacher")
VERBS = ("sees", "paints", "follows", "hears")
ADJECTIVES = ("old", "green", "quiet")
NAMES = ("Anna", "Bo", "Zadie")


def sentences(count: int, *, seed: int) -> list[tuple[TreeExample, HeadsExample, TagsExample]]:
    rng = random.Random(seed)
    return [_sentence(f"s{seed}-{number}", rng) for number in range(count)]


def trees(count: int, *, seed: int) -> list[TreeExample]:
    return [tree for tree, _, _ in sentences(count, seed=seed)]


def heads(count: int, *, seed: int) -> list[HeadsExample]:
    return [example for _, example, _ in sentences(count, seed=seed)]


def tags(count: int, *, seed: int) -> list[TagsExample]:
    return [example for _, _, example in sentences(count, seed=seed)]


def _sentence(name: str, rng: random.Random) -> tuple[TreeExample, HeadsExample, TagsExample]:
    """S → NP VP .   VP → V NP | V   NP → Name | the Adjective* Noun"""
    words: list[str] = []
    tags: list[str] = []
    brackets: list[Bracket] = []
    arcs: dict[int, tuple[int, str]] = {}

    def say(word: str, tag: str) -> int:
        words.append(word)
        tags.append(tag)
        return len(words)

    def noun_phrase(relation: str) -> tuple[int, str]:
        start = len(words)
        if rng.random() < 0.3:
            head = say(rng.choice(NAMES), "NNP")
        else:
            parts = [(say("the", "DT"), "det")]
            parts += [(say(rng.choice(ADJECTIVES), "JJ"), "amod") for _ in range(rng.choice((0, 0, 1, 2)))]
            head = say(rng.choice(NOUNS), "NN")
            arcs.update({part: (head, label) for part, label in parts})
        brackets.append(Bracket(start, len(words), "NP"))
        return head, relation

    subject = noun_phrase("subj")
    start = len(words)
    verb = say(rng.choice(VERBS), "VBZ")
    arcs[subject[0]] = (verb, subject[1])
    if rng.random() < 0.7:
        found = noun_phrase("obj")
        arcs[found[0]] = (verb, found[1])
    brackets.append(Bracket(start, len(words), "VP"))
    arcs[verb] = (0, "root")
    arcs[say(".", ".")] = (verb, "punct")
    brackets.append(Bracket(0, len(words), "S"))

    sentence = Words(name, tuple(words))
    ordered = tuple(sorted(brackets, key=lambda bracket: (bracket.start, -bracket.end)))
    pairs = [arcs[place] for place in range(1, len(words) + 1)]
    return (
        TreeExample(sentence, Tree(ordered, tuple(tags))),
        HeadsExample(sentence, Heads(tuple(head for head, _ in pairs), tuple(label for _, label in pairs))),
        TagsExample(sentence, Tags(tuple(tags))),
    )
