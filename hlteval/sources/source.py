"""Sources: what a user names on the command line, as a list of members that can be read."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from hlteval.findings import Finding


@dataclass(frozen=True, slots=True)
class Member:
    """One file of a source.

    `name` is its path inside the source, with `/`, and empty where the source is that very file;
    `display` is how findings name it; `size` is in bytes, and None in a folder, where it would cost
    as much as reading; `fetch` gives its bytes, may be called again, and raises `Unreadable`;
    `encoding` is what they are read in where they are text.
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
    """A member cannot be read; `finding` says why. Readers catch it and go on."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


@dataclass(frozen=True, slots=True)
class Source:
    """A folder, a file, an archive or standard input.

    Attributes:
        path: as the user wrote it.
        kind: `folder`, `file`, `zip`, `tgz` or `stdin`.
        members: its files, sorted by name.
        findings: what was wrong with it as a package.
    """

    path: str
    kind: str
    members: tuple[Member, ...]
    findings: tuple[Finding, ...] = ()

    def encoded(self, encoding: str) -> Source:
        """The same source with its files in another encoding.

        Raises:
            LookupError: if there is no such encoding.
        """
        codecs.lookup(encoding)
        return replace(self, members=tuple(replace(m, encoding=encoding) for m in self.members))

    def only(self, members: Iterable[Member]) -> Source:
        """The same source with some of its members, and without findings."""
        return replace(self, members=tuple(members), findings=())
