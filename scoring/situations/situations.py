"""Situation frames on their way through scoring: projected, merged, paired, and reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from unicodedata import normalize

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.matching import Pair, gains, optimal
from hlteval.scoring.similarity import UNIT, similarities

Schema = Mapping[str, pl.DataType | type[pl.DataType]]

#: The layers by the names of their metrics, with the names of the specification.
LAYERS = {"relevance": "Relevance", "type": "Type", "type+place": "Type+Place"}

#: What each system frame adds to a layer (`matched` in units, and `frames` after merging); the
#: frames as they were submitted, as the layer `submitted`; and the `references` of a segment and
#: type.
COUNTS: Schema = {
    **dict.fromkeys(("document", "layer", "label"), pl.String),
    "confidence": pl.Float64,
    **dict.fromkeys(("record", "matched", "frames", "references"), pl.Int64),
}

#: A row per pair of merged frames, or frame without a partner, when all frames count; `outcome` is
#: `matched`, `missed`, `false positive`, or `left out` (of an ambiguous segment, at Type+Place).
ALIGNMENT: Schema = {
    **dict.fromkeys(("layer", "document", "type", "reference_place", "system_place"), pl.String),
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
    """The places that a frame of an ambiguous block may be at, each in a segment (section 4)."""
    return corpus.arguments.filter(pl.col("role") == "Place")


def project(frames: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Project frames to a layer: those with all its parts, the first of each kind (section 2)."""
    merged = frames.drop_nulls(keys).unique([*keys], keep="first", maintain_order=True)
    parts = (
        pl.col(name) if name in keys else pl.lit(None, pl.String).alias(name)
        for name in ("document", "label", "place")
    )
    return merged.select(*parts, "confidence", "record")


def match_frames(
    left: pl.DataFrame, right: pl.DataFrame, keys: Sequence[str], *, exact: bool
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Pair the frames of a layer so that the summed similarity is greatest (section 2.2).

    Frames of equal segments and types are similar as their places are, if the layer has places.

    Args:
        left: the frames of the reference, as from `project`.
        right: those of the system, the most confident first.
        keys: the parts of the layer.
        exact: whether only equal places are similar.

    Returns:
        What each frame of the system adds, as `matched`, and the pairs: `reference`, `system` and
        `weight`.
    """
    group = list(keys[:2])
    ours = left.select(*group, "place", reference=pl.int_range(pl.len(), dtype=pl.Int64))
    theirs = right.with_columns(system=pl.int_range(pl.len(), dtype=pl.Int64))
    both = theirs.join(ours, on=group, suffix="_reference", maintain_order="left")
    weights: pl.Series | pl.Expr = pl.lit(UNIT, pl.Int64)
    if "place" in keys:
        weights = similarities(both["place_reference"], both["place"], exact=exact)
    both = both.with_columns(weight=weights).filter(pl.col("weight") > 0)
    both = both.with_columns(
        is_contested=(pl.col("reference").n_unique().over(group) > 1)
        & (pl.col("system").n_unique().over(group) > 1)
    )
    # one frame on either side: the best similarity so far is what counts
    simple = both.filter(~pl.col("is_contested"))
    best = simple.group_by(*group, "system", maintain_order=True).agg(pl.col("weight").max())
    reached = best.sort("system").with_columns(best=pl.col("weight").cum_max().over(group))
    before = pl.col("best").shift(1, fill_value=0).over(group)
    added = [reached.select("system", matched=pl.col("best") - before)]
    falling = simple.sort("weight", descending=True, maintain_order=True)
    pair = ["reference", "system", "weight"]
    pairs = [falling.unique(group, keep="first", maintain_order=True).select(pair)]
    # several frames on both sides: an assignment grows with each frame
    groups: dict[object, list[Pair]] = {}
    contested = both.filter("is_contested").sort("system")
    for *name, reference, system, weight in contested.select(*group, *pair).iter_rows():
        groups.setdefault((*name,), []).append(Pair(reference, system, weight))
    gained = [gain for candidates in groups.values() for gain in gains(candidates)]
    chosen = [own for candidates in groups.values() for own in optimal(candidates)]
    added.append(pl.DataFrame(gained, added[0].schema, orient="row"))
    pairs.append(pl.DataFrame(chosen, pairs[0].schema, orient="row"))
    gain = pl.concat(added).group_by("system").agg(pl.col("matched").sum())
    changes = theirs.join(gain, on="system", how="left")
    return changes.with_columns(pl.col("matched").fill_null(0)), pl.concat(pairs)


def align_frames(
    layer: str, left: pl.DataFrame, right: pl.DataFrame, pairs: pl.DataFrame
) -> pl.DataFrame:
    """Pairs, then the rest of the reference, then the rest of the system, by segment."""
    number = pl.int_range(pl.len(), dtype=pl.Int64)
    ours = left.select("document", "label", reference=number, reference_place="place")
    theirs = right.rename({"place": "system_place"}).with_columns(system=number)
    matched = pairs.join(ours, on="reference").join(theirs.drop("document", "label"), on="system")
    outcomes = {
        "matched": matched,
        "missed": ours.join(pairs, on="reference", how="anti"),
        "false positive": theirs.join(pairs, on="system", how="anti"),
    }
    rows = [outcome_rows(part, layer, outcome) for outcome, part in outcomes.items()]
    both = pl.concat(rows, how="diagonal")
    return both.sort("document", "label", "record", nulls_last=True)


def outcome_rows(rows: pl.DataFrame, layer: str, outcome: str) -> pl.DataFrame:
    """Frames of one outcome, named as in the alignment."""
    return rows.with_columns(layer=pl.lit(LAYERS[layer]), outcome=pl.lit(outcome))


def with_names(rows: pl.DataFrame, names: pl.DataFrame, schema: Schema) -> pl.DataFrame:
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
NEAR_MISSES: Schema = {
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
    outcome, key = pl.col("outcome"), ["document", "type"]
    localized = aligned.filter(pl.col("layer") == "Type+Place")
    paired = localized.filter(outcome == "matched", pl.col("similarity") < 1)
    missed, wrong = (
        localized.filter(outcome == name, pl.len().over(*key, "outcome") == 1).select(*key, place)
        for name, place in (("missed", "reference_place"), ("false positive", "system_place"))
    )
    alone = wrong.join(missed, on=key).with_columns(similarity=pl.lit(0.0))
    places = ["system_place", "reference_place"]
    both = pl.concat([part.select(*places, "similarity") for part in (paired, alone)])
    rows = both.group_by(places).agg(
        similarity=pl.col("similarity").max(),
        frames=pl.len().cast(pl.Int64),
        gain=(1 - pl.col("similarity")).sum(),
    )
    fixes = [_fix(*names) for names in rows.select(*places, "similarity").iter_rows()]
    fixable = rows.with_columns(fix=pl.Series(fixes, dtype=pl.String)).drop_nulls("fix")
    ordered = fixable.sort("gain", *places, descending=[True, False, False])
    return ordered.select(pl.col(name).cast(dtype) for name, dtype in NEAR_MISSES.items())


def _fix(system: str, reference: str, similarity: float) -> str | None:
    """The option or dictionary that would make two names equal; None if they are too different.

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
