"""Entity discovery and linking of LoReHLT 2019: the task lorehlt-edl."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlteval.extensions import lazy
from hlteval.tasks.alignment import AlignmentInfo, CellInfo, OutcomeInfo, PlaceInfo
from hlteval.tasks.edl_statistics import FIGURES, MEASURED
from hlteval.tasks.option import Option
from hlteval.tasks.packaging import Packaging
from hlteval.tasks.task import Task

if TYPE_CHECKING:
    from hlteval.findings import Finding

_REFUSED = frozenset(
    {
        *("EDL102", "EDL108", "EDL215", "EDL216", "EDL303", "EDL305", "EDL306"),
        *("EDL401", "EDL402", "EDL403", "EDL404", "EDL507", "DOC103", "DOC105"),
        "NEL101",
    }
)
"""Findings that do not block, but for which the official validator refuses a submission."""

_LET_PASS = frozenset({"SRC201", "SRC204"})
"""Findings that block, but that the official validator passes over."""

_SCORED_AS_WRITTEN = frozenset({"OPT103", "OPT105"})
"""Errors in files of options that the official scorer takes as they are."""


def _takes(finding: Finding) -> bool:
    """Whether the official scorer goes on in spite of a finding."""
    return finding.code in _SCORED_AS_WRITTEN


def refuses(finding: Finding) -> bool:
    """Whether the official validator refuses a submission for a finding."""
    return finding.code in _REFUSED or (finding.blocking and finding.code not in _LET_PASS)


_ALIGNMENT = AlignmentInfo(
    table="alignment",
    rows=lazy("hlteval.scoring.edl.errors:readable"),
    outcomes=(
        OutcomeInfo("correct", "correct"),
        OutcomeInfo("wrong", "different"),
        OutcomeInfo("missing", "missing"),
        OutcomeInfo("extra", "extra"),
    ),
    label=("reference_type", "system_type"),
    cells=(
        CellInfo("mention", "reference_text", "system_text", "wrong_boundary"),
        CellInfo("type", "reference_type", "system_type", "wrong_type"),
        CellInfo("entity", "reference_entity", "system_entity", "wrong_link"),
    ),
    places=PlaceInfo(inclusive=True),
    details={"wrong": "wrong"},
)

EDL = Task(
    name="lorehlt-edl",
    title="LoReHLT 2019, entity discovery and linking: entity mentions in text",
    specification="NIST LoReHLT 2019 Evaluation Plan v1.0, section 17",
    format="edl-tab",
    references=("edl-tab", "neleval", "ltf", "rsd", "corpus", "jsonl"),
    submission_suffixes=(),
    provided_suffixes=(),
    reference_optional=True,
    codes=(
        *("EDL102", *(f"EDL{number}" for number in range(105, 112))),
        *(f"OPT{number}" for number in (101, 102, 103, 104, 105, 106, 107, 109, 114)),
    ),
    rules=lazy("hlteval.validators.edl.rules:RULES"),
    option_names=lazy("hlteval.validators.edl.documents:excluded_documents"),
    package=lazy("hlteval.validators.edl.package:findings"),
    packaging=Packaging(
        suffixes=(".tgz", ".tar.gz"),
        name="<team>_EDL_CP<checkpoint>_<run>.tab",
        layout="one .tab file of the same name",
        parse=lazy("hlteval.validators.edl.packing:name_parts"),
        arrange=lazy("hlteval.validators.edl.packing:arrange"),
        named=lazy("hlteval.validators.edl.package:named"),
    ),
    metric=lazy("hlteval.scoring.edl.metric:LinkMatch"),
    metric_options=lazy("hlteval.scoring.edl.metric:Options"),
    statistics=FIGURES,
    measures=MEASURED,
    alignment_info=_ALIGNMENT,
    primary=dict.fromkeys(("plan", "official"), "strong_typed_all_match.fscore"),
    scored_table="mentions",
    agreement=lazy("hlteval.tasks.agreement:ENTITIES"),
    only_in_references=lazy("hlteval.validators.edl.fields:only_in_references"),
    document_codes=frozenset({"EDL501"}),
    submitted=("neleval",),
    official_crashes_on=frozenset(
        {"EDL312", "EDL313", *(f"NEL{number}" for number in range(101, 109))}
    ),
    official_ignores=_takes,
    official_rejects=refuses,
    options=(
        Option(
            "measure",
            "Measure, group of measures, or aggregate:filter:key; repeatable (default: "
            "all measures).",
            metavar="NAME",
            repeatable=True,
            short="m",
            adds="rows",
            read=lazy("hlteval.tasks.option_readers:measure_list"),
        ),
        Option(
            "by",
            "Also score each document, type or language, with micro- and macro-averages.",
            choices=("document", "type", "language"),
            adds="rows",
        ),
        Option(
            "alternatives",
            "If the reference lists several candidate entities, use the one that the "
            "system has (eid), or has with the same type (fields).",
            choices=("eid", "fields"),
        ),
        Option(
            "conversion",
            "Types are GPE (pipeline) or GPE/NAM (tac15).",
            choices=("pipeline", "tac15"),
        ),
        Option(
            "type_weights",
            "Table of type weights: reference type, system type and weight, tab-separated.",
            read=lazy("hlteval.tasks.option_readers:type_weights"),
        ),
        Option(
            "exclude",
            "Table of zones to exclude: document, first and last offset, tab-separated.",
            read=lazy("hlteval.tasks.option_readers:zones"),
        ),
        Option(
            "texts",
            "Documents in LTF, to show errors in context in reports, tables of -o and JSON.",
            format="ltf",
            adds="tables",
        ),
        Option(
            "documents",
            "List of documents to score, one identifier per line.",
            format="document-list",
            selects_documents=True,
            commands=("score", "validate"),
        ),
        Option(
            "kb",
            "Table of knowledge base entries; links are checked against it.",
            format="kb-tab",
            commands=("validate",),
        ),
    ),
)
