"""The levels that the public scorer compares, for the profile `official`.

It differs from the plan (docs/differences.md) in that

- levels are normalized: those of the reference by annotator, over all its documents; those of the
  system over all its records, whatever their length; 500 or 1 for a document without any is not;
- windows begin at the first level of a side and end at its last one, and are scored where both
  sides have the same; their levels have three decimals;
- text ends after the character that its length names.

Conventions:
    Places are integers: milliseconds, or characters of text.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.ccu.level_options import LevelOptions
from hlteval.scoring.ccu.level_series import decision_units, known_documents
from hlteval.scoring.ccu.level_spans import ABSENT, NO_SCORE, SIDES, events, following, stretches
from hlteval.scoring.ccu.level_system import UNPROCESSED
from hlteval.scoring.ccu.official_inventory import listed
from hlteval.scoring.ccu.official_irregular import as_windows, layers
from hlteval.scoring.ccu.official_normalization import normalized_judgments, normalized_system

#: How long both sides have a level, or only one of them has: seconds, or characters.
COVERAGE = ("both_ref_sys", "only_sys", "only_ref")
_COUNTED = ("listed", "records", "pieces", "level", "square", "no_score")
#: What is counted of a document beside moments: its coverage; and of each side, whether an index
#: lists it, its records of any document, its pieces with a level, the sum of these levels and of
#: their squares, and its other pieces.
FURTHER: Mapping[str, pl.DataType | type[pl.DataType]] = {
    **dict.fromkeys(COVERAGE, pl.Float64),
    **{
        f"{side}_{what}": pl.Float64 if what in {"level", "square"} else pl.Int64
        for side in SIDES
        for what in _COUNTED
    },
    "unprocessed": pl.Int64,
    "crashes": pl.Int64,
}
#: Milliseconds.
WINDOW, SECOND = 2000, 1000


def official_units(
    reference: Corpus, system: Corpus, documents: pl.DataFrame, kind: str, options: LevelOptions
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The decision units that are scored, and what is counted of documents beside them.

    The arguments are those of `plan_units`. All documents of both sides are looked at, since levels
    are normalized over them.

    Returns:
        Units, as `level_units` has them, in seconds or characters; and the counts of `FURTHER`.
    """
    known = documents.drop_nulls("genre")
    judged = normalized_judgments(reference, kind)
    levels, constant = normalized_system(system, kind)
    gold = _placed(judged, known, closed=True)
    said = _placed(levels, known, closed=options.gaps)
    regular, crashing = (
        (said, pl.Series(dtype=pl.Int64)) if options.gaps else as_windows(said, WINDOW)
    )
    units = _units(gold, regular, known, kind)
    covered = _coverage(units, said)
    undefined = said["document"].unique() if constant else said["document"].clear()
    level = pl.when(pl.col("document").is_in(undefined.implode())).then(NO_SCORE)
    scored = units.filter(_scores("reference") & _scores("system") & _MATCHED)
    scored = scored.with_columns(system=level.otherwise("system"))
    every = known_documents(reference, options).drop_nulls("genre")  # also what nobody judged
    own = levels.join(every.select("document"), on="document", maintain_order="left")
    own = own.with_columns(level=level.otherwise("level"), scored=pl.lit(value=True))
    gold = gold.with_columns(scored=pl.col("level").is_not_nan())
    counts = [
        covered,
        _described(gold, "reference"),
        _described(own, "system"),
        listed(reference).with_columns(reference_listed=pl.lit(1)),
        system.documents.filter(pl.col("processed").is_not_null()).select(
            document="row", system_listed=pl.lit(1)
        ),
        levels.group_by("document").agg(system_records=pl.len()),
    ]
    names = pl.concat([reference.documents, system.documents]).select(document="row").unique()
    further = names
    for rows in counts:
        further = further.join(rows, on="document", how="left", maintain_order="left")
    further = further.with_columns(
        unprocessed=pl.col("document").is_in(_unprocessed(known, said).implode()),
        crashes=pl.col("document").is_in(crashing.implode()),
        reference_records=None,
    )
    return scored, further.select(
        "document", *(pl.col(n).cast(t).fill_null(0) for n, t in FURTHER.items())
    )


