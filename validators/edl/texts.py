"""Rules of EDL that compare mentions with the texts of their documents (EDL502, EDL503, EDL509)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import polars as pl

from hlteval.converters.edl.edl_tab import SPACES, normalised
from hlteval.validators.edl.fields import mentions, shown
from hlteval.validators.rule import RuleContext, about_submission, at, only_if

# Mention strings beside the texts at their extents, from which only spaces may differ.


#: Characters on either side in which a mention string is searched.
_WINDOW = 50_000
#: Longest mention string that is searched for, and how many are.
_LONGEST, _SEARCHED = 300, 200
#: The share of the mentions that do not fit which another way to count must explain.
_SURE = 0.9
#: Mentions that do not fit, of which another way to count may be the cause.
_FEWEST = 3
#: Characters by which a text may exceed four times the length of a mention string, and match.
_SLACK = 1000

#: Other ways to count offsets: a description and the fix.
CONVENTIONS: Mapping[str, tuple[str, str]] = {
    "one": ("1-based", "subtract 1 from all offsets"),
    "exclusive": ("exclusive at the end", "subtract 1 from each end offset"),
    "one-exclusive": (
        "1-based and exclusive at the end",
        "subtract 1 from each start offset and 2 from each end offset",
    ),
    "utf-16": (
        "in UTF-16 code units, as in Java and JavaScript",
        "count code points: a character above U+FFFF is one",
    ),
    "utf-8": ("in bytes", "count characters of the decoded text"),
}

#: What is to be subtracted from each start and from each end, where that is the fix.
MOVED: Mapping[str, tuple[int, int]] = {"one": (1, 1), "exclusive": (0, 1), "one-exclusive": (1, 2)}

_Slice = Callable[[str, int, int], str]


def compared(rows: pl.DataFrame, documents: pl.DataFrame) -> pl.DataFrame:
    """Mentions beside the text of their extent.

    Args:
        rows: mentions, none of them reversed or empty.
        documents: the documents, with their texts; mentions in documents without text are dropped.

    Returns:
        The mentions with the `length` of the document's text; the mention string as `given` and the
        text at its extent as `found`, both normalised; and whether it `fits`.
    """
    texts = _texts(documents)
    some = rows.filter(pl.col("document").is_in(list(texts)))
    sliced = _sliced(some, texts, lambda text, start, end: text[start:end])
    lengths = {key: len(text) for key, text in texts.items()}
    length = pl.col("document").replace_strict(lengths, default=None, return_dtype=pl.Int64)
    both = some.with_columns(sliced, given=pl.col("text").fill_null(""), length=length)
    both = both.with_columns(given=normalised("given"), found=normalised("found"))
    inside = pl.col("end") <= pl.col("length")
    return both.with_columns(fits=inside & (pl.col("given") == pl.col("found")))


def _texts(documents: pl.DataFrame) -> dict[int, str]:
    return dict(documents.select("row", "text").drop_nulls("text").iter_rows())


def _sliced(rows: pl.DataFrame, texts: Mapping[int, str], cut: _Slice) -> pl.Series:
    """The texts at the extents of mentions, cut where they are much longer than the mention."""
    columns = rows.select("document", "start", "end", pl.col("text").fill_null("")).iter_rows()
    found = [
        cut(texts[document], start, min(end, start + 4 * len(string) + _SLACK))
        for document, start, end, string in columns
    ]
    return pl.Series("found", found, dtype=pl.String)


def _units(encoding: str, width: int) -> _Slice:
    """The characters between two offsets that count units of an encoding."""
    kept: dict[int, tuple[str, bytes]] = {}

    def cut(text: str, start: int, end: int) -> str:
        if id(text) not in kept:
            kept.clear()
            kept[id(text)] = (text, text.encode(encoding, "surrogatepass"))
        data = kept[id(text)][1]
        return data[width * start : width * end].decode(encoding, "replace")

    return cut


def _cuts() -> Mapping[str, _Slice]:
    return {
        "one": lambda text, start, end: text[max(start - 1, 0) : max(end - 1, 0)],
        "exclusive": lambda text, start, end: text[start : end - 1],
        "one-exclusive": lambda text, start, end: text[max(start - 1, 0) : max(end - 2, 0)],
        "utf-16": _units("utf-16-le", 2),
        "utf-8": _units("utf-8", 1),
    }


def convention(rows: pl.DataFrame, documents: pl.DataFrame) -> tuple[str, pl.DataFrame] | None:
    """Another way to count offsets, by which most mentions that do not fit would fit.

    Args:
        rows: as from `compared`.
        documents: the documents, with their texts.

    Returns:
        The name of the convention, and the mentions that still do not fit; None if there is no such
        convention, or if fewer than three mentions do not fit.
    """
    misfits = rows.filter(~pl.col("fits")).sort("document", maintain_order=True)
    texts = _texts(documents)
    if misfits.height < _FEWEST:
        return None
    fitting = rows.filter("fits").sort("document", maintain_order=True)
    few = misfits.height < rows.height // 4
    for name, cut in _cuts().items():
        fits = _fitting(misfits, texts, cut)
        if fits.height < _SURE * misfits.height:
            continue
        # Of few misfits it only is the cause if it explains all other mentions too: a count of
        # units differs from characters only after the first character of several.
        if not few or _fitting(fitting, texts, cut).height == fitting.height:
            left = misfits.join(fits, on="row", how="anti", maintain_order="left")
            return name, left.sort("row")
    return None


def _fitting(rows: pl.DataFrame, texts: Mapping[int, str], cut: _Slice) -> pl.DataFrame:
    """The mentions whose string is the text at their extent, cut in another way."""
    tried = rows.with_columns(_sliced(rows, texts, cut).alias("otherwise"))
    return tried.with_columns(normalised("otherwise")).filter(
        pl.col("otherwise") == pl.col("given"), pl.col("given") != ""
    )


def nearest(rows: pl.DataFrame, documents: pl.DataFrame) -> pl.Series:
    """The places of mention strings, as hints; only the first few hundred are searched.

    Args:
        rows: mentions that do not fit, as from `compared`.
        documents: the documents, with their texts.
    """
    texts = _texts(documents)
    columns = rows.select("document", "start", "given").iter_rows()
    hints = [
        _nearest(texts[document], start, given) if number < _SEARCHED else _COUNT
        for number, (document, start, given) in enumerate(columns)
    ]
    return pl.Series("hint", hints, dtype=pl.String)


_COUNT = "count characters from 0; the end offset is that of the last character"


def _nearest(text: str, start: int, given: str) -> str:
    """The occurrence of a mention string in a text that is nearest to an offset."""
    words = [re.escape(word).replace("\\-", "-(?:\r?\n)?") for word in given.split()]
    if not words or len(given) > _LONGEST:
        return _COUNT
    low = max(0, min(start, len(text)) - _WINDOW)
    high = start + _WINDOW
    found = [match.span() for match in re.compile(SPACES.join(words)).finditer(text, low, high)]
    if found:
        first, end = min(found, key=lambda span: abs(span[0] - start))
        return f"write {first}-{end - 1}, where the mention string occurs"
    if low == 0 and high >= len(text):
        return "check the document: it does not contain this mention string"
    return _COUNT


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
    # all mentions fit by it, those too that fit without it
    if _fitting(rows, _texts(documents), _cuts()[name]).height < rows.height:
        return _NONE
    start, end = MOVED[name]
    put = pl.format("{}-{}", pl.col("start") - start, pl.col("end") - 1 - end)
    return rows.with_columns(put=put, field=pl.lit("offsets")).select(_NONE.columns)
