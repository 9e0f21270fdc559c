"""The lines of CoNLL coreference: columns, the brackets in the last, names of documents."""

from __future__ import annotations

import re

BEGIN = re.compile(r"#begin document \((?P<name>[^\n]*?)\)(?:; part (?P<part>[0-9]+))?[ \t\r]*$")
END = re.compile(r"#end document[ \t\r]*$")
_PART = re.compile(r"(\()?([^()|\s]+)(\))?")
NONE = {"-", "_", "*"}


def columns(line: str) -> list[str]:
    r"""The columns of a line: separated by tabs if it has some, else by spaces.

    Examples:
        >>> columns("d 0 1  Osh (3)"), columns("New York\t-")
        (['d', '0', '1', 'Osh', '(3)'], ['New York', '-'])
    """
    return line.split("\t") if "\t" in line else line.split() or [""]


def brackets(cell: str) -> list[tuple[bool, str, bool]] | None:
    """The mentions that begin or end at a token, from its last column.

    Args:
        cell: of the last column, with `|` between its parts.

    Returns:
        For each part whether a mention begins, its entity, and whether it ends; None if the cell is
        not valid.

    Examples:
        >>> brackets("(1|(7)"), brackets("-"), brackets("1|")
        ([(True, '1', False), (True, '7', True)], [], None)
    """
    if cell in NONE:
        return []
    found = []
    for text in cell.split("|"):
        match = _PART.fullmatch(text)
        if match is None or not (match[1] or match[3]):
            return None
        found.append((bool(match[1]), match[2], bool(match[3])))
    return found


def part(begun: re.Match[str]) -> str:
    """The name of a document, with its part if that is not the first.

    Examples:
        >>> line = "#begin document (D1); part 002"
        >>> part(BEGIN.match(line)), part(BEGIN.match(line.replace("2", "0")))
        ('D1;2', 'D1')
    """
    number = (begun["part"] or "").lstrip("0")  # which may be longer than any number
    return f"{begun['name']};{number}" if number else begun["name"]
