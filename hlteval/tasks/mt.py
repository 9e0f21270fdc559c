"""Machine translation (LoReHLT 2019, section 15): the task lorehlt-mt, its metrics and options.

Sums run over the segments that are scored: all of the reference, or a subset.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from hlteval.extensions import lazy
from hlteval.tasks.task import (
    COUNT,
    LOW,
    RATE,
    RATIO,
    AlignmentInfo,
    CellInfo,
    Hooks,
    Option,
    OutcomeInfo,
    Packaging,
    Range,
    StatisticInfo,
    Task,
)

_CLAUSE = "LoReHLT 2019 plan, 15.2.2"
_PERCENT = Range("0 to 100", "number", least=0.0, most=100.0)

_statistic = partial(StatisticInfo, clause=_CLAUSE)
STATISTICS = (
    _statistic("meteor", "METEOR 1.5; only with --metrics meteor, and then the ranking metric.",
               "(1 − 0.6 · (chunks / matches)^0.2) · P · R / (0.85 · P + 0.15 · R)", RATE),
    _statistic("bleu", "BLEU of sacrebleu, from 0 to 100.",
               "BP · exp(mean of the logarithms of the precisions of 1 to 4 words)", _PERCENT),
    _statistic("chrf", "The chrF2 of sacrebleu: F of 1 to 6 characters.",
               "5 · P · R / (4 · P + R), of means over orders", _PERCENT),
    _statistic("chrf_pp", "The chrF2++ of sacrebleu: F of 1 to 6 characters and 1 to 2 words.",
               "5 · P · R / (4 · P + R), of means over orders", _PERCENT),
    _statistic("ter", "Translation edit rate of sacrebleu: edits and shifts per 100 words of the "
               "reference.", "100 · edits / words of the reference", RATIO, "less"),
    StatisticInfo("segments", "Number of scored segments.", "", COUNT, "neither", _CLAUSE, LOW),
)  # fmt: skip
#: What the tables of documents and segments have beside the metrics.
TABLE_STATISTICS = (
    StatisticInfo("meteor_precision", "Weighted matches per weighted word of the translation."),
    StatisticInfo("meteor_recall", "Weighted matches per weighted word of the reference."),
    StatisticInfo("meteor_penalty", "Penalty of METEOR for words in another order.", better="less"),
)
_READERS = "hlteval.tasks.runtime.mt:"


def primary(options: Mapping[str, str]) -> str:
    """The metric that ranks: METEOR, which the plan names, or the first one that is computed.

    Examples:
        >>> primary({}), primary({"metrics": "bleu,meteor"}), primary({"metrics": "ter, bleu"})
        ('bleu', 'meteor', 'ter')
    """
    names = [name.strip() for name in options.get("metrics", "bleu").split(",")]
    return "meteor" if "meteor" in names else names[0]


def accepted_codes(options: Mapping[str, str]) -> frozenset[str]:
    """The codes of missing translations, where these are scored as empty ones.

    Examples:
        >>> sorted(accepted_codes({"missing": "empty"})), sorted(accepted_codes({}))
        (['MTV201', 'MTV301'], [])
    """
    return frozenset({"MTV201", "MTV301"} if options.get("missing") == "empty" else ())


ALIGNMENT = AlignmentInfo(
    table="alignment", rows=lazy("hlteval.scoring.mt.segments:readable"),
    outcomes=(OutcomeInfo("identical", "correct", "identical to a reference"),
              OutcomeInfo("different", "different"), OutcomeInfo("missing", "missing"),
              OutcomeInfo("not scored", "unscored")),
    label=(),
    cells=(CellInfo("source", "source"),
           CellInfo("text", "references", "translation", kind="words")),
    details={"segment": "segment"}, joined=("segments", ("document", "segment")),
)  # fmt: skip

OPTIONS = (
    Option("metrics", "Metrics to compute: meteor, bleu, chrf, chrf_pp, ter, separated by commas "
           "(default: all except meteor, which needs Java).", metavar="NAMES", kind="list",
           read=lazy(f"{_READERS}metrics")),
    Option("subset", "Score only these segments: document and segment per line, tab-separated.",
           read=lazy(f"{_READERS}subset")),
    Option("sf_justifications", "Score only segments that justify correct situation frames of this "
           "submission of lorehlt-sf.", needs={"": ("sf_reference",)},
           read=lazy(f"{_READERS}frames")),
    Option("sf_reference", "Reference of situation frames to judge those of --sf-justifications.",
           metavar="PATH",
           needs_any={"score": ("sf_justifications",), "compare": ("sf_justifications",)},
           read=lazy(f"{_READERS}reference_frames")),
    Option("neighbours", "Segments before and after each justification in the table `assessment` "
           "(default: 1).", metavar="N", adds="tables", needs={"": ("sf_justifications",)},
           read=lazy(f"{_READERS}neighbours")),
    Option("sf_scores", "Scores of situation frames to correlate with those of translations: "
           "document; source, reference or mt; score; tab-separated.", adds="tables",
           read=lazy(f"{_READERS}sf_scores")),
    Option("protect_urls", "Treat each URL, e-mail address, @name and #tag as one word.",
           switch=True),
    Option("missing", "Score segments without a translation as empty (default: score nothing).",
           choices=("empty",)),
    Option("tokenize", "Tokenizer of BLEU (default: 13a).",
           choices=("13a", "intl", "char", "none")),
    Option("lowercase", "Ignore case in BLEU, chrF and chrF++.", switch=True),
    Option("meteor_jar", "METEOR 1.5, meteor-1.5.jar (default: that of the package pycocoevalcap).",
           metavar="JAR"),
    Option("no_paraphrases", "Omit the paraphrases of METEOR; starts faster, but changes the "
           "values.", switch=True),
)  # fmt: skip


LOREHLT_MT = Task(
    name="lorehlt-mt",
    title="LoReHLT 2019, machine translation: documents translated into English",
    specification="NIST LoReHLT 2019 Evaluation Plan v1.0, section 15",
    format="lorehlt-mt",
    references=(
        "lorehlt-mt", "mteval", "mt-text", "tmx", "sacrebleu-tsv", "ltf", "corpus", "jsonl",
    ),
    submission_suffixes=(".ltf.xml",),
    reference_optional=True,
    reference_settings={"role": "reference"},
    scored_table="translations",
    rules=lazy("hlteval.validators.mt.rules:RULES"),
    package=lazy("hlteval.validators.mt.package:findings"),
    packaging=Packaging(
        layout="one .ltf.xml file per input file, with its name, without folders",
        arrange=lazy("hlteval.validators.mt.packing:arrange"),
        named=lazy("hlteval.validators.mt.package:named"),
    ),
    codes=(
        *("MTV1", "OPT101", "OPT106", "OPT107", "OPT109", "MTS201", "MTS202"),
        *(f"MTS{number}" for number in range(101, 110)),
    ),
    document_codes=frozenset({"MTV102", "MTV201", "MTV202"}),
    metric=lazy("hlteval.scoring.mt.metric:Translation"),
    metric_options=lazy("hlteval.scoring.mt.segments:TranslationOptions"),
    statistics=STATISTICS,
    alignment_info=ALIGNMENT,
    table_statistics=TABLE_STATISTICS,
    primary={"plan": "bleu"},
    options=OPTIONS,
    agreement=lazy("hlteval.tasks.agreement:TRANSLATIONS"),
    hooks=Hooks(primary_of=primary, accepted=accepted_codes),
)  # fmt: skip
