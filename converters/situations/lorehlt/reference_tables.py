"""The tables of LoReHLT annotation of situation frames: their columns, files and rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from operator import attrgetter

import polars as pl

from hlteval.converters.situations.lorehlt.items import ISSUE, NEED, statuses, type_hint, types
from hlteval.converters.toolkit.fitting import SITUATION
from hlteval.converters.toolkit.source_files import FileBatch, JoinedTables, beginning
from hlteval.findings import Problem, finding
from hlteval.findings.suggest import did_you_mean
from hlteval.representation import TABLES, Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.tsv import Column, Table

NEEDS, ISSUES, SENTIMENTS = "needs", "issues", "sentiments"
MENTIONS, SPEECH = "mentions", "speech"
TEXT, AUDIO = "text", "speech"
#: The type of a row of speech without a situation.
OUT_OF_DOMAIN = "out-of-domain"
NONE = "none"
#: The values of emotion_value by the emotions that they are.
EMOTIONS = {"fear": "fear", "anger": "anger", "joy": "joyhappiness"}

# The columns of each kind of table.


#: The suffix of the files of a kind, the column that only this kind has, and all of its columns, of
#: which those with a question mark are optional.
_KINDS: Mapping[str, tuple[str, str, str]] = {
    NEEDS: (
        ".needs.tab",
        "need_type",
        "user_id? doc_id frame_id frame_type? need_type place_id proxy_status? need_status scope? "
        "severity? urgency_status? resolution_status reported_by? resolved_by? description? kb_id",
    ),
    ISSUES: (
        ".issues.tab",
        "issue_type",
        "user_id? doc_id frame_id frame_type? issue_type place_id proxy_status? issue_status "
        "scope? severity? urgency_status? description? kb_id",
    ),
    SENTIMENTS: (
        ".sentiment.tab",
        "sentiment_value",
        "user_id? doc_id sentiment_value polarity? emotion_value source target kb_id",
    ),
    MENTIONS: (
        ".entity.tab",
        "mention_id",
        "doc_id entity_id mention_id entity_type mention_status? start_char end_char mention_text",
    ),
    SPEECH: (
        ".speech.tab",
        "situation_id",
        "user_id? file_id situation_id situation_type situation_status scope severity "
        "resolution_status place_id",
    ),
}
#: The columns of the representation by their headings; others have the name of their heading.
_NAMES: Mapping[str, str] = {
    "user_id": "annotator",
    **dict.fromkeys(("doc_id", "situation_id"), "name"),
    **dict.fromkeys(("frame_id", "file_id"), "frame"),
    **dict.fromkeys(("need_type", "issue_type", "situation_type", "entity_type"), "label"),
    **dict.fromkeys(("need_status", "issue_status", "situation_status"), "status"),
    "place_id": "place",
    "resolution_status": "resolution",
    "kb_id": "entry",
    "sentiment_value": "value",
    "emotion_value": "emotions",
    "source": "holder",
    "entity_id": "entity",
    "mention_id": "mention",
    "start_char": "start",
    "end_char": "last",
    "mention_text": "text",
}
#: Columns that a new table does not have.
_UNUSUAL = {NEEDS: ("urgency_status",), ISSUES: ("urgency_status",), SPEECH: ("user_id",)}
_IDENTIFIER = Column("", pattern=r"[^\t ]+", code="LSF507")
_OFFSET = Column("", "integer", code="LSF508")
#: The columns of closed form by their names; others are texts.
_FORMS: Mapping[str, Column] = {
    "name": _IDENTIFIER,
    "frame": _IDENTIFIER,
    "start": _OFFSET,
    "last": _OFFSET,
    "value": Column("", "number", pattern=r"[+-]?[0-9]{1,3}(?:\.[0-9]{1,9})?", code="LSF508"),
}
_ENTRY = "(?:[0-9]+|NIL[0-9]*)"
_SCALES: Mapping[str, tuple[str, ...]] = {
    "scope": ("1_smallgroup", "2_largegroup", "3_municipality", "4_region"),
    "severity": ("1_discomfort", "2_injury", "3_possibledeath", "4_certaindeath"),
}


def _vocabulary(kind: str, heading: str) -> tuple[Sequence[str], str] | None:
    """The values of a column with a closed vocabulary, and a pattern of further ones."""
    speech = kind == SPEECH
    if heading in _SCALES:
        unneeded = f"|{heading.title()}_Not_Required" if speech else ""
        return _SCALES[heading], f"[0-4]|{NONE}{unneeded}"
    if heading == "emotion_value":
        emotion = "|".join(EMOTIONS.values())
        return (*EMOTIONS.values(), NONE), rf"(?:{emotion})(?:, ?(?:{emotion}))*"
    if heading == "resolution_status":
        # with the spelling of LDC's own example
        of_speech = ("Insufficient/Unknown", "Insufficent", "Insufficient", "Sufficient")
        return of_speech if speech else ("sufficient", "insufficient"), NONE
    vocabularies: Mapping[str, tuple[Sequence[str], str]] = {
        "need_status": (statuses(NEED), ""),
        "issue_status": (statuses(ISSUE), ""),
        "situation_status": (("Current", "Past Only", "Future", "not_current"), NONE),
        "polarity": (("positive", "negative"), NONE),
    }
    return vocabularies.get(heading)


def _hint(values: Sequence[str], cell: str) -> Mapping[str, object]:
    return {"hint": did_you_mean(cell, values, f"use one of: {', '.join(values)}")}


def _column(kind: str, heading: str) -> Column:
    title, optional = heading.removesuffix("?"), heading.endswith("?")
    name = _NAMES.get(title, title)
    if title == "place_id" and kind == SPEECH:
        name = "entry"
    if name in _FORMS:
        return replace(_FORMS[name], name=name, heading=title)
    column = Column(name, heading=title, nullable=True, optional=optional)
    if name == "label" and kind != MENTIONS:
        of_kind = {NEEDS: NEED, ISSUES: ISSUE}.get(kind, "")
        out_of_domain = [OUT_OF_DOMAIN] if kind == SPEECH else []
        return replace(
            column,
            pattern="|".join([*types(of_kind), *out_of_domain]),
            code="LSF504",
            nullable=False,
            tolerated=True,
            describe=lambda cell: {"hint": type_hint(cell)},
        )
    if name == "entry":
        # several if the annotator could not decide; the sources of sentiments may be others
        others = {SENTIMENTS: ["author", "other"], SPEECH: [NONE]}.get(kind, [])
        pattern = "|".join([rf"{_ENTRY}(?:\|{_ENTRY})*", *others])
        return replace(column, pattern=pattern, code="LSF506", tolerated=True)
    if vocabulary := _vocabulary(kind, title):
        values, more = vocabulary
        pattern = "|".join([*map(re.escape, values), *([more] if more else [])])
        hint = partial(_hint, values)
        return replace(column, pattern=pattern, code="LSF505", tolerated=True, describe=hint)
    return column


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of table: a folder of the annotation.

    Attributes:
        name: of the folder.
        suffix: of its files.
        own_column: the heading of a column that only this kind has.
        columns: its columns.
    """

    name: str
    suffix: str
    own_column: str
    columns: tuple[Column, ...]

    @property
    def headings(self) -> tuple[str, ...]:
        """The columns of a new table, in their usual order."""
        titles = (column.title for column in self.columns)
        return tuple(title for title in titles if title not in _UNUSUAL.get(self.name, ()))

    @property
    def declaration(self) -> Table:
        """The table with its header, whose mistakes in all rows can be found."""
        return Table(self.columns, header="required", any_order=True, ragged=True)

    def table(self, header: str) -> Table:
        """The declaration of the lines after a header; unknown columns are texts."""
        known = {column.title: column for column in self.columns}
        columns = (
            known.get(title) or Column(f"\t{number}")
            for number, title in enumerate(header.split("\t"))
        )
        # A line must have all cells of its header.
        return Table(tuple(replace(column, optional=False) for column in columns), code="LSF503")

    def header_problem(self, header: str) -> Problem | None:
        """The problem with the columns of a header: one is missing, or there twice."""
        titles = header.split("\t")
        required = (column.title for column in self.columns if not column.optional)
        if missing := [title for title in required if title not in titles]:
            values = {"table": self.name, "missing": ", ".join(missing)}
            return Problem("LSF502", 1, 0, len(header), values)
        for column in self.columns:
            if titles.count(column.title) > 1:
                end = f"\t{header}\t".rindex(f"\t{column.title}\t") + len(column.title)
                start = end - len(column.title)
                return Problem("LSF514", 1, start, end, {"column": column.title})
        return None


