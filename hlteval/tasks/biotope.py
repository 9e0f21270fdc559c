"""Bacteria Biotope: metrics of the tasks by profile, and readers of their options.

`plan` is the description: optimal pairing, exact sums. `official` is the evaluation software with
its quirks; docs/differences.md lists what differs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any

import polars as pl

from hlteval.findings import Finding, Problem, finding
from hlteval.grammars import vocabulary
from hlteval.representation import Corpus
from hlteval.scoring.biotope.entities import Labels
from hlteval.scoring.biotope.knowledge import KnowledgeBase
from hlteval.scoring.biotope.metric import BiotopeMatch
from hlteval.scoring.biotope.official import (
    OfficialBiotopeMatch,
    OfficialBiotopeMatch2016,
    OfficialKnowledgeBase,
    SoftwareOntology,
)
from hlteval.scoring.biotope.referents import Ontology
from hlteval.scoring.biotope.relations import Roles
from hlteval.scoring.biotope.scorings import Evaluation, Options, Scoring, Similarity
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

#: By profile and year.
METRICS: Mapping[str, type[BiotopeMatch]] = {
    "plan 2016": BiotopeMatch,
    "plan 2019": BiotopeMatch,
    "official 2016": OfficialBiotopeMatch2016,
    "official 2019": OfficialBiotopeMatch,
}
KNOWLEDGE: Mapping[str, type[KnowledgeBase]] = {
    "plan": KnowledgeBase,
    "official": OfficialKnowledgeBase,
}
ONTOLOGIES: Mapping[str, type[Ontology]] = {"plan": Ontology, "official": SoftwareOntology}


def metric(profile: str, options: Options, *, task: str) -> Metric:
    """The metric of a task in a profile.

    Examples:
        >>> metric("plan", Options(), task="bb19-norm").evaluations[0].name
        'Reference pairing'
    """
    data = vocabulary("biotope")
    declared = data["tasks"][task]
    year = data["years"][declared["year"]]
    arguments = [[*roles] for roles in year["relations"].values()]
    roles = Roles(arguments[0][0], tuple(dict.fromkeys(names[1] for names in arguments)))
    ontology = ONTOLOGIES[profile](options.ontology)
    own_entities = declared.get("own_entities", False)
    if declared["unit"] == "knowledge":
        return KNOWLEDGE[profile](
            profile=profile, roles=roles, own_entities=own_entities, ontology=ontology
        )
    lists = {"none": frozenset(), "new": options.new, "food": options.food}
    tables = {"human": options.human, "species": options.species}
    files = {"": (), "sentences": options.sentences or None, **lists, **tables}
    present = frozenset(name for name, each in files.items() if each is not None)
    return METRICS[f"{profile} {declared['year']}"](
        profile=profile,
        roles=roles,
        own_entities=own_entities,
        ontology=ontology,
        unit=declared["unit"],
        evaluations=tuple(
            Evaluation(
                each["name"],
                tuple(_scorings(each, declared["measures"], profile, present)),
                tuple(each.get("labels", ())),
                each.get("referents", "graded"),
            )
            for each in declared["evaluations"]
        ),
        labels=Labels(*(tuple(year[name]) for name in ("taxa", "concepts", "others"))),
        lists={name: each for name, each in lists.items() if each is not None},
        tables={name: each for name, each in tables.items() if each is not None},
    )


def _scorings(
    evaluation: Mapping[str, Any], measures: Sequence[str], profile: str, present: frozenset[str]
) -> Iterator[Scoring]:
    """The scorings of an evaluation in a profile, for which the files are there."""
    for declared in evaluation["scorings"]:
        each = {**declared, **(declared.get("official", {}) if profile == "official" else {})}
        needed = {each.get("only", ""), each.get("mapped", "")}
        needed |= {"sentences"} if each.get("inside") else set()
        if needed <= present and each.get("of", profile) == profile:
            yield Scoring(
                each["name"],
                tuple(each.get("measures", measures)),
                Similarity(
                    each.get("referents", evaluation.get("referents", "graded")),
                    each.get("boundaries", True),
                    each.get("only", ""),
                    each.get("mapped", ""),
                    tuple(each.get("undefined", ())),
                ),
                tuple(each.get("labels", ())),
                each.get("location", ""),
                *(each.get(name, False) for name in ("inside", "several", "unique")),
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
            step = pl.struct("child", "parent").is_in(
                [{"child": a, "parent": b} for a, b in pairwise(cycle)]
            )
            closing = parsed.rows.filter(step).tail(1)
            named = closing.with_columns(cycle=pl.lit(" is a ".join(cycle)))
            return parsed.problems_at("OPT115", named)
        return []

    rows, findings = read_table(source, PARENTS, problems)
    every = pl.concat([rows["child"], rows["parent"]])
    return FileValue(_parents(rows), _with_emptiness(source, rows, findings), _names(every))


def _parents(rows: pl.DataFrame) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for child, parent in rows.select("child", "parent").iter_rows():
        found.setdefault(child, []).append(parent)
    return found


def _with_emptiness(
    source: Source, rows: pl.DataFrame, findings: Sequence[Finding]
) -> Sequence[Finding]:
    """The findings about a file, with one if it has nothing."""
    if rows.height or has_error(findings):
        return findings
    return [*findings, finding("OPT109", file=source.path, title="identifiers, one in a line")]


def _names(identifiers: pl.Series) -> Corpus:
    """Identifiers as the names of documents, for rules."""
    names = identifiers.unique(maintain_order=True)
    return Corpus(documents=[{"row": row, "name": name} for row, name in enumerate(names)])


def identifiers(source: Source, _: Mapping[str, str]) -> FileValue:
    """A list of identifiers, one in a line."""
    rows, findings = read_table(source, IDENTIFIERS)
    every = _with_emptiness(source, rows, findings)
    return FileValue(frozenset(rows["referent"]), every, _names(rows["referent"]))


def stand_ins(source: Source, _: Mapping[str, str]) -> FileValue:
    """A table of identifiers, each with the one for which it stands."""
    rows, findings = read_table(source, STANDS_FOR)
    return FileValue(dict(rows.select("referent", "other").iter_rows()), findings)
