"""What the metrics of entity discovery and linking mean: each measure from its notation.

G are the reference's and S the system's annotations or clusters, after the filter and by the key.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hlteval.scoring.edl.measures import DEFAULT, OVERLAPS, PLAN, Measure, measure
from hlteval.tasks.statistics import MeasureInfo, Range, StatisticInfo

_PLAN = "LoReHLT 2019 plan, 17.3"
_NUMBER = Range("a number ≥ 0, an integer unless shares are summed", "number", least=0.0)

FIGURES = (
    StatisticInfo(
        "precision",
        "Share of system annotations that are correct.",
        "ptp / (ptp + fp)",
        clause=_PLAN,
    ),
    StatisticInfo(
        "recall",
        "Share of reference annotations that were found.",
        "rtp / (rtp + fn)",
        clause=_PLAN,
    ),
    StatisticInfo(
        "fscore",
        "Harmonic mean of precision and recall; 0 if nothing is right.",
        "2 · precision · recall / (precision + recall)",
        clause=_PLAN,
    ),
    StatisticInfo("ptp", "True positives in the system.", "", _NUMBER, "more", _PLAN),
    StatisticInfo("fp", "False positives.", "", _NUMBER, "less", _PLAN),
    StatisticInfo("rtp", "True positives in the reference.", "", _NUMBER, "more", _PLAN),
    StatisticInfo("fn", "False negatives.", "", _NUMBER, "less", _PLAN),
)

_ALIGNED = "summed over the one-to-one cluster alignment that maximizes it"
_COUNTED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "sets": (
            "distinct {key} on both sides",
            "ptp = rtp = |G ∩ S|, ptp + fp = |S|, rtp + fn = |G|",
        ),
        "overlap": (
            "share of each of the {key} covered by the other side",
            "ptp = Σ over S of the share covered {y}, rtp = Σ over G of the share covered {x}; "
            "ptp + fp = |S|, rtp + fn = |G|",
        ),
        "mention_ceaf": (
            "CEAF with φ₃ over {key}",
            f"ptp = rtp = |G ∩ S| {_ALIGNED}; ptp + fp, rtp + fn = items of S, of G",
        ),
        "entity_ceaf": (
            "CEAF with φ₄ over {key}",
            f"ptp = rtp = 2|G ∩ S| / (|G| + |S|) {_ALIGNED}; ptp + fp, rtp + fn = clusters of S, "
            "of G",
        ),
        "b_cubed": (
            "B³ over {key}",
            "ptp = Σ |G ∩ S| / |S| over all items, with their clusters G and S; rtp = Σ "
            "|G ∩ S| / |G|; ptp + fp, rtp + fn = items in the system, in the reference",
        ),
        "muc": (
            "links needed to connect clusters of {key}",
            "rtp + fn = Σ (|G| − 1), rtp = Σ (|G| − number of parts of G in S); ptp and "
            "fp with G and S swapped",
        ),
        "pairwise": (
            "pairs of {key} in the same cluster",
            "ptp = rtp = pairs in the same cluster on both sides; ptp + fp, rtp + fn = in "
            "the system, in the reference",
        ),
        "pairwise_negative": (
            "pairs of {key} in different clusters",
            "ptp = rtp = pairs in different clusters on both sides; ptp + fp, rtp + fn = "
            "in the system, in the reference",
        ),
        "blanc": (
            "BLANC over {key}",
            "mean of pairwise and pairwise_negative, for each statistic; no counts",
        ),
    }
)
"""What is counted by each aggregate, and how; an overlap has two coverages, x and y."""

_COVERED: Mapping[str, str] = MappingProxyType(
    {"max": "by one annotation", "sum": "by all annotations together"}
)
_FILTERED: Mapping[str, str] = MappingProxyType(
    {
        "is_first": "the first mention of each entity in a document",
        "is_linked": "linked mentions",
        "is_nil": "NIL mentions",
    }
)
_KEYS: Mapping[str, str] = MappingProxyType(
    {"span": "spans", "docid": "documents", "type": "types", "kbid": "links"}
)


def described(measured: Measure) -> MeasureInfo:
    """What a measure compares and how it is counted, from its notation.

    Examples:
        >>> described(measure("strong_link_match")).meaning
        'Distinct spans with links on both sides; only linked mentions.'
        >>> described(measure("overlap-maxsum::span")).formula.partition(",")[0]
        'ptp = Σ over S of the share covered by all annotations together'
    """
    first, *others = (_KEYS.get(field, field) for field in measured.key)
    key = f"{first} with {' and '.join(others)}" if others else first
    meaning, formula = _COUNTED["overlap" if measured.aggregate in OVERLAPS else measured.aggregate]
    meaning = meaning.format(key=key)
    if measured.filter:
        meaning += f"; only {_FILTERED[measured.filter]}"
    if measured.by:
        meaning += f"; counted by {measured.by}, then summed ({measured.average})"
    if measured.aggregate in OVERLAPS:
        x, y = measured.aggregate[-6:-3], measured.aggregate[-3:]
        formula = formula.format(x=_COVERED[x], y=_COVERED[y])
    clause = (
        _PLAN if measured.name in PLAN else _CLAUSES.get(measured.aggregate, "neleval, measures")
    )
    return MeasureInfo(measured.name, f"{meaning[0].upper()}{meaning[1:]}.", formula, clause)


_CLAUSES: Mapping[str, str] = MappingProxyType({"blanc": "Luo et al. 2014"})
"""Where what neither the plan nor its scorer has is defined."""

MEASURED = tuple(described(measure(name)) for name in DEFAULT)
