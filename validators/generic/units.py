"""Rules of declared tasks about documents and units: their texts, and what is there twice."""

from collections.abc import Mapping, Sequence

import polars as pl

from hlteval.converters.toolkit.offsets import Counting, Misfits, misfits
from hlteval.converters.toolkit.quotes import are_at_place, are_quoted
from hlteval.findings.suggest import did_you_mean
from hlteval.representation import CURATED, WITH_ANNOTATORS, row_hash
from hlteval.validators.generic.labels import has_several_units, records
from hlteval.validators.generic.schema import Allowed
from hlteval.validators.names import mismatch
from hlteval.validators.rule import RuleContext, about_file, about_submission, at, only_if
from hlteval.validators.vocabulary import duplicate_frame, repeats

#: Characters that a message shows before a difference, and after it.
_BEFORE = 12
#: Annotators that a message names.
_NAMED = 4
#: The columns of units that are equal, by table.
_KEYS: Mapping[str, Sequence[str]] = {
    "mentions": ("document", "label", "start", "end", "fragments", "entity"),
    "instances": ("document", "label", "start", "end"),
}


# Documents that only one side has.


def has_other_documents(context: RuleContext) -> bool:
    """Whether a batch does not simply have the documents of the reference, in their order."""
    names = context.system.documents["name"]
    return not (context.own or names.equals(context.against.documents["name"]))


def extra_document(context: RuleContext, *, scored: str) -> pl.LazyFrame:
    """A document that the reference lacks.

    Args:
        context: the submission.
        scored: the documents that the task scores.
    """
    schema: Allowed = context.schema
    others = context.against.documents["name"]
    own = context.own or schema.documents != scored
    rows = only_if(not own, context.table("documents", "row", "origin", "name"))
    others = others.clear() if own else others
    extra = rows.filter(~pl.col("name").is_in(others.implode())).collect()
    names, known = extra["name"].to_list(), others.to_list() if extra.height else []
    other = "remove it" if schema.kind == "numbers" else _EXTRA[scored]
    hint = mismatch(known, names) if names and known and len(names) == len(rows.collect()) else ""
    meant = [hint or did_you_mean(name, known, other) for name in names]
    hinted = extra.with_columns(hint=pl.Series(meant, dtype=pl.String))
    return about_file(hinted.lazy().rename({"name": "document"}))


_EXTRA: Mapping[str, str] = {
    "both": "remove it, or use --lenient: its units then count as wrong",
    "reference": "remove it, or correct its name",
}


# Units that are there twice.


def _hashes(context: RuleContext) -> pl.Series:
    """A hash of each unit, by the document, label and place."""
    schema: Allowed = context.schema
    rows: pl.DataFrame = getattr(context.system, schema.table)
    return rows.select(row_hash(*_KEYS[schema.table][:4])).to_series()


def may_repeat(context: RuleContext) -> bool:
    """Whether units of a batch may be equal."""
    schema: Allowed = context.schema
    if not has_several_units(context):
        return False
    if schema.table not in _KEYS:
        return schema.table == "frames"
    hashes = context.once(_hashes)
    return hashes.n_unique() < len(hashes)


def duplicate(context: RuleContext) -> pl.LazyFrame:
    """A unit that is equal to an earlier one of its document."""
    schema: Allowed = context.schema
    if schema.table == "frames":
        return duplicate_frame(context, "record")
    key = _KEYS[schema.table]
    alike = context.once(_hashes).is_duplicated()
    return repeats(records(context, *key[1:]).filter(alike), key, "record")


def two_entities(context: RuleContext) -> pl.LazyFrame:
    """A mention of a span that an earlier mention has in another entity."""
    schema: Allowed = context.schema
    key = ["document", "start", "end"]
    rows = context.records("mentions", "start", "end", "entity").drop_nulls("entity")
    rows = only_if(schema.unit == "coreference", rows)
    first = {name: pl.col(name).first().over(key) for name in ("entity", "record")}
    rows = rows.with_columns(other=first["entity"], first=first["record"])
    return at(rows.filter(pl.col("entity") != pl.col("other")), "entity")


# What a submission lacks, and texts of its own.


def has_units(context: RuleContext) -> list[str]:
    """The sides that have units in a batch."""
    schema: Allowed = context.schema
    sides = {"reference": context.against, "submission": context.system}
    if context.own:
        return []
    return [name for name, side in sides.items() if schema.has_units(side)]


def no_unit(context: RuleContext) -> pl.LazyFrame:
    """The first document of a batch in which a submission has no units."""
    rows = only_if("submission" not in has_units(context), context.table("documents", "origin"))
    return about_submission(rows.head(1).with_columns(units=pl.lit(context.schema.unit)))


