"""Entity discovery and linking of LoReHLT 2019: the task lorehlt-edl."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlteval.extensions import lazy
from hlteval.tasks.edl_statistics import FIGURES, MEASURED
from hlteval.tasks.task import Option, Task

if TYPE_CHECKING:
    from hlteval.findings import Finding

_REFUSED = frozenset(
    {
        *("EDL102", "EDL108", "EDL215", "EDL216", "EDL303", "EDL305", "EDL306"),
        *("EDL401", "EDL402", "EDL403", "EDL404", "EDL507", "DOC103", "NEL101"),
    }
)
"""Findings that do not block, but for which the official validator refuses a submission."""

_LET_PASS = frozenset({"SRC201", "SRC204"})
"""Findings that block, but that the official validator passes over."""


def _refuses(finding: Finding) -> bool:
    """Whether the official validator refuses a submission for a finding."""
    return finding.code in _REFUSED or (finding.blocking and finding.code not in _LET_PASS)


EDL = Task(
    name="lorehlt-edl",
    title="LoReHLT 2019, entity discovery and linking: mentions of entities in text",
    specification="NIST LoReHLT 2019 Evaluation Plan v1.0, section 17",
    format="edl-tab",
    references=("edl-tab", "neleval", "ltf", "rsd", "corpus", "jsonl"),
    submission_suffixes=(),
    provided_suffixes=(),
    reference_optional=True,
    rules=lazy("hlteval.validators.edl.rules:RULES"),
    package=lazy("hlteval.validators.edl.package:findings"),
    metric=lazy("hlteval.scoring.edl.metric:LinkMatch"),
    metric_options=lazy("hlteval.scoring.edl.metric:Options"),
    statistics=FIGURES,
    measures=MEASURED,
    primary=dict.fromkeys(("plan", "official"), "strong_typed_all_match.fscore"),
    scored_table="mentions",
    submitted=("neleval",),
    official_crashes_on=frozenset(
        {"EDL312", "EDL313", *(f"NEL{number}" for number in range(101, 109))}
    ),
    official_rejects=_refuses,
    options=(
        Option(
            "measure",
            "A measure, a group, or aggregate:filter:key; can be repeated; all if not given.",
            metavar="NAME",
            repeatable=True,
            short="m",
            read=lazy("hlteval.tasks.option_readers:measure_list"),
        ),
        Option(
            "by",
            "Also count by document, type or language, with the averages over these.",
            choices=("document", "type", "language"),
        ),
        Option(
            "alternatives",
            "Where the reference allows several entities, take the one that the system has (eid), "
            "or has with its type (fields).",
            choices=("eid", "fields"),
        ),
        Option(
            "conversion",
            "Whether a type is GPE (pipeline) or GPE/NAM (tac15).",
            choices=("pipeline", "tac15"),
        ),
        Option(
            "type_weights",
            "What pairs of types count: reference's type, system's type and weight, with tabs.",
            read=lazy("hlteval.tasks.option_readers:type_weights"),
        ),
        Option(
            "exclude",
            "Zones that are not scored: document, first and last offset, with tabs between.",
            read=lazy("hlteval.tasks.option_readers:zones"),
        ),
        Option(
            "texts",
            "The documents in LTF: what went wrong is shown with its context.",
            format="ltf",
        ),
        Option(
            "documents",
            "A list of documents, an identifier a line: only these are scored.",
            format="document-list",
            selects_documents=True,
            commands=("score", "validate"),
        ),
        Option(
            "kb",
            "The knowledge base, a table with its entities: links must lead there.",
            format="kb-tab",
            commands=("validate",),
        ),
    ),
)
