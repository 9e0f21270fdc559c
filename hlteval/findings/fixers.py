"""Fixers: mechanical corrections of lines and files, named by the entries of the catalogue.

A fixer never guesses: it returns None where the correction is not certain. Its result is read again
by the workflow, which withdraws it if the finding remains.

A code names its fixer (`fixer = "tab"`, `findings/fixers.py`) where a line or file with it can be
corrected mechanically. `workflows/fixing.py` checks each correction and withdraws it if the
problem remains. A correction of a whole file by its rule is `Rule.rewrites`, such as offsets
counted in another way.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from hlteval.extensions import make_function, read_tables
from hlteval.findings.catalogue import values
from hlteval.findings.finding import Finding

#: What replaces a line: lines without their ends, none to remove it; None to leave it.
Lines = tuple[str, ...] | None


class Fixer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A mechanical correction, as `fixers.toml` declares it.

    Attributes:
        title: what was done, in a few words.
        scope: whether it corrects a `line`, a `file`, a `table`, which is a file whose format
            declares its columns, or the `files` of a submission; or many places of a file, which
            the `rule` of the finding names.
        line: gives the lines that replace a line with a finding; for the scope `line`.
        file: gives the text that replaces that of a file; for the scope `file`.
        unsafe: whether it changes values, so that it must be asked for.
    """

    title: str
    scope: Literal["line", "file", "table", "files", "rule"] = "line"
    line: Callable[[str, Finding], Lines] | None = None
    file: Callable[[str], str | None] | None = None
    unsafe: bool = False


def _extent(line: str, finding: Finding) -> tuple[int, int]:
    """The place of a finding in a line; without a span, its empty end."""
    if finding.span is None:
        return len(line), len(line)
    return finding.span.column - 1, finding.span.end_column - 1


def tab_for_spaces(line: str, finding: Finding) -> Lines:
    r"""The line with one tab for the spaces at which a finding begins.

    Examples:
        >>> from hlteval.findings import Span, finding
        >>> tab_for_spaces("E1  Binding", finding("STD101", span=Span(1, 3, 4)))
        ('E1\tBinding',)
    """
    start, _ = _extent(line, finding)
    before, after = line[:start], line[start:]
    if not after.startswith(" ") or before.endswith((" ", "\t")) or after.lstrip(" ")[:1] == "\t":
        return None
    return (f"{before}\t{after.lstrip(' ')}",)


def tabs_for_spaces(line: str, _: Finding) -> Lines:
    r"""A line without a tab with one tab for each run of spaces.

    Examples:
        >>> from hlteval.findings import Finding, finding
        >>> tabs_for_spaces("run m1  Lyon", finding("EDL103"))
        ('run\tm1\tLyon',)
    """
    return None if "\t" in line or " " not in line else (re.sub(" +", "\t", line.strip(" ")),)


def spelling(line: str, finding: Finding) -> Lines:
    """The line with the marked name as the help writes it, if they differ only in case.

    Examples:
        >>> from hlteval.findings import Span, finding
        >>> wrong = finding("SEE101", span=Span(1, 4, 11), label="binding", hint="use Binding")
        >>> spelling("E1 binding A:T1", wrong)
        ('E1 Binding A:T1',)
    """
    start, end = _extent(line, finding)
    while start < end and line[start] in "\"'":
        start += 1
    while start < end and line[end - 1] in "\"':":
        end -= 1
    name = line[start:end].strip()
    start += line[start:end].find(name)
    if not name or not finding.help:
        return None
    alike = re.finditer(rf"(?<![\w-]){re.escape(name)}(?![\w-])", finding.help, re.IGNORECASE)
    known = {match[0] for match in alike}
    if len(known) != 1 or known == {name}:
        return None
    return (line[:start] + known.pop() + line[start + len(name) :],)


def suggestion(line: str, finding: Finding) -> Lines:
    """The line with the value that the help gives instead of the marked one.

    The templates of the code name the values `given` and `fix`.

    Examples:
        >>> from hlteval.findings import Span, finding
        >>> wrong = finding("EDL213", span=Span(1, 3, 6), given="٣-٤", fix="3-4")
        >>> suggestion("d:٣-٤", wrong)
        ('d:3-4',)
    """
    start, end = _extent(line, finding)
    found = values(finding)
    if not found.get("fix") or line[start:end] != found.get("given"):
        return None
    return (line[:start] + found["fix"] + line[end:],)


def no_empty_line(line: str, _: Finding) -> Lines:
    """No line in place of an empty one.

    Examples:
        >>> from hlteval.findings import finding
        >>> no_empty_line(" ", finding("EDL103")), no_empty_line("x", finding("EDL103"))
        ((), None)
    """
    return None if line.strip() else ()


def no_trailing_space(line: str, _: Finding) -> Lines:
    r"""The line without spaces and tabs at its end.

    Examples:
        >>> from hlteval.findings import finding
        >>> no_trailing_space("a\t", finding("EDL211"))
        ('a',)
    """
    return None if line == line.rstrip(" \t") else (line.rstrip(" \t"),)


def no_trigger(line: str, finding: Finding) -> Lines:
    """The line without the marked trigger and the colon before it.

    Examples:
        >>> from hlteval.findings import Span, finding
        >>> found = finding("SEE104", span=Span(1, 12, 14), trigger="T9", label="Binding")
        >>> no_trigger("E1 Binding:T9 A:T1", found)
        ('E1 Binding A:T1',)
    """
    start, end = _extent(line, finding)
    return (line[: start - 1] + line[end:],) if line[:start].endswith(":") else None


def no_trailing_comma(line: str, finding: Finding) -> Lines:
    """The line without the marked comma.

    Examples:
        >>> from hlteval.findings import Span, finding
        >>> no_trailing_comma("[1, 2,]", finding("JSN104", span=Span(1, 6, 7), closing="]"))
        ('[1, 2]',)
    """
    start, end = _extent(line, finding)
    return (line[:start] + line[end:],) if line[start:end] == "," else None


def no_quotes(line: str, finding: Finding) -> Lines:
    """The line with the marked string as the number that it holds.

    Examples:
        >>> from hlteval.findings import Span, finding
        >>> values = {"path": "$[0]", "given": "text", "wanted": "a number", "hint": ""}
        >>> no_quotes('[{"a": "0.5"}]', finding("SFJ203", span=Span(1, 8, 13), **values))
        ('[{"a": 0.5}]',)
    """
    start, end = _extent(line, finding)
    number = re.fullmatch(
        r'"(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"', line[start:end]
    )
    return (line[:start] + number[1] + line[end:],) if number else None


def one_array(text: str) -> str | None:
    r"""An array in place of JSON Lines; None if the lines are not objects.

    Examples:
        >>> one_array('{"a": 1}\n{"a": 2}\n'), one_array('[{"a": 1}]')
        ('[{"a": 1},\n{"a": 2}]\n', None)
    """
    lines = [line.strip().removesuffix(",") for line in text.splitlines() if line.strip()]
    try:
        objects = bool(lines) and all(isinstance(json.loads(line), dict) for line in lines)
    except (ValueError, RecursionError):
        return None
    return "[" + ",\n".join(lines) + "]\n" if objects else None


#: The fixers by name, as the entries of the catalogue name them.
FIXERS: Mapping[str, Fixer] = msgspec.convert(
    read_tables("hlteval.findings", "fixers"), dict[str, Fixer], dec_hook=make_function
)
