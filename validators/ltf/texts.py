"""Rules of LTF about texts: segments (LTF301 to 307), tokens (LTF401 to 407), whole documents.

What explains a whole document or a whole segment is computed here once, so that its parts are not
reported one by one.
"""

from collections.abc import Callable, Sequence

import polars as pl

from hlteval.converters.ltf.tables import FILLED, LENGTH, MD5
from hlteval.validators.ltf.causes import (
    Span,
    common_shift,
    convention,
    nearest_place,
    shift,
    text_problem,
)
from hlteval.validators.rule import RuleContext, at, first_of, only_if

#: The classes of LDC's tokeniser.
_CLASSES = ("word", "punct", "unknown")
#: The end by the text: an end too large is one problem, not another one of the next record.
_SOUND_END = pl.min_horizontal("end", pl.col("start") + pl.col("text").str.len_chars())
#: A way to count that explains the problems of a document: `what` and `fix` are of its message.
CONVENTION = {"document": pl.Int64, "what": pl.String, "fix": pl.String}
_PLACE = {"origin": pl.Int64, "record": pl.Int64, "field": pl.String, "id": pl.String}
#: Gives segments or tokens.
Records = Callable[[RuleContext], pl.LazyFrame]


def first_problem(**conditions: pl.Expr) -> pl.Expr:
    """The code of the first condition of a row that holds; the conditions are named by codes."""
    holds = conditions.items()
    return pl.coalesce(pl.when(condition).then(pl.lit(code)) for code, condition in holds)


def spans_by(owner: str, rows: pl.LazyFrame) -> dict[int, list[Span]]:
    """Segments, tokens or mentions as spans, by their segment or document."""
    spans: dict[int, list[Span]] = {}
    for key, start, end, text in rows.select(owner, "start", "end", "text").collect().iter_rows():
        spans.setdefault(key, []).append((start, end, text))
    return spans


def with_nearest(rows: pl.LazyFrame, content: str) -> pl.LazyFrame:
    """Rows of other text than `content` has there: this `actual`, and a place of theirs as `hint`.

    Args:
        rows: with the columns `text`, `actual` and `start`.
        content: the column of the text of the document.
    """
    cut = rows.with_columns(pl.col("actual").str.slice(0, 40)).collect()
    places = cut.select(content, pl.col("text").fill_null(""), "start").iter_rows()
    hints = [nearest_place(*place) for place in places]
    return cut.lazy().with_columns(hint=pl.Series(hints, dtype=pl.String))


# The tables that several rules use.


def all_documents(context: RuleContext) -> pl.LazyFrame:
    """The documents with the record of their DOC, and the length and digest that it declares."""
    attributes = context.table("attributes", "document", "record", "element", "name", "value")
    length, md5 = (pl.col("value").filter(pl.col("name") == name).first() for name in (LENGTH, MD5))
    of_documents = attributes.filter(element="DOC").group_by(row="document")
    declared = of_documents.agg(record=pl.col("record").first(), length=length, md5=md5)
    documents = context.table("documents", "row", "origin", "name", "text")
    documents = documents.with_columns(id="name")
    return documents.join(declared, on="row", how="left", maintain_order="left")


def all_segments(context: RuleContext) -> pl.LazyFrame:
    """The segments, each with the code of its problem as `problem`."""
    segments = _with_sizes(context.records("segments", "start", "end", "text"), "SEG")
    segments = segments.with_columns(before=_SOUND_END.shift(1).over("document"))
    return segments.with_columns(
        problem=first_problem(
            LTF301=pl.col("width") <= 0,
            LTF303=pl.col("start") < pl.col("before"),
            LTF302=pl.col("width") != pl.col("chars"),
        )
    )


def _with_sizes(rows: pl.LazyFrame, element: str) -> pl.LazyFrame:
    """Rows with their element, the `width` between their offsets and the `chars` of their text."""
    chars = pl.col("text").str.len_chars().cast(pl.Int64)
    width = pl.col("end") - pl.col("start")
    return rows.with_columns(element=pl.lit(element), width=width, chars=chars)


