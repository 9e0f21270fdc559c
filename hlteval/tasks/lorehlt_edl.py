"""Entity discovery and linking of LoReHLT 2019: the task lorehlt-edl."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlteval.scoring.measures import DEFAULT, FIGURES
from hlteval.tasks.task import Option, Task

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hlteval.findings import Finding
    from hlteval.tasks.task import Metric, Package
    from hlteval.validators import Rule


def _schema() -> None:
    """What the task allows is in the grammar of its format."""


def _rules() -> tuple[Rule, ...]:
    return ()


def _package(_: Package) -> Iterator[Finding]:
    yield from ()


def _metric(profile: str, options: Mapping[str, str]) -> Metric:
    from hlteval.tasks.lorehlt_edl_metrics import metric

    return metric(profile, options)


EDL = Task(
    name="lorehlt-edl",
    title="LoReHLT 2019, entity discovery and linking: mentions of entities in text",
    specification="NIST LoReHLT 2019 Evaluation Plan v1.0, section 17",
    format="edl-tab",
    references=("edl-tab", "neleval", "corpus", "jsonl"),
    predicted=(),
    given=(),
    alone=True,
    schema=_schema,
    rules=_rules,
    package=_package,
    metric=_metric,
    metrics=tuple(f"{measure}.{figure}" for measure in DEFAULT for figure in FIGURES),
    primary=dict.fromkeys(("plan", "official"), "strong_typed_all_match.fscore"),
    compares="mentions",
    submitted=("neleval",),
    crashes=frozenset(f"NEL{number}" for number in range(101, 109)),
    options=(
        Option(
            "measure",
            "A measure, a group of them, or aggregate:filter:key; can be repeated. All if not given.",
            metavar="NAME",
            many=True,
            short="m",
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
        ),
        Option(
            "exclude",
            "Zones that are not scored: document, first and last offset, with tabs between.",
        ),
    ),
)
