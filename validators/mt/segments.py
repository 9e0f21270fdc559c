"""Rules of machine translation about segments (MTV301 to MTV307)."""

from __future__ import annotations

import re
from collections.abc import Mapping

import polars as pl

from hlteval.converters.mt.texts import SOURCE
from hlteval.findings.suggest import closest, closest_files
from hlteval.validators.rule import RuleContext, about_file, about_submission, at, only_if

# Rules of machine translation about documents (MTV201 to MTV204).


SUFFIX = ".ltf.xml"
_PREFIX = "ENG_"
_ENGLISH = ("eng", "en")


def english(documents: pl.LazyFrame) -> pl.LazyFrame:
    """The English ones of some documents, by their language or by their name.

    Args:
        documents: with the columns `name` and `language`.
    """
    by_language = pl.col("language").str.to_lowercase().is_in(_ENGLISH)
    return documents.filter(by_language | pl.col("name").str.starts_with(_PREFIX))


def _expected_documents(context: RuleContext) -> pl.LazyFrame:
    """The documents that are to be translated, and others that come with them."""
    known = context.against.documents.lazy().select("row", "name", "language")
    return only_if(not context.own, known)


def beside_reference(context: RuleContext) -> bool:
    """Whether the submission is beside reference translations, which only a part of it may have."""
    return "reference" in context.against.translations["role"]


def english_names(context: RuleContext) -> pl.LazyFrame:
    """The names of the English documents of both sides."""
    own = context.table("documents", "name", "language")
    both = pl.concat([own, _expected_documents(context).select("name", "language")])
    return english(both).select("name").unique()


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


def missing_document(context: RuleContext) -> pl.LazyFrame:
    """A document without a translation, unless its file is there: that has another problem."""
    files = _files(context)
    alone = files.filter("alone").collect().height > 0
    others = _own(context).filter("known", pl.col("stem") != pl.col("name"))
    unread = files.join(others, on="origin", how="anti").select(name="stem")
    there = pl.concat([unread, context.table("documents", "name")])
    lacking = _expected_documents(context).join(there, on="name", how="anti", maintain_order="left")
    foreign = lacking.join(english_names(context), on="name", how="anti", maintain_order="left")
    return about_submission(only_if(not alone, foreign))


def _own(context: RuleContext) -> pl.LazyFrame:
    """The documents of the submission with their files, and whether each is `known`."""
    documents = context.table("documents", "row", "origin", "name").rename({"row": "document"})
    known = _expected_documents(context).select("name", known=pl.lit(value=True))
    documents = documents.join(known, on="name", how="left", maintain_order="left")
    documents = documents.with_columns(pl.col("known").fill_null(value=False))
    return documents.join(_files(context), on="origin", how="left", maintain_order="left")


def unknown_document(context: RuleContext) -> pl.LazyFrame:
    """A document that is not among those to be translated."""
    compared = not context.own and not beside_reference(context)
    rows = only_if(compared, _own(context).filter(~pl.col("known"))).collect()
    names = context.against.documents["name"].to_list()
    meant = closest_files(rows["name"].to_list(), names)
    expected = set(names)
    hints = [
        f"write {stem}, the docid of the input file of that name"
        if stem in expected
        else f"did you mean {meant[name]}?"
        if name in meant
        else "copy the docid from the input file, exactly as it is there"
        for name, stem in rows.select("name", "stem").iter_rows()
    ]
    return about_file(rows.lazy().with_columns(pl.Series("hint", hints, dtype=pl.String)))


def other_file_name(context: RuleContext) -> pl.LazyFrame:
    """A known document in a file of another name."""
    rows = _own(context).filter(pl.col("stem").is_not_null())
    named = pl.col("stem") != pl.col("name")
    streamed = pl.col("file") == "<stdin>"
    rows = rows.filter(named & ~streamed & (pl.col("known") | pl.lit(context.own)))
    return about_file(rows)


def english_document(context: RuleContext) -> pl.LazyFrame:
    """A document that is English already."""
    rows = _own(context)
    found = rows.join(english_names(context), on="name", how="semi", maintain_order="left")
    return about_file(found)


#: Unknown identifiers that are compared with the known ones; more have another cause.
_MOST = 100
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


def _expected(context: RuleContext) -> pl.LazyFrame:
    """The segments that are to be translated: `document`, `segment`, `source`, `position`.

    They are those of LTF, or of translations; only sources have a text to compare with.
    """
    against = context.against
    texts = against.translations.lazy()
    source = pl.when(pl.col("role") == SOURCE).then(pl.col("text"))
    parts = (
        against.segments.lazy().select("document", segment="name", source="text"),
        texts.filter(pl.col("role") == SOURCE).select("document", "segment", source="text"),
        texts.filter(pl.col("role") != SOURCE).select("document", "segment", source=source),
    )
    every = only_if(not context.own, pl.concat(parts)).drop_nulls("segment")
    first = every.unique(["document", "segment"], keep="first", maintain_order=True)
    return first.with_columns(position=pl.int_range(pl.len()).over("document"))


