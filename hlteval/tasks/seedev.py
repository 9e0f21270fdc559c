"""SeeDev (BioNLP-ST 2016): the tasks seedev-binary and seedev-full."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from hlteval.tasks.task import Option, Task

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hlteval.findings import Finding
    from hlteval.tasks.task import Metric, Package
    from hlteval.validators import Rule
    from hlteval.validators.events import EventSchema


def _schema(task: str) -> EventSchema:
    from hlteval.validators.seedev import schema

    return schema(task)


def _rules() -> tuple[Rule, ...]:
    from hlteval.validators.seedev import RULES

    return RULES


def _package(package: Package) -> Iterator[Finding]:
    from hlteval.validators.packages import standoff

    return standoff(package)


def _binary(profile: str, options: Mapping[str, str]) -> Metric:
    from hlteval.tasks.seedev_metrics import binary

    return binary(profile, options)


def _full(profile: str, options: Mapping[str, str]) -> Metric:
    from hlteval.tasks.seedev_metrics import full

    return full(profile, options)


METRICS = (
    "f1",
    "recall",
    "precision",
    "ser",
    "matches",
    "substitutions",
    "insertions",
    "deletions",
    "references",
    "predictions",
)

_SENTENCES = Option(
    "sentences",
    "Sentences of the documents; adds the evaluation “Inside sentences”.",
    format="seedev-sentences",
)

_declare = partial(
    Task,
    specification="BioNLP-ST 2016, SeeDev evaluation",
    format="standoff",
    predicted=(".a2",),
    given=(".txt", ".a1"),
    rules=_rules,
    package=_package,
    metrics=METRICS,
    crashes=frozenset({"STD105", "STD109", "STD204"}),
    less=frozenset({"ser", "substitutions", "insertions", "deletions"}),
)

BINARY = _declare(
    name="seedev-binary",
    title="SeeDev-binary: binary relations of seed development",
    schema=partial(_schema, "binary"),
    metric=_binary,
    primary={"plan": "f1", "official": "f1"},
    options=(_SENTENCES,),
)

FULL = _declare(
    name="seedev-full",
    title="SeeDev-full: events of seed development with optional arguments and negation",
    schema=partial(_schema, "full"),
    metric=_full,
    primary={"plan": "f1", "official": "ser"},
)
