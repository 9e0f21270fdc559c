"""The command line: the only package that prints or exits."""

from __future__ import annotations

import gc
import os
import sys

_OBJECTS = 50_000
"""New objects after which garbage is looked for: more than any import makes."""


def main() -> None:
    """Run the command line.

    Problems of the environment, such as a full disk, are exit code 2. An internal error is reported
    without its traceback, exit code 3. A signal ends the process as usual, without a trace.
    """
    from hlteval.cli import interruption, streams

    number = None
    # Batches are small: more threads cost CPU time and save next to none. `--jobs` uses more cores.
    for threads in ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(threads, "1")
    # The other engine of Polars, for larger tables, takes three times as long for few rows.
    os.environ.setdefault("POLARS_ENGINE_AFFINITY", "in-memory")
    gc.set_threshold(_OBJECTS, *gc.get_threshold()[1:])
    try:
        interruption.prepare()
        streams.prepare()
        _run()
    except (interruption.Interrupted, KeyboardInterrupt) as error:
        number = getattr(error, "number", 2)
    if number is not None:  # here, the error no longer holds frames that have yet to clean up
        interruption.end(number)


def _run() -> None:
    from hlteval.cli.streams import OutputLost, drop, finish

    try:
        try:
            _run_command()
        finally:
            finish()
            gc.freeze()  # the process ends: nobody has to look through all that was imported
    except OutputLost as error:
        drop(1)
        _fail(f"cannot write to standard output: {error}; the output is incomplete")


def _run_command() -> None:
    from hlteval.cli.app import app
    from hlteval.cli.streams import OutputLost
    from hlteval.sources.disk import NotWritten

    try:
        app(prog_name="hlteval")
    except OutputLost:
        raise
    except NotWritten as error:
        _fail(str(error))
    except MemoryError:
        _fail("not enough memory; nothing was written")
    except Exception as error:
        _report_internal(error)
        sys.exit(3)


def _fail(message: str) -> None:
    """Report a problem of the environment, exit code 2."""
    sys.stderr.write(f"hlteval: {message}\n")
    sys.exit(2)


def _report_internal(error: Exception) -> None:
    """Report an internal error; its arguments and traceback are saved in a temporary file."""
    import tempfile
    import traceback

    sys.stderr.write(f"hlteval: internal error: {type(error).__name__}: {error}\n")
    reason = "This is a bug in hlteval, not in your data. Please report it"
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="hlteval-", suffix=".txt", delete=False, encoding="utf-8"
        ) as report:
            report.write("".join([f"{sys.argv!a}\n", *traceback.format_exception(error)]))
        sys.stderr.write(f"{reason} with {report.name}\n")
    except OSError:  # a full disk
        sys.stderr.write(f"{reason}\n")
