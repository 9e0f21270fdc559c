"""Rules of EDL about extents.

By themselves (EDL316, EDL319), beside each other (EDL401 to EDL404), and beside the texts of their
documents (EDL502, EDL503, EDL509).
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import polars as pl

from hlteval.converters.edl.edl_tab import SPACES, blank, normal_form
from hlteval.representation import first_case, row_hash
from hlteval.validators.edl.fields import EXTENT, VOCABULARY, Check, mentions, quote, where
from hlteval.validators.rule import Conclusion, RuleContext, about_submission, at, only_if

#: Mentions that do not fit, and the share of them, from which all follow another convention.
_FEWEST, _MOST = 3, 0.9
_ALIKE = "all offsets of {} mentions differ alike; the second one is that of the last character"
#: The names of the columns of a mention in messages.
FIELDS: Mapping[str, str] = VOCABULARY["fields"]

#: A mention whose last character is before its first.
end_before_start = where(pl.col("end") <= pl.col("start"), "offsets", last=pl.col("end") - 1)


def other_length(context: RuleContext) -> pl.LazyFrame:
    """A mention string that cannot be what is in its extent, of a document without a text.

    Several spaces, and the line break after a hyphen, may be missing in the string. Where most that
    do not fit differ by the same number, the others follow another convention: only the first of
    them is reported.
    """
    documents = context.against.documents.lazy().drop_nulls("text").select(document="row")
    known = only_if(not context.own, documents)
    rows = context.cached(mentions).join(known, on="document", how="anti", maintain_order="left")
    extent, length = pl.col("end") - pl.col("start"), pl.col("text").str.len_chars()
    loose = pl.col("text").str.contains(r"[\s-]")
    fits = (length == extent) | ((length < extent) & loose)
    proper = (extent > 0) & ~blank("text")
    found = rows.with_columns(extent=extent, length=length).filter(proper & ~fits).collect()
    return at(found.with_columns(string=quote("text"), hint=pl.lit("")).lazy(), "offsets")


def conclude_lengths(rows: pl.DataFrame, _shown: frozenset[str], _schema: Any) -> pl.DataFrame:
    """The mentions that do not fit; of those that all differ alike, the first."""
    difference = rows["extent"].cast(pl.Int64) - rows["length"].cast(pl.Int64)
    most = difference.mode().sort().first() if rows.height >= _FEWEST else None
    same = difference.eq_missing(most)
    if same.sum() < _MOST * rows.height:
        same = pl.repeat(False, rows.height, eager=True)
    once = rows.with_columns(same=same, count=same.sum())
    once = once.filter(~pl.col("same") | (pl.col("same").cum_sum() == 1))
    hint = "write the offsets of the first and the last character of the mention"
    return once.with_columns(
        hint=first_case((pl.col("same"), pl.format(_ALIKE, "count")), otherwise=hint)
    )


one_length = Conclusion(lambda _: (), conclude_lengths)


def _same_extent(context: RuleContext) -> pl.LazyFrame:
    """The mentions with the extent of another one, and whether an earlier one is equal."""
    rows = context.cached(mentions).filter(row_hash(*EXTENT).is_duplicated())
    return rows.with_columns(
        first=pl.col("record").first().over(EXTENT),
        again=~pl.struct(*EXTENT, *FIELDS).is_first_distinct(),
        ordinal=pl.int_range(pl.len()).over(EXTENT),
    )


def line_twice(context: RuleContext) -> pl.LazyFrame:
    """A mention that is equal to an earlier one."""
    first = pl.col("record").first().over(*EXTENT, *FIELDS)
    found = context.cached(_same_extent).with_columns(first=first)
    return at(found.filter("again"), "")


def same_extent(context: RuleContext) -> pl.LazyFrame:
    """A mention with the extent of an earlier one, but not equal to it."""
    differs = [
        pl.when(pl.col(column).ne_missing(pl.col(column).first().over(EXTENT))).then(pl.lit(name))
        for column, name in FIELDS.items()
    ]
    names = pl.concat_list(differs).list.drop_nulls().list.join(", ")
    differ = first_case(
        (names == "", "the two lines do not differ in any field that counts"),
        otherwise=pl.format("the two lines differ in {}", names),
    )
    compared = context.cached(_same_extent).with_columns(differ=differ)
    return at(compared.filter(pl.col("ordinal") > 0, ~pl.col("again")), "extent")


# Spans inside each other, and spans that cross: both are found in n log n steps, however many
# overlap; every span is reported at most once, with one other span.


def in_order(spans: pl.DataFrame) -> pl.DataFrame:
    """Each span once, by document and start, the longer first; empty and reversed ones left out.

    Args:
        spans: with the columns `document`, `start` and `end`, half-open.
    """
    proper = spans.filter(pl.col("start") < pl.col("end"))
    ordered = proper.sort(*EXTENT, descending=[False, False, True], maintain_order=True)
    return ordered.filter(pl.any_horizontal(pl.col(EXTENT).ne_missing(pl.col(EXTENT).shift())))


def nestings(spans: pl.DataFrame) -> pl.DataFrame:
    """The spans that lie inside another.

    Args:
        spans: as from `in_order`.

    Returns:
        `inner` and `outer`, indices of `spans`: each inner span once, with the earlier span that
        reaches furthest.

    Examples:
        >>> rows = {"document": [0] * 3, "start": [0, 2, 2], "end": [9, 9, 5]}
        >>> nestings(pl.DataFrame(rows)).rows()
        [(1, 0), (2, 0)]
    """
    size = spans.height
    ranked = spans.with_columns(inner=pl.int_range(pl.len()), rank=pl.col("end").rank("dense"))
    # Where a span ends, and which span that is, as one number: the largest so far is then both.
    both = pl.col("rank").cast(pl.Int64) * size + (size - 1 - pl.col("inner"))
    reach = pl.col("both").cum_max().shift(1).over("document")
    found = ranked.with_columns(both=both).with_columns(reach=reach)
    inside = found.filter(pl.col("reach") // size >= pl.col("rank"))
    return inside.select("inner", outer=size - 1 - pl.col("reach") % size)


def crossings(spans: pl.DataFrame) -> pl.DataFrame:
    """The spans that begin inside an earlier one and end after it.

    Spans are taken from the last to the first, heap by heap of spans that may overlap. The ends of
    all earlier spans are in order; a span is removed when it is passed. The search for the next end
    follows a chain of removed spans, which is shortened on the way, so that it takes no more than a
    few steps.

    Args:
        spans: as from `in_order`.

    Returns:
        `later` and `earlier`, indices of `spans`: each later span once, with the first-ending one
        of those that it crosses.

    Examples:
        >>> rows = {"document": [0] * 3, "start": [0, 2, 9], "end": [5, 9, 12]}
        >>> crossings(pl.DataFrame(rows)).rows()
        [(1, 0)]
    """
    before = pl.col("end").cum_max().shift(1).over("document")
    first = (pl.col("start") >= before).fill_null(value=True)
    heaps = spans.select(
        *("start", "end"), place=pl.int_range(pl.len()), heap=first.cast(pl.Int64).cum_sum()
    )
    heaped = heaps.filter(pl.len().over("heap") > 1).select("heap", "start", "end", "place").rows()
    ends = sorted((heap, end, place) for heap, _, end, place in heaped)
    order = {place: index for index, (_, _, place) in enumerate(ends)}
    following = list(range(len(ends) + 1))
    pairs = []
    for _, group in groupby(reversed(heaped), key=lambda span: span[:2]):
        alike = list(group)
        for _, _, _, place in alike:
            following[order[place]] = order[place] + 1
        for heap, start, end, place in alike:
            index = bisect_right(ends, (heap, start, len(spans)))
            while following[index] != index:
                following[index] = following[following[index]]
                index = following[index]
            if index < len(ends) and ends[index][:2] < (heap, end) and ends[index][0] == heap:
                pairs.append((place, ends[index][2]))
    schema = {"later": pl.Int64, "earlier": pl.Int64}
    return pl.DataFrame(sorted(pairs), schema=schema, orient="row")


def _spans(context: RuleContext) -> pl.LazyFrame:
    """Each extent once of those that overlap another of their document, in their order."""
    spans = in_order(context.cached(mentions).select("row", *EXTENT).collect())
    before = pl.col("end").cum_max().shift(1).over("document")
    inside = (pl.col("start") < before).fill_null(value=False)
    some = spans.filter(inside | inside.shift(-1))["row"]
    placed = context.cached(mentions).select("row", "origin", "record", "id", "name", *EXTENT)
    return some.to_frame().lazy().join(placed, on="row", how="left", maintain_order="left")


def _beside_another(pairs_of: Callable[[pl.DataFrame], pl.DataFrame]) -> Check:
    """The rule about mentions of pairs of extents, each with the other one."""

    def check(context: RuleContext) -> pl.LazyFrame:
        spans = context.cached(_spans).collect()
        spans = spans.with_columns(extent=pl.format("{}-{}", "start", pl.col("end") - 1))
        pairs = pairs_of(spans)
        own, other = (spans[pairs[column]] for column in pairs.columns)
        others = other.select(outer="extent", other="record")
        return at(pl.concat([own, others], how="horizontal").lazy(), "offsets")

    return check


#: A mention that lies inside another, and one that begins inside another and ends after it.
inside_another, across_another = _beside_another(nestings), _beside_another(crossings)

# Mention strings beside the texts at their extents, from which only spaces may differ.


#: Characters on either side in which a mention string is searched.
_WINDOW = 50_000
#: Longest mention string that is searched for, and how many are.
_LONGEST, _SEARCHED = 300, 200
#: Characters by which a text may exceed four times the length of a mention string, and match.
_SLACK = 1000
_COUNT = "count characters from 0; the end offset is that of the last character"


class Convention(NamedTuple):
    """Another way to count offsets: a description, and the fix.

    Where the fix is to subtract a number from each start and from each end, these are `moved`;
    otherwise offsets count units of an `encoding` of some bytes (`width`).
    """

    how: str
    fix: str
    moved: Sequence[int] = (0, 0)
    encoding: str = ""
    width: int = 1

    def cut(self, text: str, data: bytes, start: int, end: int) -> str:
        """The characters between two offsets of a text, whose encoded form is `data`."""
        if not self.encoding:
            return text[max(start - self.moved[0], 0) : max(end - self.moved[1], 0)]
        units = data[self.width * start : self.width * end]
        return units.decode(self.encoding, "replace")


_AS_IT_IS = Convention("", "")
CONVENTIONS = tuple(Convention(**each) for each in VOCABULARY["conventions"])


def compare(rows: pl.DataFrame, documents: pl.DataFrame) -> pl.DataFrame:
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
    lengths = {key: len(text) for key, text in texts.items()}
    length = pl.col("document").replace_strict(lengths, default=None, return_dtype=pl.Int64)
    given = pl.col("text").fill_null("")
    both = some.with_columns(_slices(some, texts, _AS_IT_IS), given=given, length=length)
    both = both.with_columns(given=normal_form("given"), found=normal_form("found"))
    inside = pl.col("end") <= pl.col("length")
    return both.with_columns(fits=inside & (pl.col("given") == pl.col("found")))


def _texts(documents: pl.DataFrame) -> dict[int, str]:
    return dict(documents.select("row", "text").drop_nulls("text").iter_rows())


def _slices(rows: pl.DataFrame, texts: Mapping[int, str], convention: Convention) -> pl.Series:
    """The texts at the extents of mentions, cut where they are much longer than the mention."""
    columns = rows.select("document", "start", "end", pl.col("text").fill_null("")).iter_rows()
    found, encoded, data = list[str](), -1, b""
    for document, start, end, string in columns:
        if convention.encoding and document != encoded:  # the latest is kept
            data = texts[document].encode(convention.encoding, "surrogatepass")
            encoded = document
        last = min(end, start + 4 * len(string) + _SLACK)
        found.append(convention.cut(texts[document], data, start, last))
    return pl.Series("found", found, dtype=pl.String)


def _fitting_rows(
    rows: pl.DataFrame, texts: Mapping[int, str], convention: Convention
) -> pl.DataFrame:
    """The mentions whose string is the text at their extent by another convention."""
    tried = rows.with_columns(_slices(rows, texts, convention)).with_columns(normal_form("found"))
    return tried.filter(pl.col("found") == pl.col("given"), pl.col("given") != "")


def _comparison(context: RuleContext) -> pl.LazyFrame:
    """The mentions in documents with a text, and whether they fit that."""
    rows = only_if(not context.own, context.cached(mentions))
    # another rule reports what ends before it starts
    proper = rows.filter(pl.col("start") < pl.col("end"))
    return compare(proper.collect(), context.against.documents).lazy()


def _explanation(context: RuleContext) -> tuple[Convention | None, pl.DataFrame]:
    """The convention by which most mentions that do not fit would fit, and those that still do not.

    There is none if fewer than three mentions do not fit.
    """
    rows = context.cached(_comparison).collect()
    misfits = rows.filter(~pl.col("fits")).sort("document", maintain_order=True)
    fitting = rows.filter("fits").sort("document", maintain_order=True)
    texts = _texts(context.against.documents)
    for convention in CONVENTIONS if misfits.height >= _FEWEST else ():
        fits = _fitting_rows(misfits, texts, convention)
        if fits.height < _MOST * misfits.height:
            continue
        # Of few misfits it only is the cause if it explains all other mentions too: a count of
        # units differs from characters only after the first character of several.
        few = misfits.height < rows.height // 4
        if not few or _fitting_rows(fitting, texts, convention).height == fitting.height:
            return convention, misfits.join(fits, on="row", how="anti").sort("row")
    return None, rows.filter(~pl.col("fits"))


def _with_hints(rows: pl.DataFrame, context: RuleContext) -> pl.DataFrame:
    """Mentions that do not fit with the places of their strings as `hint`, of the first few."""
    texts = _texts(context.against.documents)
    columns = rows.head(_SEARCHED).select("document", "start", "given").iter_rows()
    hints = [_nearest(texts[document], start, string) for document, start, string in columns]
    hints += [_COUNT] * (rows.height - len(hints))
    return rows.with_columns(pl.Series("hint", hints, dtype=pl.String))


def _nearest(text: str, start: int, string: str) -> str:
    """The occurrence of a mention string in a text that is nearest to an offset, as a hint."""
    words = [re.escape(word).replace("\\-", "-(?:\r?\n)?") for word in string.split()]
    if not words or len(string) > _LONGEST:
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


def outside_text(context: RuleContext) -> pl.LazyFrame:
    """A mention that ends after the end of its document."""
    _, misfits = context.once(_explanation)
    found = _with_hints(misfits.filter(pl.col("end") > pl.col("length")), context)
    offsets = {"last": pl.col("end") - 1, "largest": pl.col("length") - 1}
    return at(found.with_columns(document=quote("name"), **offsets).lazy(), "offsets")


def other_text(context: RuleContext) -> pl.LazyFrame:
    """A mention whose string differs from the text at its offsets."""
    _, misfits = context.once(_explanation)
    some = pl.col("given").str.strip_chars() != ""  # another rule reports a missing string
    found = _with_hints(misfits.filter(some, pl.col("end") <= pl.col("length")), context)
    same = pl.col("given").str.to_lowercase() == pl.col("found").str.to_lowercase()
    unquoted = pl.col("given").str.extract('^"(.*)"$').str.replace_all('""', '"', literal=True)
    hint = first_case(
        (same, "copy the mention string from the text, with its capitals"),
        (unquoted == pl.col("found"), "remove the quotation marks around the mention string"),
        otherwise=pl.col("hint"),
    )
    rows = found.with_columns(hint=hint, given=quote("given"), found=quote("found"))
    return at(rows.lazy(), "offsets")


def other_convention(context: RuleContext) -> pl.LazyFrame:
    """A submission whose offsets fit if they are counted in another way."""
    convention, rest = context.once(_explanation)
    how, hint = convention[:2] if convention else ("", "")
    if right_offsets(context).height:
        hint = f"{hint}; --fix --unsafe-fixes does so"
    misfits = context.cached(_comparison).collect().filter(~pl.col("fits")).height
    summary = {"count": misfits - rest.height, "all": misfits, "how": how, "hint": hint}
    return about_submission(only_if(convention is not None, pl.LazyFrame([summary])))


_CORRECTIONS = {"origin": pl.Int64, "record": pl.Int64, "field": pl.String, "put": pl.String}
#: The format in which both offsets are one field.
_FORMAT = "edl-tab"


def right_offsets(context: RuleContext) -> pl.DataFrame:
    """The corrections of offsets counted in another way: `origin`, `record`, `field` and `put`.

    There are no rows unless the correction is certain: the text of every mention is known, and
    every mention fits afterwards. Lines that cannot be read would stay as they are.
    """
    rows, system = context.cached(_comparison).collect(), context.system
    convention, _ = context.once(_explanation)
    other = system.rejected_records.height or rows.height < system.mentions.height
    other = other or (system.sources["format"] != _FORMAT).any()
    if convention is None or convention.encoding or other:
        return pl.DataFrame(schema=_CORRECTIONS)
    # all mentions fit by it, those too that fit without it
    if _fitting_rows(rows, _texts(context.against.documents), convention).height < rows.height:
        return pl.DataFrame(schema=_CORRECTIONS)
    start, end = convention.moved
    put = pl.format("{}-{}", pl.col("start") - start, pl.col("end") - 1 - end)
    return rows.with_columns(put=put, field=pl.lit("offsets")).select(*_CORRECTIONS)
