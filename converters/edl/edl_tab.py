r"""Entity mentions as a table: one mention per line (LoReHLT 2019, the .tab of EDL).

Format:
    Eight tab-separated fields: run, mention id, mention string, `document:start-end`, entity (a
    knowledge base identifier in digits, or NIL and digits), type, mention type, confidence.
    Submissions have no header; LDC annotations have one. There is no quoting.

Conventions:
    Offsets are 0-based and inclusive. Annotations may list several entities separated by `|`: the
    first is the entity of the mention, the others are rows of `links`. Empty lines are skipped. In
    a folder or archive, only files ending in `.tab` are read, or all files if there are none. What
    other formats do not have is filled, and listed: runs, identifiers (m1, m2, …) and mention types
    (NAM). Mention strings come from the texts; without texts they stay empty.

Example lines:
    NIST_1	m7	Nicaragua	ENG_NW_006929:38-46	1000001	GPE	NAM	0.75
    LDC	m8	Osh	IL9_SN_000370:5-7	NIL12|1298	GPE	NAM	1.0

Codes raised: EDL103, EDL104, EDL2xx.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from hlteval.converters.edl.lines import count_losses, write
from hlteval.converters.edl.records import TABLE, explain
from hlteval.converters.format import Format, ReadResult, Setting, one_table
from hlteval.converters.toolkit.confidences import from_text
from hlteval.converters.toolkit.named_documents import with_documents
from hlteval.converters.toolkit.single_file import locate_in_text
from hlteval.findings import FieldRef, Finding, Location, finding
from hlteval.representation import TABLES, Corpus
from hlteval.sources import Member, Source, Unreadable, decode, sha256
from hlteval.sources.decoding import not_text

SUFFIX = ".tab"
#: Lines whose fields are converted at a time.
_SOME = 100_000


def sniff(source: Source) -> bool:
    """Whether the first file has a line of eight fields, the fourth of which is an extent.

    With a file of situation frames beside it, it is a submission of these.
    """
    if any(member.basename == "system_output.json" for member in source.members):
        return False
    members = files(source)
    try:
        head = members[0].fetch()[:4000].decode("utf-8", "replace") if members else ""
    except Unreadable:
        return False
    lines = [line for line in head.removeprefix("\ufeff").split("\n")[:6] if line.strip()]
    return any(is_header(line) or explain(0, line.rstrip("\r"))[0] for line in lines)


def files(source: Source) -> tuple[Member, ...]:
    """The files of a source that hold mentions."""
    if source.kind in {"file", "stdin"}:
        return source.members
    tables = tuple(member for member in source.members if member.name.endswith(SUFFIX))
    return tables or source.members


def is_header(line: str) -> bool:
    r"""Whether a line is the header of LDC's annotations.

    Examples:
        >>> is_header("\t".join(TABLE.headings)), is_header("LDC\tm1\tOsh")
        (True, False)
    """
    return TABLE.ordered_by(line) is not None


def read(source: Source) -> Iterator[ReadResult]:
    """The mentions of all files, as one batch."""
    findings: list[Finding] = []
    members: list[Member] = []
    sources: list[dict[str, object]] = []
    rejected: list[pl.DataFrame] = []
    count = 0
    rows: list[pl.DataFrame] = []
    for member in files(source):
        try:
            data = member.fetch()
        except Unreadable as reason:
            findings.append(reason.finding)
            continue
        text, more = _decoded(member, data)
        findings += more
        if breaks := text.count("\r\n"):
            findings.append(finding("EDL104", file=member.display, count=breaks))
        origin, digest = len(sources), sha256(data)
        del data  # of a large file, bytes, text and table are much memory
        table = TABLE.read(text)
        findings += table.findings(member)
        rejected.append(
            table.rejected_records("mention", origin=origin, first=count, id_column="mention")
        )
        count += rejected[-1].height
        rows.append(table.rows.with_columns(origin=pl.lit(origin, pl.Int64)))
        members.append(member)
        sources.append(
            {"row": origin, "path": source.path, "member": member.name or member.basename,
             "format": FORMAT.name, "sha256": digest}
        )  # fmt: skip
        del text, table
    empty = TABLE.read("").rows.with_columns(origin=pl.lit(0, pl.Int64))
    tables = _tables(pl.concat([empty, *rows]))
    corpus = Corpus(
        sources=sources, rejected_records=pl.concat(rejected) if rejected else (), **tables
    )
    yield ReadResult(corpus, tuple(findings), tuple(members))


def _decoded(member: Member, data: bytes) -> tuple[str, Sequence[Finding]]:
    """The text of a file, in which U+FFFD replaces invalid bytes, and findings.

    The official validator reads on as well, so that all other problems are found in the same run.
    The replacement is one character, so that columns after it are those of the file.
    """
    decoded = decode(data, display=member.display, encoding=member.encoding)
    text = decoded.text
    if text is None and b"\0" not in data and not not_text(data):
        text = data.decode(member.encoding, "replace").removeprefix("\ufeff")
    return text or "", decoded.findings


def _tables(cells: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The documents, mentions and links of the lines of all files."""
    values = pl.concat(map(_values, (cells.head(0), *cells.iter_slices(_SOME))), rechunk=True)
    documents, mentions = with_documents(cells.drop("extent", "confidence").hstack(values))
    return {"documents": documents, "mentions": _mentions(mentions), "links": _links(mentions)}


