"""Metrics of SeeDev by task and profile.

`plan` is the written description: mandatory arguments compared, optimal pairing, exact slot error
rate. `official` is the evaluation software with its quirks; docs/differences.md lists what differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hlteval.grammars import vocabulary
from hlteval.scoring.seedev.event_pairs import Comparison, Evaluation, Only
from hlteval.scoring.seedev.events import Sameness
from hlteval.scoring.seedev.metric import EventMatch, Options
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
    return Evaluation("Standard pairing", overall, labels, scorings, commutative=commutative)


def _cluster(data: Mapping[str, Any], commutative: frozenset[str]) -> Evaluation:
    """An evaluation that takes the types of a cluster as one; without types, all of them."""
    name, types, only = data["name"], data.get("types"), data.get("only")
    return Evaluation(
        name=name,
        overall="" if types else "Standard",
        scoring_names=("Standard",) if types else (),
        scorings=dict.fromkeys(types or (), "Standard"),
        merged=dict.fromkeys(types or _labels("binary"), name),
        agents={label: tuple(roles) for label, roles in (types or {}).items() if roles},
        commutative=commutative | ({name} if data.get("commutative") else set()),
        only=Only(tuple(only["roles"]), tuple(only["of"])) if only else None,
    )


def binary(profile: str, options: Options) -> EventMatch:
    """The metric of seedev-binary; with sentences, also inside sentences."""
    labels, commutative = _labels("binary"), _commutative("binary")
    standard = _standard(labels, "All Relations", commutative)
    twice: tuple[str, ...] = ()
    if profile == "official":
        standard = replace(standard, merged={_IDENTICAL: _EQUIVALENT})
        twice = (_EQUIVALENT, _IDENTICAL)  # the official software lists them twice
    evaluations = [standard]
    if options.sentences:
        inside = replace(standard, scoring_names=labels + twice, inside_sentences=True)
        evaluations.append(replace(inside, name="Inside sentences"))
    metric = EventMatch(
        profile=profile,
        evaluations=tuple(evaluations),
        comparison=Comparison(Sameness()),
        measures=BINARY_MEASURES,
    )
    if profile == "plan":
        return metric
    clusters = (_cluster(data, commutative) for data in vocabulary("seedev")["clusters"])
    return replace(
        metric,
        evaluations=(*evaluations, *clusters),
        comparison=Comparison(Sameness(events="never")),
        others_count=True,
        unknown_documents=False,
        triggers_in_types=True,
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
            evaluations=(_standard(labels, "Main scoring", _commutative("full")),),
            comparison=Comparison(Sameness(), allowed.conditions, negation=True),
            measures=(*FULL_MEASURES, "F1"),
        )
    listed = tuple(vocabulary("seedev")["listed_in_full"])
    return EventMatch(
        profile=profile,
        evaluations=(_standard(listed, "Main scoring", frozenset()),),
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
