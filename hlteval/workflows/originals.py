"""Files of the inputs of a conversion beside what was written of them in the same format."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hlteval.findings import Finding, finding
from hlteval.sources import Member, sha256
from hlteval.workflows.inputs import Input
from hlteval.workflows.layout import joined_lines, not_kept


@dataclass(frozen=True)
class Originals:
    """The files of the inputs that have the format of the output.

    Attributes:
        inputs: the inputs.
        digests: name and SHA-256 digest of each such file.
    """

    inputs: Sequence[Input]
    digests: Collection[tuple[str, str]]

    def relaid(self, output: Path) -> Iterable[Finding]:
        """Files of the same format that are written with other bytes."""
        # Members are data of a saved corpus: only what was written is opened, whatever they name.
        files = (file for file in output.rglob("*") if file.is_file())
        written = {file.relative_to(output).as_posix(): file for file in files}
        if output.is_file() and len(self.digests) > 1:
            yield from self.relaid_together(output)
            return
        single = output if output.is_file() else None
        for member, digest in self.digests:
            file = single or written.get(member) or written.get(member.rpartition("/")[2])
            if digest and file and sha256(data := file.read_bytes()) != digest:
                how = self.layout(member, digest, data)
                yield finding("CNV102", file=member or None, member=member or "file", how=how)

    def relaid_together(self, output: Path) -> Iterable[Finding]:
        """Files of the same format that are written to one file with other bytes."""
        found = [self.original(*key) for key in self.digests]
        before, after = [data for data in found if data is not None], output.read_bytes()
        if len(before) == len(found) and joined_lines(before) != after:
            what = f"each of {len(before)} files"
            yield finding("CNV102", member=what, how=not_kept(before, after))

    def layout(self, name: str, digest: str, written: bytes) -> str:
        """How what was written differs from the file of the inputs with a name and a digest."""
        data = self.original(name, digest)
        return "but different bytes" if data is None else not_kept([data], written)

    def original(self, name: str, digest: str) -> bytes | None:
        """The file of the inputs with a name and a digest, if there is one."""
        for member in self.members_by_name.get(name.rpartition("/")[2], ()):
            if sha256(data := member.fetch()) == digest:
                return data
        return None

    @cached_property
    def members_by_name(self) -> Mapping[str, Sequence[Member]]:
        """The files of the inputs by the last part of their names."""
        found: dict[str, list[Member]] = {}
        for each in self.inputs:
            for member in each.source.members:
                found.setdefault(member.basename, []).append(member)
        return found
