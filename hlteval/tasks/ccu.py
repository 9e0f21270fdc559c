"""Computational Cultural Understanding, phase 1: norms, emotions, valence, arousal, change points.

Two of the tasks check and score nothing: `ccu-ndmap`, the mapping of hidden norms, and
`ccu-reference`, the annotation itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from hlteval.extensions import lazy
from hlteval.tasks import PROFILES
from hlteval.tasks import ccu_scores as scores
from hlteval.tasks.task import (
    BOTH,
    COUNT,
    HIGH,
    NORMAL,
    RATE,
    SIGNED_RATE,
    AlignmentInfo,
    CellInfo,
    Deposited,
    FacetInfo,
    Hooks,
    MeasureInfo,
    Option,
    OutcomeInfo,
    Packaging,
    StatisticInfo,
    Task,
)

if TYPE_CHECKING:
    from hlteval.findings import Finding
    from hlteval.representation import Corpus

_PLAN = "CCU Phase 1 Evaluation Plan, February 21, 2023"
#: Values that the official validator takes for numbers, at the end of a message.
_NAN = re.compile(r"^llr .*: (?:nothing|[+-]?(?:nan|na|n/a|null|none|<na>|inf|infinity))$", re.I)
_SHORT = re.compile(r"expected ([0-9]+) cells, found ([0-9]+)")
_NUMBER, _NAME, _CELLS, _OTHER_TASK = "CCS107", "CCS108", "CCS105", "CCU309"
#: The annotation that each task is about: that of other tasks is not checked in a reference.
_ANNOTATIONS = {
    **dict.fromkeys(("nd", "ndmap"), "norms"),
    "ed": "emotions",
    **dict.fromkeys(("vd", "ad"), "levels"),
    "cd": "changes",
}
#: The tables of scores of which each task has a file.
_TABLES = {
    "nd": "detections classes aggregated", "ed": "detections classes aggregated",
    "vd": "alignment metrics", "ad": "alignment metrics", "cd": "detections changes metrics",
}  # fmt: skip
#: The names that section 3.1 gives files of scores, by table.
_FILES = {
    "detections": "instance_alignment.tab",
    "alignment": "segment_diarization.tab",
    **dict.fromkeys(("classes", "changes"), "scores_by_class.tab"),
    **dict.fromkeys(("aggregated", "metrics"), "scores_aggregated.tab"),
}
#: Findings that need not block, but for which the official validator refuses what it checks.
_REFUSED = frozenset({
    "CCS103", "CCS125", "CCS132", "CCU208", "CCU301", "CCU302", "CCU308", "CCU309", "CCU402",
    "CCU403", "CCU405", "CCU406", "CCU502", "CCU503", "CCU504", "CCU505", "CCU506", "CCU508",
    "CCU509", "CCU510", "CCU512", "CCU601", "CCU603", "CCU604", "CCU605", "CCU607", "CCU701",
    "CCU702", "CCU703", "CCU712", "CCR121", "CCR125", "CCU801", "CCU804", "CCU806", "CCU807",
    "CCU809", "CCU810", "CCU811", "CCU812", "CCU814", "CCU819",
})  # fmt: skip


def _refuses(finding: Finding, *, short_lines: bool = False) -> bool:
    """Whether the official validator refuses a submission for a finding.

    Args:
        finding: about a submission or an annotation.
        short_lines: whether the last column of the table may be missing in a line.
    """
    if _is_missing(finding, short_lines):
        return False
    return finding.code in _REFUSED or finding.blocking


def _ignores(finding: Finding, *, short_lines: bool) -> bool:
    """Whether the official scorer goes on in spite of a finding: it does not validate."""
    ours = finding.code.startswith("CCU") and finding.code != _OTHER_TASK
    return ours or _is_missing(finding, short_lines)


def _is_missing(finding: Finding, short_lines: bool) -> bool:
    """Whether a finding is about a cell without a value that the software reads.

    A score may be missing or infinite; a line of a mapping without a norm of the system maps none.
    """
    if finding.code == _NUMBER:
        return _NAN.search(finding.message) is not None
    if finding.code == _NAME:
        return finding.message.startswith("sys_norm ") and finding.message.endswith(": nothing")
    short = _SHORT.search(finding.message) if finding.code == _CELLS else None
    return short_lines and short is not None and int(short[1]) == int(short[2]) + 1


def _submissions_mapped(corpus: Corpus) -> tuple[str, ...]:
    """The submissions of norms that a mapping names."""
    return tuple(corpus.mappings["submission"].drop_nulls().unique().sort())


def _task(name: str, title: str, section: str, table: str, codes: tuple[str, ...] = ()) -> Task:
    """A task of TA1, whose submissions are folders of tables with an index."""
    tables = "system_output.index.tab and a .tab file for each document"
    layout = "nd.map.tab" if name == "ndmap" else tables
    packing = "hlteval.validators.ccu.packing"
    short_lines = name in {"nd", "ed"}
    return Task(
        name=f"ccu-{name}",
        title=f"CCU Phase 1, {title}",
        specification=f"{_PLAN}, section {section}",
        format="ccu-submission",
        references=("ccu-reference", "ccu-index", "corpus", "jsonl"),
        has_index=True,
        reference_optional=True,
        schema_for=partial(lazy("hlteval.validators.ccu.context:allowed"), task=name),
        rules=lazy(f"hlteval.validators.ccu.rules:{name.upper()}"),
        package=partial(lazy("hlteval.validators.ccu.package:findings"), task=name),
        packaging=Packaging(
            suffixes=(".tgz",),
            name=f"CCU_<P1|P2>_<TA1|TA2>_{name.upper()}_<team>_<dataset>_<YYYYMMDD>_<HHMMSS>",
            layout=f"one folder of the same name with {layout}",
            parse=partial(lazy(f"{packing}:name_parts"), task=name),
            arrange=partial(lazy(f"{packing}:arrange"), task=name),
            named=partial(lazy("hlteval.validators.ccu.package:named"), task=name),
            recognize=partial(lazy(f"{packing}:recognize"), task=name),
            by_format=False,
        ),
        # Tables of ND have two forms; a rule finds those of another task.
        submission_settings={} if name == "nd" else {"task": name},
        reference_settings={"annotations": _ANNOTATIONS[name]},
        codes=(*(f"CCU{number}" for number in range(201, 210)), "CCU509", *codes),
        noted=frozenset({"CCU514"}),
        official_rejects=partial(_refuses, short_lines=short_lines),
        official_ignores=partial(_ignores, short_lines=short_lines),
        scored_table=table,
        deposited=Deposited(
            most=5,
            result_files={table: _FILES[table] for table in _TABLES.get(name, "").split()},
            companions=_submissions_mapped if name == "ndmap" else None,
        ),
        hooks=Hooks(
            official_reading=lazy("hlteval.converters.ccu.software:as_software"),
            reference_files=partial(
                lazy("hlteval.converters.ccu.reference:files_read"), annotations=_ANNOTATIONS[name]
            ),
        ),
    )


def _detection(
    name: str,
    title: str,
    section: str,
    kind: Literal["norm", "emotion"],
    options: tuple[Option, ...],
) -> Task:
    """A task whose submissions are instances of norms or emotions."""
    return replace(
        _task(name, title, section, "instances", ("OPT107", "OPT109")),
        metric=partial(lazy("hlteval.scoring.ccu.metrics:instance_detection"), kind=kind),
        metric_options=lazy("hlteval.scoring.ccu.detections:DetectionOptions"),
        statistics=scores.DETECTION,
        alignment_info=scores.DETECTION_ALIGNMENT,
        table_statistics=scores.DETECTION_TABLE,
        primary=dict.fromkeys(PROFILES, "map"),
        options=options,
        agreement=lazy(f"hlteval.tasks.agreement:{kind.upper()}S"),
    )


def _levels(name: str, kind: str, section: str) -> Task:
    """A task whose submissions are levels of valence or arousal."""
    return replace(
        _task(name, f"{kind} diarization: levels from 1 to 1000", section, "ratings", ("OPT109",)),
        metric=partial(lazy("hlteval.scoring.ccu.metrics:level_diarization"), kind=kind),
        metric_options=lazy("hlteval.scoring.ccu.level_series:LevelOptions"),
        statistics=scores.level_statistics(section),
        alignment_info=scores.LEVELS_ALIGNMENT,
        primary=dict.fromkeys(PROFILES, "ccc"),
        options=scores.LEVEL_OPTIONS,
        agreement=lazy(f"hlteval.tasks.agreement:{kind.upper()}"),
    )


ND = _detection("nd", "norm discovery: known and hidden norms", "2.1", "norm", scores.ND_OPTIONS)
ED = _detection("ed", "emotion detection: eight emotions", "2.4", "emotion", scores.ED_OPTIONS)
VD = _levels("vd", "valence", "2.2")
AD = _levels("ad", "arousal", "2.3")
CD = replace(
    _task("cd", "change detection: impactful shifts", "2.5", "changes"),
    metric=lazy("hlteval.scoring.ccu.metrics:change_detection"),
    metric_options=lazy("hlteval.scoring.ccu.detections:ChangeOptions"),
    statistics=scores.CHANGES,
    alignment_info=scores.CHANGE_ALIGNMENT,
    table_statistics=scores.CHANGES_TABLE,
    primary=dict.fromkeys(PROFILES, "cd.ap"),
    options=scores.CD_OPTIONS,
    agreement=lazy("hlteval.tasks.agreement:CHANGES"),
)
NDMAP = replace(
    _task("ndmap", "mapping of hidden norms (validation only)", "2.1.6", "mappings"),
    options=(
        Option("norms", "Submission of norms (ND) of the mapping, to check its norms.",
               format="ccu-submission", metavar="PATH", commands=("validate",)),
        Option("hidden", "List of the hidden norms, one per line (default: those of --against).",
               format="document-list", commands=("validate",)),
    ),
)  # fmt: skip
REFERENCE = Task(
    name="ccu-reference",
    title="CCU Phase 1, annotation (validation only)",
    specification=f"{_PLAN}, section 2 and Appendix D",
    format="ccu-reference",
    references=("ccu-reference",),
    has_index=True,
    hooks=Hooks(inner_folders=frozenset({"data", "docs", "index_files"})),
    reference_optional=True,
    schema_for=partial(lazy("hlteval.validators.ccu.context:allowed"), task="reference"),
    rules=lazy("hlteval.validators.ccu.rules:REFERENCE"),
    official_rejects=_refuses,
    scored_table="instances",
    agreement=lazy("hlteval.tasks.agreement:ANNOTATION"),
)


_SUCCESS = "CCU Phase 1 plan, 2.6.2"
_CONDITIONS = "CCU Phase 1 plan, 2.6, Table 12"
_KAPPA = "(p_o - p_e) / (1 - p_e), p_o the agreement, p_e that due to chance"

STATISTICS = (
    StatisticInfo("agreement", "Share of the answers that are “Completely Agree”: the observed "
                  "agreement.", "ideal answers / responses", RATE, clause=_SUCCESS),
    StatisticInfo("kappa", "Cohen's kappa of the answers and those after a perfect scenario; as "
                  "these are constant, it is 0, or undefined where all answers are ideal.", _KAPPA,
                  SIGNED_RATE, clause=f"{_SUCCESS}; CCU Phase 1 plan, C.4.6", importance=NORMAL),
    StatisticInfo("responses", "Number of answers.", "", COUNT, "neither", _SUCCESS),
    StatisticInfo("agreement_over_baseline", "How much larger the agreement is than in the "
                  "Baseline condition.", "agreement − baseline.agreement", SIGNED_RATE,
                  clause=_CONDITIONS, importance=HIGH),
    StatisticInfo("kappa_over_baseline", "How much larger kappa is than in the Baseline condition.",
                  "kappa − baseline.kappa", SIGNED_RATE, clause=_CONDITIONS, importance=NORMAL),
)  # fmt: skip


_WITH_BASELINE = tuple(statistic.name for statistic in STATISTICS)
MEASURES = tuple(
    MeasureInfo(name, meaning, "questions 1 to 5 and 8 to 11", _CONDITIONS, statistics)
    for name, meaning, statistics in (
        ("ceiling", "Ceiling: a human cultural interpreter assists.", _WITH_BASELINE),
        ("operation_1", "Operation 1: TA2 assists.", _WITH_BASELINE),
        ("operation_2", "Operation 2: TA2 assists, with machine translation.", _WITH_BASELINE),
        ("baseline", "Baseline: machine translation only.", _WITH_BASELINE[:3]),
    )
)


def top(written: str, _: Mapping[str, str]) -> int:
    """The number that means "Completely Agree".

    Raises:
        ValueError: for anything but an integer from 2 to 100.

    Examples:
        >>> top("7", {})
        7
    """
    if not (written.isascii() and written.isdecimal() and 2 <= int(written) <= 100):
        raise ValueError(f"an integer from 2 to 100 is needed, not {written}")
    return int(written)


_ALIGNMENT = AlignmentInfo(
    table="alignment", rows=lazy("hlteval.scoring.ccu.ta2:readable"),
    outcomes=(OutcomeInfo("ideal", "correct"), OutcomeInfo("another answer", "different")),
    label=("condition",), label_title="condition",
    cells=(CellInfo("answer", "expected", "response"),),
    facets=(FacetInfo("speaker", "speaker"), FacetInfo("question", "question")),
    details={"speaker": "speaker", "question": "question"},
)  # fmt: skip

TA2 = Task(
    name="ccu-ta2",
    title="CCU Phase 1, TA2: task success of assisted dialogues",
    specification="NIST CCU Phase 1 Evaluation Plan, section 2.6",
    format="ccu-ta2",
    reference_optional=True,
    scored_alone=True,
    scored_table="responses",
    schema_for=lazy("hlteval.validators.ccu.ta2:scale"),
    rules=lazy("hlteval.validators.ccu.ta2:RULES"),
    metric=lazy("hlteval.scoring.ccu.ta2:TaskSuccess"),
    metric_options=lazy("hlteval.scoring.ccu.ta2:Options"),
    statistics=STATISTICS,
    measures=MEASURES,
    alignment_info=_ALIGNMENT,
    primary={"plan": "operation_1.agreement"},
    noted=frozenset({"CCA205", "CCA206"}),
    options=(
        Option("scale", "Number that means “Completely Agree” if answers are numbers from 1.",
               metavar="N", commands=BOTH, read=top),
    ),
)  # fmt: skip
