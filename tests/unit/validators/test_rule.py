"""Rules: how the rows that they return become findings with places."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from hlteval.converters.standoff.bionlp import FORMAT
from hlteval.findings import Finding
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, Unreadable
from hlteval.validators import Rule, RuleContext, apply

LINES = b"E1\tBinding Functional_Molecule:T1 Molecule:T2\nE2\tBinding Functional_Molecule:T3\n"


def case() -> tuple[RuleContext, tuple[Member, ...]]:
    member = Member("d.a2", "run/d.a2", len(LINES), lambda: LINES)
    (reading,) = FORMAT.read(Source("run", "folder", (member,)))
    return RuleContext(reading.corpus, reading.corpus, None), reading.members


def at(row: Mapping[str, object]) -> Rule:
    """A rule that finds a fixed row."""
    schema = {"origin": pl.Int64, "record": pl.Int64, "field": pl.String, "id": pl.String}
    frame = pl.LazyFrame([{**dict.fromkeys(schema), **row}], schema_overrides=schema)
    return Rule("SEE104", "frames", lambda _: frame)


def applied(*rules: Rule) -> list[Finding]:
    looked_at, members = case()
    return list(apply(rules, looked_at, members, FORMAT))


TEXTS = {"trigger": "T9", "label": "Binding"}


def test_a_row_is_placed_in_its_file() -> None:
    row = {"origin": 0, "record": 2, "field": "target 1", "id": "E2", **TEXTS}
    (finding,) = applied(at(row))
    assert (finding.code, finding.file, finding.record) == ("SEE104", "run/d.a2", "E2")
    assert finding.span is not None
    assert (finding.span.line, finding.span.column, finding.span.end_column) == (2, 32, 34)
    assert finding.excerpt is not None
    assert finding.excerpt.text == "E2\tBinding Functional_Molecule:T3"
    assert finding.message == "unexpected trigger T9"


def test_a_row_may_be_about_a_file_or_about_everything() -> None:
    file, everything = applied(at({"origin": 0, "field": "", **TEXTS}), at({"field": "", **TEXTS}))
    assert (file.file, file.span) == ("run/d.a2", None)
    assert (everything.file, everything.span) == (None, None)


def test_rules_about_what_is_not_there_are_not_asked() -> None:
    def fail(_: RuleContext) -> pl.LazyFrame:
        raise AssertionError("asked about modifiers, of which there are none")

    looked_at, members = case()
    assert list(apply([Rule("SEE207", "modifiers", fail)], looked_at, members, FORMAT)) == []


def test_a_file_that_has_gone_costs_only_the_place() -> None:
    looked_at, members = case()
    (reason,) = applied(at({"field": "", **TEXTS}))

    def gone() -> bytes:
        raise Unreadable(reason)

    missing = [Member(member.name, member.display, None, gone) for member in members]
    row = {"origin": 0, "record": 2, "field": "label", "id": "E2", **TEXTS}
    (finding,) = apply([at(row)], looked_at, missing, FORMAT)
    assert (finding.file, finding.span, finding.record) == ("run/d.a2", None, "E2")


def test_a_case_knows_whether_the_submission_is_its_own_reference() -> None:
    looked_at, _ = case()
    assert looked_at.own
    other = RuleContext(looked_at.system, Corpus(), None)
    assert not other.own
    assert other.reference_mentions.collect().is_empty()


def test_a_context_gives_only_the_columns_that_are_named() -> None:
    looked_at, _ = case()
    assert looked_at.table("frames", "label", "document").collect_schema().names() == [
        *("label", "document")
    ]
    records = looked_at.records("frames", "label").collect()
    assert records.columns == ["row", "document", "origin", "record", "label", "id"]
    assert records["id"].to_list() == ["E1", "E2"]


def test_a_table_for_several_rules_is_worked_out_once() -> None:
    looked_at, _ = case()
    asked = []

    def table(of: RuleContext) -> pl.LazyFrame:
        asked.append(of)
        return of.table("frames", "row")

    assert looked_at.cached(table).collect().height == 2
    assert looked_at.cached(table).collect().height == 2
    assert len(asked) == 1
