"""The program of the processes of `jobs`: an order from standard input, results to its output."""

from __future__ import annotations

import os
import pickle
import sys


def main() -> None:
    """Work on the batches of an order, then say that there are no more."""
    order = pickle.load(sys.stdin.buffer)  # noqa: S301 - from the process that started this one
    with os.fdopen(os.dup(1), "wb") as results:
        os.dup2(2, 1)  # nothing that is printed gets among the results
        for batch in order.results():
            pickle.dump(batch, results)
            results.flush()
        pickle.dump(None, results)


if __name__ == "__main__":
    main()
