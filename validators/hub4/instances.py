"""Rules of HUB-4 about instances, their sets, pointers, slots and fills (HUB201 to HUB306)."""

import re

import polars as pl

from hlteval.findings.counts import first_names
from hlteval.findings.suggest import closest, closest_files
from hlteval.validators.hub4.tables import (
    after_first,
    among,
    corpus_option,
    corpus_texts,
    fills,
    frames,
    has_two_fills,
    headless_pointers,
    is_number,
    like_slot,
    orphans,
    pointers,
    texts,
    unknown_names,
    unknown_sets,
    without_colon,
)
from hlteval.validators.names import mismatch
from hlteval.validators.rule import RuleContext, about_file, at, first_of, only_if

#: Pointers to nothing for which a similar instance is searched.
_HINTED = 1000
_EXACT = "point to an instance of this file, spelled exactly as in its header"
#: Letters of a name of which two may be wrong.
_LONG = 6

# Rules about pointers (HUB206 to HUB208).


def dangling_pointer(context: RuleContext) -> pl.LazyFrame:
    """A pointer to a missing instance, with the one that is meant if that is clear."""
    similar = pl.format("did you mean <{}>?", "meant")
    return context.cached(_dangling_pointers).with_columns(hint=similar.fill_null(_EXACT))


def _dangling_pointers(context: RuleContext) -> pl.LazyFrame:
    """The pointers to missing instances, with the similar one that no pointer leads to, `meant`.

    Each instance is meant by one pointer at most. Pointers to instances whose header may be
    unreadable are left out, and those of which only the case of the document tells them from one
    that is not in the corpus.
    """
    unread = context.system.rejected_records.filter(pl.col("code") == "HUB102")
    types = unread["text"].str.extract("^<? *([A-Za-z0-9_]+)", 1).drop_nulls().to_list()
    kind = pl.col("target").str.extract("^([A-Za-z0-9_]+)", 1)
    names = [name.casefold() for name in unknown_names(context)]
    document = pl.col("target").str.to_lowercase().str.extract("^[^-]+-(.*)-[0-9]+$", 1)
    rows = pointers(context).filter(pl.col("leads_to").is_null() & ~kind.is_in(types))
    rows = rows.filter(~document.is_in(names).fill_null(value=False))
    headers = headless_pointers(context).select("target")
    found = rows.join(headers, on="target", how="anti", maintain_order="left").collect()
    alone: dict[int, list[str]] = {}
    if found.height:
        for place, frame in orphans(context).select("document", "frame").collect().rows():
            alone.setdefault(place, []).append(frame)
    meant: list[str | None] = [None] * found.height
    some = found.head(_HINTED).select("document", "target").iter_rows()
    for index, (place, target) in enumerate(some):
        left = alone.get(place, [])
        meant[index] = similar = closest(target, left) if left else None
        if similar is not None:
            left.remove(similar)
    return found.lazy().with_columns(pl.Series("meant", meant, pl.String))


def pointer_elsewhere(context: RuleContext) -> pl.LazyFrame:
    """A pointer into the set of another document."""
    strange = unknown_sets(context).select(leads_to="document")
    elsewhere = pointers(context).filter(pl.col("leads_to") != pl.col("document"))
    elsewhere = elsewhere.join(strange, on="leads_to", how="anti", maintain_order="left")
    own = strange.rename({"leads_to": "document"})
    return elsewhere.join(own, on="document", how="anti", maintain_order="left")


def pointer_twice(context: RuleContext) -> pl.LazyFrame:
    """A pointer that is twice in one alternative."""
    headers = headless_pointers(context).select("record")
    rows = pointers(context).join(headers, on="record", how="anti", maintain_order="left")
    return after_first(rows, "frame_row", "slot_number", "alternative", "target")


# Rules about instances and their sets.


def no_instance(context: RuleContext) -> pl.LazyFrame:
    """A file without instances."""
    empty = context.system.frames.is_empty() and context.system.rejected_records.is_empty()
    return about_file(only_if(empty, context.table("sources", "row").rename({"row": "origin"})))


