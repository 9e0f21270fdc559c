"""The rows of a submission of CCU as tables of the representation."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import polars as pl

from hlteval.converters.ccu.tables import (
    READ_PLACE,
    Kind,
    Tables,
    describe_whole,
    identifier,
    number,
    place,
    words,
    words_of,
)
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.tsv import Column

# The tables of a submission of CCU, by task.


ND, ND_OPEN, ED, VD, AD, CD, NDMAP = "nd", "nd-open", "ed", "vd", "ad", "cd", "ndmap"
INDEX = "index"
INDEX_FILE, MAP_FILE = "system_output.index.tab", "nd.map.tab"
AUTO = "auto"
#: The values of a status that rules accept.
_STATUS = "(?:adhere|violate)(?:, ?(?:adhere|violate))*|EMPTY_NA"


def _level(name: str, heading: str) -> Column:
    return Column(
        name, "number", "[+-]?[0-9]{1,15}", "CCS110", heading=heading, describe=describe_whole
    )


@cache
def kinds() -> Mapping[str, Kind]:
    """The tables of a submission by task, and the index."""
    name, label = identifier("CCS", "file_id"), identifier("CCS", "label", "norm")
    start, end = (place("CCS", column) for column in ("start", "end"))
    llr = number("CCS", "llr")
    status, region = words("CCS", "status"), identifier("CCS", "region", "segment_id")
    status = replace(
        status, usual=_STATUS, words=("adhere", "violate", "adhere,violate", "EMPTY_NA")
    )
    processed = Column("is_processed", pattern="(?i:true|false)", code="CCS121", tolerated=True)
    return {
        ND: Kind("ND output", (name, label, start, end, status, llr), "CCS"),
        ND_OPEN: Kind("open ND output", (name, region, label, status, llr), "CCS"),
        ED: Kind(
            "ED output", (name, identifier("CCS", "label", "emotion"), start, end, llr), "CCS"
        ),
        VD: Kind("VD output", (name, start, end, _level("level", "valence_continuous")), "CCS"),
        AD: Kind("AD output", (name, start, end, _level("level", "arousal_continuous")), "CCS"),
        CD: Kind(
            "CD output",
            (
                *(name, place("CCS", "at", "timestamp"), llr),
                words("CCS", "direction", "direction_impact", optional=True),
                words("CCS", "strength", "strength_impact", optional=True),
            ),
            "CCS",
        ),
        NDMAP: Kind(
            MAP_FILE,
            (
                *(identifier("CCS", "label", "sys_norm"), identifier("CCS", "target", "ref_norm")),
                words("CCS", "submission", "sub_id"),
            ),
            "CCS",
        ),
        INDEX: Kind(
            INDEX_FILE,
            (name, processed, words("CCS", "message"), words("CCS", "path", "file_path")),
            "CCS",
        ),
    }


#: Columns that only one kind has.
_OWN_COLUMNS = (
    (INDEX, {"is_processed"}),
    (NDMAP, {"sys_norm"}),
    (NDMAP, {"ref_norm"}),
    (VD, {"valence_continuous"}),
    (AD, {"arousal_continuous"}),
    (CD, {"timestamp", "llr"}),
    (ED, {"emotion", "llr"}),
    (ED, {"emotion", "start", "end"}),
    (ND_OPEN, {"segment_id", "norm", "llr"}),
    (ND, {"norm", "llr"}),
    (ND, {"norm", "start", "end"}),
)


def task_of_header(header: str) -> str:
    r"""The task of a header, also of a damaged one; empty for other lines.

    Examples:
        >>> task_of_header("FILE_ID,NORM,START,END,STATUS,LLR")
        'nd'
        >>> task_of_header("user_id\tfile_id\tsegment_id\tnorm\tstatus")
        ''
    """
    found = set(words_of(header))
    if "user_id" in found:  # a table of a reference
        return ""
    return next((task for task, columns in _OWN_COLUMNS if columns <= found), "")


_KEY = ("document", "origin", "record")
_ROW = pl.int_range(pl.len(), dtype=pl.Int64).alias("row")
#: What a line of each table should be.
_ITEMS = {
    **dict.fromkeys((ND, ND_OPEN, ED), "instance"),
    **dict.fromkeys((VD, AD), "rating"),
    CD: "change",
    NDMAP: "mapping",
    INDEX: "document",
}


def corpus_of(tables: Tables, listed: pl.DataFrame, files: pl.DataFrame) -> Corpus:
    """The corpus of the files of a submission.

    Args:
        tables: the files.
        listed: the rows of the index.
        files: of each file its `origin`, and its `file_id` by the index or else by its name.
    """
    rows = {task: tables.take_rows(kind) for task, kind in kinds().items() if task != INDEX}
    listed, files = _in_capitals(tables, listed, files, rows)
    documents = _documents(listed, files, rows)
    numbers = documents.select("processed", document="row", file_id="name")
    keyed = {
        task: _keyed(tables, own, files, numbers) for task, own in rows.items() if task != NDMAP
    }
    return Corpus(
        sources=tables.files.sources,
        documents=documents,
        instances=_instances(keyed),
        ratings=_ratings(keyed),
        changes=keyed[CD].select(_ROW, *_KEY, "at", "llr", "direction", "strength"),
        mappings=rows[NDMAP].select(_ROW, *_KEY[1:], "label", "target", "submission"),
        attributes=_attributes(listed, numbers),
        rejected_records=tables.rejected(
            {kinds()[task].name: item for task, item in _ITEMS.items()}
        ),
    )


def _in_capitals(
    tables: Tables, listed: pl.DataFrame, files: pl.DataFrame, rows: dict[str, pl.DataFrame]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The index and the files, with documents in capitals if all rows of their files have them so.

    The index is wrong then, not each row.
    """
    of_rows = [own.select("origin", right="file_id") for task, own in rows.items() if task != NDMAP]
    one = pl.concat(of_rows).unique().filter(pl.len().over("origin") == 1)
    pairs = files.filter("listed").join(one, on="origin").select("file_id", "right")
    wrong = pairs.filter(
        pl.col("file_id") != pl.col("right"),
        pl.col("file_id").str.to_uppercase() == pl.col("right"),
        ~pl.col("right").is_in(listed["file_id"].to_list()),
    )
    found = listed.join(wrong, on="file_id", maintain_order="left")
    tables.problems("CCS133", found.select(*READ_PLACE, "file_id", "right"), "file_id")
    right = pl.col("file_id").replace(wrong["file_id"], wrong["right"])
    return listed.with_columns(right), files.with_columns(right)


