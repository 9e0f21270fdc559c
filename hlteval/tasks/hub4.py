"""HUB-4 templettes (v0.3): the task hub4."""

from __future__ import annotations

from functools import partial

from hlteval.extensions import lazy
from hlteval.tasks.statistics import COUNT, MeasureInfo, StatisticInfo
from hlteval.tasks.task import Option, Task

_TEXTS_COMPARED = "HUB-4 v0.3, Comparison of Text Fills for"
_POINTERS_COMPARED = "HUB-4 v0.3, Comparison of Pointer Fills"
_SCORES = "HUB-4 v0.3, Calculation of Scores based on the Mapping"

MODES = (
    MeasureInfo(
        "content",
        "Fills by their texts.",
        "a single fill gives a point: correct if the system's string is inside the maximal string "
        "and holds a minimal one, a pointer if what it names is mapped to what the other names",
        f"{_TEXTS_COMPARED} Content (Clean Data)",
    ),
    MeasureInfo(
        "extent",
        "Fills by their places.",
        "a single fill gives a point: correct if its extent is enclosed in the maximal one and "
        "overlaps a minimal one; pointers as for content",
        f"{_TEXTS_COMPARED} Extent",
    ),
    MeasureInfo(
        "both",
        "Fills by their texts and places.",
        "a text fill gives two points, one of content and one of extent; a pointer gives one",
        f"{_TEXTS_COMPARED} Content (Clean Data)",
    ),
)

FIGURES = (
    StatisticInfo("cor", "Correct points.", "COR", COUNT, "more", _SCORES),
    StatisticInfo("inc", "Incorrect points.", "INC", COUNT, "less", _SCORES),
    StatisticInfo(
        "mis", "Missing points: the system has nothing there.", "MIS", COUNT, "less", _SCORES
    ),
    StatisticInfo(
        "spu", "Spurious points: only the system has any.", "SPU", COUNT, "less", _SCORES
    ),
    StatisticInfo(
        "optional",
        "Points of optional slots that the system left empty; they are not scored.",
        "OPT",
        COUNT,
        "neither",
        _POINTERS_COMPARED,
    ),
    StatisticInfo(
        "removed",
        "Pointers to optional instances that are mapped to nothing; they are not scored.",
        "REM",
        COUNT,
        "neither",
        _POINTERS_COMPARED,
    ),
    StatisticInfo("pos", "Possible points.", "POS = COR + INC + MIS", COUNT, "neither", _SCORES),
    StatisticInfo("act", "Actual points.", "ACT = COR + INC + SPU", COUNT, "neither", _SCORES),
    StatisticInfo("rec", "Recall.", "COR / POS", clause=_SCORES),
    StatisticInfo("pre", "Precision.", "COR / ACT", clause=_SCORES),
    StatisticInfo(
        "f",
        "The F-measure; `--beta` weighs recall.",
        "(β² + 1) · PRE · REC / (β² · PRE + REC); with β = 1, 2 · COR / (POS + ACT)",
        clause=_SCORES,
    ),
    StatisticInfo("und", "Undergeneration.", "MIS / POS", better="less", clause=_SCORES),
    StatisticInfo("ovg", "Overgeneration.", "SPU / ACT", better="less", clause=_SCORES),
    StatisticInfo(
        "sub",
        "Substitution, as the specification has it.",
        "INC / COR",
        "0 and more",
        "less",
        _SCORES,
    ),
    StatisticInfo(
        "sub_muc",
        "Substitution, as the MUC scorer has it.",
        "INC / (COR + INC)",
        better="less",
        clause="MUC scorer",
    ),
    StatisticInfo(
        "err",
        "Error per response fill.",
        "(INC + SPU + MIS) / (COR + INC + SPU + MIS)",
        better="less",
        clause=_SCORES,
    ),
)

