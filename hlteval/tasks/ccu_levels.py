"""What is scored of valence and arousal (CCU phase 1): the metrics of both tasks, their options.

x are the levels of the reference and y those of the system, one per decision unit: a character,
or a window of two seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hlteval.extensions import lazy
from hlteval.tasks.alignment import AlignmentInfo, CellInfo, OutcomeInfo, PlaceInfo
from hlteval.tasks.option import Option
from hlteval.tasks.statistics import NORMAL, SIGNED_RATE, StatisticInfo

if TYPE_CHECKING:
    from hlteval.sources import Source
    from hlteval.tasks.option_files import FileValue

_GENRES = ("audio", "text", "video")
_CCC = "2 · s_xy / ((mean x − mean y)² + s_x² + s_y²)"
_KAPPA = "(p_o − p_e) / (1 − p_e) over three points: below 300, below 700, and above"
_PLAN = "CCU Phase 1 plan, "


def _statistics(section: str) -> tuple[StatisticInfo, ...]:
    ranks, concordance = f"{_PLAN}{section} and C.4.5", f"{_PLAN}C.4.5 and Appendix B"
    points = f"{_PLAN}{section} and C.4.6"
    return (
        StatisticInfo(
            "ccc",
            "Concordance correlation coefficient of all units.",
            _CCC,
            SIGNED_RATE,
            clause=ranks,
            grows=True,
        ),
        StatisticInfo(
            "ccc_document_mean",
            "Mean of the concordance correlation coefficients of documents.",
            "mean over documents of ccc",
            SIGNED_RATE,
            clause=ranks,
            importance=NORMAL,
        ),
        *(
            StatisticInfo(
                f"ccc.{genre}",
                f"Concordance correlation coefficient of the units of {genre}.",
                _CCC,
                SIGNED_RATE,
                clause=concordance,
                grows=True,
            )
            for genre in _GENRES
        ),
        StatisticInfo(
            "kappa",
            "Cohen's kappa of all units on a scale of three points; not in `official`.",
            _KAPPA,
            SIGNED_RATE,
            clause=points,
            grows=True,
        ),
        *(
            StatisticInfo(
                f"kappa.{genre}",
                f"Cohen's kappa of the units of {genre} on a scale of three points.",
                _KAPPA,
                SIGNED_RATE,
                clause=points,
                grows=True,
            )
            for genre in _GENRES
        ),
    )


VD_STATISTICS, AD_STATISTICS = _statistics("2.2.2"), _statistics("2.3.2")
ALIGNMENT = AlignmentInfo(
    table="alignment",
    rows=lazy("hlteval.scoring.ccu.level_series:readable"),
    outcomes=(
        OutcomeInfo("equal", "correct"),
        OutcomeInfo("higher", "different", "system higher"),
        OutcomeInfo("lower", "different", "system lower"),
    ),
    label=("genre",),
    label_title="genre",
    cells=(CellInfo("level", "reference", "system", kind="number"),),
    places=PlaceInfo(("start", "end"), ("start", "end"), "genre"),
    details={"difference": "difference", "units": "units"},
)
"""Units of equal levels as people read them."""

PRIMARY = {"plan": "ccc", "official": "ccc"}
VD_METRIC = lazy("hlteval.scoring.ccu.level_metric:valence")
AD_METRIC = lazy("hlteval.scoring.ccu.level_metric:arousal")
METRIC_OPTIONS = lazy("hlteval.scoring.ccu.level_options:LevelOptions")
CODES = ("OPT109",)
"""The codes of findings in files that options name."""


def index(source: Source, _: Mapping[str, str]) -> FileValue:
    """The names of the documents of an index.

    The metric selects them itself: in `official`, levels of other documents count for the
    normalization, and files are counted that are not scored.
    """
    from hlteval.converters import load
    from hlteval.findings import finding
    from hlteval.representation import Corpus
    from hlteval.tasks.option_files import FileValue

    form = load("ccu-index")
    results = list(form.read(source))
    corpus = Corpus.concat(result.corpus for result in results)
    findings = [item for result in results for item in result.findings]
    names = corpus.documents["name"]
    if names.is_empty() and not findings:
        findings.append(finding("OPT109", file=source.path, title=form.title))
    return FileValue(frozenset(names), findings, corpus)


def _constant(name: str, text: str, metavar: str, reader: str) -> Option:
    """A constant of Table 13, in `plan`."""
    read = lazy(f"hlteval.tasks.ccu_readers:{reader}")
    return Option(name, f"{text} Only in `plan`.", metavar=metavar, read=read)


INDEX = Option(
    "index",
    "Index of the documents to score, such as a scoring index: a table with a header and the "
    "column file_id.",
    read=index,
    selects_documents=True,
)
OPTIONS = (
    INDEX,
    Option(
        "gaps",
        "Accept gaps in the submission: gaps below 1 second or 10 characters take the preceding "
        "level, others are not scored.",
        switch=True,
        commands=("score", "validate"),
    ),
    _constant(
        "extend_reference",
        "Gaps of the reference below this many seconds take the preceding level (default: 1).",
        "S",
        "amount",
    ),
    _constant(
        "extend_reference_text",
        "The same in characters of texts (default: 10).",
        "N",
        "amount",
    ),
    _constant(
        "min_judgments",
        "Minimum number of annotators of a scored segment of the reference (default: 2).",
        "N",
        "votes",
    ),
    _constant(
        "window",
        "Window of audio and video to compare, in seconds (default: 2).",
        "S",
        "size",
    ),
    _constant(
        "window_text",
        "Window of text to compare, in characters (default: 1).",
        "N",
        "size",
    ),
)
