r"""LoReHLT annotation of situation frames: a folder of tables per document.

Format:
    Folders `needs`, `issues`, `sentiments`, `mentions` and `speech` with tab-separated tables:
    `needs/<document>.needs.tab`, `issues/<document>.issues.tab`,
    `sentiments/<document>.sentiment.tab`, `mentions/<document>.entity.tab`, and tables of speech
    with any names. The first line of a table names its columns, in any order; those that are not
    listed in docs/lorehlt-sf.md are ignored. There is no quoting. Any folder or table may be
    missing, and a table may have no lines.

Conventions:
    `none`, an empty cell and `NA` mean no value. A frame has the row of its table; a document may
    have several annotators. In tables of speech, `situation_id` is the document, `file_id` the
    frame, and rows of the type `out-of-domain` are not frames. Offsets of mentions are 0-based and
    inclusive. `proxy_status`, `reported_by`, `resolved_by`, `description` and `urgency_status` of
    frames and `mention_status` of mentions are attributes of their records. So is what the public
    scorer reads in a way of its own: cells with `none`; and of files, columns of numbers, and what
    is missing (rows, annotators).

Example lines:
    user_id	doc_id	sentiment_value	polarity	emotion_value	source	target	kb_id
    314	ENG_D1	-1.5	negative	fear,anger	Ent-ENG_D1-283	Frame-257	NIL12

Codes raised: LSF5xx.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.situations.lorehlt.items import ISSUE, types
from hlteval.converters.situations.lorehlt.reference_tables import (
    ISSUES,
    MENTIONS,
    NEEDS,
    SENTIMENTS,
    SPEECH,
    Files,
    documents,
    folder_of,
    kind_of_header,
    kinds,
)
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.fitting import SITUATION
from hlteval.converters.toolkit.source_files import beginning, locate_lines
from hlteval.findings import FieldRef, Location
from hlteval.representation import FRAGMENTS, Corpus, first_case
from hlteval.sources import Member, Source, is_file_path
from hlteval.syntax.tsv import Table

TEXT, AUDIO = "text", "speech"
NONE = "none"
#: The type of a row of speech without a situation.
OUT_OF_DOMAIN = "out-of-domain"
#: The values of emotion_value by the emotions that they are.
EMOTIONS = {"fear": "fear", "anger": "anger", "joy": "joyhappiness"}

#: Documents in a batch; a batch costs the same for few files as for many.
BATCH = 4000


def read(source: Source) -> Iterator[ReadResult]:
    """The documents in batches, in the order of the names of their files."""
    named = iter(documents(source).items())
    while batch := list(islice(named, BATCH)):
        files = Files(source.path, FORMAT.name)
        for name, members in batch:
            for member in members:
                files.take(name, member)
        corpus = corpus_of(files)
        findings = (item for group in files.groups.values() for item in group.findings())
        yield ReadResult(corpus, (*files.findings, *findings), tuple(files.members))


def tabular(member: Member, first: str) -> Sequence[Table]:  # noqa: ARG001
    """The table that a file is by its folder; any where it is in none."""
    own = kinds().get(folder_of(member))
    return [kind.declaration for kind in ([own] if own else kinds().values())]


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The cells of places of a file."""
    header = beginning(member, 100_000).partition("\n")[0].rstrip("\r")
    kind = kind_of_header(header)
    if kind is None:
        return [None] * len(places)
    return locate_lines(member, places, kind.table(header).stretch)


# The rows of the tables as tables of the representation.


#: The columns without a place in the representation, which become attributes: of needs, some of
#: them of issues, and the last of mentions.
_EXTRAS = (
    *("proxy_status", "urgency_status", "reported_by", "resolved_by", "description"),
    "mention_status",
)
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
_OF_FRAMES = (NEEDS, ISSUES, SPEECH)
#: The columns whose numbers the software of the scorer does not compare with text.
_NUMERIC = ("scope", "severity")
_ROW = pl.int_range(pl.len(), dtype=pl.Int64).alias("row")