@cache
def kinds() -> Mapping[str, Kind]:
    """The kinds of tables by the names of their folders."""
    return {
        name: Kind(name, suffix, own, tuple(_column(name, each) for each in headings.split()))
        for name, (suffix, own, headings) in _KINDS.items()
    }


def kind_of_header(header: str) -> Kind | None:
    r"""The kind of table that has a header; None for other lines.

    Examples:
        >>> kind_of_header("user_id\tdoc_id\tneed_type").name
        'needs'
        >>> kind_of_header("LDC\tm1\tOsh") is None
        True
    """
    titles = set(header.split("\t"))
    return next((kind for kind in kinds().values() if kind.own_column in titles), None)


# Which files of a source are tables of LoReHLT annotation, and their lines read in bulk.


SUFFIX = ".tab"
#: Ends of the names of other tables.
_SIMILAR = (".tab", ".tsv", ".txt", ".csv")
#: How the names of tables end in distributions of LDC.
_PATHS = (".needs.tab", ".issues.tab", ".sentiment.tab", ".entity.tab")


def documents(source: Source) -> Mapping[str, tuple[Member, ...]]:
    """The tables of each document by its name: the name of the file up to its first dot."""
    named: dict[str, list[Member]] = {}
    for member in tables(source):
        named.setdefault(qualify(member, member.basename.partition(".")[0]), []).append(member)
    return {name: tuple(named[name]) for name in sorted(named)}


