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
from hlteval.converters.toolkit.source_files import (
    FileBatch,
    head_of_first,
    locate_in_text,
    with_suffix,
)
from hlteval.findings import FieldRef, Location, Problem, finding
from hlteval.grammars import pattern
from hlteval.representation import Corpus, first_case
from hlteval.sources import Member, Source, decode
from hlteval.sources.decoding import not_text
from hlteval.syntax.sections import TableSections
from hlteval.syntax.tsv import WHITE_SPACE, Column, Explanation, Table, is_blank, shorten

# The lines of a table of entity mentions: their columns, and those that no pattern accepts.
#
# Lines with eight cells and a plain extent are read in bulk; `explain` reads all others.


#: Most characters of a text that a message quotes.
SHOWN = 60
_OFFSETS = re.compile(r"(\d{1,15})-(\d{1,15})")
_LOOSE_OFFSETS = re.compile(r" ?(\d{1,15}) ?[-\u2013] ?(\d{1,15})")
_SPACES = re.compile(f"[{WHITE_SPACE}]+")
_CONFIDENCE = r"0*(?:\.[0-9]+|1(?:\.0*)?|0\.[0-9]*)(?:[eE]-?[0-9]+)?"


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
    bare = line.rstrip("\t")
    count = bare.count("\t") + 1
    if len(cells) < wanted or count != wanted:
        if len(cells) == wanted and count == wanted - 1:
            hint = "add the confidence (field 8), such as 1.0"
        elif len(cells) == 1 and "\r" in line:
            hint = "end lines with LF, not with CR alone"
        elif len(cells) == 1 and len(line.split()) >= wanted:
            hint = "separate the fields with tabs, not spaces"
        elif count > wanted and explain(record, "\t".join(cells[:wanted]))[0]:
            hint = "remove the others, or set further to ignore for the flags of TAC KBP 2015"
        else:
            names = ", ".join(column.name for column in TABLE.columns)
            hint = f"write {names}, separated by single tabs"
        given = len(cells) if count > wanted else count
        values = {"given": given, "wanted": wanted, "hint": hint}
        return (), [Problem("EDL201", record, 0, len(line), values)]
    problems = []
    if len(cells) > wanted:
        surplus = {"count": len(line) - len(bare)}
        problems.append(Problem("EDL211", record, len(bare), len(line), surplus))
    start, end = TABLE.stretch(line, "extent")
    extent, more = read_extent(line[start:end])
    problems += [problem._replace(record=record).shift(start) for problem in more]
    return [[*cells[:3], extent, *cells[4:wanted]]] if extent else (), problems


def read_extent(cell: str) -> tuple[str | None, list[Problem]]:
    """An extent in plain form, None if it cannot be read; and its problems, placed in the cell.

    Examples:
        >>> extent, problems = read_extent("D1:10-12:x")
        >>> extent, [problem.code for problem in problems]
        ('D1:10-12', ['EDL212'])
    """
    whole = (0, 0, len(cell))
    document, colon, rest = cell.partition(":")
    if is_blank(cell):
        return None, [Problem("EDL202", *whole)]
    if not colon:
        return None, [Problem("EDL203", *whole, {"given": shorten(cell, SHOWN)})]
    if is_blank(document):
        return None, [Problem("EDL204", 0, 0, 1)]
    offsets = rest.partition(":")[0]
    if not _OFFSETS.fullmatch(offsets):
        # a colon in the identifier, or a space or another dash in the offsets
        document, _, offsets = cell.rpartition(":")
    numbers = _LOOSE_OFFSETS.fullmatch(offsets)
    if not numbers:
        start = cell.index(":") + 1
        values = {"given": shorten(cell[start:] or "nothing", SHOWN)}
        return None, [Problem("EDL205", 0, min(start, len(cell) - 1), len(cell), values)]
    plain = f"{int(numbers[1])}-{int(numbers[2])}"
    start, end = len(document) + 1, len(document) + 1 + len(offsets)
    name, problems = {"name": shorten(document, SHOWN)}, list[Problem]()
    if space := _SPACES.search(document):
        problems.append(Problem("EDL214", 0, *space.span(), name))
    if not offsets.replace("\u2013", "").isascii():
        ascii_digits = "".join(str(int(c)) if c.isdecimal() else c for c in offsets)
        values = {"given": offsets, "fix": ascii_digits}
        problems.append(Problem("EDL213", 0, start, end, values))
    if len(cell) > end:
        values = {"given": shorten(cell[end:], SHOWN)}
        problems.append(Problem("EDL212", 0, end, len(cell), values))
    if ":" in document:
        problems.append(Problem("EDL215", 0, 0, len(document), name))
    if not _OFFSETS.fullmatch(offsets):
        values = {"given": offsets, "fix": plain}
        problems.append(Problem("EDL216", 0, start, len(cell), values))
    return f"{document}:{plain}", problems


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
        Column("confidence", pattern=r"[^\t]+", usual=_CONFIDENCE),
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


