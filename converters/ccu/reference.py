r"""A reference of CCU: a folder of tables about audio, video and text.

Format:
    `docs/segments.tab` (file_id, segment_id, start, end), `docs/file_info.tab` (file_uid, type,
    length and other columns), `docs/versions_per_file.tab`, `docs/norm_info.tab`,
    `data/norms.tab`, `data/emotions.tab`, `data/valence_arousal.tab`, `data/changepoint.tab`, and
    `index_files/*.index.tab`, of which `*system_input.index.tab` lists the documents. Each is
    separated by tabs, without quoting; its first line names the columns, in any order.

Conventions:
    Positions are seconds, or characters in text. Norms, emotions and levels belong to segments.
    `none` means that an annotator found nothing, `noann` that nobody annotated, `EMPTY_NA` that
    there is no value; rows with `EMPTY_TBD` are unfinished and left out. Older references have
    `impact_scalar` and `comment` for `strength_impact` and `evidence`.

Example lines:
    user_id	file_id	segment_id	norm	status
    14678	M010005QD	M010005QD_0001	001	adhere

Codes raised: CCR1xx.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import polars as pl
from polars import selectors

from hlteval.converters.ccu import tables as ccu_tables
from hlteval.converters.ccu.tables import READ_PLACE, Kind, Tables
from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.source_files import locate_lines
from hlteval.findings import FieldRef, Location
from hlteval.representation import Corpus, row_hash
from hlteval.sources import Member, Source
from hlteval.syntax.tsv import Table

# The tables of a reference of CCU.


SEGMENTS, FILE_INFO = "docs/segments.tab", "docs/file_info.tab"
VERSIONS, NORM_INFO = "docs/versions_per_file.tab", "docs/norm_info.tab"
NORMS, EMOTIONS = "data/norms.tab", "data/emotions.tab"
LEVELS, CHANGES = "data/valence_arousal.tab", "data/changepoint.tab"
INDEX = "index_files/*.index.tab"
SYSTEM_INPUT = "system_input.index.tab"
#: The columns of numbers.
NUMBERS = ("start", "end", "length", "at", "valence", "arousal")
#: The tables of a reference by the ends of their paths.
kinds = partial(ccu_tables.kinds_of, "reference")
_NEEDED = (SEGMENTS, FILE_INFO)
ALL = "all"
#: The tables of `data/` by the setting that reads only one of them.
_DATA = {"norms": NORMS, "emotions": EMOTIONS, "levels": LEVELS, "changes": CHANGES}


def kind_of(member: Member) -> Kind | None:
    """The kind of table that a file is by its path; None for other files."""
    folder, _, name = member.name.rpartition("/")
    if folder.rpartition("/")[2] == "index_files" and name.endswith(".index.tab"):
        return kinds()[INDEX]
    return kinds().get(f"{folder.rpartition('/')[2]}/{name}")


def documents(source: Source) -> Mapping[str, tuple[Member, ...]]:
    """The tables of a reference, as one batch."""
    return {"": tuple(member for member in source.members if kind_of(member))}


def sniff(source: Source) -> bool:
    """Whether a table is where a reference has it."""
    found = (kind.name for member in source.members if (kind := kind_of(member)))
    return any(name != INDEX for name in found)


def read(source: Source, annotations: str = ALL) -> Iterator[ReadResult]:
    """The whole reference, or the part of it that one task needs, as one batch.

    Args:
        source: the folder or archive.
        annotations: which table of `data/` is read: `norms`, `emotions`, `levels`, `changes`, or
            `all` of them. The tables of `docs/` and `index_files/` are always read. A document
            that only the others name is not there.
    """
    unread = _unread(annotations)
    tables = Tables(source.path, FORMAT.name)
    seen: dict[str, str] = {}
    for member in sorted(source.members, key=lambda m: (m.name.count("/"), m.name)):
        kind = kind_of(member)
        if kind is None:
            continue
        if kind.name in seen and kind.name != INDEX:
            tables.report_file("CCR120", member.display, table=kind.name, other=seen[kind.name])
            continue
        seen[kind.name] = member.name
        if kind.name not in unread:
            tables.read(member, kind)
    names = [member.name for member in source.members]
    missing = [name for name in _NEEDED if name not in seen]
    if source.findings and not source.members:
        missing.clear()  # nothing was unpacked
    elif not any(name.endswith(SYSTEM_INPUT) for name in names):
        missing.append(f"index_files/*{SYSTEM_INPUT}")
    for name in missing:
        tables.report_file("CCR101", source.path, table=name)
    corpus = corpus_of(tables)
    yield ReadResult(corpus, tuple(tables.findings()), tuple(tables.files.members))


def _unread(annotations: str) -> frozenset[str]:
    """The tables that are not read for some annotations."""
    return frozenset(name for key, name in _DATA.items() if annotations not in {ALL, key})


def files_read(source: Source, annotations: str = ALL) -> tuple[Member, ...]:
    """The files of a reference on which `read` depends; all files of any other source.

    Args:
        source: what a task is scored against.
        annotations: as for `read`.
    """
    if not sniff(source):
        return tuple(source.members)
    unread, kinds_of = _unread(annotations), ((each, kind_of(each)) for each in source.members)
    return tuple(member for member, kind in kinds_of if kind and kind.name not in unread)


def tabular(member: Member, first: str, **_: str) -> Sequence[Table]:
    """The table that a file is by its path."""
    kind = kind_of(member)
    return () if kind is None else (kind.declaration(first),)


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The cells of places of a file."""
    kind = kind_of(member)
    if kind is None:
        return [None] * len(places)
    titles = ccu_tables.header_of(member).split("\t")
    return locate_lines(member, places, kind.table(titles).stretch)


