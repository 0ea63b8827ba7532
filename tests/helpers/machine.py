"""How this machine calculates: two machines with the same fingerprint give the same bits of the same program."""

import hashlib
import platform
from pathlib import Path

import numpy as np
import torch
import transformers


def fingerprint() -> str:
    """A digest of what a small network has become after a few steps, and of the libraries that computed it."""
    found = hashlib.sha256(f"{torch.__version__} {transformers.__version__} {np.__version__} {_processor()}".encode())
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            for width, rows in ((32, 7), (128, 24)):
                network = torch.nn.Sequential(
                    torch.nn.TransformerEncoderLayer(width, 2, 4 * width, activation="gelu", batch_first=True),
                    torch.nn.Linear(width, 5),
                )
                optimizer = torch.optim.AdamW(network.parameters(), lr=0.003)
                batch = torch.randn(4, rows, width)
                for _ in range(4):
                    optimizer.zero_grad()
                    network(batch).log_softmax(-1)[..., 0].mean().neg().backward()
                    optimizer.step()
                for values in network.state_dict().values():
                    found.update(values.numpy().tobytes())
    finally:
        torch.set_num_threads(threads)
    drawn = np.random.default_rng(0).normal(size=(16, 33))
    found.update(np.exp(drawn @ drawn.T / 100).tobytes())
    return found.hexdigest()


def _processor() -> str:
    """Libraries choose their kernels by the make of the processor; one small network does not meet all of them."""
    told = Path("/proc/cpuinfo")
    if not told.is_file():
        return platform.processor()
    wanted = ("vendor_id", "cpu family", "model", "stepping", "cache size", "flags")
    lines = told.read_text(encoding="utf-8").partition("\n\n")[0].splitlines()
    return "\n".join(line for line in lines if line.partition("\t")[0].strip() in wanted)
