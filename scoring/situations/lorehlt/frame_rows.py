"""What is scored of LoReHLT situation frames: a row per frame and per sentiment of both sides.

These rows are the statistics of the metric. Situations run through all documents, so that rows of
all batches are put together before anything is computed.

Conventions:
    A frame is identified by its side, its document (`docid`) and its number in that document
    (`frame`, 0-based, in file order); its sentiments have the same three.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import polars as pl
import polars.selectors as cs

from hlteval.findings import Finding, Problem, finding
from hlteval.findings.counts import first_names
from hlteval.findings.suggest import closest, closest_files
from hlteval.representation import Corpus
from hlteval.scoring.situations.lorehlt.ranking import RankingOptions

# Places and sources as knowledge base entries: ambiguous ones, and those that are not in it (NIL).
#
# A reference may give several entries for one place (`scoring.similarity`). NIL identifiers are
# a system's own; its mentions and those of the reference, which both come as tables
# of entity discovery and linking, show which of them are the same.
#
# Conventions:
#     Tables of mentions have the columns `docid`, `start`, `end` (half-open) and `entity`.


#: The columns of a table of mentions.
MENTIONS = {"docid": pl.String, "start": pl.Int64, "end": pl.Int64, "entity": pl.String}


#: What precedes a NIL identifier of the system that no mention of the reference explains.
UNRESOLVED = "system:"


def with_nil_resolved(
    table: pl.DataFrame, column: str, system: pl.DataFrame, reference: pl.DataFrame
) -> pl.DataFrame:
    """Replace the NIL identifiers of a system by what they mean in the reference (section 16.2.7).

    In each document, it is the entity whose mentions overlap most with those of the identifier.
    Identifiers without an overlapping mention are the system's own: they are equal to nothing,
    whatever their names are.

    Args:
        table: of the system, with `docid`.
        column: the column of the identifiers.
        system: its mentions.
        reference: the mentions of the reference.

    Examples:
        >>> own = pl.DataFrame([("d", 0, 5, "NIL7")], schema=MENTIONS, orient="row")
        >>> gold = own.with_columns(entity=pl.lit("NIL1"))
        >>> table = pl.DataFrame({"docid": ["d", "d", "d"], "place": ["NIL7", "NIL1", "12"]})
        >>> with_nil_resolved(table, "place", own, gold)["place"].to_list()
        ['NIL1', 'system:NIL1', '12']
    """
    key = ["docid", column]
    nil = table.filter(is_nil(column)).select(key).unique()
    both = nil.join(system, left_on=key, right_on=["docid", "entity"])
    both = both.join(reference.rename({"entity": "_meant"}), on="docid", suffix="_gold")
    common = pl.min_horizontal("end", "end_gold") - pl.max_horizontal("start", "start_gold")
    overlaps = both.with_columns(common=common).filter(pl.col("common") > 0)
    sums = overlaps.group_by(*key, "_meant").agg(pl.col("common").sum())
    best = sums.sort("common", "_meant", descending=[True, False])
    meant = best.unique(key, keep="first", maintain_order=True).drop("common")
    joined = table.join(meant, on=key, how="left", maintain_order="left")
    entity = pl.coalesce("_meant", pl.format("{}{}", pl.lit(UNRESOLVED), column))
    resolved = pl.when(is_nil(column)).then(entity).otherwise(column)
    return joined.with_columns(resolved.alias(column)).drop("_meant")


def is_nil(column: str) -> pl.Expr:
    """Whether identifiers are NIL."""
    return pl.col(column).str.starts_with("NIL")


#: The parts of the rows: what a row is. Each document of the reference has a row of its own; of the
#: mentions, only those of NIL entities of the system are needed; a row without an entity says that
#: the document has any.
FRAME, SENTIMENT, MENTION, ANNOTATED = "frame", "sentiment", "mention", "document"

#: The columns. `scored` is whether the document is scored (`scored_documents`). Of a sentiment,
#: `frame_id` is the frame that its record names, or null, and `entry` the knowledge base entry of
#: its source, whose name may be in `source`. `numbers` and `nones` are the columns of its file and
#: the cells of its own that the public scorer reads in a way of its own (`official_frames`), and
#: `chosen` the annotator that it draws. Of a document, `file` is the format of its annotation, and
#: `nones` what its tables lack.
#: Words that occur often are numbers, of which millions of rows need a quarter of the memory.
ROWS: Mapping[str, pl.DataType | type[pl.DataType]] = {
    **dict.fromkeys(("docid", "frame_id", "entity"), pl.String()),
    **dict.fromkeys(("part", "file", "modality", "annotator"), pl.Categorical()),
    **dict.fromkeys(("scored", "system", "fear", "anger", "joy"), pl.Boolean()),
    **dict.fromkeys(("frame", "record", "start", "end"), pl.Int64()),
    **dict.fromkeys(("confidence", "value"), pl.Float64()),
    **dict.fromkeys(("type", "place", "status", "scope", "severity"), pl.Categorical()),
    **dict.fromkeys(("resolution", "urgency", "source", "entry"), pl.Categorical()),
    **dict.fromkeys(("polarity", "numbers", "nones", "chosen"), pl.Categorical()),
}
#: Rows with words as texts.
AS_TEXTS = cs.categorical().cast(pl.String)

#: What marks a place that the public scorer reads as a number; no table shows it.
NUMBER = "#"

#: The types that are issues; all others are needs.
ISSUES = ("regimechange", "crimeviolence", "terrorism")

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
    frames = _frames(corpus, documents, "SEC" if system else "none")
    of_frames = frames.select("frame", "frame_id", frame_row="row")
    sentiments = (
        corpus.sentiments.select("document", "frame_row", "target", "holder", "holder_kb", *_FELT)
        .join(documents, on="document", maintain_order="left")
        .join(of_frames, on="frame_row", how="left", maintain_order="left")
        .with_columns(
            part=pl.lit(SENTIMENT),
            frame_id=pl.coalesce("target", "frame_id"),
            source=pl.coalesce("holder_kb", "holder"),
            entry="holder_kb",
        )
    )
    if system:
        mentions = corpus.mentions.select("document", "record", "entity", "start", "end")
        every = mentions.select("document").unique(maintain_order=True)
        named = pl.concat([mentions.filter(is_nil("entity")), every], how="diagonal")
        more = named.join(documents.drop("modality"), on="document")
        more = more.with_columns(part=pl.lit(MENTION))
    else:
        lacks = _attributes(corpus, "file", "lacks").group_by("document")
        listed = lacks.agg(nones=pl.col("value").unique().sort().str.join(","))
        form = corpus.sources["format"].first() if corpus.sources.height else None
        more = documents.join(listed, on="document", how="left")
        more = more.with_columns(part=pl.lit(ANNOTATED), file=pl.lit(form, pl.String))
    # Each part by itself: the columns of all together would be copied to be contiguous.
    parts = (frames, sentiments, more)
    return pl.concat([conform(part.with_columns(system=pl.lit(system))) for part in parts])


def _frames(corpus: Corpus, documents: pl.DataFrame, odd: str) -> pl.DataFrame:
    """The rows of frames, with the attribute that lists what the public scorer reads otherwise."""
    files = corpus.sources.select(origin="row", file=pl.concat_str("path", "member"))
    numbers = _attributes(corpus, "file", "numbers").rename({"value": "numbers"})
    nones = _attributes(corpus, "frame", odd).rename({"value": "nones"})
    return (
        corpus.frames.filter(pl.col("kind") == "situation")
        .select(
            *("row", "document", "origin", "record", "annotator", "confidence"),
            *("status", "scope", "severity", "resolution"),
            frame_id="frame",
            type="label",
            entity="place",
            place="place_kb",
            urgency="urgent",
        )
        .join(documents, on="document", maintain_order="left")
        .join(files, on="origin", how="left", maintain_order="left")
        .join(numbers.drop("record"), ["document", "origin"], "left", maintain_order="left")
        .join(nones, ["document", "origin", "record"], "left", maintain_order="left")
        .with_columns(part=pl.lit(FRAME), frame=pl.int_range(pl.len()).over("document"))
        .with_columns(frame_id=pl.coalesce("frame_id", pl.format("#{}", "frame")))
    )


def _attributes(corpus: Corpus, element: str, name: str) -> pl.DataFrame:
    """The attributes of a name, with `document`, `origin`, `record` (of frames), and `value`."""
    own = corpus.attributes.filter(pl.col("element") == element, pl.col("name") == name)
    return own.select("document", "origin", "record", "value")


def conform(rows: pl.DataFrame) -> pl.DataFrame:
    """Give rows all columns of `ROWS`, in order; what is absent is null."""
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
    return in_order(pl.concat([pl.DataFrame(schema=dict(ROWS)), *batches]))


def in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows in the order of `total`; those that are, are not copied, since they are many."""
    of_system = pl.when("system").then("record")
    in_document = pl.when(pl.col("part") == FRAME).then("frame").otherwise("record")
    keys = (of_system, "docid", "part", in_document)
    order = rows.select(pl.arg_sort_by(keys, maintain_order=True)).to_series()
    return rows if order.is_sorted() else rows[order]


