"""Bacteria Biotope: metrics of the tasks by profile, and readers of their options.

`plan` is the description: optimal pairing, exact sums. `official` is the evaluation software with
its quirks; docs/differences.md lists what differs.
"""

from collections.abc import Mapping
from itertools import chain

import msgspec

from hlteval.grammars import vocabulary
from hlteval.scoring.biotope import official
from hlteval.scoring.biotope.annotations import ReferentOntology
from hlteval.scoring.biotope.knowledge import KnowledgeBase
from hlteval.scoring.biotope.metric import BiotopeMatch, Evaluation, Options
from hlteval.scoring.metric import Metric
from hlteval.scoring.pairings import METRICS
from hlteval.sources import Source
from hlteval.tasks.option_files import FileValue, as_documents, read_identifiers
from hlteval.validators.biotope.schema import TAXONOMY, schema

#: How entities and relations, knowledge bases, and referents are compared, by profile.
CLASSES: Mapping[str, tuple[type[BiotopeMatch], type[KnowledgeBase], type[ReferentOntology]]] = {
    "plan": (BiotopeMatch, KnowledgeBase, ReferentOntology),
    "official": official.CLASSES,
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


def identifiers(source: Source, _: Mapping[str, str]) -> FileValue:
    """A list of identifiers, one in a line."""
    rows, findings = read_identifiers(source, "referent")
    names = dict.fromkeys(rows["referent"])
    return FileValue(frozenset(names), findings, as_documents(names))


def stand_ins(source: Source, _: Mapping[str, str]) -> FileValue:
    """A table of identifiers, each with the one for which it stands."""
    rows, findings = read_identifiers(source, "referent", "other")
    return FileValue(dict(rows.select("referent", "other").iter_rows()), findings)
