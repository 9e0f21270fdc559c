"""Files whose lines are fields between spaces, of which the last may be a text with spaces."""

import polars as pl

from hlteval.converters.toolkit.source_files import findings_in_lines
from hlteval.findings import Finding, Problem
from hlteval.sources import Member
from hlteval.syntax.tsv import Lines

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
    line, frame = pl.col("line"), Lines("").table()
    for first, own in Lines(text).slices():  # of millions of empty lines, none is kept
        record = pl.int_range(first + 1, first + 1 + pl.len(), dtype=pl.Int64)
        part = own.rename("line").to_frame()
        part = part.select(record=record, line=line.str.strip_chars(" \t\r"))
        frame = frame.vstack(part.filter(line != "", ~line.str.starts_with(COMMENT)))
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
    lines = Lines(text)
    texts = lines.gather([record - 1 for record in records])
    given = texts.str.strip_chars(" \t").str.count_matches("[ \t]+") + 1
    rows = zip(records, texts.str.len_chars(), given, strict=True)
    problems = (Problem(code, record, 0, size, {"given": count}) for record, size, count in rows)
    return findings_in_lines(problems, lines, member)
