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

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.situations.lorehlt.items import EMOTIONS, ENTRY, FRAME, LorehltSchema
from hlteval.converters.situations.lorehlt.lorehlt_sf_json import (
    frame_objects,
    system_entries,
    system_frames,
)
from hlteval.converters.toolkit.fitting import SITUATION
from hlteval.converters.toolkit.rows import escape, unescape, with_documents
from hlteval.converters.toolkit.source_files import FileBatch, beginning, located_cells
from hlteval.findings import FieldRef, Location, Problem, finding
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.tsv import Column, ParsedTable, Table

FRAMES_FILE, ENTRIES_FILE = "frames.tsv", "sec.tsv"
_NUMBER = r"-?(?:[0-9]{1,15}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?"
#: Spreadsheets write truth values in capitals.
_TRUTH = "true|false|True|False|TRUE|FALSE"


_TRUTHS = ("urgent", *EMOTIONS.values())
_TEXTS = ("name", "label", "place_kb", "status", "justification", "resolution")


def _column(heading: str, name: str) -> Column:
    column = Column(name, heading=heading, nullable=True, code="LSF603")
    if name in _TRUTHS:
        return replace(column, pattern=_TRUTH)
    if name in {"confidence", "value"}:
        return replace(column, kind="number", pattern=_NUMBER)
    if name in {"key", "name", "label"}:
        return replace(column, pattern=r"[^\t]+", nullable=False)
    return replace(column, code="")


FRAMES, ENTRIES = (
    Table(
        (_column("frame", "key"), *(_column(*each) for each in columns.items())),
        code="LSF602",
        header="required",
        header_code="LSF601",
        any_order=True,
    )
    for columns in (FRAME, ENTRY)
)


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
    files = members(source)
    first = beginning(files[0]).partition("\n")[0].rstrip("\r") if files else ""
    return {"frame", "DocumentID", "Place_KB_ID"} <= set(first.split("\t"))


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
    batch, tables = FileBatch(source.path, FORMAT.name), list[ParsedTable]()
    rows, rejected = list[pl.DataFrame](), list[pl.DataFrame]()
    for member, table in zip(files, (FRAMES, ENTRIES), strict=False):
        batch.add("", member)
        text = batch.texts.pop()[-1] if batch.texts else ""
        parsed = table.read(text or _header(table))
        batch.findings += parsed.findings(member)
        origin, first = max(0, len(batch.rows) - 1), sum(each.height for each in rejected)
        tables.append(parsed)
        rows.append(parsed.rows.with_columns(origin=pl.lit(origin, pl.Int64)))
        rejected.append(parsed.rejected_records("frame", origin=origin, first=first))
    if len(files) < 2:
        tables.append(ENTRIES.read(_header(ENTRIES)))
        rows.append(tables[1].rows.with_columns(origin=pl.lit(0, pl.Int64)))
    frames = rows[0].with_columns(pl.col("urgent").str.to_lowercase(), *map(unescape, _TEXTS))
    frames = frames.with_columns(frame=pl.int_range(pl.len(), dtype=pl.Int64))
    unknown = rows[1].join(frames, on="key", how="anti", maintain_order="left")
    # the entries in the order of their frames, each with the index of its frame and its item
    keys = frames.select("key", "frame").unique("key", keep="first", maintain_order=True)
    placed = rows[1].join(keys, on="key", maintain_order="left").sort("frame", maintain_order=True)
    entries = placed.with_columns(
        unescape("holder_kb"),
        *(pl.col(name).str.to_lowercase() == "true" for name in EMOTIONS.values()),
        item=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("frame"),
    )
    for number, problems in (
        (1, tables[1].problems_at("LSF604", unknown, "key")),
        (0, _violations(frames, entries, tables[0])),
    ):
        lines = tables[number].lines
        for problem in problems:
            line = lines[problem.record - 1]
            batch.findings.append(problem.in_line(files[number].display, line))
    documents, numbered = with_documents(frames.drop("key", "frame"))
    of_frames = numbered.select("document", frame_row="row")
    sentiments = entries.rename({"frame": "frame_row"}).drop("key")
    corpus = Corpus(
        sources=batch.sources,
        documents=documents,
        frames=numbered.with_columns(kind=pl.lit(SITUATION)),
        sentiments=sentiments.join(of_frames, on="frame_row", maintain_order="left").with_columns(
            row=pl.int_range(pl.len(), dtype=pl.Int64)
        ),
        rejected_records=pl.concat(rejected),
    )
    yield ReadResult(corpus, tuple(batch.findings), tuple(batch.members))


def _header(table: Table) -> str:
    return "\t".join(table.headings) + "\n"


def _violations(
    frames: pl.DataFrame, entries: pl.DataFrame, parsed: ParsedTable
) -> Iterator[Problem]:
    """Find frames that break the schema of the plan, each at its cell or the line of its frame."""
    items, plan = list(frame_objects(frames, entries)), LorehltSchema("plan")
    records, keys = frames["record"], frames["key"]
    for index in plan.invalid(items):
        line = parsed.lines[records[index] - 1]
        for code, path, values in plan.violations(items[index]):
            shown = ".".join(["frame", keys[index], *map(str, path)])
            start, end = parsed.table.stretch(line, str(path[0]) if path else "")
            yield Problem(code, records[index], start, end, {**values, "path": shown})


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The cells of places of a file; those of entries have the names of parts of SEC."""
    (table,) = tabular(member, "")
    cells = [FieldRef(place.record, place.field.rpartition(".")[2]) for place in places]
    return located_cells(member, cells, table)


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """The frames of all documents in one folder; those of a reference as in `lorehlt-sf-json`."""
    path.mkdir(parents=True, exist_ok=True)
    frames, entries, first = [], [], 1
    for corpus in corpora:
        rows = system_frames(corpus)
        kept = rows.filter(pl.col("row") == pl.col("first"))
        kept = kept.with_columns(key=pl.int_range(first, first + pl.len(), dtype=pl.Int64))
        first += kept.height
        keys = kept.select("key", first="row")
        of_keys = system_entries(corpus, rows).join(keys, on="first", maintain_order="left")
        confidence = pl.col("confidence").fill_null(1.0)
        frames.append(kept.with_columns(confidence, *map(escape, _TEXTS)))
        entries.append(of_keys.with_columns(escape("holder_kb")))
    FRAMES.write(frames, path / FRAMES_FILE)
    ENTRIES.write(entries, path / ENTRIES_FILE)


FORMAT = declaration(__name__)