def qualify(member: Member, name: str) -> str:
    """The name of a document of a file: its own, after the folder if the file is qualified.

    The folder is the one that holds those of the annotation.

    Examples:
        >>> qualify(Member("a/needs/d1.needs.tab", "", 0, bytes, qualified=True), "d1")
        'a/d1'
    """
    home = member.name.rpartition("/")[0]
    if folder_of(member) in kinds():
        home = home.rpartition("/")[0]
    if not member.qualified or not home or name.startswith(f"{home}/"):
        return name
    return f"{home}/{name}"


def tables(source: Source) -> tuple[Member, ...]:
    """The files in folders of the annotation; where there are none, all that end in .tab.

    In these folders, a table is one by its header too.
    """
    if source.kind in {"file", "stdin"}:
        return source.members
    inside = [member for member in source.members if folder_of(member) in kinds()]
    listed = [member for member in inside or source.members if member.basename.endswith(SUFFIX)]
    listed += [
        member
        for member in inside
        if not member.basename.endswith(SUFFIX)
        and member.basename.lower().endswith(_SIMILAR)
        and _has_header(member)
    ]
    return tuple(sorted(listed, key=attrgetter("name")))


def _has_header(member: Member) -> bool:
    """Whether a file begins with the header of a kind of table."""
    return kind_of_header(beginning(member).partition("\n")[0].rstrip("\r")) is not None


def folder_of(member: Member) -> str:
    """The name of the folder that a file is in; empty for a file in no folder."""
    return member.name.rpartition("/")[0].rpartition("/")[2]


def sniff(source: Source) -> bool:
    """Whether one of the first tables has the header of a kind, or the folder and suffix of one."""
    return any(member.name.endswith(_PATHS) or _has_header(member) for member in tables(source)[:3])


