"""Links of mentions to a knowledge base, scored by the measures of entity linking.

The measures are those of neleval, by their names or in its notation: `scoring/edl` has them. A
declaration chooses among them, and what they are also given by.
"""

from dataclasses import dataclass
from typing import Literal

from hlteval.scoring.edl.measures import measures
from hlteval.scoring.edl.metric import LinkMatch
from hlteval.scoring.edl.metric import Options as EdlOptions

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
    """

    measures: tuple[str, ...] = MEASURES
    by: Literal["", "document", "type", "language"] = ""
    alternatives: Literal["", "eid", "fields"] = ""


def links(profile: str, options: Options) -> LinkMatch:
    """The metric of links.

    Raises:
        ValueError: for an unknown measure.
    """
    own = EdlOptions(measures(options.measures), options.by, options.alternatives)
    return LinkMatch(profile, own, ranked=False)
