"""Readers of the options of entity discovery and linking: measures, weights of types, and zones."""

from collections.abc import Mapping, Sequence

import polars as pl

from hlteval.findings import Problem
from hlteval.scoring.edl.measures import Measure, measures
from hlteval.sources import Source
from hlteval.syntax.tsv import Column, ParsedTable, Table
from hlteval.tasks.option_files import FileValue, contradictions, read_table

_NUMBER = r"[+-]?(?:[0-9]{1,200}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?"
WEIGHTS = Table(
    (
        Column("reference", heading="reference type"),
        Column("system", heading="system type"),
        Column("weight", "number", pattern=f" *{_NUMBER} *", code="OPT102"),
    ),
    code="OPT101",
)
ZONES = Table(
    (
        Column("docid", heading="document"),
        Column("start", "integer", heading="first offset", code="OPT104"),
        Column("last", "integer", heading="last offset", code="OPT104"),
    ),
    code="OPT101",
)


def measure_list(names: Sequence[str], _: Mapping[str, str]) -> tuple[Measure, ...]:
    """The measures of names or expressions.

    Raises:
        WrongMeasure: for an unknown one.
    """
    return measures(names)


def type_weights(source: Source, _: Mapping[str, str]) -> FileValue:
    """The weights of pairs of types, by the types of reference and system.

    Of a pair that occurs several times, the greatest weight counts.

    Args:
        source: a table without a header: type of the reference, type of the system, weight.
    """

    def problems(parsed: ParsedTable) -> list[Problem]:
        """Find weights out of range, and pairs with another weight than before."""
        written = parsed.lines.gather(parsed.rows["record"] - 1).str.split("\t").list.get(2)
        rows = parsed.rows.with_columns(given=written.str.strip_chars())
        outside = rows.filter(~pl.col("weight").is_between(0, 1))
        key = pl.concat_str("reference", "system", separator=" and ")
        others = contradictions(parsed, key, "weight", "largest weight")
        return [*parsed.problems_at("OPT103", outside, "weight"), *others]

    rows, findings = read_table(source, WEIGHTS, problems)
    pairs = rows.sort("weight").drop("record").iter_rows()
    return FileValue({(reference, system): weight for reference, system, weight in pairs}, findings)


def zones(source: Source, _: Mapping[str, str]) -> FileValue:
    """The zones of documents that are not scored.

    Args:
        source: a table without a header: document, first and last offset, both belonging to the
            zone.
    """

    def problems(parsed: ParsedTable) -> list[Problem]:
        backward = parsed.rows.filter(pl.col("last") < pl.col("start"))
        return parsed.problems_at("OPT105", backward, "start", "last")

    rows, findings = read_table(source, ZONES, problems)
    return FileValue(rows.drop("record"), findings)
