"""What SeeDev compares: the metric of each task and profile.

`plan` is the written description: mandatory arguments compared, optimal pairing, exact slot error
rate. `official` is the evaluation software with its quirks; docs/differences.md lists what differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hlteval.grammars import vocabulary
from hlteval.scoring.seedev.event_pairs import Comparison, Evaluation, Only
from hlteval.scoring.seedev.events import Sameness
from hlteval.scoring.seedev.metric import EventMatch, Options
from hlteval.validators.seedev.schema import schema

BINARY_MEASURES = ("F1", "Recall", "Precision", "Predictions", "False Negatives", "False Positives")
FULL_MEASURES = ("SER", "Mismatches", "Insertions", "Deletions", "Precision", "Recall")

_EQUIVALENT, _IDENTICAL = "Is_Functionally_Equivalent_To", "Has_Sequence_Identical_To"
# The official software lists two types twice in "Inside sentences".
_TWICE = (_EQUIVALENT, _IDENTICAL)


def _labels(task: str) -> tuple[str, ...]:
    return tuple(entry[task] for entry in vocabulary("seedev")["events"] if task in entry)


def _commutative(task: str) -> frozenset[str]:
    return frozenset(
        e[task] for e in vocabulary("seedev")["events"] if task in e and e.get("commutative")
    )


def _standard(labels: tuple[str, ...], overall: str, **details: Any) -> Evaluation:
    scorings = {label: label for label in labels}
    return Evaluation("Standard pairing", overall, labels, scorings, **details)


def _inside_sentences(labels: tuple[str, ...], **details: Any) -> Evaluation:
    scorings = {label: label for label in labels}
    return Evaluation(
        "Inside sentences", "All Relations", labels, scorings, inside_sentences=True, **details
    )


def _cluster(data: Mapping[str, Any], commutative: frozenset[str]) -> Evaluation:
    """An evaluation that takes the types of a cluster as one; without types, all of them."""
    name, types = data["name"], data.get("types")
    merged = dict.fromkeys(types or _labels("binary"), name)
    return Evaluation(
        name=name,
        overall="" if types else "Standard",
        scoring_names=("Standard",) if types else (),
        scorings=dict.fromkeys(types or (), "Standard"),
        merged=merged,
        agents={label: tuple(roles) for label, roles in (types or {}).items() if roles},
        commutative=commutative | ({name} if data.get("commutative") else set()),
        only=Only(tuple(data["only"]["roles"]), tuple(data["only"]["of"]))
        if "only" in data
        else None,
    )


def binary(profile: str, options: Options) -> EventMatch:
    """The metric of seedev-binary; with sentences, also inside sentences."""
    labels, commutative = _labels("binary"), _commutative("binary")
    if profile == "plan":
        details: dict[str, Any] = {"commutative": commutative}
        inside = [_inside_sentences(labels, **details)] if options.sentences else []
        return EventMatch(
            profile=profile,
            evaluations=(_standard(labels, "All Relations", **details), *inside),
            comparison=Comparison(Sameness()),
            measures=BINARY_MEASURES,
        )
    details = {"commutative": commutative, "merged": {_IDENTICAL: _EQUIVALENT}}
    inside = [_inside_sentences(labels + _TWICE, **details)] if options.sentences else []
    clusters = [_cluster(data, commutative) for data in vocabulary("seedev")["clusters"]]
    return EventMatch(
        profile=profile,
        evaluations=(_standard(labels, "All Relations", **details), *inside, *clusters),
        comparison=Comparison(Sameness(events="never")),
        others_count=True,
        unknown_documents=False,
        triggers_in_types=True,
        measures=BINARY_MEASURES,
        f1_of_rates=True,
        undefined=frozenset({"ser"}),
        draws_pairs=True,
    )


def full(profile: str) -> EventMatch:
    """The metric of seedev-full."""
    allowed = schema("full")
    labels = tuple(sorted(_labels("full")))
    if profile == "plan":
        return EventMatch(
            profile=profile,
            evaluations=(_standard(labels, "Main scoring", commutative=_commutative("full")),),
            comparison=Comparison(Sameness(), allowed.conditions, negation=True),
            measures=(*FULL_MEASURES, "F1"),
        )
    return EventMatch(
        profile=profile,
        evaluations=(_standard(tuple(vocabulary("seedev")["listed_in_full"]), "Main scoring"),),
        comparison=Comparison(
            Sameness(events="shape", equivalences=False),
            allowed.conditions,
            negation=True,
            mandatory={
                event.label: (event.mandatory, event.one_of) for event in allowed.events.values()
            },
            pairing="greedy",
        ),
        unknown_documents=False,
        triggers_in_types=True,
        measures=FULL_MEASURES,
        whole_mismatches=True,
        undefined=frozenset({"f1"}),
        draws_pairs=True,
    )
