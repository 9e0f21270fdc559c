"""Bacteria Biotope: metrics of the tasks by profile, and readers of their options.

`plan` is the description: optimal pairing, exact sums. `official` is the evaluation software with
its quirks; docs/differences.md lists what differs.
"""

from collections.abc import Callable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import chain, pairwise

import msgspec
import polars as pl

from hlteval.findings import Finding, Problem, finding
from hlteval.grammars import vocabulary
from hlteval.scoring.biotope.knowledge import KnowledgeBase
from hlteval.scoring.biotope.metric import BiotopeMatch, Evaluation, Options
from hlteval.scoring.biotope.official import (
    OfficialBiotopeMatch,
    OfficialKnowledgeBase,
    SoftwareOntology,
)
from hlteval.scoring.biotope.referents import Ontology
from hlteval.scoring.metric import Metric
from hlteval.scoring.pairings import METRICS
from hlteval.sources import Source
from hlteval.syntax.tsv import Column, ParsedTable, Table
from hlteval.tasks.option_files import FileValue, as_documents, has_error, read_table
from hlteval.validators.biotope.schema import TAXONOMY, schema

#: How entities and relations, knowledge bases, and referents are compared, by profile.
CLASSES: Mapping[str, tuple[type[BiotopeMatch], type[KnowledgeBase], type[Ontology]]] = {
    "plan": (BiotopeMatch, KnowledgeBase, Ontology),
    "official": (OfficialBiotopeMatch, OfficialKnowledgeBase, SoftwareOntology),
}


def metric(profile: str, options: Options, *, task: str) -> Metric:
    """The metric of a task in a profile: its scorings for which the files are there.

    Examples:
        >>> metric("plan", Options(), task="bb19-norm").evaluations[0].name
        'Reference pairing'
    """
    match, knowledge, ontology = CLASSES[profile]
    declared, allowed = vocabulary("biotope")["tasks"][task], schema(task=task)
    roles = tuple(dict.fromkeys(chain.from_iterable(allowed.roles.values())))
    own, similarity = allowed.own_entities, ontology(options.ontology)
    if declared["unit"] == "knowledge":
        return knowledge(profile=profile, roles=roles, own_entities=own, ontology=similarity)
    return match(
        profile=profile,
        roles=roles,
        own_entities=own,
        ontology=similarity,
        paired=declared["unit"],
        evaluations=msgspec.convert(declared["evaluations"], tuple[Evaluation, ...]),
        metrics={name: METRICS[name] for name in declared.get("metrics", METRICS)},
        measures=tuple(declared["measures"]),
        year=declared["year"],
        taxa=tuple(allowed.referents.get(TAXONOMY, ())),
        options=options,
    )


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
            steps = [{"child": child, "parent": parent} for child, parent in pairwise(cycle)]
            closing = parsed.rows.filter(pl.struct("child", "parent").is_in(steps)).tail(1)
            named = closing.with_columns(cycle=pl.lit(" is a ".join(cycle)))
            return parsed.problems_at("OPT115", named)
        return []

    rows, findings = _read(source, "child", "parent", more=problems)
    every = pl.concat([rows["child"], rows["parent"]])
    known = dict.fromkeys(every, ()) | _parents(rows)
    return FileValue(known, findings, as_documents(known))


def identifiers(source: Source, _: Mapping[str, str]) -> FileValue:
    """A list of identifiers, one in a line."""
    rows, findings = _read(source, "referent")
    names = dict.fromkeys(rows["referent"])
    return FileValue(frozenset(names), findings, as_documents(names))


def stand_ins(source: Source, _: Mapping[str, str]) -> FileValue:
    """A table of identifiers, each with the one for which it stands."""
    rows, findings = _read(source, "referent", "other")
    return FileValue(dict(rows.select("referent", "other").iter_rows()), findings)


def _read(
    source: Source, *names: str, more: Callable[[ParsedTable], list[Problem]] = lambda _: []
) -> tuple[pl.DataFrame, Sequence[Finding]]:
    """Read columns of identifiers; a finding without any, since nothing would be equal then."""
    cells = (Column(each, heading="identifier", pattern="[^\t ]+", code="OPT116") for each in names)
    rows, findings = read_table(source, Table(tuple(cells), code="OPT101"), more)
    if rows.is_empty() and not has_error(findings):
        findings = [*findings, finding("OPT109", file=source.path, title="identifiers in lines")]
    return rows, findings


def _parents(rows: pl.DataFrame) -> dict[str, list[str]]:
    found = rows.group_by("child", maintain_order=True).agg("parent")
    return dict(found.iter_rows())