def nothing_read(context: RuleContext) -> pl.LazyFrame:
    """A file with lines but without an instance that can be read, with what it looks like."""
    rejected = context.system.rejected_records
    first = rejected["text"].head(1).to_list() if context.system.frames.is_empty() else []
    line = (first[0] or "") if first else ""
    kind, hint = "this does not look like a template set", "pass the template set"
    if rejected["text"].str.contains(r"^<[^<>\s]+-[0-9]+>$").any():
        kind = "the headers have no :="
        hint = "write <TYPE-DOCUMENT-NUMBER> := with := on the same line"
    elif line.startswith(("{", "[")):
        kind = "this looks like JSON"
    elif line.startswith("<?xml"):
        kind = "this looks like XML"
    elif line.startswith("<") and ":=" not in line:
        kind, hint = "this looks like a text corpus", f"{hint}; a corpus goes to --corpus"
    found = about_file(rejected.lazy().head(len(first)).select("origin"))
    return found.with_columns(kind=pl.lit(kind), hint=pl.lit(hint))


def like_a_header(context: RuleContext) -> pl.LazyFrame:
    """A pointer alone in its line that looks like a header: nothing else defines its instance."""
    return headless_pointers(context).with_columns(id="target")


def duplicate_instance(context: RuleContext) -> pl.LazyFrame:
    """An instance with the pointer of an earlier one."""
    return after_first(frames(context), "frame")


def no_top(context: RuleContext) -> pl.LazyFrame:
    """A set without the instance that ties it together, unless its header cannot be read."""
    top = context.schema.top
    strange = unknown_sets(context)
    rows = frames(context).join(strange, on="document", how="anti", maintain_order="left")
    meant = [name.casefold() for name in unknown_names(context)]
    has_top = (pl.col("label") == top).any().over("name")
    rows = rows.filter(~has_top & ~pl.col("name").str.to_lowercase().is_in(meant))
    first = rows.unique("name", keep="first", maintain_order=True)
    # The instances after a header of the top type that cannot be read are in its set.
    pattern = rf"(?i)^<?\s*{re.escape(top)}(?:[^A-Za-z0-9]|$)"
    rejected = context.system.rejected_records.lazy()
    headers = rejected.filter(pl.col("text").str.contains(pattern), code="HUB102")
    every = context.table("frames", "origin", "record", "document")
    every = pl.concat([every, headers.select("origin", "record", unread=True)], how="diagonal")
    following = pl.col("document").backward_fill().over("origin")
    every = every.sort("origin", "record").with_columns(document=following)
    unread = every.filter("unread").select("document").drop_nulls()
    first = first.join(unread, on="document", how="anti", maintain_order="left")
    return first.with_columns(top=pl.lit(top))


def several_tops(context: RuleContext) -> pl.LazyFrame:
    """A second instance that ties a set together."""
    tops = frames(context).filter(pl.col("label") == context.schema.top)
    distinct = tops.unique("frame", keep="first", maintain_order=True)
    return after_first(distinct, "name").with_columns(top="label")


def scattered_set(context: RuleContext) -> pl.LazyFrame:
    """A set that goes on after another."""
    begins = pl.col("document") != pl.col("document").shift()
    stretches = frames(context).filter(begins.fill_null(value=True))
    return stretches.filter(~pl.col("document").is_first_distinct())


def without_pointer(context: RuleContext) -> pl.LazyFrame:
    """An instance that no pointer leads to, unless a pointer to nothing likely means it."""
    meant = context.cached(_dangling_pointers).select(frame="meant").drop_nulls()
    rows = orphans(context).join(meant, on="frame", how="anti", maintain_order="left")
    slot = context.schema.pointers[0] if context.schema.pointers else ""
    return rows.with_columns(slot=pl.lit(slot))


def _unknown_documents(context: RuleContext) -> tuple[list[str], list[str], list[str]]:
    """The documents of the corpus, those of the sets, and those of the sets that it lacks.

    If it has none of several, that is one problem (`other_corpus`) and not one of each.
    """
    corpus = corpus_texts(context).select("name").collect()["name"].to_list()
    return corpus, context.system.documents["name"].to_list(), unknown_names(context)


def other_corpus(context: RuleContext) -> pl.LazyFrame:
    """A template set of which the corpus has no document at all, once."""
    corpus, sets, strange = map(sorted, _unknown_documents(context))
    origins = context.table("sources", "row").rename({"row": "origin"}).head(1)
    found = about_file(only_if(len(strange) == len(sets) > 1, origins))
    hint = mismatch(corpus, strange) if corpus and strange else ""
    if not hint or hint.startswith("did you mean"):  # of other documents, a similar name is chance
        hint = "pass the corpus that the template set was made from"
    values = {"option": corpus_option(context), "hint": hint}
    values |= {"corpus": first_names(corpus, 1), "sets": first_names(sets, 1)}
    return found.with_columns(pl.lit(value).alias(name) for name, value in values.items())


