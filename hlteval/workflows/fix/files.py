"""Files of a submission while they are corrected: by lines, by tables, and by rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, groupby
from typing import NamedTuple

import msgspec

from hlteval.converters import Format
from hlteval.findings import FieldRef, Finding, Severity, Span, entry
from hlteval.findings.fixers import FIXERS
from hlteval.results.verdict import Fix
from hlteval.sources import Member, Source, Unreadable
from hlteval.sources.decoding import wide_encoding
from hlteval.syntax.tsv_mistakes import diagnose
from hlteval.tasks import rules
from hlteval.workflows.run.batches import Submission
from hlteval.workflows.run.checks import Check


class Rewrite(NamedTuple):
    """A replacement of a span of a file."""

    file: str
    span: Span
    put: str


def rewrites(opened: Submission, profile: str, code: str) -> list[Rewrite]:
    """Return the corrections of the problem of a rule; none if they are not certain.

    Args:
        opened: the submission.
        profile: `plan` or `official`.
        code: the code of the rule.
    """
    found: list[Rewrite] = []
    check = Check.of(opened, profile, gold=False)
    for pair in chain.from_iterable(check.batches(None)):
        context = check.judged(pair)
        for rule in rules(opened.task):
            if rule.code != code or rule.rewrites is None:
                continue
            for (origin,), rows in rule.rewrites(context).group_by("origin", maintain_order=True):
                member = pair.system.members[int(str(origin))]
                fields = [FieldRef(*key) for key in rows.select("record", "field").iter_rows()]
                located = opened.format.locate(member, fields)
                for location, put in zip(located, rows["put"], strict=True):
                    if location is not None:
                        found.append(Rewrite(member.display, location.span, put))
    return found


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

    def replace(self, span: Span, put: str) -> None:
        """Put something in place of a span of a line."""
        number, line = self.lines[span.line - 1]
        text = line[: span.column - 1] + put + line[span.end_column - 1 :]
        self.lines[span.line - 1] = (number, text)

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
        repaired = mistakes.repaired(text, codes) if mistakes else None
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
        tables: dict[str, list[Finding]] = {}
        for finding in ordered:
            if finding.file and FIXERS[entry(finding.code).fixer].scope == "table":
                tables.setdefault(finding.file, []).append(finding)
        changes = []
        for file, mistakes in tables.items():  # whose lines are corrected after that
            text = self.text(file)
            changes.append(
                text is not None and text.rewrite(self.form, self.members[file], mistakes)
            )
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

    def rewrite(self, finding: Finding, file: str, places: Iterable[Rewrite]) -> None:
        """Correct a finding about a whole file, or about all files, at many places of a file."""
        text = self.text(file)
        ordered = sorted(places, key=lambda place: (place.span.line, place.span.column))
        if text is None or not ordered:
            return
        for place in reversed(ordered):
            text.replace(place.span, place.put)
        text.fixes[0, finding.code] = _fix(finding, file=file, count=len(ordered))

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

    @property
    def fixes(self) -> Iterator[Fix]:
        """The corrections, by file and line."""
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

    @property
    def fixed(self) -> Source:
        """The source with the corrected files."""
        members = list(self.source.members)
        for index, member in enumerate(members):
            text = self.texts.get(member.display)
            if text is not None and text.fixes:
                data = text.text.encode(member.encoding)
                fetch = partial(bytes, data)
                members[index] = msgspec.structs.replace(member, size=len(data), fetch=fetch)
        kept = tuple(item for item in self.source.findings if item is not self.junk)
        return replace(self.source, members=tuple(members), findings=kept)


def _difference(
    file: str, before: Sequence[tuple[int, str]], after: Sequence[tuple[int, str]]
) -> Iterator[str]:
    r"""The lines of a unified diff between lines with their original numbers.

    Examples:
        >>> list(_difference("x", [(1, "a"), (2, "b")], [(1, "a"), (2, "c")]))
        ['--- x', '+++ x', '@@ -2,1 +2,1 @@', '-b', '+c']
    """
    fresh: dict[int, list[str]] = {}
    for number, line in after:
        fresh.setdefault(number, []).append(line)
    pairs = [(number, [line], fresh.get(number, [])) for number, line in before]
    changed = [pair for pair in pairs if pair[1] != pair[2]]
    if changed:
        yield from (f"--- {file}", f"+++ {file}")
    shift = 0
    for _, run in groupby(enumerate(changed), key=lambda item: item[0] - item[1][0]):
        block = [item for _, item in run]
        old = [line for _, lines, _ in block for line in lines]
        new = [line for _, _, lines in block for line in lines]
        first = block[0][0]
        yield f"@@ -{first},{len(old)} +{first + shift},{len(new)} @@"
        yield from (f"-{line}" for line in old)
        yield from (f"+{line}" for line in new)
        shift += len(new) - len(old)


def fixable(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that have a fixer.

    Examples:
        >>> from hlteval.findings import finding
        >>> [item.code for item in fixable([finding("SRC202"), finding("LTF106")])]
        ['SRC202']
    """
    return [finding for finding in findings if entry(finding.code).fixer]


def worst(findings: Iterable[Finding]) -> bool:
    """Whether an error is among findings."""
    return any(finding.severity is Severity.ERROR for finding in findings)
