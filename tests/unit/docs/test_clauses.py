"""The tables of clauses name what there is, and everything that they should name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from itertools import groupby
from pathlib import Path

import pytest

from docs.make.clauses import Clause, Specification, clause_page, index_page, load, references
from hlteval import tasks
from hlteval.extensions import resolve
from hlteval.findings import catalogue

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "docs" / "clauses"
TABLES = {path.stem: load(path) for path in sorted(FOLDER.glob("*.toml"))}
PARTS = {part.name: part for table in TABLES.values() for part in table.part}
METRICS = {(name, metric) for name in tasks.BUILTIN for metric in tasks.load(name).metrics}
CLAUSES = [(part, clause) for part in PARTS.values() for clause in part.clause]


def named(specification: Specification, field: str) -> Iterator[str]:
    for clause in specification.clauses:
        yield from getattr(clause, field)


def test_the_committed_pages_are_up_to_date(golden):
    for stem, table in TABLES.items():
        golden(FOLDER / f"{stem}.md", clause_page(table, stem))
    golden(FOLDER / "index.md", index_page(TABLES))
    assert {path.stem for path in FOLDER.glob("*.md")} == {*TABLES, "index"}


def test_there_are_tables():
    assert len(CLAUSES) > 200
    assert len(PARTS) == sum(len(table.part) for table in TABLES.values())


def test_a_clause_is_held_or_says_why_not():
    for _, clause in CLAUSES:
        assert clause.says.endswith("."), clause
        assert clause.status != "not implemented" or clause.open, f"{clause.place} has no reason"
        assert not (clause.open + clause.note).endswith("."), clause
        assert "\n" not in clause.says + clause.note + clause.open, clause
        assert not clause.planned or not clause.open, clause


def test_sections_stand_together_and_have_one_title():
    for part in PARTS.values():
        runs = [section for section, _ in groupby(part.clause, lambda clause: clause.section)]
        assert len(runs) == len(set(runs)), f"a section of {part.name} stands in several places"
        titled = [clause.section for clause in part.clause if clause.title]
        assert len(titled) == len(set(titled))


@cache
def functions(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("stem", TABLES)
def test_what_a_table_names_is_there(stem):
    table = TABLES[stem]
    assert set(named(table, "codes")) <= catalogue().keys()
    for test in named(table, "tests"):
        path, _, function = test.partition("::")
        assert function.startswith("test_"), test
        assert (ROOT / "tests" / path).is_file(), test
        assert function in functions(ROOT / "tests" / path), test
    for place in named(table, "by"):
        assert resolve(place) is not None
    for option in named(table, "options"):
        task, _, flag = option.partition(" --")
        assert flag in {item.flag for item in tasks.load(task).options}, option


def matched(pattern: str) -> set[tuple[str, str]]:
    """The metrics that a table means by a task and a name, in both of which `*` is anything."""
    return {(task, name) for task, name in METRICS if fnmatchcase(f"{task} {name}", pattern)}


def test_every_metric_of_every_task_is_named():
    patterns = [item for table in TABLES.values() for item in named(table, "metrics")]
    empty = [pattern for pattern in patterns if not matched(pattern)]
    assert not empty, "these are metrics of no task"
    named_ones = set().union(*map(matched, patterns))
    assert not METRICS - named_ones, "no clause names these metrics"


def rows(document: str, section: str) -> list[Clause]:
    """The clauses of a section, as a code names it."""
    part = PARTS[document]
    return [clause for clause in part.clause if part.reference(clause) == section]


def test_a_code_is_named_by_the_clauses_that_it_names():
    """What to do: add the code to a clause of that section, or correct the clause of the code."""
    unnamed = [
        f"{document}, {section}: {code}"
        for code, entry in catalogue().items()
        for document, section in references(entry.clause, PARTS)
        if not any(code in clause.codes for clause in rows(document, section))
    ]
    assert not unnamed


def test_clauses_of_codes_begin_with_the_name_of_a_document():
    """Else a name that is misspelt would go unnoticed."""
    pieces = {piece for entry in catalogue().values() for piece in entry.clause.split("; ")}
    names = {piece.partition(", ")[0] for piece in pieces - {""}} - PARTS.keys()
    strange = {name for name in names if not name.startswith(ELSEWHERE)}
    assert not {name for name in strange if not (ROOT / name).is_file()}


ELSEWHERE = (
    *("RFC 1952", "RFC 3629", "RFC 8259", "PKWARE APPNOTE", "POSIX.1", "XML 1.0"),
    *("Unicode Standard Annex 15", "CoNLL 2012 shared task", "CoNLL-U", "brat standoff format"),
    *("BioC", "PubAnnotation", "UEM", "CoNLL 2003 shared task", "TAC KBP 2014", "UIMA", "PubTator"),
    *("Formats of annotation tools", "GATE", "Hugging Face datasets", "Hugging Face transformers"),
    *("Praat manual", "WebAnno TSV 3.3", "spaCy 3"),
    *("NIST mteval", "TMX", "RTTM", "Audacity", "WebVTT", "ELAN", "RFC 4180", "Apache Parquet"),
    *("hlteval", "structure of the format", "MUC scorer", "Luo et al. 2014"),
)
"""Documents that codes name and that have no table: general standards, formats of other software,
and our own."""


def test_what_is_planned_is_of_a_task_that_is_not_built():
    """Whoever builds it says in its table what holds its clauses."""
    planned = {clause.planned for _, clause in CLAUSES if clause.planned}
    assert not planned & set(tasks.BUILTIN)
    assert all(re.fullmatch("[a-z0-9-]+", name) for name in planned)


def test_a_clause_without_cover_or_reason_is_seen():
    bare = Clause(section="1", says="Something.")
    assert (bare.status, bare.open) == ("not implemented", "")
    assert Clause(section="1", says="x.", open="because").status == "not implemented"
    assert Clause(section="1", says="x.", open="half", tests=("a",)).status == "partial"
    assert Clause(section="1", says="x.", planned="lorehlt-mt").status == "planned"


def test_a_page_is_a_table_that_nothing_breaks():
    table = TABLES["seedev"]
    lines = [line for line in clause_page(table, "seedev").splitlines() if line[:1] == "|"]
    assert len(lines) == len(table.clauses) + 2 * len(table.part)
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {5}


def declared() -> Iterator[tuple[str, str, str]]:
    """What tasks say of their metrics: the task, what metrics as a pattern, and their clause."""
    for name in tasks.BUILTIN:
        task = tasks.load(name)
        whats = "*." if task.measures else ""
        yield from (
            (name, f"{whats}{statistic.name}", statistic.clause) for statistic in task.statistics
        )
        yield from ((name, f"{measure.name}.*", measure.clause) for measure in task.measures)


def test_a_metric_is_named_by_a_clause_that_it_names():
    """Tasks share figures: one of several sections will do, and of a section any clause."""
    for task, pattern, clause in declared():
        listed = [within(*reference) or rows(*reference) for reference in references(clause, PARTS)]
        assert all(listed), f"{task} {pattern}: no such section: {clause}"
        named_by = [metric for found in listed for row in found for metric in row.metrics]
        meant = matched(f"{task} {pattern}")
        assert not listed or any(matched(item) & meant for item in named_by), (
            f"add {task} {pattern} to a clause of {clause} in docs/clauses"
        )


def within(document: str, section: str) -> list[Clause]:
    """The clauses of a section, whatever part of it they are about."""
    part = PARTS[document]
    return [clause for clause in part.clause if part.word + clause.section == section]


def test_clauses_of_metrics_begin_with_the_name_of_a_document():
    pieces = {piece for _, _, clause in declared() for piece in clause.split("; ")}
    assert "" not in pieces
    names = {piece.partition(", ")[0] for piece in pieces} - PARTS.keys()
    strange = {name for name in names if not name.startswith(ELSEWHERE)}
    assert not {name for name in strange if not (ROOT / name).is_file()}
