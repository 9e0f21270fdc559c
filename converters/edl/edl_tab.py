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

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.rows import from_text, to_text, with_documents
from hlteval.converters.toolkit.source_files import locate_in_text
from hlteval.findings import FieldRef, Finding, Location, Problem, finding
from hlteval.grammars import pattern
from hlteval.representation import TABLES, Corpus
from hlteval.sources import Member, Source, Unreadable, decode, sha256
from hlteval.sources.decoding import not_text
from hlteval.syntax.tsv import WHITE_SPACE, Column, Explanation, Table, is_blank, shorten

# The lines of a table of entity mentions: their columns, and those that no pattern accepts.
#
# Lines with eight cells and a plain extent are read in bulk; `explain` reads all others.


#: Most characters of a text that a message quotes.
SHOWN = 60
_OFFSETS = re.compile(r"(\d{1,15})-(\d{1,15})")
_SPACES = re.compile(f"[{WHITE_SPACE}]+")


def explain(record: int, line: str) -> Explanation:
    r"""The cells of a line, its extent in plain form, and its problems.

    Args:
        record: the number of the line.
        line: the line, without its line break.

    Examples:
        >>> good = "R\tm1\tOsh\tD1:10-12\t7\tGPE\tNAM\t1.0"
        >>> explain(1, good.replace(":", ": "))[0][0][3]
        'D1:10-12'
        >>> [problem.code for problem in explain(1, good + "\t")[1]]
        ['EDL211']
        >>> [problem.code for problem in explain(1, good.replace(":", " "))[1]]
        ['EDL203']
    """
    cells, wanted = line.split("\t"), len(TABLE.columns)
    filled = line.rstrip("\t")
    if len(cells) < wanted or filled.count("\t") != wanted - 1:
        return (), [_miscounted(record, line)]
    problems = []
    if surplus := len(line) - len(filled) if len(cells) > wanted else 0:
        problems.append(Problem("EDL211", record, len(filled), len(line), {"count": surplus}))
    start, end = TABLE.stretch(line, "extent")
    extent, more = read_extent(line[start:end])
    problems += [
        problem._replace(record=record, start=start + problem.start, end=start + problem.end)
        for problem in more
    ]
    return [[*cells[:3], extent, *cells[4:wanted]]] if extent else (), problems


def _miscounted(record: int, line: str) -> Problem:
    """The problem of a line that does not have eight cells."""
    cells, filled = line.split("\t"), line.rstrip("\t").count("\t") + 1
    names, wanted = [column.name for column in TABLE.columns], len(TABLE.columns)
    if len(cells) == wanted and filled == wanted - 1:
        hint = "add the confidence (field 8), such as 1.0"
    elif len(cells) == 1 and "\r" in line:
        hint = "end lines with LF, not with CR alone"
    elif len(cells) == 1 and len(line.split()) >= wanted:
        hint = "separate the fields with tabs, not spaces"
    else:
        hint = f"write {', '.join(names)}, separated by single tabs"
    given = len(cells) if filled > wanted else filled
    return Problem("EDL201", record, 0, len(line), {"given": given, "wanted": wanted, "hint": hint})


def read_extent(cell: str) -> tuple[str | None, list[Problem]]:
    """An extent in plain form, None if it cannot be read; and its problems, placed in the cell.

    Examples:
        >>> extent, problems = read_extent("D1:10-12:x")
        >>> extent, [problem.code for problem in problems]
        ('D1:10-12', ['EDL212'])
    """
    whole = (0, 0, len(cell))
    if is_blank(cell):
        return None, [Problem("EDL202", *whole)]
    document, colon, rest = cell.partition(":")
    if not colon:
        return None, [Problem("EDL203", *whole, {"given": shorten(cell, SHOWN)})]
    if is_blank(document):
        return None, [Problem("EDL204", 0, 0, 1)]
    offsets = rest.partition(":")[0]
    if found := _OFFSETS.fullmatch(offsets):
        return _plain(document, found), list(_oddities(cell, document, offsets))
    # a colon in the identifier, or a space or another dash in the offsets
    document, _, offsets = cell.rpartition(":")
    found = re.fullmatch(r" ?(\d{1,15}) ?[-\u2013] ?(\d{1,15})", offsets)
    if not found:
        start = cell.index(":") + 1
        values = {"given": shorten(cell[start:] or "nothing", SHOWN)}
        return None, [Problem("EDL205", 0, min(start, len(cell) - 1), len(cell), values)]
    problems = list(_oddities(cell, document, offsets))
    if ":" in document:
        name = shorten(document, SHOWN)
        problems.append(Problem("EDL215", 0, 0, len(document), {"name": name}))
    if not _OFFSETS.fullmatch(offsets):
        values = {"given": offsets, "fix": f"{int(found[1])}-{int(found[2])}"}
        problems.append(Problem("EDL216", 0, len(document) + 1, len(cell), values))
    return _plain(document, found), problems


