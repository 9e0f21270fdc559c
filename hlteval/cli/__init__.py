"""The command line: the only package that prints or exits."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line; an internal error is reported without its traceback, exit code 3."""
    from hlteval.cli.app import app

    try:
        app(prog_name="hlteval")
    except BrokenPipeError:  # the reader of the pipe closed it, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        _report_internal(error)
        sys.exit(3)


def _report_internal(error: Exception) -> None:
    """Report an internal error; its arguments and traceback are saved in a temporary file."""
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile("w", prefix="hlteval-", suffix=".txt", delete=False) as report:
        report.write("".join([f"{sys.argv}\n", *traceback.format_exception(error)]))
    sys.stderr.write(
        f"hlteval: internal error: {type(error).__name__}: {error}\n"
        f"This is a bug in hlteval, not in your data. Please report it with {report.name}\n"
    )
