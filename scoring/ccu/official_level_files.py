"""The files that the public scorer of CCU writes for valence and arousal, as it writes them.

Numbers are written as Python shows them, undefined scores as empty cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import polars as pl

from hlteval.scoring.ccu.official_levels import COVERAGE

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
    scores += [f"{_TASKS[kind]}\t{line}\t{{}}" for line in _scores(total, values)]
    statistics = ["data\tgenre\tmetric\tvalue", *_levels(total), *_numbers(total)]
    lines = {"scores_aggregated.tab": scores, "statistics_aggregated.tab": statistics}
    return {name: "\n".join(rows) + "\n" for name, rows in lines.items()}


def _scores(total: pl.DataFrame, values: Mapping[str, float | None]) -> Iterator[str]:
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
