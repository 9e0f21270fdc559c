"""Interruption by a signal: what is unfinished is removed, and nothing else is printed.

The handler raises an exception, so that every `finally` on the way is run. Python drops an
exception that is raised while an object is finalized; then a timer raises it again a moment later.
The same timer waits until Polars and NumPy are imported: compiled code that imports them panics, or
prints a message itself, if it is interrupted.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import Any, ClassVar, NoReturn

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
_LIBRARIES = {"polars", "numpy"}
"""Those that are imported by compiled code."""
_SOON = 0.01
"""Seconds after which an exception that was dropped, or had to wait, is raised again."""


class Interrupted(BaseException):
    """The process was interrupted by a signal.

    Attributes:
        received: the signal that interrupted this process; 0 if there was none.
    """

    received: ClassVar[int] = 0

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def prepare() -> None:
    """Let signals raise `Interrupted`, but those that the caller ignores."""
    for number in _numbers():
        if signal.getsignal(number) in {signal.SIG_DFL, signal.default_int_handler}:
            signal.signal(number, _interrupt)
    sys.unraisablehook = _raise_again


def check() -> None:
    """Raise `Interrupted` in place of an error that a library made of it.

    Raises:
        Interrupted: if there was a signal.
    """
    if Interrupted.received:
        raise Interrupted(Interrupted.received)


def _numbers() -> list[int]:
    return [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]


def _interrupt(number: int, frame: FrameType | None) -> None:
    if _is_starting(frame) and hasattr(signal, "setitimer"):
        _again(number)
        return
    for other in _numbers():  # a second one would interrupt the removal of what is unfinished
        signal.signal(other, signal.SIG_IGN)
    Interrupted.received = number
    raise Interrupted(number)


def _is_starting(frame: FrameType | None) -> bool:
    """Whether a module of Polars or NumPy is being looked for or run."""
    while frame is not None:
        name = ""
        if frame.f_code.co_name == "_find_and_load":
            name = frame.f_locals.get("name") or ""
        elif frame.f_code.co_name == "<module>":
            name = frame.f_globals.get("__name__") or ""
        if name.partition(".")[0] in _LIBRARIES:
            return True
        frame = frame.f_back
    return False


def _raise_again(dropped: Any) -> None:
    if not isinstance(dropped.exc_value, Interrupted | KeyboardInterrupt):
        sys.__unraisablehook__(dropped)
    elif hasattr(signal, "setitimer"):
        _again(getattr(dropped.exc_value, "number", signal.SIGINT))


def _again(number: int) -> None:
    """Interrupt a moment later."""
    signal.signal(signal.SIGALRM, lambda _, frame: _interrupt(number, frame))
    signal.setitimer(signal.ITIMER_REAL, _SOON)


def end(number: int) -> NoReturn:
    """End the process as the signal does, so that its caller sees it."""
    if os.name == "posix":
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(128 + number)