def _plain(document: str, offsets: re.Match[str]) -> str:
    return f"{document}:{int(offsets[1])}-{int(offsets[2])}"


def _oddities(cell: str, document: str, offsets: str) -> Iterator[Problem]:
    """What is odd in an extent that can be read."""
    start, end = len(document) + 1, len(document) + 1 + len(offsets)
    if space := _SPACES.search(document):
        yield Problem("EDL214", 0, *space.span(), {"name": shorten(document, SHOWN)})
    if not offsets.replace("\u2013", "").isascii():
        fixed = "".join(str(int(c)) if c.isdecimal() else c for c in offsets)
        yield Problem("EDL213", 0, start, end, {"given": offsets, "fix": fixed})
    if len(cell) > end:
        yield Problem("EDL212", 0, end, len(cell), {"given": shorten(cell[end:], SHOWN)})


#: A record has eight cells; its header is that of LDC's annotations.
TABLE = Table(
    (
        Column("run", heading="system_run_id"),
        Column("mention", heading="mention_id"),
        Column("text", heading="mention_text"),
        Column("extent", heading="extents", pattern=partial(pattern, "edl", "extent")),
        Column("entity", heading="kb_id", usual=r"(?:NIL)?[0-9]+(?:\|(?:NIL)?[0-9]+)*"),
        Column("type", heading="entity_type", usual="GPE|LOC|ORG|PER"),
        Column("mention type", heading="mention_type", usual="NAM|NOM"),
        Column(
            "confidence",
            pattern=r"[^\t]+",
            usual=r"0*(?:\.[0-9]+|1(?:\.0*)?|0\.[0-9]*)(?:[eE]-?[0-9]+)?",
        ),
    ),
    header="optional",
    exact=False,
    empty_code="EDL103",
    explain=explain,
)


# Fields of a table of mentions that other formats do not have: what is filled, what is listed.
#
# A submission must fill every field. Run, identifier and mention type are made up; a mention string
# comes from the text of the document; entities and types are never made up.


#: The run and the mention type of mentions of formats without these fields.
RUN, MENTION_TYPE = "run1", "NAM"
#: What was read from it has all fields: those that are empty stay so, and are validated.
TABLE_FORMAT = "edl-tab"
_NUMBERED = re.compile("m([0-9]{1,15})")
SPACES = "[ \t\r\n\u00a0]+"
_HYPHENATED = "-(\r?\n)+"


def normalised(column: str) -> pl.Expr:
    r"""A text as mention strings are written, following the evaluations of TAC.

    A line break is a space; line breaks after a hyphen are nothing; several spaces are one.

    Examples:
        >>> frame = pl.DataFrame({"text": ["Jean-\nLuc  Martin"]})
        >>> frame.select(normalised("text"))["text"].to_list()
        ['Jean-Luc Martin']
    """
    return pl.col(column).str.replace_all(_HYPHENATED, "-").str.replace_all(SPACES, " ")


