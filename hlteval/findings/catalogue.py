"""The catalogue: every code once, with its severity, texts, clause and examples.

The entries stand in `codes/<PREFIX>.toml`, one file per format or layer; other packages add theirs.
From them are made the findings themselves, `hlteval explain`, docs/codes.md, and the test that
every code has a fixture.
A code is never reused.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from string import Formatter
from types import MappingProxyType

import msgspec

from hlteval.extensions import CODES, extensions
from hlteval.findings.finding import Excerpt, Finding, Severity, Span

_CODES = resources.files("hlteval.findings") / "codes"


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One code of the catalogue."""

    code: str
    name: str
    """A slug, stable like the code."""
    title: str
    severity: Severity
    blocking: bool = False
    """Whether nothing sensible can be scored where this is found."""
    message: str
    """A template over the values that the rule gives."""
    help: str = ""
    """A template: what to do, in one line."""
    why: str
    fix: str
    clause: str = ""
    bad: str = ""
    good: str = ""

    @property
    def fields(self) -> frozenset[str]:
        """The values that the templates name.

        Examples:
            >>> sorted(catalogue()["STD302"].fields)
            ['document', 'suggestion', 'target']
        """
        parsed = Formatter().parse(self.message + self.help)
        return frozenset(name for _, name, _, _ in parsed if name)

    def finding(
        self,
        values: Mapping[str, object] = MappingProxyType({}),
        *,
        file: str | None = None,
        span: Span | None = None,
        excerpt: Excerpt | None = None,
        record: str | None = None,
        blocking: bool | None = None,
    ) -> Finding:
        """A finding of this code at a place.

        Args:
            values: what the templates `message` and `help` name.
            file: path of the file at fault.
            span: place in that file.
            excerpt: the line at that place.
            record: identifier of the record at fault, as written.
            blocking: overrides the entry where the task decides.

        Raises:
            KeyError: if a template names a value that is not given.
        """
        return Finding(
            code=self.code,
            name=self.name,
            severity=self.severity,
            blocking=self.blocking if blocking is None else blocking,
            message=self.message.format_map(values),
            file=file,
            span=span,
            excerpt=excerpt,
            record=record,
            help=self.help.format_map(values).strip() or None,
            clause=self.clause or None,
        )


@cache
def catalogue() -> Mapping[str, Entry]:
    """Every entry by code, in order.

    Raises:
        ValueError: if a code is declared twice.

    Examples:
        >>> catalogue()["STD101"].title == entry("STD101").title
        True
    """
    folders = [_CODES, *(resources.files(package) for package in extensions(CODES).values())]
    files = [file for folder in folders for file in folder.iterdir()]
    entries: dict[str, Entry] = {}
    for file in sorted((f for f in files if f.name.endswith(".toml")), key=lambda f: f.name):
        for code, declared in _declared(file).items():
            if code in entries:
                raise ValueError(f"code {code} is declared twice")
            entries[code] = declared
    return MappingProxyType(dict(sorted(entries.items())))


@cache
def entry(code: str) -> Entry:
    """The entry of one code; of our own codes, only the file of its prefix is read.

    Raises:
        KeyError: if there is no such code.

    Examples:
        >>> entry("STD302").severity
        <Severity.ERROR: 'error'>
    """
    own = _own(code[:3])
    return own[code] if code in own else catalogue()[code]


@cache
def _own(prefix: str) -> Mapping[str, Entry]:
    """Our own entries with a prefix, by code."""
    file = _CODES / f"{prefix}.toml"
    return _declared(file) if file.is_file() else {}


def _declared(file: Traversable) -> Mapping[str, Entry]:
    """The entries of a file, by code."""
    tables = tomllib.loads(file.read_text("utf-8"))
    return {code: msgspec.convert({"code": code, **own}, Entry) for code, own in tables.items()}


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
    """A finding of a code of the catalogue; see `Entry.finding`.

    Examples:
        >>> finding("SRC201", file="d.a2", offset=3, byte="0xe9", guess="").message
        'byte 0xe9 at offset 3 is not valid UTF-8'
    """
    return entry(code).finding(
        values, file=file, span=span, excerpt=excerpt, record=record, blocking=blocking
    )


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """The findings by file, line, column and code, each once."""
    return sorted(dict.fromkeys(findings), key=lambda finding: finding.order)
