"""The terminal: consoles for results and remarks, and a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO, TextIOWrapper
from threading import Timer
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console, RenderableType
from rich.text import Text

if TYPE_CHECKING:
    from rich.progress import Progress, Task

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
    console: Console, activity: str, *, shown: bool = True
) -> Iterator[Callable[[int, int | None], None]]:
    """Show a progress bar in a terminal if work takes longer than a second.

    The bar disappears at the end of the work.

    Args:
        console: the console for remarks.
        activity: a word for the work, such as "reading".
        shown: whether a bar may be shown: not where results are written meanwhile.

    Yields:
        A function to call after each step, with the work that is done and all of it; None if that
        is unknown.

    Examples:
        >>> with progress(remarks(), "reading") as step:
        ...     step(1, 2)
        ...     step(2, 2)
    """
    if not (shown and console.is_interactive and console.file.isatty()):
        yield lambda _done, _total: None
        return
    bar = _bar(console)
    task = bar.add_task(activity, total=None)
    timer = Timer(DELAY, bar.start)  # also where the first step takes long
    timer.daemon = True
    timer.start()
    try:
        yield lambda done, total: bar.update(task, completed=done, total=total)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


def _bar(console: Console) -> Progress:
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn

    class Done(ProgressColumn):
        """What is done, of how much if that is known."""

        def render(self, task: Task) -> Text:
            if task.total is None:
                return Text(f"{int(task.completed):,}" if task.completed else "")
            return Text(f"{int(task.completed):,}/{int(task.total):,}")

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), Done())
    return Progress(*columns, TimeElapsedColumn(), console=console, transient=True)
