"""The pages of tasks and formats are those that their declarations make."""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from docs.make import pages
from docs.make.origins import origins
from hlteval import converters, tasks
from hlteval.converters.format import EVERYTHING
from hlteval.findings import catalogue
from hlteval.representation import TABLES
from hlteval.validators.generic.schema import Allowed

DOCS = Path(__file__).parents[3] / "docs"
format_page, task_page = cache(pages.format_page), cache(pages.task_page)
"""Both pages; they take a second to make."""


def part(page: str, name: str) -> str:
    """The part of a page under a heading of the second level."""
    return page.split(f"\n## {name}\n")[1].partition("\n## ")[0]


def rows(text: str) -> dict[str, str]:
    """The rows of all tables by their first cell, without marks."""
    cells = [line.strip("| ").split(" | ", 1) for line in text.splitlines() if line[:2] == "| "]
    return {first.replace("`", ""): rest for first, *others in cells for rest in others}


def test_the_committed_pages_are_up_to_date(golden):
    golden(DOCS / "tasks.md", task_page())
    golden(DOCS / "formats.md", format_page())
    page = DOCS / "how-to" / "moving-data.md"
    golden(page, pages.moving_page(page.read_text("utf-8")))


@pytest.mark.parametrize("name", tasks.BUILTIN)
def test_every_task_tells_what_it_takes_and_gives(name):
    task, told = tasks.load(name), part(task_page(), name)
    facts = rows(told)
    submitted = ", ".join(f"`{suffix}`" for suffix in task.submission_suffixes)
    unnamed = "a file or a folder" if isinstance(task.schema(), Allowed) else "one file"
    assert facts["submission files"] == (submitted or unnamed)
    assert sorted(listed(facts["[metrics](metrics.md)"])) == sorted(task.metrics)
    found = re.findall(r"\[(\w+)\]\(codes\.md#\w+\) ([\d, ]+)", facts["[findings](codes.md)"])
    codes = {prefix + number for prefix, numbers in found for number in numbers.split(", ")}
    assert codes == {
        code
        for code, where in origins().items()
        if name in where.tasks and not code.startswith(("SRC", "REF"))
    }
    for profile, metric in task.primary.items():
        assert f"{profile}: `{metric}`" in facts["ranking metric"]
    for option in task.options:
        told_as = f"option --{option.flag} {option.placeholder}".rstrip()
        assert facts[told_as.replace("|", "\\|")] == option.help


def listed(cell: str) -> list[str]:
    """The names of metrics in a cell; many are folded into measures and their figures."""
    found = []
    for part in cell.split("; for each of "):
        folded, _, figures = part.rpartition("`: `")
        names = re.findall("`([^`]+)`", f"{folded}`" if folded else part)
        ends = re.findall("`([^`]+)`", f"`{figures}") if folded else [""]
        found += [name + end for name in names for end in ends]
    return found


@pytest.mark.parametrize("name", ["seedev-binary", "seedev-full"])
def test_every_type_of_an_event_task_is_told(name):
    schema, told = tasks.load(name).schema(), part(task_page(), name)
    facts = rows(told)
    for event in schema.events.values():
        row = facts.get(event.label) or facts[f"{event.label} (1)"]
        named = re.findall(r"`(\w+)`: (\w+)", row)
        assert [role for role, _ in named] == [*event.mandatory, *event.one_of]
        for role, types in named:
            group = set(re.findall(r"`(\w+)`", facts.get(types, "")))
            assert event.roles[role] == (None if types == "ANY" else group or {types})
        assert row.endswith("yes") is event.commutative
    for role in schema.conditions:
        assert role in facts


def test_events_without_optional_roles_are_marked():
    told = rows(part(task_page(), "seedev-full"))
    assert [name for name in told if name.endswith("(1)")] == ["Presence_In_Genotype (1)"]
    assert "(1)" not in part(task_page(), "seedev-binary")


def test_an_evaluation_that_needs_an_option_says_so():
    told = part(task_page(), "seedev-binary")
    assert told.count("Inside sentences (with `--sentences`)") == 2
    assert "Standard pairing (with" not in told


def test_what_is_scored_is_named_as_what_it_is():
    told = {name: part(task_page(), name) for name in tasks.BUILTIN}
    linking = told["lorehlt-edl"].partition("### Scorings")[2]
    assert linking.count("| Measures | each of the 27 [measures](metrics.md#lorehlt-edl) |") == 2
    assert "| plan | Curves | Relevance, Type, Type+Place |" in told["speech-sf"]
    assert "| plan | Standard pairing | All Relations, and 22 types" in told["seedev-binary"]
    assert "| plan | content | all |" in told["hub4"]
    assert "| plan | parts | trigger_identification, and 3 more |" in told["events"]


def _lacking(form, table):
    """The columns of a table that a format has no place for, as they are told."""
    wanted = [item.partition(".") for item in EVERYTHING if item not in form.carries]
    return ", ".join(f"`{column}`" for name, _, column in wanted if name == table and column)


def test_pairs_of_formats_tell_what_is_lost():
    told = part(format_page(), "From what to what")
    assert "| [edl-tab](#edl-tab) | bioc-xml, bioc-json | neleval, brat, pubtator, " in told
    assert "[jsonl]" not in told
    assert "speech-sf-json" not in next(line for line in told.split("\n") if "[standoff]" in line)


@pytest.mark.parametrize("name", converters.BUILTIN)
def test_every_format_tells_what_it_carries(name):
    form, page = converters.load(name), format_page()
    carried = rows(page.partition("\n## ")[0])[f"[{name}](#{name})"].split(" | ")
    assert carried[:2] == ["yes" if has else "-" for has in (form.reads, form.write)]
    told = [
        "-" if table not in form.carries else "part" if _lacking(form, table) else "yes"
        for table in TABLES
    ]
    assert carried[2:] == told
    lacking = {name: columns for name in form.tables if (columns := _lacking(form, name))}
    said = rows(part(page, name)).get("partly supported", "")
    assert all(f"`{name}` without {columns}" in said for name, columns in lacking.items())
    assert said.count("without") == len(lacking)
    assert rows(part(page, name))["not preserved"] == (form.known_losses or "nothing")
    assert "\t" not in part(page, name)
    for setting in form.settings:
        assert f"`--set {setting.name}=" in part(page, name)
        assert setting.help in part(page, name)


def test_links_lead_to_codes_that_there_are():
    linked = re.findall(r"\[(\w+)\]\(codes\.md#(\w+)\)", task_page() + format_page())
    assert linked
    for code, anchor in linked:
        assert code in {*catalogue(), *(known[:3] for known in catalogue())}
        assert anchor == code.lower()


@pytest.mark.parametrize("cleaned", [True, False])
def test_the_pages_are_the_same_however_python_keeps_docstrings(
    cleaned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python 3.13 expands the tabs of docstrings and removes their indentation."""
    before = format_page(), task_page()
    assert "T26→Protein_Family 903" in before[0]
    for name in converters.BUILTIN.values():
        module = import_module(name)
        kept = ast.get_docstring(ast.parse(inspect.getsource(module)), clean=False) or ""
        monkeypatch.setattr(module, "__doc__", inspect.cleandoc(kept) if cleaned else kept)
    assert (pages.format_page(), pages.task_page()) == before
