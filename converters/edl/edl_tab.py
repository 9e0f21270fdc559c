r"""Entity mentions as a table: one mention per line (LoReHLT 2019, the .tab of EDL).

Format:
    Eight tab-separated fields: run, mention id, mention string, `document:start-end`, entity (a
    knowledge base identifier in digits, or NIL and digits), type, mention type, confidence.
    Submissions have no header; LDC annotations have one. There is no quoting.

Conventions:
    Offsets are 0-based and inclusive. Annotations may list several entities separated by `|`: the
    first is the entity of the mention, the others are rows of `links`. Empty lines are skipped. In
    a folder or archive, only files ending in `.tab` are read, or all files if there are none.

Example lines:
    NIST_1	m7	Nicaragua	ENG_NW_006929:38-46	1000001	GPE	NAM	0.75
    LDC	m8	Osh	IL9_SN_000370:5-7	NIL12|1298	GPE	NAM	1.0

Codes raised: EDL103, EDL104, EDL2xx.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from hlteval.converters.edl.lines import HEADER, lost, write
from hlteval.converters.edl.records import EXTENT, FIELDS, Fault, is_blank, record
from hlteval.converters.format import Format, ReadResult, Setting
from hlteval.converters.toolkit.confidences import from_text
from hlteval.findings import FieldRef, Finding, Location, Span, catalogue, excerpt, finding
from hlteval.grammars import pattern
from hlteval.representation import TABLES, Corpus
from hlteval.sources import Member, Source, Unreadable, decode, sha256

SUFFIX = ".tab"
_READ = {
    "record": pl.Int64,
    **dict.fromkeys(FIELDS, pl.String),
    "name": pl.String,
    "start": pl.Int64,
    "last": pl.Int64,
}


def sniff(source: Source) -> bool:
    """Whether the first file has a line of eight fields, the fourth of which is an extent."""
    members = files(source)
    try:
        head = members[0].fetch()[:4000].decode("utf-8", "replace") if members else ""
    except Unreadable:
        return False
    lines = [line for line in head.removeprefix("\ufeff").split("\n")[:6] if line.strip()]
    return any(is_header(line) or record(line.rstrip("\r")).extent for line in lines)


def files(source: Source) -> tuple[Member, ...]:
    """The files of a source that hold mentions."""
    if source.kind in {"file", "stdin"}:
        return source.members
    tables = tuple(member for member in source.members if member.name.endswith(SUFFIX))
    return tables or source.members


def is_header(line: str) -> bool:
    r"""Whether a line is the header of LDC's annotations.

    Examples:
        >>> is_header("\t".join(HEADER)), is_header("LDC\tm1\tOsh")
        (True, False)
    """
    return line.strip().lower().split("\t") == list(HEADER)


def read(source: Source) -> Iterator[ReadResult]:
    """The mentions of all files, as one batch."""
    table = _Table(source.path)
    for member in files(source):
        table.take(member)
    yield ReadResult(table.corpus(), tuple(table.findings), tuple(table.members))


class _Table:
    """What is collected over the files of a source."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.members: list[Member] = []
        self.findings: list[Finding] = []
        self.sources: list[dict[str, object]] = []
        self.rejected_records: list[dict[str, object]] = []
        self.read: list[pl.DataFrame] = []

    def take(self, member: Member) -> None:
        """Add a file."""
        try:
            data = member.fetch()
        except Unreadable as reason:
            self.findings.append(reason.finding)
            return
        origin = len(self.sources)
        self.members.append(member)
        self.sources.append(
            {"row": origin, "path": self.path, "member": member.name or member.basename,
             "format": FORMAT.name, "sha256": sha256(data)}
        )  # fmt: skip
        decoded = decode(data, display=member.display, encoding=member.encoding)
        self.findings.extend(decoded.findings)
        text = _text(decoded.text, data, member)
        if text:
            self.lines(text, origin, member.display)

    def lines(self, text: str, origin: int, display: str) -> None:
        """Add the lines of a file: those in order by their pattern, the others one by one."""
        if "\r\n" in text:
            self.findings.append(finding("EDL104", file=display, count=text.count("\r\n")))
            text = text.replace("\r\n", "\n")
        lines = text.removesuffix("\n").split("\n")
        taken, left = _divided(lines)
        self.read.append(taken.with_columns(origin=pl.lit(origin, pl.Int64)))
        explained = [
            row
            for number in left
            if not (number == 1 and is_header(lines[0]))
            for row in self.explain(number, lines[number - 1], origin, display)
        ]
        rows = pl.DataFrame(explained, schema=_READ, orient="row")
        self.read.append(rows.with_columns(origin=pl.lit(origin, pl.Int64)))

    def explain(
        self, number: int, line: str, origin: int, display: str
    ) -> Iterator[tuple[object, ...]]:
        """A line that the pattern refuses: a row if it can be read, and findings."""
        if is_blank(line):
            self.findings.append(finding("EDL103", file=display, span=Span(number, 1, 1)))
            return
        fields, extent, faults = record(line)
        for fault in faults:
            self.findings.append(_finding(fault, number, line, display))
        if fields is not None and extent is not None:
            yield (number, *fields, *extent)
        else:
            self.refuse(faults[0], number, line, origin)

    def refuse(self, fault: Fault, number: int, line: str, origin: int) -> None:
        fields = line.split("\t")
        self.rejected_records.append(
            {"row": len(self.rejected_records), "origin": origin, "record": number,
             "code": fault.code, "kind": "mention",
             "id": fields[1] if len(fields) > 1 else None, "text": line,
             "column": fault.start + 1, "end_column": fault.end + 1, "expected": ""}
        )  # fmt: skip

    def corpus(self) -> Corpus:
        """Everything that was read."""
        empty = pl.DataFrame(schema=_READ | {"origin": pl.Int64})
        rows = pl.concat([empty, *self.read]).sort("origin", "record", maintain_order=True)
        rows = rows.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
        documents = rows.group_by("name", maintain_order=True).agg(pl.col("origin").first())
        documents = documents.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
        keyed = rows.join(
            documents.select("name", document="row"), on="name", how="left", maintain_order="left"
        )
        return Corpus(
            sources=self.sources,
            documents=documents,
            mentions=_mentions(keyed),
            links=_links(keyed),
            rejected_records=self.rejected_records,
        )


