"""What the metrics of entity discovery and linking mean: each measure from its notation.

G are the reference's and S the system's annotations or clusters, after the filter and by the key.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hlteval.scoring.edl.measures import DEFAULT, OVERLAPS, PLAN, Measure, measure
from hlteval.tasks.statistics import MeasureInfo, Range, StatisticInfo

_PLAN = "LoReHLT 2019 plan, 17.3"
_NUMBER = Range("a number from 0; whole, but where shares are summed", "number")

FIGURES = (
    StatisticInfo(
        "precision", "How much of the system's is right.", "ptp / (ptp + fp)", clause=_PLAN
    ),
    StatisticInfo(
        "recall", "How much of the reference's was found.", "rtp / (rtp + fn)", clause=_PLAN
    ),
    StatisticInfo(
        "fscore",
        "The harmonic mean of both.",
        "2 · precision · recall / (precision + recall)",
        clause=_PLAN,
    ),
    StatisticInfo("ptp", "True positives among the system's.", "", _NUMBER, "more", _PLAN),
    StatisticInfo("fp", "The rest of the system's.", "", _NUMBER, "less", _PLAN),
    StatisticInfo("rtp", "True positives among the reference's.", "", _NUMBER, "more", _PLAN),
    StatisticInfo("fn", "The rest of the reference's.", "", _NUMBER, "less", _PLAN),
)

_ALIGNED = "summed over the one-to-one alignment of clusters where that is most"
_COUNTED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "sets": (
            "{key} that both sides have, each once",
            "ptp = rtp = |G ∩ S|, ptp + fp = |S|, rtp + fn = |G|",
        ),
        "overlap": (
            "the share of each of the {key} that the other side covers",
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
            "ptp = Σ |G ∩ S| / |S| over the items, with their clusters G and S; "
            "rtp = Σ |G ∩ S| / |G|; ptp + fp, rtp + fn = items of the system, of the reference",
        ),
        "muc": (
            "the links that clusters of {key} need",
            "rtp + fn = Σ (|G| − 1), rtp = Σ (|G| − the parts that S cuts G into); "
            "ptp and fp the other way round",
        ),
        "pairwise": (
            "pairs of {key} in one cluster",
            "ptp = rtp = pairs in one cluster on both sides; ptp + fp, rtp + fn = on either side",
        ),
        "pairwise_negative": (
            "pairs of {key} in different clusters",
            "ptp = rtp = pairs apart on both sides; ptp + fp, rtp + fn = on either side",
        ),
        "blanc": (
            "BLANC over {key}",
            "the mean of pairwise and pairwise_negative, figure by figure; it has no counts",
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
        "is_nil": "mentions that are NIL",
    }
)
_KEYS: Mapping[str, str] = MappingProxyType(
    {"span": "spans", "docid": "documents", "type": "types", "kbid": "links"}
)


def described(measured: Measure) -> MeasureInfo:
    """What a measure compares and how it is counted, from its notation.

    Examples:
        >>> described(measure("strong_link_match")).meaning
        'Spans with links that both sides have, each once; only linked mentions.'
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