def _documents(
    listed: pl.DataFrame, files: pl.DataFrame, rows: dict[str, pl.DataFrame]
) -> pl.DataFrame:
    """The documents of the index; without one, those of the rows and of files without rows."""
    if listed.height:
        own = files.select("file_id", file="origin")
        joined = listed.join(own, on="file_id", how="left", maintain_order="left")
        said = pl.col("is_processed").str.to_lowercase()
        processed = pl.when(said.is_in(["true", "false"])).then(said == "true").alias("processed")
        return joined.select(
            _ROW,
            pl.coalesce("file", "origin").alias("origin"),
            pl.col("file_id").alias("name"),
            processed,
            "message",
        )
    named = [own.select("origin", "file_id") for task, own in rows.items() if task != NDMAP]
    found = pl.concat(named)
    silent = files.join(found, on="origin", how="anti").select("origin", "file_id")
    names = pl.concat([found, silent]).sort("origin", maintain_order=True)
    unique = names.unique("file_id", keep="first", maintain_order=True)
    null = [pl.lit(None, pl.Boolean).alias("processed"), pl.lit(None, pl.String).alias("message")]
    return unique.select(_ROW, "origin", *null, name="file_id")


def _keyed(
    tables: Tables, rows: pl.DataFrame, files: pl.DataFrame, numbers: pl.DataFrame
) -> pl.DataFrame:
    """Rows with their documents; those of other documents than that of their file are rejected."""
    if rows.is_empty():
        return rows.with_columns(document=pl.lit(None, pl.Int64))
    own = files.filter("listed").select("origin", expected="file_id")
    placed = rows.join(own, on="origin", how="left", maintain_order="left")
    placed = placed.join(numbers, on="file_id", how="left", maintain_order="left")
    other = placed.filter(pl.col("file_id") != pl.col("expected"))
    tables.problems("CCS126", other.select(*READ_PLACE, "file_id", "expected"), "file_id")
    tables.reject("CCS126", other)
    fitting = placed.filter(~(pl.col("file_id") != pl.col("expected")).fill_null(value=False))
    silent = fitting.filter(~pl.col("processed").fill_null(value=True))
    count = pl.len().over("origin").alias("count")
    shown = silent.select(*READ_PLACE, "file_id", count).unique(
        "origin", keep="first", maintain_order=True
    )
    tables.problems("CCS127", shown)
    tables.reject("CCS127", silent)
    return fitting.filter(pl.col("processed").fill_null(value=True))


