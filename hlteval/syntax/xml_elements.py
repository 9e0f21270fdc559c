"""The elements of an XML file with their places, and what breaks its schema.

Nothing is expanded, nothing is fetched. The parser is expat, the only one that gives line and
column anywhere in a file. A document type
declaration may name a DTD, which is never read. A file with an internal DTD, or too deep
nesting, is rejected before anything is expanded.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from operator import itemgetter
from pyexpat import ExpatError, ParserCreate, XMLParserType
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from hlteval.findings import Problem, spot
from hlteval.grammars.relaxng import NEVER, Content, Definition, after, next_names, validator
from hlteval.grammars.relaxng import elements as elements_of
from hlteval.syntax.tsv import shorten
from hlteval.syntax.xml_places import lines_of

if TYPE_CHECKING:
    from lxml import etree

#: Deepest nesting of elements; real formats have less than ten levels.
DEEPEST = 100

_SUBSET = re.compile(r"<!DOCTYPE[^\[>]*\[")
_SPECIAL = re.compile(r"&(?!(?:[A-Za-z_][\w.-]*|#[0-9]+|#x[0-9A-Fa-f]+);)|<(?![A-Za-z_/!?])")
#: An ampersand with a name, without the semicolon of a reference.
_UNENDED = re.compile(r"&[\w.-]+")
_NAME = re.compile(r"[\w:.-]+")
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def problem_at(code: str, line: int, column: int, **values: object) -> Problem:
    """A problem with the tag that begins at a line and column, both counted from 1."""
    return Problem(code, line, column - 1, column - 1, values)


#: Characters of a name, or of a list of names, in a message.
_LONGEST = 1000


class Element(NamedTuple):
    """An element: its ordinal in the file (from 1), and where its tag begins (from 1)."""

    ordinal: int
    tag: str
    attributes: dict[str, str]
    parent: Element | None
    line: int
    column: int
    chunks: list[str]

    @property
    def text(self) -> str:
        """Its own text, without the text of its children."""
        return "".join(self.chunks)

    def problem(self, code: str, field: str = "", **values: object) -> Problem:
        """A problem with this element, or with one of its attributes or its text."""
        short = _message_values(("element", self.tag), *values.items())
        return Problem(code, self.line, self.column - 1, self.column + len(self.tag), short, field)


@lru_cache(maxsize=100)
def _message_values(*values: tuple[str, object]) -> Mapping[str, object]:
    """Values of a message; many problems of a file have the same. A name may be a megabyte long."""
    texts = {name: shorten(value, _LONGEST) for name, value in values if isinstance(value, str)}
    return MappingProxyType({**dict(values), **texts})


class Doctype(NamedTuple):
    """The root element and the DTD that a document type declaration names."""

    root: str
    system: str


class Parsed(NamedTuple):
    """A file: its elements in the order of their start tags, its document type and its encoding."""

    elements: list[Element]
    doctype: Doctype | None
    encoding: str | None


class Malformed(Exception):
    """A file is not well-formed XML, or has what is never read; `problem` is the reason."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.code)
        self.problem = problem


def parse(text: str) -> Parsed:
    r"""The elements of a file.

    Raises:
        Malformed: XML101, XML102, XML104 or XML111.

    Examples:
        >>> root, child = parse("<a>\n <b x='1'>c</b></a>").elements
        >>> child.tag, child.attributes, child.text, (child.line, child.column)
        ('b', {'x': '1'}, 'c', (2, 2))
    """
    return Reader(text).read()


