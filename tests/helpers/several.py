"""Starts a function in several processes that know of each other, as torchrun would, over gloo on the loopback."""

import json
import multiprocessing
import os
import socket
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from helpers import patience


def in_processes(count: int, folder: Path, work: Callable[..., Any], *given: Any) -> list[Any]:
    """What `work` gave (as JSON) in each process. Whoever hangs is ended, and the test fails."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["friend_training.tasks.csrl.task", "friend_training.methods.mean_teacher"])
    folder.mkdir(parents=True, exist_ok=True)
    children = [context.Process(target=_be, args=(rank, count, port, folder, work, given)) for rank in range(count)]
    for child in children:
        child.start()
    for child in children:
        child.join(patience.ANSWER)
    ends = [child.exitcode for child in children]
    for child in children:
        child.kill()
    said = "\n".join(path.read_text() for path in sorted(folder.glob("*.error")))
    assert ends == [0] * count, f"how the processes ended (None: it hung): {ends}\n{said}"
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(count)]


def _be(rank: int, count: int, port: int, folder: Path, work: Callable[..., Any], given: tuple[Any, ...]) -> None:
    os.environ |= {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(count),
        "LOCAL_WORLD_SIZE": str(count),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "GLOO_SOCKET_IFNAME": "lo",
        "OMP_NUM_THREADS": "1",
    }
    import torch

    torch.set_num_threads(1)
    try:
        result = work(*given)
    except BaseException:
        (folder / f"{rank}.error").write_text(traceback.format_exc())
        raise
    (folder / f"{rank}.json").write_text(json.dumps(result))
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