def conclude_units(rows: pl.DataFrame, shown: frozenset[str], _: Allowed) -> pl.DataFrame:
    """The first of these documents, where only the reference has units."""
    return rows.head(int(shown == {"reference"}))


def may_have_other_texts(context: RuleContext) -> bool:
    """Whether the documents of a batch have not simply the texts of the reference."""
    if context.own or context.schema.table == "instances":
        return False
    ours, theirs = (side.documents["row", "text"] for side in (context.against, context.system))
    return not ours.equals(theirs)


def other_document(context: RuleContext) -> pl.LazyFrame:
    """A document whose text is not that of the reference, before the end of its last span."""
    known = context.against.documents.select("row", other="text")
    both = context.system.documents.select("row", "origin", "name", "text")
    both = both.join(known, on="row", maintain_order="left")
    both = both.drop_nulls(["text", "other"]).filter(pl.col("text") != pl.col("other"))
    sides = (context.against, context.system)
    spans = pl.concat(side.mentions.select("end", row="document") for side in sides)
    both = both.join(spans.group_by("row").max(), on="row", maintain_order="left")
    places = [_first_difference(*texts) for texts in both.select("text", "other").iter_rows()]
    both = both.with_columns(at=pl.Series(places, dtype=pl.Int64))
    start = (pl.col("at") - _BEFORE).clip(0)
    shown = [pl.col(name).str.slice(start, 2 * _BEFORE) for name in ("text", "other")]
    rows = both.filter(pl.col("at") < pl.col("end")).with_columns(shown)
    return about_file(rows.lazy().rename({"name": "document"}))


def _first_difference(one: str, two: str) -> int:
    """The first character in which two texts differ.

    Examples:
        >>> _first_difference("in Osh.", "in Osh .")
        6
    """
    low, high = 0, min(len(one), len(two))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == two[:middle] else (low, middle - 1)
    return low


# Spans beside the texts of their documents.


def _at_place(context: RuleContext) -> pl.Series:
    """Whether the text of each span is at its offsets."""
    documents, system = context.against.documents["row", "text"], context.system
    if system.documents["row", "text"].equals(documents):  # then readers may have compared them
        return system.cached(are_at_place)
    return are_quoted(documents, system.mentions)


def has_misfits(context: RuleContext) -> bool:
    """Whether a span of a batch may have another text than its document."""
    return not context.once(_at_place).all()


def may_be_outside(context: RuleContext) -> bool:
    """Whether a span of a batch may be empty, or beyond its document."""
    spans = context.system.mentions
    if spans["text"].has_nulls() or (spans["end"] <= spans["start"]).any():
        return True
    return has_misfits(context)


def _misfits(context: RuleContext) -> Misfits:
    """The spans whose text is not at their offsets, and the way to count that explains them."""
    spans = context.records("mentions", "start", "end", "text", "fragments").collect()
    return misfits(context.against.documents["row", "text"], spans, context.once(_at_place))


def other_unit(context: RuleContext) -> pl.LazyFrame:
    """A submission whose offsets fit if they are counted in another unit."""
    rows = context.once(_misfits)
    counting = rows.counting or Counting("", "")
    row = {"count": rows.explained, "all": rows.rows.height, "unit": counting.called}
    row["set"] = counting.setting
    wanted = rows.counting is not None and not counting.fix
    return about_submission(only_if(wanted, pl.LazyFrame([row])))


def other_counting(context: RuleContext) -> pl.LazyFrame:
    """A submission, or a file of it, whose offsets fit if they are moved alike."""
    moved = context.once(_misfits)
    counting, files = moved.counting or Counting("", ""), moved.rows["origin"].unique()
    row: dict[str, object] = {"count": moved.explained, "all": moved.rows.height}
    row |= {"origin": [*files, 0][0], "cause": counting.called, "hint": counting.fix}
    row["set"] = counting.setting
    rows = only_if(bool(counting.fix), pl.LazyFrame([row]))
    return about_file(rows) if len(files) == 1 else about_submission(rows)


def other_text(context: RuleContext) -> pl.LazyFrame:
    """A span whose text is not that of the document at its offsets."""
    found = context.once(_misfits)
    rows = found.rows.lazy().filter(pl.col("start") < pl.col("end"))
    shown = {name: pl.col(name).str.head(40) for name in ("text", "actual")}
    return at(only_if(found.counting is None, rows).with_columns(**shown), "text")


def has_other_tokens(context: RuleContext) -> bool:
    """Whether the tokens of a batch are not those of the reference."""
    ours, theirs = (side.tokens["document", "text"] for side in (context.system, context.against))
    return not (context.own or ours.equals(theirs))


