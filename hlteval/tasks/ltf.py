"""LTF and LAF: the tasks ltf and laf, which check documents and score nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlteval.tasks.task import Task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hlteval.findings import Finding
    from hlteval.tasks.task import Package
    from hlteval.validators import Rule


def _rules() -> tuple[Rule, ...]:
    from hlteval.validators.ltf import RULES

    return RULES


def _package(package: Package) -> Iterator[Finding]:
    from hlteval.validators.packages import documents

    return documents(package, "LTF106")


def _annotation_rules() -> tuple[Rule, ...]:
    from hlteval.validators.laf import RULES

    return RULES


def _annotation_package(package: Package) -> Iterator[Finding]:
    from hlteval.validators.packages import documents

    return documents(package, "LAF103")


_TEXTS = ("rsd", "ltf", "corpus", "jsonl")

LTF = Task(
    name="ltf",
    title="LTF: documents of language packs, as segments and tokens (checked only)",
    specification="LDC Logical Text Format v1.5; LoReHLT 2019, section 8.2.1",
    format="ltf",
    predicted=(".ltf.xml",),
    given=(),
    references=_TEXTS,
    alone=True,
    rules=_rules,
    package=_package,
)

LAF = Task(
    name="laf",
    title="LAF: names and other spans beside LTF (checked only)",
    specification="LDC annotation format LAF v1.2",
    format="laf",
    predicted=(".laf.xml",),
    given=(),
    references=_TEXTS,
    rules=_annotation_rules,
    package=_annotation_package,
)
