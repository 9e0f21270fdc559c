"""Orders: what a job is asked to do, and what comes of it, as values that go between processes."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

ORDER, OUTCOME = "order.json", "outcome.json"
"""The files of a job that have them."""
INPUT, OUTPUT, LINKS, SCRATCH = "input", "output", "given", "scratch"
"""The folders of a job: uploaded files, what is made of them, inputs of the organiser, the rest."""
SUBMISSION, REFERENCE, SECOND = "submission", "reference", "second"
"""The inputs of a job; those of options have the name of the option after `OPTION`."""
OPTION = "option-"


class Upload(msgspec.Struct, frozen=True):
    """An uploaded file.

    Attributes:
        name: as the browser gave it, with folders; it is never the name of a file here.
        size: in bytes.
        file: its number in the folder `INPUT`; empty where it was too large to be kept.
    """

    name: str
    size: int
    file: str = ""


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What a job is asked to do.

    Attributes:
        task: name of the task.
        profile: `plan` or `official`.
        encoding: of the files.
        lenient: whether to score in spite of blocking findings.
        intervals: whether scores have confidence intervals.
        options: values of the options of the task that are no files, by name.
        uploads: the uploaded files by input.
        given: inputs of the organiser: the name of each in the folder `LINKS`, by input.
    """

    task: str
    profile: str = "plan"
    encoding: str = "utf-8"
    lenient: bool = False
    intervals: bool = False
    options: dict[str, str] = {}
    uploads: dict[str, tuple[Upload, ...]] = {}
    given: dict[str, str] = {}


class Download(msgspec.Struct, frozen=True):
    """A file to download.

    Attributes:
        key: in its URL.
        label: on its link.
        file: its name in the folder `OUTPUT`.
        name: that the browser saves it under.
    """

    key: str
    label: str
    file: str
    name: str


class Part(msgspec.Struct, frozen=True):
    """A report, with what is seen before it is opened.

    Attributes:
        key: in its URL.
        title: on its tab.
        outcome: `pass`, `fail`, `undecided`, `refused` or nothing.
        facts: names and values.
        file: the report in the folder `OUTPUT`.
        downloads: what can be saved.
    """

    key: str
    title: str
    outcome: str
    facts: tuple[tuple[str, str], ...]
    file: str
    downloads: tuple[Download, ...] = ()


class Outcome(msgspec.Struct, frozen=True):
    """What came of a job.

    Attributes:
        parts: the reports.
        error: why there is no more, for people; empty if nothing is missing.
        bug: the kind and place of an internal error, for the terminal of the server.
    """

    parts: tuple[Part, ...] = ()
    error: str = ""
    bug: str = ""


class Progress(msgspec.Struct, frozen=True):
    """How far a job is.

    Attributes:
        phase: what is being done.
        done: the documents that are done.
        total: of these; None if that is unknown.
    """

    phase: Literal["starting", "checking", "scoring", "comparing", "fixing"] = "starting"
    done: int = 0
    total: int | None = None


def read_order(folder: Path) -> Order:
    """The order of a job."""
    return msgspec.json.decode((folder / ORDER).read_bytes(), type=Order)


def read_outcome(folder: Path) -> Outcome:
    """The outcome of a job.

    Raises:
        OSError: if there is none.
        msgspec.DecodeError: if it is not complete.
    """
    return msgspec.json.decode((folder / OUTCOME).read_bytes(), type=Outcome)


def write_value(path: Path, value: msgspec.Struct) -> None:
    """Write an order or an outcome."""
    path.write_bytes(msgspec.json.encode(value))
