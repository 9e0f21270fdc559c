"""The older form of mteval, in SGML: a set without a root, tags in any case, bare attributes.

Programs read it by searching for tags, so that texts have `&` and `<` as they are. Only the tags of
the format are tags here; everything else between those of a segment is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from hlteval.findings import Bounded, Finding, Problem
from hlteval.sources import Member
from hlteval.syntax.xml_elements import Element
from hlteval.syntax.xml_places import lines_of

SETS = ("srcset", "refset", "tstset")
#: The levels of elements: none is inside another one of its level.
_LEVELS = {
    "mteval": 0,
    **dict.fromkeys(SETS, 1),
    "doc": 2,
    **dict.fromkeys(("hl", "poster", "p"), 3),
    "seg": 4,
}
_TAGS = tuple(_LEVELS)
_VALUE = r"""[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'|[^\s"'<>]+)"""
_TAG = re.compile(rf"<!--|<(/?)({'|'.join(_TAGS)})((?:\s+{_VALUE})*)\s*(/?)>", re.I)
_ATTRIBUTE = re.compile(r"""([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_FIRST = re.compile(rf"<({'|'.join(_TAGS)})[\s>]", re.I)
_ENTITY = re.compile("&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#x([0-9a-fA-F]{1,6}));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_LAST = 0x10FFFF
Problems = list[tuple[Problem, str | None]]


def is_sgml(text: str) -> bool:
    """Whether a file is in the older form: its first tag is not the root of XML.

    Examples:
        >>> is_sgml("<mteval>"), is_sgml('<refset setid="x">'), is_sgml("<MTEVAL>")
        (False, True, True)
    """
    first = _FIRST.search(text)
    return first is not None and first[1] != "mteval"


def parse(text: str) -> tuple[list[Element], Problems]:
    r"""The elements of a file below a root `mteval`, and the problems with its tags.

    Examples:
        >>> elements, problems = parse("<refset>\n<DOC docid=d><seg id=1>a & b</DOC>")
        >>> [(element.tag, element.ordinal, element.line) for element in elements]
        [('mteval', 0, 1), ('refset', 1, 1), ('doc', 2, 2), ('seg', 3, 2)]
        >>> elements[-1].text, [(problem.code, problem.record) for problem, _ in problems]
        ('a & b', [('MTF202', 2), ('MTF202', 1)])
    """
    reader = _Reader(text)
    reader.read()
    return reader.elements, reader.problems


def findings(text: str, problems: Problems, file: Member) -> list[Finding]:
    """The findings of problems with tags, each with the identifier of its element.

    Args:
        text: the text of the file.
        problems: the problems with their identifiers.
        file: the file.
    """
    lines, bounded = lines_of(text) if problems else [], Bounded(file.max_per_code)

    def finding(_: int, named: tuple[Problem, str | None]) -> Finding:
        problem, name = named
        line = lines[problem.record - 1]  # the root is in no line
        inside = problem._replace(end=max(problem.start, min(problem.end, len(line))))
        return inside.in_line(file.display, line, name)

    for named in problems:
        bounded.add(named[0].code, named[0].record, finding, named)
    return bounded.findings


def starts(text: str, wanted: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Line and column, from 1, of start tags by ordinal."""
    left = set(wanted)
    elements, _ = parse(text) if left else ([], [])
    return {e.ordinal: (e.line, e.column) for e in elements if e.ordinal in left}


class _Reader:
    """The state of reading a file, tag by tag."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.elements = [Element(0, "mteval", {}, None, 1, 1, [])]
        self.open = [self.elements[0]]
        self.problems: Problems = []
        self.line, self.begin, self.placed, self.at, self.count = 1, 0, 0, 0, 0
        self.last_comment = text.rfind("-->")

    def read(self) -> None:
        """All elements of the file."""
        for match in _TAG.finditer(self.text):
            if match.start() < self.at:
                continue  # inside a comment
            self.characters(self.text[self.at : match.start()])
            self.at = match.end() if match[2] else self.after_comment(match.start())
            if match[2]:
                self.tag(match)
        self.characters(self.text[self.at :])
        self.leave(0)

    def after_comment(self, start: int) -> int:
        """Where a comment ends; one without an end is text."""
        end = self.text.find("-->", start) if start <= self.last_comment else -1
        return end + len("-->") if end >= 0 else start

    def leave(self, level: int) -> None:
        """Leave the open elements below a level, which have no end tag."""
        while len(self.open) > 1 and _LEVELS[self.open[-1].tag] > level:
            self.missing_end(self.open.pop())

    def place(self, index: int) -> tuple[int, int]:
        """Line and column of a place after the last one that was asked for."""
        lines = self.text.count("\n", self.placed, index)
        if lines:
            self.line += lines
            self.begin = self.text.rfind("\n", self.placed, index) + 1
        self.placed = index
        return self.line, index - self.begin + 1

    def tag(self, match: re.Match[str]) -> None:
        """Enter or leave an element."""
        closing, tag, attributes, empty = match.groups()
        line, column = self.place(match.start())
        tag = tag.lower()
        if closing:
            self.end(tag, line, column)
            return
        self.count += 1
        if tag == "mteval" and len(self.open) == 1:
            return  # the root is there already
        self.leave(_LEVELS[tag] - 1)
        pairs = _ATTRIBUTE.finditer(attributes)
        values = {m[1].lower(): decoded(m[2] or m[3] or m[4] or "") for m in pairs}
        element = Element(self.count, tag, values, self.open[-1], line, column, [])
        self.elements.append(element)
        if not empty:
            self.open.append(element)

    def end(self, tag: str, line: int, column: int) -> None:
        """Leave an element, and those inside it that have no end tag."""
        if tag == "mteval":
            return
        if tag not in [element.tag for element in self.open[1:]]:
            end = column + len(f"</{tag}")
            self.problems.append((Problem("MTF203", line, column - 1, end, {"tag": tag}), None))
            return
        self.leave(_LEVELS[tag])
        self.open.pop()

    def missing_end(self, element: Element) -> None:
        self.problems.append((element.problem("MTF202", tag=element.tag), _name(element)))

    def characters(self, text: str) -> None:
        """Add text to the open segment; between elements there is layout, and declarations."""
        if self.open[-1].tag == "seg" and text:
            self.open[-1].chunks.append(decoded(text))


def _name(element: Element) -> str | None:
    return element.attributes.get("docid", element.attributes.get("id"))


def decoded(text: str) -> str:
    """A text with its character references decoded; an ampersand alone stays.

    Examples:
        >>> decoded("AT&amp;T & R&D &#233;"), decoded("&nbsp;&#x110000;")
        ('AT&T & R&D é', '&nbsp;&#x110000;')
    """
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(match: re.Match[str]) -> str:
    if match[1]:
        return _NAMED[match[1]]
    code = int(match[2]) if match[2] else int(match[3], 16)
    surrogate = 0xD800 <= code <= 0xDFFF
    return chr(code) if 0 < code <= _LAST and not surrogate else match[0]
