"""Rules of declared tasks about identifiers of entities, which all sides have to write alike."""

import polars as pl

from hlteval.representation import FACT, Corpus
from hlteval.validators.generic.schema import Allowed
from hlteval.validators.rule import RECORD, RuleContext, only_if

#: So many identifiers are looked for first.
_SOME = 50


def _entities(context: RuleContext, corpus: Corpus) -> pl.LazyFrame:
    """The identifiers that are compared, as `given`: of links, or of the arguments of facts.

    Those of links are first the entities of mentions, then their further candidates.
    """
    if context.schema.unit == "relations":
        facts = corpus.frames.lazy().filter(kind=FACT).select(frame_row="row", id="frame")
        rows = corpus.arguments.lazy().join(facts, on="frame_row", maintain_order="left")
        field = pl.format("target {}", "position")
        return rows.select(*RECORD, "id", field=field, given="target")
    entities = corpus.mentions.lazy().select(*RECORD, "entity", id="mention")
    others = corpus.links.lazy().select(*RECORD, "entity", id=pl.lit(None, pl.String))
    links = _of_links(pl.concat([entities, others]))
    return links.select(*RECORD, "given", "id", field=pl.lit("entity"))


def _of_links(rows: pl.LazyFrame) -> pl.LazyFrame:
    """The identifiers of linked mentions or candidates as `given`; NIL is none."""
    each = rows.with_columns(given=pl.col("entity").str.split("|")).explode("given")
    return each.filter(~pl.col("given").str.starts_with("NIL"), pl.col("given") != "")


def _first_alike(rows: pl.LazyFrame, known: pl.LazyFrame, alike: str, other: str) -> pl.LazyFrame:
    """The first of some identifiers, of those that are known with another prefix if there are some.

    Args:
        rows: the identifiers, as `given`.
        known: others, as `known`.
        alike: the hint for one that is known, with `{}` for the way in which.
        other: the hint for all others.
    """
    bare = [pl.col(name).str.extract("([^:/]*)$").alias("bare") for name in ("given", "known")]
    listed = known.with_columns(bare[1]).unique("bare", keep="first", maintain_order=True)
    found = rows.with_columns(bare[0]).join(listed, on="bare", how="left", maintain_order="left")
    first = found.sort(pl.col("known").is_null(), maintain_order=True).head(1)
    hint = pl.coalesce(pl.format(alike, "known"), pl.lit(other))
    return first.with_columns(pl.col("given").str.head(60), hint=hint)


# Those of the submission that the reference has.


def common(context: RuleContext) -> list[str]:
    """One identifier of a batch that both sides have, if there is one, or if a side has none."""
    if context.own or context.schema.unit not in {"links", "relations"}:
        return [""]
    ours, theirs = (
        _entities(context, side).select("given").collect().to_series()
        for side in (context.against, context.system)
    )
    if ours.is_empty() or theirs.is_empty():
        return [""]
    for own in (theirs.head(_SOME), theirs):  # nearly always, one of the first is common
        if (shared := own.filter(own.is_in(ours.implode()))).len():
            return shared.head(1).to_list()
    return []


def may_be_unlike(context: RuleContext) -> bool:
    """Whether both sides of a batch have identifiers, and none in common."""
    return not context.once(common)


def unlike_reference(context: RuleContext) -> pl.LazyFrame:
    """The first identifier of a batch; of those that the reference has with another prefix."""
    known = _entities(context, context.against).select(known="given")
    other = "check that both sides have the identifiers of one knowledge base"
    rows = _entities(context, context.system)
    return _first_alike(rows, known, "write {}, as the reference does", other)


def conclude_reference(rows: pl.DataFrame, shown: frozenset[str], _: Allowed) -> pl.DataFrame:
    """The first of these identifiers, where no batch has one in common; `""` is none."""
    return rows.head(0 if shown - {""} else 1)


# Those of either side that an ontology has, in which they are compared.


def has_ontology(context: RuleContext) -> bool:
    """Whether links are compared in an ontology."""
    return "ontology" in context.lists


def of_ontology(context: RuleContext) -> list[str]:
    """One identifier of a batch that the ontology has, if it has any."""
    if not has_ontology(context):
        return []
    known = context.lists["ontology"].documents["name"].implode()
    rows = pl.concat(context.table(name, "entity") for name in ("mentions", "links"))
    found = _of_links(rows).filter(pl.col("given").is_in(known)).head(1).collect()
    return found["given"].to_list()


def unlike_ontology(context: RuleContext) -> pl.LazyFrame:
    """The first linked mention of a batch of which the ontology has no identifier."""
    rows = only_if(not context.once(of_ontology), _entities(context, context.system))
    names = context.lists["ontology"].documents["name"]
    other = f"use the ontology of these identifiers; this one has {names[0]}"
    alike = "write {}, as the ontology does, or remove its prefixes"
    return _first_alike(rows, pl.LazyFrame({"known": names}), alike, other)


def conclude_ontology(rows: pl.DataFrame, shown: frozenset[str], _: Allowed) -> pl.DataFrame:
    """The first of these mentions, where the ontology has no identifier of any batch."""
    return rows.head(0 if shown else 1)
