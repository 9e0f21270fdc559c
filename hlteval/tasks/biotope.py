"""Bacteria Biotope: metrics of the tasks by profile, and readers of their options.

`plan` is the description: optimal pairing, exact sums. `official` is the evaluation software with
its quirks; docs/differences.md lists what differs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any

import msgspec
import polars as pl

from hlteval.findings import Finding, Problem, finding
from hlteval.grammars import vocabulary
from hlteval.representation import Corpus
from hlteval.scoring.biotope.knowledge import KnowledgeBase
from hlteval.scoring.biotope.metric import BiotopeMatch, Evaluation, Options, Scoring
from hlteval.scoring.biotope.official import (
    OfficialBiotopeMatch,
    OfficialKnowledgeBase,
    SoftwareOntology,
)
from hlteval.scoring.biotope.referents import Ontology
from hlteval.scoring.metric import Metric
from hlteval.sources import Source
from hlteval.syntax.tsv import Column, ParsedTable, Table
from hlteval.tasks.option_files import FileValue, has_error, read_table

_IDENTIFIER = Column("referent", heading="identifier", pattern="[^\t ]+", code="OPT116")
PARENTS = Table(
    (replace(_IDENTIFIER, name="child"), replace(_IDENTIFIER, name="parent")), code="OPT101"
)
STANDS_FOR = Table((_IDENTIFIER, replace(_IDENTIFIER, name="other")), code="OPT101")
IDENTIFIERS = Table((_IDENTIFIER,), code="OPT101")


def metric(profile: str, options: Options, *, task: str) -> Metric:
    """The metric of a task in a profile.

    Examples:
        >>> metric("plan", Options(), task="bb19-norm").evaluations[0].name
        'Reference pairing'
    """
    data, official = vocabulary("biotope"), profile == "official"
    declared = data["tasks"][task]
    year = data["years"][declared["year"]]
    roles = [role for each in year["relations"].values() for role in each]
    common = {
        "profile": profile,
        "roles": tuple(dict.fromkeys(roles)),
        "own_entities": declared.get("own_entities", False),
        "ontology": (SoftwareOntology if official else Ontology)(options.ontology),
    }
    if declared["unit"] == "knowledge":
        return (OfficialKnowledgeBase if official else KnowledgeBase)(**common)
    return (OfficialBiotopeMatch if official else BiotopeMatch)(
        **common,
        paired=declared["unit"],
        evaluations=tuple(_evaluations(declared, profile, options)),
        year=declared["year"],
        taxa=tuple(year["taxa"]),
        concepts=tuple(year["concepts"]),
        options=options,
    )


def _evaluations(
    declared: Mapping[str, Any], profile: str, options: Options
) -> Iterator[Evaluation]:
    """The evaluations of a task, with the scorings of a profile for which the files are there."""
    for each in declared["evaluations"]:
        inherited = {"measures": declared["measures"], "referents": each.get("referents", "graded")}
        scorings = [msgspec.convert({**inherited, **one}, Scoring) for one in each["scorings"]]
        evaluation = msgspec.convert({**each, "scorings": ()}, Evaluation)
        chosen = (
            one
            for one in scorings
            if one.of in {"", profile}
            and all(getattr(options, name) not in (None, False) for name in one.needs)
        )
        yield replace(evaluation, scorings=tuple(chosen))


# Files of options.


def parents(source: Source, _: Mapping[str, str]) -> FileValue:
    """An ontology: the parents of each identifier; for rules, all identifiers as entities.

    Args:
        source: a table without a header: an identifier, and one of its parents.
    """

    def problems(parsed: ParsedTable) -> list[Problem]:
        """Find the line that closes a cycle."""
        try:
            TopologicalSorter(_parents(parsed.rows)).prepare()
        except CycleError as error:
            cycle = error.args[1][::-1]
            step = pl.struct("child", "parent").is_in(
                [{"child": a, "parent": b} for a, b in pairwise(cycle)]
            )
            closing = parsed.rows.filter(step).tail(1)
            named = closing.with_columns(cycle=pl.lit(" is a ".join(cycle)))
            return parsed.problems_at("OPT115", named)
        return []

    rows, findings = _read(source, PARENTS, problems)
    every = pl.concat([rows["child"], rows["parent"]])
    return FileValue(_parents(rows), findings, _names(every))


def _read(
    source: Source, table: Table, more: Callable[[ParsedTable], list[Problem]] = lambda _: []
) -> tuple[pl.DataFrame, Sequence[Finding]]:
    """Read a table; without a row there is a finding, since nothing would be equal to anything."""
    rows, findings = read_table(source, table, more)
    if rows.is_empty() and not has_error(findings):
        findings = [*findings, finding("OPT109", file=source.path, title="identifiers in lines")]
    return rows, findings


def _parents(rows: pl.DataFrame) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for child, parent in rows.select("child", "parent").iter_rows():
        found.setdefault(child, []).append(parent)
    return found


def _names(identifiers: pl.Series) -> Corpus:
    """Identifiers as the names of documents, for rules."""
    names = identifiers.unique(maintain_order=True)
    return Corpus(documents=[{"row": row, "name": name} for row, name in enumerate(names)])


def identifiers(source: Source, _: Mapping[str, str]) -> FileValue:
    """A list of identifiers, one in a line."""
    rows, findings = _read(source, IDENTIFIERS)
    return FileValue(frozenset(rows["referent"]), findings, _names(rows["referent"]))


def stand_ins(source: Source, _: Mapping[str, str]) -> FileValue:
    """A table of identifiers, each with the one for which it stands."""
    rows, findings = _read(source, STANDS_FOR)
    return FileValue(dict(rows.select("referent", "other").iter_rows()), findings)
