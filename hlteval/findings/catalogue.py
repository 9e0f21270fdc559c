"""The catalogue of codes: severity, templates, explanation, clause and examples of each.

The entries are in `codes/<PREFIX>.toml`, one file per format or layer, and in the files of other
packages. They are the source of the findings, of `hlteval explain`, of docs/codes.md and of the
test that every code has a fixture. A code is never reused.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from string import Formatter
from types import MappingProxyType
from typing import Literal, NamedTuple

import msgspec

from hlteval.extensions import CODES, extensions, load_extension
from hlteval.findings.counts import fill
from hlteval.findings.finding import Excerpt, Finding, Severity, Span, excerpt
from hlteval.findings.suggest import suggestion

_CODES = resources.files("hlteval.findings") / "codes"


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One code of the catalogue.

    Attributes:
        code: the code.
        name: a slug, as stable as the code.
        title: what is wrong, in a few words.
        severity: its severity.
        blocking: whether a submission with this finding cannot be scored.
        message: a template, filled with the values of the finding; words may depend on them, see
            `counts`.
        help: a template for the fix in one line.
        why: why it is a problem.
        fix: how to correct it, at length.
        fixer: the name of the fixer with which `validate --fix` corrects it; see
            `findings.fixers`.
        unknown: the value that is a name outside a closed vocabulary.
        known: the value that lists the names of the vocabulary: the help then suggests the closest.
        percentages: the fix if the numbers of a whole file, its values `given`, are percentages:
            `sequence.by_notation`.
        suppressed_by: codes, or their prefixes, of the findings from which this one follows; see
            `cascades`.
        suppressed_in: where such a finding must be; `reference`: in what a submission is checked
            against.
        unresolved: a template of the identifier that a record with such a finding may define, or a
            file.
        unreferenced: a template of the identifier that a record with such a finding may mention.
        hides: whether its file cannot be read, so that other findings of the file are pointless.
        clause: the clause of the specification that it violates.
        bad: an example of the problem.
        good: the example corrected.
    """

    code: str
    name: str
    title: str
    severity: Severity
    blocking: bool = False
    message: str
    help: str = ""
    why: str
    fix: str
    fixer: str = ""
    unknown: str = ""
    known: str = ""
    percentages: str = ""
    suppressed_by: tuple[str, ...] = ()
    suppressed_in: Literal["record", "file", "document", "submission", "reference"] = "record"
    unresolved: str = ""
    unreferenced: str = ""
    hides: bool = False
    clause: str = ""
    bad: str = ""
    good: str = ""

    @property
    def fields(self) -> frozenset[str]:
        """The names of the values in the templates.

        Examples:
            >>> sorted(catalogue()["STD302"].fields)
            ['document', 'suggestion', 'target']
        """
        parsed = Formatter().parse(self.message + self.help)
        return frozenset(name.partition("|")[0] for _, name, _, _ in parsed if name)

    def finding(
        self,
        values: Mapping[str, object] = MappingProxyType({}),
        *,
        file: str | None = None,
        span: Span | None = None,
        excerpt: Excerpt | None = None,
        record: str | None = None,
        blocking: bool | None = None,
        table: str | None = None,
        row: int | None = None,
    ) -> Finding:
        """A finding of this code.

        Args:
            values: the values of the templates `message` and `help`.
            file: path of the file; None for the whole submission.
            span: location in the file; None for the whole file.
            excerpt: the line at that location.
            record: identifier of the record, as written.
            blocking: overrides `blocking` of the entry, for tasks that decide otherwise.
            table: the table of the record, in a corpus.
            row: the key of its row there.

        Raises:
            KeyError: if a value of a template is missing.
        """
        help_text = fill(self.help, values).strip()
        if self.known and "did you mean" not in help_text:
            hint = suggestion(str(values[self.unknown]), str(values[self.known]))
            help_text = f"{hint} {help_text}".strip()
        return Finding(
            code=self.code,
            name=self.name,
            severity=self.severity,
            blocking=self.blocking if blocking is None else blocking,
            message=fill(self.message, values),
            file=file,
            span=span,
            excerpt=excerpt,
            record=record,
            help=help_text or None,
            clause=self.clause or None,
            table=table,
            row=row,
        )


@cache
def catalogue() -> Mapping[str, Entry]:
    """All entries by code, sorted.

    Raises:
        ValueError: if a code is declared twice, e.g. by two packages.

    Examples:
        >>> catalogue()["STD101"].title == entry("STD101").title
        True
    """
    added = (resources.files(load_extension(CODES, name)) for name in extensions(CODES))
    files = [file for folder in (_CODES, *added) for file in folder.iterdir()]
    entries: dict[str, Entry] = {}
    for file in sorted((f for f in files if f.name.endswith(".toml")), key=lambda f: f.name):
        for code, declaration in _read(file).items():
            if code in entries:
                raise ValueError(f"code {code} is declared twice")
            entries[code] = declaration
    return MappingProxyType(dict(sorted(entries.items())))


