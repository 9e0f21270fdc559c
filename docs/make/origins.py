"""The formats and tasks that raise each code, as they declare them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from hlteval import converters, tasks
from hlteval.converters.format import no_tables
from hlteval.findings import catalogue
from hlteval.sources import CODES
from hlteval.workflows.run.checks import CODES as OF_REFERENCES

_OTHERWISE: Mapping[str, str] = MappingProxyType(
    {
        "AGR": "`hlteval agreement`",
        "BDL": "`hlteval publish`",
        "CPN": "`hlteval campaign`",
        "LDB": "`hlteval leaderboard`",
        "MAN": "`hlteval manifest`",
        "CFG": "[defaults](config.md)",
        "PIP": "`hlteval pipeline`",
        "PKG": "packing",
        "TSK": "[declarations](declaration.md)",
    }
)
"""What raises the codes of a prefix that no format and no task has."""


class Origins(NamedTuple):
    """The formats and tasks that raise a code.

    Attributes:
        formats: the formats whose readers raise it, all of them for problems of files as such.
        tasks: the tasks with a rule or metric that raises it, or a format that they read.
        otherwise: what raises it if no format and no task does.
    """

    formats: tuple[str, ...]
    tasks: tuple[str, ...]
    otherwise: str = "conversions"


@cache
def origins() -> Mapping[str, Origins]:
    """The formats and tasks of every code of the catalogue.

    Examples:
        >>> origins()["APN101"]
        Origins(formats=('appen',), tasks=('speech-sf',), otherwise='conversions')
    """
    formats = {name: converters.load(name) for name in converters.known()}
    of_formats = {
        name: (*CODES, *form.codes, *(("TAB",) if form.tabular is not no_tables else ()))
        for name, form in formats.items()
    }
    of_tasks = {}
    for name in tasks.task_names():
        task = tasks.load(name)
        read = {task.format, *task.submitted, *task.references}
        for option in task.options:
            read |= {option.format, option.reference_format}
        own = (*OF_REFERENCES, *task.codes, *(rule.code for rule in tasks.rules(task)))
        of_tasks[name] = (*own, *(code for form in read - {""} for code in of_formats[form]))
    found = {
        code: Origins(
            *(
                tuple(name for name, codes in declared.items() if code.startswith(codes))
                for declared in (of_formats, of_tasks)
            ),
            otherwise=_OTHERWISE.get(code[:3], "conversions"),
        )
        for code in catalogue()
    }
    return MappingProxyType(found)
