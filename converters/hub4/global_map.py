"""Global mapping files: the rules by which spellings are made alike before texts are compared.

Format:
    The first word of the file begins comments, which reach to the end of a line; the rest of its
    first line says nothing. A line with a star is a header. All others are rules
    `SOURCE => TARGET / LEFT __ RIGHT`: the source becomes the target where it stands between the
    contexts, which may be left out. Square brackets or double quotes enclose strings whose blanks
    count (grammars/glm.lark).

Conventions:
    A comment `;; INPUT_DEPENDENT_APPLICATION = "expression"` says that the rules behind it are only
    for texts of a kind: `trn`, or `ref` and `hyp` for the two sides. Where no header tells whether
    capitals count, they do not: the usual filter puts everything into capitals first.

Example lines:
    ;; demo.glm
    * case_sensitive = 'F'
    [THEATRE] => [THEATER] / [ ] __ [ ]

Codes raised: GLM1xx.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from lark import UnexpectedInput, UnexpectedToken

from hlteval.findings import Finding, Span, catalogue, excerpt
from hlteval.grammars import load, pattern
from hlteval.representation.global_map import GlobalMap, Rule
from hlteval.sources import Member, Unreadable, decode

KNOWN = "NIST1"
"""The format of rules that is read."""
_MOST = 400
"""Rules that the usual filter takes if no header says more."""
_KINDS = ("trn",)
_DEPENDENT = re.compile(r'\s+INPUT_DEPENDENT_APPLICATION\s*=\s*"([^"]*)"')
_BLANKS = " \t\r\f\x0b"
_WORDS = {
    "$END": "the end of the line",
    "<END-OF-FILE>": "the end of the line",
    "KEY": "a header name",
    "VALUE": "a quoted value",
    "SOURCE": "the source",
    "TARGET": "the target",
    "LEFT": "the left context",
    "RIGHT": "the right context",
    "_ARROW": "`=>`",
    "_SLASH": "`/` and contexts",
    "_SLOT": "`__`",
    "_STAR": "`*`",
    "_EQUALS": "`=`",
}


def read_map(member: Member, side: str = "") -> tuple[GlobalMap, list[Finding]]:
    r"""The rules of a global mapping file, with what is wrong with it.

    Args:
        member: the file.
        side: the kind of text that the rules are for, `ref` or `hyp`, where that matters.

    Examples:
        >>> content = b";; x\n[UH] => [%HESITATION] / [ ] __ [ ]\n"
        >>> read_map(Member("", "x.glm", 40, lambda: content))[0].rules
        (Rule(source='UH', target='%HESITATION', left=' ', right=' '),)
    """
    try:
        decoded = decode(member.fetch(), display=member.display, encoding=member.encoding)
    except Unreadable as reason:
        return GlobalMap(()), [reason.finding]
    reader = _Reader(member.display, side)
    if decoded.text is not None:
        reader.take(decoded.text)
    return GlobalMap(tuple(reader.rules), reader.sensitive), [*decoded.findings, *reader.findings]


class _Line(NamedTuple):
    """A line without its comment: its number, and the line as written."""

    number: int
    written: str
    said: str


class _Reader:
    """What is collected over the lines of a file."""

    def __init__(self, display: str, side: str) -> None:
        self.display, self.side = display, side
        self.rules: dict[Rule, _Line] = {}
        self.first: dict[tuple[str, str, str], int] = {}
        self.findings: list[Finding] = []
        self.sensitive, self.most = False, _MOST

    def take(self, text: str) -> None:
        lines = text.split("\n")
        mark = re.match(r"[!-~]*", lines[0])
        comment = mark[0] if mark else ""
        if comment.startswith("*") or _compiled("rule").fullmatch(lines[0].strip(_BLANKS)):
            self.tell("GLM104", _Line(1, lines[0], lines[0]), given=comment)
        for line in self.applying(lines, comment):
            self.line(line)
        if len(self.rules) > self.most:
            surplus = list(self.rules.values())[self.most]
            self.tell("GLM107", surplus, count=len(self.rules), most=self.most)

    def applying(self, lines: list[str], comment: str) -> Iterator[_Line]:
        """The lines behind the first that say something for this kind of text."""
        applies = True
        for number, written in enumerate(lines[1:], start=2):
            said, _, behind = written.partition(comment) if comment else (written, "", "")
            dependent = _DEPENDENT.match(behind) if not said else None
            if dependent:
                applies = self.applies(dependent[1], _Line(number, written, written))
            if applies and (bare := said.strip(_BLANKS)):
                yield _Line(number, written, bare)

    def applies(self, expression: str, line: _Line) -> bool:
        """Whether rules of a kind of texts are for this one."""
        try:
            wanted = re.compile(expression.lower())
        except (re.error, OverflowError, RecursionError) as error:
            self.tell("GLM108", line, given=expression, reason=error)
            return False
        return any(wanted.search(kind) for kind in (*_KINDS, self.side) if kind)

    def line(self, line: _Line) -> None:
        """Add a rule, or take in a header."""
        kind = "header" if line.said.startswith("*") else "rule"
        match = _compiled(kind).fullmatch(line.said)
        if match is None:
            column, expected = _failure(line.said)
            code = "GLM102" if kind == "header" else "GLM101"
            self.tell(code, line, column, expected=expected)
        elif kind == "header":
            self.header(line, match["key"].lower(), match["value"][1:-1])
        else:
            self.rule(line, Rule(*(_bare(match[n]) for n in ("source", "target", "left", "right"))))

    def header(self, line: _Line, key: str, value: str) -> None:
        if key == "case_sensitive":
            self.sensitive = value[:1].upper() == "T"
        elif key == "max_nrules" and value.isdecimal():
            self.most = int(value[:9])
        elif key == "format" and value != KNOWN:
            self.tell("GLM103", line, given=value, known=KNOWN)

    def rule(self, line: _Line, rule: Rule) -> None:
        if not rule.source:
            self.tell("GLM105", line)
            return
        where = (rule.source, rule.left, rule.right)
        if where in self.first:
            self.tell("GLM106", line, first=self.first[where])
            return
        self.first[where] = line.number
        self.rules[rule] = line

    def tell(self, code: str, line: _Line, column: int = 1, **values: object) -> None:
        """Add a finding about a line from a column of what it says."""
        begin = line.written.find(line.said) if line.said else 0
        end = begin + len(line.said) + 1
        span = Span(line.number, min(begin + column, end), end)
        told = excerpt(line.written.removesuffix("\r"), span)
        self.findings.append(
            catalogue()[code].finding(values, file=self.display, span=span, excerpt=told)
        )


def _bare(written: str | None) -> str:
    """A string without what encloses it."""
    text = (written or "").strip(_BLANKS)
    return text[1:-1] if text[:1] in {"[", '"'} and len(text) > 1 else text


@cache
def _compiled(rule: str) -> re.Pattern[str]:
    return re.compile(pattern("glm", rule))


def _blanks(text: str) -> int:
    """How many blanks a text begins with."""
    return len(text) - len(text.lstrip(_BLANKS))


def _failure(line: str) -> tuple[int, str]:
    """The column at which the grammar gives up, and what it would have taken there."""
    try:
        load("glm").parse(line)
    except UnexpectedInput as error:
        names = set(getattr(error, "expected", None) or getattr(error, "allowed", None) or ())
        at_end = isinstance(error, UnexpectedToken) and error.token.type == "$END"
        words = sorted(_WORDS.get(name, name) for name in names)
        column = len(line) + 1 if at_end else error.column
        return column + _blanks(line[column - 1 :]), " or ".join(words)
    raise AssertionError(f"the grammar takes what the pattern refuses: {line!r}")
