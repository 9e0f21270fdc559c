"""The outputs of `validate`, `pack`, `inspect`, `convert` and `config`, member by member."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from hlteval.findings import Item
from hlteval.reports.schemas.shared import Count, Counts, Profile, VerdictMembers
from hlteval.results.conversion import ConvertedInput, Loss
from hlteval.results.fixes import Fix, Unfixed
from hlteval.results.packages import Guess
from hlteval.results.verdict import Outcome
from hlteval.sources import Listed

Level = Literal["error", "warning", "info"]


class VerdictOutput(VerdictMembers, kw_only=True):
    """Whether a submission is valid, and every problem of it, its reference and other files.

    Attributes:
        verdict: whether it is valid in that profile; `undecided` if what it is checked against
            cannot be used.
    """

    verdict: Outcome


class RefusalOutput(VerdictMembers, kw_only=True):
    """Why nothing was scored or compared: the verdict, which is `refused`, with all findings.

    Attributes:
        verdict: `refused`.
        reason: why nothing was scored, in one line.
        help: what to do, in one line.
    """

    verdict: Literal["refused"]
    reason: str
    help: str


class FixedCopyOutput(VerdictOutput, kw_only=True):
    """The verdict over a corrected copy of a submission, and what was corrected.

    Attributes:
        copy: path of the copy; null if none could be written, then the verdict is over the
            original.
        fixes: what was corrected, in the order of files and lines.
        unfixed: the remaining problems that a fixer exists for.
    """

    copy: str | None
    fixes: tuple[Fix, ...]
    unfixed: tuple[Unfixed, ...]


class PackageOutput(VerdictOutput, kw_only=True):
    """The verdict over a submission that was packed, and its archive.

    Attributes:
        archive: path of the archive; null if nothing was written.
        size: size of the archive in bytes; 0 if nothing was written.
        sha256: SHA-256 digest of the archive, 64 hexadecimal digits; empty if nothing was written.
        members: the members of the archive.
    """

    archive: str | None
    size: Count
    sha256: str
    members: tuple[Listed, ...]


class ConversionOutput(msgspec.Struct):
    """What a conversion read, wrote and lost.

    Attributes:
        inputs: what was read.
        output: path that was written to; `-` for standard output.
        format: format of the output.
        written: whether the output was written.
        documents: the number of documents that were read.
        contents: what was found in them: numbers by the words of the input formats.
        losses: what the output format cannot represent.
        files: the files that were written, if they are not standard output.
        counts: the number of findings by severity, code and side.
        findings: about the inputs and the losses.
    """

    inputs: tuple[ConvertedInput, ...]
    output: str
    format: str
    written: bool
    documents: Count
    contents: Mapping[str, Count]
    losses: tuple[Loss, ...]
    files: tuple[Listed, ...]
    counts: Counts
    findings: tuple[Item, ...]


class InspectionOutput(msgspec.Struct):
    """What an archive, a folder or a file is, without a reference.

    Attributes:
        path: its path.
        kind: what it is.
        readable: whether its files may be read at all.
        size: size of the archive in bytes; null of a folder and of standard input.
        unpacked: size of all files in bytes, as the archive states it.
        sha256: SHA-256 digest, 64 hexadecimal digits; null of a folder and of standard input.
        tasks: the tasks that it may be for, the likeliest first.
        name: the parts of its name by what they are, if it has the form of the likeliest task.
        members: everything that its list names, also if nothing of it may be read.
        findings: its problems as a package.
    """

    path: str
    kind: Literal["zip", "tgz", "folder", "file", "stdin"]
    readable: bool
    size: Count | None
    unpacked: Count
    sha256: str | None
    tasks: tuple[Guess, ...]
    name: Mapping[str, str]
    members: tuple[Listed, ...]
    findings: tuple[Item, ...]


class FolderDefaults(msgspec.Struct, rename="kebab"):
    """The settings of a file of defaults; paths are relative to the working directory.

    Attributes:
        task: name of the task.
        reference: path of the reference.
        against: path of the documents of the task.
        profile: `plan` or `official`.
        encoding: encoding of the files.
        fail_on: lowest severity with which validation fails.
        select: the only codes that are reported, or their first letters.
        ignore: codes that are not reported, or their first letters.
        severity: other severities, by code or its first letters.
        options: values of options of the task, by name with underscores for hyphens.
    """

    task: str | UnsetType = UNSET
    reference: str | UnsetType = UNSET
    against: str | UnsetType = UNSET
    profile: Profile | UnsetType = UNSET
    encoding: str | UnsetType = UNSET
    fail_on: Level | UnsetType = UNSET
    select: tuple[str, ...] | UnsetType = UNSET
    ignore: tuple[str, ...] | UnsetType = UNSET
    severity: Mapping[str, Level] | UnsetType = UNSET
    options: Mapping[str, Any] | UnsetType = UNSET


class DefaultsOutput(msgspec.Struct):
    """The file of defaults that applies to a submission, and what is wrong with it.

    Attributes:
        file: path of the file; null if none applies.
        defaults: its settings; none if it has errors.
        commands: the names of the settings that each command takes, by command.
        findings: what is wrong with the file.
    """

    file: str | None
    defaults: FolderDefaults
    commands: Mapping[str, tuple[str, ...]]
    findings: tuple[Item, ...]
