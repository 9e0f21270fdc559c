"""Packages as values: an archive that was packed, and one that was looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from hlteval.findings import Findings, Severity
from hlteval.findings.counts import counted
from hlteval.results.verdict import Verdict
from hlteval.results.versions import head
from hlteval.sources import Listed


class PackedArchive(msgspec.Struct, frozen=True, kw_only=True):
    """A submission that was packed, or the reason why it was not.

    Attributes:
        path: the archive; None if nothing was written.
        verdict: the verdict of validation over the archive, with what packing left out or made.
        size: of the archive in bytes.
        sha256: its digest.
        members: its files.
    """

    path: str | None
    verdict: Verdict
    size: int = 0
    sha256: str = ""
    members: tuple[Listed, ...] = ()


class Guess(msgspec.Struct, frozen=True):
    """A task that a submission may be for.

    Attributes:
        task: its name.
        reasons: what indicates it.
    """

    task: str
    reasons: tuple[str, ...]


class Inspection(msgspec.Struct, frozen=True, kw_only=True):
    """Content of an archive, without a reference.

    Attributes:
        path: its path.
        kind: `zip`, `tgz`, `folder`, `file` or `stdin`.
        size: of the archive in bytes; None of a folder and of standard input.
        sha256: its digest, likewise.
        members: all that its list names, also if nothing of it may be read.
        tasks: the tasks that it may be for, the likeliest first.
        name: the parts of its name by what they are, if it has the form of the likeliest task.
        findings: its problems as a package.
        readable: whether its files may be read at all.
    """

    path: str
    kind: str
    size: int | None
    sha256: str | None
    members: tuple[Listed, ...] = ()
    tasks: tuple[Guess, ...] = ()
    name: Mapping[str, str] = {}
    findings: Findings = Findings()
    readable: bool = True

    @property
    def unpacked(self) -> int:
        """The size of all files in bytes, as the archive states it.

        Examples:
            >>> listed = (Listed("d1.a2", "file", 20), Listed("d2.a2", "file", 22))
            >>> Inspection(path="a.zip", kind="zip", size=9, sha256="", members=listed).unpacked
            42
        """
        return sum(member.size for member in self.members)

    @property
    def likeliest(self) -> tuple[str, ...]:
        """The tasks for which there are the most reasons.

        Examples:
            >>> guesses = (Guess("seedev-binary", ("a",)), Guess("seedev-full", ("a",)))
            >>> Inspection(path="", kind="zip", size=0, sha256="", tasks=guesses).likeliest
            ('seedev-binary', 'seedev-full')
        """
        most = max((len(guess.reasons) for guess in self.tasks), default=0)
        return tuple(guess.task for guess in self.tasks if len(guess.reasons) == most)

    @property
    def passed(self) -> bool:
        """Whether nothing is an error."""
        return not any(finding.severity == Severity.ERROR for finding in self.findings)

    def __repr__(self) -> str:
        tasks = ", ".join(guess.task for guess in self.tasks) or "no task"
        members = counted(len(self.members), "member")
        return f"<Inspection: {self.path}, {self.kind}, {members}; {tasks}>"

    def to_dict(self) -> dict[str, Any]:
        """The inspection in plain types, as `hlteval inspect --format json` prints it."""
        built: dict[str, Any] = {**head("inspection"), "path": self.path, "kind": self.kind}
        built |= {"readable": self.readable}
        built |= {"size": self.size, "unpacked": self.unpacked, "sha256": self.sha256}
        built |= {"tasks": msgspec.to_builtins([*self.tasks]), "name": dict(self.name)}
        built |= {"members": msgspec.to_builtins([*self.members])}
        return {**built, "findings": self.findings.to_dict()}