def filled(corpus: Corpus, run: str, first: int, *, numbered: bool) -> pl.DataFrame:
    """The mentions with all fields that can be known or made up.

    Args:
        corpus: whose mentions are written.
        run: of mentions without one; empty for `RUN`, which those of a table do not get.
        first: the number of the first mention that has no identifier.
        numbered: whether all mentions are numbered.
    """
    mentions = corpus.cached(_with_texts)
    foreign = _is_foreign(corpus)
    unnamed = pl.lit(numbered) | (foreign & _is_empty("mention"))
    start = first if numbered else max(first, largest_number(mentions) + 1)
    numbers = pl.format("m{}", start - 1 + unnamed.cast(pl.Int64).cum_sum())
    default_run = pl.lit(run) if run else pl.when(foreign).then(pl.lit(RUN)).otherwise(pl.lit(""))
    return mentions.with_columns(
        annotator=pl.coalesce("annotator", default_run),
        mention_type=pl.when(foreign & _is_empty("mention_type"))
        .then(pl.lit(MENTION_TYPE))
        .otherwise("mention_type"),
        mention=pl.when(unnamed).then(numbers).otherwise("mention"),
    )


def largest_number(mentions: pl.DataFrame) -> int:
    """The largest number of an identifier that looks like one of ours; 0 if there is none."""
    found = map(_NUMBERED.fullmatch, mentions["mention"])
    return max((int(match[1]) for match in found if match), default=0)


def _with_texts(corpus: Corpus) -> pl.DataFrame:
    """The mentions; those without a string get it from the text of their document."""
    texts = dict(corpus.documents.select("row", "text").drop_nulls("text").iter_rows())
    missing = pl.col("text").is_null() & pl.col("document").is_in(list(texts))
    places = corpus.mentions.filter(missing).select("row", "document", "start", "end").rows()
    found = {row: texts[document][max(start, 0) : end] for row, document, start, end in places}
    words = pl.DataFrame({"row": list(found), "found": list(found.values())})
    words = words.cast({"row": pl.Int64, "found": pl.String}).with_columns(normalised("found"))
    joined = corpus.mentions.join(words, on="row", how="left", maintain_order="left")
    return joined.with_columns(text=pl.coalesce("text", "found")).drop("found")


def _is_foreign(corpus: Corpus) -> pl.Expr:
    """Whether mentions come from another format than a table of mentions."""
    tables = corpus.sources.filter(pl.col("format") == TABLE_FORMAT)["row"].to_list()
    return ~pl.col("origin").is_in(tables)


def _is_empty(column: str) -> pl.Expr:
    return pl.col(column).fill_null("").str.strip_chars() == ""


def count_missing(corpus: Corpus, writable: pl.DataFrame) -> Mapping[str, int]:
    """What is made up for the mentions that are written, and what no submission may have.

    Args:
        corpus: as it was read.
        writable: its mentions that a line can represent.
    """
    texts = corpus.cached(_with_texts).select("row", found="text")
    rows = writable.filter(_is_foreign(corpus)).join(texts, on="row", maintain_order="left")
    return {
        "missing identifiers of mentions, written as m1, m2, …": _count(rows, "mention"),
        f"missing runs, written as {RUN} or as --set run=NAME": _count(rows, "annotator"),
        f"missing mention types, written as {MENTION_TYPE}": _count(rows, "mention_type"),
        "missing mention strings; add the texts as an input": _count(rows, "found"),
        "missing entities, which a submission must have": _count(rows, "entity"),
        "missing entity types, which a submission must have": _count(rows, "label"),
        "entities that a submission cannot have (it has numbers, or NIL and digits)": _count_unlike(
            rows, "entity", "entity"
        ),
        "entity types that a submission cannot have (it has GPE, LOC, ORG, PER)": _count_unlike(
            rows, "label", "type"
        ),
    }


def _count(rows: pl.DataFrame, column: str) -> int:
    return rows.filter(_is_empty(column)).height


def _count_unlike(rows: pl.DataFrame, column: str, terminal: str) -> int:
    """The number of values that the grammar does not allow in a submission."""
    allowed = pl.col(column).str.contains(f"^(?:{pattern('edl', terminal)})$")
    return rows.filter(~_is_empty(column) & ~allowed).height


# Writing entity mentions as a table: what a line can represent, and the lines.


_LARGEST = 10**15 - 1
_BREAKS = r"[\t\n\r\x00]"
_TEXTS = ("mention", "label", "text", "entity", "mention_type", "annotator", "confidence_text")
#: What would be read as offsets in the name of a document, or as no document at all.
_AS_OFFSETS = r"^\s*:|:\s?\d+\s?[-\x{2013}]\s?\d+"


