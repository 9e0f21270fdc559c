r"""Standoff as the evaluation software of BioNLP-ST reads it, for the profile `official`.

The software is more lenient than the format: of an event it takes the type, up to the first space,
and then every role and filler that it finds, whatever is between them. It also ends lines at
carriage returns, and knows no byte order mark. Records that the format refuses are therefore read
again:

    E1	Binding Functional_Molecule:T1 (?) Molecule:T2

has the roles `Functional_Molecule` and `(?) Molecule`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from operator import itemgetter

import polars as pl

from hlteval.converters.format import ReadResult
from hlteval.converters.standoff.dialects import BIONLP
from hlteval.findings import Bounded, Finding, Problem, part
from hlteval.representation import Corpus
from hlteval.sources import decode

BYTE_ORDER_MARK = "SRC202"
"""The code of the finding about a file that begins with a byte order mark."""

NO_ARGUMENTS = "STD105"
"""The code of an event without arguments, on which the software crashes."""

_MARK = "\ufeff"
_TRIMMED = "".join(map(chr, range(33)))
_REST = "[^\n\r\x85\u2028\u2029]"
_EVENT = re.compile(rf"(\S+) ({_REST}+)", re.ASCII)
_MODIFIER = re.compile(r"(\S+) Annotation:(\S+)", re.ASCII)
_TYPE = re.compile(rf"(\S+)\s*{_REST}*", re.ASCII)
_SPACE = frozenset(" \t\n\r\f\v")
_PLACED = ("document", "origin", "record")

Row = dict[str, object]


def as_software(result: ReadResult) -> ReadResult:
    """What was read, with the records that the format refuses as the software reads them.

    Events and modifiers become rows of their tables; what the software does not understand stays in
    `rejected_records`, with the type that the software gives it, or none. The findings stay, except
    for events in which the software finds no argument: it crashes on them.

    Args:
        result: what the format `standoff` read; from other formats nothing changes.
    """
    corpus = _without_marked(result)
    own = corpus.sources.filter(pl.col("format") == BIONLP.name)["row"].implode()
    refused = corpus.rejected_records.filter(pl.col("origin").is_in(own))
    if refused.is_empty():
        return result if corpus is result.corpus else replace(result, corpus=corpus)
    others = corpus.rejected_records.filter(~pl.col("origin").is_in(own))
    read = _Read()
    for row in refused.iter_rows(named=True):
        for line in str(row["text"]).split("\r"):
            read.take(line.strip(_TRIMMED), row)
    return replace(
        result,
        corpus=read.added_to(corpus, others),
        findings=tuple(_findings(result, read.empty)),
    )


def _findings(result: ReadResult, empty: Iterable[Mapping[str, object]]) -> Iterator[Finding]:
    """The findings, with those of events without arguments in place of others about their lines."""
    crashes: dict[tuple[str | None, object], Mapping[str, object]] = {}
    members = {member.display: member for member in result.members}
    for row in empty:
        display = result.members[int(str(row["origin"]))].display
        crashes[display, row["record"]] = row
    hits: dict[str, dict[int, Mapping[str, object]]] = {}
    for found in result.findings:
        line = found.span.line if found.span else 0
        if found.further is None:
            row_here = crashes.get((found.file, line))
            yield _crash(str(found.file), line, row_here) if row_here else found
            continue
        lines = found.further.places
        rest = [number for number, line in enumerate(lines) if (found.file, line) not in crashes]
        if rest:
            yield part(found, rest)
        own = hits.setdefault(str(found.file), {})
        own |= {
            int(str(line)): crashes[found.file, line]
            for line in lines
            if (found.file, line) in crashes
        }
    for file, rows in hits.items():
        bounded = Bounded(members[file].max_per_code)
        for line, row in sorted(rows.items(), key=itemgetter(0)):
            bounded.add(NO_ARGUMENTS, line, partial(_crash, file), row)
        yield from bounded.findings


def _crash(file: str, line: int, row: Mapping[str, object]) -> Finding:
    """The finding of an event without arguments."""
    text = str(row["text"])
    problem = Problem(NO_ARGUMENTS, line, 0, len(text))
    return problem.in_line(file, text, str(row["id"]))


def arguments(text: str) -> Iterator[tuple[str, str]]:
    """Every role with its filler, as the software finds them in the text after the type.

    A role begins after the filler before it, and ends at a colon that no space follows.

    Examples:
        >>> list(arguments("Agent:T1 , Target:T2:T3 Tissue: T4 Hormone:T5"))
        [('Agent', 'T1'), (', Target', 'T2:T3'), ('T4 Hormone', 'T5')]
    """
    begin = 0
    while (colon := text.find(":", begin)) >= 0:
        end = colon + 1
        while end < len(text) and text[end] not in _SPACE:
            end += 1
        if colon == begin or end == colon + 1:
            begin = colon + 1
            continue
        role = text[begin:colon]
        yield role.lstrip("".join(_SPACE)) or role[-1], text[colon + 1 : end]
        begin = end
        while begin < len(text) and text[begin] in _SPACE:
            begin += 1


@dataclass
class _Read:
    """The records that the software reads in refused lines."""

    frames: list[Row] = field(default_factory=list)
    arguments: list[Row] = field(default_factory=list)
    modifiers: list[Row] = field(default_factory=list)
    rejected: list[Row] = field(default_factory=list)
    empty: list[Mapping[str, object]] = field(default_factory=list)
    """Events in which the software finds no argument."""

    def take(self, line: str, row: Mapping[str, object]) -> None:
        """Read a line of a refused record."""
        name, tab, rest = line.partition("\t")
        place: Row = {column: row[column] for column in _PLACED}
        filled: tuple[tuple[str, str], ...] = ()
        if tab and name[0] in "ER" and (event := _EVENT.fullmatch(rest)):
            filled = tuple(arguments(event[2]))
            self.empty += [] if filled or row["code"] == NO_ARGUMENTS else [row]
        if tab and name[0] == "M" and (modifier := _MODIFIER.fullmatch(rest)):
            target = {"modifier": name, "label": modifier[1], "target": modifier[2]}
            self.modifiers.append(place | target)
        elif filled:
            kind = "relation" if name[0] == "R" else "event"
            frame = {"frame": name, "label": rest.partition(" ")[0], "kind": kind}
            at = {"frame_row": len(self.frames)}
            self.frames.append(place | frame)
            self.arguments += (
                {**place, **at, "position": position, "role": role, "target": target}
                for position, (role, target) in enumerate(filled, start=1)
            )
        elif line:
            known = _TYPE.fullmatch(rest)
            # Nothing can refer to a line without a tab, which the software drops.
            own: Row = {"id": name if tab else None, "label": known[1] if known else None}
            self.rejected.append({**row, **own, "kind": _kind(name), "code": _code(row, tab)})

    def added_to(self, corpus: Corpus, rejected: pl.DataFrame) -> Corpus:
        """A corpus with these records, its events in the order of their lines."""
        first = corpus.frames["row"].max()
        first = 0 if not isinstance(first, int) else first + 1
        frames = [{"row": first + at, **row} for at, row in enumerate(self.frames)]
        events = _with(corpus.frames, frames).sort("document", "origin", "record", "row")
        rows = events.select(frame_row="row", _row=pl.int_range(pl.len(), dtype=pl.Int64))
        added = [{**row, "frame_row": first + int(str(row["frame_row"]))} for row in self.arguments]
        filled = _with(corpus.arguments, [{"row": 0, **row} for row in added])
        filled = filled.join(rows, on="frame_row", maintain_order="left")
        filled = filled.with_columns(frame_row="_row").drop("_row").sort("frame_row", "position")
        modifiers = _with(corpus.modifiers, [{"row": 0, **row} for row in self.modifiers])
        return corpus.replace(
            frames=_numbered(events),
            arguments=_numbered(filled),
            modifiers=_numbered(modifiers),
            rejected_records=_numbered(_with(rejected, self.rejected)),
        )


def _kind(name: str) -> str:
    """The kind of a record by its identifier; only `*` itself is an equivalence."""
    kind = BIONLP.kind(name[0])
    return kind.what if kind and (name[0] != "*" or name == "*") else "unknown"


def _code(row: Mapping[str, object], tab: str) -> object:
    """The code of a line of a refused record: of several lines, each may have a tab or not."""
    if not tab:
        return BIONLP.no_tab
    return BIONLP.unknown if row["code"] == BIONLP.no_tab else row["code"]


def _with(table: pl.DataFrame, rows: Iterable[Row]) -> pl.DataFrame:
    """A table with more rows, whose other columns are null."""
    listed = list(rows)
    if not listed:
        return table
    columns = {name: kind for name, kind in table.schema.items() if name in listed[0]}
    more = pl.DataFrame(listed, schema=columns, orient="row")
    return pl.concat([table, more], how="diagonal")


def _numbered(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64))


def _without_marked(result: ReadResult) -> Corpus:
    """The corpus without the first records behind byte order marks, which are of unknown kind."""
    marked = {item.file for item in result.findings if item.code == BYTE_ORDER_MARK}
    if not marked:
        return result.corpus
    corpus = result.corpus
    for origin, member in enumerate(result.members):
        if member.display in marked and member.basename.endswith(BIONLP.annotations):
            text = decode(member.fetch(), display=member.display, encoding=member.encoding).text
            line = (text or "").partition("\n")[0]
            corpus = _unknown(corpus, origin, line.strip(_TRIMMED))
    return corpus


def _unknown(corpus: Corpus, origin: int, line: str) -> Corpus:
    """The corpus with the first record of a file as one of unknown kind."""
    first = (pl.col("origin") == origin) & (pl.col("record") == 1)
    names = ("mentions", "frames", "arguments", "modifiers", "groups", "rejected_records")
    tables: dict[str, pl.DataFrame] = {name: getattr(corpus, name) for name in names}
    held = [rows.filter(first)["document"] for rows in tables.values()]
    documents = [document for rows in held for document in rows.to_list()]
    if not documents:
        return corpus
    tables = {name: rows.filter(~first) for name, rows in tables.items()}
    name = line.partition("\t")[0]
    row: Row = {"row": -1, "document": documents[0], "origin": origin, "record": 1}
    row |= {"code": "STD102", "kind": "unknown", "id": f"{_MARK}{name}", "text": f"{_MARK}{line}"}
    row |= {"column": 1, "end_column": len(line) + 1, "expected": ""}
    tables["rejected_records"] = _with(tables["rejected_records"], [row])
    return corpus.replace(**tables)
