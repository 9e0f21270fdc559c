"""Tables of LTF that several rules use: segments and tokens, each with its problem.

What explains a whole document, or a whole segment, is computed here, so that its parts are not
reported one by one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, groupby
from operator import itemgetter
from typing import NamedTuple

import polars as pl

from hlteval.converters.ltf.tables import LENGTH, MD5
from hlteval.validators.rule import RuleContext, only_if

# LTF documents as a whole: the text beside its length and digest, and explanations of problems.
#
# These functions check single documents and segments: the few in which rules have found a problem.


#: Start and end, half-open, and the annotated text.
Span = tuple[int, int, str]

#: Gaps that are tried one by one for a space in place of a line feed.
_MOST_GAPS = 200
#: Segments that show that a whole document is shifted.
_EVIDENCE = 2
#: Places of a segment in the raw text that are tried.
_MOST_PLACES = 100
#: Line feeds after the last segment that are tried if no length is declared.
_TAILS = 10


class Convention(NamedTuple):
    """A way to count that explains all offsets of a document."""

    what: str
    fix: str


UTF16 = Convention("offsets count UTF-16 code units", "count code points, as Python's len() does")
BYTES = Convention("offsets count UTF-8 bytes", "count code points: decode the text first")
EXCLUSIVE = Convention("each end_char is one past the end", "subtract 1 from every end_char")
ONE_BASED = Convention("offsets are 1-based", "subtract 1 from every start_char and end_char")

_UNITS: Sequence[tuple[Convention, Callable[[str], int], int]] = (
    (UTF16, lambda character: 1 + (character > "\uffff"), 0),
    (BYTES, lambda character: len(character.encode()), 0),
    (EXCLUSIVE, lambda _: 1, 1),
)


def convention(segments: Sequence[tuple[Span, Sequence[Span]]]) -> Convention | None:
    """The known way to count by which all segments and tokens of a document fit, if there is one.

    Args:
        segments: each with its tokens.

    Examples:
        >>> convention([((0, 3, "a😀"), [(0, 1, "a"), (1, 3, "😀")])]).what
        'offsets count UTF-16 code units'
    """
    for known, unit, past in _UNITS:
        if all(_fits(segment, tokens, unit, past) for segment, tokens in segments):
            return known
    for known, unit, _ in _UNITS[:2]:
        if any(_tokens_fit(segments, unit, absolute=absolute) for absolute in (True, False)):
            what = f"segments count code points, but token {known.what}"
            return Convention(what, known.fix)
    return None


def _tokens_fit(
    segments: Sequence[tuple[Span, Sequence[Span]]], unit: Callable[[str], int], *, absolute: bool
) -> bool:
    """Whether only the tokens fit with other units, from the start of the document or segment."""
    before = 0
    for (begin, end, text), tokens in segments:
        offsets = [0, *accumulate(map(unit, text))]
        moved = [(s - before, e - before, token) for s, e, token in tokens]
        segment = (begin, begin + offsets[-1], text)
        if end - begin != len(text) or not _fits(segment, moved if absolute else tokens, unit, 0):
            return False
        before += offsets[-1] - len(text)
    return True


def _fits(segment: Span, tokens: Sequence[Span], unit: Callable[[str], int], past: int) -> bool:
    """Whether a segment and its tokens fit, with other units and ends `past` units later."""
    begin, end, text = segment
    offsets = [0, *accumulate(map(unit, text))]
    if end - begin - past != offsets[-1]:
        return False
    index = {offset: number for number, offset in enumerate(offsets)}
    for start, stop, token in tokens:
        at, to = index.get(start - begin), index.get(stop - past - begin)
        if at is None or to is None or text[at:to] != token:
            return False
    return True


def shifted(content: str, segments: Sequence[Span]) -> Convention | None:
    """The distance by which all segments of a document are beside their text, if there is one.

    Args:
        content: the raw text of the document.
        segments: its segments; of a single one the distance is not evidence.

    Examples:
        >>> shifted("Osh is dry.", [(1, 4, "Osh"), (8, 12, "dry.")]).fix
        'subtract 1 from every start_char and end_char, unless this is another raw text'
    """
    if len(segments) < _EVIDENCE:
        return None
    start, _, longest = max(segments, key=lambda segment: len(segment[2]))
    at = content.find(longest)
    for _ in range(_MOST_PLACES):
        moved = start - at
        if at < 0 or not moved:
            return None
        if all(s >= moved and content.startswith(text, s - moved) for s, _, text in segments):
            return _moved_by(moved)
        at = content.find(longest, at + 1)
    return None


def _moved_by(distance: int) -> Convention:
    size, words = abs(distance), ("larger", "subtract", "from")
    if distance < 0:
        words = ("smaller", "add", "to")
    what = f"all offsets are {size} {words[0]} than in the raw text"
    fix = f"{words[1]} {size} {words[2]} every start_char and end_char"
    return Convention(what, f"{fix}, unless this is another raw text")


def text_convention(content: str, spans: Sequence[Span]) -> Convention | None:
    """The other units by which all annotations of a text fit, if there are any.

    Args:
        content: the text of the document.
        spans: the annotations with their texts.

    Examples:
        >>> text_convention("😀 Osh", [(3, 6, "Osh")]).what
        'offsets count UTF-16 code units'
    """
    for known, unit, _ in _UNITS[:2]:
        offsets = [0, *accumulate(map(unit, content))]
        index = {offset: number for number, offset in enumerate(offsets)}
        places = [(index.get(start), index.get(end), text) for start, end, text in spans]
        if all(
            begin is not None and end is not None and _flat(content[begin:end]) == _flat(text)
            for begin, end, text in places
        ):
            return known
    return None


def _flat(text: str) -> str:
    return re.sub(r"[\r\n]", " ", text)


def shift(segment: Span, tokens: Sequence[Span]) -> int | None:
    """The distance by which a segment must be moved to fit all its tokens; None if there is none.

    Examples:
        >>> shift((0, 5, "ab cd"), [(2, 4, "ab"), (5, 7, "cd")])
        2
    """
    begin, _, text = segment
    if not tokens:
        return None
    start, _, first = tokens[0]
    at = text.find(first) if first else -1
    while at >= 0:
        moved = start - begin - at
        if moved and all(
            text[s - begin - moved : e - begin - moved] == token and s - begin >= moved
            for s, e, token in tokens
        ):
            return moved
        at = text.find(first, at + 1)
    return None


def uncovered(text: str, start: int, tokens: Sequence[tuple[int, int]]) -> tuple[int, str]:
    """The number of characters of a segment, spaces apart, in no token, and the first run of them.

    Examples:
        >>> uncovered("ab, cd", 10, [(10, 12), (14, 16)])
        (1, ',')
    """
    edges = [0, *(edge - start for span in tokens for edge in span), len(text)]
    gaps = (text[begin:end].split() for begin, end in zip(edges[::2], edges[1::2], strict=True))
    left = [run for gap in gaps for run in gap]
    return sum(map(len, left)), left[0]


def where(content: str, text: str, start: int) -> str:
    """The occurrence of a text in a document that is nearest to an offset, as a hint.

    Examples:
        >>> where("Osh and Osh", "Osh", 7)
        'write 8-10, the nearest place with this text'
    """
    after = content.find(text, start) if text else -1
    before = content.rfind(text, 0, start + len(text)) if text else -1
    found = [at for at in (after, before) if at >= 0]
    if not found:
        return "correct the text or check the document, which does not contain it"
    at = min(found, key=lambda place: abs(place - start))
    return f"write {at}-{at + len(text) - 1}, the nearest place with this text"


#: A length that a 64-bit number holds.
_LENGTH = re.compile("0*[0-9]{1,18}")


class TextProblem(NamedTuple):
    """A problem of a document as a whole: a code, and the values of its message."""

    code: str
    values: Mapping[str, object]


def text_problem(
    text: str, ends: Sequence[int], length: str | None, md5: str | None
) -> TextProblem | None:
    r"""The problem of a rebuilt text with its declared length or digest; None if there is none.

    Args:
        text: as rebuilt.
        ends: where each segment ends in it.
        length: as declared.
        md5: as declared.

    Examples:
        >>> text_problem("a\n", [1], "2", hashlib.md5(b"a\n").hexdigest()) is None
        True
        >>> text_problem("abc", [3], "2", None).code
        'LTF503'
    """
    number = int(length) if length is not None and _LENGTH.fullmatch(length) else None
    if length is not None and number is None:
        return TextProblem("LTF502", {"given": length[:40] or "empty"})
    long = number is not None and len(text) > number
    if md5 is not None and (long or md5 not in _digests(text, number)):
        if _one_based(text, number, md5):
            return TextProblem("LTF501", ONE_BASED._asdict())
        if not long:
            hint = _hint(text, ends, md5.strip())
            return TextProblem(
                "LTF504", {"given": md5[:40] or "empty", "digest": digest(text), "hint": hint}
            )
    if number is not None and long:
        more = len(text) - number
        return TextProblem("LTF503", {"given": number, "length": len(text), "more": more})
    return None


def digest(text: str) -> str:
    """The MD5 digest of a text in UTF-8, in hexadecimal."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _digests(text: str, length: int | None) -> Iterator[str]:
    """The right digests: without a declared length, any number of line feeds may follow."""
    yield digest(text)
    if length is None:
        yield from (digest(text + "\n" * count) for count in range(1, _TAILS))


