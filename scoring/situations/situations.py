"""Situation frames on their way through scoring: projected, merged, paired, and reported."""

from __future__ import annotations

from collections.abc import Mapping
from unicodedata import normalize

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.matching import Pair, gains, optimal
from hlteval.scoring.similarity import UNIT, similarities

#: The layers by the names of their metrics, with the names of the specification.
LAYERS = {"relevance": "Relevance", "type": "Type", "type+place": "Type+Place"}

#: The metrics of each layer; the first is one of the next two, as the profile has it.
FIGURES = ("auc", "auc_anchored", "auc_unanchored", "max_f1")

#: What each system frame adds to a layer (`matched` in units, and `frames` after merging); the
#: frames as they were submitted, as the layer `submitted`; and the `references` of a segment and
#: type.
COUNTS: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "document": pl.String,
    "layer": pl.String,
    "label": pl.String,
    "confidence": pl.Float64,
    "record": pl.Int64,
    "matched": pl.Int64,
    "frames": pl.Int64,
    "references": pl.Int64,
}

#: A row per pair of merged frames, or frame without a partner, when all frames count; `outcome` is
#: `matched`, `missed`, `false positive`, or `left out` (of an ambiguous segment, at Type+Place).
ALIGNMENT: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "layer": pl.String,
    "document": pl.String,
    "type": pl.String,
    "reference_place": pl.String,
    "system_place": pl.String,
    "confidence": pl.Float64,
    "record": pl.Int64,
    "similarity": pl.Float64,
    "outcome": pl.String,
}


def situations(corpus: Corpus) -> pl.DataFrame:
    """The situations of a corpus, with the columns that are compared."""
    columns = ("row", "document", "origin", "record", "label", "place", "confidence")
    return corpus.frames.filter(pl.col("kind") == "situation").select(columns)


def candidate_places(corpus: Corpus) -> pl.DataFrame:
    """The places that a frame of an ambiguous block may be at."""
    return corpus.arguments.filter(pl.col("role") == "Place")


def ambiguous_segments(corpus: Corpus) -> pl.DataFrame:
    """The segments with an ambiguous block."""
    return candidate_places(corpus).select("document").unique()


def by_confidence(frames: pl.DataFrame) -> pl.DataFrame:
    """The most confident frames first, equal ones in the order of the file."""
    order = {"confidence": True, "record": False}
    return frames.sort(
        list(order), descending=list(order.values()), maintain_order=True, nulls_last=True
    )


def projected(frames: pl.DataFrame, keys: tuple[str, ...]) -> pl.DataFrame:
    """The frames of a layer: those with all its parts, the first of each kind."""
    merged = frames.drop_nulls(keys).unique(list(keys), keep="first", maintain_order=True)
    known = {"document", *keys}
    absent = [
        pl.lit(None, pl.String).alias(name) for name in ("label", "place") if name not in known
    ]
    return merged.with_columns(absent).select("document", "label", "place", "confidence", "record")


