"""What is scored of LoReHLT situation frames: a row per frame and per sentiment of both sides.

These rows are the statistics of the metric. Situations run through all documents, so that rows of
all batches are put together before anything is computed.

Conventions:
    A frame is identified by its side, its document (`docid`) and its number in that document
    (`frame`, 0-based, in file order); its sentiments have the same three.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.situations.lorehlt.knowledge_base import is_nil

#: The parts of the rows: what a row is. Each document of the reference has a row of its own; of the
#: mentions, only those of NIL entities of the system are needed; a row without an entity says that
#: the document has any.
FRAME, SENTIMENT, MENTION, ANNOTATED = "frame", "sentiment", "mention", "document"

#: The columns. `scored` is whether the document is scored (`scored_documents`). Of a sentiment,
#: `frame_id` is the frame that its record names, or null, and `entry` the knowledge base entry of
#: its source, whose name may be in `source`. `numbers` and `nones` are the columns of its file and
#: the cells of its own that the public scorer reads in a way of its own (`official_reading`), and
#: `chosen` the annotator that it draws. Of a document, `file` is the format of its annotation, and
#: `nones` what its tables lack.
ROWS: Mapping[str, pl.DataType | type[pl.DataType]] = MappingProxyType(
    {
        "docid": pl.String,
        "scored": pl.Boolean,
        "system": pl.Boolean,
        "part": pl.String,
        "frame": pl.Int64,
        "record": pl.Int64,
        "file": pl.String,
        "modality": pl.String,
        "annotator": pl.String,
        "frame_id": pl.String,
        "type": pl.String,
        "entity": pl.String,
        "place": pl.String,
        "status": pl.String,
        "scope": pl.String,
        "severity": pl.String,
        "resolution": pl.String,
        "urgency": pl.String,
        "confidence": pl.Float64,
        "source": pl.String,
        "value": pl.Float64,
        "polarity": pl.String,
        "fear": pl.Boolean,
        "anger": pl.Boolean,
        "joy": pl.Boolean,
        "entry": pl.String,
        "start": pl.Int64,
        "end": pl.Int64,
        "numbers": pl.String,
        "nones": pl.String,
        "chosen": pl.String,
    }
)

#: What marks a place that the public scorer reads as a number; no table shows it.
NUMBER = "#"

#: The types that are issues; all others are needs.
ISSUES = ("regimechange", "crimeviolence", "terrorism")

_FRAMES = {
    "frame_id": "frame",
    "type": "label",
    "entity": "place",
    "place": "place_kb",
    "urgency": "urgent",
}
_WRITTEN = ("record", "annotator", "status", "scope", "severity", "resolution", "confidence")
_SAME = ("file", *_WRITTEN)
_OF_SENTIMENTS = ("document", "frame_row", "target", "holder", "holder_kb")
_FELT = ("record", "annotator", "value", "polarity", "fear", "anger", "joy")


def frame_rows(corpus: Corpus, *, system: bool) -> pl.DataFrame:
    """The rows of one side (`ROWS`).

    Args:
        corpus: whole documents.
        system: whether it is the system's.

    Examples:
        >>> frame = {"row": 0, "document": 0, "origin": 0, "record": 1, "kind": "situation"}
        >>> frame |= {"label": "food", "place_kb": "17", "status": "current"}
        >>> corpus = Corpus(documents=[{"row": 0, "name": "d1"}], frames=[frame])
        >>> frame_rows(corpus, system=False).select("docid", "part", "type", "place").row(0)
        ('d1', 'frame', 'food', '17')
    """
    documents = corpus.documents.select(document="row", docid="name", modality="modality")
    frames = _situations(corpus, documents, system=system)
    own = frames.select(
        "docid",
        "modality",
        pl.lit(FRAME).alias("part"),
        pl.col("number").alias("frame"),
        *(pl.col(source).alias(name) for name, source in _FRAMES.items()),
        *_SAME,
        "numbers",
        "nones",
    )
    numbers = frames.select(frame_row="row", frame="number", frame_id="frame")
    felt = (
        corpus.sentiments.select(*_OF_SENTIMENTS, *_FELT)
        .join(documents, on="document", maintain_order="left")
        .join(numbers, on="frame_row", how="left", maintain_order="left")
    )
    felt = felt.select(
        "docid",
        "modality",
        "frame",
        pl.lit(SENTIMENT).alias("part"),
        pl.coalesce("target", "frame_id").alias("frame_id"),
        pl.coalesce("holder_kb", "holder").alias("source"),
        pl.col("holder_kb").alias("entry"),
        *_FELT,
    )
    more = _mentions(corpus, documents) if system else _annotated(corpus, documents)
    rows = pl.concat([own, felt, more], how="diagonal_relaxed").with_columns(system=pl.lit(system))
    return conformed(rows)


def _situations(corpus: Corpus, documents: pl.DataFrame, *, system: bool) -> pl.DataFrame:
    """The situation frames, with their file, their number in the document, and what is odd."""
    every = corpus.frames.select("row", "document", "origin", "kind", *_FRAMES.values(), *_WRITTEN)
    frames = every.filter(pl.col("kind") == "situation").join(
        documents, on="document", maintain_order="left"
    )
    files = corpus.sources.select(origin="row", file=pl.concat_str("path", "member"))
    frames = frames.join(files, on="origin", how="left", maintain_order="left")
    frames = frames.join(
        _attribute(corpus, "file", "numbers"), on=["document", "origin"], how="left",
        maintain_order="left",
    ).join(
        _attribute(corpus, "frame", "SEC" if system else "none", "nones"),
        on=["document", "origin", "record"], how="left", maintain_order="left",
    )  # fmt: skip
    frames = frames.with_columns(number=pl.int_range(pl.len()).over("document"))
    unnamed = pl.format("#{}", "number")
    return frames.with_columns(frame=pl.coalesce("frame", unnamed))


def _mentions(corpus: Corpus, documents: pl.DataFrame) -> pl.DataFrame:
    """The mentions of NIL entities, and a row without an entity per document with any."""
    mentions = corpus.mentions.select("document", "record", "entity", "start", "end")
    nil = mentions.filter(is_nil("entity"))
    others = mentions.select("document").unique(maintain_order=True)
    named = pl.concat([nil, others], how="diagonal").join(documents, on="document")
    return named.select("docid", "record", "entity", "start", "end", part=pl.lit(MENTION))


def _annotated(corpus: Corpus, documents: pl.DataFrame) -> pl.DataFrame:
    """The documents of a reference, with the format of their files and what these lack."""
    lacks = _attribute(corpus, "file", "lacks", "nones").group_by("document")
    listed = lacks.agg(pl.col("nones").unique().sort().str.join(","))
    form = corpus.sources["format"].first() if corpus.sources.height else None
    return documents.join(listed, on="document", how="left").select(
        "docid", "modality", "nones", part=pl.lit(ANNOTATED), file=pl.lit(form, pl.String)
    )


def _attribute(corpus: Corpus, element: str, name: str, column: str = "") -> pl.DataFrame:
    """The attributes of a name, with `document`, `origin` and `record`; files have no record."""
    own = corpus.attributes.filter(pl.col("element") == element, pl.col("name") == name)
    record = ["record"] if element == "frame" else []
    return own.select("document", "origin", *record, pl.col("value").alias(column or name))


def conformed(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with all columns of `ROWS`, in order; what is absent is null."""
    given = set(rows.columns)
    return rows.select(
        (pl.col(name) if name in given else pl.lit(None)).cast(kind).alias(name)
        for name, kind in ROWS.items()
    )


def total(batches: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """The rows of all batches, sorted so that they do not depend on the batches.

    What a system has is in the order of its file; what a reference has by document, and then in the
    order of its files.
    """
    rows = pl.concat([pl.DataFrame(schema=dict(ROWS)), *batches])
    of_system = pl.when("system").then("record")
    in_document = pl.when(pl.col("part") == FRAME).then("frame").otherwise("record")
    return rows.sort(of_system, "docid", "part", in_document, maintain_order=True)


def side(rows: pl.DataFrame, part: str, *, system: bool) -> pl.DataFrame:
    """The frames or the sentiments of one side."""
    return rows.filter(pl.col("part") == part, pl.col("system") == system).drop(
        "part", "system", "scored"
    )
