"""Command-line interface: the only package that prints and exits."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line without showing tracebacks."""
    from hlteval.cli.app import app

    try:
        app(prog_name="hlteval")
    except BrokenPipeError:  # the reader of a pipe has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        sys.exit(_internal(error))


def _internal(error: Exception) -> int:
    """Report an internal error, and save what is needed to find it."""
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile("w", prefix="hlteval-", suffix=".txt", delete=False) as report:
        report.write("".join([f"{sys.argv}\n", *traceback.format_exception(error)]))
    sys.stderr.write(
        f"hlteval: internal error: {type(error).__name__}: {error}\n"
        f"This is a bug in hlteval, not in your data. Please report it with {report.name}\n"
    )
    return 3
