"""RELAX NG schemas, which define the elements and attributes of an XML format.

`validator` is the schema for lxml, which accepts or rejects a file. `elements` is the same schema
by element, to explain an error: `after` returns the content that can follow a child. It supports
the patterns of our schemas, in which attributes do not depend on each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, reduce
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lxml import etree

_NS = "{http://relaxng.org/ns/structure/1.0}"


class Content(NamedTuple):
    """The content model of an element, as an expression over the names of its children.

    Attributes:
        kind: `element`, `then`, `or`, `many` (once or more), `empty` or `never`.
        name: name of the child, for `element`.
        parts: the operands of the other kinds.
    """

    kind: str
    name: str = ""
    parts: tuple[Content, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether the content may end here."""
        complete = [part.complete for part in self.parts]
        return (self.kind == "empty") or (
            any(complete) if self.kind == "or" else bool(complete) and all(complete)
        )


EMPTY, NEVER = Content("empty"), Content("never")


@dataclass(frozen=True, slots=True)
class Definition:
    """The definition of an element in a schema.

    Attributes:
        attributes: whether each attribute is required, by name, in order.
        values: the allowed values of enumerated attributes, by name.
        content: the content model.
        text: whether text is allowed.
    """

    attributes: Mapping[str, bool]
    values: Mapping[str, tuple[str, ...]]
    content: Content
    text: bool


@cache
def validator(name: str) -> etree.RelaxNG:
    """The validator of a schema.

    Examples:
        >>> from lxml import etree
        >>> validator("laf").validate(etree.fromstring("<LCTL_ANNOTATIONS/>"))
        True
    """
    from lxml import etree

    return etree.RelaxNG(_tree(name))


@cache
def elements(name: str) -> Mapping[str, Definition]:
    """The elements of a schema by name, root first.

    Examples:
        >>> elements("ltf")["SEG"].attributes["id"], next(iter(elements("ltf")))
        (True, 'LCTL_TEXT')
    """
    nodes = _tree(name).iter(f"{_NS}element")
    return {str(node.get("name")): _element(node) for node in nodes}


@cache
def after(content: Content, name: str) -> Content:
    """The content that can follow a child; `NEVER` if the child is not allowed.

    Examples:
        >>> segment = elements("ltf")["SEG"].content
        >>> sorted(next_names(segment)), sorted(next_names(after(segment, "TOKEN")))
        (['ORIGINAL_TEXT', 'TOKEN'], ['TOKEN'])
    """
    if content.kind == "element":
        return EMPTY if content.name == name else NEVER
    if content.kind == "or":
        return reduce(_or, (after(part, name) for part in content.parts), NEVER)
    if content.kind == "many":
        (part,) = content.parts
        return _then(after(part, name), _or(content, EMPTY))
    if content.kind == "then":
        first, second = content.parts
        following = _then(after(first, name), second)
        return _or(following, after(second, name)) if first.complete else following
    return NEVER


@cache
def next_names(content: Content) -> frozenset[str]:
    """The names of the children that are allowed next."""
    if content.kind == "element":
        return frozenset({content.name})
    if content.kind == "then" and not content.parts[0].complete:
        return next_names(content.parts[0])
    return frozenset().union(*map(next_names, content.parts))


def _or(left: Content, right: Content) -> Content:
    if NEVER in (left, right):
        return left if right == NEVER else right
    return left if left == right else Content("or", parts=(left, right))


def _then(left: Content, right: Content) -> Content:
    if NEVER in (left, right):
        return NEVER
    if EMPTY in (left, right):
        return left if right == EMPTY else right
    return Content("then", parts=(left, right))


@cache
def _tree(name: str) -> etree._Element:
    from lxml import etree

    data = resources.files("hlteval.grammars").joinpath(f"{name}.rng").read_bytes()
    return etree.fromstring(data)


def _element(node: etree._Element) -> Definition:
    attributes = {str(child.get("name")): child for child in node.iter(f"{_NS}attribute")}
    return Definition(
        attributes={name: child.getparent() is node for name, child in attributes.items()},
        values={
            name: tuple(str(value.text) for value in child.iter(f"{_NS}value"))
            for name, child in attributes.items()
            if child.find(f".//{_NS}value") is not None
        },
        content=_sequence(node),
        text=node.find(f".//{_NS}text") is not None,
    )


def _sequence(node: etree._Element) -> Content:
    return reduce(_then, map(_content, node.iterchildren(f"{_NS}*")), EMPTY)


def _content(pattern: etree._Element) -> Content:
    """The content model of a pattern of the schema."""
    kind = str(pattern.tag).removeprefix(_NS)
    if kind == "ref":
        return Content("element", str(pattern.get("name")))
    if kind == "choice":
        return reduce(_or, map(_content, pattern.iterchildren(f"{_NS}*")), NEVER)
    if kind in {"attribute", "text"}:
        return EMPTY
    inside = _sequence(pattern)
    many = EMPTY if inside == EMPTY else Content("many", parts=(inside,))
    return {
        "optional": _or(inside, EMPTY),
        "oneOrMore": many,
        "zeroOrMore": _or(many, EMPTY),
        "group": inside,
    }[kind]