def _instances(keyed: dict[str, pl.DataFrame]) -> pl.DataFrame:
    nothing = pl.lit(None, pl.Float64)
    norms = keyed[ND].with_columns(kind=pl.lit("norm"), region=pl.lit(None, pl.String))
    of_regions = keyed[ND_OPEN].with_columns(kind=pl.lit("norm"), start=nothing, end=nothing)
    emotions = keyed[ED].with_columns(
        kind=pl.lit("emotion"), region=pl.lit(None, pl.String), status=pl.lit(None, pl.String)
    )
    columns = (*_KEY, "kind", "label", "start", "end", "status", "llr", "region")
    return pl.concat([
        rows.select(
            pl.col(*columns[:5]), pl.col("start", "end"), "status",
            pl.col("llr"), "region",
        )
        for rows in (norms, of_regions, emotions)
    ]).select(_ROW, pl.all())  # fmt: skip


def _ratings(keyed: dict[str, pl.DataFrame]) -> pl.DataFrame:
    both = [
        keyed[task].select(*_KEY, pl.col("level", "start", "end"), kind=pl.lit(kind))
        for task, kind in ((VD, "valence"), (AD, "arousal"))
    ]
    return pl.concat(both).select(_ROW, pl.all())


def _attributes(listed: pl.DataFrame, numbers: pl.DataFrame) -> pl.DataFrame:
    """The path of each document in the index."""
    rows = listed.join(numbers, on="file_id", how="inner", maintain_order="left")
    return rows.select(
        _ROW, *_KEY, element=pl.lit("index"), name=pl.lit(INDEX_FILE),
        value=pl.col("path").fill_null(""),
    )  # fmt: skip


# Where the files of a submission of CCU are: its folder, its index and what that names.


SUFFIX = ".tab"


@dataclass(frozen=True)
class Layout:
    """The files of a submission.

    Attributes:
        index: the index; None if there is none.
        others: further indexes.
        tables: all other tables.
        files: all files by name, for paths of the index.
        folder: the folder of the index inside the source, empty for the source itself.
        name: the name of this folder.
        single: whether the source is a single file.
    """

    index: Member | None
    others: Sequence[Member]
    tables: Sequence[Member]
    files: Mapping[str, Member]
    folder: str
    name: str
    single: bool

    def resolve(self, path: str) -> str | None:
        """The member that a path of the index names, as it is if there is none; None if outside.

        A path is relative to the folder of the index. What comes before the name of this folder is
        passed over.
        """
        if path.startswith(("/", "\\")) or path[1:2] == ":":
            return None
        plain = posixpath.normpath(path.replace("\\", "/"))
        if plain == ".." or plain.startswith("../"):
            return None
        inside = posixpath.join(self.folder, plain)
        after = f"/{plain}".rpartition(f"/{self.name}/")[2] if self.name else plain
        candidates = (inside, posixpath.join(self.folder, after))
        return next((name for name in candidates if name in self.files), inside)

    def belongs_to_another(self, member: Member) -> bool:
        """Whether a file is in the folder of another index."""
        folders = [posixpath.dirname(other.name) for other in self.others]
        return any(member.name.startswith(f"{folder}/") for folder in folders)

    def with_other_suffix(self, name: str) -> str:
        """The only file that differs from a name in its suffix; empty if there is none."""
        stem = name.removesuffix(SUFFIX)
        others = [other for other in self.stems.get(stem, ()) if not other.endswith(SUFFIX)]
        return others[0] if len(others) == 1 else ""

    @cached_property
    def stems(self) -> Mapping[str, Sequence[str]]:
        """The files by their names without suffix."""
        found: dict[str, list[str]] = {}
        for name in self.files:
            found.setdefault(posixpath.splitext(name)[0], []).append(name)
        return found

    def inside(self, member: str) -> str:
        """The path of a member from the folder of the index."""
        return member.removeprefix(f"{self.folder}/") if self.folder else member


def layout(source: Source) -> Layout:
    """The files of a submission: a folder, an archive or a single table."""
    if source.kind in {"file", "stdin"}:
        # A file that cannot be read is not a member.
        if [member.basename for member in source.members] == [INDEX_FILE]:
            return Layout(source.members[0], (), (), {}, "", "", single=True)
        return Layout(None, (), source.members, {}, "", "", single=True)
    tables = [member for member in source.members if member.basename.endswith(SUFFIX)]
    indexes = [member for member in tables if member.basename == INDEX_FILE]
    indexes.sort(key=lambda member: (member.name.count("/"), member.name))
    first = indexes[0] if indexes else None
    folder = posixpath.dirname(first.name) if first else ""
    name = posixpath.basename(folder or posixpath.normpath(source.path))
    others = [member for member in tables if member.basename != INDEX_FILE]
    files = {member.name: member for member in source.members if member not in indexes}
    return Layout(first, indexes[1:], others, files, folder, name, single=False)


def stem(member: Member) -> str:
    """The document that a file is named after.

    Examples:
        >>> stem(Member("out/D1.tab", "", 0, bytes))
        'D1'
    """
    return member.basename.removesuffix(SUFFIX)