def write(
    corpora: Iterable[Corpus],
    path: Path,
    header: Literal["no", "yes"] = "no",
    number: Literal["no", "yes"] = "no",
    run: str = "",
) -> None:
    """Write the mentions of all documents, in their order."""
    table = replace(TABLE, header="required" if header == "yes" else "none")

    def cells() -> Iterator[pl.DataFrame]:
        first = 1
        for corpus in corpora:
            mentions = filled(corpus, run, first, numbered=number == "yes")
            first = max(first, largest_number(mentions) + 1)
            yield _cells(corpus.replace(mentions=mentions))

    table.write(cells(), path)


def _has(column: str, pattern: str) -> pl.Expr:
    return pl.col(column).str.contains(pattern).fill_null(value=False)


def _writable() -> pl.Expr:
    """Which mentions, joined with the names of their documents, a line can represent."""
    broken = pl.any_horizontal(_has(column, _BREAKS) for column in (*_TEXTS, "name"))
    return (
        ~broken
        & ~_has("name", _AS_OFFSETS)
        & (pl.col("name").str.strip_chars() != "")
        & ~_has("entity", r"\|")
        & ~_has("annotator", r"^\x{FEFF}")  # it would be taken for a byte order mark
        & (pl.col("confidence_text") != "").fill_null(value=True)
        & pl.col("fragments").is_null()
        & pl.col("start").is_between(0, _LARGEST)
        & pl.col("end").is_between(1, _LARGEST)
    )


def _writable_candidates() -> pl.Expr:
    """Which links a line can represent."""
    return pl.col("entity").is_not_null() & ~_has("entity", rf"{_BREAKS}|\|")


def named_mentions(corpus: Corpus) -> pl.DataFrame:
    """The mentions with the names of their documents."""
    names = corpus.documents.select("name", document="row")
    return corpus.mentions.join(names, on="document", maintain_order="left")


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """What no line can represent of the tables."""
    mentions = named_mentions(corpus)
    silent = corpus.documents.join(corpus.mentions, left_on="row", right_on="document", how="anti")
    return {
        "mentions that do not fit a line": mentions.filter(~_writable()).height,
        "candidates that do not fit a line": corpus.links.filter(~_writable_candidates()).height,
        "documents without mentions": silent.height,
        "unknown confidences, written as 1.0": mentions.filter(
            _writable(), pl.col("confidence").is_null(), pl.col("confidence_text").is_null()
        ).height,
        **count_missing(corpus, mentions.filter(_writable())),
    }


def _cells(corpus: Corpus) -> pl.DataFrame:
    links = corpus.links.filter(_writable_candidates()).sort("mention_row", "rank")
    others = links.group_by("mention_row", maintain_order=True).agg(others="entity")
    rows = named_mentions(corpus).filter(_writable())
    rows = rows.join(
        others, left_on="row", right_on="mention_row", how="left", maintain_order="left"
    )
    entities = pl.col("entity").fill_null("")
    several = pl.concat_list(entities, "others").list.join("|")
    return rows.select(
        "mention",
        "text",
        pl.col("annotator").alias("run"),
        pl.format("{}:{}-{}", "name", "start", pl.col("end") - 1).alias("extent"),
        pl.when(pl.col("others").is_null()).then(entities).otherwise(several).alias("entity"),
        pl.col("label").alias("type"),
        pl.col("mention_type").alias("mention type"),
        to_text(rows),
    )


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


def documents(source: Source) -> Mapping[str, tuple[Member, ...]]:
    """The files that hold mentions, as one batch."""
    return {"": files(source)}


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
    cells = pl.concat([empty, *rows])
    values = pl.concat(map(_values, (cells.head(0), *cells.iter_slices(_SOME))), rechunk=True)
    documents, mentions = with_documents(cells.drop("extent", "confidence").hstack(values))
    corpus = Corpus(
        sources=sources,
        documents=documents,
        mentions=_mentions(mentions),
        links=_links(mentions),
        rejected_records=pl.concat(rejected) if rejected else (),
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


FORMAT = declaration(__name__)
