"""Rules over a submission as a package of files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from hlteval.findings import Finding, finding
from hlteval.sources import Member, Source


class Package(Protocol):
    """A submission beside the documents it is for; see `hlteval.tasks.task.Package`."""

    @property
    def submission(self) -> Source:
        """What was submitted."""

    @property
    def found(self) -> Mapping[str, tuple[Member, ...]]:
        """Its files with predictions, by document."""

    @property
    def reference(self) -> Source | None:
        """What it is checked against."""

    @property
    def expected(self) -> Mapping[str, tuple[Member, ...]]:
        """The files of the reference, by document."""


def documents(package: Package, code: str) -> Iterator[Finding]:
    """A finding of some code where a submission has members, but none that is a document."""
    if package.submission.members and not package.found:
        yield finding(code, file=package.submission.path)