def _one_based(text: str, length: int | None, md5: str) -> bool:
    if not text.startswith("\n"):
        return False
    bare = text[1:]
    short = max(0, (length or 0) - len(bare))
    return md5 in (digest(bare), digest(bare + "\n" * short))


def _hint(text: str, ends: Sequence[int], md5: str) -> str:
    """A possible cause of another digest."""
    if md5.lower() == digest(text):
        return "write the digest in lower case"
    if len(md5) != 32 or set(md5.lower()) - set("0123456789abcdef"):
        return "write an MD5 digest: 32 hexadecimal digits"
    for other in _other_tails(text):
        if digest(other) == md5:
            return f"set raw_text_char_length to {len(other)}, with which the digest matches"
    for what, changed in _variants(text, ends):
        if digest(changed) == md5:
            return f"check the gaps between segments: the digest matches with {what}"
    return "look for a character, in or between segments, that differs from the annotated text"


def _other_tails(text: str) -> Iterator[str]:
    """The text with more or fewer line feeds at its end."""
    for count in range(1, _TAILS):
        yield text + "\n" * count
        if text.endswith("\n" * count):
            yield text[:-count]


def _variants(text: str, ends: Sequence[int]) -> Iterator[tuple[str, str]]:
    """The text with other gaps than line feeds between segments."""
    inner = [end for end in ends[:-1] if text[end : end + 1] == "\n"]
    single = [end for end in inner if text[end : end + 2] != "\n\n"]
    blanked = list(text)
    for end in single:
        blanked[end] = " "
    yield "a space between segments of one line", "".join(blanked)
    yield "CR LF line endings", text.replace("\n\n", "\r\n")
    for end in inner[:_MOST_GAPS]:
        yield f"a space at code point {end}", f"{text[:end]} {text[end + 1 :]}"


