"""How many requests per second the service answers, and how long one waits: `friend-train serve` under load.

python benchmarks/service_load.py RUN --seconds 20 --clients 16
python benchmarks/service_load.py RUN --condense --clients 8       a rewriter of questions, beside doing nothing
python benchmarks/service_load.py --show                  the table of what was measured

The server is one process, the clients are threads of a second one, each with one connection and the next request as
soon as the last is answered. Every endpoint is asked for a share of the time, by one client and by all of them: the
ratio of the two throughputs is what answering together brings. The dialogues are synthetic ones that no run has seen.
One JSON line per measurement is appended to benchmarks/results/service.jsonl.
"""

import argparse
import json
import multiprocessing
import os
import runpy
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from friend_training.data.synthetic import Domain, generate

RESULTS = Path(__file__).parent / "results" / "service.jsonl"
ENDPOINTS = ("/v1/rewrite", "/v1/roles", "/v1/agreement")
NOTHING = "/health"
"""What is answered without a model: what HTTP alone takes."""
CONDENSING = (NOTHING, "/v1/condense")
QUESTIONS = Path(__file__).parents[1] / "examples" / "search_in_conversation.py"
DIALOGUES = 200


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="load test of friend-train serve")
    parser.add_argument("run", type=Path, nargs="?")
    parser.add_argument("--show", action="store_true", help="only print what was measured, as a table")
    parser.add_argument("--seconds", type=float, default=20.0, help="of load, over all endpoints")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--condense", action="store_true", help="ask for questions that need no history")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args(arguments)
    if asked.show:
        print(table(asked.out))
        return
    if asked.run is None:
        parser.error("expected the folder of a finished run, or --show")
    bodies = questions() if asked.condense else dialogues()
    command = [sys.executable, "-m", "friend_training.cli", "serve", str(asked.run), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | {"COLUMNS": "200"}) as server:
        try:
            host, port = address_of(server)
            endpoints = CONDENSING if asked.condense else ENDPOINTS
            records = measure(server.pid, host, port, endpoints, bodies, asked.seconds, asked.clients)
        finally:
            server.terminate()
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    with asked.out.open("a", encoding="utf-8") as file:
        for record in records:
            line = json.dumps({"run": asked.run.name, **record}, ensure_ascii=False)
            file.write(line + "\n")
            print(line)


def dialogues() -> list[bytes]:
    return [
        json.dumps({"turns": [{"speaker": turn.speaker, "text": turn.text} for turn in one.dialogue.turns]}).encode()
        for one in generate(DIALOGUES, seed=4711, domain=Domain.FILM)
    ]


def questions() -> list[bytes]:
    _, asked = runpy.run_path(str(QUESTIONS))["conversations"]()
    return [json.dumps({"history": history, "question": question}).encode() for history, question, _ in asked]


def table(path: Path) -> str:
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows = [
        "| endpoint | clients | answers per second | p50 ms | p99 ms | asked together |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    rows += [
        f"| `{one['endpoint']}` | {one['clients']} | {one['per_second']} | {one['p50_ms']} | {one['p99_ms']} |"
        f" {one['mean_batch']} |"
        for one in records
    ]
    return "\n".join(rows)


def address_of(server: "subprocess.Popen[str]") -> tuple[str, int]:
    assert server.stderr is not None
    said: list[str] = []
    for line in server.stderr:
        said.append(line)
        if "http://" in line:
            found = urlsplit(line[line.index("http://") :].split()[0])
            return found.hostname or "", found.port or 0
    raise SystemExit(f"the server did not start: {''.join(said)}")


def measure(
    pid: int, host: str, port: int, endpoints: Sequence[str], bodies: list[bytes], seconds: float, clients: int
) -> list[dict[str, Any]]:
    """For every endpoint: one client, then all of them; a share of the seconds each."""
    share = seconds / (2 * len(endpoints))
    records: list[dict[str, Any]] = []
    for endpoint in endpoints:
        for number in (1, clients):
            cpu, before = cpu_seconds(pid), batches(host, port)
            record = in_another_process(host, port, endpoint, bodies, share, number)
            count, total = (after - earlier for after, earlier in zip(batches(host, port), before, strict=True))
            record["mean_batch"] = round(total / max(count, 1), 2)
            record["server_cpu_ms"] = round(1000 * (cpu_seconds(pid) - cpu) / max(record["requests"], 1), 2)
            records.append(record)
        alone, together = records[-2:]
        together["ratio_to_one_client"] = round(together["per_second"] / alone["per_second"], 2)
    return records


def cpu_seconds(pid: int) -> float:
    """Processor time of the server so far: it suffers less than the clock from whoever else is running. Linux only."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def in_another_process(
    host: str, port: int, endpoint: str, bodies: list[bytes], seconds: float, clients: int
) -> dict[str, Any]:
    context = multiprocessing.get_context("spawn")
    results: Any = context.Queue()
    process = context.Process(target=load, args=(results, host, port, endpoint, bodies, seconds, clients))
    process.start()
    record: dict[str, Any] = results.get()
    process.join()
    return record


def load(results: Any, host: str, port: int, endpoint: str, bodies: list[bytes], seconds: float, clients: int) -> None:
    """Ask as fast as answers come, until the time is over."""
    waited: list[float] = []
    statuses: Counter[int] = Counter()
    began = time.perf_counter()

    def client(number: int) -> None:
        connection = HTTPConnection(host, port, timeout=60)
        turn = number
        while time.perf_counter() - began < seconds:
            sent = time.perf_counter()
            if endpoint == NOTHING:
                connection.request("GET", endpoint)
            else:
                connection.request("POST", endpoint, bodies[turn % len(bodies)], {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            statuses[answer.status] += 1
            waited.append(time.perf_counter() - sent)
            turn += clients
        connection.close()

    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - began
    waited.sort()
    results.put(
        {
            "endpoint": endpoint,
            "clients": clients,
            "seconds": round(took, 2),
            "requests": len(waited),
            "statuses": {str(status): count for status, count in statuses.items()},
            "per_second": round(len(waited) / took, 1),
            "p50_ms": round(1000 * waited[len(waited) // 2], 1),
            "p99_ms": round(1000 * waited[int(0.99 * (len(waited) - 1))], 1),
            "load": round(os.getloadavg()[0], 1),
        }
    )


def batches(host: str, port: int) -> tuple[float, float]:
    """How many batches there were so far, and how many requests in them."""
    connection = HTTPConnection(host, port, timeout=60)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    return float(lines["friend_training_batch_size_count"]), float(lines["friend_training_batch_size_sum"])


if __name__ == "__main__":
    main()