def crashes(total: pl.DataFrame) -> bool:
    """Whether the public scorer crashes.

    It does without any level of the system, at some overlaps, and where a data type has segments
    of the reference, but none with a level.
    """
    records, found = total["system_records"].sum(), total["crashes"].sum()
    sides = pl.col("reference_pieces").sum(), pl.col("reference_no_score").sum()
    silent = total.group_by("genre").agg(sides).filter(
        pl.col("reference_pieces") == 0, pl.col("reference_no_score") > 0
    )  # fmt: skip
    return total.height > 0 and (records == 0 or found > 0 or silent.height > 0)


#: Whether both sides have a window; in text, a character.
_MATCHED = pl.col("reference_length") == pl.col("system_length")


def _scores(side: str) -> pl.Expr:
    """Whether a side has a unit with a level."""
    return pl.col(side).is_not_null() & pl.col(side).is_not_nan()


def _placed(pieces: pl.DataFrame, documents: pl.DataFrame, *, closed: bool) -> pl.DataFrame:
    """Pieces of the scored documents, half-open, in milliseconds or characters.

    Args:
        pieces: as written.
        documents: those that are scored.
        closed: whether gaps are closed: short ones by the piece before them, others and those at
            both ends of the document are no-score regions, pieces of their own.

    Returns:
        Pieces with `text`.
    """
    own = pieces.join(documents.select("document", "text", "length"), on="document")
    own = own.filter(pl.col("text") | (pl.col("end") > pl.col("start"))).sort("document", "start")
    later = following("start")
    gap = (later - pl.col("end")).round(3)
    short = (gap < pl.when("text").then(10).otherwise(1)) & pl.lit(closed)
    after = pl.col("end") + pl.col("text").cast(pl.Int64)
    own = own.with_columns(end=pl.when(short).then(later).otherwise(after))
    scale = pl.when("text").then(1).otherwise(SECOND)
    places = [
        (pl.col(name) * scale).round().cast(pl.Int64).alias(name) for name in ("start", "end")
    ]
    ends_at = (pl.col("length") * scale).round().cast(pl.Int64) + pl.col("text").cast(pl.Int64)
    own = own.with_columns(*places, length=ends_at)
    return _without_gaps(own) if closed else own.drop("length")


def _without_gaps(pieces: pl.DataFrame) -> pl.DataFrame:
    """The pieces with no-score regions between them, before the first and after the last."""
    first = pl.col("document") != pl.col("document").shift(1)
    later = pl.coalesce(following("start"), "length")
    gaps = [
        pieces.filter(first.fill_null(value=True)).with_columns(start=0, end="start"),
        pieces.with_columns(start="end", end=later),
    ]
    empty = [rows.with_columns(level=pl.lit(NO_SCORE)) for rows in gaps]
    every = pl.concat([pieces, *empty], how="vertical_relaxed").drop("length")
    return every.filter(pl.col("end") > pl.col("start")).sort("document", "start")


def _units(
    gold: pl.DataFrame, said: pl.DataFrame, documents: pl.DataFrame, kind: str
) -> pl.DataFrame:
    """The units of both sides in seconds or characters; levels of windows have three decimals."""
    shift = 1 + max(documents["document"].to_list(), default=0)
    own, twice = layers(_from_their_start(said, shift))
    second = pl.col("document") + 2 * shift
    whole = pl.col("document").is_in(twice["document"].unique().implode())
    gold = pl.concat([gold, gold.filter(whole).with_columns(second)])
    system = _levels_of_all(own, gold, documents, kind, shift)
    system = pl.concat([system, twice.with_columns(second).select(system.columns)])
    parts = _stretches(gold, system)
    parts = parts.filter(pl.col("system").is_not_null() | (pl.col("document") < 2 * shift))
    text = documents.filter("text")["document"]
    text = pl.concat([text, text + 2 * shift])
    units = decision_units(parts, text, WINDOW)
    return _in_seconds(units, pl.col("document").is_in(text.implode())).with_columns(
        pl.col("document") % shift
    )


