"""The terminal: consoles for results and for remarks, and progress where somebody is looking."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from time import monotonic
from typing import TYPE_CHECKING, TextIO

from rich.console import Console, Group, RenderableType
from rich.measure import Measurement

if TYPE_CHECKING:
    from rich.progress import Progress

PIPE_WIDTH = 120
"""Cells that a line may have where there is no terminal; always the same, so that output is."""
_ROOM = 1000
"""Cells that no table has."""
DELAY = 1.0
"""Seconds that work may take before its progress is shown."""


def results(stream: TextIO | None = None) -> Console:
    """The console for results: standard output unless another stream is given.

    Colours are used in a terminal only, and not where NO_COLOR is set.
    """
    return _console(sys.stdout if stream is None else stream)


def remarks(stream: TextIO | None = None) -> Console:
    """The console for everything that is no result: standard error unless another is given."""
    return _console(sys.stderr if stream is None else stream)


def _console(stream: TextIO) -> Console:
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")  # a terminal may know little of Unicode
    width = None if stream.isatty() else PIPE_WIDTH
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False)


def _width(console: Console, shown: RenderableType) -> int | None:
    """The cells of a line: those of the terminal, or in a pipe as many as tables need."""
    if console.is_terminal or not isinstance(shown, Group):
        return None
    room = console.options.update(max_width=_ROOM)
    return max(console.width, Measurement.get(console, room, shown).maximum)


def write(console: Console, shown: str | RenderableType) -> None:
    """Write what a renderer made.

    A string is written as it is, in UTF-8 whatever the terminal is set to: programs read it. A
    renderable is laid out; its lines are not folded, and in a pipe tables are as wide as they need.
    """
    if not isinstance(shown, str):
        console.print(shown, soft_wrap=True, width=_width(console, shown))
        return
    buffer = getattr(console.file, "buffer", None)
    console.file.flush()
    if buffer is None:
        console.file.write(shown)
    else:
        buffer.write(shown.encode("utf-8", "backslashreplace"))
        buffer.flush()


@contextmanager
def progress(
    console: Console, doing: str, total: int | None = None
) -> Iterator[Callable[[], None]]:
    """Show how work goes on, if it takes long and somebody is looking.

    Nothing is shown in a pipe, nor during the first second; the bar is gone when the work is done.

    Args:
        console: that for remarks.
        doing: what is being done, such as "reading".
        total: how many steps there are, if that is known.

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
    task = bar.add_task(doing, total=total)
    begun = monotonic()

    def step() -> None:
        bar.advance(task)
        if not bar.live.is_started and monotonic() - begun >= DELAY:
            bar.start()

    try:
        yield step
    finally:
        bar.stop()


def _bar(console: Console) -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TimeElapsedColumn(), console=console, transient=True)