@cache
def entry(code: str) -> Entry:
    """The entry of one code; for a built-in code, only the file of its prefix is read.

    Raises:
        KeyError: for an unknown code.

    Examples:
        >>> entry("STD302").severity
        <Severity.ERROR: 'error'>
    """
    builtin = _builtin(code[:3])
    return builtin[code] if code in builtin else catalogue()[code]


@cache
def _builtin(prefix: str) -> Mapping[str, Entry]:
    """Read the built-in entries with a prefix, by code."""
    file = _CODES / f"{prefix}.toml"
    return _read(file) if file.is_file() else {}


def _read(file: Traversable) -> Mapping[str, Entry]:
    """Read the entries of a file, by code."""
    tables = tomllib.loads(file.read_text("utf-8"))
    return {code: msgspec.convert({"code": code, **rest}, Entry) for code, rest in tables.items()}


def finding(
    code: str,
    *,
    file: str | None = None,
    span: Span | None = None,
    excerpt: Excerpt | None = None,
    record: str | None = None,
    blocking: bool | None = None,
    **values: object,
) -> Finding:
    """A finding of a code, with the values of its templates as keywords; see `Entry.finding`.

    Examples:
        >>> finding("SRC201", file="d.a2", offset=3, byte="0xe9", guess="").message
        'byte 0xe9 at offset 3 is not valid UTF-8'
    """
    return entry(code).finding(
        values, file=file, span=span, excerpt=excerpt, record=record, blocking=blocking
    )


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """The findings without duplicates, sorted by file, line, column and code."""
    return sorted(dict.fromkeys(findings), key=lambda finding: finding.order)


def values(finding: Finding) -> dict[str, str]:
    """The values of the templates of a finding, as text.

    Examples:
        >>> from hlteval.findings import finding
        >>> values(finding("EDL216", given="3_4", fix="3-4"))
        {'given': '3_4', 'fix': '3-4'}
    """
    declared = entry(finding.code)
    texts = (declared.message, finding.message), (declared.help, finding.help or "")
    matches = [_pattern(template.strip()).fullmatch(text) for template, text in texts]
    return {name: value for match in matches if match for name, value in match.groupdict().items()}


@cache
def _pattern(template: str) -> re.Pattern[str]:
    """A pattern with a group for the first use of each field of a template."""
    parts, seen = [], set[str]()
    for literal, field, _, _ in Formatter().parse(template):
        parts.append(re.escape(literal))
        if field and "|" in field:
            parts.append(f"(?:{'|'.join(map(re.escape, field.split('|')[1:]))})")
        elif field:
            parts.append(f"(?P={field})" if field in seen else f"(?P<{field}>.*)")
            seen.add(field)
    return re.compile("".join(parts), re.DOTALL)


class Problem(NamedTuple):
    """A problem of a record: its code, location and values.

    Attributes:
        code: of the catalogue.
        record: the 1-based ordinal of the record in its file, in a line format or XML the line
            number; 0 where the problem is in no record.
        start: the first code point concerned, 0-based: in the line of a line format or of a tag of
            XML, in the text of a JSON or SGML file.
        end: one past the last code point concerned.
        values: the values that the templates of the code name, and others.
        field: in XML the attribute concerned, or `text` for the text after the tag; empty for the
            tag itself.
    """

    code: str
    record: int
    start: int
    end: int
    values: Mapping[str, object] = MappingProxyType({})
    field: str = ""

    def shift(self, distance: int) -> Problem:
        """The problem as many code points further on, in a line with more before the record.

        Examples:
            >>> Problem("SNT101", 3, 3, 5).shift(2)[2:4]
            (5, 7)
        """
        return self._replace(start=self.start + distance, end=self.end + distance)

    def finding(
        self, file: str, span: Span | None, line: Excerpt | None, identifier: str | None = None
    ) -> Finding:
        """The finding of this problem at a location.

        Args:
            file: display path of the file.
            span: location in the file; None for the whole file.
            line: excerpt of the line at that location.
            identifier: identifier of the record, as written.
        """
        return entry(self.code).finding(
            self.values, file=file, span=span, excerpt=line, record=identifier
        )

    def in_line(self, file: str, line: str, identifier: str | None = None) -> Finding:
        r"""The finding of this problem in a file whose records are its lines.

        Args:
            file: display path of the file.
            line: the line, without its line break.
            identifier: identifier of the record, as written.

        Examples:
            >>> problem = Problem("SNT101", 3, 3, 5, {"given": "xx"})
            >>> problem.in_line("s.tsv", "d1\txx\t9").span
            Span(line=3, column=4, end_column=6)
        """
        span = Span(self.record, self.start + 1, self.end + 1)
        return self.finding(file, span, excerpt(line, span), identifier)

    def rejection(
        self, kind: str, text: str, *, expected: str = "", **more: object
    ) -> dict[str, object]:
        """The row of the table `rejected_records` for a record that this problem makes unreadable.

        Args:
            kind: kind of the record, such as `mention`.
            text: the record as written.
            expected: what the format expects at that location.
            **more: further columns, such as `row`, `origin` and `id`.
        """
        return {
            "record": self.record,
            "code": self.code,
            "kind": kind,
            "text": text,
            "column": self.start + 1,
            "end_column": self.end + 1,
            "expected": expected,
            **more,
        }
