"""Every kind of task and of friendship that a config can name, through the public conformance suites.

A kind that is added without a tiny example of its own makes these tests fail.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, get_args

import pytest

from friend_training.core.task import Prediction
from friend_training.data.synthetic import Domain, csrl_examples, generate, rewriting_examples
from friend_training.nn.encoder import WordEncoderShape, pretrain_word_encoder
from friend_training.study.config import parse_config
from friend_training.study.friends import own_friendships
from friend_training.study.kinds import TASK_KINDS, Given, make_task
from friend_training.study.sections import OwnFriendship
from friend_training.tasks import sources
from friend_training.testing import check_friendship, check_task
from friend_training.types import (
    CoreferenceExample,
    Dialogue,
    Insertion,
    Link,
    Mention,
    Rewrite,
    RewritingExample,
    Tags,
    Text,
    Turn,
    Words,
)
from helpers import little_grammar as grammar
from helpers.encoder_families import write_encoder
from helpers.texts_and_models import inputs, reviews
from helpers.tiny_config import tiny_config

TRAINING = "training: {encoder_rate: 0.01, head_rate: 0.01, look_every: 4, batch_size: 4}"
ELSEWHERE = {"python": "objects of a program: checked by whoever made them (docs/bring-your-own-tasks.md)"}


@dataclass(frozen=True, slots=True)
class Tried:
    """A section of a config, and examples for the task that it makes."""

    section: str
    gold: Sequence[Any]
    inputs: Sequence[Any]


def call(name: str, number: int) -> Dialogue:
    return Dialogue(f"d{number}/turn2", (Turn("user", f"call {name}"), Turn("user", "tell her")))


def answers(folder: Path, told: Sequence[tuple[Text, str]]) -> Path:
    path = folder / "answers.jsonl"
    path.write_text("".join(json.dumps({"id": text.id, "label": label}) + "\n" for text, label in told))
    return path


def tried(kind: str, folder: Path, address: str) -> Tried:
    calls = [call("ann", number) for number in range(10)]
    texts = [*reviews(8, 1), *reviews(6, 2)]
    match kind:
        case "csrl":
            made = generate(30, seed=1, domain=Domain.FILM)
            labelled = [one for one in csrl_examples(made) if one.roles]
            return Tried("", labelled[:14], [one.dialogue for one in made[20:]])
        case "rewriting":
            made = generate(30, seed=1, domain=Domain.FILM)
            return Tried("", rewriting_examples(made)[:14], [one.dialogue for one in made[20:]])
        case "text-classification":
            encoder = write_encoder(folder / "encoder", "roberta")
            return Tried(f"encoder: {encoder}, {TRAINING}", texts, inputs(6, 3))
        case "token-classification":
            encoder = write_encoder(folder / "encoder", "roberta")
            words = [one.words for one in grammar.tags(6, seed=2)]
            return Tried(f"encoder: {encoder}, {TRAINING}", grammar.tags(14, seed=1), words)
        case "constituency" | "dependency" | "tagging":
            found = {"constituency": grammar.trees, "dependency": grammar.heads, "tagging": grammar.tags}[kind]
            return Tried(TRAINING, found(14, seed=1), [one.words for one in grammar.trees(6, seed=2)])
        case "rewriting-by-words":
            gold = [RewritingExample(one, "tell ann") for one in calls]
            return Tried(f"encoder: unused, {TRAINING}", gold, calls[:4])
        case "coreference":
            gold = [CoreferenceExample(one, ((Mention(0, 5, 8), Mention(1, 5, 8)),)) for one in calls]
            return Tried(f"encoder: unused, {TRAINING}", gold, calls[:4])
        case "estimator":
            return Tried("model: tf-idf-characters", [*reviews(30, 1), *reviews(20, 2)], inputs(6, 3))
        case "answer-file":
            path = answers(folder, [*texts, *reviews(6, 3)])
            return Tried(f"file: {path}", texts, inputs(6, 3))
        case "endpoint":
            asked = f"url: '{address}', model: m, prompt: '{{text}}', labels: [good, bad, mixed]"
            return Tried(f"{asked}, cache: {folder / 'asked.jsonl'}", texts, inputs(6, 3))
    raise AssertionError(f"kind {kind!r} of task has no tiny example here: add one to `tried`")


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A service that always says the same."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(sources, "BACKOFF", 0.0)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"choices": [{"message": {"content": "good"}}]}).encode())

        def log_message(self, *_: Any) -> None:
            """Tests are quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


@pytest.fixture(scope="module")
def words_known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("words")
    shape = WordEncoderShape(word=8, affix=4, width=8, layers=1)
    pretrain_word_encoder(folder, [tree.words.words for tree in grammar.trees(60, seed=2)], shape, seed=0)
    return folder


@pytest.mark.parametrize("kind", sorted(TASK_KINDS.keys() - ELSEWHERE.keys()))
def test_every_kind_of_task_conforms(
    kind: str, tmp_path: Path, tiny_encoder: Path, words_known: Path, address: str
) -> None:
    one = tried(kind, tmp_path, address)
    if kind in ("csrl", "rewriting"):
        config, name, encoder = tiny_config(), kind, tiny_encoder
    else:
        text = f"{{name: a, tasks: {{it: {{kind: {kind}, {one.section}}}}}, friendships: [], pool: {{file: p}}}}"
        config, name = parse_config(text, kind), "it"
        shared = {"rewriting-by-words": tiny_encoder, "coreference": tiny_encoder}
        own_words = dict.fromkeys(("constituency", "dependency", "tagging"), words_known)
        encoder = (shared | own_words).get(kind)
    given = Given(encoder, one.gold, one.inputs)
    check_task(lambda: make_task(config, name, given), gold=one.gold[:8], dev=one.gold[8:], inputs=one.inputs, steps=4)


