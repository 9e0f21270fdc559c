"""Rules of declared tasks about documents and units: their texts, and what is there twice."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from hlteval.converters.toolkit.quotes import are_at_place, are_quoted
from hlteval.findings.suggest import did_you_mean
from hlteval.representation import row_hash
from hlteval.validators.generic.labels import records
from hlteval.validators.generic.schema import Allowed
from hlteval.validators.names import mismatch
from hlteval.validators.rule import (
    RuleContext,
    about_file,
    about_submission,
    at,
    normalized_spaces,
    only_if,
)
from hlteval.validators.vocabulary import frames, repeats

#: Spans whose text is elsewhere, and the share of them, from which the unit is another one.
_FEWEST, _MOST = 3, 0.5
#: The columns of units that are equal, by table.
_KEYS: Mapping[str, Sequence[str]] = {
    "mentions": ("document", "label", "start", "end", "fragments", "entity"),
    "instances": ("document", "label", "start", "end"),
    "frames": ("document", "label", "trigger", "arguments"),
}


# Documents that only one side has.


def extra_document(context: RuleContext) -> pl.LazyFrame:
    """A document that the reference lacks."""
    others = context.against.documents["name"]
    own = context.own or context.system.documents["name"].equals(others)
    rows = only_if(not own, context.table("documents", "row", "origin", "name"))
    others = others.clear() if own else others
    extra = rows.filter(~pl.col("name").is_in(others.implode())).collect()
    names, known = extra["name"].to_list(), others.to_list() if extra.height else []
    hint = mismatch(known, names) if names and known and len(names) == len(rows.collect()) else ""
    meant = [hint or did_you_mean(name, known, _EXTRA) for name in names]
    hinted = extra.with_columns(hint=pl.Series(meant, dtype=pl.String))
    return about_file(hinted.lazy().rename({"name": "document"}))


_EXTRA = "remove it, or use --lenient: its units then count as wrong"


# Units that are there twice.


def duplicate(context: RuleContext) -> pl.LazyFrame:
    """A unit that is equal to an earlier one of its document."""
    schema: Allowed = context.schema
    key = list(_KEYS.get(schema.table, ()))
    if not key:
        return at(context.records("mentions").head(0).with_columns(first="record"), "")
    if schema.table == "frames":
        return repeats(frames(context), key, "record")
    rows = records(context, *key[1:]).filter(row_hash(*key[:4]).is_duplicated())
    return repeats(rows, key, "record")


def two_entities(context: RuleContext) -> pl.LazyFrame:
    """A mention of a span that an earlier mention has in another entity."""
    schema: Allowed = context.schema
    key = ["document", "start", "end"]
    rows = context.records("mentions", "start", "end", "entity").drop_nulls("entity")
    rows = only_if(schema.unit == "coreference", rows)
    first = {name: pl.col(name).first().over(key) for name in ("entity", "record")}
    rows = rows.with_columns(other=first["entity"], first=first["record"])
    return at(rows.filter(pl.col("entity") != pl.col("other")), "entity")


# Spans beside the texts of their documents.


class _Counting(NamedTuple):
    """A way to count offsets, other than in code points from 0 with exclusive ends.

    Attributes:
        called: what a message calls it.
        fix: what to do about it; empty where formats have a setting for it.
        setting: the value of that setting.
        encoding: in which units are counted.
        width: bytes of a unit.
        newline: what ends a line.
        start: what has to be added to a start.
        end: what has to be added to an end.
    """

    called: str
    fix: str = ""
    setting: str = ""
    encoding: str = ""
    width: int = 1
    newline: str = "\n"
    start: int = 0
    end: int = 0

    def text(self, text: str) -> str | bytes:
        """A text in its units."""
        lines = text if self.newline == "\n" else text.replace("\n", self.newline)
        return lines.encode(self.encoding) if self.encoding else lines

    def quote(self, text: str | bytes, start: int, end: int) -> str:
        """The part of a text, which `text` gives, between two offsets."""
        first, last = self.width * (start + self.start), self.width * (end + self.end)
        part = text[max(first, 0) : max(last, 0)]
        quoted = part if isinstance(part, str) else part.decode(self.encoding, "replace")
        return quoted.replace(self.newline, "\n")


_COUNTINGS = (
    _Counting("UTF-16 code units", setting="utf-16", encoding="utf-16-le", width=2),
    _Counting("bytes of UTF-8", setting="bytes", encoding="utf-8"),
    _Counting("offsets count from 1", "subtract 1 from each start and end", start=-1, end=-1),
    _Counting("ends are the last characters", "add 1 to each end", end=1),
    _Counting("offsets count from 1, and ends are the last characters",
              "subtract 1 from each start", start=-1),
    _Counting("offsets are 1 too small", "add 1 to each start and end", start=1, end=1),
    _Counting("line ends count as two characters", "use the texts with LF as line ends",
              newline="\r\n"),
)  # fmt: skip


class Misfits(NamedTuple):
    """Spans that have another text than they say, and the unit of offsets that explains them.

    Attributes:
        rows: these spans, with the text that is there as `actual`.
        checked: how many spans have a text.
        counting: the way to count that explains most of them; None if none does.
        explained: how many it explains.
    """

    rows: pl.DataFrame
    checked: int
    counting: _Counting | None = None
    explained: int = 0

    @property
    def unit(self) -> str:
        """The setting of formats that explains most of them; empty if none does."""
        return self.counting.setting if self.counting else ""


def misfits(context: RuleContext) -> Misfits:
    """The spans whose text is not at their offsets, white space apart."""
    documents, system = context.against.documents["row", "text"], context.system
    if system.documents["row", "text"].equals(documents):  # then readers may have compared them
        quoted = system.cached(are_at_place)
    else:
        quoted = are_quoted(documents, system.mentions)
    texts = dict(documents.drop_nulls().iter_rows())
    spans = context.records("mentions", "start", "end", "text", "fragments")
    whole = spans.with_columns(quoted=quoted).filter(
        pl.col("fragments").is_null(), pl.col("document").is_in(list(texts))
    )
    every = whole.drop_nulls("text").collect()
    rows = every.filter(~pl.col("quoted")).drop("quoted")
    columns = rows.select("document", "start", "end").iter_rows()
    actual = [texts[document][max(start, 0) : max(end, 0)] for document, start, end in columns]
    rows = rows.with_columns(actual=pl.Series(actual, dtype=pl.String))
    wrong = rows.filter(normalized_spaces("text") != normalized_spaces("actual"))
    if wrong.height < _FEWEST:
        return Misfits(wrong, every.height)
    places = wrong.select("document", "start", "end", "text").rows()
    best, most = None, 0
    for counting in _COUNTINGS:
        own = {row: counting.text(texts[row]) for row in wrong["document"].unique()}
        fitting = sum(
            counting.quote(own[document], start, end) == text
            for document, start, end, text in places
        )
        if fitting > most:
            best, most = counting, fitting
    if most >= _MOST * wrong.height:
        return Misfits(wrong, every.height, best, most)
    return Misfits(wrong, every.height)


def other_unit(context: RuleContext) -> pl.LazyFrame:
    """A submission whose offsets fit if they are counted in another unit."""
    found = context.once(misfits)
    unit = found.counting.called if found.counting else ""
    row = {"count": found.explained, "all": found.rows.height, "unit": unit, "set": found.unit}
    return about_submission(only_if(bool(found.unit), pl.LazyFrame([row])))


def other_counting(context: RuleContext) -> pl.LazyFrame:
    """A submission, or a file of it, whose offsets fit if they are moved alike."""
    found = context.once(misfits)
    counting = found.counting or _Counting("")
    files = found.rows["origin"].unique()
    row: dict[str, object] = {"count": found.explained, "all": found.rows.height}
    row |= {"origin": [*files, 0][0], "cause": counting.called, "hint": counting.fix}
    rows = only_if(bool(counting.fix), pl.LazyFrame([row]))
    return about_file(rows) if len(files) == 1 else about_submission(rows)


def other_text(context: RuleContext) -> pl.LazyFrame:
    """A span whose text is not that of the document at its offsets."""
    found = context.once(misfits)
    rows = found.rows.lazy().filter(pl.col("start") < pl.col("end"))
    shown = {name: pl.col(name).str.head(40) for name in ("text", "actual")}
    return at(only_if(found.counting is None, rows).with_columns(**shown), "text")


def other_tokens(context: RuleContext) -> pl.LazyFrame:
    """The first token of a document that is not that of the reference, where both have tokens."""
    ours, theirs = context.system.tokens, context.against.tokens
    if context.own or ours["document", "text"].equals(theirs["document", "text"]):
        ours, theirs = ours.clear(), theirs.clear()
    columns = ("document", "origin", "record", "text")
    words = ours.lazy().select(*columns, id=pl.lit(None, pl.String))
    others = theirs.lazy().select("document", wanted="text")
    at_place = {"place": pl.int_range(pl.len()).over("document")}
    key = ["document", "place"]
    both = words.with_columns(**at_place).join(
        others.with_columns(**at_place), on=key, how="left", maintain_order="left"
    )
    both = both.join(others.select("document").unique(), on="document", how="semi")
    wrong = both.filter(pl.col("text").ne_missing(pl.col("wanted"))).unique(
        "document", keep="first", maintain_order=True
    )
    beyond = pl.lit("the end of the document")
    wanted = pl.coalesce(pl.format("'{}'", pl.col("wanted").str.head(40)), beyond)
    found = wrong.with_columns(wanted=wanted, given=pl.col("text").str.head(40))
    return at(found, "text")


def outside_text(context: RuleContext) -> pl.LazyFrame:
    """A span that is empty, reversed, or ends after the end of its document."""
    texts = context.against.documents.lazy().drop_nulls("text")
    lengths = texts.select(document="row", length=pl.col("text").str.len_chars())
    spans = context.records("mentions", "start", "end").join(
        lengths, on="document", maintain_order="left"
    )
    wrong = (pl.col("end") > pl.col("length")) | (pl.col("end") <= pl.col("start"))
    return at(spans.filter(wrong), "fragments")


# Turns beside the evaluated stretches.


def outside_stretches(context: RuleContext) -> pl.LazyFrame:
    """A turn that no evaluated stretch of its document overlaps.

    What only the system has is reported as such; of what has no stretch at all, the first turn is.
    """
    schema: Allowed = context.schema
    evaluated = context.lists.get("evaluated")
    turns = context.table("instances", "row", "document", "origin", "record", "start", "end")
    turns = turns.join(context.names, on="document", maintain_order="left")
    turns = turns.with_columns(id=pl.lit(None, pl.String))
    if evaluated is None or schema.unit != "segments":
        return at(turns.head(0), "")
    names = evaluated.documents.select("name", document="row").lazy()
    parts = evaluated.regions.lazy().select("document", begin="start", finish="end")
    parts = parts.join(names, on="document").drop("document")
    inside = turns.join(parts, on="name").filter(
        pl.col("start") < pl.col("finish"), pl.col("begin") < pl.col("end")
    )
    if not context.own and context.against.documents.height:
        turns = turns.filter(pl.col("name").is_in(context.against.documents["name"].implode()))
    silent = ~pl.col("name").is_in(evaluated.documents["name"].implode())
    turns = turns.with_columns(
        hint=pl.when(silent)
        .then(pl.format("add {} to the UEM file, which has nothing of it", "name"))
        .otherwise(pl.lit("check the times, or remove the turn: it does not count"))
    ).filter(~silent | pl.col("name").is_first_distinct())
    return at(turns.join(inside, on="row", how="anti", maintain_order="left"), "start")