#: The end by the text: an end too large is one problem, not another one of the next record.
_SOUND_END = pl.min_horizontal("end", pl.col("start") + pl.col("text").str.len_chars())


def all_documents(context: RuleContext) -> pl.LazyFrame:
    """The documents with the record of their DOC, and the length and digest that it declares."""
    attributes = context.table("attributes", "document", "record", "element", "name", "value")
    own = attributes.filter(pl.col("element") == "DOC")
    declared = own.group_by("document").agg(
        record=pl.col("record").first(),
        length=pl.col("value").filter(pl.col("name") == LENGTH).first(),
        md5=pl.col("value").filter(pl.col("name") == MD5).first(),
    )
    documents = context.table("documents", "row", "origin", "name", "text")
    return documents.with_columns(id="name").join(
        declared, left_on="row", right_on="document", how="left", maintain_order="left"
    )


def all_segments(context: RuleContext) -> pl.LazyFrame:
    """The segments, each with the code of its problem as `problem`."""
    segments = context.records("segments", "start", "end", "text").with_columns(
        element=pl.lit("SEG"),
        width=pl.col("end") - pl.col("start"),
        chars=pl.col("text").str.len_chars().cast(pl.Int64),
        before=_SOUND_END.shift(1).over("document"),
    )
    problem = (
        pl.when(pl.col("width") <= 0)
        .then(pl.lit("LTF301"))
        .when(pl.col("start") < pl.col("before"))
        .then(pl.lit("LTF303"))
        .when(pl.col("width") != pl.col("chars"))
        .then(pl.lit("LTF302"))
    )
    return segments.with_columns(problem=problem)


