"""Files whose lines are fields between spaces, of which the last may be a text with spaces."""

import re

import polars as pl

from hlteval.findings import Finding, Problem, line_findings
from hlteval.sources import Member

#: The beginning of a comment.
COMMENT = ";;"


def match_lines(text: str, pattern: str) -> tuple[pl.DataFrame, list[int]]:
    r"""The lines of a text that match a pattern in full, and the numbers of others.

    Empty lines and comments are neither.

    Args:
        text: of a file.
        pattern: with named groups.

    Returns:
        `record` (from 1) and the named groups of each line that matches, null for a group that it
        does not have; and the numbers of lines that do not.

    Examples:
        >>> rows, wrong = match_lines(";; comment\nd1  1\nd2", "(?P<name>[^ ]+) +(?P<at>[0-9]+)")
        >>> rows.rows(), wrong
        ([(2, 'd1', '1')], [3])
    """
    lines = pl.Series("line", text.removesuffix("\n").split("\n"), dtype=pl.String)
    record = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    frame = pl.DataFrame({"line": lines.str.strip_chars(" \t\r")}).with_columns(record=record)
    frame = frame.filter(pl.col("line") != "", ~pl.col("line").str.starts_with(COMMENT))
    fits = pl.col("line").str.contains(f"^(?:{pattern})$")
    groups = pl.col("line").str.extract_groups(f"^(?:{pattern})$")
    rows = frame.filter(fits).select("record", groups.alias("groups")).unnest("groups")
    return rows, frame.filter(~fits)["record"].to_list()


def line_problems(member: Member, text: str, code: str, records: list[int]) -> list[Finding]:
    """The findings of lines that are not as a format wants them.

    Args:
        member: the file.
        text: of the file.
        code: of the findings; the message may have `given`, the number of fields.
        records: the numbers of the lines.
    """
    if not records:
        return []
    lines = text.split("\n")
    problems = []
    for record in records:
        line = lines[record - 1].removesuffix("\r")
        given = len(re.split(r"[ \t]+", line.strip(" \t")))
        problems.append(Problem(code, record, 0, len(line), {"given": given}))
    return line_findings(problems, lines, member.display, member.max_per_code)