class Reader:
    """The state of reading a file, event by event."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.count = 0
        self.parser: XMLParserType = ParserCreate("utf-8")
        self.parser.ordered_attributes = False
        self.parser.buffer_text = True
        self.elements: list[Element] = []
        self.open: list[Element] = []
        self.doctype: Doctype | None = None
        self.encoding: str | None = None

    def read(self) -> Parsed:
        """All elements of the file."""
        self.parser.XmlDeclHandler = self.xml_declaration
        self.parser.StartDoctypeDeclHandler = self.document_type
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = lambda _: self.open.pop()
        self.parser.CharacterDataHandler = self.characters
        self.parser.SkippedEntityHandler = self.skip_entity
        try:
            self.parser.Parse(self.text.encode(), True)
        except ExpatError as error:
            raise Malformed(self.syntax_problem(error)) from error
        return Parsed(self.elements, self.doctype, self.encoding)

    def xml_declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        """Keep the encoding of the XML declaration."""
        self.encoding = encoding

    def document_type(self, root: str, system: str | None, _: str | None, subset: int) -> None:
        """Keep the document type; reject one with a subset of its own."""
        if subset:
            found = _SUBSET.search(self.text)
            place = spot(self.text, found.end() - 1 if found else 0)
            raise Malformed(problem_at("XML102", place.line, place.column))
        self.doctype = Doctype(root, system or "")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Add an element."""
        parser = self.parser
        line, column = parser.CurrentLineNumber, parser.CurrentColumnNumber + 1
        parent = self.open[-1] if self.open else None
        if len(self.open) >= DEEPEST:
            raise Malformed(problem_at("XML104", line, column, limit=DEEPEST))
        self.count += 1
        element = Element(self.count, tag, attributes, parent, line, column, [])
        self.elements.append(element)
        self.open.append(element)

    def characters(self, text: str) -> None:
        """Add text to the open element."""
        self.open[-1].chunks.append(text)

    def skip_entity(self, name: str, _parameter: bool) -> None:
        """Reject an entity that is not declared."""
        line, column = self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1
        raise Malformed(problem_at("XML111", line, column, entity=f"&{name};"))

    def syntax_problem(self, error: ExpatError) -> Problem:
        """The problem at which expat stopped, with a hint."""
        lines = lines_of(self.text)
        line, column = error.lineno, error.offset + 1
        if line > 1 and (line > len(lines) or (line == len(lines) and not lines[-1])):
            line, column = line - 1, len(lines[line - 2]) + 1  # no line follows the last line break
        reason = str(error).partition(":")[0]
        hint = "check the characters before this place"
        written = lines[line - 1] if line <= len(lines) else ""
        rest = written[column - 1 :]
        if written[: column - 1].endswith("=") and "invalid token" in reason:
            hint = "write the value of the attribute between quotation marks"
        before = written.rfind("&", 0, column - 1)  # a name may follow it
        special = _SPECIAL.match(written, max(0, column - 2))
        special = special or _UNENDED.fullmatch(written, max(0, before), column - 1)
        if "undefined entity" in reason:
            entity = rest.partition(";")[0] + ";"
            return problem_at("XML111", line, column, entity=entity[:40])
        if self.open and reason in {"no element found", "unclosed token"}:
            last = self.open[-1]
            reason = f"unexpected end of file inside <{last.tag}> of line {last.line}"
            hint = "write or copy the file again if it is truncated, or add the missing end tag"
        elif reason == "no element found":
            reason, hint = "no element found", "check the file; it is empty or not XML"
        elif reason == "mismatched tag":
            last, name = self.open[-1], _NAME.match(rest)
            reason = f"end tag does not match <{last.tag}> of line {last.line}"
            hint = f"add </{last.tag}> before it, or remove it"
            if name and all(element.tag != name[0] for element in self.open):
                tags = f"<{last.tag}> and </{name[0]}>"
                hint = f"write the same name in both tags; here they are {tags}"
        elif reason == "junk after document element":
            reason, hint = "unexpected content after the root element", "remove it"
        elif reason == "duplicate attribute":
            hint = "keep one of them"
        elif _UNSEEN.match(rest):
            reason = f"U+{ord(rest[0]):04X} is not allowed in XML"
            hint = "remove the character"
        elif special:
            column = special.start() + 1
            reason = f"unescaped {special[0][0]} in XML"
            hint = f"write {'&amp;' if special[0][0] == '&' else '&lt;'}"
        return problem_at("XML101", line, column, reason=reason, hint=hint)


