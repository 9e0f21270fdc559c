"""Entity discovery and linking: the task lorehlt-edl, each of its measures from its notation.

G are the reference's and S the system's annotations or clusters, after the filter and by the key.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from hlteval.extensions import lazy
from hlteval.findings import Finding
from hlteval.scoring.edl.measures import DEFAULT, OVERLAPS, PLAN, Measure, measure
from hlteval.tasks.task import (
    BOTH,
    AlignmentInfo,
    CellInfo,
    Hooks,
    MeasureInfo,
    Option,
    OutcomeInfo,
    Packaging,
    PlaceInfo,
    Range,
    StatisticInfo,
    Task,
)

_PLAN = "LoReHLT 2019 plan, 17.3"
_NUMBER = Range("a number ≥ 0, an integer unless shares are summed", "number", least=0.0)

_statistic = partial(StatisticInfo, clause=_PLAN)
STATISTICS = (
    _statistic("precision", "Share of system annotations that are correct.", "ptp / (ptp + fp)"),
    _statistic("recall", "Share of reference annotations that were found.", "rtp / (rtp + fn)"),
    _statistic("fscore", "Harmonic mean of precision and recall; 0 if nothing is right.",
               "2 · precision · recall / (precision + recall)"),
    _statistic("ptp", "True positives in the system.", "", _NUMBER, "more"),
    _statistic("fp", "False positives.", "", _NUMBER, "less"),
    _statistic("rtp", "True positives in the reference.", "", _NUMBER, "more"),
    _statistic("fn", "False negatives.", "", _NUMBER, "less"),
)  # fmt: skip

_ALIGNED = "summed over the one-to-one cluster alignment that maximizes it"
#: Meaning and formula of each aggregate; an overlap has two coverages, x and y.
_COUNTS: Mapping[str, tuple[str, str]] = {
    "sets": ("distinct {key} on both sides",
             "ptp = rtp = |G ∩ S|, ptp + fp = |S|, rtp + fn = |G|"),
    "overlap": ("share of each of the {key} covered by the other side",
                "ptp = Σ over S of the share covered {y}, rtp = Σ over G of the share covered {x}; "
                "ptp + fp = |S|, rtp + fn = |G|"),
    "mention_ceaf": ("CEAF with φ₃ over {key}",
                     f"ptp = rtp = |G ∩ S| {_ALIGNED}; ptp + fp, rtp + fn = items of S, of G"),
    "entity_ceaf": ("CEAF with φ₄ over {key}",
                    f"ptp = rtp = 2|G ∩ S| / (|G| + |S|) {_ALIGNED}; ptp + fp, rtp + fn = clusters "
                    "of S, of G"),
    "b_cubed": ("B³ over {key}",
                "ptp = Σ |G ∩ S| / |S| over all items, with their clusters G and S; rtp = Σ "
                "|G ∩ S| / |G|; ptp + fp, rtp + fn = items in the system, in the reference"),
    "muc": ("links needed to connect clusters of {key}",
            "rtp + fn = Σ (|G| − 1), rtp = Σ (|G| − number of parts of G in S); ptp and fp with G "
            "and S swapped"),
    "pairwise": ("pairs of {key} in the same cluster",
                 "ptp = rtp = pairs in the same cluster on both sides; ptp + fp, rtp + fn = in the "
                 "system, in the reference"),
    "pairwise_negative": ("pairs of {key} in different clusters",
                          "ptp = rtp = pairs in different clusters on both sides; ptp + fp, rtp + "
                          "fn = in the system, in the reference"),
    "blanc": ("BLANC over {key}",
              "mean of pairwise and pairwise_negative, for each statistic; no counts"),
}  # fmt: skip

_COVERED = {"max": "by one annotation", "sum": "by all annotations together"}
_FILTERED = {
    "is_first": "the first mention of each entity in a document",
    "is_linked": "linked mentions",
    "is_nil": "NIL mentions",
}
_KEYS = {"span": "spans", "docid": "documents", "type": "types", "kbid": "links"}


def describe(measured: Measure) -> MeasureInfo:
    """Describe what a measure compares and how it is counted, from its notation.

    Examples:
        >>> describe(measure("strong_link_match")).meaning
        'Distinct spans with links on both sides; only linked mentions.'
        >>> describe(measure("overlap-maxsum::span")).formula.partition(",")[0]
        'ptp = Σ over S of the share covered by all annotations together'
    """
    first, *others = (_KEYS.get(field, field) for field in measured.key)
    key = f"{first} with {' and '.join(others)}" if others else first
    meaning, formula = _COUNTS["overlap" if measured.aggregate in OVERLAPS else measured.aggregate]
    meaning = meaning.format(key=key)
    if measured.filter:
        meaning += f"; only {_FILTERED[measured.filter]}"
    if measured.by:
        meaning += f"; counted by {measured.by}, then summed ({measured.average})"
    if measured.aggregate in OVERLAPS:
        x, y = measured.aggregate[-6:-3], measured.aggregate[-3:]
        formula = formula.format(x=_COVERED[x], y=_COVERED[y])
    other = "Luo et al. 2014" if measured.aggregate == "blanc" else "neleval, measures"
    clause = _PLAN if measured.name in PLAN else other
    return MeasureInfo(measured.name, f"{meaning[0].upper()}{meaning[1:]}.", formula, clause)


MEASURES = tuple(describe(measure(name)) for name in DEFAULT)


#: Findings that do not block, but for which the official validator refuses a submission.
_REFUSED = frozenset({
    "EDL102", "EDL108", "EDL215", "EDL216", "EDL303", "EDL305", "EDL306", "EDL401", "EDL402",
    "EDL403", "EDL404", "EDL507", "DOC103", "DOC105", "NEL101",
})  # fmt: skip

#: Findings that block, but that the official validator passes over.
_LET_PASS = frozenset({"SRC201", "SRC204"})


def _goes_on(finding: Finding) -> bool:
    """Whether the official scorer takes an error in a file of an option as it is written."""
    return finding.code in {"OPT103", "OPT105"}


def refuses(finding: Finding) -> bool:
    """Whether the official validator refuses a submission for a finding."""
    return finding.code in _REFUSED or (finding.blocking and finding.code not in _LET_PASS)


_ALIGNMENT = AlignmentInfo(
    table="alignment", rows=lazy("hlteval.scoring.edl.errors:readable"),
    outcomes=(OutcomeInfo("correct", "correct"), OutcomeInfo("wrong", "different"),
              OutcomeInfo("missing", "missing"), OutcomeInfo("extra", "extra")),
    label=("reference_type", "system_type"),
    cells=(CellInfo("mention", "reference_text", "system_text", "wrong_boundary"),
           CellInfo("type", "reference_type", "system_type", "wrong_type"),
           CellInfo("entity", "reference_entity", "system_entity", "wrong_link")),
    places=PlaceInfo(inclusive=True), details={"wrong": "wrong"},
)  # fmt: skip

EDL = Task(
    name="lorehlt-edl",
    title="LoReHLT 2019, entity discovery and linking: entity mentions in text",
    specification="NIST LoReHLT 2019 Evaluation Plan v1.0, section 17",
    format="edl-tab",
    references=("edl-tab", "neleval", "ltf", "rsd", "corpus", "jsonl"),
    reference_optional=True,
    codes=(
        *("EDL102", *(f"EDL{number}" for number in range(105, 112))),
        *(f"OPT{number}" for number in (101, 102, 103, 104, 105, 106, 107, 109, 114)),
    ),
    rules=lazy("hlteval.validators.edl.rules:RULES"),
    package=lazy("hlteval.validators.edl.package:findings"),
    packaging=Packaging(
        suffixes=(".tgz", ".tar.gz"),
        name="<team>_EDL_CP<checkpoint>_<run>.tab",
        layout="one .tab file of the same name",
        parse=lazy("hlteval.validators.edl.packing:name_parts"),
        arrange=lazy("hlteval.validators.edl.packing:arrange"),
        named=lazy("hlteval.validators.edl.package:named"),
    ),
    metric=lazy("hlteval.scoring.edl.metric:LinkMatch"),
    metric_options=lazy("hlteval.scoring.edl.metric:Options"),
    statistics=STATISTICS,
    measures=MEASURES,
    alignment_info=_ALIGNMENT,
    primary=dict.fromkeys(("plan", "official"), "strong_typed_all_match.fscore"),
    scored_table="mentions",
    agreement=lazy("hlteval.tasks.agreement:ENTITIES"),
    document_codes=frozenset({"EDL501"}),
    submitted=("neleval",),
    official_crashes_on=frozenset(
        {"EDL312", "EDL313", *(f"NEL{number}" for number in range(101, 109))}
    ),
    official_ignores=_goes_on,
    official_rejects=refuses,
    hooks=Hooks(
        only_in_references=lazy("hlteval.validators.edl.fields:only_in_references"),
        option_names=lazy("hlteval.validators.edl.documents:excluded_documents"),
    ),
    options=(
        Option("measure", "Measure, group of measures, or aggregate:filter:key; repeatable "
               "(default: all measures).", metavar="NAME", repeatable=True, short="m", adds="rows",
               read=lazy("hlteval.tasks.runtime.options:measure_list")),
        Option("by", "Also score each document, type or language, with micro- and macro-averages.",
               choices=("document", "type", "language"), adds="rows"),
        Option("alternatives", "If the reference lists several candidate entities, use the one "
               "that the system has (eid), or has with the same type (fields).",
               choices=("eid", "fields")),
        Option("conversion", "Types are GPE (pipeline) or GPE/NAM (tac15).",
               choices=("pipeline", "tac15")),
        Option("type_weights", "Table of type weights: reference type, system type and weight, "
               "tab-separated.", read=lazy("hlteval.tasks.runtime.options:type_weights")),
        Option("exclude", "Table of zones to exclude: document, first and last offset, "
               "tab-separated.", read=lazy("hlteval.tasks.runtime.options:zones")),
        Option("texts", "Documents in LTF, to show errors in context in reports, tables of -o and "
               "JSON.", format="ltf", adds="tables"),
        Option("documents", "List of documents to score, one identifier per line.",
               format="document-list", selects_documents=True, commands=BOTH),
        Option("kb", "Table of knowledge base entries; links are checked against it.",
               format="kb-tab", commands=("validate",)),
    ),
)  # fmt: skip
