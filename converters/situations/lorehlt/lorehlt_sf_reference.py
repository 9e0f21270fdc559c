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

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.situations.lorehlt.items import ISSUE, types
from hlteval.converters.situations.lorehlt.reference_tables import (
    AUDIO,
    EMOTIONS,
    EXTRAS,
    ISSUES,
    MENTIONS,
    NEEDS,
    NONE,
    READ_BY_SCORER,
    SENTIMENTS,
    SPEECH,
    TEXT,
    Files,
    corpus_of,
    documents,
    folder_of,
    kind_of_header,
    kinds,
)
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.fitting import SITUATION
from hlteval.converters.toolkit.source_files import beginning, locate_lines
from hlteval.findings import FieldRef, Location
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, is_file_path
from hlteval.syntax.tsv import Table

# Writing situation frames as a folder of LoReHLT annotation.


NAME = "lorehlt-sf-reference"
_RECORD = ["document", "origin", "record"]
_BREAKS = r"[\t\n\r\x00]"
#: What a cell without a value has; others are empty.
_NULLS = {
    **dict.fromkeys(("place", "scope", "severity", "resolution", "polarity"), NONE),
    **dict.fromkeys(("proxy_status", "reported_by", "resolved_by", "description"), ""),
}


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """The tables of all documents, each in a file of its own in the folder of its kind."""
    taken: set[str] = set()
    source_files.write_files((file for each in corpora for file in _files(each, taken)), path)


def _files(corpus: Corpus, taken: set[str]) -> Iterator[tuple[str, str]]:
    """The path and the content of each file; paths that are not `taken` become so."""
    written: set[int] = set()
    for kind, rows in _tables(corpus).items():
        fitting = rows.filter(_fits(rows))
        columns = _columns(kind, fitting)
        header = "\t".join(columns.values())
        cells = [_cell(fitting, name).alias(title) for name, title in columns.items()]
        line = pl.concat_str(cells, separator="\t")
        lines = fitting.select("path", "document", line=line)
        written.update(lines["document"])
        files = lines.group_by("path", maintain_order=True).agg("line")
        taken.update(files["path"])
        for path, each in files.iter_rows():
            yield path, "\n".join([header, *each, ""])
    for row, kind, path in _empty_files(corpus, taken):
        if row not in written:
            taken.add(path)
            yield path, "\t".join(kinds()[kind].headings) + "\n"


def _empty_files(corpus: Corpus, taken: Collection[str]) -> Iterator[tuple[int, str, str]]:
    """The row of each document, and the kind and path of a file that would hold nothing else."""
    for row, name, modality in corpus.documents.select("row", "name", "modality").iter_rows():
        home, _, stem = name.rpartition("/")
        for kind in (SPEECH,) if modality == AUDIO else (NEEDS, ISSUES, SENTIMENTS):
            own = kinds()[kind]
            path = "/".join([*([home] if home else []), own.name, f"{stem}{own.suffix}"])
            if is_file_path(name) and path not in taken:
                yield row, kind, path
                break


def _columns(kind: str, rows: pl.DataFrame) -> Mapping[str, str]:
    """The columns that a table has, and their headings: optional ones only if they are used."""
    always = {"frame_type", "annotator", "scope", "severity", "polarity"}
    kept = {}
    for column in kinds()[kind].columns:
        used = column.name in rows.columns and rows[column.name].is_not_null().any()
        if not column.optional or used or (column.name in always and kind != SPEECH):
            kept[column.name] = column.title
    return kept


def _cell(rows: pl.DataFrame, name: str) -> pl.Expr:
    null = pl.lit(_NULLS.get(name, ""))
    return pl.col(name).cast(pl.String).fill_null(null) if name in rows.columns else null


def _fits(rows: pl.DataFrame) -> pl.Expr:
    """Whether no cell of a row has a tab or a line break, and its document can name a file."""
    texts = [name for name, dtype in rows.schema.items() if dtype == pl.String]
    broken = [pl.col(name).str.contains(_BREAKS).fill_null(value=False) for name in texts]
    return ~pl.any_horizontal(broken) & pl.col("path").is_not_null()


def _tables(corpus: Corpus) -> dict[str, pl.DataFrame]:
    """The rows of each kind, with the names of the columns of its table and the path of a file."""
    frames = _frames(corpus)
    speech = pl.col("modality").eq_missing(pl.lit(AUDIO))
    issue = pl.col("label").is_in(types(ISSUE)) | (
        ~pl.col("label").is_in(types()) & pl.col("folder").eq_missing(pl.lit(ISSUES))
    )
    text = frames.filter(~speech)
    tables = {
        NEEDS: text.filter(~issue).with_columns(frame_type=pl.lit("need")),
        ISSUES: text.filter(issue).with_columns(frame_type=pl.lit("issue")),
        SPEECH: frames.filter(speech),
        SENTIMENTS: _sentiments(corpus, frames),
        MENTIONS: _mentions(corpus),
    }
    return {kind: _with_paths(kind, rows) for kind, rows in tables.items()}