def corpus_of(files: Files) -> Corpus:
    """The corpus of some files."""
    empty = pl.DataFrame(schema={"name": pl.String, "origin": pl.Int64, "record": pl.Int64})
    rows = {}
    for kind in kinds():
        tables = [group.rows.select(pl.exclude("^\t.*$", "line")) for group in files.of_kind(kind)]
        rows[kind] = files.qualify_names(pl.concat([empty, *tables], how="diagonal"))
    # The documents, sorted by name: those of rows, and those of files without rows.
    empty_files = [(name, origin, kind) for origin, kind, name in files.header_only]
    schema = {"name": pl.String, "origin": pl.Int64, "kind": pl.String}
    tables = [table.select("name", "origin", kind=pl.lit(kind)) for kind, table in rows.items()]
    every = pl.concat([*tables, pl.DataFrame(empty_files, schema=schema, orient="row")])
    named = every.unique("name", keep="first", maintain_order=True).sort("name")
    modality = first_case((pl.col("kind") == SPEECH, AUDIO), otherwise=TEXT)
    documents = named.select("name", "origin", _ROW, modality=modality)
    numbers = documents.select("name", document="row")
    rows = {
        kind: table.join(numbers, on="name", how="left", maintain_order="left")
        for kind, table in rows.items()
    }
    renamed = (rows[kind].rename({"entry": "place_kb"}, strict=False) for kind in _OF_FRAMES)
    full = (_with(table, "frame", "label", *_VALUES, "annotator") for table in renamed)
    situations = [table.filter(pl.col("label") != OUT_OF_DOMAIN) for table in full]
    frames = pl.concat(
        table.with_columns(*map(_value, _VALUES), kind=pl.lit(SITUATION)).select(_FRAME)
        for table in situations
    ).with_columns(_ROW)
    attributes = [*_attributes(rows), *_spellings(rows, situations), _absent_parts(files, numbers)]
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
        pl.col("start").cast(pl.Int64),
        end=pl.col("last").cast(pl.Int64) + 1,
    )
    return named.select(_ROW, *_MENTION, fragments=pl.lit(None, dtype=FRAGMENTS))


def _attribute(values: pl.DataFrame, element: str, name: str) -> pl.DataFrame:
    """The values of an attribute, of records or of files, which have no record."""
    values = values.with_columns(element=pl.lit(element), name=pl.lit(name))
    if "record" not in values.columns:
        values = values.with_columns(record=pl.lit(0, pl.Int64)).sort("origin", "document")
    return values.filter(pl.col("value") != "").select(_ATTRIBUTE)


def _attributes(rows: Mapping[str, pl.DataFrame]) -> Sequence[pl.DataFrame]:
    """The cells without a place in the representation: an attribute of the record for each."""
    tables = []
    for kind in (NEEDS, ISSUES, MENTIONS):
        known = [name for name in _EXTRAS if name in rows[kind].columns]
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
    for kind in _OF_FRAMES:
        columns, titles = (*_NUMERIC, *(("name", "entry") if kind == SPEECH else ())), []
        for name in columns:
            cell = pl.col(name).fill_null("")
            number, empty = cell.str.contains(_NUMBER), cell.is_in(_SKIPPED)
            only = (number | empty).all() & number.any()
            title = pl.lit("place_kb" if name == "entry" else name)
            titles.append(pl.when(only.over("origin")).then(title))
        value = pl.concat_str(titles, separator=",", ignore_nulls=True)
        full = _with(rows[kind], *columns)
        tables.append(full.select("document", "origin", value=value).unique())
    titles = [
        pl.when(pl.col(name).is_in(_NONES)).then(pl.lit(name))
        for name in ("status", "resolution", "place_kb")
    ]
    value = pl.concat_str(titles, separator=",", ignore_nulls=True)
    nones = pl.concat(table.select(*_RECORD, value=value) for table in situations)
    return [_attribute(pl.concat(tables), "file", "numbers"), _attribute(nones, "frame", NONE)]


