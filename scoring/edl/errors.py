"""What went wrong with each mention, and with each cluster.

Mentions of one span are paired first, those that agree most before others; what is left is paired
by the units that they share. A pair may have a wrong type, a wrong link and a wrong boundary; NIL
identifiers say nothing by themselves, so two NILs agree. Whether their clusters do depends on the
clusters: the alignment of CEAF, and where mentions of a cluster went.
"""

from collections.abc import Iterator, Mapping

import polars as pl

from hlteval.representation import Corpus, first_case, ordinals
from hlteval.scoring.clusterings import Twins, best_alignment, intersections, partners, sizes
from hlteval.scoring.edl.annotations import NIL, spans, sweep
from hlteval.scoring.edl.credit import SEPARATOR, SPAN, UNIT, PairWeights
from hlteval.scoring.matching import assign

_SIDES = {"reference": "", "system": "_system"}
_FIELDS = {"": "span", "_text": "text", "_type": "type", "_entity": "eid"}
#: A mention or a pair of mentions a row; spans are written as in a table of mentions, `38-46`.
ALIGNMENT: Mapping[str, pl.DataType | type[pl.DataType]] = {
    **dict.fromkeys(("document", "status"), pl.String),
    "wrong": pl.List(pl.String),
    **dict.fromkeys((f"{side}{part}" for side in _SIDES for part in _FIELDS), pl.String),
    "context": pl.String,
}

STATUSES = ("correct", "wrong", "missing", "extra")
WRONG = ("type", "link", "boundary")
#: How often spans that overlap others look for another one, the best being taken.
_ROUNDS = 5
#: A step of credit is worth more than the equal types of all mentions of a span.
_TYPES = 2**20
#: Characters of context on either side.
_AROUND = 40


def alignment(
    table: pl.DataFrame, reference: Corpus, system: Corpus, weights: PairWeights | None = None
) -> pl.DataFrame:
    """Outcomes of all mentions (`ALIGNMENT`), document by document.

    Args:
        table: the annotations of both sides; `with_identifiers` if these are compared.
        reference: the corpus of the reference, with the texts of its documents where it has them.
        system: the corpus of the system.
        weights: what a pair of identifiers counts, which is then the column `credit` of mentions of
            one span; None if entities have to be equal.
    """
    ours, theirs = (
        _mentions(table.filter(system=side), corpus)
        for side, corpus in ((False, reference), (True, system))
    )
    rows = _pairs(ours, theirs, weights)
    for side, own in (("reference", ours), ("system", theirs)):
        keyed = own.rename({"row": side})
        rows = rows.join(keyed, on=side, how="full", coalesce=True, suffix="_system")
    both = pl.col("reference").is_not_null() & pl.col("system").is_not_null()
    differ = {
        name: pl.any_horizontal(~pl.col(f).eq_missing(pl.col(f"{f}_system")) for f in fields)
        for name, fields in (("type", ["type"]), ("link", ["link"]), ("boundary", ["start", "end"]))
    }
    wrong = (pl.when(both & differ[name]).then(pl.lit(name)) for name in WRONG)
    rows = rows.with_columns(
        wrong=pl.concat_list(wrong).list.drop_nulls(),
        docid=pl.coalesce("docid", "docid_system"),
        first=pl.coalesce("start", "start_system"),
    )
    status = first_case(
        (pl.col("system").is_null(), "missing"),
        (pl.col("reference").is_null(), "extra"),
        (pl.col("wrong").list.len() > 0, "wrong"),
        otherwise="correct",
    )
    texts = reference.documents.select(docid="name", whole="text")
    rows = rows.with_columns(status=status).join(texts, on="docid", how="left")
    rows = rows.sort("docid", "first", "end", "reference", "system", nulls_last=True)
    credit, schema = dict[str, pl.Expr](), dict(ALIGNMENT)
    if weights:
        same = both & ~pl.col("wrong").list.contains("boundary")
        alike = pl.lit(weights.of(rows["link"], rows["link_system"]))
        alike = pl.when("crowded").then(alike.floor()).otherwise(alike)
        credit = {"credit": pl.when(same).then(alike).otherwise(0.0)}
        schema["credit"] = pl.Float64
    return rows.select(
        *(pl.col("docid").alias("document"), "status", "wrong"),
        *(
            pl.col(f"{field}{suffix}").alias(f"{side}{part}")
            for side, suffix in _SIDES.items()
            for part, field in _FIELDS.items()
        ),
        context=_context(),
        **credit,
    ).cast(schema)  # type: ignore[arg-type]


