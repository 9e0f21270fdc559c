"""The lines of CoNLL coreference: columns, the brackets of the last one, names of documents."""

from __future__ import annotations

import re

BEGIN = re.compile(r"#begin document \((?P<name>[^\n]*?)\)(?:; part (?P<part>[0-9]+))?[ \t\r]*$")
END = re.compile(r"#end document[ \t\r]*$")
_PART = re.compile(r"(\()?([^()|\s]+)(\))?")
NONE = {"-", "_", "*"}


def columns(line: str) -> list[str]:
    r"""The columns of a line: divided by tabs where it has some, else by blanks.

    Examples:
        >>> columns("d 0 1  Osh (3)"), columns("New York\t-")
        (['d', '0', '1', 'Osh', '(3)'], ['New York', '-'])
    """
    return line.split("\t") if "\t" in line else line.split() or [""]


def parts(cell: str) -> list[tuple[bool, str, bool]] | None:
    """What a cell says: for each part whether it begins, its entity, whether it ends.

    Returns:
        None where the cell is none.

    Examples:
        >>> parts("(1|(7)"), parts("-"), parts("1|")
        ([(True, '1', False), (True, '7', True)], [], None)
    """
    if cell in NONE:
        return []
    found = [_PART.fullmatch(one) for one in cell.split("|")]
    said = [(bool(one[1]), one[2], bool(one[3])) for one in found if one is not None]
    whole = len(said) == len(found) and all(begins or ends for begins, _, ends in said)
    return said if whole else None


def part(begun: re.Match[str]) -> str:
    """The name of a document, with its part where that is not the first.

    Examples:
        >>> line = "#begin document (D1); part 002"
        >>> part(BEGIN.match(line)), part(BEGIN.match(line.replace("2", "0")))
        ('D1;2', 'D1')
    """
    number = (begun["part"] or "").lstrip("0")  # which may be longer than any number
    return f"{begun['name']};{number}" if number else begun["name"]
