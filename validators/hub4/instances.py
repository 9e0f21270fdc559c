"""Rules of HUB-4 about instances and their sets (HUB20x, HUB225, HUB301)."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from hlteval.findings.suggest import closest_files
from hlteval.validators.hub4.tables import frames, known, pointers, unknown_sets
from hlteval.validators.rule import RuleContext, about_file, at, first_of, only_if


def no_instance(context: RuleContext) -> pl.LazyFrame:
    """A file without instances."""
    empty = context.system.frames.is_empty() and context.system.rejected_records.is_empty()
    return about_file(only_if(empty, context.table("sources", "row").rename({"row": "origin"})))


def duplicate_instance(context: RuleContext) -> pl.LazyFrame:
    """An instance with the pointer of an earlier one."""
    rows = frames(context).filter(pl.col("frame").is_duplicated())
    first = pl.col("record").first().over("frame")
    return rows.with_columns(first=first).filter(pl.col("record") != first)


def no_top(context: RuleContext) -> pl.LazyFrame:
    """A set without the instance that ties it together."""
    rows = frames(context).join(
        unknown_sets(context), on="document", how="anti", maintain_order="left"
    )
    rows = rows.with_columns(top=(pl.col("label") == context.schema.top).any().over("name"))
    first = rows.filter(~pl.col("top")).unique("name", keep="first", maintain_order=True)
    return first.with_columns(top=pl.lit(context.schema.top))


def several_tops(context: RuleContext) -> pl.LazyFrame:
    """A second instance that ties a set together."""
    tops = frames(context).filter(pl.col("label") == context.schema.top)
    distinct = tops.unique("frame", keep="first", maintain_order=True)
    first = pl.col("record").first().over("name")
    return distinct.with_columns(first=first, top="label").filter(pl.col("record") != first)


def scattered_set(context: RuleContext) -> pl.LazyFrame:
    """A set that goes on after another."""
    rows = frames(context)
    begins = pl.col("document") != pl.col("document").shift()
    stretches = rows.filter(begins.fill_null(value=True))
    return stretches.filter(~pl.col("document").is_first_distinct())


def unreferred(context: RuleContext) -> pl.LazyFrame:
    """An instance that no pointer leads to, in a set whose top instance can be read."""
    targets = pointers(context).select(frame="target")
    others = frames(context).filter(pl.col("label") != context.schema.top)
    tops = frames(context).filter(pl.col("label") == context.schema.top).select("document")
    alone = others.join(targets, on="frame", how="anti", maintain_order="left")
    once = alone.unique("frame", keep="first", maintain_order=True)
    slot = context.schema.pointers[0] if context.schema.pointers else ""
    return once.join(tops, on="document", how="semi", maintain_order="left").with_columns(
        slot=pl.lit(slot)
    )


def unknown_document(context: RuleContext) -> pl.LazyFrame:
    """An instance set of a document that is not in the corpus, once for each document."""
    names = known(context).select("name").collect()["name"].to_list()
    sets = context.records("frames").join(context.names, on="document", maintain_order="left")
    strange = sets.join(unknown_sets(context), on="document", how="semi", maintain_order="left")
    found = first_of(strange, "name").collect()
    hints = dict(_hints(found.select("name", "id").rows(), names))
    hint = pl.col("name").replace_strict(hints, default="", return_dtype=pl.String)
    return at(found.lazy(), "pointer").with_columns(hint=hint)


def _hints(strange: list[tuple[str, str]], known: list[str]) -> Iterator[tuple[str, str]]:
    """The document that may be meant: another division of the pointer, or a similar name."""
    names = set(known)
    similar = closest_files([name for name, _ in strange], known, distance=2)
    for name, pointer in strange:
        tails = (name[at + 1 :] for at, character in enumerate(name) if character == "-")
        other = next((tail for tail in tails if tail in names), None)
        if other is not None:
            label = pointer[: -len(pointer.partition(f"-{other}-")[2]) - len(other) - 2]
            hint = f"use --types {label} if the type is {label} and the document {other}"
        elif name in similar:
            hint = f"did you mean {similar[name]}?"
        else:
            hint = "write the identifier as in the corpus"
        yield name, hint