#: The columns that rows of a part never have.
_ABSENT = {
    FRAME: ("fear", "anger", "joy", "start", "end", "value", "source", "entry", "polarity"),
    SENTIMENT: (
        *("start", "end", "confidence", "type", "entity", "place", "status", "scope"),
        *("severity", "resolution", "urgency", "numbers", "nones", "chosen"),
    ),
}


def side(rows: pl.DataFrame, part: str, *, system: bool) -> pl.DataFrame:
    """The frames or the sentiments of one side, with the columns that they may have, as texts."""
    others = ("part", "system", "scored", *_ABSENT.get(part, ()))
    of_part = (pl.col("part") == part) & (pl.col("system") == system)
    own = rows.lazy().filter(of_part).select(pl.exclude(others))
    return own.with_columns(AS_TEXTS).collect()


# Which documents are scored: LoReHLT 2019, section 16.1.
#
# "The entire test set must be processed even though only a subset of documents will be scored":
# the documents that the reference has, or those of a list. Frames of the other documents of the
# test set are neither right nor wrong; frames of documents outside of the test set are false
# alarms.


def is_scored(annotated: Iterable[str], options: RankingOptions) -> pl.Expr:
    """Return whether the rows of a document, named by `docid`, are scored.

    Args:
        annotated: the documents that the reference has in any of its tables.
        options: the lists of scored documents, else those annotated are, and of the test set.

    Examples:
        >>> rows = pl.DataFrame({"docid": ["annotated", "processed", "unknown"]})
        >>> expression = is_scored(["annotated"], RankingOptions(documents=("processed",)))
        >>> rows.filter(expression)["docid"].to_list()
        ['annotated', 'unknown']
    """
    annotated = {*annotated}
    scored = annotated if options.scored is None else {*options.scored}
    left_out = {*annotated, *(options.documents or ())} - scored
    return ~pl.col("docid").is_in(pl.Series(sorted(left_out), dtype=pl.String).implode())


