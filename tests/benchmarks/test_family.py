"""What a process and those it has started take: the time and memory of a child are found."""

import subprocess
import sys

import family
import pytest

CHILD = """
import sys, time
held = bytearray(60_000_000)
while time.process_time() < 0.3:
    pass
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_child_counts_alive_and_dead() -> None:
    before = family.cpu_seconds()
    with subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        assert child.pid in family.descendants()
        assert family.largest_descendant_mb() > 57
        assert family.cpu_seconds() - before >= 0.28
    assert child.pid not in family.descendants()
    assert family.cpu_seconds() - before >= 0.28, "what it used is its parent's now"