def other_tokens(context: RuleContext) -> pl.LazyFrame:
    """The first token of a document that is not that of the reference, where both have tokens."""
    ours, theirs = context.system.tokens, context.against.tokens
    columns = ("document", "origin", "record", "text")
    words = ours.lazy().select(*columns, id=pl.lit(None, pl.String))
    others = theirs.lazy().select("document", wanted="text")
    at_place = {"place": pl.int_range(pl.len()).over("document")}
    key = ["document", "place"]
    both = words.with_columns(**at_place).join(
        others.with_columns(**at_place), on=key, how="left", maintain_order="left"
    )
    both = both.join(others.select("document").unique(), on="document", how="semi")
    wrong = both.filter(pl.col("text").ne_missing(pl.col("wanted"))).unique(
        "document", keep="first", maintain_order=True
    )
    beyond = pl.lit("the end of the document")
    wanted = pl.coalesce(pl.format("'{}'", pl.col("wanted").str.head(40)), beyond)
    found = wrong.with_columns(wanted=wanted, given=pl.col("text").str.head(40))
    return at(found, "text")


def outside_text(context: RuleContext) -> pl.LazyFrame:
    """A span that is empty, reversed, or ends after the end of its document.

    Where another way to count explains spans, such places follow from it.
    """
    texts = context.against.documents.lazy().drop_nulls("text")
    lengths = texts.select(document="row", length=pl.col("text").str.len_chars())
    spans = context.records("mentions", "start", "end").join(
        lengths, on="document", maintain_order="left"
    )
    wrong = (pl.col("end") > pl.col("length")) | (pl.col("end") <= pl.col("start"))
    rows = spans.filter(wrong).collect()
    explained = bool(rows.height) and context.once(_misfits).counting is not None
    return at(only_if(not explained, rows.lazy()), "fragments")


# Turns beside the evaluated stretches.


def outside_stretches(context: RuleContext) -> pl.LazyFrame:
    """A turn that no evaluated stretch of its document overlaps.

    What only the system has is reported as such; of what has no stretch at all, the first turn is.
    """
    schema: Allowed = context.schema
    evaluated = context.lists.get("evaluated")
    turns = context.table("instances", "row", "document", "origin", "record", "start", "end")
    turns = turns.join(context.names, on="document", maintain_order="left")
    turns = turns.with_columns(id=pl.lit(None, pl.String))
    if evaluated is None or schema.unit != "segments":
        return at(turns.head(0), "")
    names = evaluated.documents.select("name", document="row").lazy()
    parts = evaluated.regions.lazy().select("document", begin="start", finish="end")
    parts = parts.join(names, on="document").drop("document")
    inside = turns.join(parts, on="name").filter(
        pl.col("start") < pl.col("finish"), pl.col("begin") < pl.col("end")
    )
    if not context.own and context.against.documents.height:
        turns = turns.filter(pl.col("name").is_in(context.against.documents["name"].implode()))
    silent = ~pl.col("name").is_in(evaluated.documents["name"].implode())
    turns = turns.with_columns(
        hint=pl.when(silent)
        .then(pl.format("add {} to the UEM file, which has nothing of it", "name"))
        .otherwise(pl.lit("check the times, or remove the turn: it does not count"))
    ).filter(~silent | pl.col("name").is_first_distinct())
    return at(turns.join(inside, on="row", how="anti", maintain_order="left"), "start")


# Annotators.


def has_annotators(context: RuleContext) -> bool:
    """Whether any row names its annotator."""
    tables: list[pl.DataFrame] = [getattr(context.system, name) for name in WITH_ANNOTATORS]
    return any(table["annotator"].count() for table in tables)


def several_annotators(context: RuleContext) -> pl.LazyFrame:
    """A document that several annotators have annotated, at the first row of the second one.

    Rows without an annotator are those of another one.
    """
    place = ("document", "origin", "record", "annotator")
    tables = [context.table(name, *place) for name in WITH_ANNOTATORS]
    rows = pl.concat(tables).unique(["document", "annotator"], keep="first", maintain_order=True)
    name, known = pl.col("annotator").fill_null("nobody"), pl.col("annotator").drop_nulls().sort()
    chosen = pl.coalesce(known.filter(known.is_in(CURATED)).first(), known.first())
    several = rows.sort("document", "record", maintain_order=True).with_columns(
        count=pl.len().over("document"),
        ordinal=pl.int_range(pl.len()).over("document"),
        names=name.sort().head(_NAMED).str.join(", ").over("document"),
        choice=chosen.over("document"),
        id=pl.lit(None, pl.String),
    )
    return at(several.filter(pl.col("ordinal") == 1), "annotator")