def unknown_document(context: RuleContext) -> pl.LazyFrame:
    """An instance set of a document that is not in the corpus, once for each document.

    The hint is the document that may be meant: another division of the pointer, or a similar name.
    """
    corpus, names, strange = _unknown_documents(context)
    sets = context.records("frames").join(context.names, on="document", maintain_order="left")
    sets = sets.join(unknown_sets(context), on="document", how="semi", maintain_order="left")
    every = len(strange) == len(names) > 1
    found = first_of(only_if(not every, sets), "name").collect()
    known, unknown = set(corpus), found["name"].to_list()
    similar = closest_files([name for name in unknown if len(name) >= _LONG], corpus, distance=2)
    similar |= closest_files([name for name in unknown if len(name) < _LONG], corpus)
    hints: list[str] = []
    for name, pointer in found.select("name", "id").iter_rows():
        tails = (name[at + 1 :] for at, character in enumerate(name) if character == "-")
        other = next((tail for tail in tails if tail in known), None)
        if other is not None:
            label = pointer[: -len(pointer.partition(f"-{other}-")[2]) - len(other) - 2]
            hint = f"use --types {label} if the type is {label} and the document {other}"
        elif name in similar:
            hint = f"did you mean {similar[name]}?"
        else:
            hint = "write the identifier as in the corpus"
        hints.append(hint)
    hinted = found.lazy().with_columns(pl.Series("hint", hints, pl.String))
    return at(hinted, "pointer").with_columns(option=pl.lit(corpus_option(context)))


# Rules about slots, their alternatives and fills (HUB202, HUB210 to HUB224, HUB226, HUB236).


def slot_twice(context: RuleContext) -> pl.LazyFrame:
    """A slot that its instance has twice, unless a header between them was not recognized."""
    again = at(after_first(fills(context).filter("begins"), "frame_row", "slot"), "slot")
    return again.join(headless_pointers(context), on="frame_row", how="anti", maintain_order="left")


def several_alternatives(context: RuleContext) -> pl.LazyFrame:
    """A slot of a system with more than one alternative."""
    second = (pl.col("alternative") == 2) & (pl.col("position") == 1)
    return only_if(context.schema.system, fills(context).filter(second))


def several_extents(context: RuleContext) -> pl.LazyFrame:
    """A fill of a system with more than one extent."""
    rows = texts(context).filter(pl.col("extents").list.len() > 1)
    return at(only_if(context.schema.system, rows), "extent 2")


def no_extents(context: RuleContext) -> pl.LazyFrame:
    """A text without extents in a slot that is scored."""
    rows = texts(context).filter(pl.col("extents").is_null() & ~like_slot() & ~is_number())
    pointed = pl.col("full").is_in(context.schema.pointers)
    return rows.filter(~among(context.schema.unscored), ~pointed)


def mixed_fills(context: RuleContext) -> pl.LazyFrame:
    """A slot with pointers and texts: the first fill that is not of the first one's kind."""
    slot = ["frame_row", "slot_number"]
    other = fills(context).filter(pl.col("kind") != pl.col("first_kind"))
    other = other.filter(~pl.col("full").is_in(context.schema.pointers))
    return other.unique(slot, keep="first", maintain_order=True)


def several_fills(context: RuleContext) -> pl.LazyFrame:
    """An alternative with more than one fill, in a slot that should have one."""
    same = pl.col("kind") == pl.col("first_kind")
    second = fills(context).filter((pl.col("position") == 2) & same & ~like_slot())
    return second.filter(~pl.col("full").is_in(context.schema.pointers))


def like_a_slot(context: RuleContext) -> pl.LazyFrame:
    """A text that looks like a slot, or a slot that looks like a text."""
    like = texts(context).filter(like_slot())
    like = like.with_columns(given="text", reading=pl.lit("a text"))
    numbers = at(fills(context).filter(is_number()), "slot")
    numbers = numbers.with_columns(given="slot", reading=pl.lit("a slot name"))
    return pl.concat([like, numbers])


def slot_without_colon(context: RuleContext) -> pl.LazyFrame:
    """A line that is a fill of the slot before it, and likely a slot without its colon."""
    return texts(context).with_columns(name=without_colon()).drop_nulls("name")