def _text(text: str | None, data: bytes, member: Member) -> str | None:
    r"""The text of a file; a byte that is no character becomes `\x` and its number.

    The official validator reads on as well, so that what else is wrong is told in the same run.
    """
    if text is None and b"\0" not in data:
        return data.decode(member.encoding, "backslashreplace").removeprefix("\ufeff")
    return text


def _divided(lines: Sequence[str]) -> tuple[pl.DataFrame, list[int]]:
    """The records that the pattern accepts, and the numbers of all other lines."""
    line, extent = pl.col("line"), pl.col("extent")
    numbered = pl.DataFrame({"line": lines}, schema={"line": pl.String}).select(
        "line", record=pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    )
    counted = line.str.count_matches("\t", literal=True) == len(FIELDS) - 1
    # a CR that ends no line is left to be explained
    fit = counted & ~line.str.ends_with("\t") & ~line.str.contains("\r", literal=True)
    divided = numbered.with_columns(fit=fit)
    split = line.str.split_exact("\t", len(FIELDS) - 1).struct.rename_fields(list(FIELDS))
    taken = divided.filter("fit").select("record", split.alias("fields")).unnest("fields")
    groups = extent.str.extract_groups(f"^(?:{pattern('edl', 'extent')})$").struct
    taken = taken.with_columns(
        name=groups.field("document"),
        start=groups.field("start").cast(pl.Int64),
        last=groups.field("end").cast(pl.Int64),
    ).filter(pl.col("name").is_not_null())
    left = numbered["record"].filter(~numbered["record"].is_in(taken["record"].implode()))
    return taken.select(list(_READ)), left.to_list()