# Names in the files of options that the reference does not have: of annotators, of documents.
#
# Only all of the reference shows that a name is unknown; the findings are about the files.


#: The annotators of a file, as `annotators.CHOSEN`, with the file, the number and the text of the
#: line of each.
_LINE = {"file": pl.String, "record": pl.Int64, "text": pl.String}
GIVEN = {"docid": pl.String, "issue": pl.Boolean, "chosen": pl.String, **_LINE}
#: How many names a hint lists.
_NAMED = 5


def unknown_names(options: RankingOptions, rows: pl.DataFrame) -> Iterator[Finding]:
    """Find annotators and documents in the files of options that the reference does not have.

    Args:
        options: what was chosen.
        rows: of the reference, as `ROWS`.
    """
    documents = rows.filter(pl.col("part") == ANNOTATED)["docid"].unique().sort().to_list()
    if options.annotators is not None:
        yield from _unknown_annotators(options.annotators, rows, documents)
    scored = {*(options.scored or ())}
    absent = sorted(scored - {*documents, *(options.documents or ())})
    if absent and options.documents is None and len(absent) < len(scored):
        yield finding("LSF704", count=len(absent), document=absent[0]).of("--scored")
        return
    meant = closest_files(absent, documents)
    for name in absent:
        hint = _hint(meant.get(name), "the reference", documents)
        yield finding("LSF703", document=name, hint=hint).of("--scored")


def _unknown_annotators(
    given: pl.DataFrame, rows: pl.DataFrame, documents: Sequence[str]
) -> Iterator[Finding]:
    """Find annotators that a document does not have, and documents that the reference lacks."""
    names = dict(
        rows.filter(pl.col("part") == FRAME)
        .group_by("docid")
        .agg(pl.col("annotator").drop_nulls().unique().sort())
        .rows()
    )
    lines = given.select(pl.col(name) for name in GIVEN).rows(named=True)
    known = {*documents}
    meant = closest_files([row["docid"] for row in lines if row["docid"] not in known], documents)
    for row in lines:
        doc, chosen, text = row["docid"], row["chosen"], row["text"]
        if doc not in known:
            values = {"document": doc, "hint": _hint(meant.get(doc), "the reference", documents)}
            problem = Problem("LSF701", row["record"], 0, len(doc), values)
        elif doc in names and chosen not in names[doc]:
            hint = _hint(closest(chosen, names[doc]), doc, names[doc])
            values = {"given": chosen, "document": doc, "hint": hint}
            problem = Problem("LSF702", row["record"], text.rindex("\t") + 1, len(text), values)
        else:
            continue
        yield problem.in_line(row["file"], text).of("--annotators")


def _hint(meant: str | None, owner: str, names: Sequence[str]) -> str:
    """The name that may be meant, and the names that there are."""
    there = f"{owner} has {first_names(names, _NAMED) or 'none'}"
    return f"did you mean {meant}? {there}" if meant else there
