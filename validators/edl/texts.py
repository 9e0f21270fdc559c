"""Rules of EDL that compare mentions with the texts of their documents (EDL502, EDL503, EDL509)."""

from __future__ import annotations

import polars as pl

from hlteval.validators.edl.mention_texts import (
    CONVENTIONS,
    MOVED,
    compared,
    convention,
    explains_all,
    nearest,
)
from hlteval.validators.edl.tables import mentions, shown
from hlteval.validators.rule import RuleContext, about_submission, at, only_if


def _compared(context: RuleContext) -> pl.LazyFrame:
    """The mentions in documents with a text, and whether they fit that."""
    documents = context.against.documents
    rows = only_if(not context.own, context.cached(mentions))
    # another rule reports what ends before it starts
    proper = rows.filter(pl.col("start") < pl.col("end"))
    return compared(proper.collect(), documents).lazy()


def _misfits(context: RuleContext) -> pl.LazyFrame:
    """The mentions that do not fit, except those that another way to count explains."""
    rows = context.cached(_compared).collect()
    explained = convention(rows, context.against.documents)
    return (explained[1] if explained else rows.filter(~pl.col("fits"))).lazy()


def outside_text(context: RuleContext) -> pl.LazyFrame:
    """A mention that ends after the end of its document."""
    found = context.cached(_misfits).filter(pl.col("end") > pl.col("length")).collect()
    hinted = found.with_columns(
        nearest(found, context.against.documents),
        document=shown("name"),
        last=pl.col("end") - 1,
        largest=pl.col("length") - 1,
    )
    return at(hinted.lazy(), "offsets")


def other_text(context: RuleContext) -> pl.LazyFrame:
    """A mention whose string differs from the text at its offsets."""
    some = pl.col("given").str.strip_chars() != ""  # another rule reports a missing string
    found = context.cached(_misfits).filter(some, pl.col("end") <= pl.col("length")).collect()
    same = pl.col("given").str.to_lowercase() == pl.col("found").str.to_lowercase()
    copied = pl.when(same).then(pl.lit("copy the mention string from the text, with its capitals"))
    marks = pl.lit("remove the quotation marks around the mention string")
    unquoted = pl.col("given").str.extract('^"(.*)"$').str.replace_all('""', '"', literal=True)
    hints = copied.when(unquoted == pl.col("found")).then(marks)
    hinted = found.with_columns(nearest(found, context.against.documents)).with_columns(
        hint=hints.otherwise("hint"), given=shown("given"), found=shown("found")
    )
    return at(hinted.lazy(), "offsets")


def other_convention(context: RuleContext) -> pl.LazyFrame:
    """A submission whose offsets fit if they are counted in another way."""
    rows = context.cached(_compared).collect()
    name, rest = convention(rows, context.against.documents) or ("", rows)
    how, hint = CONVENTIONS.get(name, ("", ""))
    if name in MOVED and right_offsets(context).height:
        hint = f"{hint}; --fix --unsafe-fixes does so"
    misfits = rows.filter(~pl.col("fits")).height
    summary = {"count": misfits - rest.height, "all": misfits, "how": how, "hint": hint}
    return about_submission(only_if(name != "", pl.LazyFrame([summary])))


_NONE = pl.DataFrame(
    schema={"origin": pl.Int64, "record": pl.Int64, "field": pl.String, "put": pl.String}
)
#: The format in which both offsets are one field.
_FORMAT = "edl-tab"


def right_offsets(context: RuleContext) -> pl.DataFrame:
    """What replaces offsets counted in another way: `origin`, `record` and `field` with `put`.

    There are no rows unless the correction is certain: the text of every mention is known, and
    every mention fits afterwards. Lines that cannot be read would stay as they are.
    """
    rows, documents = context.cached(_compared).collect(), context.against.documents
    name, _ = convention(rows, documents) or ("", rows)
    system = context.system
    other = system.rejected_records.height or rows.height < system.mentions.height
    if name not in MOVED or other or (system.sources["format"] != _FORMAT).any():
        return _NONE
    if not explains_all(name, rows, documents):
        return _NONE
    start, end = MOVED[name]
    put = pl.format("{}-{}", pl.col("start") - start, pl.col("end") - 1 - end)
    return rows.with_columns(put=put, field=pl.lit("offsets")).select(_NONE.columns)
