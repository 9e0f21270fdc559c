r"""LoReHLT situation frames as tables: a folder with frames and their sentiments.

Format:
    `frames.tsv` has a frame per line and the columns frame, DocumentID, Type, Place_KB_ID, Status,
    Confidence, Justification_ID, Resolution, Urgent. `sec.tsv` has an entry of SEC per line and the
    columns frame, Sentiment, Emotion_Fear, Emotion_Anger, Emotion_Joy, Source. Both have a header,
    and are separated by tabs without quoting. `sec.tsv` may be missing.

Conventions:
    `frame` numbers the frames; entries refer to it, in their order. An empty cell means no value,
    and in Place_KB_ID no place. `\t`, `\n`, `\r` and `\\` encode a tab, line breaks and a
    backslash. Frames must follow the schema of the plan, as in `lorehlt-sf-json`.

Example lines:
    frame	DocumentID	Type	Place_KB_ID	Status	Confidence	Justification_ID	Resolution
    1	ENG_NW_1	search	99324	current	0.9	segment-8	insufficient

Codes raised: LSF2xx; LSF6xx.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.situations.lorehlt.items import SCHEMA, violations
from hlteval.converters.situations.lorehlt.writing import system_entries, system_frames
from hlteval.converters.toolkit.fitting import SITUATION
from hlteval.converters.toolkit.rows import escaped, unescaped, with_documents
from hlteval.converters.toolkit.source_files import beginning, located_cells
from hlteval.findings import FieldRef, Finding, Location, Problem, finding
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, Unreadable, decode, sha256
from hlteval.syntax.json_text import invalid
from hlteval.syntax.tsv import Column, ParsedTable, Table

FRAMES_FILE, ENTRIES_FILE = "frames.tsv", "sec.tsv"
_NUMBER = r"-?(?:[0-9]{1,15}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?"
_NAMED = r"[^\t]+"
#: Spreadsheets write truth values in capitals.
_TRUTH = "true|false|True|False|TRUE|FALSE"


def _truth(name: str, heading: str) -> Column:
    return Column(name, heading=heading, pattern=_TRUTH, code="LSF603", nullable=True)


def _number(name: str, heading: str) -> Column:
    return Column(name, "number", heading=heading, pattern=_NUMBER, code="LSF603", nullable=True)


def _text(name: str, heading: str) -> Column:
    return Column(name, heading=heading, nullable=True)


_declared = partial(Table, code="LSF602", header="required", header_code="LSF601", any_order=True)
FRAMES = _declared(
    (
        Column("key", heading="frame", pattern=_NAMED, code="LSF603"),
        Column("name", heading="DocumentID", pattern=_NAMED, code="LSF603"),
        Column("label", heading="Type", pattern=_NAMED, code="LSF603"),
        _text("place_kb", "Place_KB_ID"),
        _text("status", "Status"),
        _number("confidence", "Confidence"),
        _text("justification", "Justification_ID"),
        _text("resolution", "Resolution"),
        _truth("urgent", "Urgent"),
    )
)
ENTRIES = _declared(
    (
        Column("key", heading="frame", pattern=_NAMED, code="LSF603"),
        _number("value", "Sentiment"),
        _truth("fear", "Emotion_Fear"),
        _truth("anger", "Emotion_Anger"),
        _truth("joy", "Emotion_Joy"),
        _text("holder_kb", "Source"),
    )
)
_TEXTS = ("name", "label", "place_kb", "status", "justification", "resolution")
_FELT = ("fear", "anger", "joy")


def members(source: Source) -> tuple[Member, ...]:
    """The table of frames, and that of entries if there is one."""
    if source.kind in {"file", "stdin"}:
        return source.members
    named = [
        [member for member in source.members if member.basename == name]
        for name in (FRAMES_FILE, ENTRIES_FILE)
    ]
    return tuple(found[0] for found in named if len(found) == 1)


def tabular(member: Member, first: str) -> Sequence[Table]:  # noqa: ARG001
    """The table of entries by its name; otherwise that of frames."""
    return (ENTRIES if member.basename == ENTRIES_FILE else FRAMES,)


def sniff(source: Source) -> bool:
    """Whether the first table begins with the header of frames."""
    found = members(source)
    first = beginning(found[0]).partition("\n")[0].rstrip("\r") if found else ""
    return {"frame", "DocumentID", "Place_KB_ID"} <= set(first.split("\t"))


class _Tables:
    """The two tables of a source, and what is wrong with them."""

    def __init__(self, source: Source) -> None:
        self.path = source.path
        self.sources: list[dict[str, object]] = []
        self.members: list[Member] = []
        self.findings: list[Finding] = []
        self.rejected: list[pl.DataFrame] = []

    def read(self, member: Member, table: Table) -> tuple[pl.DataFrame, ParsedTable]:
        """The rows of a file, with `origin`, and the file as it was parsed."""
        text = self._text(member)
        parsed = table.read(text) if text else table.read("\t".join(table.headings) + "\n")
        self.findings += parsed.findings(member)
        origin, first = max(0, len(self.sources) - 1), sum(each.height for each in self.rejected)
        self.rejected.append(parsed.rejected_records("frame", origin=origin, first=first))
        return parsed.rows.with_columns(origin=pl.lit(origin, pl.Int64)), parsed

    def _text(self, member: Member) -> str:
        try:
            data = member.fetch()
        except Unreadable as reason:
            self.findings.append(reason.finding)
            return ""
        decoded = decode(data, display=member.display, encoding=member.encoding)
        self.findings += decoded.findings
        names = {"path": self.path, "member": member.name or member.basename}
        own = {"row": len(self.sources), **names, "format": FORMAT.name, "sha256": sha256(data)}
        self.sources.append(own)
        self.members.append(member)
        return decoded.text or ""


def read(source: Source) -> Iterator[ReadResult]:
    """The frames of both tables, as one batch."""
    files = members(source)
    counts = Counter(member.basename for member in source.members)
    several = next((name for name in (FRAMES_FILE, ENTRIES_FILE) if counts[name] > 1), "")
    if several or not files or files[0].basename == ENTRIES_FILE:
        name = several or FRAMES_FILE
        wrong = finding("LSF605", file=source.path, name=name, count=counts[name])
        yield ReadResult(Corpus(), (wrong,))
        return
    tables = _Tables(source)
    frames, parsed = tables.read(files[0], FRAMES)
    urgent = pl.col("urgent").str.to_lowercase()
    frames = frames.with_columns(urgent, *map(unescaped, _TEXTS))
    if len(files) > 1:
        entries, parsed_entries = tables.read(files[1], ENTRIES)
        unknown = entries.join(frames, on="key", how="anti", maintain_order="left")
        problems = parsed_entries.problems_at("LSF604", unknown, "key")
        tables.findings += _only(parsed_entries, problems, files[1].display)
    else:
        entries = ENTRIES.read("\t".join(ENTRIES.headings)).rows
        entries = entries.with_columns(origin=pl.lit(0, pl.Int64))
    entries = _entries(entries, frames)
    problems = list(_violations(frames, entries, parsed))
    tables.findings += _only(parsed, problems, files[0].display)
    corpus = _corpus(tables, frames, entries)
    yield ReadResult(corpus, tuple(tables.findings), tuple(tables.members))


def _only(parsed: ParsedTable, problems: Sequence[Problem], file: str) -> list[Finding]:
    """The findings of some problems with the rows of a table."""
    return [problem.in_line(file, parsed.lines[problem.record - 1]) for problem in problems]


def _entries(rows: pl.DataFrame, frames: pl.DataFrame) -> pl.DataFrame:
    """The entries in the order of their frames, each with the index of its frame and its item."""
    keys = frames.select("key", frame_row=pl.int_range(pl.len(), dtype=pl.Int64))
    keys = keys.unique("key", keep="first", maintain_order=True)
    placed = rows.join(keys, on="key", maintain_order="left")
    ordered = placed.with_columns(unescaped("holder_kb")).sort("frame_row", maintain_order=True)
    truths = [pl.col(name).str.to_lowercase() == "true" for name in _FELT]
    item = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("frame_row")
    return ordered.with_columns(*truths, item=item)


def _corpus(tables: _Tables, frames: pl.DataFrame, entries: pl.DataFrame) -> Corpus:
    documents, rows = with_documents(frames.drop("key"))
    numbers = rows.select("document", frame_row="row")
    placed = entries.join(numbers, on="frame_row", maintain_order="left")
    sentiments = placed.select(
        pl.int_range(pl.len(), dtype=pl.Int64).alias("row"),
        *("document", "origin", "record", "frame_row", "item", "holder_kb", "value", *_FELT),
    )
    return Corpus(
        sources=tables.sources,
        documents=documents,
        frames=rows.with_columns(kind=pl.lit(SITUATION)),
        sentiments=sentiments,
        rejected_records=pl.concat(tables.rejected) if tables.rejected else [],
    )


_PROPERTIES = {
    "status": "Status",
    "confidence": "Confidence",
    "justification": "Justification_ID",
    "resolution": "Resolution",
}


def _items(frames: pl.DataFrame, entries: pl.DataFrame) -> list[dict[str, object]]:
    """The frames as items of JSON; what has no value is left out."""
    lists: dict[int, list[dict[str, object]]] = {}
    columns = ("frame_row", "value", *_FELT, "holder_kb")
    names = ("Sentiment", "Emotion_Fear", "Emotion_Anger", "Emotion_Joy", "Source")
    for row, *values in entries.select(columns).iter_rows():
        pairs = zip(names, values, strict=True)
        entry = {name: value for name, value in pairs if value is not None}
        lists.setdefault(row, []).append(entry)
    items = []
    for row, frame in enumerate(frames.iter_rows(named=True)):
        known = {name: frame[own] for own, name in _PROPERTIES.items() if frame[own] is not None}
        urgent = {} if frame["urgent"] is None else {"Urgent": frame["urgent"] == "true"}
        head = {"DocumentID": frame["name"], "Type": frame["label"]}
        place = {"Place_KB_ID": frame["place_kb"] or ""}
        items.append({**head, **place, **known, **urgent, "SEC": lists.get(row, [])})
    return items


def _violations(
    frames: pl.DataFrame, entries: pl.DataFrame, parsed: ParsedTable
) -> Iterator[Problem]:
    """Where frames break the schema of the plan, each at the cell or the line of its frame."""
    items = _items(frames, entries)
    records, keys = frames["record"], frames["key"]
    for index in invalid(SCHEMA, items, "plan"):
        record = records[index]
        line = parsed.lines[record - 1]
        for code, path, values in violations(items[index], "plan"):
            name = str(path[0]) if path else ""
            shown = ".".join(["frame", keys[index], *map(str, path)])
            start, end = parsed.table.stretch(line, name)
            yield Problem(code, record, start, end, {"path": shown, **values})


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The cells of places of a file; those of entries have the names of parts of SEC."""
    table = ENTRIES if member.basename == ENTRIES_FILE else FRAMES
    cells = [FieldRef(place.record, place.field.rpartition(".")[2]) for place in places]
    return located_cells(member, cells, table)


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """The frames of all documents in one folder; those of a reference as in `lorehlt-sf-json`."""
    path.mkdir(parents=True, exist_ok=True)
    frames, entries, first = [], [], 1
    for corpus in corpora:
        rows = system_frames(corpus)
        kept = rows.filter(pl.col("row") == pl.col("first"))
        keyed = kept.with_columns(key=pl.int_range(first, first + pl.len(), dtype=pl.Int64))
        first += kept.height
        keys = keyed.select("key", first="row")
        chosen = system_entries(corpus, rows).join(keys, on="first", maintain_order="left")
        sure = pl.col("confidence").fill_null(1.0)
        frames.append(keyed.with_columns(*map(escaped, _TEXTS), confidence=sure))
        entries.append(chosen.with_columns(escaped("holder_kb")))
    FRAMES.write(frames, path / FRAMES_FILE)
    ENTRIES.write(entries, path / ENTRIES_FILE)


FORMAT = declaration(__name__)
