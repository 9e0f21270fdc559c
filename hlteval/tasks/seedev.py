"""SeeDev (BioNLP-ST 2016): the tasks seedev-binary and seedev-full."""

from __future__ import annotations

from functools import partial

from hlteval.extensions import lazy
from hlteval.findings import Finding
from hlteval.tasks.task import (
    COUNT,
    NORMAL,
    NUMBER,
    RATIO,
    AlignmentInfo,
    CellInfo,
    Hooks,
    Option,
    OutcomeInfo,
    Packaging,
    StatisticInfo,
    Task,
)

_COUNTED = "SeeDev evaluation, Measures"
_MEASURES = "SeeDev evaluation, SeeDev-binary, measures and SeeDev-full, measures"
_PAIRING = "SeeDev evaluation, Pairing"

STATISTICS = (
    StatisticInfo("f1", "Harmonic mean of recall and precision; 0 if nothing is right.",
                  "2 · matches / (references + predictions)", clause=_MEASURES),
    StatisticInfo("recall", "Share of the reference that was found; a partial match counts as its "
                  "similarity.", "matches / references", clause=_MEASURES),
    StatisticInfo("precision", "Share of the predictions that are correct; a partial match counts "
                  "as its similarity.", "matches / predictions", clause=_MEASURES),
    StatisticInfo("ser", "Slot error rate: errors per reference event.",
                  "(substitutions + insertions + deletions) / references", RATIO, "less",
                  "SeeDev evaluation, SeeDev-full, measures", NORMAL),
    StatisticInfo("matches", "Sum of the similarities of all pairs of reference and predicted "
                  "events.", "Σ Sp, with Sp = SNeg · SOpt for events of the same type and "
                  "mandatory arguments, else 0; SNeg = 1 if both or neither are negated, else ½; "
                  "SOpt = 1 − EOpt / N; in SeeDev-binary Sp is 1 or 0", NUMBER, clause=_PAIRING),
    StatisticInfo("substitutions", "Sum of the dissimilarities of all pairs.", "Σ (1 − Sp)", NUMBER,
                  "less", _PAIRING),
    StatisticInfo("insertions", "Unpaired predicted events: false positives.",
                  "predictions − pairs", COUNT, "less", _PAIRING),
    StatisticInfo("deletions", "Unpaired reference events: false negatives.", "references − pairs",
                  COUNT, "less", _PAIRING),
    StatisticInfo("references", "Number of reference events.", "", COUNT, "neither", _COUNTED),
    StatisticInfo("predictions", "Number of predicted events.", "", COUNT, "neither", _COUNTED),
)  # fmt: skip

_SENTENCES = Option("sentences", "Sentence boundaries; adds the evaluation “Inside sentences”.",
                    format="seedev-sentences", adds="rows")  # fmt: skip

_ALIGNMENT = AlignmentInfo(
    table="alignment", rows=lazy("hlteval.scoring.seedev.alignment:readable"),
    outcomes=(OutcomeInfo("correct", "correct"), OutcomeInfo("partly correct", "different"),
              OutcomeInfo("missing", "missing"), OutcomeInfo("extra", "extra")),
    label=("reference_type", "predicted_type"),
    cells=(CellInfo("event", "reference", "predicted", kind="name"),
           CellInfo("type", "reference_type", "predicted_type")),
    items=("reference", "predicted"),
    details={
        "similarity": "similarity", "negation": "negation", "missing": "missing arguments",
        "extra": "extra arguments", "wrong": "wrong arguments",
    },
)  # fmt: skip


def _goes_on(finding: Finding) -> bool:
    """Whether the software reads a file all the same: bytes that are not text are U+FFFD there."""
    return finding.code in {"SRC201", "SRC203", "SRC204", "SRC205"}


_declare = partial(
    Task,
    specification="BioNLP-ST 2016, SeeDev evaluation",
    format="standoff",
    submission_suffixes=(".a2",),
    provided_suffixes=(".txt", ".a1"),
    document_codes=frozenset({"SEE401", "SEE402"}),
    rules=lazy("hlteval.validators.seedev.rules:RULES"),
    package=lazy("hlteval.validators.seedev.package:findings"),
    packaging=Packaging(
        layout="an .a2 file for each document",
        arrange=partial(lazy("hlteval.validators.packages:flat"), suffixes=(".a2",)),
    ),
    statistics=STATISTICS,
    alignment_info=_ALIGNMENT,
    agreement=lazy("hlteval.tasks.agreement:SEEDEV"),
    official_settings={"invalid-bytes": "replace"},
    official_ignores=_goes_on,
    official_crashes_on=frozenset({"STD105", "STD109", "STD204"}),
    hooks=Hooks(
        official_checks_reference=True,
        official_reading=lazy("hlteval.converters.standoff.software:as_software"),
        batch=1000,
        reads_sub_folders=False,
    ),
)

BINARY = _declare(
    name="seedev-binary",
    title="SeeDev-binary: binary relations of seed development",
    schema=partial(lazy("hlteval.validators.seedev.schema:schema"), "binary"),
    metric=lazy("hlteval.tasks.runtime.seedev:binary"),
    metric_options=lazy("hlteval.scoring.seedev.metric:Options"),
    primary={"plan": "f1", "official": "f1"},
    codes=("SEE4", "OPT109"),
    options=(_SENTENCES,),
)

FULL = _declare(
    name="seedev-full",
    title="SeeDev-full: events of seed development with optional arguments and negation",
    schema=partial(lazy("hlteval.validators.seedev.schema:schema"), "full"),
    metric=lazy("hlteval.tasks.runtime.seedev:full"),
    codes=("SEE4",),
    primary={"plan": "f1", "official": "ser"},
)
