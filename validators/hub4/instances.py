"""Rules of HUB-4 about instances and their sets (HUB20x, HUB225 to HUB229, HUB301, HUB306)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import polars as pl

from hlteval.findings.counts import first_names
from hlteval.findings.suggest import closest, closest_files
from hlteval.validators.hub4.tables import (
    corpus_option,
    frames,
    known,
    pointers,
    undefined,
    unknown_names,
    unknown_sets,
    unreferred,
)
from hlteval.validators.names import mismatch
from hlteval.validators.rule import RuleContext, about_file, at, first_of, only_if

# Rules of HUB-4 about pointers (HUB206 to HUB208).


#: Pointers to nothing for which a similar instance is searched.
_HINTED = 1000

_EXACT = "point to an instance of this file, spelled exactly as in its header"


def dangling_pointer(context: RuleContext) -> pl.LazyFrame:
    """A pointer to a missing instance, with the one that is meant if that is clear."""
    meant = pl.col("meant")
    similar = pl.format("did you mean <{}>?", meant)
    hint = pl.when(meant.is_null()).then(pl.lit(_EXACT)).otherwise(similar)
    return context.cached(_dangling).with_columns(hint=hint)


def meant_instances(context: RuleContext) -> pl.LazyFrame:
    """The instances, as `frame`, that pointers to missing ones likely mean."""
    return context.cached(_dangling).select(frame="meant").drop_nulls()


def _dangling(context: RuleContext) -> pl.LazyFrame:
    """The pointers to missing instances, with the similar one that no pointer leads to, `meant`.

    Each instance is meant by one pointer at most.
    """
    found = _to_nothing(context).collect()
    alone: dict[int, list[str]] = {}
    if found.height:
        for document, frame in unreferred(context).select("document", "frame").collect().rows():
            alone.setdefault(document, []).append(frame)
    meant: list[str | None] = []
    for document, target in found.head(_HINTED).select("document", "target").rows():
        left = alone.get(document, [])
        similar = closest(target, left) if left else None
        meant.append(similar)
        if similar is not None:
            left.remove(similar)
    meant += [None] * (found.height - len(meant))
    return found.lazy().with_columns(pl.Series("meant", meant, pl.String))


def _to_nothing(context: RuleContext) -> pl.LazyFrame:
    """The pointers to missing instances, but not to those whose header may be unreadable."""
    unread = context.system.rejected_records.filter(pl.col("code") == "HUB102")
    types = unread["text"].str.extract("^<? *([A-Za-z0-9_]+)", 1).drop_nulls().to_list()
    kind = pl.col("target").str.extract("^([A-Za-z0-9_]+)", 1)
    found = pointers(context).filter(pl.col("leads_to").is_null() & ~kind.is_in(types))
    headers = undefined(context).select("target")
    found = found.join(headers, on="target", how="anti", maintain_order="left")
    return found.filter(~_of_unknown_document(context))


def _of_unknown_document(context: RuleContext) -> pl.Expr:
    """Whether only the case of the document tells a pointer from one that is not in the corpus."""
    names = [name.casefold() for name in unknown_names(context)]
    document = pl.col("target").str.to_lowercase().str.extract("^[^-]+-(.*)-[0-9]+$", 1)
    return document.is_in(names).fill_null(value=False)


def pointer_elsewhere(context: RuleContext) -> pl.LazyFrame:
    """A pointer into the set of another document."""
    strange = unknown_sets(context).select(leads_to="document")
    elsewhere = pointers(context).filter(pl.col("leads_to") != pl.col("document"))
    elsewhere = elsewhere.join(strange, on="leads_to", how="anti", maintain_order="left")
    own = strange.rename({"leads_to": "document"})
    return elsewhere.join(own, on="document", how="anti", maintain_order="left")


def pointer_twice(context: RuleContext) -> pl.LazyFrame:
    """A pointer that is twice in one alternative."""
    key = ["frame_row", "slot_number", "alternative", "target"]
    headers = undefined(context).select("record")
    rows = pointers(context).join(headers, on="record", how="anti", maintain_order="left")
    again = rows.filter(pl.struct(key).is_duplicated())
    first = pl.col("record").first().over(key)
    return again.with_columns(first=first).filter(pl.col("record") != first)


#: Letters of a name of which two may be wrong.
_LONG = 6


def no_instance(context: RuleContext) -> pl.LazyFrame:
    """A file without instances."""
    empty = context.system.frames.is_empty() and context.system.rejected_records.is_empty()
    return about_file(only_if(empty, context.table("sources", "row").rename({"row": "origin"})))


def nothing_read(context: RuleContext) -> pl.LazyFrame:
    """A file with lines but without an instance that can be read, with what it looks like."""
    rejected = context.system.rejected_records
    first = rejected["text"].head(1).to_list() if context.system.frames.is_empty() else []
    found = about_file(rejected.lazy().head(len(first)).select("origin"))
    headers = rejected["text"].str.contains(r"^<[^<>\s]+-[0-9]+>$").any()
    kind, hint = _kind(first[0] or "" if first else "", headers=bool(headers))
    return found.with_columns(kind=pl.lit(kind), hint=pl.lit(hint))


def _kind(line: str, *, headers: bool) -> tuple[str, str]:
    """What a file looks like by its first line, and what to do."""
    another = "pass the template set"
    if headers:
        return "the headers have no :=", "write <TYPE-DOCUMENT-NUMBER> := with := on the same line"
    if line.startswith(("{", "[")):
        return "this looks like JSON", another
    if line.startswith("<?xml"):
        return "this looks like XML", another
    if line.startswith("<") and ":=" not in line:
        return "this looks like a text corpus", f"{another}; a corpus goes to --corpus"
    return "this does not look like a template set", another


def like_a_header(context: RuleContext) -> pl.LazyFrame:
    """A pointer alone in its line that looks like a header: nothing else defines its instance."""
    return undefined(context).with_columns(id="target")


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
    meant = [name.casefold() for name in unknown_names(context)]
    rows = rows.filter(~pl.col("name").str.to_lowercase().is_in(meant))
    first = rows.filter(~pl.col("top")).unique("name", keep="first", maintain_order=True)
    unread = _unread_tops(context)
    first = first.join(unread, on="document", how="anti", maintain_order="left")
    return first.with_columns(top=pl.lit(context.schema.top))


def _unread_tops(context: RuleContext) -> pl.LazyFrame:
    """The documents of the instances after a header of the top type that cannot be read."""
    top = rf"(?i)^<?\s*{re.escape(context.schema.top)}(?:[^A-Za-z0-9]|$)"
    rejected = context.system.rejected_records.lazy().filter(pl.col("code") == "HUB102")
    headers = rejected.filter(pl.col("text").str.contains(top))
    rows = context.table("frames", "origin", "record", "document")
    both = pl.concat([rows, headers.select("origin", "record", unread=True)], how="diagonal")
    both = both.sort("origin", "record")
    following = pl.col("document").backward_fill().over("origin")
    return both.with_columns(document=following).filter("unread").select("document").drop_nulls()


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


def without_pointer(context: RuleContext) -> pl.LazyFrame:
    """An instance that no pointer leads to, unless a pointer to nothing likely means it."""
    meant = meant_instances(context)
    rows = unreferred(context).join(meant, on="frame", how="anti", maintain_order="left")
    slot = context.schema.pointers[0] if context.schema.pointers else ""
    return rows.with_columns(slot=pl.lit(slot))


def other_corpus(context: RuleContext) -> pl.LazyFrame:
    """A template set of which the corpus has no document at all, once."""
    sets, strange = context.system.documents["name"].to_list(), unknown_names(context)
    names = known(context).select("name").collect()["name"].to_list()
    origins = context.table("sources", "row").rename({"row": "origin"}).head(1)
    found = about_file(only_if(_are_others(strange, sets), origins))
    hint = mismatch(sorted(names), sorted(strange)) if names and strange else ""
    if not hint or hint.startswith("did you mean"):  # of other documents, a similar name is chance
        hint = "pass the corpus that the template set was made from"
    option = corpus_option(context)
    values = {
        "option": option,
        "corpus": first_names(sorted(names), 1),
        "sets": first_names(sorted(sets), 1),
        "hint": hint,
    }
    return found.with_columns(pl.lit(value).alias(name) for name, value in values.items())


def _are_others(strange: list[str], sets: list[str]) -> bool:
    return len(strange) == len(sets) > 1


def unknown_document(context: RuleContext) -> pl.LazyFrame:
    """An instance set of a document that is not in the corpus, once for each document."""
    names = known(context).select("name").collect()["name"].to_list()
    every = _are_others(unknown_names(context), context.system.documents["name"].to_list())
    sets = context.records("frames").join(context.names, on="document", maintain_order="left")
    strange = sets.join(unknown_sets(context), on="document", how="semi", maintain_order="left")
    found = first_of(only_if(not every, strange), "name").collect()
    hints = dict(_hints(found.select("name", "id").rows(), names))
    hint = pl.col("name").replace_strict(hints, default="", return_dtype=pl.String)
    option = pl.lit(corpus_option(context))
    return at(found.lazy(), "pointer").with_columns(hint=hint, option=option)


def _hints(strange: list[tuple[str, str]], known: list[str]) -> Iterator[tuple[str, str]]:
    """The document that may be meant: another division of the pointer, or a similar name."""
    names = set(known)
    similar = closest_files([name for name, _ in strange if len(name) >= _LONG], known, distance=2)
    similar |= closest_files([name for name, _ in strange if len(name) < _LONG], known)
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