def all_tokens(context: RuleContext) -> pl.LazyFrame:
    """The tokens beside their segments, each with the code of its problem as `problem`."""
    segments = context.cached(all_segments).select(
        segment_row="row", segment="id", begin="start", stop="end", content="text"
    )
    tokens = context.records("tokens", "segment_row", "start", "end", "text", "pos")
    tokens = tokens.join(segments, on="segment_row", maintain_order="left").with_columns(
        element=pl.lit("TOKEN"),
        width=pl.col("end") - pl.col("start"),
        chars=pl.col("text").str.len_chars().cast(pl.Int64),
    )
    at, width = (pl.col("start") - pl.col("begin")).clip(0), pl.col("width").clip(0)
    cut = tokens.with_columns(actual=pl.col("content").str.slice(at, width))
    placed = cut.collect(engine="in-memory")
    outside = (pl.col("start") < pl.col("begin")) | (pl.col("end") > pl.col("stop"))
    # What is at the offsets of another token may overlap any: that one is wrong, not the next.
    as_long = bool((placed["width"] == placed["chars"]).all())  # usually: texts are cut once
    begun = pl.col("actual") if as_long else pl.col("content").str.slice(at, pl.col("chars"))
    sound = (pl.col("start") >= pl.col("begin")) & (begun == pl.col("text"))
    before = pl.when(sound.fill_null(value=False)).then(_SOUND_END)
    tokens = placed.lazy().with_columns(before=before.shift(1).over("segment_row"))
    problem = (
        pl.when(pl.col("width") <= 0)
        .then(pl.lit("LTF301"))
        .when(outside)
        .then(pl.lit("LTF401"))
        .when(pl.col("start") < pl.col("before"))
        .then(pl.lit("LTF402"))
        .when(pl.col("width") != pl.col("chars"))
        .then(pl.lit("LTF403"))
        .when(pl.col("actual") != pl.col("text"))
        .then(pl.lit("LTF404"))
    )
    return tokens.with_columns(problem=problem)


def all_conventions(context: RuleContext) -> pl.LazyFrame:
    """The documents that another way to count explains: `document`, `what`, `fix`."""
    segments, tokens = context.cached(all_segments), context.cached(all_tokens)
    wrong = pl.concat(rows.drop_nulls("problem").select("document") for rows in (segments, tokens))
    rejected = context.table("rejected_records", "document")
    wrong = wrong.unique().join(rejected, on="document", how="anti")
    rows = []
    for document, parts in _by_document(segments, tokens, wrong):
        known = convention(parts) if all(span[2] is not None for span, _ in parts) else None
        if known:
            rows.append((document, *known))
    rows += _all_shifted(context, wrong)
    return pl.LazyFrame(
        rows, {"document": pl.Int64, "what": pl.String, "fix": pl.String}, orient="row"
    )


