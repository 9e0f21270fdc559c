"""The file annotation.conf of brat: the labels of annotations, and the types of their arguments.

*Format*: sections `[entities]` (formerly `[spans]`), `[relations]`, `[events]`, `[attributes]`; a
line has a label and, after white space, arguments as `ROLE:TYPE|TYPE`, separated by commas. A label
that is indented by tabs is a child of the one above; one after `!` is a heading only. `?`, `*`,
`+` and `{2}` after a role mean how often it occurs. `<NAME>=A|B` names several types; `<ENTITY>`,
`<EVENT>`, `<RELATION>` and `<ANY>` are all of a section. `<REL-TYPE>:symmetric` marks relations
whose arguments can be swapped. `<OVERLAP> Arg1:A, Arg2:B, <OVL-TYPE>:contain|equal|cross` allows
overlaps of entities, `contain` that a B contains an A; `<ANY>` is all of them, and
`ENTITY-NESTING Arg1:A, Arg2:B` is an older form of `contain`. `#` begins a comment, and a line of
hyphens is a separator.

*Example lines*:

    [relations]
    Works_for<TAB>Arg1:Person|Author, Arg2:Org
"""

import heapq
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from hlteval.findings import Finding, Problem
from hlteval.findings.suggest import hints
from hlteval.sources import decode, open_source
from hlteval.syntax.places import Places

_SECTIONS: Mapping[str, str] = {
    "entities": "entities",
    "spans": "entities",
    "relations": "relations",
    "events": "events",
    "attributes": "attributes",
}
#: The section that has the labels of a unit.
_OF_UNITS: Mapping[str, str] = {"relations": "relations", "events": "events"}
_ALL: Mapping[str, tuple[str, ...]] = {
    "<ENTITY>": ("entities",),
    "<EVENT>": ("events",),
    "<RELATION>": ("relations",),
    "<ANY>": ("entities", "events", "relations"),
}
#: The lines about overlaps, the name of all their kinds, and these.
_OVERLAP, _NESTING, ANY = "<OVERLAP>", "ENTITY-NESTING", "<ANY>"
_KINDS = ("contain", "equal", "cross", ANY)
_MACRO = re.compile(r"<([A-Za-z0-9_-]+)>=(.*)")
_ARGUMENT = re.compile(r"([^\s:]+?)(\?|\*|\+|\{[0-9-]+\})?:(.+)")
_NUMBERS = re.compile(r"\{([0-9]{1,4})?(-)?([0-9]{1,4})?\}")

#: How often an argument occurs, by what follows its role.
_TIMES: Mapping[str, tuple[int, int | None]] = {"?": (0, 1), "*": (0, None), "+": (1, None)}


class ConfArgument(NamedTuple):
    """An argument: its role, the types that it names, and where these are in the text.

    It occurs at least `least` and at most `most` times; None for any number.
    """

    role: str
    least: int
    most: int | None
    types: tuple[str, ...]
    at: int

    @property
    def optional(self) -> bool:
        """Whether it need not occur."""
        return self.least == 0


class ConfLabel(NamedTuple):
    """A label of a section: its parent, which may be empty, its arguments, and where it is."""

    label: str
    parent: str
    arguments: tuple[ConfArgument, ...]
    is_symmetric: bool
    is_heading: bool
    at: int


class ConfOverlap(NamedTuple):
    """A line about overlaps.

    Attributes:
        inner: the types of the first argument; of `contain`, what is inside.
        outer: those of the second argument.
        kinds: what is allowed: `contain`, `equal`, `cross` or `<ANY>`.
        at: where it is.
        arguments: both arguments.
    """

    inner: frozenset[str]
    outer: frozenset[str]
    kinds: frozenset[str]
    at: int = 0
    arguments: tuple[ConfArgument, ...] = ()


