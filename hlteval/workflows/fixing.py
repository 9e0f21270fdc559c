"""Fixing: the files of a submission are corrected mechanically, and a copy of them is written."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, groupby
from pathlib import Path

import msgspec

from hlteval.converters import Format
from hlteval.findings import FieldRef, Finding, Severity, Span, entry
from hlteval.findings.fixers import FIXERS
from hlteval.findings.sequence import lists_by_key
from hlteval.results.verdict import Fix, FixedCopy, Unfixed, Verdict
from hlteval.sources import Member, Source, Unreadable, writing
from hlteval.sources.decoding import wide_encoding
from hlteval.sources.writing import check_name, check_outputs, pack, resolve_path, suffix_problem
from hlteval.syntax.tsv_mistakes import diagnose
from hlteval.tasks import rules
from hlteval.tasks.option_files import has_error
from hlteval.tasks.task import WrongOption
from hlteval.workflows.run.batches import Submission
from hlteval.workflows.run.checks import Check
from hlteval.workflows.run.engine import open_submission, validate_all
from hlteval.workflows.run.request import Request

#: Lines with the numbers that they had at first.
Lines = Iterable[tuple[int, str]]
#: What is put in place of spans, by file.
Rewrites = dict[str, list[tuple[Span, str]]]


def rewrites(opened: Submission, code: str) -> Rewrites:
    """Return the corrections of the problem of a rule; none if they are not certain.

    Args:
        opened: the submission.
        code: the code of the rule.
    """
    places: Rewrites = {}
    check = Check(opened, gold=False)
    fixing = [rule.rewrites for rule in rules(opened.task) if rule.code == code and rule.rewrites]
    for pair in chain.from_iterable(check.batches(None)):
        context = check.rule_context(pair)
        for rows in (rows for fix in fixing for rows in fix(context).partition_by("origin")):
            member = pair.system.members[rows["origin"][0]]
            fields = [FieldRef(*key) for key in rows.select("record", "field").iter_rows()]
            located = zip(opened.format.locate(member, fields), rows["put"], strict=True)
            spans = [(location.span, put) for location, put in located if location is not None]
            if spans:
                places.setdefault(member.display, []).extend(spans)
    return places


def _fix(finding: Finding, *, file: str | None = None, line: int = 0, count: int = 1) -> Fix:
    """Return the record of a correction; the line 0 is the whole file."""
    title = FIXERS[entry(finding.code).fixer].title
    name = file or finding.file
    return Fix(code=finding.code, file=name, line=line or None, title=title, count=count)


_BOM = "\ufeff"


@dataclass
class TextFile:
    """One text file: its byte order mark, and its lines by the numbers that they had at first.

    Attributes:
        mark: the byte order mark, or nothing.
        lines: the original number and the text of each line, without its line feed.
        changed: the original text of the changed lines, by number.
        fixes: what was corrected, by line and code; the line 0 is the file.
        wide: whether it is in UTF-16 or UTF-32, as its byte order mark says.
    """

    mark: str
    lines: list[tuple[int, str]]
    wide: bool = False
    changed: dict[int, str] = field(default_factory=dict)
    fixes: dict[tuple[int, str], Fix] = field(default_factory=dict)

    @classmethod
    def read(cls, member: Member) -> TextFile | None:
        """The text of a member; None if it cannot be read or is not what it would be written as."""
        try:
            data = member.fetch()
            wide = wide_encoding(data)
            text = data.decode(wide or member.encoding)
            if not wide and text.encode(member.encoding) != data:
                return None
        except (Unreadable, UnicodeError):
            return None
        mark = _BOM if text.startswith(_BOM) else ""
        lines = text.removeprefix(mark).split("\n")
        return cls(mark, list(enumerate(lines, start=1)), bool(wide))

    @property
    def text(self) -> str:
        """The text as it is now."""
        return self.mark + "\n".join(line for _, line in self.lines)

    def number(self, line: int) -> int:
        """The original number of a line of the present text; 0 if there is no such line."""
        return self.lines[line - 1][0] if 0 < line <= len(self.lines) else 0

    def fix(self, finding: Finding) -> bool:
        """Correct a finding, and return whether that changed anything."""
        name = entry(finding.code).fixer
        fixer, number, count = FIXERS[name], 0, 0
        if fixer.scope != "file":
            if finding.span is not None and fixer.line is not None:
                index = finding.span.line - 1
                number, line = self.lines[index]
                body = line.removesuffix("\r")
                fixed = fixer.line(body, finding)
                if fixed is not None:
                    self.changed.setdefault(number, line)
                    end = line[len(body) :]
                    self.lines[index : index + 1] = [(number, put + end) for put in fixed]
                    count = 1
        elif name == "utf-8":
            count, self.wide = int(self.wide), False
        elif name == "byte-order-mark":
            count, self.mark = len(self.mark), ""
        elif fixer.file:
            text = fixer.file(self.text)
            if text is not None:
                self.lines = list(enumerate(text.split("\n"), start=1))
                count = 1
        else:
            count = sum(line.endswith("\r") for _, line in self.lines)
            self.lines = [(number, line.removesuffix("\r")) for number, line in self.lines]
        if count:
            self.fixes[number, finding.code] = _fix(finding, line=number, count=count)
        return bool(count)

    def rewrite(self, form: Format, member: Member, findings: Sequence[Finding]) -> bool:
        """Undo mistakes in all rows of a table, and return whether that changed anything.

        Args:
            form: the format of the file.
            member: the file.
            findings: about the mistakes.
        """
        first = self.lines[0][1].removesuffix("\r")
        text = self.text.removeprefix(self.mark)
        mistakes = diagnose(text, form.tabular(member, first))
        codes = {finding.code for finding in findings}
        repaired = mistakes.repair(text, codes) if mistakes else None
        if not repaired:
            return False
        old = dict(self.lines)
        self.lines = [(self.lines[max(at, 1) - 1][0], line) for at, line in repaired]
        count = max(1, sum(old.get(number) != line for number, line in self.lines))
        for finding in findings:
            self.fixes[0, finding.code] = _fix(finding, count=count)
        return True

    def withdraw(self, number: int) -> None:
        """Put back the original text of a line."""
        old = self.changed.pop(number)
        if any(entry(code).fixer == "line-ends" for line, code in self.fixes if not line):
            old = old.removesuffix("\r")
        self.lines = [(n, old if n == number else line) for n, line in self.lines]
        for key in [key for key in self.fixes if key[0] == number]:
            del self.fixes[key]


@dataclass
class FixedFiles:
    """The files of a submission while they are corrected.

    Attributes:
        source: the original.
        form: its format.
        texts: the files with corrections, by their names in findings.
        withdrawn: corrections that did not help, by file, original line and code.
        junk: the finding about hidden and system files, if they are left out.
    """

    source: Source
    form: Format
    texts: dict[str, TextFile | None] = field(default_factory=dict)
    withdrawn: set[tuple[str, int, str]] = field(default_factory=set)
    junk: Finding | None = None

    @cached_property
    def members(self) -> Mapping[str, Member]:
        """The original files by their names in findings."""
        return {member.display: member for member in self.source.members}

    def text(self, file: str) -> TextFile | None:
        """The text of a file; None if it is not readable."""
        if file not in self.texts:
            self.texts[file] = TextFile.read(self.members[file]) if file in self.members else None
        return self.texts[file]

    def apply(self, findings: Iterable[Finding]) -> bool:
        """Correct what can be corrected, and return whether that changed anything.

        Findings are corrected from the end of a file, so that earlier places stay right.
        """
        ordered = sorted(findings, key=lambda finding: finding.order, reverse=True)
        whole = (item for item in ordered if FIXERS[entry(item.code).fixer].scope == "table")
        tables = lists_by_key((item.file, item) for item in whole if item.file)
        changes = [  # whose lines are corrected after that
            text.rewrite(self.form, self.members[file], mistakes)
            for file, mistakes in tables.items()
            if (text := self.text(file)) is not None
        ]
        changes += [self._apply(finding) for finding in ordered if finding.file not in tables]
        return any(changes)

    def _apply(self, finding: Finding) -> bool:
        scope = FIXERS[entry(finding.code).fixer].scope
        if scope == "rule":
            return False
        if scope == "files":
            new, self.junk = self.junk is None, finding
            return new
        text = self.text(finding.file) if finding.file else None
        if text is None or finding.file is None:
            return False
        number = text.number(finding.span.line) if finding.span else 0
        return (finding.file, number, finding.code) not in self.withdrawn and text.fix(finding)

    def rewrite(self, finding: Finding, file: str, places: Sequence[tuple[Span, str]]) -> None:
        """Correct a finding about a whole file, or about all files, at many places of a file."""
        text = self.text(file)
        if text is None or not places:
            return
        ordered = sorted(places, key=lambda place: (place[0].line, place[0].column))
        for span, put in reversed(ordered):
            number, line = text.lines[span.line - 1]
            new = line[: span.column - 1] + put + line[span.end_column - 1 :]
            text.lines[span.line - 1] = (number, new)
        text.fixes[0, finding.code] = _fix(finding, file=file, count=len(places))

    def place(self, finding: Finding) -> tuple[str | None, int]:
        """The file of a finding, and the original number of its line; 0 for the file."""
        text = self.texts.get(finding.file or "")
        line = finding.span.line if finding.span else 0
        return finding.file, text.number(line) if text and line else line

    def withdraw(self, places: Iterable[tuple[str | None, int]]) -> bool:
        """Undo the corrections of lines, and return whether there are any."""
        undone = False
        for file, number in set(places):
            text = self.texts.get(file or "")
            if file is None or text is None or number not in text.changed:
                continue
            codes = [code for line, code in text.fixes if line == number]
            self.withdrawn.update((file, number, code) for code in codes)
            text.withdraw(number)
            undone = True
        return undone

    def fixes(self) -> Iterator[Fix]:
        """Give the corrections, by file and line."""
        if self.junk is not None:
            yield _fix(self.junk)
        for _, text in sorted(self.texts.items()):
            yield from (fix for _, fix in sorted(text.fixes.items())) if text else ()

    def changes(self) -> Iterator[str]:
        """The lines of a unified diff, without context, from the files to the corrected ones."""
        for file, text in sorted(self.texts.items()):
            if text is not None and text.fixes:
                before = TextFile.read(self.members[file])
                yield from _difference(file, before.lines if before else [], text.lines)

    def result(self) -> Source:
        """Return the source with the corrected files."""
        texts = {name: text.text for name, text in self.texts.items() if text and text.fixes}
        kept = tuple(item for item in self.source.findings if item is not self.junk)
        return replace(self.source.with_texts(texts), findings=kept)


def _difference(file: str, before: Lines, after: Lines) -> Iterator[str]:
    r"""The lines of a unified diff between lines with their original numbers.

    Examples:
        >>> list(_difference("x", [(1, "a"), (2, "b")], [(1, "a"), (2, "c")]))
        ['--- x', '+++ x', '@@ -2,1 +2,1 @@', '-b', '+c']
    """
    runs = list(changed_runs(before, after))
    if runs:
        yield from (f"--- {file}", f"+++ {file}")
    shift = 0
    for first, old, new in runs:
        yield f"@@ -{first},{len(old)} +{first + shift},{len(new)} @@"
        yield from (f"-{line}" for line in old)
        yield from (f"+{line}" for line in new)
        shift += len(new) - len(old)


def changed_runs(before: Lines, after: Lines) -> Iterator[tuple[int, list[str], list[str]]]:
    """Yield the runs of lines that differ: the number of the first one, the old and the new lines.

    Both sides have the original numbers; an old line may have none or several new ones.
    """
    fresh = lists_by_key(after)
    pairs = ((number, line, fresh.get(number, [])) for number, line in before)
    changed = enumerate(pair for pair in pairs if [pair[1]] != pair[2])
    for _, run in groupby(changed, key=lambda item: item[0] - item[1][0]):
        block = [item for _, item in run]
        new = [line for *_, lines in block for line in lines]
        yield block[0][0], [line for _, line, _ in block], new


def fixable(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that have a fixer.

    Examples:
        >>> from hlteval.findings import finding
        >>> [item.code for item in fixable([finding("SRC202"), finding("LTF106")])]
        ['SRC202']
    """
    return [finding for finding in findings if entry(finding.code).fixer]