def kinds_of_friendships() -> list[str]:
    union = get_args(OwnFriendship)[0]
    sections = [get_args(part)[0] for part in get_args(union)]
    return sorted(kind for one in sections for kind in get_args(one.model_fields["kind"].annotation))


@dataclass(frozen=True, slots=True)
class TriedFriends:
    """The kinds of two tasks, what a config says of their friendship, and what they predict for the same inputs; the
    first pairs agree."""

    tasks: tuple[str, str]
    section: str
    inputs: Sequence[Any]
    first: Sequence[Sequence[Prediction]]
    second: Sequence[Sequence[Prediction]]
    agreeing: int = 1


def said(inputs: Sequence[Any], labels: Sequence[Any]) -> list[list[Prediction]]:
    return [[Prediction(one.id, label, 0.5)] for one, label in zip(inputs, labels, strict=True)]


def tried_friends(kind: str) -> TriedFriends:
    texts = [Text(name, name) for name in "abc"]
    words = [Words(name, ("Ann", "left")) for name in "abc"]
    parsed = grammar.sentences(4, seed=1)
    sentences = [tree.words for tree, _, _ in parsed]
    flat = replace(parsed[3][0].tree, brackets=parsed[3][0].tree.brackets[:1], tags=("X",) * len(sentences[3].words))
    trees = [*(tree.tree for tree, _, _ in parsed[:3]), flat]
    match kind:
        case "labels":
            first, second = said(texts, ["joy", "anger", "joy"]), said(texts, ["good", "bad", "bad"])
            return TriedFriends(("text", "text"), "means: {joy: good, anger: bad}", texts, first, second, 2)
        case "tags" | "spans":
            first = said(words, [Tags(("B-PER", "O")), Tags(("O", "O")), Tags(("B-PER", "O"))])
            second = said(words, [Tags(("B-WHO", "O")), Tags(("O", "O")), Tags(("O", "B-WHO"))])
            means = "{B-PER: B-WHO}" if kind == "tags" else "{PER: WHO}"
            return TriedFriends(("token", "token"), f"means: {means}", words, first, second, 2)
        case "coreference-rewriting":
            ann, her = Mention(0, 5, 8), Mention(1, 5, 8)
            calls = [call("ann", number) for number in range(2)]
            rewrite = Rewrite("tell ann", (5, 6, 7), (Insertion(5, 0, 5, 8),))
            places = zip(calls, (ann, None), strict=True)
            linked = [[Prediction(f"{one.id}#her", Link(her, place), 0.5)] for one, place in places]
            return TriedFriends(("rewriting-by-words", "coreference"), "", calls, said(calls, [rewrite] * 2), linked)
        case "rewriting-slots":
            calls = [call("ann", number) for number in range(2)]
            rewrites = said(calls, [Rewrite("tell ann", (5, 6, 7), (Insertion(5, 0, 5, 8),))] * 2)
            slots = said(calls, ["name=ann", "name=bob"])
            return TriedFriends(("rewriting-by-words", "answer-file"), "values: [ann, bob]", calls, rewrites, slots)
        case "constituency-dependency":
            heads = [one.heads for _, one, _ in parsed]
            first, second = said(sentences, trees), said(sentences, heads)
            return TriedFriends(("constituency", "dependency"), "", sentences, first, second, 3)
        case "constituency-tagging":
            tags = [one.tags for _, _, one in parsed]
            first, second = said(sentences, trees), said(sentences, tags)
            return TriedFriends(("constituency", "tagging"), "", sentences, first, second, 3)
    raise AssertionError(f"kind {kind!r} of friendship has no tiny example here: add one to `tried_friends`")


SECTIONS: dict[str, str] = {
    "answer-file": "{kind: answer-file, file: f}",
    "text": "{kind: text-classification, encoder: e}",
    "token": "{kind: token-classification, encoder: e}",
    "rewriting-by-words": "{kind: rewriting-by-words, encoder: e}",
    "coreference": "{kind: coreference, encoder: e}",
}


@pytest.mark.parametrize("kind", [kind for kind in kinds_of_friendships() if kind not in ELSEWHERE])
def test_every_kind_of_friendship_conforms(kind: str) -> None:
    one = tried_friends(kind)
    a, b = (SECTIONS.get(task, f"{{kind: {task}}}") for task in one.tasks)
    friends = f"{{kind: {kind}, first: a, second: b, {one.section}}}"
    text = f"{{name: n, tasks: {{a: {a}, b: {b}}}, friendships: [{friends}], pool: {{file: p}}}}"
    config: Any = parse_config(text, kind)
    [made] = own_friendships(config, {}, dict)
    # A foreign friend is a control, which is matched with other inputs on purpose.
    others = [change(made.friendship) for name, change in made.variants.items() if "foreign" not in name]
    for variant in (made.friendship, *others):
        check_friendship(variant, inputs=one.inputs, first=one.first, second=one.second, agreeing=range(one.agreeing))
