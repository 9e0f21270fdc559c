"""The annotations of PubAnnotation, from values of JSON to rows of the tables."""

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from hlteval.converters.toolkit.json_documents import (
    Item,
    Structure,
    TableBuilder,
    compact,
    explain,
)
from hlteval.converters.toolkit.offsets import place_in
from hlteval.converters.toolkit.source_files import unique_name
from hlteval.converters.toolkit.spans import Quotes
from hlteval.representation import TABLES
from hlteval.syntax.json_text import SchemaError
from hlteval.syntax.places import Path

SECTIONS = ("denotations", "blocks", "relations", "attributes", "modifications")
_DEFINITIONS = {**{name: name.removesuffix("s") for name in SECTIONS}, "blocks": "denotation"}


def part_of(path: Path) -> tuple[Path, str]:
    """The item, track or document that a path leads into, and its definition in the schema.

    Examples:
        >>> part_of(("denotations", 3, "span", "begin")), part_of(("text",))
        ((('denotations', 3), 'denotation'), ((), 'document'))
    """
    for at, (step, after) in enumerate(pairwise(path)):
        if step in SECTIONS and isinstance(after, int):
            return path[: at + 2], _DEFINITIONS[str(step)]
    return (path[:2], "track") if path[:1] == ("tracks",) and path[1:] else ((), "document")


def explain_violation(violation: SchemaError) -> dict[str, object]:
    """The values of the message about an error of the schema."""
    values = explain(violation)
    if violation.keyword == "required":
        flat = "span" not in violation.given and "begin" in violation.given
        flat &= "span" in violation.wanted
        values["hint"] = 'write "span": {"begin": …, "end": …}' if flat else "add it"
    return values


#: What documents must be.
STRUCTURE = Structure(
    "pubannotation",
    (*SECTIONS, "tracks"),
    part_of,
    {"required": "PUB103", "anyOf": "PUB105", "": "PUB104"},
    "PUB101",
    explain_violation,
    frozenset({"document", "track"}),
)


#: Columns of mentions that are written as attributes of them.
MENTION_COLUMNS = ("entity", "mention_type", "annotator", "confidence")
#: The predicate of an attribute that is another candidate for the entity of a mention.
CANDIDATE = "candidate"
#: The kind of a block that comes from elsewhere.
BLOCK = "segment"
ROLES = ("subj", "obj")
#: The members of items that are not kept as attributes.
_MEMBERS = {
    "denotations": ("id", "span", "obj", "text", "frame"),
    "blocks": ("id", "span", "obj"),
    "relations": ("id", "subj", "pred", "obj", "roles", "argument", "group"),
    "attributes": ("id", "subj", "pred", "obj", "text", "column"),
    "modifications": ("id", "pred", "obj"),
}


class Scope(NamedTuple):
    """The annotations of a document, or of one of its tracks.

    Attributes:
        path: the path to them.
        prefix: the beginning of their identifiers in the tables, unique per track.
        members: the sections, and all else, by name.
    """

    path: Path
    prefix: str
    members: Mapping[str, Any]

    def items(self) -> Iterator[tuple[str, Path, Any]]:
        """The items in the order of records, each with its section and path."""
        for section in SECTIONS:
            items = self.members.get(section)
            for at, item in enumerate(items if isinstance(items, list) else ()):
                yield section, (*self.path, section, at), item

    def name(self, identifier: Any) -> str | None:
        """An identifier as it is in the tables; None where there is none."""
        return (self.prefix or None) if identifier is None else f"{self.prefix}{identifier}"


def scopes(document: Mapping[str, Any]) -> Iterator[Scope]:
    """The annotations of a document, and those of each of its tracks."""
    yield Scope((), "", document)
    tracks = document.get("tracks")
    for at, track in enumerate(tracks if isinstance(tracks, list) else ()):
        if isinstance(track, dict):
            yield Scope(("tracks", at), f"{at + 1}:", track)


def records(document: Mapping[str, Any]) -> Iterator[Path]:
    """The path of each record of a document in order: itself, its items, tracks and theirs."""
    for scope in scopes(document):
        yield scope.path
        yield from (path for _, path, _ in scope.items())


def title(document: Mapping[str, Any], stem: str) -> str:
    """The name of a document: its source, its number there, and its part, as far as it has them.

    Examples:
        >>> title({"sourcedb": "PMC", "sourceid": "1134658", "divid": 0}, "file")
        'PMC-1134658-0'
    """
    parts = [document.get(name) for name in ("sourcedb", "sourceid", "divid")]
    if not isinstance(parts[1], str | int) or parts[1] == "":
        return stem
    return "-".join(str(part) for part in parts if isinstance(part, str | int) and part != "")