def _values(cells: pl.DataFrame) -> pl.DataFrame:
    """The document, the first and last offset, and the confidence of some lines."""
    extent, offsets = pl.col("extent").str, pl.col("offsets").str
    rows = cells.select("extent", offsets=extent.split(":").list.last())
    both = offsets.split_exact("-", 1).struct.rename_fields(["start", "last"])
    name = extent.head(extent.len_chars() - offsets.len_chars() - 1)
    rows = rows.select(name=name, offsets=both).unnest("offsets")
    rows = rows.with_columns(pl.col("start", "last").cast(pl.Int64))
    return rows.hstack(from_text(cells["confidence"]))


def _mentions(rows: pl.DataFrame) -> pl.DataFrame:
    """The table of mentions: an empty field of those that may be null is none."""
    mentions = rows.select(
        *("row", "document", "origin", "record", "mention"),
        pl.col("type").alias("label"),
        "start",
        end=pl.col("last") + 1,
        text="text",
        entity="entity",
        mention_type="mention type",
        annotator="run",
        confidence="confidence",
        confidence_text="confidence_text",
    )
    # What need not change is not copied.
    changes = [
        pl.when(pl.col(name) != "").then(pl.col(name))
        for name in ("text", "entity", "mention_type", "annotator")
        if (mentions[name] == "").any()
    ]
    mentions = mentions.with_columns(changes)
    if mentions.select(_several().any()).item():
        first = pl.col("entity").str.split("|").list.first()
        entity = pl.when(_several()).then(first).otherwise("entity")
        mentions = mentions.with_columns(entity=entity)
    fragments = TABLES["mentions"].schema["fragments"]
    return mentions.with_columns(fragments=pl.lit(None, dtype=fragments))


def _several() -> pl.Expr:
    return pl.col("entity").str.contains("|", literal=True)


def _links(rows: pl.DataFrame) -> pl.DataFrame:
    """The entities after the first, where there are several."""
    several = rows.filter(_several()).select(
        *("document", "origin", "record"),
        pl.col("row").alias("mention_row"),
        pl.col("entity").str.split("|").list.slice(1),
    )
    links = several.explode("entity")
    ranked = links.with_columns(
        row=pl.int_range(pl.len(), dtype=pl.Int64),
        rank=pl.int_range(2, pl.len() + 2).over("mention_row"),
    )
    return ranked.with_columns(label=pl.lit(None, pl.String), confidence=pl.lit(None, pl.Float64))


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The fields of places of a file; `document` and `offsets` are the parts of an extent."""
    return locate_in_text(_decoded(member, member.fetch())[0], places, _stretch)


def _stretch(line: str, field: str) -> tuple[int, int]:
    """Where a field is in its line; the line where there are too few fields."""
    if line.count("\t") + 1 < len(TABLE.columns):
        return 0, len(line)
    if field not in {"document", "offsets"}:
        return TABLE.stretch(line, field)
    start, end = TABLE.stretch(line, "extent")
    colon = start + line[start:end].rfind(":")
    return (start, colon) if field == "document" else (colon + 1, end)


FORMAT = Format(
    name="edl-tab",
    title="entity mentions as a table: one mention per line (LoReHLT EDL)",
    suffixes=(SUFFIX,),
    layout="single_file",
    words={
        "mentions": "mention line",
        "links": "further entity after |",
        "mentions.text": "mention string",
        "mentions.entity": "entity",
        "mentions.mention_type": "mention type",
        "mentions.confidence": "confidence",
        "mentions.confidence_text": "notation of a confidence",
        "mentions.annotator": "run",
        "links.entity": "further entity after |",
        "rejected_records": "unreadable line",
    },
    carries=(
        *("sources", "documents", "mentions", "links"),
        *("mentions.text", "mentions.entity", "mentions.mention_type", "mentions.confidence"),
        *("mentions.confidence_text", "mentions.annotator", "links.entity"),
    ),
    tabular=one_table(TABLE),
    sniff=sniff,
    documents=lambda source: {"": files(source)},
    read=read,
    codes=("EDL103", "EDL104", "EDL2"),
    locate=locate,
    write=write,
    known_losses="empty lines; non-canonical spaces and leading zeros in extents",
    count_losses=count_losses,
    settings=(
        Setting(
            "header", "Whether to write LDC's header.", "no", of="write", choices=("no", "yes")
        ),
        Setting("number", "Whether to renumber mentions.", "no", of="write", choices=("no", "yes")),
        Setting(
            "run",
            "Run identifier for mentions without one; run1 if the input format has none.",
            "",
            of="write",
        ),
    ),
)