def _texts(context: RuleContext) -> pl.LazyFrame:
    """The texts of the submission in documents that are known: `source` and `position` too."""
    texts = context.records("translations", "text")
    expected = context.cached(_expected)
    texts = texts.join(expected.select("document").unique(), on="document", how="semi",
                       maintain_order="left")  # fmt: skip
    keys = expected.rename({"segment": "id"})
    return texts.join(keys, on=["document", "id"], how="left", maintain_order="left")


def missing_segment(context: RuleContext) -> pl.LazyFrame:
    """A document that lacks segments, with their number and the first of them."""
    own = context.table("documents", "row", "origin", "name").rename({"row": "document"})
    there = context.table("translations", "document", "segment")
    lacking = context.cached(_expected).join(
        there, on=["document", "segment"], how="anti", maintain_order="left"
    )
    names = pl.col("segment").head(_SHOWN).str.join(", ")
    listed = lacking.group_by("document", maintain_order=True).agg(pl.len().alias("count"), names)
    more = pl.when(pl.col("count") > _SHOWN).then(pl.lit(", …")).otherwise(pl.lit(""))
    rows = own.join(listed, on="document", maintain_order="left")
    return about_file(rows.with_columns(names=pl.concat_str("segment", more)))


def unknown_segment(context: RuleContext) -> pl.LazyFrame:
    """A segment that its document does not have."""
    unknown = context.cached(_texts).filter(pl.col("position").is_null())
    rows = only_if(not beside_reference(context), unknown).collect()
    wanted = rows.lazy().select("document").unique()
    some = context.cached(_expected).join(wanted, on="document", how="semi", maintain_order="left")
    known: dict[int, dict[str, str]] = {}
    for document, name in some.select("document", "segment").collect().iter_rows():
        known.setdefault(document, {}).setdefault(_number(name) or name, name)
    few = rows.height <= _MOST
    pairs = rows.select("document", "id").iter_rows()
    hints = [_meant(name, known.get(document, {}), similar=few) for document, name in pairs]
    return at(rows.lazy().with_columns(pl.Series("hint", hints, dtype=pl.String)), "id")


def _meant(name: str, known: Mapping[str, str], *, similar: bool = True) -> str:
    """How to correct the identifier of a segment.

    Args:
        name: the identifier.
        known: those of the document, by the number at their end.
        similar: whether a similar one is looked for.

    Examples:
        >>> _meant("0", {"0": "segment-0"}), _meant("x", {"0": "segment-0"})
        ('did you mean segment-0?', 'remove it, or copy the id from the input file')
    """
    number = _number(name)
    found = known.get(number) if number else None
    if found is None and similar and not number:
        found = closest(name, known.values())
    return f"did you mean {found}?" if found else "remove it, or copy the id from the input file"


def _number(name: str) -> str:
    """The number at the end of an identifier; empty if there is none."""
    found = _NUMBER.search(name)
    return found[0] if found else ""


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
    empty = texts.filter(_stripped("text") == "")
    sources = context.cached(_texts).select("row", "source")
    rows = empty.join(sources, on="row", how="left", maintain_order="left")
    return at(rows.filter((_stripped("source") != "").fill_null(value=True)), "text")


def _stripped(column: str) -> pl.Expr:
    return pl.col(column).str.strip_chars()


def odd_space(context: RuleContext) -> pl.LazyFrame:
    """A text that programs with a segment per line would cut."""
    texts = context.records("translations", "text")
    found = texts.with_columns(given=_stripped("text").str.extract(f"({_ODD})"))
    default = pl.lit("a control character")
    what = pl.col("given").replace_strict(_NAMES, default=default, return_dtype=pl.String)
    return at(found.drop_nulls("given").with_columns(what=what), "text")


def copied_source(context: RuleContext) -> pl.LazyFrame:
    """A text that equals its source, which has words."""
    foreign = context.names.join(english_names(context), on="name", how="anti")
    texts = context.cached(_texts).join(foreign, on="document", how="semi", maintain_order="left")
    words = pl.col("source").str.replace_all(_NO_WORDS, "").str.contains(r"\p{L}")
    return at(texts.filter(_spaced("source") == _spaced("text"), words), "text")


def _spaced(column: str) -> pl.Expr:
    """A text with single spaces."""
    return pl.col(column).str.replace_all(r"\s+", " ").str.strip_chars()