class Files(FileBatch):
    """The files of a batch of documents, in groups of one header.

    Attributes:
        groups: the groups by kind and header.
        header_only: row of `sources`, kind and document of each file without lines.
    """

    def __init__(self, path: str, form: str) -> None:
        super().__init__(path, form)
        self.groups: dict[tuple[str, str], JoinedTables] = {}
        self.header_only: list[tuple[int, str, str]] = []

    def take(self, name: str, member: Member) -> None:
        """Read a file of a document."""
        folder, display = folder_of(member), member.display
        if not member.basename.endswith(SUFFIX) and folder in kinds():
            proper = f"{member.basename[:-4]}{SUFFIX}"
            self.findings.append(finding("LSF513", file=display, table=folder, name=proper))
            return
        self.add(name, member)
        if not self.texts:
            return
        origin, _, text = self.texts.pop()
        header, _, body = text.partition("\n")
        header = header.rstrip("\r")
        kind = kind_of_header(header)
        if not text.strip() and folder in kinds():
            self.header_only.append((origin, folder, name))
        elif kind is None:
            titles = " ".join(kinds().get(folder, kinds()[NEEDS]).headings)
            table = folder if folder in kinds() else "annotation"
            problem = Problem("LSF501", 1, 0, len(header), {"table": table, "header": titles})
            empty = finding("LSF501", file=display, table=table, header=titles)
            self.findings.append(problem.in_line(display, header) if header else empty)
        elif odd := kind.header_problem(header):
            self.findings.append(odd.in_line(display, header))
        else:
            lines = self.groups.setdefault((kind.name, header), JoinedTables(kind.table(header)))
            lines.add(origin, member, body)
            if not body.strip():
                self.header_only.append((origin, kind.name, name))

    def named(self, documents: pl.DataFrame) -> pl.DataFrame:
        """Rows whose documents have their folder in their names where files are qualified by it."""
        if not any(member.qualified for member in self.members):
            return documents
        own = documents.select("origin", "name").iter_rows()
        names = [qualify(self.members[origin], name) for origin, name in own]
        return documents.with_columns(name=pl.Series(names, dtype=pl.String))

    def of_kind(self, name: str) -> Sequence[JoinedTables]:
        """The groups of a kind."""
        return [group for (kind, _), group in self.groups.items() if kind == name]


# The rows of the tables as tables of the representation.


#: The columns without a place in the representation, by kind; they become attributes.
EXTRAS = {
    NEEDS: ("proxy_status", "urgency_status", "reported_by", "resolved_by", "description"),
    ISSUES: ("proxy_status", "urgency_status", "description"),
    MENTIONS: ("mention_status",),
}
_VALUES = ("place", "place_kb", "status", "scope", "severity", "resolution")
_RECORD = ("document", "origin", "record")
_FRAME = (*_RECORD, "frame", "kind", "label", *_VALUES, "annotator")
_SENTIMENT = (
    *(*_RECORD, "frame_row", "target", "holder", "holder_kb", "value", "polarity"),
    *(*EMOTIONS, "annotator"),
)
_MENTION = (*_RECORD, "mention", "label", "start", "end", "text", "entity")
_ATTRIBUTE = (*_RECORD, "element", "name", "value")
#: The attributes of files and records that say how the software of the scorer reads them.
READ_BY_SCORER = ("numbers", "lacks", NONE)
#: Cells that are values for the software of the scorer, and those that it skips; neither has one.
_NONES = (NONE, "None", "<NA>")
_SKIPPED = (
    *("", "NA", "N/A", "n/a", "nan", "NaN", "NULL", "null", "#N/A", "-nan", "#N/A N/A", "#NA"),
    *("-NaN", "1.#IND", "1.#QNAN", "-1.#IND", "-1.#QNAN"),
)
_NUMBER = r"^\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*$"
#: The columns whose numbers the software of the scorer does not compare with text, by kind.
_NUMERIC = {**dict.fromkeys((NEEDS, ISSUES), tuple(_SCALES)), SPEECH: (*_SCALES, "name", "entry")}
_ROW = pl.int_range(pl.len(), dtype=pl.Int64).alias("row")