def text_for_pointer(context: RuleContext) -> pl.LazyFrame:
    """A text in a slot that holds pointers."""
    return texts(context).filter(pl.col("full").is_in(context.schema.pointers) & ~like_slot())


def empty_text(context: RuleContext) -> pl.LazyFrame:
    """An empty text."""
    return texts(context).filter(pl.col("text").str.strip_chars() == "")


def unknown_status(context: RuleContext) -> pl.LazyFrame:
    """An unknown status."""
    written = pl.col("text").str.strip_chars() != ""
    rows = fills(context).filter(pl.col("slot") == context.schema.status, written)
    known = pl.col("text").str.to_uppercase().is_in(context.schema.optional)
    return only_if(not context.schema.system, rows.filter(~known))


def optional_in_system(context: RuleContext) -> pl.LazyFrame:
    """An instance or slot that a system marks as optional."""
    status = pl.col("slot") == context.schema.status
    rows = fills(context).filter(pl.col("optional") | status)
    once = rows.unique(["frame_row", "slot_number"], keep="first", maintain_order=True)
    return at(only_if(context.schema.system, once), "")


def other_document(context: RuleContext) -> pl.LazyFrame:
    """A slot for the document's identifier that names another one."""
    rows = texts(context).filter(pl.col("slot") == context.schema.document)
    strange = unknown_sets(context)
    rows = rows.join(strange, on="document", how="anti", maintain_order="left")
    rows = rows.join(headless_pointers(context), on="frame_row", how="anti", maintain_order="left")
    return rows.filter(pl.col("text").str.strip_chars() != pl.col("name"))


def two_in_a_line(context: RuleContext) -> pl.LazyFrame:
    """A text that holds extents: two fills in one line."""
    return texts(context).filter(has_two_fills())


# Rules of HUB-4 about the numbers of extents and minimal strings (HUB217 to HUB220).


def unbalanced_brackets(context: RuleContext) -> pl.LazyFrame:
    """A text of a reference whose brackets do not balance, or hold nothing."""
    has = pl.col("text").str.contains(r"[\[\]]") & pl.col("brackets").is_null()
    rows = texts(context).filter(has, ~among(context.schema.unscored))
    return only_if(not context.schema.system, rows)


def count_of_extents(context: RuleContext) -> pl.LazyFrame:
    """A text of a reference with more or fewer extents than strings."""
    wanted = 1 + pl.col("brackets").list.len().fill_null(0)
    odd = pl.col("brackets").is_null() & pl.col("text").str.contains(r"[\[\]]")
    rows = texts(context).with_columns(wanted=wanted, count=pl.col("extents").list.len())
    wrong = rows.filter(pl.col("count") != pl.col("wanted"), ~odd)
    return at(only_if(not context.schema.system, wrong), "extents")


def _each_extent(some: pl.LazyFrame) -> pl.LazyFrame:
    """The extents of some texts, a row each, with their `ordinal` and the first of their text."""
    outer = pl.col("extents").list.get(0).struct
    rows = some.with_columns(
        outer_start=outer.field("start"),
        outer_end=outer.field("end"),
        ordinal=pl.int_ranges(1, pl.col("extents").list.len() + 1),
    )
    each = rows.explode("extents", "ordinal").drop("text").unnest("extents")
    return at(each, pl.format("extent {}", "ordinal"))


def minimal_outside(context: RuleContext) -> pl.LazyFrame:
    """An extent of a minimal string that is not enclosed in that of the maximal string."""
    start, end = pl.col("start"), pl.col("end")
    inside = (start >= pl.col("outer_start")) & (end <= pl.col("outer_end"))
    right = (pl.col("outer_start") < pl.col("outer_end")) & (start < end)
    first, numbers = pl.col("extents").list.get(0).struct, pl.col("extents").list
    low = numbers.eval(pl.element().struct.field("start")).list.min() < first.field("start")
    high = numbers.eval(pl.element().struct.field("end")).list.max() > first.field("end")
    every = _each_extent(texts(context).filter(low | high))
    rows = every.filter(pl.col("ordinal") > 1, ~inside, right)
    return only_if(not context.schema.system, rows)


def reversed_extent(context: RuleContext) -> pl.LazyFrame:
    """An extent that ends where it starts, or before."""
    start, end = pl.element().struct.field("start"), pl.element().struct.field("end")
    some = texts(context).filter(pl.col("extents").list.eval(start >= end).list.any())
    return _each_extent(some).filter(pl.col("start") >= pl.col("end"))