def _stretches(gold: pl.DataFrame, system: pl.DataFrame) -> pl.DataFrame:
    """The stretches of both sides, each absent where it has no piece."""
    sides = tuple(pieces.sort("document", "start") for pieces in (gold, system))
    changes = [
        events(pieces, name, ABSENT).with_columns(pl.col("at").cast(pl.Int64))
        for name, pieces in zip(SIDES, sides, strict=True)
    ]
    ends = pl.concat([pieces.select("document", until="end") for pieces in sides])
    until = ends.group_by("document").agg(pl.col("until").max())
    opening = until.select("document", at=0, reference=ABSENT, system=ABSENT)
    return stretches(pl.concat([opening, *changes], how="diagonal_relaxed"), until)


def _in_seconds(units: pl.DataFrame, text: pl.Expr) -> pl.DataFrame:
    """Units with places in seconds or characters, and three decimals of levels of windows."""
    lengths = ("start", "end", "reference_length", "system_length")
    rounded = [pl.Series(f"_{side}", units[side].to_numpy().round(3)) for side in SIDES]
    marked = units.with_columns(*rounded, _text=text)
    return marked.with_columns(
        *(pl.when("_text").then(name).otherwise(pl.col(name) / SECOND).alias(name)
          for name in lengths),
        *(pl.when(pl.col("_text") | pl.col(side).is_null()).then(side).otherwise(f"_{side}")
          .alias(side) for side in SIDES),
    )  # fmt: skip


def _from_their_start(said: pl.DataFrame, shift: int) -> pl.DataFrame:
    """Pieces of the system, of some documents under another number and from 0.

    Windows begin with the first level: these documents have no window of the reference.
    """
    begin = pl.when("text").then(0).otherwise(pl.col("start").min().over("document"))
    other = begin % WINDOW != 0
    return said.with_columns(
        pl.col("document") + pl.when(other).then(shift).otherwise(0),
        *(pl.col(name) - pl.when(other).then(begin).otherwise(0) for name in ("start", "end")),
    ).sort("document", "start")


def _unprocessed(documents: pl.DataFrame, said: pl.DataFrame) -> pl.Series:
    """The documents without levels of the system."""
    found = said["document"].unique().implode()
    return documents.filter(~pl.col("document").is_in(found))["document"]


def _levels_of_all(
    said: pl.DataFrame, gold: pl.DataFrame, documents: pl.DataFrame, kind: str, shift: int
) -> pl.DataFrame:
    """The pieces of the system; one level for all of a document without any."""
    own = said.with_columns(pl.col("document") % shift)
    missing = pl.col("document").is_in(_unprocessed(documents, own).implode())
    whole = gold.filter(missing).group_by("document").agg(
        pl.col("start").min(), pl.col("end").max(), level=pl.lit(UNPROCESSED[kind])
    )  # fmt: skip
    return pl.concat([said.select(whole.columns), whole], how="vertical_relaxed").sort(
        "document", "start"
    )


def _coverage(units: pl.DataFrame, said: pl.DataFrame) -> pl.DataFrame:
    """The coverage of each document: a unit that one side only has counts for both."""
    length, other = pl.col("reference_length"), pl.col("system_length")
    single = ~_MATCHED
    rated, silent = _scores("reference"), pl.col("reference").is_nan().fill_null(value=False)
    said_here, gap = _scores("system"), pl.col("system").is_nan().fill_null(value=False)
    both = (
        length.filter(rated & (single | said_here)).sum() + other.filter(single & said_here).sum()
    )
    only_sys = length.filter(silent & (single | said_here)).sum()
    only_ref = length.filter(rated & ~single & gap).sum() + other.filter(single & gap).sum()
    processed = pl.col("document").is_in(said["document"].unique().implode())
    return units.group_by("document").agg(
        both_ref_sys=both, only_sys=only_sys, only_ref=only_ref
    ).with_columns(only_sys=pl.when(processed).then("only_sys").otherwise(0))  # fmt: skip


def _described(pieces: pl.DataFrame, side: str) -> pl.DataFrame:
    """The pieces of a side by document: `FURTHER`."""
    level = pl.col("level").filter("scored")
    counts = {
        "pieces": level.len(),
        "level": level.sum(),
        "square": (level * level).sum(),
        "no_score": (~pl.col("scored")).sum(),
    }
    named = [count.alias(f"{side}_{name}") for name, count in counts.items()]
    return pieces.group_by("document").agg(named)
