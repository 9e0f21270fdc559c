"""HUB-4 templettes (v0.3): the task hub4."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from hlteval.extensions import lazy
from hlteval.tasks.task import (
    BOTH,
    COUNT,
    LOW,
    NORMAL,
    RATE,
    RATIO,
    AlignmentInfo,
    CellInfo,
    FacetInfo,
    Hooks,
    MeasureInfo,
    Option,
    OutcomeInfo,
    Packaging,
    PlaceInfo,
    StatisticInfo,
    Task,
)

_TEXTS_COMPARED = "HUB-4 v0.3, Comparison of Text Fills for"
_POINTERS_COMPARED = "HUB-4 v0.3, Comparison of Pointer Fills"
_SCORES = "HUB-4 v0.3, Calculation of Scores based on the Mapping"

MEASURES = (
    MeasureInfo("content", "Compares the texts of fills.", "one point per single fill: correct if "
                "the system string is inside the maximal string and contains a minimal one; a "
                "pointer is correct if the two instances are mapped to each other",
                f"{_TEXTS_COMPARED} Content (Clean Data)"),
    MeasureInfo("extent", "Compares the extents of fills.", "one point per single fill: correct if "
                "its extent is inside the maximal one and overlaps a minimal one; pointers as for "
                "content", f"{_TEXTS_COMPARED} Extent"),
    MeasureInfo("both", "Compares the texts and extents of fills.", "two points per text fill, one "
                "for content and one for extent; one point per pointer",
                f"{_TEXTS_COMPARED} Content (Clean Data)"),
)  # fmt: skip

_statistic = partial(StatisticInfo, clause=_SCORES)
STATISTICS = (
    _statistic("cor", "Correct points.", "COR", COUNT, "more"),
    _statistic("inc", "Incorrect points.", "INC", COUNT, "less"),
    _statistic("mis", "Missing points: only in the reference.", "MIS", COUNT, "less"),
    _statistic("spu", "Spurious points: only in the system.", "SPU", COUNT, "less"),
    StatisticInfo("optional", "Points of optional slots that the system left empty; not scored.",
                  "OPT", COUNT, "neither", _POINTERS_COMPARED),
    StatisticInfo("removed", "Pointers to unmapped optional instances; not scored.", "REM", COUNT,
                  "neither", _POINTERS_COMPARED),
    _statistic("pos", "Possible points.", "POS = COR + INC + MIS", COUNT, "neither"),
    _statistic("act", "Actual points.", "ACT = COR + INC + SPU", COUNT, "neither"),
    _statistic("rec", "Recall.", "COR / POS"),
    _statistic("pre", "Precision.", "COR / ACT"),
    _statistic("f", "F-measure; `--beta` weights recall.",
               "(β² + 1) · PRE · REC / (β² · PRE + REC); with β = 1, 2 · COR / (POS + ACT)"),
    StatisticInfo("und", "Undergeneration.", "MIS / POS", RATE, "less", _SCORES, NORMAL),
    StatisticInfo("ovg", "Overgeneration.", "SPU / ACT", RATE, "less", _SCORES, NORMAL),
    StatisticInfo("sub", "Substitution, as defined in the specification.", "INC / COR", RATIO,
                  "less", _SCORES, NORMAL),
    StatisticInfo("sub_muc", "Substitution, as defined by the MUC scorer.", "INC / (COR + INC)",
                  better="less", clause="MUC scorer", importance=LOW),
    _statistic("err", "Error per response fill.", "(INC + SPU + MIS) / (COR + INC + SPU + MIS)",
               better="less"),
)  # fmt: skip

#: The options that alignment of texts needs.
_ALIGNED = dict.fromkeys(("score", "compare"), ("align", "hyp_corpus"))
#: What options of the corpus have in common.
_IN_CORPUS: Mapping[str, Any] = {
    "is_format_setting": True,
    "commands": BOTH,
    "needs_any": {
        **dict.fromkeys(("score", "compare"), ("corpus",)),
        "validate": ("corpus", "against", "hyp_corpus"),
    },
}

_READING = (
    Option("slots", "File of the allowed types and slots, one TYPE or TYPE.SLOT per line (default: "
           "all).", read=lazy("hlteval.tasks.runtime.hub4:allowed_slots")),
    Option("types", "Instance types that contain a hyphen, comma-separated.", metavar="T,…",
           is_format_setting=True),
    Option("options", "TOML file of options; the command line takes precedence.",
           holds_options=True),
    Option("corpus", "Text corpus in SGML.", reference_format="sgml-corpus",
           read=lazy("hlteval.tasks.runtime.hub4:reference_texts")),
    Option("hyp_corpus", "Text corpus processed by the system, if different.",
           read=lazy("hlteval.tasks.runtime.hub4:system_texts"), needs={"": ("corpus",)}),
    Option("unsegmented", "System offsets count from the start of the corpus, without document "
           "boundaries.", switch=True, is_format_setting=True, without_documents=True,
           needs={"": ("corpus",)}),
    Option("top", "Type of the instance that ties a set together (default TEMPLATE).",
           metavar="TYPE"),
    Option("unscored", "Unscored slots, as SLOT or TYPE.SLOT (default DOC_NR, COMMENT, "
           "OBJ_STATUS).", metavar="SLOT,…", kind="list"),
    Option("pointers", "Slots that hold pointers, as TYPE.SLOT (default the EVENT of that type).",
           metavar="SLOT,…", kind="list"),
)  # fmt: skip

_TEXTS = (
    Option("document_tag", "Tag that encloses documents in the corpus (default: the first tag).",
           metavar="TAG"),
    Option("id_tag", "Element with the document identifier (default DOCNO or DOCID).",
           metavar="TAG"),
    Option("line_ends", "Count a CR LF line end as one character, or as written.",
           choices=("one", "as-written")),
)  # fmt: skip

_SCORING = (
    Option("mode", "Comparison to score (default all); the primary metric follows it.",
           choices=(*(measure.name for measure in MEASURES), "all"), selects_measure=True),
    Option("glm", "Global mapping file with spelling normalization rules.",
           read=lazy("hlteval.tasks.runtime.hub4:global_maps")),
    Option("align", "Align the words of both corpora.", switch=True,
           needs={"": ("corpus", "hyp_corpus")}),
    Option("align_costs", "Alignment costs: as in the specification's example (document), as in "
           "sclite, or by phones (default phones with --lexicon, otherwise document).",
           choices=("document", "sclite", "phones"), needs={"phones": ("lexicon",)},
           needs_any=_ALIGNED),
    Option("lexicon", "Pronunciation lexicon: a word and its phones per line.",
           read=lazy("hlteval.tasks.runtime.hub4:lexicon"), needs_any=_ALIGNED),
    Option("ignore_case", "Ignore case.", switch=True),
    Option("noisy", "Compare words, with optional fillers and word fragments.", switch=True),
    Option("fillers", "Pause fillers (default uh,um).", metavar="WORD,…", kind="list",
           needs_any=dict.fromkeys(("score", "compare"), ("noisy",))),
    Option("premodifiers", "Words to remove from the beginning of fills, or none (default "
           "and,a,the).", metavar="WORD,…", kind="list"),
    Option("premodifiers_anywhere", "Remove premodifiers everywhere.", switch=True),
    Option("whiteout", "Characters to treat as spaces.", metavar="CHARS"),
    Option("nonextractable", "Elements whose text is treated as spaces.", metavar="TAG,…",
           kind="list"),
    Option("type_order", "Order in which types are mapped.", metavar="T,…", kind="list"),
    Option("zero_f", "How to map pairs without a correct point.",
           choices=("map", "skip-optional", "skip")),
    Option("beta", "Weight of recall in F (default 1).", metavar="B", kind="number"),
)  # fmt: skip


def _compared_with(form: str, options: Collection[str]) -> str:
    """Describe what a template set is compared with; without a corpus, extents are not."""
    corpus = form == "sgml-corpus" or not {"corpus", "hyp_corpus"}.isdisjoint(options)
    names = ["types, slots and documents compared with the reference"] if form == "hub4" else []
    extents = "extents compared with the corpus" if corpus else "extents not compared (no --corpus)"
    if "slots" in options:
        names.append("types and slots compared with --slots")
    return "; ".join([*names, extents])


_ALIGNMENT = AlignmentInfo(
    table="mapping", rows=lazy("hlteval.scoring.hub4.report:readable"),
    outcomes=(OutcomeInfo("correct", "correct"), OutcomeInfo("incorrect", "different"),
              OutcomeInfo("missing", "missing"), OutcomeInfo("spurious", "extra"),
              OutcomeInfo("not scored", "unscored")),
    cells=(CellInfo("instance", "instance", "instance_system", kind="name"),
           CellInfo("fill", "reference", "system")),
    facets=(FacetInfo("mode", "compared by", single=True), FacetInfo("slot", "slot")),
    places=PlaceInfo(shown=False),
    details={"slot": "slot", "cor": "COR", "inc": "INC", "mis": "MIS", "spu": "SPU", "why": "why"},
)  # fmt: skip

HUB4 = Task(
    name="hub4",
    title="HUB-4 templettes: event templates with slots and fills",
    specification='HUB-4 "Templette" Task Scoring Procedure, Version 0.3',
    format="hub4",
    references=("hub4", "sgml-corpus"),
    reference_optional=True,
    schema=partial(lazy("hlteval.validators.hub4.names:schema"), {}),
    schema_for=lazy("hlteval.validators.hub4.names:schema"),
    codes=("GLM", "HUB228", "OPT107", "OPT108", "OPT109", "OPT111", "OPT114"),
    document_codes=frozenset({"HUB233", "HUB301", "HUB306"}),
    rules=lazy("hlteval.validators.hub4.rules:RULES"),
    package=lazy("hlteval.validators.hub4.package:findings"),
    packaging=Packaging(
        layout="one template set",
        arrange=partial(lazy("hlteval.validators.packages:flat"), suffixes=()),
        recognize=lazy("hlteval.validators.hub4.package:recognize"),
        by_format=False,
    ),
    metric=lazy("hlteval.scoring.hub4.metric:TempletteMatch"),
    metric_options=lazy("hlteval.scoring.hub4.metric:Options"),
    statistics=STATISTICS,
    measures=MEASURES,
    primary={"plan": "both.f"},
    options=(
        *(replace(option, commands=BOTH) for option in _READING),
        *(replace(option, **_IN_CORPUS) for option in _TEXTS),
        *_SCORING,
    ),
    submission_settings={"side": "system"},
    alignment_info=_ALIGNMENT,
    agreement=lazy("hlteval.tasks.agreement:TEMPLETTES"),
    noted=frozenset({"HUB230", "HUB231", "HUB233"}),
    hooks=Hooks(
        alignment="mapping",
        compared=_compared_with,
        only_in_references=lazy("hlteval.validators.hub4.names:only_in_references"),
        option_names=lazy("hlteval.validators.hub4.names:unscored_names"),
    ),
)