def _named(corpus: Corpus, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with the name and the modality of their documents, and the file that they are from."""
    documents = corpus.documents.select("name", "modality", document="row")
    originals = source_files.original_files(corpus, NAME)
    schema = {"origin": pl.Int64, "original": pl.String}
    files = pl.DataFrame([*originals.items()], schema=schema, orient="row")
    folder = pl.col("original").str.extract(r"(?:^|/)([^/]+)/[^/]+$")
    named = rows.join(documents, on="document", how="left", maintain_order="left")
    joined = named.join(files, on="origin", how="left", maintain_order="left")
    return joined.with_columns(folder=folder)


def _with_paths(kind: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with the path of their file: the one they are from, or that of their document."""
    valid = [name for name in rows["name"].unique() if is_file_path(name)]
    stem = pl.concat_str(pl.lit(f"{kind}/"), "name", pl.lit(kinds()[kind].suffix))
    own = (
        pl.when(pl.col("name").str.contains("/", literal=True))
        .then(pl.col("name").str.replace("/([^/]*)$", f"/{kind}/${{1}}{kinds()[kind].suffix}"))
        .otherwise(stem)
    )
    from_file = pl.col("folder").eq_missing(pl.lit(kind))
    path = pl.when(from_file).then("original").when(pl.col("name").is_in(valid)).then(own)
    return rows.with_columns(path=path)


def _frames(corpus: Corpus) -> pl.DataFrame:
    frames = corpus.frames.filter(pl.col("kind") == SITUATION)
    known = pl.coalesce("frame", pl.format("Frame-{}", "row"))
    rows = _named(corpus, frames).with_columns(frame=known, entry="place_kb")
    return _with_attributes(corpus, rows, "frame")


def _with_attributes(corpus: Corpus, rows: pl.DataFrame, element: str) -> pl.DataFrame:
    """Rows with the attributes of their records as columns."""
    names = {name for extras in EXTRAS.values() for name in extras}
    own = corpus.attributes.filter(pl.col("element") == element, pl.col("name").is_in(names))
    for name in own["name"].unique(maintain_order=True):
        values = own.filter(pl.col("name") == name).select(*_RECORD, pl.col("value").alias(name))
        values = values.unique(_RECORD, keep="first", maintain_order=True)
        rows = rows.join(values, on=_RECORD, how="left", maintain_order="left")
    return rows


def _sentiments(corpus: Corpus, frames: pl.DataFrame) -> pl.DataFrame:
    targets = frames.select(frame_row="row", own="frame")
    rows = _named(corpus, corpus.sentiments.drop_nulls("value"))
    rows = rows.join(targets, on="frame_row", how="left", maintain_order="left")
    felt = [pl.when(pl.col(name)).then(pl.lit(emotion)) for name, emotion in EMOTIONS.items()]
    emotions = pl.concat_str(felt, separator=",", ignore_nulls=True)
    return rows.with_columns(
        target=pl.coalesce("target", "own"),
        entry="holder_kb",
        emotions=pl.when(emotions == "").then(pl.lit(NONE)).otherwise(emotions),
    )


def _mentions(corpus: Corpus) -> pl.DataFrame:
    rows = _with_attributes(corpus, _named(corpus, corpus.mentions), "mention")
    whole = rows.filter(pl.col("fragments").is_null())
    return whole.with_columns(last=pl.col("end") - 1).drop("fragments")


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """What the tables cannot represent, and what is filled."""
    tables = _tables(corpus)
    unfit = sum(rows.filter(~_fits(rows)).height for rows in tables.values())
    situations = corpus.frames.filter(pl.col("kind") == SITUATION)
    names = {name for extras in EXTRAS.values() for name in extras}
    known = pl.col("element").is_in(["frame", "mention"]) & pl.col("name").is_in(names)
    known |= pl.col("name").is_in(READ_BY_SCORER)  # how missing values and numbers are spelt
    sentiments = corpus.sentiments
    nameless = [name for name in corpus.documents["name"] if not is_file_path(name)]
    modalities = corpus.documents["modality"].drop_nulls()
    return {
        "modalities but text and speech": modalities.filter(~modalities.is_in([TEXT, AUDIO])).len(),
        "documents whose name is not a valid file name": len(nameless),
        "rows with tabs or line breaks": unfit,
        "missing frame identifiers, written as Frame-1, Frame-2, …": situations[
            "frame"
        ].null_count(),
        "resolutions of issues": tables[ISSUES]["resolution"].drop_nulls().len(),
        "place entities of frames in speech": tables[SPEECH]["place"].drop_nulls().len(),
        "sentiments without a value": sentiments["value"].null_count(),
        "missing emotions, written as none": sentiments.select(
            pl.any_horizontal(pl.col("fear", "anger", "joy").is_null()).sum()
        ).item(),
        "attributes that the tables do not have": corpus.attributes.filter(~known).height,
        "mentions with discontinuous spans": corpus.mentions["fragments"].drop_nulls().len(),
    }


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
        found = (item for group in files.groups.values() for item in group.findings())
        yield ReadResult(corpus, (*files.findings, *found), tuple(files.members))


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


FORMAT = declaration(__name__)
