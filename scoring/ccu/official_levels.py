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

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.ccu.level_series import (
    ABSENT,
    NO_SCORE,
    PIECE,
    SIDES,
    UNPROCESSED,
    LevelOptions,
    decision_units,
    events,
    following,
    joined,
    known_documents,
    processed,
    stretches,
)
from hlteval.scoring.ccu.official_inventory import listed

# Levels with gaps or overlaps, which the public scorer does not refuse but takes in its own way.
#
# Its validator refuses them; its scorer computes something all the same, and `official` the same.
#
# Conventions:
#     Pieces have `document`, `start`, `end`, `level` and `text`, sorted; milliseconds or
#     characters.


_Piece = tuple[int, int, float]


def as_windows(pieces: pl.DataFrame, window: int) -> tuple[pl.DataFrame, pl.Series]:
    """Pieces of which documents of audio or video with gaps or overlaps have one per window.

    Args:
        pieces: of the system.
        window: its length.

    Returns:
        The pieces, and the documents at which the scorer crashes.
    """
    same = pl.col("document") == pl.col("document").shift(1)
    irregular = same & ~pl.col("text") & (pl.col("start") != pl.col("end").shift(1))
    found = pieces.filter(irregular)["document"].unique().sort()
    mine = pl.col("document").is_in(found.implode())
    rows, crashed = [], []
    for (document,), own in pieces.filter(mine).group_by("document", maintain_order=True):
        try:
            each = _window_levels(own.select("start", "end", "level").rows(), window)
            rows += [(document, *row) for row in each]
        except IndexError:
            crashed.append(document)
    schema = {name: pieces.schema[name] for name in (*PIECE, "level")}
    made = pl.DataFrame(rows, schema=schema, orient="row").with_columns(text=pl.lit(value=False))
    every = pl.concat([pieces.filter(~mine), made.select(pieces.columns)])
    return every.sort("document", "start"), pl.Series(crashed, dtype=pl.Int64)


def _window_levels(pieces: Sequence[_Piece], window: int) -> Iterator[_Piece]:
    """The level of each window: what its pieces add, by the length of the window.

    A piece adds if it is there when the window begins. One that ends before the window also adds
    what follows it: the pieces that end before the window in full, and the next one from its start
    to the end of the window, be that negative.

    Raises:
        IndexError: if no piece follows.
    """
    begin, last = pieces[0][0], max(end for _, end, _ in pieces)
    there: list[int] = []
    number = 0
    for start in range(begin, last, window):
        end = min(start + window, last)
        while number < len(pieces) and pieces[number][0] <= start:
            there.append(number)
            number += 1
        there = [piece for piece in there if pieces[piece][1] > start]
        total = sum(_added(pieces, piece, start, end) for piece in there)
        yield start, end, total / (end - start)


def _added(pieces: Sequence[_Piece], number: int, start: int, end: int) -> float:
    """What a piece adds to a window, with those that follow it there."""
    _, stop, level = pieces[number]
    if end <= stop:
        return level * (end - start)
    total = level * (stop - start)
    number += 1
    while end > pieces[number][1]:
        total += pieces[number][2] * (pieces[number][1] - pieces[number][0])
        number += 1
    return total + pieces[number][2] * (end - pieces[number][0])


