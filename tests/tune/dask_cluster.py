"""A scheduler and two worker processes on ports that the system chooses, until it is ended. Prints the address as
HOST:PORT."""

from __future__ import annotations

import signal

from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None, memory_limit=0
    ) as cluster:
        print(cluster.scheduler_address.removeprefix("tcp://"), flush=True)
        signal.pause()