def _mentions(rows: pl.DataFrame) -> pl.DataFrame:
    """The table of mentions: an empty field of those that may be null is none."""
    several = pl.col("entity").str.contains("|", literal=True)
    first = pl.when(several).then(pl.col("entity").str.split("|").list.first())
    mentions = rows.with_columns(from_text(rows["confidence"])).select(
        *("row", "document", "origin", "record", "mention"),
        pl.col("type").alias("label"),
        "start",
        end=pl.col("last") + 1,
        text=_filled("text"),
        entity=first.otherwise(_filled("entity")),
        mention_type=_filled("mention type"),
        annotator=_filled("run"),
        confidence="confidence",
        confidence_text="confidence_text",
    )
    fragments = TABLES["mentions"].schema["fragments"]
    return mentions.with_columns(fragments=pl.lit(None, dtype=fragments))


def _filled(name: str) -> pl.Expr:
    return pl.when(pl.col(name) != "").then(pl.col(name))


def _links(rows: pl.DataFrame) -> pl.DataFrame:
    """The entities behind the first, where there are several."""
    some = rows.filter(pl.col("entity").str.contains("|", literal=True))
    several = some.select(
        *("document", "origin", "record"),
        pl.col("row").alias("mention_row"),
        pl.col("entity").str.split("|").list.slice(1),
    ).explode("entity")
    ranked = several.with_columns(rank=pl.int_range(2, pl.len() + 2).over("mention_row"))
    missing = [pl.lit(None, pl.String).alias("label"), pl.lit(None, pl.Float64).alias("confidence")]
    return ranked.with_columns(*missing, row=pl.int_range(pl.len(), dtype=pl.Int64))


def _finding(fault: Fault, number: int, line: str, display: str) -> Finding:
    span = Span(number, fault.start + 1, fault.end + 1)
    return catalogue()[fault.code].finding(
        fault.values, file=display, span=span, excerpt=excerpt(line, span)
    )


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The fields of places of a file; `document` and `offsets` are the parts of an extent."""
    data = member.fetch()
    decoded = decode(data, display=member.display, encoding=member.encoding)
    lines = (_text(decoded.text, data, member) or "").split("\n")
    return [
        _located(lines[place.record - 1].removesuffix("\r"), place)
        if 1 <= place.record <= len(lines)
        else None
        for place in places
    ]


def _located(line: str, place: FieldRef) -> Location:
    start, end = 0, len(line)
    fields = line.split("\t")
    name = "extent" if place.field in {"document", "offsets"} else place.field
    if name in FIELDS and len(fields) >= len(FIELDS):
        index = FIELDS.index(name)
        start = sum(len(field) + 1 for field in fields[:index])
        end = start + len(fields[index])
        colon = start + fields[EXTENT].rfind(":")
        if place.field == "document":
            end = colon
        elif place.field == "offsets":
            start = colon + 1
    span = Span(place.record, start + 1, end + 1)
    return Location(span, excerpt(line, span))


FORMAT = Format(
    name="edl-tab",
    title="entity mentions as a table: one mention per line (LoReHLT EDL)",
    suffixes=(SUFFIX,),
    layout="single_file",
    carries=(
        *("sources", "documents", "mentions", "links"),
        *("mentions.text", "mentions.entity", "mentions.mention_type", "mentions.confidence"),
        *("mentions.confidence_text", "mentions.annotator", "links.entity"),
    ),
    sniff=sniff,
    read=read,
    locate=locate,
    write=write,
    known_losses="empty lines; non-canonical spaces and leading zeros in extents",
    count_losses=lost,
    settings=(
        Setting(
            "header", "Whether to write LDC's header.", "no", of="write", choices=("no", "yes")
        ),
        Setting(
            "number", "Whether to renumber mentions.", "no", of="write", choices=("no", "yes")
        ),
        Setting("run", "Run identifier for mentions without one.", "", of="write"),
    ),
)
