"""Two Ray nodes of one processor each on this machine, and a head that takes no tasks.

A node whose agent has not started within 15 seconds dies, and we found no setting that changes it: on a machine whose
cores are all taken by processes of higher priority there is no cluster to measure.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

SLOWEST_START = 300
SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_raylet_start_wait_time_s": str(SLOWEST_START),
    "RAY_health_check_timeout_ms": "60000",
}
"""Where others are running too, a node that is slow to start or to answer is not dead."""

STORE_OF_A_NODE = {"object_store_memory": 100_000_000}


@contextmanager
def two_nodes() -> Iterator[str]:
    """The address of the cluster, which ends with the block."""
    os.environ.update(SETTINGS)  # before Ray is imported
    from ray.cluster_utils import Cluster

    cluster = Cluster()
    try:
        cluster.add_node(wait=False, num_cpus=0, include_log_monitor=False, **STORE_OF_A_NODE)
        for _ in range(2):
            cluster.add_node(wait=False, num_cpus=1, **STORE_OF_A_NODE)
        cluster.wait_for_nodes(timeout=SLOWEST_START)
        yield cluster.address
    finally:
        cluster.shutdown()
