"""Sources: paths of the command line as lists of members."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from hlteval.findings import Finding


@dataclass(frozen=True, slots=True)
class Member:
    """One file of a source.

    Attributes:
        name: path inside the source, with `/`; empty if the source is a single file.
        display: name in findings.
        size: size in bytes; None in a folder, where looking it up takes as long as reading.
        fetch: function that returns the bytes, as often as it is called; raises `Unreadable`.
        encoding: encoding of the text.
    """

    name: str
    display: str
    size: int | None
    fetch: Callable[[], bytes] = field(repr=False, compare=False)
    encoding: str = "utf-8"

    @property
    def basename(self) -> str:
        """The name without its folders.

        Examples:
            >>> Member("out/d1.a2", "x.zip/out/d1.a2", 0, bytes).basename
            'd1.a2'
        """
        return (self.name or self.display).rpartition("/")[2]


class Unreadable(Exception):
    """A member cannot be read; `finding` is the reason. Readers catch it and continue."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


@dataclass(frozen=True, slots=True)
class Source:
    """A folder, a file, an archive or standard input.

    Attributes:
        path: path as written by the user.
        kind: `folder`, `file`, `zip`, `tgz` or `stdin`.
        members: the files, sorted by name.
        findings: problems of the source as a whole.
    """

    path: str
    kind: str
    members: tuple[Member, ...]
    findings: tuple[Finding, ...] = ()

    def with_encoding(self, encoding: str) -> Source:
        """The source with another encoding of its files.

        Raises:
            LookupError: for an unknown encoding.
        """
        codecs.lookup(encoding)
        return replace(self, members=tuple(replace(m, encoding=encoding) for m in self.members))

    def only(self, members: Iterable[Member]) -> Source:
        """The source with only some of its members, and without findings."""
        return replace(self, members=tuple(members), findings=())