def corpus_of(files: Files) -> Corpus:
    """The corpus of some files."""
    empty = pl.DataFrame(schema={"name": pl.String, "origin": pl.Int64, "record": pl.Int64})
    rows = {}
    for kind in kinds():
        tables = [group.rows.select(pl.exclude("^\t.*$", "line")) for group in files.of_kind(kind)]
        rows[kind] = files.named(pl.concat([empty, *tables], how="diagonal"))
    documents = _documents(files, rows)
    numbers = documents.select("name", document="row")
    rows = {
        kind: table.join(numbers, on="name", how="left", maintain_order="left")
        for kind, table in rows.items()
    }
    situations = [
        _with(
            rows[kind].rename({"entry": "place_kb"}, strict=False),
            "frame",
            "label",
            *_VALUES,
            "annotator",
        )
        for kind in (NEEDS, ISSUES, SPEECH)
    ]
    situations = [table.filter(pl.col("label") != OUT_OF_DOMAIN) for table in situations]
    frames = pl.concat(
        table.with_columns(*map(_value, _VALUES), kind=pl.lit(SITUATION)).select(_FRAME)
        for table in situations
    ).with_columns(_ROW)
    attributes = [*_attributes(rows), *_spellings(rows, situations), _lacking(files, numbers)]
    rejected: list[dict[str, object]] = []
    for (name, _), group in files.groups.items():
        kind = "sentiment" if name == SENTIMENTS else "frame"
        rejected += group.rejected_records(kind, first=len(rejected))
    return Corpus(
        sources=files.sources,
        documents=documents,
        frames=frames,
        sentiments=_sentiments(rows[SENTIMENTS], frames),
        mentions=_mentions(rows[MENTIONS]),
        attributes=pl.concat(attributes).select(_ROW, pl.all()),
        rejected_records=rejected,
    )