def _mentions(table: pl.DataFrame, corpus: Corpus) -> pl.DataFrame:
    """The mentions of a side with their texts: `link` is what is compared, `eid` what is shown."""
    nil = pl.col("eid").is_null() | pl.col("eid").str.starts_with(NIL)
    shown: pl.Expr = pl.col("eid")
    link: pl.Expr = pl.when(~nil).then("eid")
    if "identifiers" in table.columns:
        link = pl.col("identifiers")
        shown = pl.coalesce(link.str.replace_all(SEPARATOR, ", ", literal=True), shown)
    span = pl.format("{}-{}", "start", pl.col("end") - 1)
    others = pl.col("^(row|docid|start|end|type|crowded)$")
    mentions = table.filter(pl.col("rank") == 1).select(others, eid=shown, link=link, span=span)
    return mentions.join(
        corpus.mentions.select("row", "text"), "row", "left", maintain_order="left"
    )


def _most_alike(ours: pl.DataFrame, theirs: pl.DataFrame, weights: PairWeights) -> pl.DataFrame:
    """Pairs of rows of one span: of the greatest credit in all, then of as many equal types.

    Spans of too many links (`crowded`) have none: their equal ones are paired next.
    """
    met = (
        ours.filter(~pl.col("crowded"))
        .join(theirs, on=SPAN, suffix="_system")
        .sort("row", "row_system")
    )
    alike = pl.col("type").eq_missing(pl.col("type_system"))
    met = met.with_columns(
        worth=weights.of(met["link"], met["link_system"]) * UNIT * _TYPES + alike
    )
    met = met.with_columns(pl.col("worth").cast(pl.Int64)).filter(pl.col("worth") > alike)
    one, two, worth = (met[name].to_numpy() for name in ("row", "row_system", "worth"))
    chosen = met.filter(assign(one, two, worth))
    return chosen.select(reference="row", system="row_system")


def _pairs(ours: pl.DataFrame, theirs: pl.DataFrame, weights: PairWeights | None) -> pl.DataFrame:
    """Pairs of rows, as `reference` and `system`: of one span, then of spans that overlap."""
    span = ["docid", "start", "end"]
    pairs = []
    if weights:
        pairs.append(_most_alike(ours, theirs, weights))
        ours = ours.join(pairs[-1], left_on="row", right_on="reference", how="anti")
        theirs = theirs.join(pairs[-1], left_on="row", right_on="system", how="anti")
    for key in ([*span, "type", "link"], [*span, "link"], [*span, "type"], span):
        sides = (side.sort("row") for side in (ours, theirs))
        one, two = (side.select("row", *key, ordinals(side, key)) for side in sides)
        met = one.join(two, on=[*key, "ordinal"], nulls_equal=True, suffix="_system")
        pairs.append(met.select(reference="row", system="row_system"))
        ours = ours.join(pairs[-1], left_on="row", right_on="reference", how="anti")
        theirs = theirs.join(pairs[-1], left_on="row", right_on="system", how="anti")
    return pl.concat([*pairs, _overlap_pairs(ours, theirs)])


def _overlap_pairs(ours: pl.DataFrame, theirs: pl.DataFrame) -> pl.DataFrame:
    """Pairs of spans that overlap, those first that share most units."""
    documents = pl.concat([ours["docid"], theirs["docid"]]).unique().sort()
    number = pl.col("docid").cast(pl.Enum(documents)).to_physical().cast(pl.Int64)
    extent = {"from": pl.col("start"), "last": pl.col("end") - 1}
    proper = (side.filter(pl.col("end") > pl.col("start")) for side in (ours, theirs))
    one, two = (side.select("row", item=number, **extent) for side in proper)
    places = sweep(spans(one), spans(two))
    met = one[places[0]].select("from", "last", reference="row")
    met = met.hstack(two[places[1]].select(system="row", begin="from", finish="last"))
    units = pl.min_horizontal("last", "finish") - pl.max_horizontal("from", "begin")
    met = met.sort(units, "reference", "system", descending=[True, False, False])
    met = met.select("reference", "system")
    pairs = [met.clear()]
    for _ in range(_ROUNDS):
        best = met.unique("reference", keep="first", maintain_order=True)
        pairs.append(best.unique("system", keep="first", maintain_order=True))
        for side in _SIDES:
            met = met.join(pairs[-1], on=side, how="anti", maintain_order="left")
    return pl.concat(pairs)


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
    kind = pl.coalesce("reference_type", "system_type").alias("type")
    counts = aligned.group_by("document", kind).agg(
        *((pl.col("status") == status).sum().alias(status) for status in STATUSES),
        *(pl.col("wrong").list.contains(name).sum().alias(f"wrong_{name}") for name in WRONG),
    )
    return counts.sort("document", "type", nulls_last=True).cast({pl.UInt32: pl.Int64})