def _absent_parts(files: Files, numbers: pl.DataFrame) -> pl.DataFrame:
    """The files of needs and issues that have no rows, or no column of annotators."""
    text = (NEEDS, ISSUES)
    lacks = [(name, origin, "rows") for origin, kind, name in files.header_only if kind in text]
    schema = {"name": pl.String, "origin": pl.Int64, "value": pl.String}
    groups = (group.rows for kind in text for group in files.of_kind(kind))
    unnamed = [
        files.qualify_names(rows).select("name", "origin", value=pl.lit("user_id")).unique()
        for rows in groups
        if "annotator" not in rows.columns
    ]
    every = pl.concat([pl.DataFrame(lacks, schema=schema, orient="row"), *unnamed])
    return _attribute(every.join(numbers, on="name", maintain_order="left"), "file", "lacks")


# Writing situation frames as a folder of LoReHLT annotation.


NAME = "lorehlt-sf-reference"
_BREAKS = r"[\t\n\r\x00]"
#: The columns whose cells without a value have `none`; others are empty.
_WITH_NONE = ("place", "scope", "severity", "resolution", "polarity")
#: The optional columns that a table of text has even if they have no values.
_USUAL = ("frame_type", "annotator", "scope", "severity", "polarity")


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """The tables of all documents, each in a file of its own in the folder of its kind."""
    taken: set[str] = set()
    source_files.write_files((file for each in corpora for file in _files(each, taken)), path)


def _files(corpus: Corpus, taken: set[str]) -> Iterator[tuple[str, str]]:
    """The path and the content of each file; paths that are not `taken` become so.

    A document without rows has an empty table of the first kind whose file no other document has.
    """
    written: set[int] = set()
    for kind, rows in _tables(corpus).items():
        fitting = rows.filter(_fits(rows))
        headings, cells = [], []
        for column in kinds()[kind].columns:
            name, null = column.name, pl.lit(NONE if column.name in _WITH_NONE else "")
            known = name in rows.columns
            is_used = known and fitting[name].is_not_null().any()
            if not column.optional or is_used or (name in _USUAL and kind != SPEECH):
                cell = pl.col(name).cast(pl.String).fill_null(null) if known else null
                headings.append(column.title)
                cells.append(cell.alias(column.title))
        lines = fitting.select("path", "document", line=pl.concat_str(cells, separator="\t"))
        written.update(lines["document"])
        files = lines.group_by("path", maintain_order=True).agg("line")
        taken.update(files["path"])
        for path, each in files.iter_rows():
            yield path, "\n".join(["\t".join(headings), *each, ""])
    for row, name, modality in corpus.documents.select("row", "name", "modality").iter_rows():
        home, slash, stem = name.rpartition("/")
        folders = (SPEECH,) if modality == AUDIO else (NEEDS, ISSUES, SENTIMENTS)
        paths = {f"{home}{slash}{each}/{stem}{kinds()[each].suffix}": each for each in folders}
        path = next((path for path in paths if path not in taken), "")
        if path and row not in written and is_file_path(name):
            taken.add(path)
            yield path, "\t".join(kinds()[paths[path]].headings) + "\n"


def _fits(rows: pl.DataFrame) -> pl.Expr:
    """Whether no cell of a row has a tab or a line break, and its document can name a file."""
    texts = [name for name, dtype in rows.schema.items() if dtype == pl.String]
    broken = [pl.col(name).str.contains(_BREAKS).fill_null(value=False) for name in texts]
    return ~pl.any_horizontal(broken) & pl.col("path").is_not_null()


def _tables(corpus: Corpus) -> dict[str, pl.DataFrame]:
    """The rows of each kind, with the names of the columns of its table and the path of a file."""
    frames = _rows(corpus, corpus.frames.filter(pl.col("kind") == SITUATION), "frame")
    identifier = pl.coalesce("frame", pl.format("Frame-{}", "row"))
    frames = frames.with_columns(frame=identifier, entry="place_kb")
    speech, label = pl.col("modality").eq_missing(pl.lit(AUDIO)), pl.col("label")
    in_issues = pl.col("folder").eq_missing(pl.lit(ISSUES))
    issue = label.is_in(types(ISSUE)) | (~label.is_in(types()) & in_issues)
    felt = [pl.when(pl.col(name)).then(pl.lit(emotion)) for name, emotion in EMOTIONS.items()]
    emotions = pl.concat_str(felt, separator=",", ignore_nulls=True)
    targets = frames.select(frame_row="row", own="frame")
    sentiments = _rows(corpus, corpus.sentiments.drop_nulls("value"))
    sentiments = sentiments.join(targets, on="frame_row", how="left", maintain_order="left")
    mentions = _rows(corpus, corpus.mentions.filter(pl.col("fragments").is_null()), "mention")
    tables = {
        NEEDS: frames.filter(~speech & ~issue).with_columns(frame_type=pl.lit("need")),
        ISSUES: frames.filter(~speech & issue).with_columns(frame_type=pl.lit("issue")),
        SPEECH: frames.filter(speech),
        SENTIMENTS: sentiments.with_columns(
            target=pl.coalesce("target", "own"),
            entry="holder_kb",
            emotions=emotions.replace("", NONE),
        ),
        MENTIONS: mentions.with_columns(last=pl.col("end") - 1).drop("fragments"),
    }
    return {kind: _with_paths(kind, rows) for kind, rows in tables.items()}


