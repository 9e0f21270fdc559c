"""Rules of declared tasks about labels, and about the arguments of relations and events."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from math import inf

import numpy as np
import polars as pl

from hlteval.findings.suggest import closest, did_you_mean, hints
from hlteval.representation import Corpus, to_number
from hlteval.validators.generic.schema import Allowed
from hlteval.validators.rule import (
    IDENTIFIERS,
    RECORD,
    RuleContext,
    about_submission,
    at,
    first_of,
    only_if,
)
from hlteval.validators.vocabulary import one_too_many, with_hints

#: The most labels that a hint lists.
_SHOWN = 12


def records(context: RuleContext, *columns: str) -> pl.LazyFrame:
    """The records of the units of a task, with some of their columns."""
    schema: Allowed = context.schema
    if schema.table in IDENTIFIERS:
        return context.records(schema.table, *columns)
    rows = context.table(schema.table, *RECORD, *columns)
    return rows.with_columns(id=pl.lit(None, pl.String))


def present_labels(context: RuleContext) -> list[str]:
    """The labels of the units of a submission, in order."""
    own = records(context, "label").drop_nulls("label").select("label").unique().collect()
    return sorted(own["label"].to_list())


def _by_case(present: Sequence[str], schema: Allowed) -> Mapping[str, str]:
    """The declared label of each label, where none is declared but for its letter case."""
    known = {label.casefold(): label for label in schema.labels}
    meant = {label: known.get(label.casefold(), "") for label in present}
    whole = all(meant.values()) and [*present] == schema.wrong_labels([*present])
    return meant if whole else {}


def are_declared(context: RuleContext) -> bool:
    """Whether labels are declared."""
    return bool(context.schema.labels)


def are_numbers(context: RuleContext) -> bool:
    """Whether labels are numbers."""
    return bool(context.schema.kind == "numbers")


def labels_of_batch(context: RuleContext) -> list[str]:
    """The labels of a batch, where some are declared."""
    return context.once(present_labels) if context.schema.labels else []


def other_case(context: RuleContext) -> pl.LazyFrame:
    """A batch whose labels are all those of the task in other letter case."""
    meant = _by_case(labels_of_batch(context), context.schema)
    row = dict.fromkeys(("given", "meant", "pairs"), "")
    return about_submission(only_if(bool(meant), pl.LazyFrame([row])))


def conclude_case(rows: pl.DataFrame, shown: frozenset[str], schema: Allowed) -> pl.DataFrame:
    """The finding about a submission of several labels, all in other letter case.

    Args:
        rows: a row of each batch of such labels.
        shown: the labels of all batches.
        schema: that of the task.
    """
    meant = _by_case(sorted(shown), schema)
    pairs = ", ".join(f'"{label}" = "{own}"' for label, own in meant.items())
    given, own = next(iter(meant.items()), ("", ""))
    first = rows.head(1 if len(meant) > 1 else 0)
    return first.with_columns(given=pl.lit(given), meant=pl.lit(own), pairs=pl.lit(pairs))


def unknown_label(context: RuleContext, *, severity: str) -> pl.LazyFrame:
    """A unit whose label is not declared.

    Args:
        context: the submission.
        severity: how the task reports such labels.
    """
    schema: Allowed = context.schema
    own = schema.undeclared == severity
    present = labels_of_batch(context) if own else []
    meant = hints_of(schema.wrong_labels(present), schema.labels) if own else {}
    rows = records(context, "label").drop_nulls("label")
    return with_hints(only_if(bool(meant), rows), meant)


def conclude_unknown(rows: pl.DataFrame, shown: frozenset[str], schema: Allowed) -> pl.DataFrame:
    """The units whose label is not declared, unless one finding is about the letter case of all."""
    return rows.head(0) if len(_by_case(sorted(shown), schema)) > 1 else rows


def strange_label(context: RuleContext) -> pl.LazyFrame:
    """The first unit of each label, which may be one that the reference lacks."""
    schema: Allowed = context.schema
    own = not (context.own or schema.labels) and schema.unit in _LABELLED
    own = own and schema.kind == "names"
    rows = only_if(own, records(context, "label").drop_nulls("label"))
    return first_of(at(rows.with_columns(hint=pl.lit(None, pl.String)), "label"), "label")


def labels_of_reference(context: RuleContext) -> list[str]:
    """The labels of the reference of a batch."""
    rows: pl.DataFrame = getattr(context.against, context.schema.table)
    return rows["label"].drop_nulls().unique().to_list()


def conclude_strange(rows: pl.DataFrame, shown: frozenset[str], schema: Allowed) -> pl.DataFrame:
    """The first unit of each label that the reference lacks, but that looks like one of its own.

    Where both sides have no label in common, that is any label; so it is of labels of documents.

    Args:
        rows: the first unit of each label in each batch, with their `count`.
        shown: the labels of the reference.
        schema: that of the task.
    """
    known, present = sorted(shown), rows["label"].unique()
    others = sorted({*present} - shown) if known else []
    # so many are texts or identifiers, each of which is compared with none
    some = others if len(others) * len(known) <= _MOST else []
    apart = len(others) == len(present) or schema.unit == "labels"
    # a label may be written in full, or shortened: Organisation and Org, but not Org_unit
    near = {label: closest(label, known, cutoff=_NEAR) or label for label in some}
    near |= {o: k for o in some for k in known if _SAME(f"{o}\n{k}") and near[o] == o}
    other_words = {label for label in some if _words(label) != _words(near[label])}
    alike = {
        label: did_you_mean(label, known if some else ())
        for label in others
        if apart or label in other_words
    }
    listed = f"the reference has {', '.join(known[:_SHOWN])}"
    meant = {label: hint or listed for label, hint in alike.items()}
    counts = rows.with_columns(pl.col("count").sum().over("label"))
    first = counts.unique("label", keep="first", maintain_order=True)
    hint = pl.col("label").replace_strict(meant, default=None, return_dtype=pl.String)
    return first.filter(pl.col("label").is_in([*meant])).with_columns(hint=hint)


#: The units whose labels are compared by default.
_LABELLED = frozenset({"mentions", "relations", "events", "labels"})


#: Two labels in two lines, of which one is the beginning of the other and goes on with a letter.
_SAME = re.compile(r"(?i)(\w{3,40})(?:[^\W\d_].*\n\1|\n\1[^\W\d_].*)").fullmatch
#: Most pairs of labels that are compared.
_MOST = 1_000_000
#: Least similarity of a label that looks like a mistake, in percent.
_NEAR = 85.0
#: A label without its digits: others of its kind have other digits.
_words = partial(re.sub, "[0-9]+", "")


def hints_of(wrong: Sequence[str], known: Sequence[str]) -> Mapping[str, str]:
    """The help about each unknown label."""
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    return hints(wrong, known, f"use {', '.join(known[:_SHOWN])}{more}")


def too_many(context: RuleContext) -> pl.LazyFrame:
    """The first unit of a label that is one too many for its document."""
    rows, most = context.records("frames", "label"), context.schema.at_most
    return at(one_too_many(rows, ["document", "label"], most), "label")


def has_several_units(context: RuleContext) -> bool:
    """Whether a document of a batch may have several units."""
    rows: pl.DataFrame = getattr(context.system, context.schema.table)
    return int(np.bincount(rows["document"].to_numpy()).max(initial=0)) > 1


def several_labels(context: RuleContext) -> pl.LazyFrame:
    """The second label of a document, where each document of the reference has one."""
    schema: Allowed = context.schema
    key = ["document", "label"]
    wanted = schema.unit == "labels" and not (context.own or schema.several)
    known = context.against.instances.select(key).drop_nulls() if wanted else pl.DataFrame()
    single = bool(known.height) and known["document"].n_unique() == known.height
    if known.height and not single:  # a label may be repeated
        single = known.group_by("document").agg(pl.col("label").n_unique())["label"].max() == 1
    rows = context.table("instances", *RECORD, "label", "llr").drop_nulls("label")
    rows = rows.with_columns(id=pl.lit(None, pl.String))
    rows = only_if(single, rows).filter(pl.col("llr").is_null())
    rows = rows.filter(pl.col("document").is_duplicated()).unique(
        key, keep="first", maintain_order=True
    )
    count = {"count": pl.len().over("document"), "ordinal": pl.int_range(pl.len()).over("document")}
    return at(rows.with_columns(**count).filter(pl.col("ordinal") == 1), "label")


def kinds_of_batch(context: RuleContext) -> list[str]:
    """The kinds of instances of a batch, where only labels are scored."""
    own = context.schema.unit == "labels"
    return context.system.instances["kind"].unique().to_list() if own else []


def other_kind(context: RuleContext) -> pl.LazyFrame:
    """An instance of a batch that has no labels of documents, but instances of other kinds."""
    rows = only_if(context.schema.unit == "labels", context.table("instances", *RECORD, "kind"))
    rows = rows.filter((pl.col("kind") != "label").all())
    return at(rows.with_columns(id=pl.lit(None, pl.String)), "kind").head(1)


def conclude_kinds(rows: pl.DataFrame, shown: frozenset[str], _: Allowed) -> pl.DataFrame:
    """The first of these instances, where no batch has a label."""
    return rows.head(0 if "label" in shown else 1)


# Labels that are numbers.


def _numbers(context: RuleContext, corpus: Corpus) -> pl.LazyFrame:
    """The labels of documents that are not left out, with the `number` that they count as."""
    schema: Allowed = context.schema
    counted = pl.col("label").replace(dict(schema.map))
    rows = corpus.instances.lazy().filter(kind="label").drop_nulls("label")
    rows = rows.filter(~counted.is_in(schema.ignored))
    rows = only_if(schema.kind == "numbers", rows).select(*RECORD, "label")
    return rows.with_columns(number=to_number(counted), id=pl.lit(None, pl.String))


def no_number(context: RuleContext) -> pl.LazyFrame:
    """A label that is not a number, where labels are numbers."""
    rows = _numbers(context, context.system).filter(pl.col("number").is_null())
    with_comma = pl.col("label").str.contains(r"^\s*[+-]?\d*,\d+\s*$")
    hint = pl.when(with_comma).then(pl.lit("write a decimal point"))
    return at(
        rows.with_columns(hint=hint.otherwise(pl.lit("write a number, such as 3.5"))), "label"
    )


def outside_range(context: RuleContext) -> pl.LazyFrame:
    """A number outside the declared range."""
    schema: Allowed = context.schema
    least, most = schema.range or (-inf, inf)
    rows = _numbers(context, context.system).filter(~pl.col("number").is_between(least, most))
    limits = (f"{limit:g}" for limit in (least, most))
    least_text, most_text = map(pl.lit, limits)
    return at(rows.with_columns(least=least_text, most=most_text), "label")


def missing_number(context: RuleContext) -> pl.LazyFrame:
    """A document whose label in the reference is a number, and that the system has no label of."""
    wanted = _numbers(context, Corpus() if context.own else context.against)
    rows = wanted.drop_nulls("number").unique("document", keep="first", maintain_order=True)
    labelled = _numbers(context, context.system).select("document")
    names = context.against.documents.lazy().select(document="row", name="name")
    rows = rows.join(labelled, on="document", how="anti", maintain_order="left")
    named = rows.join(names, on="document", maintain_order="left").drop("document")
    return about_submission(named.rename({"name": "document"}))
