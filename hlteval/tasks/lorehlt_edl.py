"""Entity discovery and linking of LoReHLT 2019: the task lorehlt-edl."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlteval.tasks.task import Task

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
    from hlteval.tasks.lorehlt_edl_metrics import (  # type: ignore[import-not-found,unused-ignore]
        metric,
    )

    made: Metric = metric(profile, options)
    return made


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
    metrics=("strong_typed_all_match.fscore",),
    primary=dict.fromkeys(("plan", "official"), "strong_typed_all_match.fscore"),
    compares="mentions",
)