def layers(pieces: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Pieces of text without those of their characters that the piece before has too; and these.

    A character in two pieces of different levels counts twice, as one that two neighbours share.

    Examples:
        >>> rows = {"document": [0, 0], "start": [0, 10], "end": [11, 36], "level": [1.0, 2.0]}
        >>> [each.rows() for each in layers(pl.DataFrame({**rows, "text": [True, True]}))]
        [[(0, 0, 11, 1.0, True), (0, 11, 36, 2.0, True)], [(0, 10, 11, 2.0, True)]]
    """
    same = (pl.col("document") == pl.col("document").shift(1)) & pl.col("text")
    over = same & (pl.col("end").shift(1) > pl.col("start"))
    marked = pieces.with_columns(
        _over=over.fill_null(value=False),
        _before=pl.col("end").shift(1),
        _other=(pl.col("level") != pl.col("level").shift(1)).fill_null(value=True),
    )
    start = pl.when("_over").then("_before").otherwise("start")
    first = marked.with_columns(start=start).filter(pl.col("end") > pl.col("start"))
    second = marked.filter("_over", "_other").with_columns(end=pl.min_horizontal("end", "_before"))
    return first.select(pieces.columns), second.select(pieces.columns)


# Levels as the public scorer normalizes them: z-scores.


_RECORD = ("document", "region", "annotator", "level", "bin", "_level", "_bin")


def normalized_judgments(reference: Corpus, kind: str) -> pl.DataFrame:
    """The levels of each segment of the reference, of all documents: averaged z-scores.

    An annotator's levels are z-scores over all of them, by the sample standard deviation; 0 where
    that is 0 or unknown. Records that are repeated count once. The sum is divided by one more than
    the number of judgments that are not by the first annotator: where one repeats another judgment
    of a segment, that is not their number.

    Returns:
        Pieces as written, of each segment once; not-a-number for `noann` or a single judgment.
    """
    own = reference.ratings.filter(pl.col("kind") == kind)
    others = reference.ratings.filter(pl.col("kind") != kind).select(
        "origin", "record", _level="level", _bin="bin"
    )
    rows = own.join(others, on=["origin", "record"], how="left", maintain_order="left")
    rows = rows.unique(_RECORD, keep="first", maintain_order=True)
    level = pl.col("level").cast(pl.Int64)
    mean, deviation = (value.over("annotator") for value in (level.mean(), level.std()))
    score = pl.when(deviation > 0, pl.col("annotator").is_not_null()).then(
        (level - mean) / deviation
    )
    rows = rows.with_columns(level=pl.when(level.is_not_null()).then(score.fill_null(0.0)))
    number = rows["annotator"].cast(pl.Int64, strict=False)
    order = rows["annotator"] if number.null_count() else number
    return _averaged(rows.with_columns(annotator=order))


def _averaged(judgments: pl.DataFrame) -> pl.DataFrame:
    first = pl.col("annotator").min()
    voters = 1 + (pl.col("annotator") != first).sum()
    level = pl.col("level")
    pieces = judgments.drop_nulls(["start", "end"]).group_by(PIECE).agg(
        level=level.sum() / voters, noann=level.is_null().any(), voters=voters
    )  # fmt: skip
    rated = (pl.col("voters") > 1) & ~pl.col("noann")
    scored = pieces.with_columns(level=pl.when(rated).then("level").otherwise(NO_SCORE))
    return scored.select(*PIECE, "level").sort(PIECE)


def normalized_system(system: Corpus, kind: str) -> tuple[pl.DataFrame, bool]:
    """The levels of the system in all documents that it processed: z-scores over its records.

    The standard deviation is that of a population. Bounds of a document that are close are one,
    then repeated records count once.

    Returns:
        Pieces as written; and whether all levels are equal, which gives no z-scores: they are 0.
    """
    rows = system.ratings.filter(
        pl.col("kind") == kind, pl.col("document").is_in(processed(system).implode())
    )
    written = rows.select(*PIECE, "level", text=False).drop_nulls().sort(PIECE)
    pieces = joined(written).drop("text").unique(maintain_order=True)
    mean, deviation = pieces["level"].mean(), pieces["level"].std(ddof=0)
    if not deviation:
        return pieces.with_columns(level=pl.lit(0.0)), not pieces.is_empty()
    return pieces.with_columns(level=(pl.col("level") - mean) / deviation), False


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


# The files that the public scorer of CCU writes for valence and arousal, as it writes them.
#
# Numbers are written as Python shows them, undefined scores as empty cells.


_TASKS: Mapping[str, str] = MappingProxyType({"valence": "vd", "arousal": "ad"})
_DATA: Mapping[str, str] = MappingProxyType({"ref": "reference", "sys": "system"})
#: Seconds.
_WINDOW = 2.0
_TEXT = pl.col("genre") == "text"
#: Documents whose units are rows at once: those of all take gigabytes.
_TOGETHER = 100


def aggregated(
    total: pl.DataFrame, values: Mapping[str, float | None], kind: str
) -> dict[str, str]:
    """The files of scores and of statistics, from the counts of all documents.

    Args:
        total: the counts.
        values: the values by name.
        kind: `valence` or `arousal`.
    """
    scores = ["task\tgenre\tmetric\tvalue\tcorrectness_criteria"]
    scores += [f"{_TASKS[kind]}\t{line}\t{{}}" for line in _level_scores(total, values)]
    statistics = ["data\tgenre\tmetric\tvalue", *_levels(total), *_numbers(total)]
    lines = {"scores_aggregated.tab": scores, "statistics_aggregated.tab": statistics}
    return {name: "\n".join(rows) + "\n" for name, rows in lines.items()}


def _level_scores(total: pl.DataFrame, values: Mapping[str, float | None]) -> Iterator[str]:
    yield f"all\tCCC\t{_rounded(values.get('ccc'))}"
    rated = total.filter(pl.col("reference_pieces") > 0)
    for genre in rated["genre"].unique().sort():
        yield f"{genre}\tCCC\t{_rounded(values.get(f'ccc.{genre}'))}"
        of_genre = total.filter(pl.col("genre") == genre)
        sums = {name: math.fsum(of_genre[name].to_list()) for name in COVERAGE}
        for name, value in sums.items():
            yield f"{genre}\t{name}\t{_rounded(value)}"
        covered = sums["both_ref_sys"] + sums["only_ref"]
        coverage = sums["both_ref_sys"] / covered if covered else None
        yield f"{genre}\tref_coverage\t{_rounded(coverage)}"


def _rounded(value: float | None) -> str:
    return "" if value is None else str(round(float(value), 3))


def _levels(total: pl.DataFrame) -> Iterator[str]:
    """The mean and the sample standard deviation of the levels of each side, by genre."""
    for data, side in _DATA.items():
        rows = total.filter(pl.col(f"{side}_pieces") > 0).sort("genre")
        sums = {
            genre: [math.fsum(own[f"{side}_{name}"]) for name in ("pieces", "level", "square")]
            for (genre,), own in rows.group_by("genre", maintain_order=True)
        }
        for genre, (number, level, _) in sums.items():
            yield f"{data}\t{genre}\tmean_level\t{_short(level / number)}"
        for genre, (number, level, square) in sums.items():
            deviation = math.nan
            if number > 1:
                # in this order, so that what is not a number stays that
                deviation = math.sqrt(max(square - level * level / number, 0.0) / (number - 1))
            yield f"{data}\t{genre}\tstdev_level\t{_short(deviation)}"


def _short(value: float) -> str:
    return str(int(value)) if value % 1 == 0 else str(round(value, 2))


def _numbers(total: pl.DataFrame) -> Iterator[str]:
    """How many documents and no-score regions there are."""
    for data, side in _DATA.items():
        yield f"{data}\tall\tfile_counts\t{total[f'{side}_listed'].sum()}"
        some = pl.col(f"{side}_pieces") > 0
        yield f"{data}\tall\tfile_scoring_counts\t{total.filter(some).height}"
        if data == "ref":
            regions = total[f"{side}_no_score"].sum()
            yield f"{data}\tall\tnoann_segment_scoring_counts\t{regions}"


def units(aligned: pl.DataFrame, kind: str) -> str:
    """The file of all units: each character, each window.

    Args:
        aligned: units of equal levels, with `document`, `genre`, `start`, `units`, `end`,
            `reference` and `system`.
        kind: `valence` or `arousal`.
    """
    levels = [
        pl.col(side).map_elements("{:.3f}".format, pl.String, skip_nulls=False)
        for side in ("reference", "system")
    ]
    step = pl.when(_TEXT).then(1.0).otherwise(_WINDOW)
    together = pl.col("document").rle_id() // _TOGETHER
    rows = aligned.sort("document", "start").with_columns(*levels, step=step, together=together)
    header = "class\tfile_id\twindow\tref\tsys\tparameters"
    some = (_lines(part, kind) for part in rows.partition_by("together", maintain_order=True))
    return "\n".join([header, *some]) + "\n"


def _lines(levels: pl.DataFrame, kind: str) -> str:
    """The lines of some documents, joined."""
    rows = levels.with_columns(number=pl.int_ranges("units")).explode("number")
    place = (pl.col("start") + pl.col("number") * pl.col("step")).round(3)
    rows = rows.with_columns(start=place)
    rows = rows.sort("document", "start", maintain_order=True)
    start = pl.col("start")
    end = (
        pl.when(_TEXT)
        .then(start)
        .otherwise(pl.min_horizontal(start + pl.col("step"), "end").round(3))
    )
    window = [pl.lit("{start="), _number(start), pl.lit(",end="), _number(end), pl.lit("}")]
    cells = (pl.lit(kind), "document", pl.concat_str(window), "reference", "system", pl.lit("{}"))
    lines: str = rows.select(pl.concat_str(cells, separator="\t").str.join("\n")).item()
    return lines


def _number(value: pl.Expr) -> pl.Expr:
    """A number; without decimals where it is whole."""
    whole = value.cast(pl.Int64)
    return pl.when(value == whole).then(whole.cast(pl.String)).otherwise(value.cast(pl.String))
