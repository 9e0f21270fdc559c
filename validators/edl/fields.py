"""Rules of EDL about the fields of mentions: EDL101, EDL301 to EDL318, EDL501 and EDL504 to EDL508.

All fields but the extent, which `extents` checks; documents and entities are also looked up in the
reference, in a list of documents (`--documents`) and in a knowledge base (`--kb`).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import polars as pl

from hlteval.converters.edl.edl_tab import SHOWN, blank, matches
from hlteval.converters.toolkit.rows import decimal
from hlteval.findings import Finding
from hlteval.findings.suggest import closest_files
from hlteval.grammars import pattern, vocabulary
from hlteval.representation import Corpus, first_case, row_hash
from hlteval.validators.names import unknown_names
from hlteval.validators.rule import (
    Conclusion,
    RuleContext,
    about_file,
    about_submission,
    at,
    first_of,
    only_if,
)

#: The names of fields, types and lists, and the conventions of offsets.
VOCABULARY = vocabulary("edl")
#: What a rule checks, and a condition with its hint.
Check = Callable[[RuleContext], pl.LazyFrame]
Case = tuple[pl.Expr, str | pl.Expr]
#: The columns of the extent of a mention.
EXTENT = ("document", "start", "end")
#: The options that name a list of documents and a knowledge base.
DOCUMENTS, KB = "documents", "kb"
#: A mention type; a language, with which the names of its documents begin by default.
NOMINAL, ENGLISH = "NOM", "ENG"


def mentions(context: RuleContext) -> pl.LazyFrame:
    """The mentions with the name of their document as `name`, and their confidence as `written`."""
    columns = ("mention", "label", "start", "end", "text", "entity", "mention_type", "annotator")
    rows = context.records("mentions", *columns, "confidence", "confidence_text")
    # Only the documents are joined: that of all columns would copy them.
    documents = context.system.mentions.select("document").lazy()
    named = documents.join(context.names, on="document", how="left", maintain_order="left")
    return rows.with_columns(
        named.collect(engine="in-memory")["name"],
        written=pl.coalesce("confidence_text", pl.col("confidence").cast(pl.String)),
    )


def quote(column: str, *, empty: str = "") -> pl.Expr:
    """A field as quoted in a message: a long one is cut, an empty one may be told in words."""
    text = pl.col(column)
    if empty:
        text = pl.when(blank(column)).then(pl.lit(empty)).otherwise(text)
    short = pl.format("{}…", text.str.slice(0, SHOWN))
    return pl.when(text.str.len_chars() > SHOWN).then(short).otherwise(text)


def no_mentions(context: RuleContext) -> pl.LazyFrame:
    """A submission without mentions, readable or not."""
    files = context.table("sources", "row").rename({"row": "origin"}).head(1)
    return about_file(only_if(not any(_records(context)), files))


def _records(context: RuleContext) -> Iterator[str]:
    """A word if there are mentions, readable or not."""
    if context.system.mentions.height + context.system.rejected_records.height:
        yield "mentions"


#: No batch has any.
nowhere = Conclusion(_records, lambda rows, shown, _: rows.head(0 if shown else 1))


def _nothing(_: RuleContext) -> Iterator[str]:
    """Show nothing of a reference."""
    return iter(())


def where(condition: pl.Expr, field: str, **values: pl.Expr) -> Check:
    """The rule about mentions that meet a condition, at a field, with values for its message."""

    def check(context: RuleContext) -> pl.LazyFrame:
        return at(context.cached(mentions).filter(condition).with_columns(**values), field)

    return check


no_run, no_mention_id = where(blank("annotator"), "run"), where(blank("mention"), "mention")
no_string, no_entity = where(blank("text"), "text"), where(blank("entity"), "entity")
no_confidence = where(blank("written"), "confidence")


def another_run(context: RuleContext) -> pl.LazyFrame:
    """A run that is not that of the first line, once for each run."""
    runs = first_of(context.cached(mentions).filter(~blank("annotator")), "annotator")
    return at(runs.with_columns(given=quote("annotator"), first=quote("annotator")), "run")


def conclude_runs(rows: pl.DataFrame, _shown: frozenset[str], _schema: Any) -> pl.DataFrame:
    """The first mention of each run but the first one."""
    runs = _once(rows, "annotator")
    return runs.with_columns(first=pl.col("first").first()).slice(1)


def _once(rows: pl.DataFrame, key: str) -> pl.DataFrame:
    """The first row of each key, with the sum of the counts of all."""
    counted = rows.with_columns(count=pl.col("count").sum().over(key))
    return counted.unique(key, keep="first", maintain_order=True)


one_run = Conclusion(_nothing, conclude_runs, ("annotator",))


def repeated_mention_id(context: RuleContext) -> pl.LazyFrame:
    """A mention with the identifier, but not the extent, of an earlier one."""
    rows = context.cached(mentions).filter(~blank("mention"))
    alike = rows.filter(row_hash("mention").is_duplicated())
    # another rule reports two mentions of the same extent
    fresh = alike.filter(pl.struct("mention", *EXTENT).is_first_distinct())
    first = pl.col("record").first().over("mention")
    found = fresh.with_columns(first=first, given=quote("mention"))
    return at(found.filter(~pl.col("mention").is_first_distinct()), "mention")


def mention_ids(context: RuleContext) -> pl.DataFrame:
    """The identifiers of mentions, each with the line of its first mention."""
    rows = context.table("mentions", "mention", "record").filter(~blank("mention"))
    ids = rows.select(row_hash("mention").alias("key"), value=pl.col("record").cast(pl.UInt32))
    return ids.unique("key", keep="first", maintain_order=True).collect(engine="in-memory")


def _write(column: str, form: str, *, names: Mapping[str, str] | None = None) -> Case:
    """The hint to write a field in capitals without spaces, where that has a form."""
    meant = pl.col(column).fill_null("").str.strip_chars().str.to_uppercase()
    meant = meant.replace(names or {})
    return meant.str.contains(f"^(?:{form})$"), pl.format("write {}", meant)


#: An entity that is neither a number nor NIL and digits.
entity_form = where(
    ~blank("entity") & ~matches("entity", "entity"),
    "entity",
    given=quote("entity"),
    hint=first_case(
        _write("entity", "(?:NIL)?[0-9]+"),
        (
            pl.col("entity").str.strip_chars().str.to_uppercase().str.starts_with("NIL"),
            "write NIL and digits only, the same for all mentions of the entity",
        ),
        (
            pl.col("entity").str.contains(r"^/?m[./]"),
            "use a number of the knowledge base; this looks like a Freebase identifier",
        ),
        otherwise="write a number of the knowledge base, or NIL and digits",
    ),
)

#: An entity type that is none of the four.
entity_type = where(
    ~matches("label", "type"),
    "type",
    given=quote("label", empty="(empty)"),
    hint=first_case(
        _write("label", pattern("edl", "type"), names=VOCABULARY["types"]),
        (
            pl.col("label").str.strip_chars().str.to_uppercase() == "FAC",
            "write LOC; facilities are locations in this task",
        ),
        otherwise="use GPE, LOC, ORG or PER",
    ),
)

#: A mention type that is neither NAM nor NOM.
mention_type = where(
    ~matches("mention_type", "mention_type").fill_null(value=False),
    "mention type",
    given=quote("mention_type", empty="(empty)"),
    hint=first_case(
        _write("mention_type", pattern("edl", "mention_type")),
        otherwise="write NAM for a name, or NOM for a nominal",
    ),
)


#: An entity without zeros before its number.
_PLAIN = pl.col("entity").str.replace("^(NIL)?0+([0-9])", "${1}${2}")


def _forms(context: RuleContext) -> pl.LazyFrame:
    """Each entity with a number, and how it is without zeros before that."""
    rows = context.cached(mentions).select("entity").unique(maintain_order=True)
    return rows.filter(matches("entity", "entity")).with_columns(plain=_PLAIN)


def padded_entity(context: RuleContext) -> pl.LazyFrame:
    """An entity that differs from another one only by zeros before its number."""
    forms = context.cached(_forms).filter(pl.len().over("plain") > 1)
    padded = forms.filter(pl.col("entity") != pl.col("plain"))
    others = forms.select("plain", other="entity")
    pairs = padded.join(others, on="plain", maintain_order="left")
    pairs = pairs.filter(pl.col("entity") != pl.col("other")).unique("entity", maintain_order=True)
    rows = context.cached(mentions).join(pairs, on="entity", maintain_order="left")
    found = first_of(rows, "entity")
    return at(found.with_columns(given=quote("entity"), other=quote("other")), "entity")


def plain_entities(context: RuleContext) -> pl.DataFrame:
    """The entities with a number, by this without zeros before it."""
    keys = (row_hash(name).alias(key) for key, name in (("key", "plain"), ("value", "entity")))
    return context.cached(_forms).select(keys).collect(engine="in-memory")


def nil_types(context: RuleContext) -> pl.LazyFrame:
    """An entity without an entry that has mentions of several types, at the first of a second."""
    nil = pl.col("entity").str.starts_with("NIL")
    rows = context.cached(mentions).filter(nil, matches("entity", "entity") & ~blank("label"))
    kinds = first_of(rows, "entity", "label")
    kinds = kinds.with_columns(given=quote("entity"), other=quote("label"), type="label")
    return at(kinds, "type")


def conclude_types(rows: pl.DataFrame, _shown: frozenset[str], _schema: Any) -> pl.DataFrame:
    """The first mention of each entity whose type is not that of its first mention."""
    count, first = (pl.col("count").sum(), pl.col("label").first())
    rows = rows.with_columns(count=count.over("entity"), type=first.over("entity"))
    others = rows.filter(pl.col("label") != pl.col("type"))
    return others.unique("entity", keep="first", maintain_order=True)


one_type = Conclusion(_nothing, conclude_types, ("entity", "label"))


def alternatives(context: RuleContext) -> pl.LazyFrame:
    """A mention with several entities, which only a reference may have."""
    links = context.table("links", "mention_row", "entity").rename({"mention_row": "row"})
    others = links.group_by("row").agg(others=pl.col("entity").drop_nulls())
    rows = context.cached(mentions).join(others, on="row", maintain_order="left")
    every = pl.concat_list("entity", "others")
    joined = rows.with_columns(every=every.list.join("|"), count=every.list.len())
    return at(joined.with_columns(given=quote("every")), "entity")


def only_in_references(corpus: Corpus) -> str:
    """Why a corpus can only be a reference; empty if it may be a submission."""
    return "" if corpus.links.is_empty() else "the submission has mentions with several entities"


def nominal(context: RuleContext) -> pl.LazyFrame:
    """A nominal mention in an English document."""
    known = context.against.documents.lazy().select("name", "language")
    rows = context.cached(mentions).filter(pl.col("mention_type") == NOMINAL)
    named = rows.join(known, on="name", how="left", maintain_order="left")
    language = pl.col("language").fill_null(pl.col("name").str.slice(0, len(ENGLISH)))
    found = named.filter(language.str.to_uppercase() == ENGLISH)
    return at(found.with_columns(document=quote("name")), "mention type")


_CONFIDENCE = pl.col("confidence")
_IN_RANGE = (_CONFIDENCE > 0) & (_CONFIDENCE <= 1)

#: A confidence that is not a number.
no_number = where(
    ~blank("written") & _CONFIDENCE.is_null(),
    "confidence",
    given=quote("written"),
    hint=first_case(
        (pl.col("written").str.contains("^[01],[0-9]+$"), ", with a decimal point"), otherwise=""
    ),
)
#: A confidence that is not above 0 and at most 1.
out_of_range = where(~_IN_RANGE, "confidence", given=quote("written"))
#: A confidence in its range that is not written as a decimal number with a point.
confidence_form = where(
    _IN_RANGE & pl.col("confidence_text").is_not_null() & ~matches("confidence_text", "confidence"),
    "confidence",
    given=quote("written"),
    fix=_CONFIDENCE.map_elements(decimal, return_dtype=pl.String),
)


def unknown_document(context: RuleContext) -> pl.LazyFrame:
    """A document that the reference does not have, once for each document."""
    known = context.against.documents.lazy().select("name")
    names = context.names.join(known, on="name", how="anti")
    rows = only_if(not context.own, context.cached(mentions))
    strange = rows.join(names, on="document", how="semi", maintain_order="left")
    strange = strange.filter(matches("name", "document"))  # the reader reports others
    found = first_of(strange, "name").with_columns(document=quote("name"), hint=pl.lit(""))
    return at(found, "document")


def reference_documents(context: RuleContext) -> Iterator[str]:
    """The names of the documents of a reference."""
    return iter(() if context.own else context.against.documents["name"])


def conclude_unknown(rows: pl.DataFrame, shown: frozenset[str], _schema: Any) -> pl.DataFrame:
    """The first mention of each unknown document, with the known one that is meant."""
    found = _once(rows, "name")
    meant = closest_files(found["name"].to_list(), sorted(shown))
    hints = {name: f"did you mean {other}?" for name, other in meant.items()}
    remove = "remove these mentions; they count as false positives"
    hint = pl.col("name").replace_strict(hints, default=remove, return_dtype=pl.String)
    return found.with_columns(hint=hint)


among_known = Conclusion(reference_documents, conclude_unknown, ("name",))


def _list_summary(context: RuleContext) -> pl.LazyFrame:
    """The mentions beside the list of documents, in one row; nothing if there is no list."""
    there = DOCUMENTS in context.lists
    corpus = context.lists.get(DOCUMENTS, context.system)
    names = only_if(there, corpus.documents.lazy().select("name", listed=pl.lit(value=True)))
    rows = only_if(there, context.cached(mentions))
    rows = rows.group_by("name", maintain_order=True).agg(mentions=pl.len())
    placed = rows.join(names, on="name", how="left", maintain_order="left")
    silent = names.join(rows, on="name", how="anti", maintain_order="left")
    own, listed = pl.col("mentions").is_not_null(), pl.col("listed").fill_null(value=False)
    documents = pl.concat([placed, silent], how="diagonal")
    name, outside, silent_ones = pl.col("name"), own & ~listed, listed & ~own
    return documents.select(
        first=name.filter(own).first(),
        inside=(own & listed).any(),
        count=pl.col("mentions").filter(outside).sum(),
        documents=outside.sum(),
        outside=name.filter(outside).first(),
        silent=silent_ones.sum(),
        first_silent=name.filter(silent_ones).first(),
        listed=listed.sum(),
    )


def outside_list(context: RuleContext) -> pl.LazyFrame:
    """Documents with mentions that are not listed, if others are."""
    found = context.cached(_list_summary).filter(pl.col("documents") > 0, "inside")
    return about_submission(found.select("count", "documents", document="outside"))


def nothing_listed(context: RuleContext) -> pl.LazyFrame:
    """No document with mentions is listed."""
    found = context.cached(_list_summary).filter(pl.col("first").is_not_null(), ~pl.col("inside"))
    example = pl.col("first_silent").fill_null("nothing")
    return about_submission(found.select("listed", document="first", example=example))


def silent_documents(context: RuleContext) -> pl.LazyFrame:
    """Listed documents without mentions, if others have some."""
    found = context.cached(_list_summary).filter(pl.col("silent") > 0, "inside")
    return about_submission(found.select("listed", count="silent", document="first_silent"))


def excluded_documents(
    context: RuleContext, options: Mapping[str, str], values: Mapping[str, Any]
) -> Iterator[Finding]:
    """The documents of --exclude that neither side, nor the list of --documents, has."""
    if "exclude" in values:
        corpora = (context.system, context.against, *context.lists.values())
        known = {name for corpus in corpora for name in corpus.documents["name"]}
        names = values["exclude"]["docid"]
        yield from unknown_names("exclude", "document", names, known, options["exclude"])


def _links(context: RuleContext) -> pl.LazyFrame:
    """The mentions with a link to the knowledge base, if there is one."""
    rows = only_if(KB in context.lists, context.cached(mentions))
    return rows.filter(pl.col("entity").str.contains("^[0-9]+$"))


def _entities(context: RuleContext) -> pl.LazyFrame:
    """The knowledge base; an empty one if there is none."""
    base = context.lists.get(KB, context.against).entities.lazy().select("entity", "source")
    return only_if(KB in context.lists, base)


def not_in_kb(context: RuleContext) -> pl.LazyFrame:
    """An entity that the knowledge base does not have, once for each entity."""
    known = _entities(context)
    strange = _links(context).join(known, on="entity", how="anti", maintain_order="left")
    return at(first_of(strange, "entity").with_columns(given=quote("entity")), "entity")


def implausible_link(context: RuleContext) -> pl.LazyFrame:
    """A mention whose type its entity cannot have, once for each pair of them."""
    lists = [{"source": name, **source} for name, source in VOCABULARY["sources"].items()]
    source = pl.col("source").str.strip_chars().str.to_uppercase()
    entities = _entities(context).with_columns(source)
    entities = entities.join(pl.LazyFrame(lists), on="source", maintain_order="left")
    types = pl.col("types").explode()
    known = entities.group_by("entity", maintain_order=True).agg(pl.col("kind").first(), types)
    pairs = _links(context).unique(("entity", "label"), keep="first", maintain_order=True)
    typed = pairs.filter(pl.col("label").is_in(["GPE", "LOC", "ORG", "PER"]))
    joined = typed.join(known.rename({"kind": "source"}), on="entity", maintain_order="left")
    wrong = joined.filter(~pl.col("types").list.contains(pl.col("label")))
    return at(wrong.with_columns(given=quote("entity"), type="label"), "entity")
