"""Functions of graphs, some of which end their process, as a lack of memory does."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path


def join(*texts: str) -> str:
    """All texts."""
    return "+".join(texts)


def wrong(text: str) -> str:
    """An error of the program."""
    raise KeyError(text)


def end(_: str) -> None:
    """End this process."""
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def once(path: str, text: str) -> str:
    """End this process, but only the first time; the file is the sign that it was."""
    try:
        Path(path).touch(exist_ok=False)
    except FileExistsError:
        return text
    end(text)
    return text
