"""Bacteria Biotope: metrics of the tasks by profile, and readers of their options.

`plan` is the description: optimal pairing, exact sums. `official` is the evaluation software with
its quirks; docs/differences.md lists what differs.
"""

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any

import polars as pl

from hlteval.findings import Problem
from hlteval.grammars import vocabulary
from hlteval.representation import Corpus
from hlteval.scoring.biotope.entities import Labels
from hlteval.scoring.biotope.knowledge import KnowledgeBase
from hlteval.scoring.biotope.metric import BiotopeMatch
from hlteval.scoring.biotope.official import (
    OfficialBiotopeMatch,
    OfficialKnowledgeBase,
    SoftwareOntology,
)
from hlteval.scoring.biotope.referents import Ontology
from hlteval.scoring.biotope.relations import Roles
from hlteval.scoring.biotope.scorings import Evaluation, Options, Scoring, Similarity
from hlteval.scoring.metric import Metric
from hlteval.sources import Source
from hlteval.syntax.tsv import Column, ParsedTable, Table
from hlteval.tasks.option_files import FileValue, read_table

PARENTS = Table((Column("child"), Column("parent")), code="OPT101")
STANDS_FOR = Table((Column("referent"), Column("other")), code="OPT101")
IDENTIFIERS = Table((Column("referent"),), code="OPT101")

METRICS: Mapping[str, tuple[type[BiotopeMatch], type[KnowledgeBase], type[Ontology]]] = {
    "plan": (BiotopeMatch, KnowledgeBase, Ontology),
    "official": (OfficialBiotopeMatch, OfficialKnowledgeBase, SoftwareOntology),
}


def metric(profile: str, options: Options, *, task: str) -> Metric:
    """The metric of a task in a profile.

    Examples:
        >>> metric("plan", Options(), task="bb19-norm").evaluations[0].name
        'Reference pairing'
    """
    data = vocabulary("biotope")
    declared = data["tasks"][task]
    year = data["years"][declared["year"]]
    match, knowledge, ontology = METRICS[profile]
    roles = [[*arguments] for arguments in year["relations"].values()]
    shared: dict[str, Any] = {
        "profile": profile,
        "roles": Roles(roles[0][0], tuple(dict.fromkeys(names[1] for names in roles))),
        "own_entities": declared.get("own_entities", False),
        "ontology": ontology(options.ontology),
    }
    if declared["unit"] == "knowledge":
        return knowledge(**shared)
    lists = {"none": (), "new": options.new, "food": options.food}
    tables = {"human": options.human, "species": options.species}
    present = {"", *(name for name, each in {**lists, **tables}.items() if each is not None)}
    more = {"first_alone": declared["year"] == "2016"} if profile == "official" else {}
    return match(
        **shared,
        **more,
        unit=declared["unit"],
        evaluations=tuple(
            Evaluation(
                each["name"],
                tuple(_scorings(each, declared["measures"], profile, present, options)),
                tuple(each.get("labels", ())),
                each.get("referents", "graded"),
            )
            for each in declared["evaluations"]
        ),
        labels=Labels(*(tuple(year[name]) for name in ("taxa", "concepts", "others"))),
        lists={name: frozenset(each) for name, each in lists.items() if each is not None},
        tables={name: each for name, each in tables.items() if each is not None},
    )


def _scorings(
    evaluation: Mapping[str, Any],
    measures: list[str],
    profile: str,
    present: set[str],
    options: Options,
) -> list[Scoring]:
    """The scorings of an evaluation in a profile, for which there are files."""
    found = []
    for declared in evaluation["scorings"]:
        each = {**declared, **(declared.get("official", {}) if profile == "official" else {})}
        available = {each.get("only", ""), each.get("mapped", "")} <= present
        of_profile = each.get("of", profile) == profile
        if not (available and of_profile and (options.sentences or not each.get("inside"))):
            continue
        similarity = Similarity(
            each.get("referents", evaluation.get("referents", "graded")),
            each.get("boundaries", True),
            each.get("only", ""),
            each.get("mapped", ""),
            tuple(each.get("undefined", ())),
        )
        flags = {
            name: each[name] for name in ("location", "inside", "several", "unique") if name in each
        }
        labels = tuple(each.get("labels", ()))
        printed = tuple(each.get("measures", measures))
        found.append(Scoring(each["name"], printed, similarity, labels, **flags))
    return found


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
    return FileValue(_parents(rows), findings, _names(pl.concat([rows["child"], rows["parent"]])))


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
    rows, findings = read_table(source, IDENTIFIERS)
    return FileValue(tuple(rows["referent"]), findings, _names(rows["referent"]))


def stand_ins(source: Source, _: Mapping[str, str]) -> FileValue:
    """A table of identifiers, each with the one for which it stands."""
    rows, findings = read_table(source, STANDS_FOR)
    return FileValue(dict(rows.select("referent", "other").iter_rows()), findings)
