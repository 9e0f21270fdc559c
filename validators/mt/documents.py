"""Rules of machine translation about documents (MTV201 to MTV204)."""

from __future__ import annotations

import polars as pl

from hlteval.findings.suggest import closest_files
from hlteval.validators.rule import RuleContext, about_file, about_submission, only_if

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


def _expected(context: RuleContext) -> pl.LazyFrame:
    """The documents that are to be translated, and others that come with them."""
    known = context.against.documents.lazy().select("row", "name", "language")
    return only_if(not context.own, known)


def beside_reference(context: RuleContext) -> bool:
    """Whether the submission is beside reference translations, which only a part of it may have."""
    return "reference" in context.against.translations["role"]


def english_names(context: RuleContext) -> pl.LazyFrame:
    """The names of the English documents of both sides."""
    own = context.table("documents", "name", "language")
    both = pl.concat([own, _expected(context).select("name", "language")])
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
    lacking = _expected(context).join(there, on="name", how="anti", maintain_order="left")
    foreign = lacking.join(english_names(context), on="name", how="anti", maintain_order="left")
    return about_submission(only_if(not alone, foreign))


def _own(context: RuleContext) -> pl.LazyFrame:
    """The documents of the submission with their files, and whether each is `known`."""
    documents = context.table("documents", "row", "origin", "name").rename({"row": "document"})
    known = _expected(context).select("name", known=pl.lit(value=True))
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
