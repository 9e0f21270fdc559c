"""The outputs whose JSON has other members than the results of commands, member by member.

Schemas are made of them (`docs.make.schemas`); the fields of results are the members of all others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from hlteval.findings import Item
from hlteval.reports.lists import (
    CodeDescription,
    FormatDescription,
    SchemaDescription,
    TaskDescription,
)
from hlteval.results.evaluation import Best
from hlteval.results.verdict import Count, Counts, Defaults, Outcome, Profile

Level = Literal["error", "warning", "info"]


class VerdictOutput(msgspec.Struct, kw_only=True):
    """Whether a submission is valid, and every problem of it, its reference and other files.

    Attributes:
        task: name of the task; empty for findings without a task, as those of a manifest.
        profile: `plan` or `official`; empty without a task.
        side: whose verdict it is; findings of other sides do not make it fail.
        documents: the number of documents that were read of what is judged; null if nothing was.
        records: the number of their records, such as mentions, frames, segments or tokens, with
            those that cannot be read; null if nothing was read.
        compared: what the records were compared with, where that depends on the arguments.
        defaults: the settings from a file of defaults, if any.
        counts: the number of findings by severity, code and side.
        findings: the findings of all sides, sorted by side, file, line, column and code.
        verdict: whether it is valid in that profile; `undecided` if what it is checked against
            cannot be used.
    """

    task: str
    profile: Literal["plan", "official", ""]
    side: str
    documents: Count | None
    records: Count | None
    counts: Counts
    findings: tuple[Item, ...]
    compared: str | UnsetType = UNSET
    defaults: Defaults | UnsetType = UNSET
    verdict: Outcome


class RefusalOutput(VerdictOutput, kw_only=True):
    """Why nothing was scored or compared: the verdict, which is `refused`, with all findings.

    Attributes:
        verdict: `refused`.
        reason: why nothing was scored, in one line.
        help: what to do, in one line.
    """

    verdict: Literal["refused"]  # type: ignore[assignment]
    reason: str
    help: str


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
        tasks: paths of files that declare tasks, by the names that these have here.
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
    tasks: Mapping[str, str] | UnsetType = UNSET


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


class BestOutput(msgspec.Struct):
    """The best submission of each team to each task, by language, condition and checkpoint.

    Attributes:
        best: the submissions.
    """

    best: tuple[Best, ...]


class TasksOutput(msgspec.Struct):
    """The tasks, or one of them.

    Attributes:
        tasks: the tasks.
    """

    tasks: tuple[TaskDescription, ...]


class FormatsOutput(msgspec.Struct):
    """The formats and what they support.

    Attributes:
        formats: the formats.
    """

    formats: tuple[FormatDescription, ...]


class CodesOutput(msgspec.Struct):
    """The codes of findings that begin with some letters, or one of them.

    Attributes:
        codes: the codes, sorted.
    """

    codes: tuple[CodeDescription, ...]


class SchemasOutput(msgspec.Struct):
    """The schemas that there are.

    Attributes:
        schemas: the schemas.
    """

    schemas: tuple[SchemaDescription, ...]
