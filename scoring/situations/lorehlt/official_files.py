"""The files that the public scorer of LoReHLT 2019 writes, with its names and its spelling.

Numbers are written as Python shows them. Curves are in none of them; the scorer draws them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from hlteval.scoring.situations.lorehlt.frame_matches import mean
from hlteval.scoring.situations.lorehlt.frame_scores import ScoredFrames
from hlteval.scoring.situations.lorehlt.frame_sides import GRAVE, SITUATION_CLASSES, STATUS
from hlteval.scoring.situations.lorehlt.official_sides import MEASURES
from hlteval.scoring.situations.lorehlt.ranking import TIE_BREAKS

_CLASSES: Mapping[str, str] = MappingProxyType(
    {
        "type": "Type",
        "type,place": "TypePlace",
        STATUS: "TypePlaceStatus",
        f"{STATUS},urgent": "TypePlaceStatusUrgency",
        f"{STATUS},resolution": "TypePlaceStatusResolution",
        f"{STATUS},urgent,resolution": "TypePlaceStatusUrgencyResolution",
    }
)
_SITUATIONS: Mapping[str, str] = MappingProxyType(
    {
        "type,place": "EqClass_Type+Place",
        STATUS: "EqClass_Type+Place+Status",
        f"{STATUS},urgent": "EqClass_Type+Place+Status+Urgency",
        f"{STATUS},resolution": "EqClass_Type+Place+Status+Resolution",
        f"{STATUS},urgent,resolution": "EqClass_Type+Place+Status+Urgency+Resolution",
        GRAVE: "GRAVE_EqClass_Type+Place+Status+Urgency+Resolution",
    }
)
_MISSPELT: Mapping[str, str] = MappingProxyType(
    {"TypePlaceStatusUrgency": "TypeTypePlaceStatusUrgency"}
)
#: The classes whose files have no underscore at the beginning.
_PLAIN = ("Type", "TypePlace", "TypePlaceStatus")
_RATES = ("Precision", "Recall", "F1")


def written(scored: ScoredFrames) -> dict[str, str]:
    """The files by name: those that the public scorer writes before it stops."""
    counts = not scored.annotations.options.no_sec
    stops, numeric = scored.stops, scored.shown_kind == "numeric"
    if stops.reading or (counts and stops.sentiments) or (numeric and stops.numeric):
        return {}
    files = {"_diagnostic_SEC_scores.txt": "".join(_sentiments(scored))} if counts else {}
    if stops.ranking:
        return files
    files |= {f"{ties}_nDCG_Scores.txt": "".join(_ndcg(scored, ties)) for ties in TIE_BREAKS}
    files["DiagnosticScores.txt"] = "".join(_diagnostics(scored))
    files["precisionN.txt"] = "".join(_precisions(scored))
    for name, title in _CLASSES.items():
        begin = "" if title in _PLAIN else "_"
        files[f"{begin}F1_{title}.txt"] = "".join(_frames(scored, name, title))
    return files


def _head(scored: ScoredFrames, title: str) -> str:
    return f"SF {title} Scores for Sysyem: {scored.annotations.options.system_name}\n"


def _ndcg(scored: ScoredFrames, ties: str) -> Iterator[str]:
    yield _head(scored, "nDCG")
    yield "k\tnDCG\n"
    for rank, value in enumerate(scored.shown.ndcg(ties).tolist(), start=1):  # type: ignore[arg-type]
        yield f"{rank}\t{value}\n"


def _diagnostics(scored: ScoredFrames) -> Iterator[str]:
    yield _head(scored, "Diagnostic")
    for name in SITUATION_CLASSES:
        table = scored.averages[name]
        for ending, column in (("MAP", "average_precision"), ("MAR", "recall")):
            value = mean(table[column])
            yield f"{_SITUATIONS[name]}_{ending}: {'nan' if value is None else value}\n"


def _precisions(scored: ScoredFrames) -> Iterator[str]:
    yield _head(scored, "Precision at N")
    high = scored.shown.high(scored.annotations.options.gain_table(official=True))
    if not high:
        yield "NOTE: No high gravity situations were found\n"
        return
    for number, value in enumerate(scored.shown.precisions(high).tolist(), start=1):
        yield f"{number}\t{value}\n"


def _sentiments(scored: ScoredFrames) -> Iterator[str]:
    titles = [f"{rate}{measure.title()}" for measure in MEASURES for rate in _RATES]
    yield "\t".join(["EqClass", *titles]) + "\n"
    for name, measures in scored.official_sentiments.items():
        values = [str(value) for measure in MEASURES for value in measures[measure]]
        yield "\t".join([_SITUATIONS[name], *values]) + "\n"


def _frames(scored: ScoredFrames, name: str, title: str) -> Iterator[str]:
    rates = scored.matches[name].rates
    yield f"F1_{_MISSPELT.get(title, title)}:\t{rates['f1']}\n"
    yield f"Precision_{title}:\t{rates['precision']}\n"
    yield f"Recall_{title}:\t{rates['recall']}\n"