class Annotations(TableBuilder):
    """The rows of documents.

    Attributes:
        offsets: how offsets count.
    """

    report: Callable[..., None]
    text: str | None
    place: tuple[int, int, int]
    events: dict[str, int]
    mentions: dict[str, int]
    groups: dict[tuple[str, str], list[tuple[Any, ...]]]

    def __init__(self, offsets: str) -> None:
        super().__init__()
        self.offsets = offsets

    def begin(self) -> None:
        """Begin a batch."""
        super().begin()
        self.candidates: dict[int, int] = {}

    def take(self, index: int, document: Item, stem: str, place: tuple[int, int]) -> int:
        """Add a document, and give its number of records. See `TableBuilder`."""
        bad, own = self.reporter.schema_errors(index), title(document, stem)
        name = unique_name(own, self.names)
        self.report = partial(self.reporter.report, index)
        if name != own:
            self.report("PUB106", ("sourceid",), name=own, other=name)
        text, language = document.get("text"), document.get("lang")
        language = language if isinstance(language, str) else None
        self.text = text if isinstance(text, str) else None
        self.texts += len(self.text or "")
        self.quotes = None if self.text is None else Quotes(self.text)
        self.offset_place = place_in(self.text or "", self.offsets)
        row, (origin, record) = len(self.rows["documents"]), place
        self.rows["documents"].append((origin, name, self.text, language))
        if "text" not in document:
            self.report("PUB102", (), name=name)
        for scope in scopes(document):
            self.place = (row, origin, record)
            self.others(scope, language)
            self.known = dict(self.identifiers(scope))
            self.events, self.mentions, self.groups = {}, {}, {}
            record += 1
            for section, path, item in scope.items():
                self.place = (row, origin, record)
                if path not in bad:
                    getattr(self, section)(scope, path, item)
                record += 1
            for rows in self.groups.values():
                self.rows["groups"] += rows
        return record - place[1]

    def others(self, scope: Scope, language: str | None) -> None:
        """Keep the members of a document or track that are not annotations."""
        element, own = f"$.tracks[{scope.prefix[:-1]}]", set[str]()
        if not scope.path:
            element = "$"
            own = {"text", "tracks", *["lang"] * (language is not None)}
            if title(scope.members, "") == scope.members.get("sourceid"):
                own.add("sourceid")  # it is the name of the document
        for name, value in scope.members.items():
            if name not in own and not (name in SECTIONS and isinstance(value, list)):
                self.rows["attributes"].append((*self.place, element, name, compact(value)))
        if scope.path and not scope.members.keys() - set(SECTIONS):
            self.rows["attributes"].append((*self.place, element, "", "null"))

    def identifiers(self, scope: Scope) -> Iterator[tuple[str, str]]:
        """The identifiers with their sections; those that are not unique are reported."""
        seen = set[str]()
        for section, path, item in scope.items():
            name = item.get("id") if isinstance(item, dict) else None
            if not isinstance(name, str):
                continue
            if name not in seen:
                yield name, section
            elif section in SECTIONS[:3]:
                self.report("PUB302", (*path, "id"), id=name[:40])
            seen.add(name)

    def keep(self, path: Path, item: Mapping[str, Any], *names: str) -> None:
        """Keep as attributes some members of an item, and those that have no column."""
        section = str(path[-2])
        others = (name for name in item if name not in _MEMBERS[section])
        place, values = (*self.place, f"$.{section}"), ((n, item[n]) for n in (*names, *others))
        self.rows["attributes"] += [(*place, name, compact(value)) for name, value in values]

    def spans(self, path: Path, span: Any) -> list[tuple[int, int]]:
        """The parts of a span; those that are not in the text are reported."""
        parts = span if isinstance(span, list) else [span]
        found = [self.offset_place(int(part["begin"]), int(part["end"])) for part in parts]
        length = None if self.text is None else len(self.text)
        for at, (begin, end) in enumerate(found):
            place = (*path, "span", at) if isinstance(span, list) else (*path, "span")
            if end <= begin or (length is not None and end > length):
                code = "PUB202" if end <= begin else "PUB201"
                self.report(code, place, begin=begin, end=end, length=length)
        return found

    def refers(self, name: str, path: Path) -> str | None:
        """The section of the item of an identifier; if there is none, that is reported."""
        if name not in self.known:
            self.report("PUB301", path, id=name[:40])
        return self.known.get(name)

    def denotations(self, scope: Scope, path: Path, item: Mapping[str, Any]) -> None:
        """Add a mention, or an event that is shown as one."""
        name, frame = scope.name(item.get("id")), item.get("frame")
        self.keep(path, item)
        if isinstance(frame, dict):
            trigger = frame["trigger"]
            if trigger is not None:
                self.refers(trigger, (*path, "frame", "trigger"))
                trigger = scope.name(trigger)
            self.events.setdefault(name or "", len(self.rows["frames"]))
            row = (*self.place, name, frame["kind"], item["obj"], trigger)
            self.rows["frames"].append(row)
            return
        spans = self.spans(path, item["span"])
        start, end = min(spans)[0], max(end for _, end in spans)
        fragments = [{"start": a, "end": b} for a, b in spans] if len(spans) > 1 else None
        text = item["text"] if "text" in item else self.quotes and self.quotes.at(*spans)
        self.mentions.setdefault(name or "", len(self.rows["mentions"]))
        mention = [*self.place, name or "", item["obj"], start, end, fragments, text]
        self.rows["mentions"].append(mention + [None] * (_WIDTH - len(mention)))

    def blocks(self, scope: Scope, path: Path, item: Mapping[str, Any]) -> None:
        """Add a segment; its kind and its parts are kept as attributes."""
        kind = [] if item["obj"] == BLOCK else ["obj"]
        self.keep(path, item, *kind, *["span"] * isinstance(item["span"], list))
        spans = self.spans(path, item["span"])
        start, end = min(spans)[0], max(end for _, end in spans)
        text = self.quotes and self.quotes.at((start, end))
        self.rows["segments"].append((*self.place, scope.name(item.get("id")), start, end, text))

    def relations(self, scope: Scope, path: Path, item: Mapping[str, Any]) -> None:
        """Add a relation, an argument of an event, or two members of a group."""
        self.keep(path, item)
        name, subj, obj = (scope.name(item.get(member)) for member in ("id", *ROLES))
        sections = {self.refers(item[role], (*path, role)) for role in ROLES}
        if sections == {"denotations", "blocks"}:
            self.report("PUB303", path)
        if "argument" in item and subj in self.events:
            argument = (self.events[str(subj)], item["argument"], item["pred"], obj)
            self.rows["arguments"].append((*self.place, *argument))
        elif "group" in item:
            group = (f"{scope.prefix}{item['group']}", item["pred"])
            rows = self.groups.setdefault(group, [])
            chained = bool(rows) and rows[-1][-1] == subj
            place = rows[0][:3] if rows else self.place
            rows += [(*place, *group, member) for member in (subj, obj)[chained:]]
        else:
            row = len(self.rows["frames"])
            self.rows["frames"].append((*self.place, name, "relation", item["pred"], None))
            filled = zip((1, 2), item.get("roles", ROLES), (subj, obj), strict=True)
            self.rows["arguments"] += [(*self.place, row, *argument) for argument in filled]

    def attributes(self, scope: Scope, path: Path, item: Mapping[str, Any]) -> None:
        """Add an attribute, or a column of a mention."""
        self.refers(item["subj"], (*path, "subj"))
        target, column, value = scope.name(item["subj"]), item.get("column"), item.get("obj")
        row = self.mentions.get(target or "")
        if row is not None and self.column(row, column, value):
            self.keep(path, item)
            return
        plain = value is None or value is True or isinstance(value, str)
        self.keep(path, item, *[] if column is None else ["column"], *[] if plain else ["obj"])
        written = (value if isinstance(value, str) else None) if plain else compact(value)
        name = scope.name(item.get("id")) or ""
        modifier = (*self.place, name, item["pred"], target, written, item.get("text"))
        self.rows["modifiers"].append(modifier)

    def column(self, row: int, column: Any, value: Any) -> bool:
        """Whether an attribute is a column of a mention, or another candidate for its entity."""
        mention = self.rows["mentions"][row]
        if column == CANDIDATE and isinstance(value, str):
            self.candidates[row] = rank = self.candidates.get(row, 1) + 1
            self.rows["links"].append((*mention[:3], row, rank, value))
            return True
        if column not in MENTION_COLUMNS or mention[_AT[column]] is not None:
            return False
        valid = isinstance(value, str)
        if column == "confidence":
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            valid = is_number and abs(value) <= sys.float_info.max
        if valid:
            mention[_AT[column]] = float(value) if column == "confidence" else value
        return valid

    def modifications(self, scope: Scope, path: Path, item: Mapping[str, Any]) -> None:
        """Add an attribute of the older form."""
        self.refers(item["obj"], (*path, "obj"))
        self.keep(path, item)
        name = scope.name(item.get("id")) or ""
        row = (*self.place, name, item["pred"], scope.name(item["obj"]), None, None)
        self.rows["modifiers"].append(row)


#: Where a row of mentions, which has no key yet, has each column.
_AT = {name: at - 1 for at, name in enumerate(TABLES["mentions"].schema)}
_WIDTH = len(_AT) - 1
