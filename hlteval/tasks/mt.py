"""Machine translation of LoReHLT 2019: the task lorehlt-mt."""

from __future__ import annotations

from hlteval.extensions import lazy
from hlteval.tasks.mt_scores import (
    ALIGNMENT,
    METRIC,
    METRIC_CODES,
    METRIC_OPTIONS,
    OPTION_CODES,
    OPTIONS,
    PRIMARY,
    STATISTICS,
    TABLE_STATISTICS,
    accepted,
    primary,
)
from hlteval.tasks.packaging import Packaging
from hlteval.tasks.task import Task

LOREHLT_MT = Task(
    name="lorehlt-mt",
    title="LoReHLT 2019, machine translation: documents translated into English",
    specification="NIST LoReHLT 2019 Evaluation Plan v1.0, section 15",
    format="lorehlt-mt",
    references=(
        "lorehlt-mt",
        "mteval",
        "mt-text",
        "tmx",
        "sacrebleu-tsv",
        "ltf",
        "corpus",
        "jsonl",
    ),
    submission_suffixes=(".ltf.xml",),
    provided_suffixes=(),
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
    codes=("MTV1", *METRIC_CODES, *OPTION_CODES),
    document_codes=frozenset({"MTV102", "MTV201", "MTV202"}),
    accepted=accepted,
    metric=METRIC,
    metric_options=METRIC_OPTIONS,
    statistics=STATISTICS,
    alignment_info=ALIGNMENT,
    table_statistics=TABLE_STATISTICS,
    primary=PRIMARY,
    primary_of=primary,
    options=OPTIONS,
    agreement=lazy("hlteval.tasks.agreement:TRANSLATIONS"),
)
