"""The command line: the only package that prints or exits."""

import gc
import os
import re
import signal
import sys
from typing import NoReturn

_NO_MEMORY = re.compile("failed to map segment|[Cc]annot allocate memory|out of memory")
#: How an import fails where a library is broken, or where there is no memory.
_UNLOADED = (ImportError, MemoryError, SystemError, OSError)
#: New objects after which garbage is looked for: more than any import makes.
_OBJECTS = 50_000


def main() -> None:
    """Run the command line.

    Problems of the environment, such as a full disk, are exit code 2. An internal error is reported
    without its traceback, exit code 3. A signal ends the process as usual, without a trace.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # there is nothing yet that has to be removed
    try:
        from hlteval.cli import process
    except _UNLOADED as error:
        _fail(_reason(error))

    number = None
    # Batches are small: more threads cost CPU time and save next to none. `--jobs` uses more cores.
    for threads in ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(threads, "1")
    # The other engine of Polars, for larger tables, takes three times as long for few rows.
    os.environ.setdefault("POLARS_ENGINE_AFFINITY", "in-memory")
    # The allocator of Polars keeps freed memory for seconds, up to a third of the peak.
    os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:300,muzzy_decay_ms:0")
    _check_environment()
    gc.set_threshold(_OBJECTS, *gc.get_threshold()[1:])
    try:
        process.handle_signals()
        process.prepare()
        try:
            try:
                _run_command()
            finally:
                process.finish()
                gc.freeze()  # the process ends: nobody has to look through all that was imported
        except process.OutputLost as error:
            process.drop(1)
            _fail(f"cannot write to standard output: {error}; the output is incomplete")
    except (process.Interrupted, KeyboardInterrupt) as error:
        number = getattr(error, "number", 2)
    if number is not None:  # here, the error no longer holds frames that have yet to clean up
        process.end(number)


def _run_command() -> None:
    try:
        from hlteval.cli.process import OutputLost
        from hlteval.sources.spooling import NotWritten

        try:
            from hlteval.cli.app import app

            app(prog_name="hlteval")
        except (ImportError, MemoryError, OutputLost):
            raise
        except NotWritten as error:
            _fail(str(error))
        except Exception as error:
            # This is how Polars without its library, or Python itself, has no memory.
            unloaded = isinstance(error, NameError) and error.name == "plr"
            if unloaded or _lacks_memory(error):
                raise MemoryError from error
            _end_by_bug(error)
        except BaseException as error:
            if type(error).__name__ != "PanicException":  # of compiled libraries
                raise
            _end_by_bug(error)
    except _UNLOADED as error:
        if isinstance(error, ImportError) and (error.name or "").startswith("hlteval"):
            _end_by_bug(error)
        _fail(_reason(error))


def _lacks_memory(error: BaseException) -> bool:
    """Whether an error is that of an interpreter without memory: a result without an exception."""
    without = isinstance(error, SystemError) and "without" in str(error)
    return without or isinstance(error, MemoryError) or _NO_MEMORY.search(str(error)) is not None


def _check_environment() -> None:
    """Refuse what the environment asks of Polars and Polars cannot do."""
    threads = os.environ["POLARS_MAX_THREADS"]
    if threads.isdecimal() and int(threads) == 0:
        _fail("POLARS_MAX_THREADS is 0; set it to 1 or more, or unset it")
    engine = os.environ["POLARS_ENGINE_AFFINITY"]
    if engine not in {"auto", "in-memory", "streaming"}:
        _fail(f"POLARS_ENGINE_AFFINITY is {engine}; use auto, in-memory or streaming, or unset it")


def _reason(error: Exception) -> str:
    """Why a library cannot be loaded: there is no memory, it is broken, or a plug-in is."""
    text = str(error)
    if _lacks_memory(error):
        return "not enough memory; nothing was written"
    from hlteval.extensions import BrokenExtension

    if isinstance(error, BrokenExtension):
        return text
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"a library cannot be loaded ({lines[-1]}); install hlteval again"


def _fail(message: str) -> NoReturn:
    """Report a problem of the environment, exit code 2."""
    sys.stderr.write(f"hlteval: {message}\n")
    sys.exit(2)


def _end_by_bug(error: BaseException) -> NoReturn:
    """Report an internal error, exit code 3; its traceback is saved in a temporary file."""
    import tempfile
    import traceback

    from hlteval.cli import process

    process.check()

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
    sys.exit(3)
