"""Rules of machine translation about documents (MTV201 to MTV204) and segments (MTV301 to 307)."""

import re

import polars as pl

from hlteval.converters.mt.texts import SOURCE
from hlteval.converters.toolkit.quotes import normalized_spaces
from hlteval.findings.suggest import closest, closest_files
from hlteval.representation import first_case
from hlteval.validators.rule import RuleContext, about_file, about_submission, at, only_if

SUFFIX = ".ltf.xml"
_PREFIX = "ENG_"
_ENGLISH = ("eng", "en")
_OTHER_DOCID = "write {}, the docid of the input file of that name"


def _input(context: RuleContext) -> pl.LazyFrame:
    """The documents that are to be translated, and others that come with them."""
    known = context.against.documents.lazy().select("row", "name", "language")
    return only_if(not context.own, known)


def _is_beside_reference(context: RuleContext) -> bool:
    """Whether the submission is beside reference translations, which only a part of it may have."""
    return "reference" in context.against.translations["role"]


def _english(context: RuleContext) -> pl.LazyFrame:
    """The names of the English documents of both sides, by their language or by their name."""
    own = context.table("documents", "name", "language")
    both = pl.concat([own, _input(context).select("name", "language")])
    by_language = pl.col("language").str.to_lowercase().is_in(_ENGLISH)
    by_name = pl.col("name").str.starts_with(_PREFIX)
    return both.filter(by_language | by_name).select("name").unique()


def _files(context: RuleContext) -> pl.LazyFrame:
    """The files of the submission: `origin`, its `file`, the `stem` of that, and if it is `alone`.

    A file is alone if it was passed by itself, not in a folder or archive.
    """
    file = pl.col("member").str.split("/").list.last()
    alone = pl.col("path").str.split("/").list.last() == pl.col("member")
    files = context.table("sources", "row", "path", "member", "format")
    # Other formats and saved corpora have no file for each document.
    files = files.filter(pl.col("format") == "lorehlt-mt")
    return files.select(file=file, stem=file.str.strip_suffix(SUFFIX), alone=alone, origin="row")


def _documents(context: RuleContext) -> pl.LazyFrame:
    """The documents of the submission with their files, and whether each is `known`."""
    documents = context.table("documents", "row", "origin", "name").rename({"row": "document"})
    known = pl.col("name").is_in(_input(context).collect()["name"].implode())
    rows = documents.with_columns(known=known)
    return rows.join(_files(context), on="origin", how="left", maintain_order="left")


def missing_document(context: RuleContext) -> pl.LazyFrame:
    """A document without a translation, unless its file is there: that has another problem."""
    files = _files(context)
    alone = files.filter("alone").collect().height > 0
    others = _documents(context).filter("known", pl.col("stem") != pl.col("name"))
    unread = files.join(others, on="origin", how="anti").select(name="stem")
    lacking = _input(context)
    for names in (unread, context.table("documents", "name"), _english(context)):
        lacking = lacking.join(names, on="name", how="anti", maintain_order="left")
    return about_submission(only_if(not alone, lacking))


def unknown_document(context: RuleContext) -> pl.LazyFrame:
    """A document that is not among those to be translated."""
    compared = not context.own and not _is_beside_reference(context)
    rows = only_if(compared, _documents(context).filter(~pl.col("known"))).collect()
    names = context.against.documents["name"].to_list()
    meant = closest_files(rows["name"].to_list(), names)
    similar = pl.Series([meant.get(name) for name in rows["name"]], dtype=pl.String)
    hint = first_case(
        (pl.col("stem").is_in(names), pl.format(_OTHER_DOCID, "stem")),
        (pl.lit(similar).is_not_null(), pl.format("did you mean {}?", pl.lit(similar))),
        otherwise="copy the docid from the input file, exactly as it is there",
    )
    return about_file(rows.with_columns(hint=hint).lazy())


def other_file_name(context: RuleContext) -> pl.LazyFrame:
    """A known document in a file of another name."""
    renamed = (pl.col("stem") != pl.col("name")) & (pl.col("file") != "<stdin>")
    known = pl.col("known") | pl.lit(context.own)
    return about_file(_documents(context).filter(renamed, known))


def english_document(context: RuleContext) -> pl.LazyFrame:
    """A document that is English already."""
    rows = _documents(context)
    return about_file(rows.join(_english(context), on="name", how="semi", maintain_order="left"))


#: Unknown identifiers that are compared with the known ones; more have another cause.
_MOST = 100
_COPY = "remove it, or copy the id from the input file"
#: Identifiers that a message lists.
_SHOWN = 3
#: What ends a line or a field for programs that read a segment per line.
_ODD = "[\t\n\r\x0b\x0c\x1c-\x1e\u0085\u2028\u2029]|\\|\\|\\|"
_NAMES: dict[str, str] = {
    "\t": "a tab",
    "\n": "a line break",
    "\r": "a carriage return",
    "\u2028": "a line separator (U+2028)",
    "\u2029": "a paragraph separator (U+2029)",
    "\u0085": "a next-line character (U+0085)",
    "|||": "|||",
}
#: Addresses and names of users and topics, which are the same in any language.
_NO_WORDS = r"(?:https?://|www\.)\S+|\S+@\S+|[@#]\S+"
_NUMBER = re.compile("[0-9]{1,20}$")