def encoding_problem(declared: str | None, encoding: str) -> Problem | None:
    """The problem of a file that declares another encoding than the one that it is read in.

    Examples:
        >>> encoding_problem("utf8", "utf-8"), encoding_problem("ISO-8859-1", "utf-8").code
        (None, 'XML103')
    """
    name = codecs.lookup(encoding).name
    try:
        given = {"utf-8", "ascii"} if declared is None else {codecs.lookup(declared).name}
    except LookupError:
        given = set()
    values = {"given": declared or "UTF-8", "encoding": encoding}
    return None if name in given else problem_at("XML103", 1, 1, **values)


#: Children of an element of which a sample is looked at first.
WIDE = 2000
#: Children at the start and at the end of a sample; as many are between them.
_KEPT = 100


class Structure(NamedTuple):
    """A file that is compared with its schema.

    Attributes:
        parsed: the file.
        elements: its elements without those to skip.
        problems: what breaks the schema, and another encoding than the declared one.
    """

    parsed: Parsed
    elements: list[Element]
    problems: list[Problem]


def examine(text: str, schema: str, encoding: str, reader: type[Reader] = Reader) -> Structure:
    """Parse a file and compare it with its schema; a malformed file has a problem and no elements.

    Args:
        text: the file.
        schema: name of the schema.
        encoding: the encoding that it was read in.
        reader: reads it.

    Examples:
        >>> found = examine("<LCTL_ANNOTATIONS><A/></LCTL_ANNOTATIONS>", "laf", "utf-8")
        >>> len(found.elements), [problem.code for problem in found.problems]
        (1, ['XML105'])
        >>> [problem.code for problem in examine("<A>", "laf", "utf-8").problems]
        ['XML101']
    """
    try:
        parsed = reader(text).read()
    except Malformed as reason:
        return Structure(Parsed([], None, None), [], [reason.problem])
    problems, skipped = ([], set()) if conforms(text, schema) else explain(parsed.elements, schema)
    if problem := encoding_problem(parsed.encoding, encoding):
        problems.insert(0, problem)
    elements = [element for element in parsed.elements if element.ordinal not in skipped]
    return Structure(parsed, elements, problems)


def doctype_problem(
    text: str, parsed: Parsed, expected: Doctype, missing: str, other: str
) -> Iterator[Problem]:
    """Give the problem with the document type of a file, if it has the root of a format.

    Args:
        text: the file.
        parsed: the file as parsed.
        expected: the document type of the format.
        missing: the code of a document type that is missing.
        other: the code of another document type.
    """
    root = next(iter(parsed.elements), None)
    if root is None or root.tag != expected.root:
        return
    if parsed.doctype is None:
        yield root.problem(missing, given="missing")
    elif parsed.doctype != expected:
        place = spot(text, text.find("<!DOCTYPE"))
        yield problem_at(other, place.line, place.column, given=" ".join(parsed.doctype)[:80])


def conforms(text: str, schema: str) -> bool:
    """Whether a well-formed file without entities of its own is what a schema describes.

    Examples:
        >>> conforms("<LCTL_ANNOTATIONS/>", "laf"), conforms("<DOC/>", "laf")
        (True, False)
    """
    from lxml import etree

    try:
        return accepts(etree.fromstring(text.encode(), lxml_parser()), schema)
    except etree.XMLSyntaxError:  # a prefix without a namespace
        return False


def lxml_parser(**options: bool) -> etree.XMLParser:
    """A parser that expands and fetches nothing.

    A file is as large as its source lets it be, and has no entities: there is nothing to bound.
    """
    from lxml import etree

    safe = {"resolve_entities": False, "load_dtd": False, "no_network": True, "huge_tree": True}
    every: Any = {**safe, **options}
    return etree.XMLParser(encoding="utf-8", **every)


