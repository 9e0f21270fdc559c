"""The lines of a table of entity mentions: their columns, and those that no pattern accepts.

Lines with eight cells and a plain extent are read in bulk; `explain` reads all others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from hlteval.findings import Problem
from hlteval.grammars import pattern
from hlteval.syntax.tsv import WHITE_SPACE, Column, Explanation, Table, is_blank, shorten

#: Most characters of a text that a message quotes.
SHOWN = 60
_OFFSETS = re.compile(r"(\d{1,15})-(\d{1,15})")
_SPACES = re.compile(f"[{WHITE_SPACE}]+")


def explain(record: int, line: str) -> Explanation:
    r"""The cells of a line, its extent in plain form, and its problems.

    Args:
        record: the number of the line.
        line: the line, without its line break.

    Examples:
        >>> good = "R\tm1\tOsh\tD1:10-12\t7\tGPE\tNAM\t1.0"
        >>> explain(1, good.replace(":", ": "))[0][0][3]
        'D1:10-12'
        >>> [problem.code for problem in explain(1, good + "\t")[1]]
        ['EDL211']
        >>> [problem.code for problem in explain(1, good.replace(":", " "))[1]]
        ['EDL203']
    """
    cells, wanted = line.split("\t"), len(TABLE.columns)
    filled = line.rstrip("\t")
    if len(cells) < wanted or filled.count("\t") != wanted - 1:
        return (), [_miscounted(record, line)]
    problems = []
    if surplus := len(line) - len(filled) if len(cells) > wanted else 0:
        problems.append(Problem("EDL211", record, len(filled), len(line), {"count": surplus}))
    start, end = TABLE.stretch(line, "extent")
    extent, more = read_extent(line[start:end])
    problems += [
        problem._replace(record=record, start=start + problem.start, end=start + problem.end)
        for problem in more
    ]
    return [[*cells[:3], extent, *cells[4:wanted]]] if extent else (), problems


def _miscounted(record: int, line: str) -> Problem:
    """The problem of a line that does not have eight cells."""
    cells, filled = line.split("\t"), line.rstrip("\t").count("\t") + 1
    names, wanted = [column.name for column in TABLE.columns], len(TABLE.columns)
    if len(cells) == wanted and filled == wanted - 1:
        hint = "add the confidence (field 8), such as 1.0"
    elif len(cells) == 1 and "\r" in line:
        hint = "end lines with LF, not with CR alone"
    elif len(cells) == 1 and len(line.split()) >= wanted:
        hint = "separate the fields with tabs, not spaces"
    else:
        hint = f"write {', '.join(names)}, separated by single tabs"
    given = len(cells) if filled > wanted else filled
    return Problem("EDL201", record, 0, len(line), {"given": given, "wanted": wanted, "hint": hint})


def read_extent(cell: str) -> tuple[str | None, list[Problem]]:
    """An extent in plain form, None if it cannot be read; and its problems, placed in the cell.

    Examples:
        >>> extent, problems = read_extent("D1:10-12:x")
        >>> extent, [problem.code for problem in problems]
        ('D1:10-12', ['EDL212'])
    """
    whole = (0, 0, len(cell))
    if is_blank(cell):
        return None, [Problem("EDL202", *whole)]
    document, colon, rest = cell.partition(":")
    if not colon:
        return None, [Problem("EDL203", *whole, {"given": shorten(cell, SHOWN)})]
    if is_blank(document):
        return None, [Problem("EDL204", 0, 0, 1)]
    offsets = rest.partition(":")[0]
    if found := _OFFSETS.fullmatch(offsets):
        return _plain(document, found), list(_oddities(cell, document, offsets))
    # a colon in the identifier, or a space or another dash in the offsets
    document, _, offsets = cell.rpartition(":")
    found = re.fullmatch(r" ?(\d{1,15}) ?[-\u2013] ?(\d{1,15})", offsets)
    if not found:
        start = cell.index(":") + 1
        values = {"given": shorten(cell[start:] or "nothing", SHOWN)}
        return None, [Problem("EDL205", 0, min(start, len(cell) - 1), len(cell), values)]
    problems = list(_oddities(cell, document, offsets))
    if ":" in document:
        name = shorten(document, SHOWN)
        problems.append(Problem("EDL215", 0, 0, len(document), {"name": name}))
    if not _OFFSETS.fullmatch(offsets):
        values = {"given": offsets, "fix": f"{int(found[1])}-{int(found[2])}"}
        problems.append(Problem("EDL216", 0, len(document) + 1, len(cell), values))
    return _plain(document, found), problems


def _plain(document: str, offsets: re.Match[str]) -> str:
    return f"{document}:{int(offsets[1])}-{int(offsets[2])}"


def _oddities(cell: str, document: str, offsets: str) -> Iterator[Problem]:
    """What is odd in an extent that can be read."""
    start, end = len(document) + 1, len(document) + 1 + len(offsets)
    if space := _SPACES.search(document):
        yield Problem("EDL214", 0, *space.span(), {"name": shorten(document, SHOWN)})
    if not offsets.replace("\u2013", "").isascii():
        fixed = "".join(str(int(c)) if c.isdecimal() else c for c in offsets)
        yield Problem("EDL213", 0, start, end, {"given": offsets, "fix": fixed})
    if len(cell) > end:
        yield Problem("EDL212", 0, end, len(cell), {"given": shorten(cell[end:], SHOWN)})


#: A record has eight cells; its header is that of LDC's annotations.
TABLE = Table(
    (
        Column("run", heading="system_run_id"),
        Column("mention", heading="mention_id"),
        Column("text", heading="mention_text"),
        Column("extent", heading="extents", pattern=partial(pattern, "edl", "extent")),
        Column("entity", heading="kb_id", usual=r"(?:NIL)?[0-9]+(?:\|(?:NIL)?[0-9]+)*"),
        Column("type", heading="entity_type", usual="GPE|LOC|ORG|PER"),
        Column("mention type", heading="mention_type", usual="NAM|NOM"),
        Column(
            "confidence",
            pattern=r"[^\t]+",
            usual=r"0*(?:\.[0-9]+|1(?:\.0*)?|0\.[0-9]*)(?:[eE]-?[0-9]+)?",
        ),
    ),
    header="optional",
    exact=False,
    empty_code="EDL103",
    explain=explain,
)
