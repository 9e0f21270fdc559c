"""The terminal: consoles for results and remarks, and a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO, TextIOWrapper
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console, RenderableType

if TYPE_CHECKING:
    from rich.progress import Progress

PIPE_WIDTH = 120
"""Line width in cells without a terminal; constant, so that the output is reproducible."""
DELAY = 1.0
"""Seconds before a progress bar is shown."""


def results(stream: TextIO | None = None) -> Console:
    """The console for results: standard output, or another stream.

    Colours are used in a terminal only, unless NO_COLOR is set.
    """
    return _console(sys.stdout if stream is None else stream)


def remarks(stream: TextIO | None = None) -> Console:
    """The console for everything but results: standard error, or another stream."""
    return _console(sys.stderr if stream is None else stream)


def _console(stream: TextIO, **more: Any) -> Console:
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")  # the encoding may not be Unicode
    width = None if stream.isatty() else PIPE_WIDTH
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False, **more)


def write(console: Console, report: str | RenderableType) -> None:
    """Write a report.

    A string, which programs read, is written unchanged in UTF-8, whatever the encoding of the
    terminal. A renderable wraps its own lines, at words; what is longer goes beyond the edge.

    Args:
        console: the console to write to.
        report: the result of a renderer.
    """
    if not isinstance(report, str):
        console.print(report, soft_wrap=True)
        return
    buffer = getattr(console.file, "buffer", None)
    console.file.flush()
    if buffer is None:
        console.file.write(report)
    else:
        buffer.write(report.encode("utf-8", "backslashreplace"))
        buffer.flush()


def rendered(report: str | RenderableType) -> str:
    r"""A report as the content of a file: like the output in a pipe, without colours.

    Examples:
        >>> from rich.text import Text
        >>> rendered(Text("pass", style="bold"))
        'pass\n'
    """
    stream = StringIO()
    write(_console(stream, color_system=None, force_terminal=False), report)
    return stream.getvalue()


@contextmanager
def progress(
    console: Console, activity: str, total: int | None = None
) -> Iterator[Callable[[], None]]:
    """Show a progress bar in a terminal if work takes longer than a second.

    The bar disappears at the end of the work.

    Args:
        console: the console for remarks.
        activity: a word for the work, such as "reading".
        total: the number of steps; None if it is unknown.

    Yields:
        A function to call after each step.

    Examples:
        >>> with progress(remarks(), "reading", total=2) as step:
        ...     step()
        ...     step()
    """
    if not (console.is_interactive and console.file.isatty()):
        yield lambda: None
        return
    bar = _bar(console)
    task = bar.add_task(activity, total=total)
    start = monotonic()

    def step() -> None:
        bar.advance(task)
        if not bar.live.is_started and monotonic() - start >= DELAY:
            bar.start()

    try:
        yield step
    finally:
        bar.stop()


def _bar(console: Console) -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TimeElapsedColumn(), console=console, transient=True)
