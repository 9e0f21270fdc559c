"""The notation of measures: `aggregate:filter:key`, the names that stand for one, and their groups.

`sets:is_linked:span+type` compares, of the annotations that a filter lets through, the fields of
the key; the aggregate determines how. The notation and the names are those of neleval
(`measures.toml`).
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files

_TABLES = tomllib.loads(files(__package__).joinpath("measures.toml").read_text("utf-8"))
AGGREGATES: tuple[str, ...] = tuple(_TABLES["aggregates"])
FILTERS: tuple[str, ...] = tuple(_TABLES["filters"])
FIELDS: tuple[str, ...] = tuple(_TABLES["fields"])
NAMED: Mapping[str, str] = _TABLES["named"]
SETS: Mapping[str, tuple[str, ...]] = {
    name: tuple(names) for name, names in _TABLES["sets"].items()
}
#: The measures of the LoReHLT 2019 plan, section 17.3, in its order.
PLAN = SETS["plan"]
#: The measures unless others are named.
DEFAULT = (*PLAN, *(name for name in NAMED if name not in PLAN), "pairwise_negative::span")
#: The figures of a measure: rates, and their counts: found and not, seen from either side.
RATES = ("precision", "recall", "fscore")
COUNTS = ("ptp", "fp", "rtp", "fn")
FIGURES = (*RATES, *COUNTS)
OVERLAPS = tuple(name for name in AGGREGATES if name.startswith("overlap-"))
PAIRWISE = ("pairwise", "pairwise_negative")
#: Aggregates for which an item is in one cluster of its side only.
PARTITIONS = ("b_cubed", "muc", *PAIRWISE)
#: What measures can be given by, and the field that the notation names.
GROUPINGS: Mapping[str, str] = {"document": "docid", "type": "type", "language": "language"}
_GROUPED = re.compile(r"(?P<notation>[^;]*);(?P<by>[a-z]+)=<(?P<average>micro|macro)>")


class WrongMeasure(ValueError):
    """A text that names no measure: an error of usage."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A way to compare annotations.

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
        return self.aggregate in {"sets", *OVERLAPS} and self._within_documents

    @property
    def _within_documents(self) -> bool:
        """Whether what is compared is in one document."""
        return bool({"span", "docid"} & {*self.key})

    @property
    def mergeable(self) -> bool:
        """Whether whole numbers of each batch of documents determine its figures.

        Examples:
            >>> measure("b_cubed").mergeable, measure("b_cubed;docid=<micro>").mergeable
            (True, False)
        """
        if self.by:
            return self.additive and not self.fractional
        return self._within_documents

    @property
    def contents(self) -> tuple[str, tuple[str, ...]]:
        """The filter and the key; measures with equal ones have the same clusterings, made once."""
        return self.filter, self.key

    @property
    def fractional(self) -> bool:
        """Whether its counts are sums of fractions."""
        return self.aggregate in {"b_cubed", "entity_ceaf", *OVERLAPS}


def measures(names: Iterable[str]) -> tuple[Measure, ...]:
    """The measures of several names or expressions, each once, in the order given.

    Raises:
        WrongMeasure: for what names none.

    Examples:
        >>> [measure.name for measure in measures(["tmp", "muc", "mention_ceaf"])]
        ['mention_ceaf', 'entity_ceaf', 'pairwise', 'muc']
    """
    printed: Mapping[str, str] = _TABLES["printed"]
    every = [item for name in names for item in SETS.get(name, (printed.get(name, name),))]
    return tuple(measure(name) for name in dict.fromkeys(every))


def measure(text: str) -> Measure:
    """The measure that a name or an expression stands for.

    Raises:
        WrongMeasure: with the problem, and what is possible.

    Examples:
        >>> measure("strong_nil_match").filter, measure("b_cubed:None:span+kbid").key
        ('is_nil', ('span', 'kbid'))
        >>> measure("mention_ceaf;docid=<micro>").by
        'document'
        >>> measure("sets:first:span")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        hlteval.scoring.edl.measures.WrongMeasure: sets:first:span: unknown filter first; ...
    """
    grouped = _GROUPED.fullmatch(text)
    notation = grouped["notation"] if grouped else text
    parts = NAMED.get(notation, notation).split(":")
    if len(parts) == 1:
        from hlteval.findings.suggest import closest

        names = (*NAMED, *SETS)
        near = closest(notation, names, cutoff=60.0)
        all_names = f"use one of {', '.join(names)}; or aggregate:filter:key"
        hint = f"did you mean {near}?" if near else all_names
        raise WrongMeasure(f"unknown measure {notation}; {hint}")
    if len(parts) != 3:
        count = f"{len(parts) - 1} colon{'s' if len(parts) > 2 else ''}"
        raise WrongMeasure(f"{notation} has {count}, not 2: an expression is aggregate:filter:key")
    aggregate, kept, key = parts[0].removesuffix("-micro"), parts[1], tuple(parts[2].split("+"))
    kept = "" if kept == "None" else kept
    groupings = {field: by for by, field in GROUPINGS.items()}
    by, average = (grouped["by"], grouped["average"]) if grouped else ("", "")
    for of, what, value, known, more in (
        (notation, "aggregate", aggregate, AGGREGATES, ""),
        (notation, "filter", kept, ("", *FILTERS), ", or none"),
        *((notation, "field", field, FIELDS, "") for field in key),
        (text, "grouping", by, ("", *groupings), ""),
    ):
        if what == "grouping" and aggregate in OVERLAPS and "span" not in key:
            raise WrongMeasure(f"{notation}: the key of an overlap measure must include span")
        if value not in known:
            possible = ", ".join(filter(None, known))
            raise WrongMeasure(f"{of}: unknown {what} {value or '“”'}; use one of {possible}{more}")
    return Measure(text, aggregate, kept, key, groupings.get(by, ""), average)


def measure_of(value: str) -> Measure:
    """The measure that gives a value, such as `muc.fscore`.

    Raises:
        WrongMeasure: if it does not end in a figure, or for an unknown measure.
    """
    notation, _, figure = value.rpartition(".")
    if figure not in FIGURES:
        figures = ", ".join(FIGURES)
        raise WrongMeasure(f"add a point and one of {figures}, as in {value}.fscore")
    return measure(notation or value)
