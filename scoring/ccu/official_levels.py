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

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.representation import Corpus
from hlteval.scoring.agreement.coefficients import concordance
from hlteval.scoring.ccu import levels, official_files
from hlteval.scoring.ccu.levels import NO_SCORE, PIECE, SIDES, LevelOptions, next_piece
from hlteval.scoring.ccu.official_files import table
from hlteval.scoring.metric import Tables
from hlteval.scoring.ratios import Numbers

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
        total = 0.0
        for here in there:
            at, added, piece = start, 0.0, here
            while pieces[piece][1] < end:
                added += pieces[piece][2] * (pieces[piece][1] - at)
                piece += 1
                at = pieces[piece][0]
            total += added + pieces[piece][2] * (end - at)
        yield start, end, total / (end - start)


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
    return _average_scores(rows.with_columns(annotator=order))


def _average_scores(judgments: pl.DataFrame) -> pl.DataFrame:
    voters = 1 + (pl.col("annotator") != pl.col("annotator").min()).sum()
    level = pl.col("level")
    pieces = judgments.drop_nulls(["start", "end"]).group_by(PIECE).agg(
        level=level.sum() / voters, rated=(voters > 1) & ~level.is_null().any()
    )  # fmt: skip
    scored = pieces.with_columns(level=pl.when("rated").then("level").otherwise(NO_SCORE))
    return scored.select(*PIECE, "level").sort(PIECE)


def normalized_system(system: Corpus, kind: str) -> tuple[pl.DataFrame, bool]:
    """The levels of the system in all documents that it processed: z-scores over its records.

    The standard deviation is that of a population. Bounds of a document that are close are one,
    then repeated records count once.

    Returns:
        Pieces as written; and whether all levels are equal, which gives no z-scores: they are 0.
    """
    rows = system.ratings.filter(
        pl.col("kind") == kind,
        pl.col("document").is_in(levels.processed_documents(system).implode()),
    )
    written = rows.select(*PIECE, "level", text=False).drop_nulls().sort(PIECE)
    pieces = levels.join_close(written).drop("text").unique(maintain_order=True)
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
FURTHER: levels.Schema = {
    **dict.fromkeys(COVERAGE, pl.Float64),
    **{
        f"{side}_{what}": pl.Float64 if what in {"level", "square"} else pl.Int64
        for side in SIDES
        for what in _COUNTED
    },
    **dict.fromkeys(("unprocessed", "crashes"), pl.Int64),
}
#: Milliseconds.
WINDOW, SECOND = 2000, 1000
#: Whether both sides have a window; in text, a character.
_MATCHED = pl.col("reference_length") == pl.col("system_length")