def beside_raw(context: RuleContext) -> pl.LazyFrame:
    """The segments without a problem whose raw text is given as `raw`, if it is another there."""
    raw = context.against.documents.lazy().select(document="row", raw="text").drop_nulls()
    raw = only_if(not context.own, raw)
    rows = context.cached(all_segments).filter(pl.col("problem").is_null())
    rows = rows.join(raw, on="document", maintain_order="left")
    rows = rows.with_columns(actual=pl.col("raw").str.slice("start", pl.col("width")))
    return rows.filter(pl.col("actual") != pl.col("text"))


def _all_shifted(context: RuleContext, wrong: pl.LazyFrame) -> list[tuple[int, str, str]]:
    """The documents all of whose segments are as far from their places in the raw text."""
    unlike = context.cached(beside_raw).select("document", "raw").unique("document")
    unlike = unlike.join(wrong, on="document", how="anti")
    texts = dict(unlike.collect().iter_rows())
    chosen = context.cached(all_segments).filter(pl.col("document").is_in(list(texts)))
    spans: dict[int, list[Span]] = {}
    for document, *span in chosen.select("document", "start", "end", "text").collect().iter_rows():
        spans.setdefault(document, []).append((span[0], span[1], span[2] or ""))
    found = ((document, shifted(texts[document], own)) for document, own in spans.items())
    return [(document, *known) for document, known in found if known]


def _by_document(
    segments: pl.LazyFrame, tokens: pl.LazyFrame, documents: pl.LazyFrame
) -> Iterator[tuple[int, list[tuple[Span, list[Span]]]]]:
    """The segments of some documents, each with its tokens."""
    some = documents.collect()
    if some.is_empty():
        return
    chosen = segments.join(some.lazy(), on="document", how="semi", maintain_order="left").collect()
    for document, rows in groupby(
        chosen.select("document", "row", "start", "end", "text").iter_rows(), itemgetter(0)
    ):
        inside = spans_of(tokens.filter(pl.col("document") == document))
        yield document, [((s, e, text), inside.get(row, [])) for _, row, s, e, text in rows]


def spans_of(tokens: pl.LazyFrame) -> dict[int, list[Span]]:
    """Tokens by their segment."""
    found: dict[int, list[Span]] = {}
    for row, *span in tokens.select("segment_row", "start", "end", "text").collect().iter_rows():
        found.setdefault(row, []).append((span[0], span[1], span[2]))
    return found


def all_moved(context: RuleContext) -> pl.LazyFrame:
    """The segments that all their tokens would fit elsewhere: `row`, and how far as `moved`."""
    known = context.cached(all_conventions).select("document")
    tokens = context.cached(all_tokens)
    wrong = tokens.filter(pl.col("problem").is_in(["LTF401", "LTF404"]))
    wrong = wrong.join(known, on="document", how="anti").select(row="segment_row").unique()
    rows = []
    chosen = context.cached(all_segments).join(wrong, on="row", how="semi").collect()
    if chosen.height:
        some = tokens.join(chosen.lazy().select(segment_row="row"), on="segment_row", how="semi")
        inside = spans_of(some)
        for row, start, end, text in chosen.select("row", "start", "end", "text").iter_rows():
            if text is not None and (moved := shift((start, end, text), inside.get(row, []))):
                rows.append((row, moved))
    return pl.LazyFrame(rows, {"row": pl.Int64, "moved": pl.Int64}, orient="row")


def outside_conventions(context: RuleContext, rows: pl.LazyFrame) -> pl.LazyFrame:
    """The rows of documents that no other way to count explains."""
    known = context.cached(all_conventions)
    return rows.join(known, on="document", how="anti", maintain_order="left")


def unexplained(
    table: Callable[[RuleContext], pl.LazyFrame], context: RuleContext, code: str
) -> pl.LazyFrame:
    """The segments or tokens with a problem that nothing larger explains."""
    rows = context.cached(table).filter(pl.col("problem") == code)
    rows = outside_conventions(context, rows)
    if table is all_segments:
        return rows
    moved = context.cached(all_moved).select(segment_row="row")
    return rows.join(moved, on="segment_row", how="anti", maintain_order="left")