def accepts(tree: etree._Element, schema: str) -> bool:
    """Whether lxml accepts a tree.

    For each error it counts all siblings before the element. So of an element with very many
    children a sample must be accepted first: few errors are left then.

    Examples:
        >>> from lxml import etree
        >>> accepts(etree.fromstring("<LCTL_ANNOTATIONS/>"), "laf")
        True
    """
    validate = validator(schema).validate
    if _wide(tree):
        sample = deepcopy(tree)
        for element in _wide(sample):
            children = list(element)
            between = children[_KEPT : -_KEPT : len(children) // _KEPT]
            element[:] = [*children[:_KEPT], *between, *children[-_KEPT:]]
        if not validate(sample):
            return False
    return bool(validate(tree))


def _wide(tree: etree._Element) -> list[etree._Element]:
    """The elements with very many children."""
    return [element for element in tree.iter("*") if len(element) > WIDE]


def explain(elements: Sequence[Element], schema: str) -> tuple[list[Problem], set[int]]:
    """The problems of a file, and the ordinals of the elements to skip.

    A misplaced element is skipped with its content.

    Args:
        elements: all elements of the file.
        schema: name of the schema.

    Examples:
        >>> from hlteval.syntax.xml_elements import parse
        >>> elements = parse("<LCTL_ANNOTATIONS><A/></LCTL_ANNOTATIONS>").elements
        >>> problems, _ = explain(elements, "laf")
        >>> [(problem.code, problem.values["expected"]) for problem in problems]
        [('XML105', '<DOC>')]
    """
    declared = elements_of(schema)
    root = next(iter(declared))
    if elements[0].tag != root:
        return [elements[0].problem("XML110", root=root)], {each.ordinal for each in elements}
    problems, passed = list[Problem](), set[int]()
    states: dict[int, Content] = {}
    for element in elements:
        if (parent := element.parent) is not None:
            if parent.ordinal in passed:
                passed.add(element.ordinal)
                continue
            state = states[parent.ordinal]
            states[parent.ordinal] = after(state, element.tag)
            if states[parent.ordinal] == NEVER:
                states[parent.ordinal] = state
                expected = _choice_of_tags(next_names(state), parent.tag)
                problems.append(element.problem("XML105", parent=parent.tag, expected=expected))
                passed.add(element.ordinal)
                continue
        states[element.ordinal] = declared[element.tag].content
        problems += _problems_inside(element, declared[element.tag])
    complete = {state for state in set(states.values()) if state.complete}
    for element in elements:
        last = states.get(element.ordinal)
        if last is not None and last not in complete:
            expected = _choice_of_tags(next_names(last), element.tag)
            problems.append(element.problem("XML106", expected=expected))
    return sorted(problems, key=itemgetter(1, 2)), passed


def _problems_inside(element: Element, known: Definition) -> Iterator[Problem]:
    """The problems of the attributes and the text of an element."""
    for name, value in element.attributes.items():
        if name.startswith("xmlns:"):  # a prefix; a default namespace would change all names
            continue
        if name not in known.attributes:
            code, choice = "XML107", ", ".join(known.attributes) or "none"
        elif name in known.values and value not in known.values[name]:
            code, choice = "XML112", " or ".join(known.values[name])
        else:
            continue
        yield element.problem(code, name, attribute=name, given=value[:40], listed=choice)
    for name, is_needed in known.attributes.items():
        if is_needed and name not in element.attributes:
            yield element.problem("XML108", attribute=name)
    if not known.text and (text := element.text.strip(" \t\r\n")):
        yield element.problem("XML109", given=text[:40])


def _choice_of_tags(names: frozenset[str], parent: str) -> str:
    return " or ".join(f"<{name}>" for name in sorted(names)) or f"</{parent}>"
