"""HUB-4 templettes (v0.3): the task hub4."""

from __future__ import annotations

from functools import partial

from hlteval.extensions import later
from hlteval.tasks.task import Option, Task

MODES = ("content", "extent", "both")
FIGURES = (
    *("cor", "inc", "mis", "spu", "optional", "removed", "pos", "act", "rec", "pre", "f"),
    *("und", "ovg", "sub", "sub_muc", "err"),
)

_READING = (
    Option(
        "types",
        "The types of instances that hold a hyphen, with commas between.",
        metavar="T,…",
        sets=True,
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
        against="sgml-corpus",
        commands=("score", "validate"),
    ),
    Option(
        "unsegmented",
        "Offsets of the system count from the beginning of its corpus, which has no documents.",
        switch=True,
        sets=True,
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
        sets=True,
        commands=("score", "validate"),
    ),
    Option(
        "id_tag",
        "The element that identifies a document; DOCNO or DOCID if not given.",
        metavar="TAG",
        sets=True,
        commands=("score", "validate"),
    ),
    Option(
        "line_ends",
        "Whether a line end of two characters counts as one, or as written.",
        choices=("one", "as-written"),
        sets=True,
        commands=("score", "validate"),
    ),
)

_VALIDATING = (
    Option(
        "side",
        "What is checked: a system's output, or a reference.",
        choices=("system", "reference"),
        sets=True,
        commands=("validate",),
    ),
)

_SCORING = (
    Option("mode", "What is compared; all if not given.", choices=(*MODES, "all")),
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
    predicted=(),
    given=(),
    alone=True,
    schema=partial(later("hlteval.validators.hub4_setup:setup"), {}),
    configured=later("hlteval.validators.hub4_setup:setup"),
    rules=later("hlteval.validators.hub4:RULES"),
    metric=later("hlteval.tasks.hub4_metrics:metric"),
    metrics=tuple(f"{mode}.{figure}" for mode in MODES for figure in FIGURES),
    primary={"plan": "both.f"},
    options=(*_READING, *_TEXTS, *_VALIDATING, *_SCORING),
    reads={"side": "system"},
    alignment="mapping",
)