def _segments(context: RuleContext) -> pl.LazyFrame:
    """The segments that are to be translated: `document`, `segment`, `source`, `position`.

    They are those of LTF, or of translations; only sources have a text to compare with.
    """
    segments, texts = context.against.segments.lazy(), context.against.translations.lazy()
    source = pl.when(pl.col("role") == SOURCE).then(pl.col("text"))
    sources_first = texts.sort(pl.col("role") != SOURCE, maintain_order=True)
    parts = (
        segments.select("document", segment="name", source="text"),
        sources_first.select("document", "segment", source=source),
    )
    every = only_if(not context.own, pl.concat(parts)).drop_nulls("segment")
    first = every.unique(["document", "segment"], keep="first", maintain_order=True)
    return first.with_columns(position=pl.int_range(pl.len()).over("document"))


def _texts(context: RuleContext) -> pl.LazyFrame:
    """The texts of the submission in documents that are known: `source` and `position` too."""
    texts = context.records("translations", "text")
    expected = context.cached(_segments)
    texts = texts.join(expected, on="document", how="semi", maintain_order="left")
    keys = expected.rename({"segment": "id"})
    return texts.join(keys, on=["document", "id"], how="left", maintain_order="left")


def missing_segment(context: RuleContext) -> pl.LazyFrame:
    """A document that lacks segments, with their number and the first of them."""
    own = context.table("documents", "row", "origin", "name").rename({"row": "document"})
    there = context.table("translations", "document", "segment")
    key, expected = ["document", "segment"], context.cached(_segments)
    lacking = expected.join(there, on=key, how="anti", maintain_order="left")
    names = pl.col("segment").head(_SHOWN).str.join(", ")
    listed = lacking.group_by("document", maintain_order=True).agg(pl.len().alias("count"), names)
    more = first_case((pl.col("count") > _SHOWN, ", …"), otherwise="")
    rows = own.join(listed, on="document", maintain_order="left")
    return about_file(rows.with_columns(names=pl.concat_str("segment", more)))


def unknown_segment(context: RuleContext) -> pl.LazyFrame:
    """A segment that its document does not have, with how to correct its identifier.

    Identifiers with the same number at their end are alike; others, if they are few, by their form.
    """
    unknown = context.cached(_texts).filter(pl.col("position").is_null())
    rows = only_if(not _is_beside_reference(context), unknown).collect()
    wanted = pl.col("document").is_in(rows["document"].unique().implode())
    expected = context.cached(_segments).filter(wanted).select("document", "segment")
    known: dict[int, dict[str, str]] = {}
    for document, name in expected.collect().iter_rows():
        number = _NUMBER.search(name)
        known.setdefault(document, {}).setdefault(number[0] if number else name, name)
    hints = []
    for document, name in rows.select("document", "id").iter_rows():
        own, number = known.get(document, {}), _NUMBER.search(name)
        meant = own.get(number[0]) if number else None
        if not number and rows.height <= _MOST:
            meant = closest(name, own.values())
        hints.append(f"did you mean {meant}?" if meant else _COPY)
    return at(rows.lazy().with_columns(pl.Series("hint", hints, dtype=pl.String)), "id")


def repeated_segment(context: RuleContext) -> pl.LazyFrame:
    """A segment that its document has already, of the same set."""
    rows = context.records("translations", "role", "set")
    return at(rows.filter(~pl.struct("document", "role", "set", "id").is_first_distinct()), "id")


def other_order(context: RuleContext) -> pl.LazyFrame:
    """The first segment of a document that comes after one that follows it in the input."""
    rows = context.cached(_texts).drop_nulls("position")
    rows = rows.filter(pl.struct("document", "id").is_first_distinct())
    before = pl.col("id").shift(1).over("document")
    highest = pl.col("position").cum_max().over("document")
    late = rows.with_columns(before=before).filter(pl.col("position") < highest)
    return at(late.unique("document", keep="first", maintain_order=True), "id")


def empty_segment(context: RuleContext) -> pl.LazyFrame:
    """A segment without a translation, unless its source is empty too."""
    texts = context.records("translations", "text")
    empty = texts.filter(pl.col("text").str.strip_chars() == "")
    sources = context.cached(_texts).select("row", "source")
    rows = empty.join(sources, on="row", how="left", maintain_order="left")
    source = pl.col("source").str.strip_chars()
    return at(rows.filter((source != "").fill_null(value=True)), "text")


def odd_space(context: RuleContext) -> pl.LazyFrame:
    """A text that programs with a segment per line would cut."""
    texts = context.records("translations", "text")
    found = texts.with_columns(given=pl.col("text").str.strip_chars().str.extract(f"({_ODD})"))
    default = pl.lit("a control character")
    what = pl.col("given").replace_strict(_NAMES, default=default, return_dtype=pl.String)
    return at(found.drop_nulls("given").with_columns(what=what), "text")


def copied_source(context: RuleContext) -> pl.LazyFrame:
    """A text that equals its source, which has words, but for spaces."""
    foreign = context.names.join(_english(context), on="name", how="anti")
    texts = context.cached(_texts).join(foreign, on="document", how="semi", maintain_order="left")
    words = pl.col("source").str.replace_all(_NO_WORDS, "").str.contains(r"\p{L}")
    same = normalized_spaces("source") == normalized_spaces("text")
    return at(texts.filter(same, words), "text")