# The rows of a reference as tables of the representation.


_KEY = ("document", "origin", "record")
_ROW = pl.int_range(pl.len(), dtype=pl.Int64).alias("row")


def corpus_of(tables: Tables) -> Corpus:
    """The corpus of the files of a reference."""
    read = {name: _rows(tables, kind) for name, kind in kinds().items()}
    documents = _documents(tables, read)
    listed = read[FILE_INFO].join(documents, left_on="file_id", right_on="name", how="semi")
    read[FILE_INFO] = listed.sort("line")  # it lists files of other references too
    for name, rows in read.items():
        read[name] = _unique(tables, rows, kinds()[name].key)
    read[LEVELS] = read[LEVELS].with_columns(  # of millions of rows
        pl.col("valence", "arousal").cast(pl.Float64, strict=False),
        pl.col("valence_binned", "arousal_binned", "annotator").cast(pl.Categorical),
    )
    numbers = documents.select(document="row", file_id="name")
    keyed = {
        name: rows.join(numbers, on="file_id", how="left", maintain_order="left")
        for name, rows in read.items()
        if "file_id" in rows.columns
    }
    unlisted = keyed[INDEX].filter(pl.col("document").is_null())
    tables.problems("CCR124", unlisted.select(*READ_PLACE, "file_id"), "file_id")
    segments, norm_info = read[SEGMENTS], read[NORM_INFO]
    read.clear()  # tables of millions of rows are kept once
    places = {
        name: _with_places(tables, keyed.pop(name), segments) for name in (NORMS, EMOTIONS, LEVELS)
    }
    ratings = _ratings(places.pop(LEVELS))
    time = pl.when(~pl.col("at").is_in(ccu_tables.NO_VALUE)).then("at").cast(pl.Float64)
    said = ("direction", "strength", "evidence", "annotator")
    bounds = pl.col("start", "end").cast(pl.Float64)
    return Corpus(
        sources=tables.files.sources,
        documents=documents,
        regions=keyed[SEGMENTS].select(_ROW, *_KEY, bounds, "region"),
        instances=_instances(tables, places),
        ratings=ratings,
        changes=keyed[CHANGES].select(_ROW, *_KEY, time, *said),
        attributes=_attributes(tables, keyed),
        entities=norm_info.select(_ROW, "entity", "label", "source", "name"),
        rejected_records=tables.rejected_records(),
    )


