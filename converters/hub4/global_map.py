"""Global mapping files: rules that normalize spellings before texts are compared.

Format:
    The first word of the file marks comments, which reach to the end of a line; the rest of its
    first line is ignored. A line with a star is a header. All others are rules
    `SOURCE => TARGET / LEFT __ RIGHT`: the source becomes the target between the two contexts,
    which are optional. Square brackets or double quotes enclose strings whose spaces count
    (grammars/glm.lark). In a target, `{A / B}` are alternatives.

Conventions:
    A comment `;; INPUT_DEPENDENT_APPLICATION = "expression"` restricts the rules after it to texts
    of a kind: `trn` for both sides, `stm` and `ref` for the reference, `ctm` and `hyp` for the
    system. Unless a header sets it, case does not count: the usual filter first converts everything
    to upper case. A line that is not a rule is left out, and so are rules with text beside the
    brackets of a context, and with alternatives inside others. The last slash of a line begins the
    contexts: a rule whose only slash is in its source has an empty target.

Example lines:
    ;; demo.glm
    * case_sensitive = 'F'
    [THEATRE] => [THEATER] / [ ] __ [ ]

Codes raised: GLM1xx.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from hlteval.findings import Finding, Problem, line_findings
from hlteval.grammars import failure, in_words, matcher, vocabulary
from hlteval.representation.global_map import GlobalMap, Rule
from hlteval.sources import Member, Unreadable, decode

#: The format of the rules.
KNOWN = "NIST1"
#: Rules that the usual filter accepts unless a header sets another number.
_MOST = 400
#: The kinds of texts of each side, as the usual filter names them.
_KINDS = {"": ("trn",), "ref": ("trn", "stm", "ref"), "hyp": ("trn", "ctm", "hyp")}
_TRUE = {"T", "YES", "TRUE"}
_DEPENDENT = re.compile(r'\s+INPUT_DEPENDENT_APPLICATION\s*=\s*"([^"]*)"')
_BLANKS = " \t\r\f\x0b"
_PARTS = ("source", "target", "left", "right")


def read_map(member: Member, side: str = "") -> tuple[GlobalMap, list[Finding]]:
    r"""The rules of a global mapping file, and the findings about it.

    Args:
        member: the file.
        side: the side of the text that the rules are for, `ref` or `hyp`; empty for any.

    Examples:
        >>> content = b";; x\n[UH] => [%HESITATION] / [ ] __ [ ]\n"
        >>> read_map(Member("", "x.glm", 40, lambda: content))[0].rules
        (Rule(source='UH', target='%HESITATION', left=' ', right=' '),)
    """
    try:
        decoded = decode(member.fetch(), display=member.display, encoding=member.encoding)
    except Unreadable as reason:
        return GlobalMap(()), [reason.finding]
    reader, lines = _Reader(), list[str]()
    if decoded.text is not None:
        lines = decoded.text.split("\n")
        reader.take(lines, side)
    findings = line_findings(reader.problems, lines, member.display, member.max_per_code)
    found = GlobalMap(tuple(reader.rules), reader.sensitive, reader.copies)
    return found, [*decoded.findings, *findings]


class _Line(NamedTuple):
    """A line: its number, the line as written, and its content, without comment and spaces."""

    number: int
    written: str
    content: str

    def problem(self, code: str, column: int = 1, **values: object) -> Problem:
        """A problem from a column of the content to its end."""
        start = self.written.find(self.content) if self.content else 0
        end = start + len(self.content)
        return Problem(code, self.number, min(start + column - 1, end), end, values)


class _Reader:
    """The rules and problems of a file."""

    def __init__(self) -> None:
        self.rules: dict[Rule, _Line] = {}
        self.first: dict[tuple[str, str, str], int] = {}
        """The line of each source with its contexts."""
        self.problems: list[Problem] = []
        self.sensitive, self.copies, self.most = False, True, _MOST

    def take(self, lines: Sequence[str], side: str) -> None:
        """Read all lines, of which those after some comments are for some kinds of texts only."""
        mark = re.match(r"[!-~]*", lines[0])
        comment = mark[0] if mark else ""
        if comment.startswith("*") or matcher("glm", "rule").fullmatch(lines[0].strip(_BLANKS)):
            self.problems.append(_Line(1, lines[0], lines[0]).problem("GLM104", given=comment))
        applies = True
        for number, written in enumerate(lines[1:], start=2):
            content, _, rest = written.partition(comment) if comment else (written, "", "")
            if not content and (dependent := _DEPENDENT.match(rest)):
                try:
                    wanted = re.compile(dependent[1].lower())
                    applies = any(wanted.search(kind) for kind in _KINDS[side])
                except (re.error, OverflowError, RecursionError) as error:
                    line, given = _Line(number, written, written), dependent[1]
                    self.problems.append(line.problem("GLM108", given=given, reason=error))
                    applies = False
            if applies and (bare := content.strip(_BLANKS)):
                self.take_line(_Line(number, written, bare))
        if len(self.rules) > self.most:
            surplus = list(self.rules.values())[self.most]
            count = len(self.rules)
            self.problems.append(surplus.problem("GLM107", count=count, most=self.most))

    def take_line(self, line: _Line) -> None:
        """Add a rule, or apply a header."""
        kind = "header" if line.content.startswith("*") else "rule"
        match = matcher("glm", kind).fullmatch(line.content)
        if match is None:
            column, terminals = failure("glm", line.content)
            rest = line.content[column - 1 :]
            column += len(rest) - len(rest.lstrip(_BLANKS))
            expected = in_words("glm", terminals, vocabulary("glm")["words"])
            code = "GLM102" if kind == "header" else "GLM101"
            self.problems.append(line.problem(code, column, expected=expected))
        elif kind == "rule":
            parts = ((match[name] or "").strip(_BLANKS) for name in _PARTS)
            self.add(line, Rule(*map(_without_brackets, parts)))
        else:
            key, value = match["key"].lower(), match["value"][1:-1]
            if key == "case_sensitive":
                self.sensitive = value.upper() in _TRUE
            elif key == "copy_no_hit":
                self.copies = value.upper() in _TRUE
            elif key == "max_nrules" and value.isdecimal():
                self.most = int(value[:9])
            elif key == "format" and value != KNOWN:
                self.problems.append(line.problem("GLM103", given=value, known=KNOWN))

    def add(self, line: _Line, rule: Rule) -> None:
        """Add a rule, unless it has no certain meaning or is there already."""
        if "/" in rule.source and "/" not in line.content.partition("=>")[2]:
            # The last slash of the line, which ends the target, is in the source.
            self.problems.append(line.problem("GLM109", given=rule.target))
            rule = Rule(rule.source, "")
        key = (rule.source, rule.left, rule.right)
        if re.search(r"\{[^{}]*\{", rule.target):
            problem = line.problem("GLM110", given="alternatives inside alternatives")
        elif re.search(r"[\[\]]", rule.left + rule.right):
            problem = line.problem("GLM110", given="a context with text beside its brackets")
        elif not rule.source:
            problem = line.problem("GLM105")
        elif key in self.first:
            problem = line.problem("GLM106", first=self.first[key])
        else:
            self.first[key] = line.number
            self.rules[rule] = line
            return
        self.problems.append(problem)


def _without_brackets(text: str) -> str:
    """A string without its brackets or quotes."""
    return text[1:-1] if len(text) > 1 and text[0] + text[-1] in {"[]", '""'} else text