def _documents(files: Files, rows: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """The documents, sorted by name: those of rows, and those of files without rows."""
    empty = [(name, origin, kind) for origin, kind, name in files.header_only]
    schema = {"name": pl.String, "origin": pl.Int64, "kind": pl.String}
    tables = [table.select("name", "origin", kind=pl.lit(kind)) for kind, table in rows.items()]
    every = pl.concat([*tables, pl.DataFrame(empty, schema=schema, orient="row")])
    named = every.unique("name", keep="first", maintain_order=True).sort("name")
    speech = pl.when(pl.col("kind") == SPEECH).then(pl.lit(AUDIO)).otherwise(pl.lit(TEXT))
    return named.select("name", "origin", _ROW, modality=speech)


def _value(column: str) -> pl.Expr:
    """A cell, null if it says that there is no value."""
    return pl.when(~pl.col(column).is_in([*_NONES, *_SKIPPED])).then(pl.col(column))


def _with(rows: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """Rows with columns that are null where no table has them."""
    missing = [pl.lit(None, pl.String).alias(name) for name in columns if name not in rows.columns]
    return rows.with_columns(missing)


def _sentiments(rows: pl.DataFrame, frames: pl.DataFrame) -> pl.DataFrame:
    """The sentiments, each with the row of the frame that it targets.

    Where annotators gave a frame under one identifier, it is that of the same annotator, or else
    the first of the document.
    """
    rows = _with(rows, "value", "polarity", "emotions", "holder", "target", "entry", "annotator")
    rows = rows.with_columns(holder_kb=_value("entry"), value=pl.col("value").cast(pl.Float64))
    rows = rows.with_columns(_value("polarity"), _value("holder"), _value("target"))
    key = ["document", "annotator", "target"]
    own = frames.select("document", "annotator", own="row", target="frame")
    own = own.unique(key, keep="first", maintain_order=True)
    first = own.unique(["document", "target"], keep="first", maintain_order=True)
    first = first.select("document", "target", first="own")
    rows = rows.join(own, on=key, how="left", maintain_order="left", nulls_equal=True)
    rows = rows.join(first, on=["document", "target"], how="left", maintain_order="left")
    felt = pl.col("emotions").fill_null("").str.replace_all(" ", "").str.split(",")
    emotions = {name: felt.list.contains(value) for name, value in EMOTIONS.items()}
    table = rows.with_columns(frame_row=pl.coalesce("own", "first"), **emotions)
    return table.select(_ROW, *_SENTIMENT)


def _mentions(rows: pl.DataFrame) -> pl.DataFrame:
    rows = _with(rows, "mention", "label", "text", "entity", "start", "last")
    named = rows.with_columns(
        pl.col("mention", "label").fill_null(""),
        start=pl.col("start").cast(pl.Int64),
        end=pl.col("last").cast(pl.Int64) + 1,
    )
    fragments = TABLES["mentions"].schema["fragments"]
    return named.select(_ROW, *_MENTION, fragments=pl.lit(None, dtype=fragments))


def _attribute(values: pl.DataFrame, element: str, name: str) -> pl.DataFrame:
    """The values of an attribute, of records or of files, which have no record."""
    values = values.with_columns(element=pl.lit(element), name=pl.lit(name))
    if "record" not in values.columns:
        values = values.with_columns(record=pl.lit(0, pl.Int64)).sort("origin", "document")
    return values.filter(pl.col("value") != "").select(_ATTRIBUTE)


def _attributes(rows: Mapping[str, pl.DataFrame]) -> Sequence[pl.DataFrame]:
    """The cells without a place in the representation: an attribute of the record for each."""
    tables = []
    for kind, columns in EXTRAS.items():
        known = [name for name in columns if name in rows[kind].columns]
        cells = rows[kind].select(*_RECORD, *known)
        cells = cells.unpivot(known, index=_RECORD, variable_name="name").drop_nulls("value")
        element = pl.lit("mention" if kind == MENTIONS else "frame")
        cells = cells.with_columns(pl.col("value").cast(pl.String), element=element)
        tables.append(cells.select(_ATTRIBUTE))
    return [pl.concat(tables).sort(*_RECORD, maintain_order=True)]


def _spellings(
    rows: Mapping[str, pl.DataFrame], situations: Sequence[pl.DataFrame]
) -> Sequence[pl.DataFrame]:
    """The spellings that the software of the scorer reads in a way of its own.

    They are the columns of files in which nothing but numbers is written, rows out of domain
    included; and the columns of each situation in which `none` is written for a value.
    """
    tables = []
    for kind, columns in _NUMERIC.items():
        titles = []
        for name in columns:
            cell = pl.col(name).fill_null("")
            number, empty = cell.str.contains(_NUMBER), cell.is_in(_SKIPPED)
            only = (number | empty).all() & number.any()
            title = pl.lit("place_kb" if name == "entry" else name)
            titles.append(pl.when(only.over("origin")).then(title))
        value = pl.concat_str(titles, separator=",", ignore_nulls=True)
        tables.append(
            _with(rows[kind], *columns).select("document", "origin", value=value).unique()
        )
    titles = [
        pl.when(pl.col(name).is_in(_NONES)).then(pl.lit(name))
        for name in ("status", "resolution", "place_kb")
    ]
    value = pl.concat_str(titles, separator=",", ignore_nulls=True)
    nones = pl.concat(table.select(*_RECORD, value=value) for table in situations)
    return [_attribute(pl.concat(tables), "file", "numbers"), _attribute(nones, "frame", NONE)]


def _lacking(files: Files, numbers: pl.DataFrame) -> pl.DataFrame:
    """The files of needs and issues that have no rows, or no column of annotators."""
    lacks = [
        (name, origin, "rows")
        for origin, kind, name in files.header_only
        if kind in (NEEDS, ISSUES)
    ]
    schema = {"name": pl.String, "origin": pl.Int64, "value": pl.String}
    groups = (group.rows for kind in (NEEDS, ISSUES) for group in files.of_kind(kind))
    unnamed = [
        files.named(rows).select("name", "origin", value=pl.lit("user_id")).unique()
        for rows in groups
        if "annotator" not in rows.columns
    ]
    every = pl.concat([pl.DataFrame(lacks, schema=schema, orient="row"), *unnamed])
    return _attribute(every.join(numbers, on="name", maintain_order="left"), "file", "lacks")
