"""The measures of detected norms and emotions, from the evaluation labels of all instances.

Section C.4 of the CCU Phase 1 plan for each class, for all documents and for those of each genre
(text, audio, video), and their means over classes that have references. At the lowest detection
score everything that a system found counts: precision, recall and F1 there, and their scaled
versions, are those of the public scorer.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from hlteval.scoring.ccu.detections import CORRECT, FALSE, MISSED, UNMAPPED, UNWRITTEN
from hlteval.scoring.ccu.spans import average_precision, points
from hlteval.scoring.ratios import rates, side_rates

ALL = "all"
GENRES = ("text", "audio", "video")
GROUP = ("criterion", "genre", "class")
RATES = ("precision", "recall", "f1", "scaled_precision", "scaled_recall", "scaled_f1")
#: The labels of instances of the reference that are counted as missed.
LOST = (MISSED, UNWRITTEN)
MEASURES = ("ap", "ap_interpolated", *RATES)


def by_genre(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of instances, once under their genre and once under all."""
    instances = rows.drop_nulls("outcome")
    return pl.concat([instances.with_columns(genre=pl.lit(ALL)), instances])


def curves(instances: pl.DataFrame) -> pl.DataFrame:
    """The points of each class that has references, as from `average_precision.points`."""
    relevant = _relevant(instances)
    found = instances.filter(pl.col("outcome").is_in([CORRECT, FALSE]))
    own = found.join(relevant, on=GROUP, how="semi").select(
        *GROUP, "llr", hit=pl.col("outcome") == CORRECT
    )
    return points(own, relevant, GROUP)


def _relevant(instances: pl.DataFrame) -> pl.DataFrame:
    """How many instances the reference has, of each class that it has."""
    labels = [CORRECT, *LOST, UNMAPPED]
    expected = instances.filter(
        pl.col("outcome").is_in(labels), pl.col("reference_start").is_not_null()
    )
    return expected.group_by(GROUP).agg(relevant=pl.len().cast(pl.Int64)).sort(GROUP)


def classes(instances: pl.DataFrame, swept: pl.DataFrame) -> pl.DataFrame:
    """The measures of each class that has references: `GROUP`, counts, `llr` and `MEASURES`.

    Those of hidden norms are null if there is no mapping.

    Args:
        instances: as from `by_genre`.
        swept: their `curves`.
    """
    correct, false = pl.col("outcome") == CORRECT, pl.col("outcome") == FALSE
    counts = instances.group_by(GROUP).agg(
        pl.col("disclosure").first(),
        tp=correct.sum().cast(pl.Int64),
        fp=false.sum().cast(pl.Int64),
        md=pl.col("outcome").is_in(LOST).sum().cast(pl.Int64),
        scaled_tp=pl.col("tp_share").filter(correct).sum(),
        beside=pl.col("fp_share").filter(correct).sum(),
        llr=pl.col("llr").filter(correct | false).min(),
    )
    scaled_fp = pl.col("fp") + pl.col("beside")
    found = _relevant(instances).join(counts, on=GROUP, maintain_order="left")
    found = found.with_columns(scaled_fp=scaled_fp).drop("beside")
    areas = average_precision(swept, GROUP)
    joined = found.join(areas, on=GROUP, how="left", maintain_order="left")
    rated = with_rates(joined.with_columns(pl.col("ap", "ap_interpolated").fill_null(0.0)))
    is_scored = pl.col("tp") + pl.col("md") > 0
    return rated.with_columns(pl.when(is_scored).then(pl.col(MEASURES)).name.keep())


def with_rates(counts: pl.DataFrame) -> pl.DataFrame:
    """Counts with precision, recall, F1 and their scaled versions; null where undefined."""
    right, wrong, relevant = pl.col("tp"), pl.col("fp"), pl.col("relevant")
    scaled, beside = pl.col("scaled_tp"), pl.col("scaled_fp")
    shares = side_rates(scaled, scaled + beside, scaled, relevant)
    return counts.with_columns(
        **rates(right, right + wrong, relevant)._asdict(),
        **{f"scaled_{name}": rate for name, rate in shares._asdict().items()},
    )


def means(measured: pl.DataFrame) -> pl.DataFrame:
    """The means over classes that are scored and their rates together, by criterion and genre.

    Args:
        measured: the classes, as from `classes`.
    """
    sums = ("tp", "fp", "md", "relevant", "scaled_tp", "scaled_fp")
    scored = measured.drop_nulls("ap")
    found = scored.group_by("criterion", "genre", maintain_order=True).agg(
        pl.len().alias("classes"),
        *(pl.col(name).mean().alias(f"mean_{name}") for name in MEASURES),
        *(
            pl.col("ap").filter(pl.col("disclosure") == name).mean().alias(f"map_{name}")
            for name in ("known", "hidden")
        ),
        pl.col(sums).sum(),
    )
    return with_rates(found)


def values(
    measured: pl.DataFrame, averaged: pl.DataFrame, criterion: str, ending: str = ""
) -> Iterator[tuple[str, float | None]]:
    """The values of a criterion by name.

    Args:
        measured: the classes.
        averaged: their means.
        criterion: whose values are wanted.
        ending: what is added to their names.
    """
    over = {row["genre"]: row for row in averaged.filter(criterion=criterion).to_dicts()}
    every = over.get(ALL, {})
    yield f"map{ending}", every.get("mean_ap")
    for genre in GENRES:
        yield f"map.{genre}{ending}", over.get(genre, {}).get("mean_ap")
    for name in ("known", "hidden"):
        yield f"map.{name}{ending}", every.get(f"map_{name}")
    yield f"classes{ending}", every.get("classes", 0)
    yield f"map_interpolated{ending}", every.get("mean_ap_interpolated")
    for name in RATES:
        yield f"mean_{name}{ending}", every.get(f"mean_{name}")
        yield f"micro_{name}{ending}", every.get(name)
    own = measured.filter(criterion=criterion, genre=ALL).sort("class").to_dicts()
    for name in MEASURES:
        for row in own:
            yield f"{name}.{row['class']}{ending}", row[name]