@dataclass(frozen=True)
class AnnotationConf:
    """An annotation.conf as it was read.

    Attributes:
        path: of the file.
        text: of the file.
        sections: the labels of each section, in order.
        macros: the types of names in angle brackets.
        problems: what cannot be read, with offsets.
        headings: where sections begin in the text.
        overlaps: the lines about overlaps.
    """

    path: str
    text: str = ""
    sections: Mapping[str, Sequence[ConfLabel]] = field(default_factory=dict)
    macros: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    problems: Sequence[Problem] = ()
    headings: Mapping[str, int] = field(default_factory=dict)
    overlaps: Sequence[ConfOverlap] = ()

    def section(self, name: str) -> Sequence[ConfLabel]:
        """The labels of a section."""
        return self.sections.get(name, ())

    def labels(self, unit: str) -> tuple[str, ...]:
        r"""The labels of the annotations of a unit, each once, without headings.

        Examples:
            >>> parse("[entities]\n!Name\n\tPerson\n\tPlace\n").labels("mentions")
            ('Person', 'Place')
        """
        section = self.section(_OF_UNITS.get(unit, "entities"))
        return tuple(dict.fromkeys(item.label for item in section if not item.is_heading))

    @property
    def symmetric(self) -> tuple[str, ...]:
        """The relations whose arguments can be swapped."""
        return tuple(item.label for item in self.section("relations") if item.is_symmetric)

    def roles(self, unit: str) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        r"""The types that may fill each role, by label and role; those of a type's children too.

        Examples:
            >>> conf = parse("[entities]\nP\n\tQ\n[relations]\nKnows Arg1:P, Arg2:P|Org\n")
            >>> conf.roles("relations")
            {'Knows': {'Arg1': ('P', 'Q'), 'Arg2': ('P', 'Q', 'Org')}}
        """
        roles: dict[str, dict[str, tuple[str, ...]]] = {}
        for item in self.section(_OF_UNITS.get(unit, "")):
            own = roles.setdefault(item.label, {})
            for argument in item.arguments:
                known = own.get(argument.role, ())
                own[argument.role] = tuple(dict.fromkeys((*known, *self.types(argument.types))))
        return {label: own for label, own in roles.items() if own}

    def optional(self, unit: str) -> tuple[str, ...]:
        """The roles that need not be filled."""
        items = self.section(_OF_UNITS.get(unit, ""))
        every = (argument for item in items for argument in item.arguments)
        return tuple(dict.fromkeys(each.role for each in every if each.optional))

    @cached_property
    def _subtypes(self) -> Mapping[str, Sequence[str]]:
        children: dict[str, list[str]] = {}
        for item in self.section("entities"):
            if item.parent:
                children.setdefault(item.parent, []).append(item.label)
        return children

    @cached_property
    def _headings(self) -> frozenset[str]:
        return frozenset(item.label for item in self.section("entities") if item.is_heading)

    def _all(self, name: str) -> Iterator[str]:
        """Give the labels of all sections that a name such as `<ANY>` is for."""
        for section in reversed(_ALL.get(name, ())):
            yield from (item.label for item in self.section(section) if not item.is_heading)

    def types(self, names: Sequence[str]) -> Iterator[str]:
        """Give the labels that types name, with the children of each; each once."""
        seen, coming = set[str](), [iter(names)]
        while coming:
            name = next(coming[-1], None)
            if name is None:
                coming.pop()
            elif name not in seen:
                seen.add(name)
                if name in self.macros or name in _ALL:
                    coming.append(chain(self.macros.get(name, ()), self._all(name)))
                    continue
                yield from () if name in self._headings else (name,)
                coming.append(iter(self._subtypes.get(name, ())))

    @cached_property
    def _names(self) -> Mapping[str, Sequence[str]]:
        """Of each label and name, the parents and names that it is directly one of."""
        names: dict[str, list[str]] = {}
        for parent, children in self._subtypes.items():
            for label in children:
                names.setdefault(label, []).append(parent)
        for macro, members in (*self.macros.items(), *((name, self._all(name)) for name in _ALL)):
            for member in members:
                names.setdefault(member, []).append(macro)
        return names

    def names_of(self, label: str) -> frozenset[str]:
        r"""All names by which an argument can allow a label: those whose `types` have it.

        Examples:
            >>> conf = parse("[entities]\nP\n\tQ\n<PQ>=P\n")
            >>> sorted(conf.names_of("Q"))
            ['<ANY>', '<ENTITY>', '<PQ>', 'P', 'Q']
        """
        names, coming = set[str](), [label]
        while coming:
            name = coming.pop()
            if name not in names:
                names.add(name)
                coming += self._names.get(name, ())
        return frozenset(names)

    def findings(self, unit: str) -> tuple[Finding, ...]:
        """The findings about lines that cannot be read, and about undeclared types of a unit."""
        places = Places(self.text)
        problems = [*self.problems, *self.undeclared_types(unit)]
        return tuple(places.finding(problem, self.path) for problem in problems)

    def undeclared_types(self, unit: str) -> Iterator[Problem]:
        """Give the problems of types of arguments that are not declared, in a unit."""
        known, section = {*self.type_names}, _OF_UNITS.get(unit, "")
        overlaps = self.overlaps if section == "relations" else ()
        items: Iterator[ConfLabel | ConfOverlap] = heapq.merge(
            self.section(section), overlaps, key=attrgetter("at")
        )
        every = [each for item in items for each in item.arguments]
        wrong = dict.fromkeys(
            name
            for argument in every
            for name in argument.types
            if name not in known and not (name.startswith("<") and name.endswith(">"))
        )
        meant = hints(wrong, sorted(known), "declare it in [entities]")
        kind = section.removesuffix("s")
        values = {
            name: {"kind": kind, "type": name, "hint": hint or "declare it in [entities]"}
            for name, hint in meant.items()
        }
        for argument in every:
            at = argument.at
            for name in argument.types:
                if name in values:
                    yield Problem("TSK202", 0, at, at + len(name), values[name])
                at += len(name) + 1

    @property
    def type_names(self) -> Iterator[str]:
        """Give all types that an argument can name."""
        yield from (*_ALL, *self.macros)
        for section in ("entities", "events", "relations"):
            yield from (item.label for item in self.section(section))

    def empty(self, unit: str) -> Finding:
        """Return the finding that no label of a unit is declared."""
        section = _OF_UNITS.get(unit, "entities")
        kinds = {"entities": "entity", "relations": "relation", "events": "event"}
        values = {"kind": kinds[section], "section": section}
        return Places(self.text).finding(Problem("TSK203", 0, 0, 0, values), self.path)