UNSURE = "the right correction is not certain"
#: Most rounds of corrections: one may show what the next corrects, such as a second missing tab.
ROUNDS = 5


def fix(request: Request, target: str | None, *, unsafe: bool = False) -> FixedCopy:
    """Write a corrected copy of a submission, and validate it.

    Only findings with a fixer are corrected, and only where the correction is certain; all other
    bytes of the files stay the same. Hidden and system files are left out. No copy is written if
    there is nothing to correct, or if the submission cannot be read.

    Args:
        request: how the submission and then the copy are validated; its selection is what is
            corrected and reported.
        target: path of the copy, which is of the same kind as the submission; None to show what
            would change, as a unified diff, and write nothing.
        unsafe: whether corrections that change values are made too.

    Raises:
        FileExistsError: if the target exists, or is inside what is read.
        WrongOption: if the target has the suffix of another kind.
    """
    opened = open_submission(replace(request, max_per_code=0))
    if target is not None:
        _check_target(opened.system, target, request.against)
    work = Corrector(opened, request.selection.of, unsafe=unsafe)
    files = work.files()
    fixes = tuple(files.fixes())
    readable = not has_error(opened.system.findings)
    if fixes and target:
        try:
            with writing(Path(target)) as unfinished:
                pack(files.result(), unfinished)
        except Unreadable:
            readable = False
    if not readable:
        return FixedCopy(path=None, verdict=work.choice(opened.system), readable=False)
    left = tuple(work.rest(files))
    if not fixes or target is None:
        verdict = work.choice(files.result())
        changes = tuple(files.changes()) if target is None else ()
        return FixedCopy(path=None, verdict=verdict, fixes=fixes, unfixed=left, changes=changes)
    verdict = validate_all(replace(request, system=target), [target])
    return FixedCopy(path=target, verdict=verdict, fixes=fixes, unfixed=left)


