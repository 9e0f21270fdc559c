"""Links of mentions to a knowledge base, scored by the measures of entity linking.

The measures are those of neleval, by their names or in its notation: `scoring/edl` has them. A
declaration chooses among them, what they are also given by, and the credit of other identifiers.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from hlteval.scoring.edl.credit import IdentifierWeights
from hlteval.scoring.edl.measures import measures
from hlteval.scoring.edl.metric import LinkMatch
from hlteval.scoring.edl.metric import Options as EdlOptions
from hlteval.scoring.ontologies import WEIGHT, Ontology
from hlteval.tasks.task import WrongOption

#: In the knowledge base, NIL, both, with types; by document; and what does not know identifiers.
MEASURES = (
    "strong_link_match",
    "strong_link_match;docid=<macro>",
    "strong_nil_match",
    "strong_all_match",
    "strong_typed_link_match",
    "strong_typed_all_match",
    "strong_mention_match",
    "entity_match",
    "mention_ceaf",
    "b_cubed",
    "muc",
)


@dataclass(frozen=True)
class Options:
    """The measures of links.

    Attributes:
        measures: the measures.
        by: what they are also given by.
        alternatives: what an alternative of the reference has in common with the system's entity
            for it to be selected; the first one if empty.
        credit: of two linked mentions of a span: 1 for equal entities (`full`), or the similarity
            of their identifiers, as sets (`jaccard`) or in the ontology (`wang`).
        ontology: the parents of each identifier; with it, credit is that of `wang`.
        step_weight: the weight of a step to a parent.
    """

    measures: tuple[str, ...] = MEASURES
    by: Literal["", "document", "type", "language"] = ""
    alternatives: Literal["", "eid", "fields"] = ""
    credit: Literal["full", "jaccard", "wang"] = "full"
    ontology: Mapping[str, Collection[str]] | None = None
    step_weight: float = WEIGHT


def links(profile: str, options: Options) -> LinkMatch:
    """The metric of links.

    Raises:
        ValueError: for an unknown measure.
        WrongOption: for an ontology where identifiers are compared as sets.
    """
    if options.ontology is not None and options.credit == "jaccard":
        raise WrongOption('--ontology has no effect with credit = "jaccard"; leave it out')
    own = EdlOptions(measures(options.measures), options.by, options.alternatives)
    weights = None
    if options.ontology is not None:
        weights = IdentifierWeights(Ontology(options.ontology, options.step_weight))
    elif options.credit == "jaccard":
        weights = IdentifierWeights()
    return LinkMatch(profile, own, ranked=False, links=weights)
