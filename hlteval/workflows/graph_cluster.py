"""Graphs on a cluster of dask.distributed: results stay where they are computed.

The scheduler moves a result only to the worker that needs it. What a lost worker had is computed
again by another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from importlib import import_module
from itertools import islice
from typing import Any

from hlteval.sources.remote import NoRemoteError
from hlteval.workflows.graph import Failed, Node, call, failed

PATIENCE = 10.0
"""Seconds that a scheduler has to answer."""
AHEAD = 4
"""How many graphs there are at a time for each thread of the cluster."""


class Cluster:
    """Computes graphs on a cluster.

    Args:
        address: of the scheduler, such as `tcp://host:8786`.

    Raises:
        NoRemoteError: if the library is absent, or there is no scheduler at the address.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        try:
            self._library: Any = import_module("distributed")
        except ImportError as error:
            reason = "--cluster needs a library: pip install 'hlteval[cluster]'"
            raise NoRemoteError(reason) from error
        try:
            self.client: Any = self._library.Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise NoRemoteError(f"no scheduler at {address}: {error}") from error

    def results(self, roots: Iterable[Node]) -> Iterator[tuple[int, Any]]:
        """The results, as they come; a few graphs are submitted at a time."""
        waiting = iter(enumerate(roots))
        numbers: dict[str, int] = {}
        each = self._library.as_completed(loop=self.client.loop)
        ahead = AHEAD * max(1, sum(self.client.nthreads().values()))

        def more(count: int) -> None:
            for number, root in islice(waiting, count):
                future = self._submitted(root)
                numbers[future.key] = number
                each.add(future)

        more(ahead)
        try:
            for future in each:
                yield numbers.pop(future.key), _result(future)
                future.release()
                more(1)
        except (CancelledError, OSError) as error:
            raise NoRemoteError(
                f"the scheduler at {self.address} was lost; what was computed is kept: run it again"
            ) from error

    def _submitted(self, node: Node) -> Any:
        arguments = [
            self._submitted(item) if isinstance(item, Node) else item for item in node.arguments
        ]
        return self.client.submit(call, node.function, *arguments, pure=False)

    def close(self) -> None:
        """Leave the cluster."""
        self.client.close()


def _result(future: Any) -> Any:
    """The result of a call, or why there is none."""
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, import_module("distributed").KilledWorker):
        return Failed("crashed", "the workers that computed it ended")
    return failed(error)
