"""Problems with the structure of an XML file: elements and attributes that break its schema.

lxml validates against the RELAX NG schema. Only a file that it rejects is compared with the schema
element by element, for every problem, its place, and what is expected there.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from hlteval.findings import Problem
from hlteval.grammars.relaxng import NEVER, Content, Definition, after, allowed, elements, validator
from hlteval.syntax.xml_elements import Element, Parsed, other_encoding, parse, problem_at

if TYPE_CHECKING:
    from lxml import etree

WIDE = 2000
"""Children of an element of which a sample is looked at first."""
_KEPT = 100
"""Children at the start and at the end of a sample; as many are between them."""


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


def structure(text: str, schema: str, encoding: str) -> Structure:
    """Parse a file and compare it with its schema.

    Args:
        text: the file.
        schema: name of the schema.
        encoding: the encoding that it was read in.

    Raises:
        Malformed: if it is not well-formed; see `parse`.

    Examples:
        >>> found = structure("<LCTL_ANNOTATIONS><A/></LCTL_ANNOTATIONS>", "laf", "utf-8")
        >>> len(found.elements), [problem.code for problem in found.problems]
        (1, ['XML105'])
    """
    parsed = parse(text)
    problems, skipped = ([], set()) if conforms(text, schema) else explain(parsed.elements, schema)
    if other_encoding(parsed.encoding, encoding):
        values = {"given": parsed.encoding or "UTF-8", "encoding": encoding}
        problems.insert(0, problem_at("XML103", 1, 1, values))
    elements = [element for element in parsed.elements if element.ordinal not in skipped]
    return Structure(parsed, elements, problems)


def conforms(text: str, schema: str) -> bool:
    """Whether a well-formed file without entities of its own is what a schema describes.

    Examples:
        >>> conforms("<LCTL_ANNOTATIONS/>", "laf"), conforms("<DOC/>", "laf")
        (True, False)
    """
    from lxml import etree

    # A file is as large as its source lets it be, and has no entities: there is nothing to bound.
    parser = etree.XMLParser(
        resolve_entities=False, load_dtd=False, no_network=True, huge_tree=True, encoding="utf-8"
    )
    try:
        return accepts(etree.fromstring(text.encode(), parser), schema)
    except etree.XMLSyntaxError:  # a prefix without a namespace
        return False


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
            count = len(element)
            between = range(_KEPT, count - _KEPT, count // _KEPT)
            kept = [*range(_KEPT), *between, *range(count - _KEPT, count)]
            children = list(element)
            element[:] = [children[number] for number in kept]
        if not validate(sample):
            return False
    return bool(validate(tree))


def _wide(tree: etree._Element) -> list[etree._Element]:
    """The elements with very many children."""
    found: Any = tree.xpath(f"descendant-or-self::*[count(*) > {WIDE}]")
    return list(found)


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
    return _Walk(schema).over(elements)


class _Walk:
    """The state of a walk through the elements of a file."""

    def __init__(self, schema: str) -> None:
        self.declared = elements(schema)
        self.required = {tag: known.required for tag, known in self.declared.items()}
        self.states: dict[int, Content] = {}
        self.passed: set[int] = set()
        self.problems: list[Problem] = []

    def over(self, elements: Sequence[Element]) -> tuple[list[Problem], set[int]]:
        root = next(iter(self.declared))
        if elements[0].tag != root:
            self.passed.update(element.ordinal for element in elements)
            return [elements[0].problem("XML110", root=root)], self.passed
        for element in elements:
            if element.parent is not None and element.parent.ordinal in self.passed:
                self.passed.add(element.ordinal)
            elif self.is_allowed(element):
                self.inside(element, self.declared[element.tag])
        complete = {state for state in set(self.states.values()) if state.complete}
        for element in elements:
            state = self.states.get(element.ordinal)
            if state is not None and state not in complete:
                expected = _listed(allowed(state), element.tag)
                self.problems.append(element.problem("XML106", expected=expected))
        return sorted(self.problems, key=itemgetter(1, 2)), self.passed

    def is_allowed(self, element: Element) -> bool:
        """Whether an element is allowed in its place."""
        if element.parent is None:
            return True
        parent = element.parent.ordinal
        state = after(self.states[parent], element.tag)
        if state == NEVER:
            expected = _listed(allowed(self.states[parent]), element.parent.tag)
            self.problems.append(
                element.problem("XML105", parent=element.parent.tag, expected=expected)
            )
            self.passed.add(element.ordinal)
            return False
        self.states[parent] = state
        return True

    def inside(self, element: Element, known: Definition) -> None:
        """Check the attributes and the text of an element."""
        self.states[element.ordinal] = known.content
        for name, value in element.attributes.items():
            if name.startswith("xmlns:"):  # a prefix; a default namespace would change all names
                continue
            if name not in known.attributes:
                names = ", ".join(known.attributes) or "none"
                self.problems.append(
                    element.problem("XML107", name, attribute=name, given=value[:40], listed=names)
                )
            elif name in known.values and value not in known.values[name]:
                choice = " or ".join(known.values[name])
                self.problems.append(
                    element.problem("XML112", name, attribute=name, given=value[:40], listed=choice)
                )
        self.problems += [
            element.problem("XML108", attribute=name)
            for name in self.required[element.tag]
            if name not in element.attributes
        ]
        if not known.text and (text := element.text.strip(" \t\r\n")):
            self.problems.append(element.problem("XML109", given=text[:40]))


def _listed(names: frozenset[str], parent: str) -> str:
    return " or ".join(f"<{name}>" for name in sorted(names)) or f"</{parent}>"