def equal(
    left: pl.DataFrame, right: pl.DataFrame, keys: tuple[str, ...]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Layers where similarity is 0 or 1: what each frame adds, and the pairs."""
    ours = left.select(*keys, reference=pl.int_range(pl.len(), dtype=pl.Int64))
    theirs = right.with_columns(system=pl.int_range(pl.len(), dtype=pl.Int64))
    joined = theirs.join(ours, on=list(keys), how="left", maintain_order="left")
    hit = pl.col("reference").is_not_null()
    joined = joined.with_columns(matched=pl.when(hit).then(pl.lit(UNIT, pl.Int64)).otherwise(0))
    pairs = joined.filter(hit).select("reference", "system", weight="matched")
    return joined, pairs


def simple(both: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Types with one place on either side: there the best similarity so far is what counts."""
    group = ["document", "label"]
    some = both.filter((pl.col("references") == 1) | (pl.col("systems") == 1))
    best = some.group_by(*group, "system", maintain_order=True).agg(pl.col("weight").max())
    reached = best.sort("system").with_columns(best=pl.col("weight").cum_max().over(group))
    gains = reached.select(
        "system", matched=pl.col("best") - pl.col("best").shift(1, fill_value=0).over(group)
    )
    first = some.sort("weight", descending=True, maintain_order=True)
    pairs = first.unique(group, keep="first", maintain_order=True)
    return gains, pairs.select("reference", "system", "weight")


def contested(both: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Types with several places on both sides: an assignment grows with each frame."""
    some = both.filter((pl.col("references") > 1) & (pl.col("systems") > 1)).sort("system")
    groups: dict[tuple[int, str], list[Pair]] = {}
    rows = some.select("document", "label", "reference", "system", "weight").iter_rows()
    for document, label, *pair in rows:
        groups.setdefault((document, label), []).append(Pair(*pair))
    gained = [gain for candidates in groups.values() for gain in gains(candidates)]
    chosen = [pair for candidates in groups.values() for pair in optimal(candidates)]
    schema = {"reference": pl.Int64, "system": pl.Int64, "weight": pl.Int64}
    return (
        pl.DataFrame(gained, schema={"system": pl.Int64, "matched": pl.Int64}, orient="row"),
        pl.DataFrame(chosen, schema=schema, orient="row"),
    )


def localized(
    left: pl.DataFrame, right: pl.DataFrame, *, exact: bool
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Type+Place, where places are more or less similar: what each frame adds, and the pairs."""
    group = ["document", "label"]
    ours = left.select(*group, "place", reference=pl.int_range(pl.len(), dtype=pl.Int64))
    theirs = right.with_columns(system=pl.int_range(pl.len(), dtype=pl.Int64))
    both = theirs.join(ours, on=group, suffix="_reference", maintain_order="left")
    weights = similarities(both["place_reference"], both["place"], exact=exact)
    both = both.with_columns(weight=weights).filter(pl.col("weight") > 0)
    both = both.with_columns(
        references=pl.col("reference").n_unique().over(group),
        systems=pl.col("system").n_unique().over(group),
    )
    gains, pairs = zip(simple(both), contested(both), strict=True)
    gain = pl.concat(gains).group_by("system").agg(pl.col("matched").sum())
    changes = theirs.join(gain, on="system", how="left")
    return changes.with_columns(pl.col("matched").fill_null(0)), pl.concat(pairs)


def aligned(
    layer: str, left: pl.DataFrame, right: pl.DataFrame, pairs: pl.DataFrame
) -> list[pl.DataFrame]:
    """Pairs, then what is left of the reference, then what is left of the system, by segment."""
    number = pl.int_range(pl.len(), dtype=pl.Int64)
    ours = left.select("document", "label", reference=number, reference_place="place")
    theirs = right.select(
        "document", "label", "confidence", "record", system=number, system_place="place"
    )
    outcomes = {
        "matched": pairs.join(ours, on="reference").join(
            theirs.drop("document", "label"), on="system"
        ),
        "missed": ours.join(pairs, on="reference", how="anti"),
        "false positive": theirs.join(pairs, on="system", how="anti"),
    }
    rows = [_outcome_rows(part, layer, outcome) for outcome, part in outcomes.items()]
    both = pl.concat(rows, how="diagonal")
    return [both.sort("document", "label", "record", nulls_last=True)]


def left_out(
    left: pl.DataFrame, right: pl.DataFrame, ambiguous: pl.DataFrame
) -> list[pl.DataFrame]:
    """The frames of ambiguous segments, which do not count at Type+Place."""
    sides = {"reference_place": left, "system_place": right}
    return [
        _outcome_rows(
            frames.join(ambiguous, on="document", how="semi", maintain_order="left").rename(
                {"place": place}
            ),
            "type+place",
            "left out",
        )
        for place, frames in sides.items()
    ]


def _outcome_rows(rows: pl.DataFrame, layer: str, outcome: str) -> pl.DataFrame:
    """Frames of one outcome, named as in the alignment."""
    return rows.with_columns(layer=pl.lit(LAYERS[layer]), outcome=pl.lit(outcome))


def with_names(
    rows: pl.DataFrame, names: pl.DataFrame, schema: Mapping[str, pl.DataType | type[pl.DataType]]
) -> pl.DataFrame:
    """Rows with the names of their documents, with the columns of a table."""
    joined = rows.join(names, left_on="document", right_on="row", maintain_order="left")
    return joined.with_columns(document="name").select(list(schema))


def readable(rows: pl.DataFrame) -> pl.DataFrame:
    """The alignment as people read it: a match of similar places is a partial one.

    Examples:
        >>> rows = {"outcome": ["matched", "matched"], "similarity": [1.0, 0.8]}
        >>> readable(pl.DataFrame(rows))["outcome"].to_list()
        ['matched', 'partly matched']
    """
    partly = (pl.col("outcome") == "matched") & (pl.col("similarity") < 1)
    return rows.with_columns(
        outcome=pl.when(partly).then(pl.lit("partly matched")).otherwise("outcome")
    )


# Near misses: places that an option or a dictionary would make equal.


#: A row per two names: how alike they are, how many frames have them, how many true positives equal
#: names would add at most (`gain`), and what would make them equal.
NEAR_MISSES: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "system_place": pl.String,
    "reference_place": pl.String,
    "similarity": pl.Float64,
    "frames": pl.Int64,
    "gain": pl.Float64,
    "fix": pl.String,
}

#: Least similarity of two names that a dictionary may be meant to join.
_LEAST = 0.5


def near_misses(aligned: pl.DataFrame) -> pl.DataFrame:
    """The places of the system that are nearly those of the reference, the largest gain first.

    These are paired frames whose places are similar but not equal, and the only frame missed and
    the only false positive of a type in a segment. The first two columns are a line of
    `--place-dictionary`.

    Args:
        aligned: the table `alignment`.

    Returns:
        A table with the columns `NEAR_MISSES`.
    """
    localized = aligned.filter(pl.col("layer") == "Type+Place")
    paired = localized.filter(pl.col("outcome") == "matched", pl.col("similarity") < 1)
    places = ["system_place", "reference_place"]
    key = ["document", "type"]
    sides = (("missed", "reference_place"), ("false positive", "system_place"))
    missed, wrong = (
        localized.filter(pl.col("outcome") == outcome, pl.len().over(*key, "outcome") == 1).select(
            *key, place
        )
        for outcome, place in sides
    )
    alone = wrong.join(missed, on=key).with_columns(similarity=pl.lit(0.0))
    both = pl.concat([part.select(*places, "similarity") for part in (paired, alone)])
    rows = both.group_by(places).agg(
        similarity=pl.col("similarity").max(),
        frames=pl.len().cast(pl.Int64),
        gain=(1 - pl.col("similarity")).sum(),
    )
    fixes = [_fix(*names) for names in rows.select(*places, "similarity").iter_rows()]
    found = rows.with_columns(fix=pl.Series(fixes, dtype=pl.String)).drop_nulls("fix")
    ordered = found.sort("gain", *places, descending=[True, False, False])
    return ordered.select(pl.col(name).cast(dtype) for name, dtype in NEAR_MISSES.items())


def _fix(system: str, reference: str, similarity: float) -> str | None:
    """What would make two names equal; None if they are too different.

    Examples:
        >>> _fix("Osh\u0301", "Os\u0068\u0301", 1.0), _fix("OSH", "Osh", 0.3), _fix("x", "y", 0.0)
        ('--normalize NFC', 'capitals: --place-dictionary', None)
    """
    for form in ("NFC", "NFKC"):
        if normalize(form, system) == normalize(form, reference):
            return f"--normalize {form}"
    if " ".join(system.split()) == " ".join(reference.split()):
        return "spaces: --place-dictionary"
    if system.casefold() == reference.casefold():
        return "capitals: --place-dictionary"
    return "--place-dictionary" if similarity >= _LEAST else None
