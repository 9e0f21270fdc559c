"""What is wrong with the structure of an XML file: elements and attributes beside its schema.

lxml gives the verdict by the RELAX NG schema; only where it refuses is the schema walked through
element by element, for every fault with its place and what could have stood there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter

from hlteval.grammars.relaxng import NEVER, Content, Definition, after, allowed, elements, validator
from hlteval.syntax.xml_elements import Element, Fault


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
        return bool(validator(schema).validate(etree.fromstring(text.encode(), parser)))
    except etree.XMLSyntaxError:  # a prefix without a namespace
        return False


def explain(elements: Sequence[Element], schema: str) -> tuple[list[Fault], set[int]]:
    """The faults of a file, and the ordinals of the elements that are to be passed over.

    What stands where it must not is passed over with all that is in it.

    Args:
        elements: all elements of the file.
        schema: name of the schema.

    Examples:
        >>> from hlteval.syntax.xml_elements import parse
        >>> faults, _ = explain(parse("<LCTL_ANNOTATIONS><A/></LCTL_ANNOTATIONS>").elements, "laf")
        >>> [(fault.code, fault.values["expected"]) for fault in faults]
        [('XML105', '<DOC>')]
    """
    return _Walk(schema).over(elements)


class _Walk:
    """What is known of the elements that were walked through."""

    def __init__(self, schema: str) -> None:
        self.declared = elements(schema)
        self.states: dict[int, Content] = {}
        self.passed: set[int] = set()
        self.faults: list[Fault] = []

    def over(self, elements: Sequence[Element]) -> tuple[list[Fault], set[int]]:
        root = next(iter(self.declared))
        if elements[0].tag != root:
            return [elements[0].fault("XML110", root=root)], {one.ordinal for one in elements}
        for element in elements:
            if element.parent is not None and element.parent.ordinal in self.passed:
                self.passed.add(element.ordinal)
            elif self.stands(element):
                self.inside(element, self.declared[element.tag])
        ends = [one for one in elements if one.ordinal not in self.passed]
        self.faults += [fault for one in ends for fault in self.ended(one)]
        return sorted(self.faults, key=itemgetter(1, 2)), self.passed

    def stands(self, element: Element) -> bool:
        """Whether an element may stand where it does."""
        if element.parent is None:
            return True
        parent = element.parent.ordinal
        state = after(self.states[parent], element.tag)
        if state == NEVER:
            expected = _listed(allowed(self.states[parent]), element.parent.tag)
            self.faults.append(
                element.fault("XML105", parent=element.parent.tag, expected=expected)
            )
            self.passed.add(element.ordinal)
            return False
        self.states[parent] = state
        return True

    def inside(self, element: Element, known: Definition) -> None:
        """Look at the attributes and the text of an element."""
        self.states[element.ordinal] = known.content
        listed = ", ".join(known.attributes) or "none"
        for name, value in element.attributes.items():
            if name not in known.attributes:
                self.faults.append(
                    element.fault("XML107", name, attribute=name, given=value[:40], listed=listed)
                )
            elif name in known.values and value not in known.values[name]:
                choice = " or ".join(known.values[name])
                self.faults.append(
                    element.fault("XML112", name, attribute=name, given=value[:40], listed=choice)
                )
        self.faults += [
            element.fault("XML108", attribute=name)
            for name in known.required
            if name not in element.attributes
        ]
        if not known.text and (text := element.text.strip(" \t\r\n")):
            self.faults.append(element.fault("XML109", given=text[:40]))

    def ended(self, element: Element) -> Iterator[Fault]:
        state = self.states[element.ordinal]
        if not state.complete:
            yield element.fault("XML106", expected=_listed(allowed(state), element.tag))


def _listed(names: frozenset[str], parent: str) -> str:
    return " or ".join(f"<{name}>" for name in sorted(names)) or f"</{parent}>"
