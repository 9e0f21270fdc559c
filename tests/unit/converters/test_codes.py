"""The codes that formats and tasks declare are those that they raise."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

import pytest

from hlteval import converters, tasks
from hlteval.extensions import LazyImport
from hlteval.findings import catalogue
from hlteval.sources import CODES, Source, open_source
from hlteval.tasks.task import Task

ROOT = Path(__file__).parents[3]
OF_ALL_TASKS = "hlteval.workflows.run.checks"
"""The module that raises what options of any task say of both sides."""
IMPORTED = re.compile(r"^ *from (hlteval\.[\w.]+) import", re.M)


@cache
def fixtures() -> list[tuple[str, Source]]:
    """Every fixture, with the name of its folder."""
    paths = sorted((ROOT / "fixtures").glob("*/*valid/*"))
    return [(path.parts[-3], open_source(str(path))) for path in paths]


def codes_in(texts: Iterable[str]) -> set[str]:
    """The codes of the catalogue that are written in source texts."""
    return {code for text in texts for code in re.findall(r'"([A-Z]{3}[0-9]{3})"', text)}


def source(module: str) -> str:
    """The source text of a module."""
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_text("utf-8")


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", converters.BUILTIN)
def test_a_format_declares_the_codes_that_it_raises(name: str) -> None:
    form = converters.load(name)
    read = (form.read(one) for room, one in fixtures() if room == name or form.sniff(one))
    raised = {item.code for results in read for result in results for item in result.findings}
    assert not {code for code in raised if not code.startswith((*form.codes, *CODES))}
    declared = {code for code in catalogue() if form.codes and code.startswith(form.codes)}
    assert all(any(code.startswith(prefix) for code in declared) for prefix in form.codes)
    family = Path(*converters.BUILTIN[name].split(".")[1:-1])  # a room at the root
    folders = (ROOT / family, ROOT / "hlteval" / "syntax")
    files = [file for at in folders for file in at.glob("*.py")]
    sources = "".join(file.read_text("utf-8") for file in files if file.parent != folders[1])
    read = [file for file in (ROOT / "grammars").glob("*.toml") if f'"{file.stem}"' in sources]
    files += read  # the tables of words and codes that the family reads
    if "toolkit.json_" in sources:  # several families share its codes
        files += (ROOT / "converters" / "toolkit").glob("*.py")
    written = codes_in(file.read_text("utf-8") for file in files)
    assert declared <= raised | written


def modules(task: Task) -> set[str]:
    """The modules of the functions that a task and its options name, but for its rules.

    Rules are compared with the catalogue one by one, and a module of them may serve several tasks.
    What official software does with a finding raises none.
    """
    values = [
        getattr(item, field)
        for item in (task, task.hooks, *task.options)
        for field in item.__struct_fields__
        if field not in {"rules", "official_ignores", "official_rejects"}
    ]
    inner = [value.func if isinstance(value, partial) else value for value in values]
    return {value.named.partition(":")[0] for value in inner if isinstance(value, LazyImport)}


@pytest.mark.parametrize("name", tasks.BUILTIN)
def test_a_task_declares_the_codes_of_its_package_and_of_its_metric(name: str) -> None:
    task = tasks.load(name)
    declared = {code for code in catalogue() if task.codes and code.startswith(task.codes)}
    assert all(any(code.startswith(prefix) for code in declared) for prefix in task.codes)
    given = task.package.keywords if isinstance(task.package, partial) else {}
    if of_package := codes_in(f'"{value}"' for value in given.values()):
        assert declared == of_package
        return
    named = modules(task)
    imported = {match[1] for own in named for match in IMPORTED.finditer(source(own))}
    of_family = {own for own in imported if own.startswith("hlteval.scoring.")}
    imported |= {match[1] for own in of_family for match in IMPORTED.finditer(source(own))}
    rules = {rule.code for rule in tasks.rules(task)}
    forms = (task.format, *task.references)
    read = [code for form in forms for code in converters.load(form).codes]  # of rejected records
    own = {code for code in codes_in(map(source, named)) if not code.startswith((*read, *CODES))}
    # one module reads files of options of several tasks, each with some of its codes
    of_options = {code for code in own if code.startswith("OPT")}
    every = tuple(prefix for known in tasks.BUILTIN for prefix in tasks.load(known).codes)
    assert own - of_options <= declared | rules
    assert all(code.startswith(every) for code in of_options)
    shared = {"hlteval.tasks.option_files", "hlteval.validators.names", OF_ALL_TASKS}
    assert declared <= codes_in(map(source, named | imported | shared)) | rules


def test_the_declared_codes_and_those_of_workflows_are_all() -> None:
    forms = [converters.load(name) for name in converters.BUILTIN]
    known = [tasks.load(name) for name in tasks.BUILTIN]
    declared = {*CODES, *(code for item in (*forms, *known) for code in item.codes)}
    declared |= {rule.code for task in known for rule in tasks.rules(task)}
    undeclared = {code for code in catalogue() if not code.startswith(tuple(declared))}
    # of conversions; of references, packages, bundles and evaluations, whatever the task
    shared = ("CNV", "REF", "PKG", "MAN", "PIP", "CPN", "CFG", "LDB", "AGR", "TAB", "TSK", "BDL")
    assert undeclared == {code for code in catalogue() if code.startswith(shared)}
