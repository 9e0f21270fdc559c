"""The command line: the only room that prints and exits.

Exit codes: 0 clean (warnings allowed), 1 findings, 2 usage or a path that is not there, 3 an error
of hlteval itself. Results go to standard output, everything else to standard error.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line; nobody sees a traceback."""
    from hlteval.cli.app import app

    try:
        app(prog_name="hlteval")
    except BrokenPipeError:  # the reader of a pipe has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        sys.exit(_internal(error))


def _internal(error: Exception) -> int:
    """Tell of an error of the program, and keep what is needed to find it."""
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile("w", prefix="hlteval-", suffix=".txt", delete=False) as report:
        report.write("".join([f"{sys.argv}\n", *traceback.format_exception(error)]))
    sys.stderr.write(
        f"hlteval: internal error: {type(error).__name__}: {error}\n"
        f"This is a mistake of hlteval, not of your data. Please report it with {report.name}\n"
    )
    return 3