def clusters(members: pl.DataFrame, names: pl.Series) -> pl.DataFrame:
    """Outcomes of all clusters.

    Args:
        members: `system`, `item` and `cluster` of the mentions, `group` being the same for all.
        names: what the numbers of clusters stand for.

    Returns:
        A cluster of the reference and the system's that CEAF aligns it with, or one of them alone:
        their sizes, the mentions that they share, how many clusters of the system hold mentions of
        the reference's (`parts`), and of how many the system's has some (`merged`).
    """
    unique = members.unique().with_columns(weight=pl.lit(1, pl.Int64))
    ours, theirs = (unique.filter(system=side).drop("system") for side in (False, True))
    others = Twins.of(ours, theirs)
    met = intersections(others.reference, others.system)
    rows = pl.concat([best_alignment(met, "shared"), others.pairs.lazy()])
    rows = rows.select("cluster", "other", "shared")
    for side, counterpart, own, size, parts in (
        (ours, theirs, "cluster", "reference_size", "parts"),
        (theirs, ours, "other", "system_size", "merged"),
    ):
        counts = met.lazy().group_by(cluster=own).agg(count=pl.len().cast(pl.Int64))
        if others.pairs.height:
            counts = partners(side, counterpart)
        counts = counts.rename({"cluster": own, "count": parts})
        sized = sizes(side).select(pl.col("cluster").alias(own), pl.col("size").alias(size))
        sized = sized.join(counts, on=own, how="left")
        rows = rows.join(sized, on=own, how="full", coalesce=True)
    sized_alike = [pl.col("shared") == pl.col(f"{side}_size") for side in _SIDES]
    split, merged = pl.col("parts") > 1, pl.col("merged") > 1
    status = first_case(
        (pl.all_horizontal(sized_alike), "correct"),
        (split & merged, "split and merged"),
        (split, "split"),
        (merged, "merged"),
        (pl.col("parts").is_null() & pl.col("other").is_null(), "missing"),
        (pl.col("merged").is_null() & pl.col("cluster").is_null(), "extra"),
        otherwise="partly",
    )
    ordered = rows.sort("cluster", "other", nulls_last=True).with_columns(status=status)
    found = ordered.collect(engine="in-memory")
    return found.select(
        names.gather(found["cluster"]).alias("reference"),
        names.gather(found["other"]).alias("system"),
        *("status", "reference_size", "system_size"),
        pl.col("shared", "parts", "merged").fill_null(0),
    )


def listing(aligned: pl.DataFrame, cluster_rows: pl.DataFrame) -> str:
    """Errors for people to read: by document, a line a mention, with its context where known.

    Args:
        aligned: what became of each mention.
        cluster_rows: what became of each cluster.

    Examples:
        >>> row = {"document": "d", "status": "missing", "wrong": [], "reference": "0-4"}
        >>> row |= {"reference_text": "Osh", "reference_type": "GPE", "reference_entity": "E1"}
        >>> aligned = pl.DataFrame([row], schema=dict(ALIGNMENT))
        >>> print(listing(aligned, pl.DataFrame({"status": []})).rstrip())
        d
          missing  0-4 Osh GPE E1
    """
    names = pl.col("wrong").list.join(", ")
    problem = pl.when(names != "").then(pl.format("wrong {}", names)).otherwise("status")
    parts = {side: [f"{side}{part}" for part in _FIELDS] for side in _SIDES}
    sides = [
        pl.when(pl.col(side) != "").then(pl.concat_str(own, separator=" ", ignore_nulls=True))
        for side, own in parts.items()
    ]
    both = pl.concat_str(sides, separator=" | ", ignore_nulls=True)
    context = pl.when(pl.col("context") != "").then(pl.format("    {}\n", "context"))
    lines = pl.concat_str(pl.format("  {}  {}\n", problem, both), context, ignore_nulls=True)
    wrong = aligned.lazy().filter(pl.col("status") != "correct").select("document", lines=lines)
    documents = wrong.group_by("document", maintain_order=True).agg(pl.col("lines").str.join(""))
    texts = documents.select(pl.format("{}\n{}", "document", "lines")).collect().to_series()
    return "".join([*texts, *_cluster_lines(cluster_rows)])


def _cluster_lines(rows: pl.DataFrame) -> Iterator[str]:
    """The lines of the listing about clusters."""
    wrong = rows.filter(pl.col("status") != "correct")
    if wrong.height:
        yield "clusters\n"
    for row in wrong.iter_rows(named=True):
        sides = [
            f"{row[side] or 'no identifier'} ({row[f'{side}_size']})"
            for side in _SIDES
            if row[f"{side}_size"] is not None
        ]
        yield f"  {row['status']}  {' | '.join(sides)}, {row['shared']} shared"
        yield f", in {row['parts']} of the system, of {row['merged']} of the reference\n"


def readable(aligned: pl.DataFrame) -> pl.DataFrame:
    """The mentions as people read them: offsets as numbers, and a column for each problem.

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
    if "credit" not in aligned.columns:  # entities have to be equal
        aligned = aligned.with_columns(credit=pl.lit(None, pl.Float64))
    return aligned.with_columns(*offsets, *wrong, outcome="status")
