"""A language model behind a service, as a friend: what is asked, what is saved, and what happens when it fails."""

import json
import stat
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from friend_training.errors import ConfigError, RunError
from friend_training.tasks import sources
from friend_training.tasks.sources import Endpoint
from friend_training.testing import check_task
from friend_training.types import Tags, Text, Words
from helpers.texts_and_models import inputs, reviews

LABELS = ("good", "bad", "mixed")


class Server:
    """Answers what `say` makes of a request, and remembers the requests. `say` may give an HTTP status instead."""

    def __init__(self, say: Callable[[dict[str, Any]], Any]) -> None:
        self.say, self.asked, self.keys = say, list[dict[str, Any]](), list[str | None]()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.asked.append(body | {"path": self.path})
                server.keys.append(self.headers.get("Authorization"))
                said = server.say(body)
                status, more = said if isinstance(said, tuple) else (said if isinstance(said, int) else 200, {})
                self.send_response(status)
                for name, value in more.items():
                    self.send_header(name, value)
                self.end_headers()
                content = {"choices": [{"message": {"content": said}}]} if isinstance(said, str) else said
                self.wfile.write(json.dumps(content).encode())

            def log_message(self, *_: Any) -> None:
                """Tests are quiet."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Server]]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(sources, "BACKOFF", 0.0)
    running: list[Server] = []

    def start(say: Callable[[dict[str, Any]], Any]) -> Server:
        server = Server(say)
        threading.Thread(target=server.http.serve_forever, daemon=True).start()
        running.append(server)
        return server

    yield start
    for server in running:
        server.http.shutdown()
        server.http.server_close()


def by_words(body: dict[str, Any]) -> str:
    text = body["messages"][0]["content"]
    return "Good." if "lovely" in text else "“bad”" if "rude" in text else "`mixed`"


def friend(server: Server, folder: Path, **more: Any) -> Endpoint:
    settings = {"labels": LABELS} | more if "label_type" not in more else more
    settings = {"prompt": "One of {labels}: {text}", "model": "tiny", "cache": folder / "said.jsonl"} | settings
    return Endpoint("model", server.url, **settings)


def test_it_is_a_task(serve: Callable[..., Server], tmp_path: Path) -> None:
    server = serve(by_words)
    check_task(lambda: friend(server, tmp_path), gold=reviews(9, 1), dev=reviews(9, 2), inputs=inputs(12, 3))


def test_what_is_sent(serve: Callable[..., Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "secret")
    server = serve(by_words)
    task = friend(server, tmp_path, key_variable="SOME_KEY")
    (units,) = task.predict([Text("a", "a lovely {labels} day")])
    assert (units[0].label, units[0].confidence) == ("good", 1.0)
    assert server.asked == [
        {
            "path": "/v1/chat/completions",
            "model": "tiny",
            "messages": [{"role": "user", "content": "One of good, bad, mixed: a lovely {labels} day"}],
            "temperature": 0.0,
            "seed": 0,
        }
    ]
    assert server.keys == ["Bearer secret"]
    assert "secret" not in (tmp_path / "said.jsonl").read_text()
    assert "secret" not in repr(task._note())


def test_nothing_is_asked_twice(serve: Callable[..., Server], tmp_path: Path) -> None:
    server = serve(by_words)
    texts = inputs(12, 3)
    different = len({text.text for text in texts})
    first = friend(server, tmp_path).predict(texts)
    assert len(server.asked) == different
    assert friend(server, tmp_path).predict(texts[::-1]) == first[::-1]
    assert len(server.asked) == different
    friend(server, tmp_path, prompt="Another question: {text}").predict(texts)
    assert len(server.asked) == 2 * different


def test_a_line_that_was_cut_off_is_asked_again(serve: Callable[..., Server], tmp_path: Path) -> None:
    server = serve(by_words)
    one, other, third = (Text(word, word) for word in ("lovely", "rude", "well"))
    friend(server, tmp_path).predict([one, other])
    path = tmp_path / "said.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    assert friend(server, tmp_path).predict([third])[0][0].label == "mixed"
    friend(server, tmp_path).predict([one, other, third])
    assert len(server.asked) == 4


def test_a_line_that_was_damaged_is_asked_again(serve: Callable[..., Server], tmp_path: Path) -> None:
    """Whatever bit of it: an answer is never read as another one."""
    server, texts = serve(by_words), [Text(word, word) for word in ("lovely", "rude")]
    said = friend(server, tmp_path).predict(texts)
    path = tmp_path / "said.jsonl"
    whole = path.read_bytes()
    begin = whole.index(b"\n") + 1
    for bit in range(8 * begin, 8 * len(whole), 29):
        content = bytearray(whole)
        content[bit // 8] ^= 1 << bit % 8
        path.write_bytes(content)
        asked = len(server.asked)
        assert friend(server, tmp_path).predict(texts) == said
        assert len(server.asked) == asked + 1
    path.write_bytes(whole.replace(b"{", b"[", 1))
    assert friend(server, tmp_path).predict(texts) == said


@pytest.mark.parametrize(
    "line",
    [
        '{"version": "VERSION"}',
        '{"version": "VERSION", "text": ["a"], "sample": 0, "answer": "good"}',
        '{"version": "VERSION", "text": "a", "sample": 0, "answer": null}',
        "[" * 100_000,
        "9" * 5_000,
    ],
)
def test_a_line_that_is_no_answer_does_not_count(serve: Callable[..., Server], tmp_path: Path, line: str) -> None:
    server = serve(by_words)
    task = friend(server, tmp_path)
    task.predict([Text("a", "lovely")])
    with (tmp_path / "said.jsonl").open("a") as file:
        file.write(line.replace("VERSION", task.version.partition(",")[0]) + "\n")
    assert friend(server, tmp_path).predict([Text("b", "well")])[0][0].label == "mixed"


def test_lines_of_before_there_were_digests_count(serve: Callable[..., Server], tmp_path: Path) -> None:
    server = serve(by_words)
    friend(server, tmp_path).predict([Text("a", "lovely")])
    line = json.loads((tmp_path / "said.jsonl").read_text())
    del line["sha256"]
    (tmp_path / "said.jsonl").write_text(json.dumps(line) + "\n")
    friend(server, tmp_path).predict([Text("a", "lovely")])
    assert len(server.asked) == 1


def test_answers_are_written_to_no_file_of_another_kind(
    serve: Callable[..., Server], tmp_path: Path, device: Path
) -> None:
    path = tmp_path / "gold.csv"
    path.write_text("text,label\na,good\n")
    with pytest.raises(ConfigError, match="this one has other content"):
        friend(serve(by_words), tmp_path, cache=path)
    assert path.read_text() == "text,label\na,good\n"
    for other in (tmp_path, device):
        with pytest.raises(ConfigError, match="this is no file"):
            friend(serve(by_words), tmp_path, cache=other)
    assert stat.S_ISCHR(device.stat().st_mode)


def test_half_a_character_of_an_answer(serve: Callable[..., Server], tmp_path: Path) -> None:
    assert friend(serve(lambda body: "good \ud83d"), tmp_path).predict(inputs(1, 3)) == [[]]
    assert friend(serve(lambda body: "good"), tmp_path).predict(inputs(1, 3)) == [[]], "what was answered is saved"


def test_an_answer_without_end(serve: Callable[..., Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("friend_training.tasks.sources._LONGEST_RESPONSE", 1000)
    with pytest.raises(RunError, match="answered with more than 1,000 bytes"):
        friend(serve(lambda body: "good" * 1000), tmp_path).predict(inputs(1, 3))


@pytest.mark.parametrize("said", ["", "I am not sure", "good or bad", "goods"])
def test_what_is_no_label_is_no_answer(serve: Callable[..., Server], tmp_path: Path, said: str) -> None:
    assert friend(serve(lambda body: said), tmp_path).predict(inputs(1, 3)) == [[]]


def test_thoughts_are_no_part_of_an_answer(serve: Callable[..., Server], tmp_path: Path) -> None:
    server = serve(lambda body: "<think>bad? no</think>\n\n**Good**")
    assert friend(server, tmp_path).predict(inputs(1, 3))[0][0].label == "good"


def test_several_samples_agree_as_far_as_they_do(serve: Callable[..., Server], tmp_path: Path) -> None:
    """What is no label counts as a sample too."""
    server = serve(lambda body: ["bad", "good", "hm", "good", "bad", "good"][body["seed"]])
    task = friend(server, tmp_path, samples=6)
    ((unit,),) = task.predict(inputs(1, 3))
    assert (unit.label, unit.confidence) == ("good", 0.5)
    assert {body["temperature"] for body in server.asked} == {1.0}
    assert sorted(body["seed"] for body in server.asked) == list(range(6))


def test_labels_may_have_parts(serve: Callable[..., Server], tmp_path: Path) -> None:
    server = serve(lambda body: "```json\n" + json.dumps({"tags": ["O", "B-who"]}) + "\n```")
    task = friend(server, tmp_path, label_type=Tags, prompt="Tag {words}")
    ((unit,),) = task.predict([Words("a", ("to", "Ann"))])
    assert unit.label == Tags(("O", "B-who"))
    (asked,) = server.asked
    assert asked["messages"][0]["content"] == 'Tag ["to", "Ann"]'
    assert asked["response_format"]["json_schema"]["schema"]["properties"]["tags"]["type"] == "array"
    broken = serve(lambda body: '{"tags": "O"}')
    assert friend(broken, tmp_path / "b", label_type=Tags, prompt="Tag {words}").predict([Words("a", ("b",))]) == [[]]


@pytest.mark.parametrize("failure", [429, 500, 503])
def test_it_tries_again(serve: Callable[..., Server], tmp_path: Path, failure: int) -> None:
    left = [failure, (failure, {"Retry-After": "0"})]
    server = serve(lambda body: left.pop() if left else "good")
    assert friend(server, tmp_path).predict(inputs(1, 3))[0][0].label == "good"
    assert len(server.asked) == 3


def test_it_gives_up_in_the_end(serve: Callable[..., Server], tmp_path: Path) -> None:
    server = serve(lambda body: 503)
    with pytest.raises(RunError, match=r"task model: http://.* gave no answer in 3 attempts, 503"):
        friend(server, tmp_path, retries=2).predict(inputs(1, 3))
    server.http.server_close()
    with pytest.raises(RunError, match=r"gave no answer in 1 attempts, "):
        friend(server, tmp_path, retries=0, timeout=0.5).predict(inputs(1, 3))


@pytest.mark.parametrize("status", [401, (302, {"Location": "http://127.0.0.1:1/elsewhere"})])
def test_a_refusal_is_told_at_once(serve: Callable[..., Server], tmp_path: Path, status: Any) -> None:
    """A service that points elsewhere is not followed: the key is not for others."""
    server = serve(lambda body: status)
    with pytest.raises(RunError, match=r"task model: http://.* refuses the request, (401|302)"):
        friend(server, tmp_path).predict(inputs(1, 3))
    assert len(server.asked) == 1


def test_what_is_no_chat_is_told(serve: Callable[..., Server], tmp_path: Path) -> None:
    with pytest.raises(RunError, match="expected choices with a message"):
        friend(serve(lambda body: {"error": "none"}), tmp_path).predict(inputs(1, 3))


def test_the_budget_is_kept_and_what_was_paid_is_saved(serve: Callable[..., Server], tmp_path: Path) -> None:
    server = serve(by_words)
    texts = [Text(str(n), f"lovely {n}") for n in range(9)]
    with pytest.raises(RunError, match="task model: the budget of 5 requests is used up"):
        friend(server, tmp_path, budget=5, concurrency=1).predict(texts)
    assert len(server.asked) == 5
    with pytest.raises(RunError, match="the budget of 5 requests is used up"):
        friend(server, tmp_path, budget=5).predict(texts)
    assert len(server.asked) == 5
    found = friend(server, tmp_path, budget=9).predict(texts)
    assert [units[0].label for units in found] == ["good"] * 9
    assert len(server.asked) == 9


def test_a_key_that_is_not_there_is_told(serve: Callable[..., Server], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the environment variable NO_SUCH_KEY has no key in it"):
        friend(serve(by_words), tmp_path, key_variable="NO_SUCH_KEY").predict(inputs(1, 3))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prompt": "What is it?"}, "expected {text} or {words} in it"),
        ({"labels": None}, "expected either labels or the label_type"),
        ({"labels": "good"}, "labels are 'good', expected a list of at least two"),
        ({"samples": 0}, "samples is 0, expected 1 or more"),
    ],
)
def test_settings_that_do_not_fit_are_told(
    serve: Callable[..., Server], tmp_path: Path, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        friend(serve(by_words), tmp_path, **settings)
    with pytest.raises(ConfigError, match=r"url is 'file:///etc', expected http"):
        Endpoint("model", "file:///etc", model="m", prompt="{text}", cache=tmp_path / "c", labels=LABELS)


def test_a_run_refuses_another_question(serve: Callable[..., Server], tmp_path: Path) -> None:
    server = serve(by_words)
    friend(server, tmp_path).save(tmp_path)
    friend(server, tmp_path).load(tmp_path)
    with pytest.raises(RunError, match="the fixed friend of this run was"):
        friend(server, tmp_path, samples=3).load(tmp_path)
