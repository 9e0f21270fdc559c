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
from hlteval.workflows.run.verdicts import Selection

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
    opened = open_submission(task, path, **{**arguments, "max_per_code": 0})
    if target is not None:
        _check_target(opened.system, target, arguments.get("against"))
    chosen = selection or Selection()
    work = _Corrector(opened, arguments.get("profile", "plan"), chosen, unsafe=unsafe)
    files = work.files()
    fixes = tuple(files.fixes)
    readable = not worst(opened.system.findings)
    if fixes and target:
        try:
            with writing(Path(target)) as unfinished:
                pack(files.fixed, unfinished)
        except Unreadable:
            readable = False
    if not readable:
        judged = work.verdict(opened.system, chosen=True)
        return FixedCopy(path=None, verdict=judged, readable=False)
    unfixed = tuple(work.unfixed(files))
    if not fixes or target is None:
        judged = work.verdict(files.fixed, chosen=True)
        changes = tuple(files.changes()) if target is None else ()
        return FixedCopy(path=None, verdict=judged, fixes=fixes, unfixed=unfixed, changes=changes)
    judged = validate_all(task, [target], selection=chosen, fail_on=fail_on, step=step, **arguments)
    return FixedCopy(path=target, verdict=judged, fixes=fixes, unfixed=unfixed)


class Choice(Protocol):
    """A choice of findings, such as a `Selection`."""

    def of(self, findings: Iterable[Finding], /) -> list[Finding]:
        """Return the chosen ones of some findings."""


def corrections(
    opened: Submission, profile: str, chosen: Choice, *, unsafe: bool = False
) -> FixedFiles:
    """Correct what can be corrected of the chosen findings, and return the files.

    Args:
        opened: the submission, and what it is checked against.
        profile: `plan` or `official`.
        chosen: the findings that are corrected.
        unsafe: whether values may change.
    """
    return _Corrector(opened, profile, chosen, unsafe=unsafe).files()


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


@dataclass(frozen=True)
class _Corrector:
    """The correction of a submission.

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

    def verdict(self, source: Source, *, chosen: bool = False) -> Verdict:
        """Judge a source in place of the submission, with all findings or the selected ones."""
        verdict = judge(replace(self.opened, system=source), profile=self.profile)
        if not chosen:
            return verdict
        findings = tuple(self.selection.of(verdict.findings))
        return msgspec.structs.replace(verdict, findings=findings)

    def files(self) -> FixedFiles:
        """Correct in rounds until nothing changes, withdraw what did not help, then whole files.

        Whole files are last, since their lines do not change any more.
        """
        files = FixedFiles(self.opened.system, self.opened.format)
        if worst(self.opened.system.findings):
            return files
        first = current = self._findings(files)
        for _ in range(ROUNDS):
            if not files.apply(self._candidates(current)):
                break
            current = self._findings(files)
        while files.withdraw(self._without_success(files, first, current)):
            current = self._findings(files)
        opened = replace(self.opened, system=files.fixed)
        for finding in self._candidates(current):
            if FIXERS[entry(finding.code).fixer].scope == "rule":
                places = rewrites(opened, self.profile, finding.code)
                for file in [finding.file] if finding.file else sorted({p.file for p in places}):
                    files.rewrite(finding, file, [place for place in places if place.file == file])
        return files

    def _findings(self, files: FixedFiles) -> tuple[Finding, ...]:
        """The findings of the submission as it is corrected."""
        findings = self.verdict(files.fixed).findings
        return tuple(finding for finding in findings if finding.side == self.opened.role)

    def _candidates(self, findings: Iterable[Finding]) -> list[Finding]:
        chosen = fixable(self.selection.of(findings))
        return [finding for finding in chosen if not self._hindrance(finding)]

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
        """Report what is left although it has a fixer."""
        left = fixable(self.selection.of(self._findings(files)))
        groups = Counter((item.code, item.file, self._hindrance(item) or UNSURE) for item in left)
        for (code, file, reason), count in sorted(groups.items(), key=str):
            yield Unfixed(code=code, file=file, count=count, reason=reason)

    def _hindrance(self, finding: Finding) -> str:
        """Return why a finding is not to be corrected; empty if it is."""
        fixer = entry(finding.code).fixer
        if fixer == "line-ends" and "documents.text" in self.opened.format.carries:
            return "the offsets of annotations would shift"
        if FIXERS[fixer].unsafe and not self.unsafe:
            return "the values would change; --unsafe-fixes allows it"
        return ""
