"""Metrics of SeeDev by task and profile.

`plan` is the written description: mandatory arguments compared, optimal pairing, exact slot error
rate. `official` is the evaluation software with its quirks; docs/differences.md lists what differs.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hlteval.grammars import vocabulary
from hlteval.scoring.seedev.event_pairs import Evaluation
from hlteval.scoring.seedev.events import Comparison
from hlteval.scoring.seedev.metric import EventMatch, Options
from hlteval.scoring.seedev.official import OfficialEventMatch
from hlteval.validators.seedev.schema import schema

BINARY_MEASURES = ("F1", "Recall", "Precision", "Predictions", "False Negatives", "False Positives")
FULL_MEASURES = ("SER", "Mismatches", "Insertions", "Deletions", "Precision", "Recall")

_EQUIVALENT, _IDENTICAL = "Is_Functionally_Equivalent_To", "Has_Sequence_Identical_To"


def _labels(task: str) -> tuple[str, ...]:
    return tuple(event[task] for event in vocabulary("seedev")["events"] if task in event)


def _commutative(task: str) -> frozenset[str]:
    events = vocabulary("seedev")["events"]
    return frozenset(e[task] for e in events if task in e and e.get("commutative"))


def _standard(labels: tuple[str, ...], overall: str, commutative: frozenset[str]) -> Evaluation:
    """An evaluation of all events, with a scoring of each label."""
    scorings = {label: label for label in labels}
    names = (overall, *labels)
    return Evaluation("Standard pairing", names, scorings=scorings, commutative=commutative)


def _cluster(data: Mapping[str, Any], commutative: frozenset[str]) -> Evaluation:
    """An evaluation that takes the types of a cluster as one; without types, all of them."""
    name, types, only = data["name"], data.get("types", {}), data.get("only", {})
    return Evaluation(
        name=name,
        names=("Standard",),
        overall=not types,
        scorings=dict.fromkeys(types, "Standard"),
        merged=dict.fromkeys(types or _labels("binary"), name),
        agents={label: tuple(roles) for label, roles in types.items() if roles},
        commutative=commutative | ({name} if data.get("commutative") else set()),
        restricted=tuple(only.get("roles", ())),
        fillers=tuple(only.get("of", ())),
    )


METRICS: Mapping[str, type[EventMatch]] = {"plan": EventMatch, "official": OfficialEventMatch}


def binary(profile: str, options: Options) -> EventMatch:
    """The metric of seedev-binary; with sentences, also inside sentences."""
    labels, commutative = _labels("binary"), _commutative("binary")
    official = profile == "official"
    standard = _standard(labels, "All Relations", commutative)
    twice: tuple[str, ...] = ()
    if official:
        standard = replace(standard, merged={_IDENTICAL: _EQUIVALENT})
        twice = (_EQUIVALENT, _IDENTICAL)  # the official software lists them twice
    names = (*standard.names, *twice)
    inside = replace(standard, name="Inside sentences", names=names, inside_sentences=True)
    clusters = vocabulary("seedev")["clusters"] if official else ()
    return METRICS[profile](
        profile=profile,
        evaluations=(
            standard,
            *([inside] if options.sentences else []),
            *(_cluster(data, commutative) for data in clusters),
        ),
        comparison=Comparison(nested=not official),
        measures=BINARY_MEASURES,
        others_count=official,
    )


def full(profile: str) -> EventMatch:
    """The metric of seedev-full."""
    allowed = schema("full")
    labels, commutative = sorted(_labels("full")), _commutative("full")
    comparison = Comparison(allowed.conditions)
    if profile == "official":
        labels, commutative = vocabulary("seedev")["listed_in_full"], frozenset()
        roles = {event.label: (event.mandatory, event.one_of) for event in allowed.events.values()}
        comparison = replace(comparison, roles=roles)
    return METRICS[profile](
        profile=profile,
        evaluations=(_standard(tuple(labels), "Main scoring", commutative),),
        comparison=comparison,
        measures=FULL_MEASURES if profile == "official" else (*FULL_MEASURES, "F1"),
    )
