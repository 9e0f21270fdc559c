"""Who computes a campaign: processes of this machine, or a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from hlteval.tasks.option import WrongOption
from hlteval.workflows.graph import Workers
from hlteval.workflows.graph_processes import LocalProcesses


@contextmanager
def workers_of(jobs: int = 1, cluster: str = "") -> Iterator[Workers]:
    """The workers of a campaign, whose work ends with the context.

    Args:
        jobs: number of processes of this machine.
        cluster: address of the scheduler of a cluster, which is used instead.

    Raises:
        WrongOption: if both are given.
        NoRemoteError: if there is no cluster at the address.
    """
    if cluster and jobs > 1:
        raise WrongOption("--jobs has no effect with --cluster")
    workers: Workers
    if cluster:
        from hlteval.workflows.graph_cluster import Cluster

        workers = Cluster(cluster)
    else:
        workers = LocalProcesses(jobs)
    with closing(workers):
        yield workers