def read_conf(path: str) -> AnnotationConf:
    """Read an annotation.conf.

    Raises:
        FileNotFoundError: if there is no such file.
        hlteval.sources.Unreadable: if it cannot be read.
    """
    (member,) = open_source(path).members
    result = decode(member.fetch(), display=member.display)
    return parse(result.text or "", path)


@lru_cache(maxsize=2)  # it is read for its own findings, too
def parse(text: str, path: str = "annotation.conf") -> AnnotationConf:
    r"""Return what the text of an annotation.conf declares.

    Examples:
        >>> conf = parse("[relations]\nSibling Arg1:P, Arg2:P, <REL-TYPE>:symmetric\n")
        >>> conf.symmetric, conf.labels("relations")
        (('Sibling',), ('Sibling',))
    """
    sections: dict[str, list[ConfLabel]] = {name: [] for name in _SECTIONS.values()}
    macros: dict[str, tuple[str, ...]] = {}
    problems: list[Problem] = []
    headings: dict[str, int] = {}
    overlaps: list[ConfOverlap] = []
    unknown: list[tuple[int, str]] = []
    section, at, above = "", 0, list[str]()
    for line in text.split("\n"):
        start, written = at, line.partition("#")[0].rstrip()
        at += len(line) + 1
        content = written.strip()
        if not content.strip("-"):
            continue
        if content[0] == "[" and content[-1] == "]":
            section, above = _SECTIONS.get(content[1:-1].strip().lower(), "?"), []
            headings.setdefault(section, start)
            if section == "?":
                unknown.append((start, written))
            continue
        if content.split(None, 1)[0] in {_OVERLAP, _NESTING} and section == "relations":
            overlaps += _overlap(written, start, problems)
        elif content[0] == "<":
            if macro := _MACRO.fullmatch(content):
                macros[f"<{macro[1]}>"] = tuple(part.strip() for part in macro[2].split("|"))
        elif section not in {"", "?"}:
            sections[section].append(_label(written, start, above, problems))
    names = {written: written.strip()[1:-1] for _, written in unknown}
    meant = hints(names.values(), _SECTIONS, f"use {', '.join(_SECTIONS)}")
    for start, written in unknown:
        values = {"reason": f"unknown section {written.strip()}", "hint": meant[names[written]]}
        problems.append(Problem("TSK201", 0, start, start + len(written), values))
    problems.sort(key=attrgetter("start"))
    return AnnotationConf(path, text, sections, macros, problems, headings, overlaps)


