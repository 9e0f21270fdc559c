"""CCU TA2: task success of assisted dialogues, from the questionnaire after each interaction."""

from __future__ import annotations

from collections.abc import Mapping

from hlteval.extensions import lazy
from hlteval.tasks.alignment import AlignmentInfo, CellInfo, FacetInfo, OutcomeInfo
from hlteval.tasks.option import Option
from hlteval.tasks.statistics import (
    COUNT,
    HIGH,
    NORMAL,
    RATE,
    SIGNED_RATE,
    MeasureInfo,
    StatisticInfo,
)
from hlteval.tasks.task import Task

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