def official_units(
    reference: Corpus, system: Corpus, documents: pl.DataFrame, kind: str, options: LevelOptions
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The decision units that are scored, and what is counted of documents beside them.

    The arguments are those of `plan_units`. All documents of both sides are looked at, since levels
    are normalized over them.

    Returns:
        Units, as `decision_units` has them, in seconds or characters; and the counts of `FURTHER`.
    """
    known = documents.drop_nulls("genre")
    z_scores, constant = normalized_system(system, kind)
    gold = _place_pieces(normalized_judgments(reference, kind), known, closed=True)
    said = _place_pieces(z_scores, known, closed=options.gaps)
    regular, crashing = said, pl.Series(dtype=pl.Int64)
    if not options.gaps:
        regular, crashing = as_windows(said, WINDOW)
    units = _units(gold, regular, known, levels.UNPROCESSED[kind])
    answered = said["document"].unique()
    # Levels that are all equal have no z-scores.
    undefined = answered if constant else answered.clear()
    level = pl.when(pl.col("document").is_in(undefined.implode())).then(NO_SCORE)
    scored = units.filter(_scores("reference") & _scores("system") & _MATCHED)
    scored = scored.with_columns(system=level.otherwise("system"))
    every = levels.known_documents(reference, options).drop_nulls("genre")  # also not judged
    own = z_scores.join(every.select("document"), on="document", maintain_order="left")
    own = own.with_columns(level=level.otherwise("level"), scored=pl.lit(value=True))
    listed = system.documents.filter(pl.col("processed").is_not_null()).select(document="row")
    further = pl.concat([reference.documents, system.documents]).select(document="row").unique()
    for counts in (
        _coverage(units, answered),
        _describe(gold.with_columns(scored=pl.col("level").is_not_nan()), "reference"),
        _describe(own, "system"),
        official_files.documents_of_index(reference).with_columns(reference_listed=1),
        listed.with_columns(system_listed=1),
        z_scores.group_by("document").agg(system_records=pl.len()),
    ):
        further = further.join(counts, on="document", how="left", maintain_order="left")
    further = further.with_columns(
        unprocessed=pl.col("document").is_in(_silent(known, answered).implode()),
        crashes=pl.col("document").is_in(crashing.implode()),
        reference_records=None,
    )
    columns = (pl.col(name).cast(kind).fill_null(0) for name, kind in FURTHER.items())
    return scored, further.select("document", *columns)


def _scores(side: str) -> pl.Expr:
    """Whether a side has a unit with a level."""
    return pl.col(side).is_not_null() & pl.col(side).is_not_nan()


def _place_pieces(pieces: pl.DataFrame, documents: pl.DataFrame, *, closed: bool) -> pl.DataFrame:
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
    later, step = next_piece("start"), pl.col("text").cast(pl.Int64)
    gap = (later - pl.col("end")).round(3)
    short = (gap < pl.when("text").then(10).otherwise(1)) & pl.lit(closed)
    own = own.with_columns(end=pl.when(short).then(later).otherwise(pl.col("end") + step))
    scale = pl.when("text").then(1).otherwise(SECOND)
    places = (pl.col("start", "end", "length") * scale).round().cast(pl.Int64)
    own = own.with_columns(places).with_columns(length=pl.col("length") + step)
    if not closed:
        return own.drop("length")
    first = (pl.col("document") != pl.col("document").shift(1)).fill_null(value=True)
    gaps = [
        own.filter(first).with_columns(start=0, end="start"),
        own.with_columns(start="end", end=pl.coalesce(next_piece("start"), "length")),
    ]
    empty = [rows.with_columns(level=pl.lit(NO_SCORE)) for rows in gaps]
    every = pl.concat([own, *empty], how="vertical_relaxed").drop("length")
    return every.filter(pl.col("end") > pl.col("start")).sort("document", "start")


def _silent(documents: pl.DataFrame, answered: pl.Series) -> pl.Series:
    """The documents without levels of the system."""
    return documents.filter(~pl.col("document").is_in(answered.implode()))["document"]


def _units(
    gold: pl.DataFrame, said: pl.DataFrame, documents: pl.DataFrame, unprocessed: float
) -> pl.DataFrame:
    """The units of both sides in seconds or characters; levels of windows have three decimals.

    Windows begin with the first level of the system: where that is not a window of the reference,
    the document has another number and begins at 0. What two pieces of a text share has a third
    number, by which it counts once more.

    Args:
        gold: the pieces of the reference.
        said: the pieces of the system.
        documents: those that are scored.
        unprocessed: the one level of those without levels of the system.
    """
    shift = 1 + max(documents["document"].to_list(), default=0)
    begin = pl.when("text").then(0).otherwise(pl.col("start").min().over("document"))
    other = begin % WINDOW != 0
    moved = said.with_columns(
        pl.col("document") + pl.when(other).then(shift).otherwise(0),
        *(pl.col(name) - pl.when(other).then(begin).otherwise(0) for name in ("start", "end")),
    )
    own, twice = layers(moved.sort("document", "start"))
    again = pl.col("document") + 2 * shift
    repeated = pl.col("document").is_in(twice["document"].unique().implode())
    gold = pl.concat([gold, gold.filter(repeated).with_columns(again)])
    silent = _silent(documents, (own["document"] % shift).unique())
    whole = gold.filter(pl.col("document").is_in(silent.implode())).group_by("document").agg(
        pl.col("start").min(), pl.col("end").max(), level=pl.lit(unprocessed)
    )  # fmt: skip
    columns = whole.columns
    parts = (own.select(columns), whole, twice.with_columns(again).select(columns))
    system = pl.concat(parts, how="vertical_relaxed").sort("document", "start")

    stretches = _stretches((gold.sort("document", "start"), system))
    stretches = stretches.filter(pl.col("system").is_not_null() | (pl.col("document") < 2 * shift))
    text = documents.filter("text")["document"]
    text = pl.concat([text, text + 2 * shift])
    units = levels.decision_units(stretches, text, WINDOW)
    rounded = [pl.Series(f"_{side}", units[side].to_numpy().round(3)) for side in SIDES]
    marked = units.with_columns(*rounded, _text=pl.col("document").is_in(text.implode()))
    return marked.with_columns(
        pl.col("document") % shift,
        *(pl.when("_text").then(name).otherwise(pl.col(name) / SECOND).alias(name)
          for name in ("start", "end", "reference_length", "system_length")),
        *(pl.when(pl.col("_text") | pl.col(side).is_null()).then(side).otherwise(f"_{side}")
          .alias(side) for side in SIDES),
    )  # fmt: skip


def _stretches(sides: tuple[pl.DataFrame, pl.DataFrame]) -> pl.DataFrame:
    """The stretches of both sides, each absent where it has no piece."""
    absent = levels.ABSENT
    changes = [
        levels.events(pieces, name, absent).with_columns(pl.col("at").cast(pl.Int64))
        for name, pieces in zip(SIDES, sides, strict=True)
    ]
    ends = pl.concat([pieces.select("document", until="end") for pieces in sides])
    until = ends.group_by("document").agg(pl.col("until").max())
    opening = until.select("document", at=0, reference=absent, system=absent)
    return levels.stretches(pl.concat([opening, *changes], how="diagonal_relaxed"), until)


def _coverage(units: pl.DataFrame, answered: pl.Series) -> pl.DataFrame:
    """The coverage of each document: a unit that one side only has counts for both.

    Args:
        units: of both sides.
        answered: the documents that have levels of the system.
    """
    length, other = pl.col("reference_length"), pl.col("system_length")
    single = ~_MATCHED
    rated, silent = _scores("reference"), pl.col("reference").is_nan().fill_null(value=False)
    said, gap = _scores("system"), pl.col("system").is_nan().fill_null(value=False)
    both = length.filter(rated & (single | said)).sum() + other.filter(single & said).sum()
    only_sys = length.filter(silent & (single | said)).sum()
    only_ref = length.filter(rated & ~single & gap).sum() + other.filter(single & gap).sum()
    lengths = zip(COVERAGE, (both, only_sys, only_ref), strict=True)
    covered = units.group_by("document").agg(length.alias(name) for name, length in lengths)
    has_levels = pl.col("document").is_in(answered.implode())
    return covered.with_columns(only_sys=pl.when(has_levels).then("only_sys").otherwise(0))


def _describe(pieces: pl.DataFrame, side: str) -> pl.DataFrame:
    """The pieces of a side by document: `FURTHER`."""
    level = pl.col("level").filter("scored")
    counts = {"pieces": level.len(), "level": level.sum(), "square": (level * level).sum()}
    counts["no_score"] = (~pl.col("scored")).sum()
    return pieces.group_by("document").agg(**{f"{side}_{n}": each for n, each in counts.items()})


# The files that the public scorer of CCU writes for valence and arousal, as it writes them.
#
# Numbers are written as Python shows them, undefined scores as empty cells.


_TEXT = pl.col("genre") == "text"
#: Documents whose units are rows at once: those of all take gigabytes.
_TOGETHER = 100


def level_scores(
    total: pl.DataFrame, values: Mapping[str, float | None]
) -> Iterator[tuple[str, str, float | None]]:
    """The rows of `scores_aggregated.tab`: genre, name and value."""
    yield "all", "CCC", values.get("ccc")
    rated = total.filter(pl.col("reference_pieces") > 0)
    for genre in rated["genre"].unique().sort():
        yield genre, "CCC", values.get(f"ccc.{genre}")
        of_genre = total.filter(pl.col("genre") == genre)
        sums = {name: math.fsum(of_genre[name].to_list()) for name in COVERAGE}
        yield from ((genre, *item) for item in sums.items())
        covered = sums["both_ref_sys"] + sums["only_ref"]
        yield genre, "ref_coverage", sums["both_ref_sys"] / covered if covered else None


def level_statistics(total: pl.DataFrame) -> Iterator[tuple[str, str, str, str]]:
    """The mean and the sample standard deviation of the levels of each side, by genre."""
    for data, side in official_files.NAMES.items():
        values: list[tuple[str, str, float]] = []
        rows = total.filter(pl.col(f"{side}_pieces") > 0).sort("genre")
        for (genre,), own in rows.group_by("genre", maintain_order=True):
            number, level, square = (
                math.fsum(own[f"{side}_{name}"]) for name in ("pieces", "level", "square")
            )
            # in this order, so that what is not a number stays that
            squares = max(square - level * level / number, 0.0)
            variance = squares / (number - 1) if number > 1 else math.nan
            values.append(("mean_level", genre, level / number))
            values.append(("stdev_level", genre, math.sqrt(variance)))
        for name, genre, value in sorted(values, key=lambda item: item[0]):
            short = official_files.whole(value) if value % 1 == 0 else str(round(value, 2))
            yield data, genre, name, short


def units(aligned: pl.DataFrame, kind: str) -> str:
    """The file of all units: each character, each window.

    Args:
        aligned: units of equal levels, with `document`, `genre`, `start`, `units`, `end`,
            `reference` and `system`.
        kind: `valence` or `arousal`.
    """
    shown = [
        pl.col(side).map_elements("{:.3f}".format, pl.String, skip_nulls=False) for side in SIDES
    ]
    step = pl.when(_TEXT).then(1.0).otherwise(WINDOW / SECOND)
    together = pl.col("document").rle_id() // _TOGETHER
    rows = aligned.sort("document", "start").with_columns(*shown, step=step, together=together)
    header = "class\tfile_id\twindow\tref\tsys\tparameters"
    some = (_lines(part, kind) for part in rows.partition_by("together", maintain_order=True))
    return "\n".join([header, *some]) + "\n"


def _lines(levels: pl.DataFrame, kind: str) -> str:
    """The lines of some documents, joined."""
    rows = levels.with_columns(number=pl.int_ranges("units")).explode("number")
    place = (pl.col("start") + pl.col("number") * pl.col("step")).round(3)
    rows = rows.with_columns(start=place).sort("document", "start", maintain_order=True)
    start = pl.col("start")
    until = pl.min_horizontal(start + pl.col("step"), "end").round(3)
    end = pl.when(_TEXT).then(start).otherwise(until)
    window = [pl.lit("{start="), _number(start), pl.lit(",end="), _number(end), pl.lit("}")]
    cells = (pl.lit(kind), "document", pl.concat_str(window), *SIDES, pl.lit("{}"))
    lines: str = rows.select(pl.concat_str(cells, separator="\t").str.join("\n")).item()
    return lines


def _number(value: pl.Expr) -> pl.Expr:
    """A number; without decimals where it is whole."""
    return value.cast(pl.String).str.strip_suffix(".0")


_CRASHES = (
    "no official score: the public scorer crashes on a submission without levels, where a level "
    "ends in a window after all levels that follow it, and where a data type of the reference has "
    "no segment that is scored"
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


@dataclass(frozen=True)
class OfficialLevelDiarization(levels.LevelDiarization):
    """How the public scorer scores levels.

    They are normalized by annotator and by submission, moments are those of a population, windows
    count where both sides have the same. There is no kappa, and no value of single documents.
    """

    schema: ClassVar[levels.Schema] = {**levels.SUMS, **FURTHER}
    sums: ClassVar[tuple[str, ...]] = levels.MOMENTS
    note: ClassVar[str] = ", which is not normalized as other levels are"

    def __post_init__(self) -> None:
        """Hold that the constants are those of the public scorer.

        Raises:
            ValueError: if others were chosen.
        """
        if changed := self.options.changed_constants:
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in changed)
            raise ValueError(f"the official scorer has no {flags}; use --profile plan")

    def decision_units(
        self, reference: Corpus, system: Corpus, documents: pl.DataFrame
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The units of `official_units`."""
        return official_units(reference, system, documents, self.kind, self.options)

    def unit_sums(self) -> list[pl.Expr]:
        """The sums of z-scores as they are."""
        return levels.moments(0)

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], Tables]:
        """The values, and the table `scorings`; none where the scorer crashes."""
        metrics, tables = super().score(total)
        if crashes(total):
            nothing = tables["scorings"].with_columns(value=pl.lit(None, pl.Float64))
            return dict.fromkeys(metrics), {"scorings": nothing}
        return metrics, tables

    def values(self, sums: Mapping[str, Numbers]) -> dict[str, NDArray[np.float64]]:
        """Each value, of an element of the sums each."""
        agreement = concordance(sums, population=True)
        return {"ccc": agreement, "kappa": np.full_like(agreement, np.nan)}

    def of_documents(self, counts: pl.DataFrame) -> NDArray[np.float64]:
        """Nothing of any document by itself."""
        return np.full(counts.height, np.nan)

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """Say what a reader of the values must know."""
        return (_CRASHES,) if crashes(total) else super().notes(total)

    def official_files(self, total: pl.DataFrame) -> dict[str, str]:
        """The files of scores and of statistics."""
        if crashes(total):
            return {}
        task = {"valence": "vd", "arousal": "ad"}[self.kind]
        scores = (
            (task, genre, name, "" if value is None else str(round(float(value), 3)), "{}")
            for genre, name, value in level_scores(total, self.score(total)[0])
        )
        files = {
            data: (int(total[f"{side}_listed"].sum()), int((total[f"{side}_pieces"] > 0).sum()))
            for data, side in official_files.NAMES.items()
        }
        counts = official_files.file_counts(files, int(total["reference_no_score"].sum()))
        statistics = [*level_statistics(total), *counts]
        return {
            "scores_aggregated.tab": table(("task", *official_files.SCORES[1:]), scores),
            "statistics_aggregated.tab": table(official_files.STATISTICS, statistics),
        }

    def error_analysis(
        self, aligned: pl.DataFrame, total: pl.DataFrame
    ) -> tuple[Tables, dict[str, str]]:
        """The confusion of points, and the file of all units that the public scorer writes."""
        tables, _ = super().error_analysis(aligned, total)
        files = {} if crashes(total) else {"segment_diarization.tab": units(aligned, self.kind)}
        return tables, files


def level_diarization(
    profile: str = "plan", options: LevelOptions | None = None, kind: str = "valence"
) -> levels.LevelDiarization:
    """The metric of valence or arousal."""
    metrics = {"plan": levels.LevelDiarization, "official": OfficialLevelDiarization}
    return metrics[profile](profile, options or LevelOptions(), kind)
