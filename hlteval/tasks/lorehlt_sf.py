"""Situation frames of LoReHLT 2019: the task lorehlt-sf, its metrics and options.

G are the situations or frames of the reference, S those of the system.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hlteval.extensions import lazy
from hlteval.tasks import PROFILES
from hlteval.tasks.edl import refuses as refuses_entities
from hlteval.tasks.task import (
    BOTH,
    HIGH,
    LOW,
    NORMAL,
    AlignmentInfo,
    CellInfo,
    MeasureInfo,
    Option,
    OutcomeInfo,
    Packaging,
    StatisticInfo,
    Task,
)

if TYPE_CHECKING:
    from hlteval.findings import Finding
    from hlteval.validators import Rule

_SECTION = "LoReHLT 2019 plan, "
_AT_N = f"{_SECTION}16.2.5"
_STATUS = "type,place,status"
_PLACED = (
    "type,place", _STATUS, f"{_STATUS},urgent", f"{_STATUS},resolution",
    f"{_STATUS},urgent,resolution",
)  # fmt: skip
_GRAVE = f"grave:{_STATUS},urgent,resolution"
_NUMBERS = ("1", "2", "3", "5", "10", "20", "50", "100")

_ORDER = "by gravity, highest first; then"
_TIE_BREAKS = (
    ("standard", "more frames first, then by place and type", "number of frames, place, type"),
    ("vindictive", "less gain first", "gain in the reference, lowest first"),
    ("forgiving", "more gain first", "gain in the reference, highest first"),
)


def _class(name: str, what: str, section: str) -> StatisticInfo:
    fields = ", ".join(name.removeprefix("grave:").split(","))
    clause = f"{_SECTION}{section}"
    return StatisticInfo(name, f"{what} of {fields}.", f"key: document, {fields}", clause=clause)


_OF_SENTIMENTS = (
    *(
        StatisticInfo(name, f"Sentiments of one source, {', '.join(name.split(','))}.",
                      f"key: document, type, place, source, {', '.join(name.split(','))}",
                      clause=f"{_SECTION}16.2.7")
        for name in ("polarity", "polarity,fear", "polarity,anger", "polarity,joy")
    ),
    *(
        StatisticInfo(f"{what}:{fields}",
                      f"In `official` only: what the public scorer counts as {what}.",
                      f"pooled over frames of one document, {', '.join(fields.split(','))}",
                      clause=f"{_SECTION}16.2.7")
        for fields in ("type,place", _STATUS)
        for what in ("polarity", "sentiment", "emotion")
    ),
)  # fmt: skip
#: The endings of the names of metrics: tie-breaks, numbers and classes.
STATISTICS = (
    *(
        StatisticInfo(name, f"Situations of equal gravity: {what}.", f"{_ORDER} {order}",
                      clause=f"{_SECTION}16.2.3", importance=HIGH if name == "standard" else NORMAL,
                      grows=True)
        for name, what, order in _TIE_BREAKS
    ),
    *(
        StatisticInfo(number, f"The {number} gravest situations.", f"N = {number}", clause=_AT_N)
        for number in _NUMBERS
    ),
    StatisticInfo("high", "As many of the gravest situations as the reference has of high gravity.",
                  "N = situations of G of high gravity", clause=_AT_N),
    StatisticInfo("medium", "As many as it has of medium or high gravity.",
                  "N = situations of G of medium or high gravity", clause=_AT_N),
    _class("type", "Frames", "16.2.7"),
    *(_class(name, "Frames", "16.2.4") for name in _PLACED),
    _class(_GRAVE, "Only urgent and unresolved frames,", "16.2.4"),
    *_OF_SENTIMENTS,
)  # fmt: skip

_GAINS = "Gain_i by the gravity of situation i in G: high, medium or low"
_NDCG = f"Σ Gain_i / log₂(i + 1) over S by gravity, divided by the same over G; {_GAINS}"
_RIGHT = "right = frames of G ∩ S, each as often as the combined reference has it"


def _ndcg(name: str, meaning: str, clause: str) -> MeasureInfo:
    ties = tuple(name for name, _, _ in _TIE_BREAKS)
    return MeasureInfo(name, meaning, _NDCG, f"{_SECTION}{clause}", ties)


def _frames(name: str, meaning: str, formula: str, clause: str, *more: str) -> MeasureInfo:
    return MeasureInfo(name, meaning, formula, f"{_SECTION}{clause}", ("type", *_PLACED, *more))


def _sentiments(name: str, meaning: str, formula: str) -> MeasureInfo:
    classes = tuple(statistic.name for statistic in _OF_SENTIMENTS)
    return MeasureInfo(name, meaning, formula, f"{_SECTION}16.2.7", classes)


#: The beginnings of the names of metrics.
MEASURES = (
    _ndcg("ndcg", "nDCG of the situations, ranked by the number of grave frames.", "16.2.3"),
    _ndcg("ndcg_sec", "nDCG with fear and anger as boosters of gravity.", "16.2.1"),
    _ndcg("ndcg_text", "nDCG of the frames of text.", "16.2.1"),
    _ndcg("ndcg_sec_text", "nDCG with fear and anger, of the frames of text.", "16.2.1"),
    _ndcg("ndcg_combined", "nDCG with the frames of all annotators.", "16.2.1"),
    MeasureInfo("precision_at", "Precision of the N gravest situations.",
                "|first N of G ∩ first N of S| / N", _AT_N, (*_NUMBERS, "high", "medium")),
    MeasureInfo("map", "Mean average precision of the situations.",
                f"mean over G of Σ precision at each right frame / Σ frames of G; {_RIGHT}",
                f"{_SECTION}16.2.4", (*_PLACED, _GRAVE)),
    MeasureInfo("mar", "Macro-averaged recall of the situations.",
                f"mean over G of right / Σ frames of G; {_RIGHT}", f"{_SECTION}16.2.4",
                (*_PLACED, _GRAVE)),
    _frames("auc", "Area under the precision-recall curve of frames.",
            "Σ (R₂ − R₁) · (P₁ + P₂) / 2 over the confidences, from recall 0 at the first "
            "precision", "16.2.6", _GRAVE),
    _frames("frame_f1", "F1 of frames.", f"2 · right / (right + false + |G|); {_RIGHT}", "16.2.7"),
    _frames("frame_precision", "Precision of frames.", f"right / (right + false); {_RIGHT}",
            "16.2"),
    _frames("frame_recall", "Recall of frames.", f"right / |G|; {_RIGHT}", "16.2"),
    _sentiments("sec_f1", "F1 of sentiments, averaged over frames.",
                "mean of 2 · right / (|S| + |G|)"),
    _sentiments("sec_precision", "Precision of sentiments, averaged over frames.",
                "mean of right / |S|"),
    _sentiments("sec_recall", "Recall of sentiments, averaged over frames.", "mean of right / |G|"),
)  # fmt: skip

#: The columns of the tables of scores whose rows are classes.
TABLE_STATISTICS = tuple(
    StatisticInfo(measure.name, measure.meaning, importance=LOW)
    for measure in MEASURES
    if measure.name not in {"ndcg", "precision_at"} and not measure.name.startswith("ndcg_")
)

_READERS = "hlteval.tasks.runtime.lorehlt_sf:"

#: Findings in JSON that block, but that the parser of the official software passes over.
_ACCEPTED = frozenset({"JSN109", "JSN110", "JSN112"})
#: Findings that do not block, but for which the official validator refuses a submission.
_REFUSED = frozenset({"LSF102", "LSF103", "LSF105"})
#: Rules of entity mentions that no submission of frames breaks: it may have none, and documents of
#: speech have none.
_NOT_OF_FRAMES = frozenset({"EDL101", "EDL506", "EDL507", "EDL508"})


def _refuses(finding: Finding) -> bool:
    """Whether the official validator refuses a submission for a finding."""
    if finding.code.startswith("EDL"):
        return refuses_entities(finding)
    return finding.code in _REFUSED or (finding.blocking and finding.code not in _ACCEPTED)


def _rules() -> tuple[Rule, ...]:
    """The rules of frames, and those of the entity mentions that come with them."""
    from hlteval.validators.edl.rules import RULES as ENTITIES
    from hlteval.validators.situations.lorehlt.rules import RULES

    of_entities = [rule for rule in ENTITIES if rule.code not in _NOT_OF_FRAMES]
    # The mentions of a reference are not those of an EDL system.
    return (*RULES, *(replace(rule, needs="", submission_only=True) for rule in of_entities))


_ALIGNMENT = AlignmentInfo(
    table="frames",
    outcomes=(OutcomeInfo("matched", "correct"), OutcomeInfo("missed", "missing"),
              OutcomeInfo("spurious", "extra")),
    cells=(CellInfo("type", "type", "type"), CellInfo("place", "place", "place")),
    details={"confidence": "confidence", "weight": "occurrences"}, shows_documents=True,
)  # fmt: skip

LOREHLT_SF = Task(
    name="lorehlt-sf",
    title="LoReHLT 2019, situation frames: needs and issues with sentiments",
    specification="NIST LoReHLT 2019 Evaluation Plan v1.0, section 16",
    format="lorehlt-sf-json",
    references=("lorehlt-sf-reference", "lorehlt-sf-json", "ltf", "corpus", "jsonl",
                "document-list"),
    submitted=("lorehlt-sf-tables",),
    reference_optional=True,
    schema_for=lazy("hlteval.validators.situations.lorehlt.rules:allowed"),
    rules=_rules,
    package=lazy("hlteval.validators.situations.lorehlt.package:findings"),
    packaging=Packaging(
        layout="system_output.json and one .tab file of entity mentions",
        arrange=lazy("hlteval.validators.situations.lorehlt.packing:arrange"),
        named=lazy("hlteval.validators.situations.lorehlt.package:named"),
    ),
    codes=(
        *("LSF7", *(f"LSF{number}" for number in range(102, 108)), "EDL102"),
        *("OPT101", "OPT107", "OPT109", "OPT112", "OPT113"),
    ),
    document_codes=frozenset({"LSF301", "LSF302", "LSF303", "EDL501"}),
    official_rejects=_refuses,
    metric=lazy("hlteval.scoring.situations.lorehlt.metric:SituationRanking"),
    metric_options=lazy("hlteval.scoring.situations.lorehlt.ranking:RankingOptions"),
    statistics=STATISTICS,
    measures=MEASURES,
    alignment_info=_ALIGNMENT,
    table_statistics=TABLE_STATISTICS,
    primary=dict.fromkeys(PROFILES, "ndcg.standard"),
    agreement=lazy("hlteval.tasks.agreement:FRAMES"),
    official_settings={"schema": "2019-v1", "document-ids": "stripped"},
    options=(
        Option("documents", "List of the whole test set, texts and speech, one identifier per "
               "line: frames of other documents are errors and false alarms.",
               format="document-list", commands=BOTH),
        Option("scored", "List of the documents that are scored, one identifier per line, with "
               "those that were annotated and are empty (default: the documents of the reference; "
               "in `official` all: it is -l of the public scorer).", format="document-list",
               selects_documents=True, commands=BOTH),
        Option("kb", "Table of knowledge base entries; places and sources are checked against it.",
               format="kb-tab", commands=BOTH),
        Option("schema", "Version of the JSON schema (default: that of the plan; in `official` "
               "2019-v1).", choices=("plan", "2018-v2", "2019-v1", "2019-v2"),
               is_format_setting=True, commands=BOTH),
        Option("gravity", "Gravity that precision at N, the tables and the official files show: "
               "boolean, or numeric with fear and anger (default: boolean; ndcg and ndcg_sec are "
               "always reported).", choices=("boolean", "numeric")),
        Option("dcg", "Discount of nDCG: method1 is log2(i + 1) at each rank i, method0 is log2(i) "
               "from rank 2 (default: method1; in `official` method0).",
               choices=("method0", "method1")),
        Option("gains", "Gains of high, medium and low gravity, and optionally of situations "
               "without grave frames (default: 5,3,1; in `official` 10,5,1).", metavar="H,M,L",
               read=lazy(f"{_READERS}gains")),
        Option("gravity_thresholds", "Minimum numbers of grave frames for high and medium gravity "
               "(default: 25,10; in `official` 3,2).", metavar="H,M",
               read=lazy(f"{_READERS}thresholds")),
        Option("config", "Gains and thresholds in a config.ini of the public scorer; --gains and "
               "--gravity-thresholds override it.", read=lazy(f"{_READERS}configuration")),
        Option("cutoff", "Cut-off confidence of the submission: only frames above it are scored, "
               "except in curves (default: all frames; `official` only with --scored, and for F1).",
               metavar="CONFIDENCE", commands=BOTH, read=lazy(f"{_READERS}confidence")),
        Option("no_nil", "Leave out frames with NIL places on both sides.", switch=True),
        Option("no_sec", "Compute nothing that needs sentiments.", switch=True),
        Option("annotators", "Annotators to score against: document, need or issue, and annotator, "
               "tab-separated; others are drawn.", read=lazy(f"{_READERS}annotators")),
        Option("annotator_seed", "Random seed of the draw of annotators (default: --seed; in "
               "`official` 1).", metavar="N", follows_seed=True, read=lazy(f"{_READERS}seed")),
        Option("draws", "Also score N random draws of annotators, for the distribution of the "
               "scores.", metavar="N", adds="tables",
               read=lazy("hlteval.tasks.runtime.options:positive_integer")),
        Option("max_frames", "Score only the N most confident frames of the submission.",
               metavar="N", read=lazy("hlteval.tasks.runtime.options:positive_integer")),
        Option("system_edl", "EDL output to which the sources refer, if the submission does not "
               "contain it.", commands=BOTH, read=lazy(f"{_READERS}mentions")),
        Option("reference_edl", "EDL annotation that resolves NIL sources of the submission.",
               read=lazy(f"{_READERS}mentions")),
        Option("system_name", "Name of the system in the files of `official` (default: system).",
               metavar="NAME"),
    ),
)  # fmt: skip
