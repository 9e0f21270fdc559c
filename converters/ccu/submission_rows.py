"""The rows of a submission of CCU as tables of the representation."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import polars as pl

from hlteval.converters.ccu.tables import READ_PLACE, Tables, kinds_of, words_of
from hlteval.representation import Corpus
from hlteval.sources import Member, Source

# The tables of a submission of CCU, by task.


ND, ND_OPEN, ED, VD, AD, CD, NDMAP = "nd", "nd-open", "ed", "vd", "ad", "cd", "ndmap"
INDEX = "index"
INDEX_FILE, MAP_FILE = "system_output.index.tab", "nd.map.tab"
AUTO = "auto"
#: The tables of a submission by task, and the index.
kinds = partial(kinds_of, "submission")


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
_LABELLED = ("label", "start", "end", "status", "llr", "region")
_ROW = pl.int_range(pl.len(), dtype=pl.Int64).alias("row")


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
        task: _with_documents(tables, own, files, numbers)
        for task, own in rows.items()
        if task != NDMAP
    }
    # the path of each document in the index
    index = listed.join(numbers, on="file_id", how="inner", maintain_order="left")
    paths = {"element": pl.lit("index"), "name": pl.lit(INDEX_FILE)}
    paths["value"] = pl.col("path").fill_null("")
    labelled = _of_kinds(keyed, {ND: "norm", ND_OPEN: "norm", ED: "emotion"})
    rated = _of_kinds(keyed, {VD: "valence", AD: "arousal"})
    return Corpus(
        sources=tables.files.sources,
        documents=documents,
        instances=labelled.select(_ROW, *_KEY, "kind", *_LABELLED),
        ratings=rated.select(_ROW, *_KEY, "level", "start", "end", "kind"),
        changes=keyed[CD].select(_ROW, *_KEY, "at", "llr", "direction", "strength"),
        mappings=rows[NDMAP].select(_ROW, *_KEY[1:], "label", "target", "submission"),
        attributes=index.select(_ROW, *_KEY, **paths),
        rejected_records=tables.rejected_records(),
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
        joined = listed.join(
            files.select("file_id", file="origin"), on="file_id", how="left", maintain_order="left"
        )
        written = pl.col("is_processed").str.to_lowercase()
        known = pl.when(written.is_in(["true", "false"])).then(written == "true")
        origin = pl.coalesce("file", "origin").alias("origin")
        columns = (_ROW, origin, pl.col("file_id").alias("name"), known.alias("processed"))
        return joined.select(*columns, "message")
    named = pl.concat(
        [own.select("origin", "file_id") for task, own in rows.items() if task != NDMAP]
    )
    silent = files.join(named, on="origin", how="anti").select("origin", "file_id")
    names = pl.concat([named, silent]).sort("origin", maintain_order=True)
    unique = names.unique("file_id", keep="first", maintain_order=True)
    null = [pl.lit(None, pl.Boolean).alias("processed"), pl.lit(None, pl.String).alias("message")]
    return unique.select(_ROW, "origin", *null, name="file_id")


def _with_documents(
    tables: Tables, rows: pl.DataFrame, files: pl.DataFrame, numbers: pl.DataFrame
) -> pl.DataFrame:
    """Rows with their documents; those of other documents than that of their file are rejected."""
    if rows.is_empty():
        return rows.with_columns(document=pl.lit(None, pl.Int64))
    expected = files.filter("listed").select("origin", expected="file_id")
    placed = rows.join(expected, on="origin", how="left", maintain_order="left")
    placed = placed.join(numbers, on="file_id", how="left", maintain_order="left")
    is_other = (pl.col("file_id") != pl.col("expected")).fill_null(value=False)
    other = placed.filter(is_other)
    tables.problems("CCS126", other.select(*READ_PLACE, "file_id", "expected"), "file_id")
    tables.reject("CCS126", other)
    is_processed = pl.col("processed").fill_null(value=True)
    silent = placed.filter(~is_other, ~is_processed)
    counted = silent.select(*READ_PLACE, "file_id", count=pl.len().over("origin"))
    tables.problems("CCS127", counted.unique("origin", keep="first", maintain_order=True))
    tables.reject("CCS127", silent)
    return placed.filter(~is_other, is_processed)


def _of_kinds(keyed: Mapping[str, pl.DataFrame], kinds: Mapping[str, str]) -> pl.DataFrame:
    """The rows of some tasks, each with its `kind`; what a table does not have is null."""
    rows = [keyed[task].with_columns(kind=pl.lit(kind)) for task, kind in kinds.items()]
    return pl.concat(rows, how="diagonal")


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
