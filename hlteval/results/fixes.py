"""Corrections of a submission as values."""

from __future__ import annotations

import msgspec

from hlteval.results.verdict import Verdict


class Fix(msgspec.Struct, frozen=True, kw_only=True):
    """One correction in a copy.

    Attributes:
        code: code of the finding that it corrects.
        file: the file, as in the findings of the original; None for all files.
        line: number of the line in the original; None for the whole file.
        title: what was done.
        count: at how many places of the file; 1 for a line.
    """

    code: str
    file: str | None
    line: int | None
    title: str
    count: int = 1


class Unfixed(msgspec.Struct, frozen=True, kw_only=True):
    """Findings that could be corrected mechanically, but were not.

    Attributes:
        code: their code.
        file: the file, as in the findings of the original.
        count: their number in this file.
        reason: why they are left.
    """

    code: str
    file: str | None
    count: int
    reason: str


class FixedCopy(msgspec.Struct, frozen=True, kw_only=True):
    """A corrected copy of a submission.

    Attributes:
        path: where it is; None if none is written.
        verdict: the verdict over the copy; over the original if there is no copy.
        fixes: what was corrected, in the order of files and lines.
        unfixed: what was left although it has a fixer.
        changes: the lines of a unified diff, where no copy was wanted.
        readable: whether the submission can be read.
    """

    path: str | None
    verdict: Verdict
    fixes: tuple[Fix, ...] = ()
    unfixed: tuple[Unfixed, ...] = ()
    changes: tuple[str, ...] = ()
    readable: bool = True