def _check_target(source: Source, target: str, against: str | None) -> None:
    path = Path(target)
    check_name(path)
    if os.path.lexists(path):
        raise FileExistsError(f"{target} exists; --fix writes a new copy")
    check_outputs([target], [source.path, *filter(None, [against])])
    if problem := suffix_problem(source, target):
        raise WrongOption(f"invalid --fix {target}: {problem}")
    if not resolve_path(path).parent.is_dir():
        raise FileNotFoundError(f"no folder {path.parent}")


@dataclass(frozen=True)
class Corrector:
    """The correction of a submission.

    Attributes:
        opened: the submission and its reference.
        chosen: gives those of some findings that are corrected and reported.
        unsafe: whether values may change.
    """

    opened: Submission
    chosen: Callable[[Iterable[Finding]], list[Finding]]
    unsafe: bool = False

    def choice(self, source: Source) -> Verdict:
        """Judge a source in place of the submission, and keep the chosen findings."""
        verdict = Check(replace(self.opened, system=source)).complete()
        return msgspec.structs.replace(verdict, findings=tuple(self.chosen(verdict.findings)))

    def files(self) -> FixedFiles:
        """Correct in rounds until nothing changes, withdraw what did not help, then whole files.

        Whole files are last, since their lines do not change any more.
        """
        files = FixedFiles(self.opened.system, self.opened.format)
        if has_error(self.opened.system.findings):
            return files
        first = current = self._findings(files)
        for _ in range(ROUNDS):
            if not files.apply(self._candidates(current)):
                break
            current = self._findings(files)
        while files.withdraw(self._without_success(files, first, current)):
            current = self._findings(files)
        opened = replace(self.opened, system=files.result())
        for finding in self._candidates(current):
            if FIXERS[entry(finding.code).fixer].scope == "rule":
                places = rewrites(opened, finding.code)
                for file in [finding.file] if finding.file else sorted(places):
                    files.rewrite(finding, file, places.get(file, ()))
        return files

    def _findings(self, files: FixedFiles) -> list[Finding]:
        """The findings of the submission as it is corrected."""
        verdict = Check(replace(self.opened, system=files.result())).complete()
        return [finding for finding in verdict.findings if finding.side == self.opened.role]

    def _candidates(self, findings: Iterable[Finding]) -> list[Finding]:
        return [item for item in fixable(self.chosen(findings)) if not self._hindrance(item)]

    def _without_success(
        self, files: FixedFiles, first: Iterable[Finding], current: Iterable[Finding]
    ) -> Iterator[tuple[str | None, int]]:
        """The places where a finding is left, or where the reader has a new error or warning."""
        known = {(*files.place(finding), finding.code) for finding in first}
        tried = {(fix.file, fix.line, fix.code) for fix in files.fixes()}
        for finding in current:
            place = (*files.place(finding), finding.code)
            read = finding.code.startswith(self.opened.format.codes)
            read = read and finding.severity is not Severity.INFO  # it may have been hidden
            if place in tried or (read and place not in known):
                yield place[:2]

    def rest(self, files: FixedFiles) -> Iterator[Unfixed]:
        """Report what is left although it has a fixer."""
        rest = fixable(self.chosen(self._findings(files)))
        groups = Counter((item.code, item.file, self._hindrance(item) or UNSURE) for item in rest)
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