def normal_form(column: str) -> pl.Expr:
    r"""A text as mention strings are written, following the evaluations of TAC.

    A line break is a space; line breaks after a hyphen are nothing; several spaces are one.

    Examples:
        >>> frame = pl.DataFrame({"text": ["Jean-\nLuc  Martin"]})
        >>> frame.select(normal_form("text"))["text"].to_list()
        ['Jean-Luc Martin']
    """
    return pl.col(column).str.replace_all(_HYPHENATED, "-").str.replace_all(SPACES, " ")


def complete(corpus: Corpus, run: str, first: int, *, numbered: bool) -> pl.DataFrame:
    """The mentions with all fields that can be known or made up.

    Args:
        corpus: whose mentions are written.
        run: of mentions without one; empty for `RUN`, which those of a table do not get.
        first: the number of the first mention that has no identifier.
        numbered: whether all mentions are numbered.
    """
    mentions, foreign = corpus.cached(_with_texts), _is_foreign(corpus)
    unnamed = pl.lit(numbered) | (foreign & blank("mention"))
    start = first if numbered else max(first, largest_number(mentions) + 1)
    numbers = pl.format("m{}", start - 1 + unnamed.cast(pl.Int64).cum_sum())
    own_run = first_case((foreign, RUN), otherwise="")
    untyped = foreign & blank("mention_type")
    return mentions.with_columns(
        annotator=pl.coalesce("annotator", pl.lit(run) if run else own_run),
        mention_type=first_case((untyped, MENTION_TYPE), otherwise=pl.col("mention_type")),
        mention=first_case((unnamed, numbers), otherwise=pl.col("mention")),
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
    found = [(row, texts[document][max(start, 0) : end]) for row, document, start, end in places]
    words = pl.DataFrame(found, {"row": pl.Int64, "found": pl.String}, orient="row")
    words = words.with_columns(normal_form("found"))
    joined = corpus.mentions.join(words, on="row", how="left", maintain_order="left")
    return joined.with_columns(text=pl.coalesce("text", "found")).drop("found")


def _is_foreign(corpus: Corpus) -> pl.Expr:
    """Whether mentions come from another format than a table of mentions."""
    tables = corpus.sources.filter(pl.col("format") == TABLE_FORMAT)["row"].to_list()
    return ~pl.col("origin").is_in(tables)


def blank(column: str) -> pl.Expr:
    """Whether a field holds nothing but spaces."""
    return pl.col(column).fill_null("").str.strip_chars() == ""


def matches(column: str, rule: str) -> pl.Expr:
    """Whether a field matches a rule of the grammar."""
    return pl.col(column).str.contains(f"^(?:{pattern('edl', rule)})$")


def count_missing(corpus: Corpus, writable: pl.DataFrame) -> Mapping[str, int]:
    """The counts of fields made up for the mentions that are written, and of those not allowed.

    Args:
        corpus: as it was read.
        writable: its mentions that a line can represent.
    """
    texts = corpus.cached(_with_texts).select("row", found="text")
    rows = writable.filter(_is_foreign(corpus)).join(texts, on="row", maintain_order="left")
    other_entity = ~(blank("entity") | matches("entity", "entity"))
    other_type = ~(blank("label") | matches("label", "type"))
    conditions = {
        "missing identifiers of mentions, written as m1, m2, …": blank("mention"),
        f"missing runs, written as {RUN} or as --set run=NAME": blank("annotator"),
        f"missing mention types, written as {MENTION_TYPE}": blank("mention_type"),
        "missing mention strings; add the texts as an input": blank("found"),
        "missing entities, which a submission must have": blank("entity"),
        "missing entity types, which a submission must have": blank("label"),
        "entities that a submission cannot have (it has numbers, or NIL and digits)": other_entity,
        "entity types that a submission cannot have (it has GPE, LOC, ORG, PER)": other_type,
    }
    return {text: rows.filter(condition).height for text, condition in conditions.items()}


# Writing entity mentions as a table: what a line can represent, and the lines.


_LARGEST = 10**15 - 1
YesNo = Literal["no", "yes"]
#: Characters that no field can have.
BREAKS = r"[\t\n\r\x00]"
_TEXTS = ("mention", "label", "text", "entity", "mention_type", "annotator", "confidence_text")
#: What would be read as offsets in the name of a document, or as no document at all.
_AS_OFFSETS = r"^\s*:|:\s?\d+\s?[-\x{2013}]\s?\d+"


def write(
    corpora: Iterable[Corpus], path: Path, header: YesNo = "no", number: YesNo = "no", run: str = ""
) -> None:
    """Write the mentions of all documents, in their order."""
    table = replace(TABLE, header="required" if header == "yes" else "none")

    def cells() -> Iterator[pl.DataFrame]:
        first = 1
        for corpus in corpora:
            mentions = complete(corpus, run, first, numbered=number == "yes")
            first = max(first, largest_number(mentions) + 1)
            yield _cells(corpus.replace(mentions=mentions))

    table.write(cells(), path)


def has(column: str, pattern: str) -> pl.Expr:
    """Whether a column has a value in which a pattern is found."""
    return pl.col(column).str.contains(pattern).fill_null(value=False)


#: Which mentions, joined with the names of their documents, a line can represent.
_WRITABLE = (
    ~pl.any_horizontal(has(column, BREAKS) for column in (*_TEXTS, "name"))
    & ~has("name", _AS_OFFSETS)
    & (pl.col("name").str.strip_chars() != "")
    & ~has("entity", r"\|")
    & ~has("annotator", r"^\x{FEFF}")  # it would be taken for a byte order mark
    & (pl.col("confidence_text") != "").fill_null(value=True)
    & pl.col("fragments").is_null()
    & pl.col("start").is_between(0, _LARGEST)
    & pl.col("end").is_between(1, _LARGEST)
)
#: Which links a line can represent.
_WRITABLE_LINKS = pl.col("entity").is_not_null() & ~has("entity", rf"{BREAKS}|\|")


def named_mentions(corpus: Corpus) -> pl.DataFrame:
    """The mentions with the names of their documents."""
    names = corpus.documents.select("name", document="row")
    return corpus.mentions.join(names, on="document", maintain_order="left")


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of rows that no line can represent."""
    mentions = named_mentions(corpus)
    written = mentions.filter(_WRITABLE)
    unknown = pl.col("confidence").is_null() & pl.col("confidence_text").is_null()
    return {
        "mentions that do not fit a line": mentions.height - written.height,
        "candidates that do not fit a line": corpus.links.filter(~_WRITABLE_LINKS).height,
        "unknown confidences, written as 1.0": written.filter(unknown).height,
        **count_missing(corpus, written),
    }


def _cells(corpus: Corpus) -> pl.DataFrame:
    links = corpus.links.filter(_WRITABLE_LINKS).sort("mention_row", "rank")
    others = links.group_by(row="mention_row").agg(others="entity")
    rows = named_mentions(corpus).filter(_WRITABLE)
    rows = rows.join(others, on="row", how="left", maintain_order="left")
    every = pl.concat_list(pl.col("entity").fill_null(""), pl.col("others").fill_null([]))
    return rows.select(
        *("mention", "text"),
        to_text(rows),
        **{"run": "annotator", "type": "label", "mention type": "mention_type"},
        extent=pl.format("{}:{}-{}", "name", "start", pl.col("end") - 1),
        entity=every.list.join("|"),
    )


SUFFIX = ".tab"
#: Lines with more fields, such as the flags of TAC 2015.
_FURTHER = re.compile(r"(?m)^((?:[^\t\n]*\t){7}[^\t\n]*)\t[^\r\n]*")
#: Lines whose fields are converted at a time.
_SOME = 100_000


def sniff(source: Source) -> bool:
    """Whether the first file has a line of eight fields or more, the fourth of which is an extent.

    With a file of situation frames beside it, it is a submission of these.
    """
    if any(member.basename == "system_output.json" for member in source.members):
        return False
    begin = head_of_first(files(source))
    lines = [line for line in begin.split("\n")[:6] if line.strip()]
    lines = [_FURTHER.sub(r"\1", line.rstrip("\r")) for line in lines]
    return any(is_header(line) or explain(0, line)[0] for line in lines)


def files(source: Source) -> tuple[Member, ...]:
    """The files of a source that hold mentions."""
    return with_suffix(source, SUFFIX) or source.members


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


def read(source: Source, further: Literal["error", "ignore"] = "error") -> Iterator[ReadResult]:
    """The mentions of all files, as one batch."""
    batch, count = FileBatch(source.path, FORMAT.name), 0
    rejected, rows = list[pl.DataFrame](), list[pl.DataFrame]()
    for member in files(source):
        origin, text = len(batch.members), batch.open(member)
        if len(batch.members) == origin:
            continue
        text = _lenient_text(member) if text is None else text
        if breaks := text.count("\r\n"):
            batch.findings.append(finding("EDL104", file=member.display, count=breaks))
        table = TABLE.read(_FURTHER.sub(r"\1", text) if further == "ignore" else text)
        batch.findings += table.findings(member)
        wrong = table.rejected_records("mention", origin=origin, first=count, id_column="mention")
        rejected.append(wrong)
        count += wrong.height
        rows.append(table.rows.with_columns(origin=pl.lit(origin, pl.Int64)))
        del text, table  # those of a large file are much memory
    empty = TABLE.read("").rows.with_columns(origin=pl.lit(0, pl.Int64))
    cells = pl.concat([empty, *rows])
    values = pl.concat(map(_values, (cells.head(0), *cells.iter_slices(_SOME))), rechunk=True)
    documents, mentions = with_documents(cells.drop("extent", "confidence").hstack(values))
    corpus = Corpus(
        sources=batch.sources,
        documents=documents,
        **_tables(mentions),
        rejected_records=pl.concat(rejected) if rejected else (),
    )
    yield ReadResult(corpus, tuple(batch.findings), tuple(batch.members))


def _lenient_text(member: Member) -> str:
    """The text of a file, in which U+FFFD replaces invalid bytes; empty if it is not text.

    The official validator reads on as well, so that all other problems are found in the same run.
    The replacement is one character, so that columns after it are those of the file.
    """
    data = member.fetch()
    if b"\0" in data or not_text(data):
        return ""
    return data.decode(member.encoding, "replace").removeprefix("\ufeff")


def _values(cells: pl.DataFrame) -> pl.DataFrame:
    """The document, the first and last offset, and the confidence of some lines."""
    extent, offsets = pl.col("extent").str, pl.col("offsets").str
    rows = cells.select("extent", offsets=extent.split(":").list.last())
    both = offsets.split_exact("-", 1).struct.rename_fields(["start", "last"])
    name = extent.head(extent.len_chars() - offsets.len_chars() - 1)
    rows = rows.select(name=name, offsets=both).unnest("offsets")
    rows = rows.with_columns(pl.col("start", "last").cast(pl.Int64))
    return rows.hstack(from_text(cells["confidence"]))


def _tables(rows: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The tables of mentions and of their entities after the first, where there are several.

    An empty field of those that may be null is none.
    """
    fields = {"text": "text", "mention_type": "mention type", "annotator": "run"}
    mentions = rows.select(
        *("row", "document", "origin", "record", "mention", "start"),
        *("confidence", "confidence_text"),
        **{name: pl.when(pl.col(field) != "").then(field) for name, field in fields.items()},
        entity=pl.when(pl.col("entity") != "").then(pl.col("entity").str.replace(r"\|.*", "")),
        end=pl.col("last") + 1,
        label="type",
    )
    others = pl.col("entity").str.split("|").list.slice(1)
    several = rows.filter(pl.col("entity").str.contains("|", literal=True))
    links = several.select("document", "origin", "record", others, mention_row="row")
    rank = pl.int_range(2, pl.len() + 2).over("mention_row")
    number = pl.int_range(pl.len(), dtype=pl.Int64)
    links = links.explode("entity").with_columns(row=number, rank=rank)
    return {"mentions": mentions, "links": links}


def sections(member: Member, **_: str) -> TableSections:
    """The documents of a file, which the extents of its lines name."""
    return TableSections(member, column=3, until=b":")


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The fields of places of a file; `document` and `offsets` are the parts of an extent."""
    text = decode(member.fetch(), display=member.display, encoding=member.encoding).text
    return locate_in_text(_lenient_text(member) if text is None else text, places, _stretch)


def _stretch(line: str, field: str) -> tuple[int, int]:
    """The place of a field in its line; the whole line where there are too few fields."""
    if line.count("\t") + 1 < len(TABLE.columns):
        return 0, len(line)
    if field not in {"document", "offsets"}:
        return TABLE.stretch(line, field)
    start, end = TABLE.stretch(line, "extent")
    colon = start + line[start:end].rfind(":")
    return (start, colon) if field == "document" else (colon + 1, end)


FORMAT = declaration(__name__)