def all_tokens(context: RuleContext) -> pl.LazyFrame:
    """The tokens beside their segments, each with the code of its problem as `problem`."""
    segments = context.cached(all_segments).select(
        segment_row="row", segment="id", begin="start", stop="end", content="text"
    )
    tokens = context.records("tokens", "segment_row", "start", "end", "text", "pos")
    tokens = tokens.join(segments, on="segment_row", maintain_order="left")
    tokens = _with_sizes(tokens, "TOKEN")
    start = (pl.col("start") - pl.col("begin")).clip(0)
    tokens = tokens.with_columns(actual=pl.col("content").str.slice(start, pl.col("chars")))
    # What is at the offsets of another token may overlap any: that one is wrong, not the next.
    sound = (pl.col("start") >= pl.col("begin")) & (pl.col("actual") == pl.col("text"))
    before = pl.when(sound.fill_null(value=False)).then(_SOUND_END)
    return tokens.with_columns(before=before.shift(1).over("segment_row")).with_columns(
        problem=first_problem(
            LTF301=pl.col("width") <= 0,
            LTF401=(pl.col("start") < pl.col("begin")) | (pl.col("end") > pl.col("stop")),
            LTF402=pl.col("start") < pl.col("before"),
            LTF403=pl.col("width") != pl.col("chars"),
            LTF404=pl.col("actual") != pl.col("text"),
        )
    )


def beside_raw(context: RuleContext) -> pl.LazyFrame:
    """The segments without a problem whose raw text is given as `raw`, if it is another there."""
    raw = context.against.documents.lazy().select(document="row", raw="text").drop_nulls()
    rows = context.cached(all_segments).filter(pl.col("problem").is_null())
    rows = rows.join(only_if(not context.own, raw), on="document", maintain_order="left")
    rows = rows.with_columns(actual=pl.col("raw").str.slice("start", pl.col("width")))
    return rows.filter(pl.col("actual") != pl.col("text"))


def all_conventions(context: RuleContext) -> pl.LazyFrame:
    """The documents that another way to count explains: the columns of `CONVENTION`.

    All offsets of a document are as far from their places in the raw text, or count other units.
    """
    segments, tokens = context.cached(all_segments), context.cached(all_tokens)
    wrong = pl.concat(rows.drop_nulls("problem").select("document") for rows in (segments, tokens))
    rejected = context.table("rejected_records", "document")
    wrong = wrong.unique().join(rejected, on="document", how="anti")
    inside = spans_by("segment_row", tokens.join(wrong, on="document", how="semi"))
    parts: dict[int, list[tuple[Span, list[Span]]]] = {}
    chosen = segments.join(wrong, on="document", how="semi", maintain_order="left")
    chosen = chosen.filter(pl.col("text").is_not_null().all().over("document"))
    columns = ("document", "row", "start", "end", "text")
    for document, row, *span in chosen.select(columns).collect().iter_rows():
        parts.setdefault(document, []).append(((span[0], span[1], span[2]), inside.get(row, [])))
    rows = [(document, convention(spans)) for document, spans in parts.items()]
    unlike = context.cached(beside_raw).select("document", "raw").unique("document")
    texts = dict(unlike.join(wrong, on="document", how="anti").collect().iter_rows())
    beside = segments.filter(pl.col("document").is_in(list(texts)))
    every = spans_by("document", beside.with_columns(pl.col("text").fill_null("")))
    rows += [(document, common_shift(texts[document], spans)) for document, spans in every.items()]
    explained = [(document, *known) for document, known in rows if known]
    return pl.LazyFrame(explained, CONVENTION, orient="row")


def all_moved(context: RuleContext) -> pl.LazyFrame:
    """The segments that all their tokens would fit elsewhere: `row`, and how far as `moved`."""
    tokens = context.cached(all_tokens)
    wrong = tokens.filter(pl.col("problem").is_in(["LTF401", "LTF404"]))
    wrong = outside_conventions(context, wrong).select("segment_row").unique()
    inside = spans_by("segment_row", tokens.join(wrong, on="segment_row", how="semi"))
    known = pl.col("row").is_in(list(inside)) & pl.col("text").is_not_null()
    segments = context.cached(all_segments).filter(known)
    rows = [(row, shift(spans[0], inside[row])) for row, spans in spans_by("row", segments).items()]
    schema = {"row": pl.Int64, "moved": pl.Int64}
    return pl.LazyFrame([row for row in rows if row[1]], schema, orient="row")


