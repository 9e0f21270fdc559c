"""RELAX NG schemas: the authority on which elements and attributes an XML format has.

`validator` is the schema as lxml reads it, which gives the verdict. `declared` is the same schema
element by element, from which a fault can be explained: after each child, `after` tells what may
still follow. It knows what our schemas use: elements without attributes that depend on each other.
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
    """What an element may hold, as an expression over the names of its children.

    `kind` is `element` (then `name` is its name), `then`, `or`, `many` (once or more), `empty` or
    `never`; `parts` are what it is made of.
    """

    kind: str
    name: str = ""
    parts: tuple[Content, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether nothing needs to follow."""
        complete = [part.complete for part in self.parts]
        return (self.kind == "empty") or (
            any(complete) if self.kind == "or" else bool(complete) and all(complete)
        )


EMPTY, NEVER = Content("empty"), Content("never")


@dataclass(frozen=True, slots=True)
class Declared:
    """An element of a schema.

    Attributes:
        attributes: its attributes in order, each with whether it must be there.
        values: the values of the attributes that have only a few.
        content: what it may hold.
        text: whether it may hold text.
    """

    attributes: Mapping[str, bool]
    values: Mapping[str, tuple[str, ...]]
    content: Content
    text: bool

    @property
    def required(self) -> tuple[str, ...]:
        """The attributes that must be there."""
        return tuple(name for name, needed in self.attributes.items() if needed)


@cache
def validator(name: str) -> etree.RelaxNG:
    """A schema as lxml reads it.

    Examples:
        >>> from lxml import etree
        >>> validator("laf").validate(etree.fromstring("<LCTL_ANNOTATIONS/>"))
        True
    """
    from lxml import etree

    return etree.RelaxNG(_tree(name))


@cache
def declared(name: str) -> Mapping[str, Declared]:
    """The elements of a schema by name, the root first.

    Examples:
        >>> declared("ltf")["SEG"].required, next(iter(declared("ltf")))
        (('id',), 'LCTL_TEXT')
    """
    elements = _tree(name).iter(f"{_NS}element")
    return {str(element.get("name")): _declared(element) for element in elements}


@cache
def after(content: Content, name: str) -> Content:
    """What may follow a child of some name; `NEVER` where it may not stand.

    Examples:
        >>> segment = declared("ltf")["SEG"].content
        >>> sorted(allowed(segment)), sorted(allowed(after(segment, "TOKEN")))
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
def allowed(content: Content) -> frozenset[str]:
    """The names of the children that may come next."""
    if content.kind == "element":
        return frozenset({content.name})
    if content.kind == "then" and not content.parts[0].complete:
        return allowed(content.parts[0])
    return frozenset().union(*map(allowed, content.parts))


def _or(one: Content, other: Content) -> Content:
    if NEVER in (one, other):
        return one if other == NEVER else other
    return one if one == other else Content("or", parts=(one, other))


def _then(one: Content, other: Content) -> Content:
    if NEVER in (one, other):
        return NEVER
    if EMPTY in (one, other):
        return one if other == EMPTY else other
    return Content("then", parts=(one, other))


@cache
def _tree(name: str) -> etree._Element:
    from lxml import etree

    data = resources.files("hlteval.grammars").joinpath(f"{name}.rng").read_bytes()
    return etree.fromstring(data)


def _declared(element: etree._Element) -> Declared:
    named = {str(one.get("name")): one for one in element.iter(f"{_NS}attribute")}
    return Declared(
        attributes={name: one.getparent() is element for name, one in named.items()},
        values={
            name: tuple(str(value.text) for value in one.iter(f"{_NS}value"))
            for name, one in named.items()
            if one.find(f".//{_NS}value") is not None
        },
        content=_sequence(element),
        text=element.find(f".//{_NS}text") is not None,
    )


def _sequence(element: etree._Element) -> Content:
    return reduce(_then, map(_content, element.iterchildren(f"{_NS}*")), EMPTY)


def _content(pattern: etree._Element) -> Content:
    """What a pattern of the schema says of children."""
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