def _label(line: str, start: int, above: list[str], problems: list[Problem]) -> ConfLabel:
    """Return the label of a line.

    Args:
        line: the line, without a comment.
        start: its offset in the text.
        above: the label of each level above, which is extended.
        problems: takes what cannot be read.
    """
    name, depth = line.split(None, 1)[0], len(line) - len(line.lstrip("\t"))
    label = name.removeprefix("!")
    del above[depth:]
    parent = above[-1] if above else ""
    above.append(label)
    rest = line.index(name) + len(name)
    arguments, symmetric = list[ConfArgument](), False
    if rest < len(line):
        symmetric = _add_arguments(line[rest:], start + rest, arguments, problems)
    return ConfLabel(label, parent, tuple(arguments), symmetric, name[0] == "!", start)


def _add_arguments(
    text: str, at: int, arguments: list[ConfArgument], problems: list[Problem]
) -> bool:
    """Add what is written after a label at an offset; return whether it is symmetric."""
    symmetric = False
    for part in text.split(","):
        written = part.strip()
        offset = at + len(part) - len(part.lstrip())
        at += len(part) + 1
        found = _ARGUMENT.fullmatch(written)
        if written.startswith("<REL-TYPE>"):
            symmetric = "symmetric" in written.partition(":")[2].split("-")
        elif found and not written.startswith("<"):
            types = tuple(found[3].split("|"))
            least, most = _TIMES.get(found[2] or "", (1, 1))
            if times := _NUMBERS.fullmatch(found[2] or ""):
                least = int(times[1] or 0)
                most = int(times[3]) if times[3] else None if times[2] else least
            arguments.append(ConfArgument(found[1], least, most, types, offset + found.start(3)))
        elif written and not written.startswith("<"):
            values = {"reason": f"{written} is not an argument", "hint": "write it as ROLE:TYPE"}
            problems.append(Problem("TSK201", 0, offset, offset + len(written), values))
    return symmetric


def _overlap(line: str, start: int, problems: list[Problem]) -> Iterator[ConfOverlap]:
    """Yield what a line about overlaps declares; nothing for one that brat ignores.

    Args:
        line: the line, without a comment.
        start: its offset in the text.
        problems: takes what cannot be read.
    """
    name, *rest = line.strip().split(None, 1)
    end, arguments = start + len(line), list[ConfArgument]()
    begin = end - len(rest[0]) if rest else end
    _add_arguments("".join(rest), begin, arguments, problems)
    types = {argument.role: frozenset(argument.types) for argument in reversed(arguments)}
    written = [part.strip() for part in "".join(rest).split(",")]
    listed = next((part for part in written if part.startswith("<OVL-TYPE>:")), "")
    kinds = ["contain"] if name == _NESTING else listed.partition(":")[2].split("|")
    wrong = ", ".join(kind for kind in kinds if kind not in _KINDS)
    reason = f"unknown overlap {wrong}" if wrong else ""
    reason = f"{name} has no <OVL-TYPE>" if kinds == [""] else reason
    reason = reason if {"Arg1", "Arg2"} <= types.keys() else f"{name} has no Arg1 and Arg2"
    if reason:
        hint = f"write {name} Arg1:TYPE, Arg2:TYPE, <OVL-TYPE>:{'|'.join(_KINDS[:3])}"
        values = {"reason": reason, "hint": hint}
        problems.append(Problem("TSK201", 0, start, end, values))
    known = frozenset(kinds) & {*_KINDS}
    if known and {"Arg1", "Arg2"} <= types.keys():
        yield ConfOverlap(types["Arg1"], types["Arg2"], known, start, tuple(arguments))