def outside_conventions(context: RuleContext, rows: pl.LazyFrame) -> pl.LazyFrame:
    """The rows of documents that no other way to count explains."""
    known = context.cached(all_conventions)
    return rows.join(known, on="document", how="anti", maintain_order="left")


# The rules.


def offset_problem(
    context: RuleContext, code: str, field: str, tables: Sequence[Records]
) -> pl.LazyFrame:
    """The segments or tokens with a problem that nothing larger explains, with inclusive ends."""
    moved = context.cached(all_moved).select(segment_row="row")
    parts = []
    for table in tables:
        rows = outside_conventions(context, context.cached(table).filter(problem=code))
        if table is all_tokens:
            rows = rows.join(moved, on="segment_row", how="anti", maintain_order="left")
        parts.append(rows.with_columns(pl.col("^(end|before|stop)$") - 1))
    return at(pl.concat(parts, how="diagonal"), field)


def segment_overlap(context: RuleContext) -> pl.LazyFrame:
    """A segment that begins before the end of the previous one."""
    rows = offset_problem(context, "LTF303", "start_char", (all_segments,))
    rows = rows.join(context.cached(all_moved), on="row", how="left", maintain_order="left")
    right = pl.col("start") + pl.col("moved")
    hint = pl.format("move the segment to {}, where all its tokens fit", right)
    order = "write segments in the order of the text, a line feed or more apart"
    return rows.with_columns(hint=hint.fill_null(order))


def adjacent_segments(context: RuleContext) -> pl.LazyFrame:
    """A segment with nothing between it and the previous one."""
    adjacent = (pl.col("start") == pl.col("before")) & pl.col("problem").is_null()
    rows = context.cached(all_segments).filter(adjacent)
    return at(outside_conventions(context, rows), "start_char")


def no_text(context: RuleContext) -> pl.LazyFrame:
    """Segments without ORIGINAL_TEXT."""
    silent = context.cached(all_segments).filter(pl.col("text").is_null())
    return at(first_of(silent, "document"), "")


def moved_segment(context: RuleContext) -> pl.LazyFrame:
    """A segment that all its tokens would fit elsewhere."""
    rows = context.cached(all_segments).filter(pl.col("problem").is_null())
    rows = rows.join(context.cached(all_moved), on="row", maintain_order="left")
    return at(rows.with_columns(right=pl.col("start") + pl.col("moved")), "start_char")


def other_raw_text(context: RuleContext) -> pl.LazyFrame:
    """A segment that differs from the raw text at its offsets, if there is one."""
    rows = outside_conventions(context, context.cached(beside_raw))
    return at(with_nearest(rows, "raw"), "start_char")


def token_text(context: RuleContext) -> pl.LazyFrame:
    """A token that differs from the text of its segment at its offsets."""
    first = pl.col("begin") + pl.col("content").str.find(pl.col("text"), literal=True)
    right = pl.format("write {}-{}, where this text occurs", first, first + pl.col("chars") - 1)
    # Places of text are bytes, which are code points only where each is one byte.
    is_ascii = pl.col("content").str.len_bytes() == pl.col("content").str.len_chars()
    hint = pl.when(is_ascii).then(right).fill_null("correct the token or its offsets")
    rows = offset_problem(context, "LTF404", "text", (all_tokens,))
    return rows.with_columns(pl.col("actual").str.slice(0, 40), hint=hint)


def uncovered_text(context: RuleContext) -> pl.LazyFrame:
    """A segment with characters that are in no token."""
    # White space is in no token: there is less of it to look for than of anything else.
    visible = pl.col("chars") - pl.col("text").str.count_matches(r"\s").cast(pl.Int64)
    tokens = context.cached(all_tokens)
    is_wrong = pl.col("problem").is_not_null().any()
    inside = tokens.group_by(row="segment_row").agg(covered=visible.sum(), wrong=is_wrong)
    rejected = context.table("rejected_records", "document")
    segments = context.cached(all_segments).filter(pl.col("problem").is_null())
    segments = segments.join(rejected, on="document", how="anti", maintain_order="left")
    segments = segments.join(inside, on="row", how="left", maintain_order="left")
    is_sound = ~pl.col("wrong").fill_null(value=False)
    partly = segments.filter(is_sound & (visible > pl.col("covered").fill_null(0))).collect()
    concerned = tokens.filter(pl.col("segment_row").is_in(partly["row"].implode()))
    spans = spans_by("segment_row", concerned)
    rows = []
    columns = ("row", "origin", "record", "id", "start", "text")
    for row, origin, record, name, start, text in partly.select(columns).iter_rows():
        edges = [0, *(edge - start for s, e, _ in spans.get(row, ()) for edge in (s, e)), len(text)]
        gaps = (text[begin:end] for begin, end in zip(edges[::2], edges[1::2], strict=True))
        runs = [run for gap in gaps for run in gap.split()]
        rows.append((origin, record + 1, "text", name, sum(map(len, runs)), runs[0][:40]))
    return pl.LazyFrame(rows, {**_PLACE, "count": pl.Int64, "given": pl.String}, orient="row")


