"""Rules of LoReHLT situation frames about documents and segments (LSF301 to 303, 308, 309)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from hlteval.findings.suggest import closest_files
from hlteval.validators.rule import RuleContext, about_submission, at, first_of, only_if
from hlteval.validators.situations.lorehlt_context import (
    DOCUMENTS,
    frames,
    has_documents,
    known_documents,
    listed,
    shown,
    text_documents,
)

_REMOVE = "remove its frames; they count as false positives"


def _strange(context: RuleContext) -> pl.LazyFrame:
    """The first frame of each document that is neither listed nor checked against."""
    rows = only_if(has_documents(context), context.cached(frames))
    strange = rows.join(known_documents(context), on="name", how="anti", maintain_order="left")
    return first_of(strange, "name")


def _only_texts(context: RuleContext) -> bool:
    """Whether nothing but texts is known: documents of speech may be missing."""
    against = context.against
    has_texts = not context.own and against.segments.height > 0 and against.frames.height == 0
    return has_texts and DOCUMENTS not in context.lists


def _meant(context: RuleContext, strange: Sequence[str]) -> Mapping[str, str]:
    """The known documents that unknown names mean: one of speech may be similar to one of text."""
    names = known_documents(context).collect()["name"].to_list()
    return closest_files(strange, names, distance=0 if _only_texts(context) else 1)


def unknown_document(context: RuleContext) -> pl.LazyFrame:
    """A document that is not in the test set, once for each document."""
    found = _strange(context).collect()
    meant = _meant(context, found["name"].to_list())
    hints = {name: f"did you mean {other}?" for name, other in meant.items()}
    hint = pl.col("name").replace_strict(hints, default=None, return_dtype=pl.String)
    # A name that no text is like may be one of speech.
    kept = found.lazy().with_columns(hint=hint)
    certain = kept.filter(pl.col("hint").is_not_null() | pl.lit(not _only_texts(context)))
    filled = certain.with_columns(pl.col("hint").fill_null(_REMOVE), document=shown("name"))
    return at(filled, "DocumentID")


def no_text(context: RuleContext) -> pl.LazyFrame:
    """A document without a text, where only texts are known, once for each document."""
    found = only_if(_only_texts(context), _strange(context)).collect()
    meant = _meant(context, found["name"].to_list())
    rows = found.lazy().filter(~pl.col("name").is_in(list(meant)))
    return at(rows.with_columns(document=shown("name")), "DocumentID")


def silent_documents(context: RuleContext) -> pl.LazyFrame:
    """Documents of the test set without frames."""
    names = known_documents(context)
    framed = context.cached(frames).select("name").unique()
    silent = names.join(framed, on="name", how="anti", maintain_order="left").sort("name")
    known = names.collect().height
    summed = silent.select(count=pl.len(), document=pl.col("name").first(), known=pl.lit(known))
    some = summed.filter(pl.col("count") > 0)
    return about_submission(only_if(has_documents(context), some))


def _has_none(context: RuleContext) -> bool:
    """Whether the submission has no frames, readable or not."""
    return context.system.frames.is_empty() and context.system.rejected_records.is_empty()


def no_frames(context: RuleContext) -> pl.LazyFrame:
    """A submission without frames, where no list says which documents there are."""
    unlisted = _has_none(context) and DOCUMENTS not in context.lists
    return about_submission(only_if(unlisted, pl.LazyFrame({"count": [0]})))


def nothing_listed(context: RuleContext) -> pl.LazyFrame:
    """A submission without frames for the documents of a list."""
    names = only_if(_has_none(context) and DOCUMENTS in context.lists, listed(context))
    return about_submission(names.select(count=pl.len()).filter(pl.col("count") > 0))


def unknown_segment(context: RuleContext) -> pl.LazyFrame:
    """A justification that is not a segment of its text."""
    rows = context.cached(frames).filter(pl.col("justification").is_not_null())
    of_texts = rows.join(text_documents(context), on="document", how="semi", maintain_order="left")
    segments = context.against.segments.lazy().select("document", justification="name")
    strange = of_texts.join(
        segments.unique(), on=["document", "justification"], how="anti", maintain_order="left"
    )
    named = strange.with_columns(given=shown("justification"), document=shown("name"))
    return at(named, "Justification_ID")


def no_justification(context: RuleContext) -> pl.LazyFrame:
    """The first frame of a text without a justification, with their count."""
    rows = context.cached(frames).filter(pl.col("justification").is_null())
    of_texts = rows.join(text_documents(context), on="document", how="semi", maintain_order="left")
    counted = of_texts.with_columns(count=pl.len()).head(1)
    return at(counted, "")
