"""SeeDev (BioNLP-ST 2016): the tasks seedev-binary and seedev-full."""

from __future__ import annotations

from functools import partial

from hlteval.extensions import later
from hlteval.tasks.task import Option, Task

METRICS = (
    "f1",
    "recall",
    "precision",
    "ser",
    "matches",
    "substitutions",
    "insertions",
    "deletions",
    "references",
    "predictions",
)

_SENTENCES = Option(
    "sentences",
    "Sentences of the documents; adds the evaluation “Inside sentences”.",
    format="seedev-sentences",
)

_declare = partial(
    Task,
    specification="BioNLP-ST 2016, SeeDev evaluation",
    format="standoff",
    predicted=(".a2",),
    given=(".txt", ".a1"),
    rules=later("hlteval.validators.seedev:RULES"),
    package=later("hlteval.validators.packages:standoff"),
    metrics=METRICS,
    crashes=frozenset({"STD105", "STD109", "STD204"}),
    less=frozenset({"ser", "substitutions", "insertions", "deletions"}),
)

BINARY = _declare(
    name="seedev-binary",
    title="SeeDev-binary: binary relations of seed development",
    schema=partial(later("hlteval.validators.seedev:schema"), "binary"),
    metric=later("hlteval.tasks.seedev_metrics:binary"),
    primary={"plan": "f1", "official": "f1"},
    options=(_SENTENCES,),
)

FULL = _declare(
    name="seedev-full",
    title="SeeDev-full: events of seed development with optional arguments and negation",
    schema=partial(later("hlteval.validators.seedev:schema"), "full"),
    metric=later("hlteval.tasks.seedev_metrics:full"),
    primary={"plan": "f1", "official": "ser"},
)
