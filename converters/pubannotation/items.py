"""Documents of PubAnnotation, from their values to rows of the tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from hlteval.converters.pubannotation.scopes import SECTIONS, Scope, compact, scopes, title
from hlteval.representation import TABLES
from hlteval.syntax.json_parser import Path

_PLACE = ("document", "origin", "record")
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "documents": ("origin", "name", "text", "language"),
    "segments": (*_PLACE, "name", "start", "end", "text"),
    "attributes": (*_PLACE, "element", "name", "value"),
    "mentions": (*_PLACE, "mention", "label", "start", "end", "fragments", "text"),
    "links": (*_PLACE, "mention_row", "rank", "entity"),
    "groups": (*_PLACE, "group", "kind", "member"),
    "frames": (*_PLACE, "frame", "kind", "label", "trigger"),
    "arguments": (*_PLACE, "frame_row", "position", "role", "target"),
    "modifiers": (*_PLACE, "modifier", "label", "target", "value", "text"),
    "rejected_records": (
        *_PLACE,
        "code",
        "kind",
        "id",
        "label",
        "text",
        "column",
        "end_column",
        "expected",
    ),
}
"""The columns of the rows that are made; keys are their ordinals."""
SAID = ("entity", "mention_type", "annotator", "confidence")
"""Columns of mentions that are written as attributes of them."""
CANDIDATE = "candidate"
"""The predicate of an attribute that is another candidate for the entity of a mention."""
BLOCK = "segment"
"""The kind of a block that comes from elsewhere."""
ROLES = ("subj", "obj")
_KNOWN = {
    "denotations": ("id", "span", "obj", "text", "frame"),
    "blocks": ("id", "span"),
    "relations": ("id", "subj", "pred", "obj", "roles", "argument", "group"),
    "attributes": ("id", "subj", "pred", "obj", "text", "column"),
    "modifications": ("id", "pred", "obj"),
}


class Told(NamedTuple):
    """Something wrong: its code, the way to its place in the document, and values."""

    code: str
    path: Path
    values: Mapping[str, object]


class Items:
    """What is collected over documents.

    Attributes:
        rows: of each table, by its name.
        told: what is wrong with the document that was taken last.
    """

    def __init__(self) -> None:
        self.rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in COLUMNS}
        self.told: list[Told] = []
        self.place = (0, 0, 0)
        self.text: str | None = None
        self.events: dict[str, int] = {}
        self.mentions: dict[str, int] = {}
        self.groups: dict[tuple[str, str], list[tuple[Any, ...]]] = {}
        self.known: dict[str, str] = {}
        self.said: dict[tuple[int, str], Any] = {}
        """Columns of mentions, by row and column."""
        self.candidates: dict[int, int] = {}

    @property
    def count(self) -> int:
        """How many documents there are."""
        return len(self.rows["documents"])

    def take(
        self, document: Mapping[str, Any], name: str, origin: int, record: int, bad: set[Path]
    ) -> int:
        """Add a document; its number of records.

        Args:
            document: an object.
            name: what it is called.
            origin: the file.
            record: the ordinal of its first record in the file.
            bad: the ways to items that are not taken.
        """
        text = document.get("text")
        language = document.get("lang")
        row = len(self.rows["documents"])
        named = language if isinstance(language, str) else None
        self.text = whole = text if isinstance(text, str) else None
        self.rows["documents"].append((origin, name, whole, named))
        self.told, first = [], record
        if whole is None and "text" not in document:
            self.told.append(Told("PUB102", (), {"name": name}))
        for scope in scopes(document):
            self.place = (row, origin, record)
            self.around(scope, named)
            self.known = dict(self.identifiers(scope))
            self.events, self.mentions, self.groups = {}, {}, {}
            record += 1
            for section in SECTIONS:
                for path, item in scope.items(section):
                    self.place = (row, origin, record)
                    if path not in bad:
                        getattr(self, section)(scope, path, item)
                    record += 1
            for rows in self.groups.values():
                self.rows["groups"] += rows
        return record - first

    def refuse(self, origin: int, record: int, *why: object) -> None:
        """Add something that is no document."""
        self.rows["rejected_records"].append((None, origin, record, *why))

    def around(self, scope: Scope, language: str | None) -> None:
        """Keep what is said of a document or track beside its annotations."""
        element = "$" if not scope.path else f"$.tracks[{scope.prefix[:-1]}]"
        own = set() if scope.path else {"text", "tracks", *["lang"] * (language is not None)}
        if not scope.path and title(scope.said, "") == scope.said.get("sourceid"):
            own.add("sourceid")  # it is the name of the document
        for name, value in scope.said.items():
            if name not in own and not (name in SECTIONS and isinstance(value, list)):
                self.rows["attributes"].append((*self.place, element, name, compact(value)))
        if scope.path and not scope.said.keys() - set(SECTIONS):
            self.rows["attributes"].append((*self.place, element, "", "null"))

    def identifiers(self, scope: Scope) -> Iterator[tuple[str, str]]:
        """What may be referred to, with its section; what is there twice is told."""
        seen = set[str]()
        for section in SECTIONS:
            for path, item in scope.items(section):
                name = item.get("id") if isinstance(item, dict) else None
                if not isinstance(name, str):
                    continue
                if name not in seen:
                    yield name, section
                elif section in SECTIONS[:3]:
                    self.told.append(Told("PUB302", (*path, "id"), {"id": name[:40]}))
                seen.add(name)

    def more(self, path: Path, item: Mapping[str, Any]) -> None:
        """Keep the members of an item that mean nothing here."""
        section = str(path[-2])
        known = _KNOWN[section]
        for name, value in item.items():
            if name not in known:
                self.keep(section, name, value)

    def keep(self, section: str, name: str, value: Any) -> None:
        """Keep a member of an item as it is."""
        self.rows["attributes"].append((*self.place, f"$.{section}", name, compact(value)))

    def spans(self, path: Path, span: Any) -> list[tuple[int, int]]:
        """The parts of a span; those that are none in the text are told."""
        parts = span if isinstance(span, list) else [span]
        found = [(int(part["begin"]), int(part["end"])) for part in parts]
        length = None if self.text is None else len(self.text)
        for at, (begin, end) in enumerate(found):
            way = (*path, "span", at) if isinstance(span, list) else (*path, "span")
            values = {"begin": begin, "end": end, "length": length}
            if end <= begin:
                self.told.append(Told("PUB202", way, values))
            elif length is not None and end > length:
                self.told.append(Told("PUB201", way, values))
        return found

    def denotations(self, scope: Scope, path: Path, item: Mapping[str, Any]) -> None:
        """Add a mention, or an event that stands for one."""
        name, frame = scope.name(item.get("id")), item.get("frame")
        self.more(path, item)
        if isinstance(frame, dict):
            trigger = frame["trigger"]
            if trigger is not None:
                self.refers(trigger, (*path, "frame", "trigger"))
            row = len(self.rows["frames"])
            told = (
                name,
                frame["kind"],
                item["obj"],
                None if trigger is None else scope.name(trigger),
            )
            self.rows["frames"].append((*self.place, *told))
            self.events.setdefault(name or "", row)
            return
        spans = self.spans(path, item["span"])
        start, end = min(spans)[0], max(end for _, end in spans)
        fragments = [{"start": a, "end": b} for a, b in spans] if len(spans) > 1 else None
        whole = self.text
        text = None if whole is None else " ".join(whole[a:b] for a, b in spans)
        text = item.get("text", text)
        self.mentions.setdefault(name or "", len(self.rows["mentions"]))
        mention = (*self.place, name or "", item["obj"], start, end, fragments, text)
        self.rows["mentions"].append(mention)

    def blocks(self, scope: Scope, path: Path, item: Mapping[str, Any]) -> None:
        """Add a segment; what it is, and parts of it, are kept as they are."""
        self.more(path, {name: item[name] for name in item if name != "obj" or item[name] != BLOCK})
        spans = self.spans(path, item["span"])
        if isinstance(item["span"], list):
            self.keep("blocks", "span", item["span"])
        start, end = min(spans)[0], max(end for _, end in spans)
        text = None if self.text is None else self.text[start:end]
        self.rows["segments"].append((*self.place, scope.name(item.get("id")), start, end, text))

    def relations(self, scope: Scope, path: Path, item: Mapping[str, Any]) -> None:
        """Add a relation, an argument of an event, or the link of a group."""
        self.more(path, item)
        name, subj, obj = (scope.name(item.get(one)) for one in ("id", "subj", "obj"))
        kinds = [self.refers(item[one], (*path, one)) for one in ROLES]
        if set(kinds) == {"denotations", "blocks"}:
            self.told.append(Told("PUB303", path, {}))
        if "argument" in item and subj in self.events:
            event = self.events[str(subj)]
            argument = (*self.place, event, item["argument"], item["pred"], obj)
            self.rows["arguments"].append(argument)
        elif "group" in item:
            self.group(f"{scope.prefix}{item['group']}", item["pred"], (str(subj), str(obj)))
        else:
            row = len(self.rows["frames"])
            self.rows["frames"].append((*self.place, name, "relation", item["pred"], None))
            roles = item.get("roles", ROLES)
            for position, (role, target) in enumerate(
                zip(roles, (subj, obj), strict=True), start=1
            ):
                self.rows["arguments"].append((*self.place, row, position, role, target))

    def group(self, group: str, kind: str, pair: tuple[str, str]) -> None:
        """Add two members to a group; of a chain, the second."""
        rows = self.groups.setdefault((group, kind), [])
        chained = bool(rows) and rows[-1][-1] == pair[0]
        place = rows[0][:3] if rows else self.place
        rows += [(*place, group, kind, member) for member in pair[chained:]]

    def attributes(self, scope: Scope, path: Path, item: Mapping[str, Any]) -> None:
        """Add an attribute, or a column of a mention."""
        self.refers(item["subj"], (*path, "subj"))
        target, column, value = scope.name(item["subj"]), item.get("column"), item.get("obj")
        row = self.mentions.get(target or "")
        if row is not None and self.column(row, column, value):
            self.more(path, item)
            return
        if column is not None:
            self.keep("attributes", "column", column)
        if value is not None and value is not True and not isinstance(value, str):
            self.keep("attributes", "obj", value)
        self.more(path, item)
        plain = value if isinstance(value, str) else compact(value)
        told = None if value is None or value is True else plain
        name = scope.name(item.get("id")) or ""
        modifier = (*self.place, name, item["pred"], target, told, item.get("text"))
        self.rows["modifiers"].append(modifier)

    def column(self, row: int, column: Any, value: Any) -> bool:
        """Whether an attribute is a column of a mention, or another candidate for its entity."""
        if column == CANDIDATE and isinstance(value, str):
            self.candidates[row] = rank = self.candidates.get(row, 1) + 1
            self.rows["links"].append((*self.rows["mentions"][row][:3], row, rank, value))
            return True
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if column not in SAID or (row, column) in self.said:
            return False
        if not (number if column == "confidence" else isinstance(value, str)):
            return False
        self.said[row, column] = float(value) if number else value
        return True

    def modifications(self, scope: Scope, path: Path, item: Mapping[str, Any]) -> None:
        """Add an attribute of the older form."""
        self.refers(item["obj"], (*path, "obj"))
        self.more(path, item)
        name = scope.name(item.get("id")) or ""
        row = (*self.place, name, item["pred"], scope.name(item["obj"]), None, None)
        self.rows["modifiers"].append(row)

    def refers(self, name: str, path: Path) -> str | None:
        """The section of what an identifier refers to; if that is nothing, it is told."""
        if name not in self.known:
            self.told.append(Told("PUB301", path, {"id": name[:40]}))
        return self.known.get(name)

    def tables(self) -> dict[str, pl.DataFrame]:
        """The rows as tables."""
        self.rows["arguments"].sort(key=lambda row: int(row[3]))  # by frame, in their order
        tables = {name: _keyed(name, rows) for name, rows in self.rows.items()}
        count = len(self.rows["mentions"])
        said = {
            column: pl.Series(
                column,
                [self.said.get((row, column)) for row in range(count)],
                dtype=TABLES["mentions"].schema[column],
            )
            for column in SAID
        }
        return {**tables, "mentions": tables["mentions"].with_columns(**said)}


def _keyed(name: str, rows: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
    schema = {column: TABLES[name].schema[column] for column in COLUMNS[name]}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.select(pl.int_range(pl.len(), dtype=pl.Int64).alias("row"), *schema)
