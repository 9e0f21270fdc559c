"""Fixing: a corrected copy of a submission, for what can be corrected mechanically."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import msgspec

from hlteval.findings import Finding, Severity, entry
from hlteval.findings.fixers import FIXERS
from hlteval.results.verdict import FixedCopy, Unfixed, Verdict
from hlteval.sources import Source, Unreadable, writing
from hlteval.sources.writing import check_name, check_outputs, pack, resolved, suffix_problem
from hlteval.tasks.task import WrongOption
from hlteval.workflows.fix.files import FixedFiles, fixable, rewrites, worst
from hlteval.workflows.processes.batches import Step, silent
from hlteval.workflows.run.batches import Submission
from hlteval.workflows.run.engine import judge, open_submission, validate_all
from hlteval.workflows.run.request import Request, Selection

UNSURE = "the right correction is not certain"
ROUNDS = 5
"""Most rounds of corrections: one may show what the next corrects, such as a second missing tab."""


def fix(
    task: str,
    path: str,
    target: str | None,
    *,
    selection: Selection | None = None,
    fail_on: str = "error",
    unsafe: bool = False,
    step: Step = silent,
    **arguments: Any,
) -> FixedCopy:
    """Write a corrected copy of a submission, and validate it.

    Only findings with a fixer are corrected, and only where the correction is certain; all other
    bytes of the files stay the same. Hidden and system files are left out. No copy is written if
    there is nothing to correct, or if the submission cannot be read.

    Args:
        task: name of the task.
        path: the submission, as for `validate`.
        target: path of the copy, which is of the same kind as the submission; None to show what
            would change, as a unified diff, and write nothing.
        selection: the findings that are corrected and reported.
        fail_on: as for `validate_all`.
        unsafe: whether corrections that change values are made too.
        step: called after each batch of the copy, as for `validate`.
        **arguments: further arguments of `validate`.

    Raises:
        FileExistsError: if the target exists, or is inside what is read.
        WrongOption: if the target has the suffix of another kind.
    """
    opened = open_submission(Request(task, path, **{**arguments, "max_per_code": 0}))
    if target is not None:
        _check_target(opened.system, target, arguments.get("against"))
    chosen = selection or Selection()
    work = _Work(opened, arguments.get("profile", "plan"), chosen, unsafe=unsafe)
    files = corrections(opened, work.profile, chosen, unsafe=unsafe)
    fixes = tuple(files.fixes)
    if worst(opened.system.findings) or (fixes and target and not _write(files.fixed, target)):
        judged = work.selected(work.verdict(opened.system))
        return FixedCopy(path=None, verdict=judged, readable=False)
    unfixed = tuple(work.unfixed(files))
    if not fixes or target is None:
        judged = work.selected(work.verdict(files.fixed))
        changes = tuple(files.changes()) if target is None else ()
        return FixedCopy(path=None, verdict=judged, fixes=fixes, unfixed=unfixed, changes=changes)
    request = Request(task, target, selection=chosen, fail_on=fail_on, step=step, **arguments)
    judged = validate_all(request, [target])
    return FixedCopy(path=target, verdict=judged, fixes=fixes, unfixed=unfixed)


class Choice(Protocol):
    """A choice of findings, such as a `Selection`."""

    def of(self, findings: Iterable[Finding], /) -> list[Finding]:
        """Those of some findings that are chosen."""


def corrections(
    opened: Submission, profile: str, chosen: Choice, *, unsafe: bool = False
) -> FixedFiles:
    """The files of a submission with what can be corrected of the chosen findings.

    Args:
        opened: the submission, and what it is checked against.
        profile: `plan` or `official`.
        chosen: the findings that are corrected.
        unsafe: whether values may change.
    """
    files = FixedFiles(opened.system, opened.format)
    if not worst(opened.system.findings):
        _Work(opened, profile, chosen, unsafe=unsafe).correct(files)
    return files


def _check_target(source: Source, target: str, against: str | None) -> None:
    path = Path(target)
    check_name(path)
    if os.path.lexists(path):
        raise FileExistsError(f"{target} exists; --fix writes a new copy")
    check_outputs([target], [source.path, *filter(None, [against])])
    if problem := suffix_problem(source, target):
        raise WrongOption(f"invalid --fix {target}: {problem}")
    if not resolved(path).parent.is_dir():
        raise FileNotFoundError(f"no folder {path.parent}")


def _write(source: Source, target: str) -> bool:
    """Write the copy, and return whether all its files could be read."""
    try:
        with writing(Path(target)) as unfinished:
            pack(source, unfinished)
    except Unreadable:
        return False
    return True


@dataclass(frozen=True)
class _Work:
    """What does not change while a submission is corrected.

    Attributes:
        opened: the submission and its reference.
        profile: `plan` or `official`.
        selection: the findings that are corrected.
        unsafe: whether values may change.
    """

    opened: Submission
    profile: str
    selection: Choice
    unsafe: bool = False

    def verdict(self, source: Source) -> Verdict:
        """The verdict over a source in place of the submission."""
        opened = replace(self.opened, system=source)
        return judge(opened, profile=self.profile)

    def selected(self, verdict: Verdict) -> Verdict:
        """A verdict with the selected findings."""
        return msgspec.structs.replace(verdict, findings=tuple(self._own(verdict.findings)))

    def _own(self, findings: Iterable[Finding]) -> list[Finding]:
        return self.selection.of(findings)

    def correct(self, files: FixedFiles) -> None:
        """Correct in rounds until nothing changes, then withdraw what did not help."""
        first = current = self.findings(files)
        for _ in range(ROUNDS):
            if not files.apply(self._candidates(current)):
                break
            current = self.findings(files)
        while files.withdraw(self._without_success(files, first, current)):
            current = self.findings(files)
        self._rewrite(files, current)

    def _rewrite(self, files: FixedFiles, findings: Iterable[Finding]) -> None:
        """Correct what is wrong in whole files, last: their lines do not change any more."""
        opened = replace(self.opened, system=files.fixed)
        for finding in self._candidates(findings):
            if FIXERS[entry(finding.code).fixer].scope == "rule":
                places = rewrites(opened, self.profile, finding.code)
                for file in [finding.file] if finding.file else sorted({p.file for p in places}):
                    files.rewrite(finding, file, [place for place in places if place.file == file])

    def findings(self, files: FixedFiles) -> tuple[Finding, ...]:
        """The findings of the submission as it is corrected."""
        found = self.verdict(files.fixed).findings
        return tuple(finding for finding in found if finding.side == self.opened.role)

    def _candidates(self, findings: Iterable[Finding]) -> list[Finding]:
        return [item for item in fixable(self._own(findings)) if not self._reason(item)]

    def shifts(self, finding: Finding) -> bool:
        """Whether a correction would shift the offsets of annotations."""
        texts = "documents.text" in self.opened.format.carries
        return texts and entry(finding.code).fixer == "line-ends"

    def _without_success(
        self, files: FixedFiles, first: Iterable[Finding], current: Iterable[Finding]
    ) -> Iterator[tuple[str | None, int]]:
        """The places where a finding is left, or where the reader has a new error or warning."""
        known = {(*files.place(finding), finding.code) for finding in first}
        tried = {(fix.file, fix.line, fix.code) for fix in files.fixes}
        for finding in current:
            place = (*files.place(finding), finding.code)
            read = finding.code.startswith(self.opened.format.codes)
            read = read and finding.severity is not Severity.INFO  # it may have been hidden
            if place in tried or (read and place not in known):
                yield place[:2]

    def unfixed(self, files: FixedFiles) -> Iterator[Unfixed]:
        """What is left although it has a fixer."""
        left = fixable(self._own(self.findings(files)))
        groups = Counter((item.code, item.file, self._reason(item) or UNSURE) for item in left)
        for (code, file, reason), count in sorted(groups.items(), key=str):
            yield Unfixed(code=code, file=file, count=count, reason=reason)

    def _reason(self, finding: Finding) -> str:
        """Why a finding is not to be corrected; empty if it is."""
        if self.shifts(finding):
            return "the offsets of annotations would shift"
        if FIXERS[entry(finding.code).fixer].unsafe and not self.unsafe:
            return "the values would change; --unsafe-fixes allows it"
        return ""
