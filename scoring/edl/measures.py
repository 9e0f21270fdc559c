"""The notation of measures: `aggregate:filter:key`, the names that stand for one, and their groups.

`sets:is_linked:span+type` compares, of the annotations that a filter lets through, what the fields
of the key say; the aggregate determines how. The notation and the names are those of neleval.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

#: What an annotation can be asked: the first of its entity in the document, linked, not linked.
FILTERS = ("is_first", "is_linked", "is_nil")
#: What a key can be made of; `span` is docid, start and end, `kbid` an eid other than NIL.
FIELDS = ("span", "docid", "start", "end", "type", "eid", "kbid", "score", *FILTERS)
#: What a measure gives: rates, and their counts: found and not, seen from either side.
RATES = ("precision", "recall", "fscore")
COUNTS = ("ptp", "fp", "rtp", "fn")
FIGURES = (*RATES, *COUNTS)
OVERLAPS = tuple(f"overlap-{x}{y}" for x in ("max", "sum") for y in ("max", "sum"))
PARTITIONS = ("b_cubed", "muc", "pairwise", "pairwise_negative", "blanc")
PAIRWISE = ("pairwise", "pairwise_negative")
CEAFS = ("entity_ceaf", "mention_ceaf")
AGGREGATES = ("sets", *OVERLAPS, *CEAFS, *PARTITIONS)
#: What measures can be given by, and how the notation calls it.
GROUPINGS: Mapping[str, str] = MappingProxyType(
    {"document": "docid", "type": "type", "language": "language"}
)


class WrongMeasure(ValueError):
    """A text that names no measure: an error of usage."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What is compared, and how.

    Attributes:
        name: as it is shown.
        aggregate: how what is compared is counted, one of `AGGREGATES`.
        filter: one of `FILTERS`, or empty.
        key: what is compared, of `FIELDS`.
        by: what it is counted by, the counts then being averaged: of `GROUPINGS`, or empty.
        average: `micro` or `macro`, where it is counted by something.
    """

    name: str
    aggregate: str
    filter: str
    key: tuple[str, ...]
    by: str = ""
    average: str = ""

    @property
    def additive(self) -> bool:
        """Whether the counts of documents add up to those of the whole; clusters run through all.

        Examples:
            >>> measure("strong_nil_match").additive, measure("mention_ceaf").additive
            (True, False)
        """
        if self.by:
            return (self.by, self.average) == ("document", "micro") and self.aggregate != "blanc"
        return self.aggregate in {"sets", *OVERLAPS} and bool({"span", "docid"} & {*self.key})

    @property
    def contents(self) -> tuple[str, tuple[str, ...]]:
        """The filter and the key; measures with equal ones have the same clusterings, made once."""
        return self.filter, self.key

    @property
    def fractional(self) -> bool:
        """Whether its counts are sums of fractions."""
        return self.aggregate in {"b_cubed", "entity_ceaf"} or self.aggregate in OVERLAPS


#: The measures that have a name. All but BLANC are neleval's.
NAMED: Mapping[str, str] = MappingProxyType(
    {
        "strong_mention_match": "sets::span",
        "strong_typed_mention_match": "sets::span+type",
        "strong_linked_mention_match": "sets:is_linked:span",
        "strong_link_match": "sets:is_linked:span+kbid",
        "strong_nil_match": "sets:is_nil:span",
        "strong_all_match": "sets::span+kbid",
        "strong_typed_link_match": "sets:is_linked:span+type+kbid",
        "strong_typed_nil_match": "sets:is_nil:span+type",
        "strong_typed_all_match": "sets::span+type+kbid",
        "entity_match": "sets:is_linked:docid+kbid",
        "muc": "muc::span",
        "b_cubed": "b_cubed::span",
        "b_cubed_plus": "b_cubed::span+kbid",
        "entity_ceaf": "entity_ceaf::span",
        "mention_ceaf": "mention_ceaf::span",
        "mention_ceaf_plus": "mention_ceaf::span+kbid",
        "typed_mention_ceaf": "mention_ceaf::span+type",
        "typed_mention_ceaf_plus": "mention_ceaf::span+type+kbid",
        "pairwise": "pairwise::span",
        "blanc": "blanc::span",
    }
)

_TAGGING = tuple(name for name, said in NAMED.items() if said.startswith("sets"))
_COREFERENCE = tuple(name for name in NAMED if name not in {*_TAGGING, "blanc"})
_TAC09 = ("strong_link_match", "strong_nil_match", "strong_all_match")
_TAC11 = (*_TAC09, "b_cubed", "b_cubed_plus")
_LUO = ("muc", "b_cubed", "mention_ceaf", "entity_ceaf")
_CORNOLTI = ("strong_linked_mention_match", "strong_link_match", "entity_match")

#: The measures of the LoReHLT 2019 plan, section 17.3, in its order.
PLAN = (
    "strong_mention_match",
    "strong_typed_mention_match",
    *(f"{overlap}::span" for overlap in OVERLAPS),
    "strong_typed_all_match",
    "strong_typed_link_match",
    "strong_typed_nil_match",
    "entity_match",
    "mention_ceaf",
    "typed_mention_ceaf",
    "typed_mention_ceaf_plus",
    "mention_ceaf;docid=<micro>",
    "mention_ceaf:is_first:span",
)

#: The measures that the plan prints otherwise, a misprint among them.
PRINTED: Mapping[str, str] = MappingProxyType(
    {
        "strong_typed_mentin_match": "strong_typed_mention_match",
        **{f"{overlap.replace('-', '_')}_micro": f"{overlap}::span" for overlap in OVERLAPS},
        "Mention_ceaf": "mention_ceaf",
        "Typed_mention_ceaf": "typed_mention_ceaf",
        "Typed_mention_ceaf_plus": "typed_mention_ceaf_plus",
    }
)

#: Names that stand for several measures.
SETS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "all": (*_TAGGING, *_COREFERENCE),
        "all-tagging": _TAGGING,
        "all-coref": _COREFERENCE,
        "cornolti": _CORNOLTI,
        "hachey": ("strong_mention_match", *_CORNOLTI),
        "luo": _LUO,
        "tac09": _TAC09,
        "tac11": _TAC11,
        "tac14": (
            *_TAC11,
            "strong_mention_match",
            "strong_typed_mention_match",
            "strong_typed_all_match",
            "mention_ceaf",
            "typed_mention_ceaf",
        ),
        "tmp": ("mention_ceaf", "entity_ceaf", "pairwise"),
        "plan": PLAN,
    }
)

#: What is measured where nothing else is asked for.
DEFAULT = (*PLAN, *(name for name in NAMED if name not in PLAN), "pairwise_negative::span")

_GROUPED = re.compile(r"(?P<said>[^;]*);(?P<by>[a-z]+)=<(?P<average>micro|macro)>")


def measures(names: Iterable[str]) -> tuple[Measure, ...]:
    """The measures of several names or expressions, each once, in the order given.

    Raises:
        WrongMeasure: for what names none.

    Examples:
        >>> [measure.name for measure in measures(["tmp", "muc", "mention_ceaf"])]
        ['mention_ceaf', 'entity_ceaf', 'pairwise', 'muc']
    """
    listed = [item for name in names for item in SETS.get(name, (PRINTED.get(name, name),))]
    return tuple(measure(name) for name in dict.fromkeys(listed))


def measure(said: str) -> Measure:
    """The measure that a name or an expression stands for.

    Raises:
        WrongMeasure: with what is wrong, and what could be said.

    Examples:
        >>> measure("strong_nil_match").filter, measure("b_cubed:None:span+kbid").key
        ('is_nil', ('span', 'kbid'))
        >>> measure("mention_ceaf;docid=<micro>").by
        'document'
        >>> measure("sets:first:span")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        hlteval.scoring.edl.measures.WrongMeasure: sets:first:span: unknown filter first; ...
    """
    grouped = _GROUPED.fullmatch(said)
    inner = grouped["said"] if grouped else said
    expression = NAMED.get(inner, inner)
    parts = expression.split(":")
    if len(parts) == 1:
        raise WrongMeasure(f"unknown measure {inner}; {_hint(inner)}")
    if len(parts) != 3:
        count = f"{len(parts) - 1} colon{'s' if len(parts) > 2 else ''}"
        raise WrongMeasure(f"{inner} has {count}, not 2: an expression is aggregate:filter:key")
    aggregate, kept, key = parts[0].removesuffix("-micro"), parts[1], tuple(parts[2].split("+"))
    kept = "" if kept == "None" else kept
    _check(inner, aggregate, kept, key)
    by, average = _grouping(said, grouped) if grouped else ("", "")
    return Measure(said, aggregate, kept, key, by, average)


def _check(said: str, aggregate: str, kept: str, key: tuple[str, ...]) -> None:
    """Hold that the parts of an expression are among those that there are."""
    if aggregate not in AGGREGATES:
        raise WrongMeasure(f"{said}: unknown aggregate {_quoted(aggregate)}; {_listed(AGGREGATES)}")
    if kept and kept not in FILTERS:
        raise WrongMeasure(f"{said}: unknown filter {kept}; {_listed(FILTERS)}, or none")
    for field in key:
        if field not in FIELDS:
            raise WrongMeasure(f"{said}: unknown field {_quoted(field)}; {_listed(FIELDS)}")
    if aggregate in OVERLAPS and "span" not in key:
        raise WrongMeasure(f"{said}: the key of an overlap measure must include span")


def _grouping(said: str, grouped: re.Match[str]) -> tuple[str, str]:
    named = {field: by for by, field in GROUPINGS.items()}
    if grouped["by"] not in named:
        raise WrongMeasure(f"{said}: unknown grouping {grouped['by']}; {_listed(named)}")
    return named[grouped["by"]], grouped["average"]


def _quoted(text: str) -> str:
    return text or "“”"


def _listed(names: Iterable[str]) -> str:
    return f"use one of {', '.join(names)}"


def _hint(said: str) -> str:
    """A measure that may have been meant, or all that there are."""
    from hlteval.findings.suggest import closest

    names = (*NAMED, *SETS)
    near = closest(said, names, cutoff=60.0)
    return f"did you mean {near}?" if near else f"{_listed(names)}; or aggregate:filter:key"
