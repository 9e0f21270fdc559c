"""Computational Cultural Understanding, phase 1: norms, emotions, valence, arousal, change points.

Two of the tasks check and score nothing: `ccu-ndmap`, the mapping of hidden norms, and
`ccu-reference`, the annotation itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from hlteval.extensions import lazy
from hlteval.tasks import ccu_scores as detection
from hlteval.tasks import ccu_scores as levels
from hlteval.tasks.task import (
    COUNT,
    HIGH,
    NORMAL,
    RATE,
    SIGNED_RATE,
    AlignmentInfo,
    CellInfo,
    Deposited,
    FacetInfo,
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
_REFERENCES = ("ccu-reference", "ccu-index", "corpus", "jsonl")
_NAN = re.compile(r"^llr .*: (?:nothing|[+-]?(?:nan|na|n/a|null|none|<na>|inf|infinity))$", re.I)
"""Values that the official validator takes for numbers, at the end of a message."""
_SHORT = re.compile(r"expected ([0-9]+) cells, found ([0-9]+)")
_LAST = {"nd": "llr", "ed": "llr"}
"""The last columns of tables whose lines may end before them."""
_NUMBER, _NAME, _CELLS, _OTHER_TASK = "CCS107", "CCS108", "CCS105", "CCU309"
_ANNOTATIONS = {
    "nd": "norms",
    "ndmap": "norms",
    "ed": "emotions",
    "vd": "levels",
    "ad": "levels",
    "cd": "changes",
}
"""What of a reference each task is about: the annotation of other tasks is not judged there."""
_LAYOUT = {"ndmap": "nd.map.tab"}
_TABLES = "system_output.index.tab and a .tab file for each document"
_INSTANCE_FILES = {
    "detections": "instance_alignment.tab",
    "classes": "scores_by_class.tab",
    "aggregated": "scores_aggregated.tab",
}
_LEVEL_FILES = {"alignment": "segment_diarization.tab", "metrics": "scores_aggregated.tab"}
_FILES: Mapping[str, Mapping[str, str]] = {
    "nd": _INSTANCE_FILES,
    "ed": _INSTANCE_FILES,
    "vd": _LEVEL_FILES,
    "ad": _LEVEL_FILES,
    "cd": {
        "detections": "instance_alignment.tab",
        "changes": "scores_by_class.tab",
        "metrics": "scores_aggregated.tab",
    },
}
"""The names that section 3.1 gives files of scores, by table."""
_PACKAGE_CODES = (*(f"CCU{number}" for number in range(201, 210)), "CCU509")
_REFUSED = frozenset(
    {
        *("CCS103", "CCS125", "CCS132", "CCU208", "CCU301", "CCU302", "CCU308", "CCU309"),
        *("CCU402", "CCU403", "CCU405", "CCU406", "CCU502", "CCU503", "CCU504", "CCU505", "CCU506"),
        *("CCU508", "CCU509", "CCU510", "CCU512", "CCU601", "CCU603", "CCU604", "CCU605", "CCU607"),
        *("CCU701", "CCU702", "CCU703", "CCU712"),
        *("CCR121", "CCR125", "CCU801", "CCU804", "CCU806", "CCU807", "CCU809", "CCU810"),
        *("CCU811", "CCU812", "CCU814", "CCU819"),
    }
)
"""Findings that need not block, but for which the official validator refuses what it checks."""


def _refuses(finding: Finding, last: str = "") -> bool:
    """Whether the official validator refuses a submission for a finding.

    Args:
        finding: about a submission or an annotation.
        last: the last column of the table of the task, if it may be missing in a line.
    """
    if _is_missing(finding, last):
        return False
    return finding.code in _REFUSED or finding.blocking


def _ignores(finding: Finding, last: str = "") -> bool:
    """Whether the official scorer goes on in spite of a finding: it does not validate."""
    ours = finding.code.startswith("CCU") and finding.code != _OTHER_TASK
    return ours or _is_missing(finding, last)


def _is_missing(finding: Finding, last: str) -> bool:
    """Whether a finding is about a cell without a value that the software reads.

    A score may be missing or infinite; a line of a mapping without a norm of the system maps none.
    """
    if finding.code == _NUMBER:
        return _NAN.search(finding.message) is not None
    if finding.code == _NAME:
        return finding.message.startswith("sys_norm ") and finding.message.endswith(": nothing")
    short = _SHORT.search(finding.message) if finding.code == _CELLS else None
    return bool(last) and short is not None and int(short[1]) == int(short[2]) + 1


def _mapped(corpus: Corpus) -> tuple[str, ...]:
    """The submissions of norms that a mapping names."""
    return tuple(corpus.mappings["submission"].drop_nulls().unique().sort())


def _task(
    name: str, title: str, section: str, table: str, *, codes: tuple[str, ...] = (), **more: Any
) -> Task:
    """A task of TA1, whose submissions are folders of tables with an index."""
    # Tables of ND have two forms; a rule finds those of another task.
    settings = {} if name == "nd" else {"task": name}
    return Task(
        name=f"ccu-{name}",
        title=f"CCU Phase 1, {title}",
        specification=f"{_PLAN}, section {section}",
        format="ccu-submission",
        references=_REFERENCES,
        submission_suffixes=(),
        provided_suffixes=(),
        has_index=True,
        reference_optional=True,
        schema_for=partial(lazy("hlteval.validators.ccu.schema:allowed"), task=name),
        rules=lazy(f"hlteval.validators.ccu.rules:{name.upper()}"),
        package=partial(lazy("hlteval.validators.ccu.package:findings"), task=name),
        packaging=Packaging(
            suffixes=(".tgz",),
            name=f"CCU_<P1|P2>_<TA1|TA2>_{name.upper()}_<team>_<dataset>_<YYYYMMDD>_<HHMMSS>",
            layout="one folder of the same name with " + _LAYOUT.get(name, _TABLES),
            parse=partial(lazy("hlteval.validators.ccu.packing:name_parts"), task=name),
            arrange=partial(lazy("hlteval.validators.ccu.packing:arrange"), task=name),
            named=partial(lazy("hlteval.validators.ccu.package:named"), task=name),
            recognize=partial(lazy("hlteval.validators.ccu.packing:recognize"), task=name),
            by_format=False,
        ),
        submission_settings=settings,
        reference_settings={"annotations": _ANNOTATIONS[name]},
        reference_files=partial(
            lazy("hlteval.converters.ccu.reference:files_read"), annotations=_ANNOTATIONS[name]
        ),
        codes=(*_PACKAGE_CODES, *codes),
        noted=frozenset({"CCU514"}),
        official_reading=lazy("hlteval.converters.ccu.software:as_software"),
        official_rejects=partial(_refuses, last=_LAST.get(name, "")),
        official_ignores=partial(_ignores, last=_LAST.get(name, "")),
        scored_table=table,
        deposited=Deposited(
            most=5,
            result_files=_FILES.get(name, {}),
            companions=_mapped if name == "ndmap" else None,
        ),
        **more,
    )


_DETECTION: Mapping[str, Any] = {
    "metric_options": detection.DETECTION_OPTIONS,
    "statistics": detection.DETECTION,
    "alignment_info": detection.DETECTION_ALIGNMENT,
    "table_statistics": detection.DETECTION_TABLE,
    "primary": detection.DETECTION_PRIMARY,
    "codes": detection.OPTION_CODES,
}
_LEVELS: Mapping[str, Any] = {
    "alignment_info": levels.LEVELS_ALIGNMENT,
    "metric_options": levels.LEVELS_OPTIONS,
    "primary": levels.LEVELS_PRIMARY,
    "options": levels.OPTIONS,
    "codes": levels.CODES,
}

ND = _task(
    "nd",
    "norm discovery: known and hidden norms",
    "2.1",
    "instances",
    metric=detection.ND_METRIC,
    options=(levels.INDEX, *detection.ND_OPTIONS),
    **_DETECTION,
    agreement=lazy("hlteval.tasks.agreement:NORMS"),
)
ED = _task(
    "ed",
    "emotion detection: eight emotions",
    "2.4",
    "instances",
    metric=detection.ED_METRIC,
    options=(levels.INDEX, *detection.ED_OPTIONS),
    **_DETECTION,
    agreement=lazy("hlteval.tasks.agreement:EMOTIONS"),
)
VD = _task(
    "vd",
    "valence diarization: levels from 1 to 1000",
    "2.2",
    "ratings",
    metric=levels.VD_METRIC,
    statistics=levels.VD_STATISTICS,
    **_LEVELS,
    agreement=lazy("hlteval.tasks.agreement:VALENCE"),
)
AD = _task(
    "ad",
    "arousal diarization: levels from 1 to 1000",
    "2.3",
    "ratings",
    metric=levels.AD_METRIC,
    statistics=levels.AD_STATISTICS,
    **_LEVELS,
    agreement=lazy("hlteval.tasks.agreement:AROUSAL"),
)
CD = _task(
    "cd",
    "change detection: impactful shifts",
    "2.5",
    "changes",
    metric=detection.CD_METRIC,
    metric_options=detection.CHANGE_OPTIONS,
    statistics=detection.CHANGES,
    alignment_info=detection.CHANGE_ALIGNMENT,
    table_statistics=detection.CHANGES_TABLE,
    primary=detection.CHANGE_PRIMARY,
    options=(levels.INDEX, *detection.CD_OPTIONS),
    agreement=lazy("hlteval.tasks.agreement:CHANGES"),
)
NDMAP = _task(
    "ndmap",
    "mapping of hidden norms (validation only)",
    "2.1.6",
    "mappings",
    options=(
        Option(
            "norms",
            "Submission of norms (ND) of the mapping, to check its norms.",
            format="ccu-submission",
            metavar="PATH",
            commands=("validate",),
        ),
        Option(
            "hidden",
            "List of the hidden norms, one per line (default: those of --against).",
            format="document-list",
            commands=("validate",),
        ),
    ),
)
REFERENCE = Task(
    name="ccu-reference",
    title="CCU Phase 1, annotation (validation only)",
    specification=f"{_PLAN}, section 2 and Appendix D",
    format="ccu-reference",
    references=("ccu-reference",),
    submission_suffixes=(),
    provided_suffixes=(),
    has_index=True,
    inner_folders=frozenset({"data", "docs", "index_files"}),
    reference_optional=True,
    schema_for=partial(lazy("hlteval.validators.ccu.schema:allowed"), task="reference"),
    rules=lazy("hlteval.validators.ccu.rules:REFERENCE"),
    official_rejects=_refuses,
    scored_table="instances",
    agreement=lazy("hlteval.tasks.agreement:ANNOTATION"),
)


_SUCCESS = "CCU Phase 1 plan, 2.6.2"
_CONDITIONS = "CCU Phase 1 plan, 2.6, Table 12"
_KAPPA = "(p_o - p_e) / (1 - p_e), p_o the agreement, p_e that due to chance"

STATISTICS = (
    StatisticInfo(
        "agreement",
        "Share of the answers that are “Completely Agree”: the observed agreement.",
        "ideal answers / responses",
        RATE,
        clause=_SUCCESS,
    ),
    StatisticInfo(
        "kappa",
        "Cohen's kappa of the answers and those after a perfect scenario; as these are constant, "
        "it is 0, or undefined where all answers are ideal.",
        _KAPPA,
        SIGNED_RATE,
        clause=f"{_SUCCESS}; CCU Phase 1 plan, C.4.6",
        importance=NORMAL,
    ),
    StatisticInfo("responses", "Number of answers.", "", COUNT, "neither", _SUCCESS),
    StatisticInfo(
        "agreement_over_baseline",
        "How much larger the agreement is than in the Baseline condition.",
        "agreement − baseline.agreement",
        SIGNED_RATE,
        clause=_CONDITIONS,
        importance=HIGH,
    ),
    StatisticInfo(
        "kappa_over_baseline",
        "How much larger kappa is than in the Baseline condition.",
        "kappa − baseline.kappa",
        SIGNED_RATE,
        clause=_CONDITIONS,
        importance=NORMAL,
    ),
)


def _condition(name: str, title: str, assistant: str) -> MeasureInfo:
    every = tuple(statistic.name for statistic in STATISTICS)
    own = every[:3] if name == "baseline" else every
    meaning = f"{title}: {assistant}."
    return MeasureInfo(name, meaning, "questions 1 to 5 and 8 to 11", _CONDITIONS, own)


MEASURES = (
    _condition("ceiling", "Ceiling", "a human cultural interpreter assists"),
    _condition("operation_1", "Operation 1", "TA2 assists"),
    _condition("operation_2", "Operation 2", "TA2 assists, with machine translation"),
    _condition("baseline", "Baseline", "machine translation only"),
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
    table="alignment",
    rows=lazy("hlteval.scoring.ccu.ta2:readable"),
    outcomes=(OutcomeInfo("ideal", "correct"), OutcomeInfo("another answer", "different")),
    label=("condition",),
    label_title="condition",
    cells=(CellInfo("answer", "expected", "response"),),
    facets=(FacetInfo("speaker", "speaker"), FacetInfo("question", "question")),
    details={"speaker": "speaker", "question": "question"},
)

TA2 = Task(
    name="ccu-ta2",
    title="CCU Phase 1, TA2: task success of assisted dialogues",
    specification="NIST CCU Phase 1 Evaluation Plan, section 2.6",
    format="ccu-ta2",
    submission_suffixes=(),
    provided_suffixes=(),
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
        Option(
            "scale",
            "Number that means “Completely Agree” if answers are numbers from 1.",
            metavar="N",
            commands=("score", "validate"),
            read=top,
        ),
    ),
)
