"""What went wrong with each mention, and with each cluster.

Mentions of one span are paired first, those that agree most before others; what is left is paired
by the units that they share. A pair may have a wrong type, a wrong link and a wrong boundary; NIL
identifiers say nothing by themselves, so two NILs agree. Whether their clusters do depends on the
clusters: the alignment of CEAF, and where mentions of a cluster went.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.edl.clusterings import best_alignment, shared, sizes
from hlteval.scoring.edl.overlaps import spans, swept

_SIDE = ("", "_text", "_type", "_entity")
_SIDES = ("reference", "system")
_COLUMNS = (
    "document",
    "status",
    "wrong",
    *(f"{side}{part}" for side in _SIDES for part in _SIDE),
    "context",
)
#: A mention or a pair of mentions a row; spans are written as in a table of mentions, `38-46`.
ALIGNMENT: Mapping[str, pl.DataType | type[pl.DataType]] = MappingProxyType(
    {name: pl.List(pl.String) if name == "wrong" else pl.String for name in _COLUMNS}
)

STATUSES = ("correct", "wrong", "missing", "extra")
WRONG = ("type", "link", "boundary")
#: How often spans that overlap others look for another one, the best being taken.
_ROUNDS = 5
#: Characters of context on either side.
_AROUND = 40


def alignment(table: pl.DataFrame, reference: Corpus, system: Corpus) -> pl.DataFrame:
    """What became of each mention (`ALIGNMENT`), document by document.

    Args:
        table: the annotations of both sides.
        reference: the corpus of the reference, with the texts of its documents where it has them.
        system: the corpus of the system.
    """
    own = table.filter(pl.col("rank") == 1)
    nil = pl.col("eid").is_null() | pl.col("eid").str.starts_with("NIL")
    described = own.select(
        *("system", "row", "docid", "start", "end", "type", "eid"), link=pl.when(~nil).then("eid")
    )
    ours, theirs = (
        described.filter(pl.col("system") == side)
        .drop("system")
        .join(corpus.mentions.select("row", "text"), on="row", how="left", maintain_order="left")
        for side, corpus in ((False, reference), (True, system))
    )
    pairs = _pairs(ours, theirs)
    whole = pairs.join(ours, left_on="reference", right_on="row", how="full", coalesce=True)
    whole = whole.join(
        theirs, left_on="system", right_on="row", how="full", coalesce=True, suffix="_system"
    )
    whole = _judgements(whole)
    texts = reference.documents.select(docid="name", whole="text")
    whole = whole.join(texts, on="docid", how="left").sort(
        "docid", "first", "end", "reference", "system", nulls_last=True
    )
    return whole.select(
        *(pl.col("docid").alias("document"), "status", "wrong"),
        *_side_columns("reference", ""),
        *_side_columns("system", "_system"),
        context=_context(),
    ).cast(dict(ALIGNMENT))  # type: ignore[arg-type]


def _pairs(ours: pl.DataFrame, theirs: pl.DataFrame) -> pl.DataFrame:
    """Pairs of rows, as `reference` and `system`: of one span, then of spans that overlap."""
    span = ["docid", "start", "end"]
    pairs = []
    for key in ([*span, "type", "link"], [*span, "link"], [*span, "type"], span):
        found = _with_ordinals(ours, key).join(
            _with_ordinals(theirs, key), on=[*key, "ordinal"], nulls_equal=True, suffix="_system"
        )
        found = found.select(reference="row", system="row_system")
        pairs.append(found)
        ours = ours.join(found, left_on="row", right_on="reference", how="anti")
        theirs = theirs.join(found, left_on="row", right_on="system", how="anti")
    return pl.concat([*pairs, _overlapping(ours, theirs)])


def _with_ordinals(rows: pl.DataFrame, key: list[str]) -> pl.DataFrame:
    ordered = rows.sort("row")
    return ordered.with_columns(ordinal=pl.int_range(pl.len()).over(key))


def _overlapping(ours: pl.DataFrame, theirs: pl.DataFrame) -> pl.DataFrame:
    """Pairs of spans that overlap, those first that share most units."""
    real = pl.col("end") > pl.col("start")
    documents = pl.concat([ours["docid"], theirs["docid"]]).unique().sort()
    number = pl.col("docid").cast(pl.Enum(documents)).to_physical().cast(pl.Int64)
    sides = [
        side.filter(real).with_columns(
            number.alias("item"), pl.col("start").alias("from"), (pl.col("end") - 1).alias("last")
        )
        for side in (ours, theirs)
    ]
    one, two = swept(spans(sides[0]), spans(sides[1]))
    met = pl.concat(
        [
            sides[0][one].select("from", "last", reference="row"),
            sides[1][two].select(system="row", begin="from", finish="last"),
        ],
        how="horizontal",
    )
    units = pl.min_horizontal("last", "finish") - pl.max_horizontal("from", "begin") + 1
    met = met.with_columns(units=units).sort(
        "units", "reference", "system", descending=[True, False, False]
    )
    found = [met.select("reference", "system").clear()]
    for _ in range(_ROUNDS):
        best = met.unique("reference", keep="first", maintain_order=True)
        best = best.unique("system", keep="first", maintain_order=True)
        found.append(best.select("reference", "system"))
        met = met.join(best, on="reference", how="anti", maintain_order="left")
        met = met.join(best, on="system", how="anti", maintain_order="left")
    return pl.concat(found)


def _judgements(pairs: pl.DataFrame) -> pl.DataFrame:
    """Pairs and single mentions with what is wrong with them."""
    both = pl.col("reference").is_not_null() & pl.col("system").is_not_null()
    differs = {
        "type": ~pl.col("type").eq_missing(pl.col("type_system")),
        "link": ~pl.col("link").eq_missing(pl.col("link_system")),
        "boundary": (pl.col("start") != pl.col("start_system"))
        | (pl.col("end") != pl.col("end_system")),
    }
    wrong = pl.concat_list(
        pl.when(both & differs[name]).then(pl.lit(name)) for name in WRONG
    ).list.drop_nulls()
    judged = pairs.with_columns(
        wrong=wrong,
        docid=pl.coalesce("docid", "docid_system"),
        first=pl.coalesce("start", "start_system"),
    )
    status = (
        pl.when(pl.col("system").is_null())
        .then(pl.lit("missing"))
        .when(pl.col("reference").is_null())
        .then(pl.lit("extra"))
        .when(pl.col("wrong").list.len() > 0)
        .then(pl.lit("wrong"))
        .otherwise(pl.lit("correct"))
    )
    return judged.with_columns(status=status)


def _side_columns(side: str, suffix: str) -> Iterator[pl.Expr]:
    """What a side says: its span, text, type and entity."""
    span = pl.format("{}-{}", f"start{suffix}", pl.col(f"end{suffix}") - 1)
    yield pl.when(pl.col(side).is_not_null()).then(span).alias(side)
    for part, column in (("text", "text"), ("type", "type"), ("entity", "eid")):
        yield pl.col(f"{column}{suffix}").alias(f"{side}_{part}")


def _context() -> pl.Expr:
    """The text around a mention, the mention in brackets."""
    start, end = pl.coalesce("start", "start_system"), pl.coalesce("end", "end_system")
    begin = pl.max_horizontal(start - _AROUND, 0)
    text = pl.col("whole")
    # Spans that end before they start have no context, but Polars slices them all the same.
    before = text.str.slice(begin, (start - begin).clip(0))
    inside = text.str.slice(start, (end - start).clip(0))
    after = text.str.slice(end, _AROUND)
    around = pl.concat_str(before, pl.lit("["), inside, pl.lit("]"), after)
    known = pl.col("whole").is_not_null() & (pl.col("status") != "correct") & (end > start)
    return pl.when(known & (start >= 0)).then(around.str.replace_all(r"\s+", " "))


def by_document(aligned: pl.DataFrame) -> pl.DataFrame:
    """How many mentions of each document and type are correct, wrong, missing, and extra."""
    typed = aligned.with_columns(type=pl.coalesce("reference_type", "system_type"))
    return (
        typed.group_by("document", "type")
        .agg(
            *((pl.col("status") == status).sum().alias(status) for status in STATUSES),
            *(pl.col("wrong").list.contains(name).sum().alias(f"wrong_{name}") for name in WRONG),
        )
        .sort("document", "type", nulls_last=True)
        .with_columns(pl.col(pl.UInt32).cast(pl.Int64))
    )


def clusters(members: pl.DataFrame, names: pl.Series) -> pl.DataFrame:
    """What became of each cluster.

    Args:
        members: `system`, `item` and `cluster` of the mentions, `group` being the same for all.
        names: what the numbers of clusters stand for.

    Returns:
        A cluster of the reference and the system's that CEAF aligns it with, or one of them alone:
        their sizes, the mentions that they share, how many clusters of the system hold mentions of
        the reference's (`parts`), and of how many the system's has some (`merged`).
    """
    unique = members.unique()
    ours, theirs = (
        unique.filter(pl.col("system") == side).drop("system") for side in (False, True)
    )
    met = shared(ours, theirs)
    pairing = best_alignment(met, "shared").select("cluster", "other", "shared")
    pairs = met.lazy()
    parts = pairs.group_by("cluster").agg(parts=pl.len().cast(pl.Int64))
    merged = pairs.group_by("other").agg(merged=pl.len().cast(pl.Int64))
    sized = sizes(ours).select("cluster", reference_size="size")
    sized = sized.join(parts, on="cluster", how="left")
    other = sizes(theirs).select(other="cluster", system_size="size")
    other = other.join(merged, on="other", how="left")
    whole = sized.join(pairing, on="cluster", how="full", coalesce=True)
    whole = whole.join(other, on="other", how="full", coalesce=True)
    whole = whole.sort("cluster", "other", nulls_last=True).with_columns(status=_cluster_status())
    listed = whole.collect(engine="in-memory")
    return listed.select(
        names.gather(listed["cluster"]).alias("reference"),
        names.gather(listed["other"]).alias("system"),
        *("status", "reference_size", "system_size"),
        pl.col("shared", "parts", "merged").fill_null(0),
    )


def _cluster_status() -> pl.Expr:
    """What is wrong with a cluster; the first that applies but that it may be split and merged."""
    split, merged = pl.col("parts") > 1, pl.col("merged") > 1
    exact = (pl.col("shared") == pl.col("reference_size")) & (
        pl.col("shared") == pl.col("system_size")
    )
    return (
        pl.when(exact)
        .then(pl.lit("correct"))
        .when(split & merged)
        .then(pl.lit("split and merged"))
        .when(split)
        .then(pl.lit("split"))
        .when(merged)
        .then(pl.lit("merged"))
        .when(pl.col("parts").is_null() & pl.col("other").is_null())
        .then(pl.lit("missing"))
        .when(pl.col("merged").is_null() & pl.col("cluster").is_null())
        .then(pl.lit("extra"))
        .otherwise(pl.lit("partly"))
    )


def listing(aligned: pl.DataFrame, found: pl.DataFrame) -> str:
    """What went wrong, for people: by document, a line a mention, with its context where known.

    Args:
        aligned: what became of each mention.
        found: what became of each cluster.

    Examples:
        >>> row = {"document": "d", "status": "missing", "wrong": [], "reference": "0-4"}
        >>> row |= {"reference_text": "Osh", "reference_type": "GPE", "reference_entity": "E1"}
        >>> aligned = pl.DataFrame([row], schema=dict(ALIGNMENT))
        >>> print(listing(aligned, pl.DataFrame({"status": []})).rstrip())
        d
          missing  0-4 Osh GPE E1
    """
    lines: list[str] = []
    wrong = aligned.filter(pl.col("status") != "correct")
    for (document,), rows in wrong.group_by("document", maintain_order=True):
        lines.append(f"{document}\n")
        for row in rows.iter_rows(named=True):
            what = "wrong " + ", ".join(row["wrong"]) if row["wrong"] else row["status"]
            sides = [
                " ".join(row[name] for part in _SIDE if row[name := f"{side}{part}"] is not None)
                for side in _SIDES
                if row[side]
            ]
            lines.append(f"  {what}  {' | '.join(sides)}\n")
            if row["context"]:
                lines.append(f"    {row['context']}\n")
    return "".join([*lines, *_clusters(found)])


def _clusters(found: pl.DataFrame) -> Iterator[str]:
    """What went wrong with clusters."""
    wrong = found.filter(pl.col("status") != "correct")
    if wrong.height:
        yield "clusters\n"
    for row in wrong.iter_rows(named=True):
        sides = [
            f"{row[side] or 'no identifier'} ({row[f'{side}_size']})"
            for side in ("reference", "system")
            if row[f"{side}_size"] is not None
        ]
        yield f"  {row['status']}  {' | '.join(sides)}, {row['shared']} shared"
        yield f", in {row['parts']} of the system, of {row['merged']} of the reference\n"


def readable(aligned: pl.DataFrame) -> pl.DataFrame:
    """The mentions as people read them: with their offsets as numbers, and what is wrong by name.

    Examples:
        >>> row = {"status": "wrong", "wrong": ["type"], "reference": "0-4", "system": "0-4"}
        >>> readable(pl.DataFrame([row])).select("outcome", "system_end", "wrong_type").row(0)
        ('wrong', 4, True)
    """
    offsets = (
        pl.col(side).str.extract(r"^(-?\d+)-(-?\d+)$", at).cast(pl.Int64).alias(f"{side}_{name}")
        for side in _SIDES
        for at, name in enumerate(("start", "end"), 1)
    )
    wrong = (pl.col("wrong").list.contains(name).alias(f"wrong_{name}") for name in WRONG)
    return aligned.with_columns(*offsets, *wrong, outcome="status")
