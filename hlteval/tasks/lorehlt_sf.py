"""Situation frames of LoReHLT 2019: the task lorehlt-sf."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hlteval.extensions import lazy
from hlteval.tasks.alignment import AlignmentInfo, CellInfo, OutcomeInfo
from hlteval.tasks.edl import refuses as refuses_entities
from hlteval.tasks.lorehlt_sf_scores import (
    MEASURES,
    METRIC,
    METRIC_OPTIONS,
    OPTION_CODES,
    OPTIONS,
    PRIMARY,
    STATISTICS,
    TABLE_STATISTICS,
)
from hlteval.tasks.option import Option
from hlteval.tasks.packaging import Packaging
from hlteval.tasks.task import Task

if TYPE_CHECKING:
    from hlteval.findings import Finding
    from hlteval.validators import Rule

_ACCEPTED = frozenset({"JSN109", "JSN110", "JSN112"})
"""Findings in JSON that block, but that the parser of the official software passes over."""
_REFUSED = frozenset({"LSF102", "LSF103", "LSF105"})
"""Findings that do not block, but for which the official validator refuses a submission."""
_NOT_OF_FRAMES = frozenset({"EDL101", "EDL506", "EDL507", "EDL508"})
"""Rules of entity mentions that no submission of frames breaks: it may have none, and documents of
speech have none."""


def _refuses(finding: Finding) -> bool:
    """Whether the official validator refuses a submission for a finding."""
    if finding.code.startswith("EDL"):
        return refuses_entities(finding)
    return finding.code in _REFUSED or (finding.blocking and finding.code not in _ACCEPTED)


def _rules() -> tuple[Rule, ...]:
    """The rules of frames, and those of the entity mentions that come with them."""
    from hlteval.validators.edl.rules import RULES as ENTITIES
    from hlteval.validators.situations.lorehlt_rules import RULES

    of_entities = [rule for rule in ENTITIES if rule.code not in _NOT_OF_FRAMES]
    # The mentions of a reference are not those of an EDL system.
    return (*RULES, *(replace(rule, needs="", submission_only=True) for rule in of_entities))


_ALIGNMENT = AlignmentInfo(
    table="frames",
    outcomes=(
        OutcomeInfo("matched", "correct"),
        OutcomeInfo("missed", "missing"),
        OutcomeInfo("spurious", "extra"),
    ),
    cells=(CellInfo("type", "type", "type"), CellInfo("place", "place", "place")),
    details={"confidence": "confidence", "weight": "occurrences"},
    shows_documents=True,
)

LOREHLT_SF = Task(
    name="lorehlt-sf",
    title="LoReHLT 2019, situation frames: needs and issues with sentiments",
    specification="NIST LoReHLT 2019 Evaluation Plan v1.0, section 16",
    format="lorehlt-sf-json",
    references=("lorehlt-sf-reference", "lorehlt-sf-json", "ltf", "corpus", "jsonl",
                "document-list"),
    submitted=("lorehlt-sf-tables",),
    submission_suffixes=(),
    provided_suffixes=(),
    reference_optional=True,
    schema_for=lazy("hlteval.validators.situations.lorehlt_schema:allowed"),
    rules=_rules,
    package=lazy("hlteval.validators.situations.lorehlt_package:findings"),
    packaging=Packaging(
        layout="system_output.json and one .tab file of entity mentions",
        arrange=lazy("hlteval.validators.situations.lorehlt_packing:arrange"),
        named=lazy("hlteval.validators.situations.lorehlt_package:named"),
    ),
    codes=(*(f"LSF{number}" for number in range(102, 108)), "EDL102", *OPTION_CODES),
    document_codes=frozenset({"LSF301", "LSF302", "LSF303", "EDL501"}),
    official_rejects=_refuses,
    metric=METRIC,
    metric_options=METRIC_OPTIONS,
    statistics=STATISTICS,
    measures=MEASURES,
    alignment_info=_ALIGNMENT,
    table_statistics=TABLE_STATISTICS,
    primary=PRIMARY,
    agreement=lazy("hlteval.tasks.agreement:FRAMES"),
    official_settings={"schema": "2019-v1", "document-ids": "stripped"},
    options=(
        Option(
            "documents",
            "List of the whole test set, texts and speech, one identifier per line: frames of "
            "other documents are errors and false alarms.",
            format="document-list",
            commands=("score", "validate"),
        ),
        Option(
            "scored",
            "List of the documents that are scored, one identifier per line, with those that were "
            "annotated and are empty (default: the documents of the reference; in `official` all: "
            "it is -l of the public scorer).",
            format="document-list",
            selects_documents=True,
            commands=("score", "validate"),
        ),
        Option(
            "kb",
            "Table of knowledge base entries; places and sources are checked against it.",
            format="kb-tab",
            commands=("score", "validate"),
        ),
        Option(
            "schema",
            "Version of the JSON schema (default: that of the plan; in `official` 2019-v1).",
            choices=("plan", "2018-v2", "2019-v1", "2019-v2"),
            is_format_setting=True,
            commands=("score", "validate"),
        ),
        *OPTIONS,
    ),
)  # fmt: skip