_READING = (
    Option(
        "types",
        "The types of instances that hold a hyphen, with commas between.",
        metavar="T,…",
        is_format_setting=True,
        commands=("score", "validate"),
    ),
    Option(
        "options",
        "A TOML file of options; what is given on the command line counts before it.",
        commands=("score", "validate"),
    ),
    Option(
        "corpus",
        "The text corpus of the documents, in SGML.",
        reference_format="sgml-corpus",
        commands=("score", "validate"),
    ),
    Option(
        "unsegmented",
        "Offsets of the system count from the beginning of its corpus, which has no documents.",
        switch=True,
        is_format_setting=True,
        commands=("score", "validate"),
    ),
    Option(
        "unscored",
        "Slots that are not scored, as SLOT or TYPE.SLOT; DOC_NR,COMMENT,OBJ_STATUS if not given.",
        metavar="SLOT,…",
        commands=("score", "validate"),
    ),
    Option(
        "pointers",
        "Slots that hold pointers, as TYPE.SLOT; TEMPLATE.EVENT if not given.",
        metavar="SLOT,…",
        commands=("score", "validate"),
    ),
)

_TEXTS = (
    Option(
        "document_tag",
        "The tag of documents in the corpus; its first tag if not given.",
        metavar="TAG",
        is_format_setting=True,
        commands=("score", "validate"),
    ),
    Option(
        "id_tag",
        "The element that identifies a document; DOCNO or DOCID if not given.",
        metavar="TAG",
        is_format_setting=True,
        commands=("score", "validate"),
    ),
    Option(
        "line_ends",
        "Whether a line end of two characters counts as one, or as written.",
        choices=("one", "as-written"),
        is_format_setting=True,
        commands=("score", "validate"),
    ),
)

_VALIDATING = (
    Option(
        "side",
        "What is checked: a system's output, or a reference.",
        choices=("system", "reference"),
        is_format_setting=True,
        commands=("validate",),
    ),
)

_SCORING = (
    Option(
        "mode",
        "What is compared; all if not given.",
        choices=(*(mode.name for mode in MODES), "all"),
    ),
    Option("hyp_corpus", "The text corpus that the system worked on, where it is another one."),
    Option("glm", "A global mapping file: spellings are made alike by its rules."),
    Option("align", "Align the texts of both corpora by words.", switch=True),
    Option(
        "align_costs",
        "What words cost that do not fit: as in the specification's example, or as in sclite, "
        "or by their phones; phones with --lexicon, else document.",
        choices=("document", "sclite", "phones"),
    ),
    Option("lexicon", "A lexicon for aligning by phones: a word and its phones a line."),
    Option("ignore_case", "Small letters and capitals are the same.", switch=True),
    Option("noisy", "Compare words, of which fillers and fragments may be absent.", switch=True),
    Option("fillers", "Pause fillers; uh,um if not given.", metavar="WORD,…"),
    Option("premodifiers", "Words taken from the beginnings of fills.", metavar="WORD,…"),
    Option("premodifiers_anywhere", "Take premodifiers from all places.", switch=True),
    Option("whiteout", "Characters that count as blanks.", metavar="CHARS"),
    Option("nonextractable", "Elements whose text counts as blanks.", metavar="TAG,…"),
    Option("type_order", "The types in the order in which they are mapped.", metavar="T,…"),
    Option(
        "zero_f",
        "Whether pairs without a correct point are mapped.",
        choices=("map", "skip-optional", "skip"),
    ),
    Option("beta", "The weight of recall in F; 1 if not given.", metavar="B"),
)

HUB4 = Task(
    name="hub4",
    title="HUB-4 templettes: instances of templettes, their slots and fills",
    specification='HUB-4 "Templette" Task Scoring Procedure, Version 0.3',
    format="hub4",
    references=("hub4", "sgml-corpus"),
    submission_suffixes=(),
    provided_suffixes=(),
    reference_optional=True,
    schema=partial(lazy("hlteval.validators.hub4.schema:schema"), {}),
    schema_for=lazy("hlteval.validators.hub4.schema:schema"),
    rules=lazy("hlteval.validators.hub4.rules:RULES"),
    metric=lazy("hlteval.tasks.hub4_metrics:metric"),
    statistics=FIGURES,
    measures=MODES,
    primary={"plan": "both.f"},
    options=(*_READING, *_TEXTS, *_VALIDATING, *_SCORING),
    submission_settings={"side": "system"},
    alignment="mapping",
)