def _rows(corpus: Corpus, rows: pl.DataFrame, element: str = "") -> pl.DataFrame:
    """Rows with the name and modality of their documents, their file, and their attributes."""
    documents = corpus.documents.select("name", "modality", document="row")
    originals = source_files.original_files(corpus, NAME)
    schema = {"origin": pl.Int64, "original": pl.String}
    files = pl.DataFrame([*originals.items()], schema=schema, orient="row")
    folder = pl.col("original").str.extract(r"(?:^|/)([^/]+)/[^/]+$")
    rows = rows.join(documents, on="document", how="left", maintain_order="left")
    rows = rows.join(files, on="origin", how="left", maintain_order="left")
    record = ["document", "origin", "record"]
    own = corpus.attributes.filter(pl.col("element") == element, pl.col("name").is_in(_EXTRAS))
    for name in own["name"].unique(maintain_order=True):
        values = own.filter(pl.col("name") == name).select(*record, pl.col("value").alias(name))
        values = values.unique(record, keep="first", maintain_order=True)
        rows = rows.join(values, on=record, how="left", maintain_order="left")
    return rows.with_columns(folder=folder)


def _with_paths(kind: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with the path of their file: the one they are from, or that of their document."""
    valid = [name for name in rows["name"].unique() if is_file_path(name)]
    path = pl.col("name").str.replace("([^/]*)$", f"{kind}/${{1}}{kinds()[kind].suffix}")
    from_file = pl.when(pl.col("folder").eq_missing(pl.lit(kind))).then("original")
    return rows.with_columns(path=from_file.when(pl.col("name").is_in(valid)).then(path))


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """Count what the tables cannot represent, and what is filled."""
    tables = _tables(corpus)
    unfit = sum(rows.filter(~_fits(rows)).height for rows in tables.values())
    situations = corpus.frames.filter(pl.col("kind") == SITUATION)
    nameless_frames = situations["frame"].null_count()
    known = pl.col("element").is_in(["frame", "mention"]) & pl.col("name").is_in(_EXTRAS)
    known |= pl.col("name").is_in(READ_BY_SCORER)  # how missing values and numbers are spelt
    sentiments = corpus.sentiments
    unfelt = sentiments.select(pl.any_horizontal(pl.col(*EMOTIONS).is_null()).sum()).item()
    modalities = corpus.documents["modality"].drop_nulls()
    return {
        "modalities but text and speech": modalities.filter(~modalities.is_in([TEXT, AUDIO])).len(),
        **source_files.count_nameless(corpus),
        "rows with tabs or line breaks": unfit,
        "missing frame identifiers, written as Frame-1, Frame-2, …": nameless_frames,
        "resolutions of issues": tables[ISSUES]["resolution"].drop_nulls().len(),
        "place entities of frames in speech": tables[SPEECH]["place"].drop_nulls().len(),
        "sentiments without a value": sentiments["value"].null_count(),
        "missing emotions, written as none": unfelt,
        "attributes that the tables do not have": corpus.attributes.filter(~known).height,
        "empty texts of mentions": corpus.mentions.filter(text="").height,
        "mentions with discontinuous spans": corpus.mentions["fragments"].drop_nulls().len(),
    }


FORMAT = declaration(__name__)