def blank_in_token(context: RuleContext) -> pl.LazyFrame:
    """A token with white space in it."""
    return at(context.cached(all_tokens).filter(pl.col("text").str.contains(r"\s")), "text")


def unknown_class(context: RuleContext) -> pl.LazyFrame:
    """Tokens of other classes than those of LDC's tokeniser."""
    strange = context.cached(all_tokens).filter(~pl.col("pos").is_in(_CLASSES))
    values = strange.group_by("document").agg(given=pl.col("pos").unique().sort().head(8))
    first = first_of(strange, "document").join(values, on="document", maintain_order="left")
    return at(first.with_columns(given=pl.col("given").list.join(", ")), "pos")


# Rules about the text of a document beside its length and digest (LTF501 to 505).


def _text_problems(context: RuleContext) -> pl.LazyFrame:
    """The problems of texts as a whole: place, `code` and the values of its message.

    The text is the raw one if it is given, else as it was rebuilt.
    """
    segments, known = context.cached(all_segments), context.cached(all_conventions)
    moved = segments.join(context.cached(all_moved), on="row", how="semi")
    wrong = (known, moved, segments.drop_nulls("problem"))
    unfit = pl.concat(rows.select(row="document") for rows in wrong)
    raw = context.against.documents.lazy().select("row", raw="text")
    ends = segments.group_by(row="document", maintain_order=True).agg("end")
    documents = context.cached(all_documents).join(unfit, on="row", how="anti")
    documents = documents.join(only_if(not context.own, raw), on="row", how="left")
    documents = documents.join(ends, on="row", how="left").sort("row")
    columns = ("origin", "record", "id", "end", "length", "md5")
    known_texts = documents.select(pl.coalesce("raw", "text"), *columns).drop_nulls("raw").collect()
    rows = []
    for text, origin, record, name, stops, length, md5 in known_texts.iter_rows():
        if problem := text_problem(text, stops or [], length, md5):
            code, values = problem
            field = {"LTF501": "id", "LTF504": MD5}.get(code, LENGTH)
            place = {"origin": origin, "record": record, "field": field, "id": name, "code": code}
            rows.append({**place, **{key: str(value) for key, value in values.items()}})
    texts = ("code", "what", "fix", "given", "length", "more", "digest", "hint")
    return pl.LazyFrame(rows, {**_PLACE, **dict.fromkeys(texts, pl.String)})


def text_rule(context: RuleContext, code: str) -> pl.LazyFrame:
    """A document whose text does not agree with its declared length or digest."""
    return context.cached(_text_problems).filter(code=code)


def other_convention(context: RuleContext) -> pl.LazyFrame:
    """A document whose offsets count other units than code points."""
    documents = context.cached(all_documents).with_columns(document=pl.col("row"))
    rows = documents.join(context.cached(all_conventions), on="document", maintain_order="left")
    columns = [*_PLACE, "what", "fix"]
    return pl.concat([at(rows, "id").select(columns), text_rule(context, "LTF501").select(columns)])


def far_apart(context: RuleContext) -> pl.LazyFrame:
    """A document most of which would be line feeds."""
    segments = context.cached(all_segments).group_by(row="document")
    texts = segments.agg(complete=pl.col("text").is_not_null().all())
    rejected = context.table("rejected_records", "document").select(row="document")
    documents = context.cached(all_documents).filter(pl.col("text").is_null())
    documents = documents.join(rejected, on="row", how="anti", maintain_order="left")
    documents = documents.join(texts, on="row", how="left", maintain_order="left")
    return at(documents.filter("complete").with_columns(limit=pl.lit(FILLED)), "id")