def _rows(tables: Tables, kind: Kind) -> pl.DataFrame:
    """The rows of a table that are finished; its numbers have no spaces beside them."""
    rows = tables.take_rows(kind)
    names = [name for name in NUMBERS if name in rows.columns]
    for name in names:
        spaced = rows.filter(pl.col(name).str.contains("^ | $"))
        tables.problems("CCR111", spaced.select(*READ_PLACE, given=name), name)
    rows = rows.with_columns(pl.col(name).str.strip_chars(" ").replace("", None) for name in names)
    if kind.name not in {NORMS, EMOTIONS, LEVELS, CHANGES}:
        return rows
    is_open = pl.any_horizontal(selectors.string() == ccu_tables.TO_DO).fill_null(value=False)
    left = rows.filter(is_open)
    tables.problems("CCR122", left.head(1).select(*READ_PLACE, pl.lit(left.height).alias("count")))
    return rows.filter(~is_open)


def _unique(tables: Tables, rows: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """The rows without those that repeat an earlier one, or contradict it.

    Args:
        tables: for findings.
        rows: of a table.
        keys: the columns that identify a row, if any do.
    """
    cells = [name for name in rows.columns if name not in {"record", "line", "group"}]
    # hashes that differ show it without a copy of millions of rows
    if rows.select(row_hash(*(keys or cells)).n_unique()).item() == rows.height:
        return rows
    kept = rows.unique(cells, keep="first", maintain_order=True)
    if kept.height < rows.height:
        again = rows.join(kept, on=["group", "line"], how="anti", maintain_order="left")
        one = kept.select(*cells, first="record")
        found = again.join(one, on=cells, how="left", nulls_equal=True, maintain_order="left")
        count = pl.len().over("origin").alias("count")
        shown = found.select(*READ_PLACE, "first", count).unique("origin", maintain_order=True)
        tables.problems("CCR123", shown.sort("line"))
    if not keys:
        return kept
    place = pl.col("record").first().over(keys)
    marked = kept.with_columns(first=place)
    other = marked.filter(pl.col("line") != pl.col("line").first().over(keys))
    tables.problems("CCR126", other.select(*READ_PLACE, "first", name=keys[-1]), keys[-1])
    return kept.join(other, on=["group", "line"], how="anti", maintain_order="left")


def _documents(tables: Tables, read: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """The documents: those of the first index of system input, then those of any other row."""
    sources = tables.files.sources.select("member", origin="row")
    index = read[INDEX].join(sources, on="origin", how="left", maintain_order="left")
    inputs = index.filter(pl.col("member").str.ends_with(SYSTEM_INPUT))
    inputs = inputs.filter(pl.col("member") == pl.col("member").min())
    named = [inputs, *(read[name] for name in (SEGMENTS, NORMS, EMOTIONS, LEVELS, CHANGES))]
    names = pl.concat([rows.select("origin", name="file_id") for rows in named])
    unique = names.unique("name", keep="first", maintain_order=True)
    columns = ("file_id", "length", "modality", "language")
    info = read[FILE_INFO].select(columns).unique("file_id", keep="first", maintain_order=True)
    joined = unique.join(
        info, left_on="name", right_on="file_id", how="left", maintain_order="left"
    )
    length = pl.col("length").cast(pl.Float64)
    return joined.select(_ROW, "origin", "name", "modality", "language", length)


def _with_places(tables: Tables, rows: pl.DataFrame, segments: pl.DataFrame) -> pl.DataFrame:
    """Rows with the start and the end of their segments."""
    keys, bounds = ["file_id", "region"], pl.col("start", "end").cast(pl.Float64)
    known = segments.select(*keys, bounds, found=True)
    placed = rows.join(known, on=keys, how="left", maintain_order="left")
    unknown = placed.filter(pl.col("found").is_null())
    shown = unknown.select(*READ_PLACE, "file_id", segment_id="region")
    tables.problems("CCR121", shown, "region")
    return placed


_INSTANCE = ("kind", "label", "start", "end", "status", "region", "several", "annotator")


def _instances(tables: Tables, places: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """The norms, then the emotions: one row for each emotion of a list."""
    status, several = pl.col("status"), pl.col("several").str.to_lowercase()
    norms = places[NORMS].with_columns(
        kind=pl.lit("norm"), status=pl.when(status != ccu_tables.NOT_APPLICABLE).then(status)
    )
    emotions = places[EMOTIONS].with_columns(
        kind=pl.lit("emotion"),
        emotion="label",
        label=pl.col("label").str.split(","),
        several=pl.when(several.is_in(["true", "false"])).then(several == "true"),
    )
    emotions = emotions.explode("label").with_columns(pl.col("label").str.strip_chars(" "))
    empty = emotions.filter(pl.col("label") == "")
    tables.problems("CCR125", empty.select(*READ_PLACE, "emotion"), "label")
    rows = pl.concat([norms, emotions.filter(pl.col("label") != "")], how="diagonal")
    return rows.select(_ROW, *_KEY, *_INSTANCE)


#: Rows that become ratings at a time.
_SLICE = 200_000


def _ratings(rows: pl.DataFrame) -> pl.DataFrame:
    """Two ratings of each row, of valence and of arousal; some rows at a time: there are millions.

    Args:
        rows: with levels as numbers, words as categories, and places.
    """
    ratings, rows = [], rows.drop("line", "group", "found")
    for some in [*rows.iter_slices(_SLICE)] or [rows]:
        both = [
            some.select(kind=pl.lit(kind), bin=pl.col(f"{kind}_binned"), level=kind)
            for kind in ("valence", "arousal")
        ]
        at = pl.int_range(2 * some.height, eager=True)
        shared = some.select(*_KEY, "start", "end", "region", "annotator")[at // 2]
        own = pl.concat(both)[at // 2 + (at % 2) * some.height]  # one of each in turn
        ratings.append(shared.hstack(own).with_columns(selectors.categorical().cast(pl.String)))
    return pl.concat(ratings).select(_ROW, pl.all())


def _attributes(tables: Tables, keyed: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """The attributes of documents that only a reference has: their counts, files, and indices."""
    sources = tables.files.sources.select("member", origin="row")
    index = keyed[INDEX].join(sources, on="origin", how="left", maintain_order="left")
    cells = [name for name in index.columns if name.startswith("+")]
    value = pl.concat_str([pl.col(cells)], separator="\t") if cells else pl.lit("")
    name = pl.col("member").str.replace("^.*/", "")
    listed = index.select(*_KEY, element=pl.lit("index"), name=name, value=value.fill_null(""))
    others = [_cells(keyed[FILE_INFO], "file_info"), _cells(keyed[VERSIONS], "versions_per_file")]
    return pl.concat([listed, *others]).drop_nulls("document").select(_ROW, pl.all())


def _cells(rows: pl.DataFrame, element: str) -> pl.DataFrame:
    """The cells of columns that have no place of their own, each as an attribute."""
    names = [name for name in rows.columns if name.startswith("+")]
    cells = rows.unpivot(names, index=[*_KEY], variable_name="name")
    cells = cells.drop_nulls("value").sort("origin", "record", maintain_order=True)
    own = pl.col("name").str.strip_prefix("+"), pl.col("value").cast(pl.String)
    return cells.select(*_KEY, pl.lit(element).alias("element"), *own)


FORMAT = declaration(__name__)
