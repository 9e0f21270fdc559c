"""Tasks, formats, codes and schemas as JSON, for programs that list or explain them."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

import msgspec

from hlteval import converters, tasks
from hlteval.findings import Entry
from hlteval.reports.escapes import escaped, printable
from hlteval.reports.explain import matching, paragraphs
from hlteval.reports.schemas.lists import (
    CodeDescription,
    FormatDescription,
    MetricDescription,
    OptionDescription,
    SettingDescription,
    TaskDescription,
)
from hlteval.results.versions import head
from hlteval.tasks.option import Option
from hlteval.tasks.task import Task

_COMMANDS = ("validate", "score", "compare", "leaderboard", "agreement", "pack")


def encoded(schema: str, **members: object) -> str:
    """One JSON object with its schema, its version and other members."""
    built = head(schema) | printable(msgspec.to_builtins(members))
    return escaped(msgspec.json.encode(built)).decode() + "\n"


def tasks_json(names: Sequence[str]) -> str:
    """The tasks of some names with their metrics and options, as one JSON object.

    Raises:
        KeyError: for an unknown task.

    Examples:
        >>> tasks_json(["ltf"])[:54]
        '{"schema":"tasks","version":1,"tasks":[{"name":"ltf","'
    """
    return encoded("tasks", tasks=[_task(tasks.load(name)) for name in names])


def _task(task: Task) -> TaskDescription:
    formats = (task.format, *task.submitted)
    return TaskDescription(
        name=task.name,
        title=task.title,
        specification=task.specification,
        formats=formats,
        references=() if task.scored_alone else task.references or formats,
        profiles=task.profiles,  # type: ignore[arg-type]
        ranking=dict(task.primary),
        metrics=tuple(_metric(task, name) for name in task.metrics),
        options=tuple(map(_option, task.options)),
    )


def _metric(task: Task, name: str) -> MetricDescription:
    info, measures = task.statistic(name), {item.name: item for item in task.measures}
    measure = measures.get(name.rpartition(".")[0])
    least, most = task.limits(name)
    own: dict[str, Any] = {"meaning": "", "formula": "", "values": "a number", "better": "neither"}
    if info:
        own = {"meaning": info.meaning, "formula": info.formula, "better": info.better}
        own |= {"values": info.values.text}
    own["ranks"] = tuple(profile for profile, ranking in task.primary.items() if ranking == name)
    return MetricDescription(
        name=name,
        compared=measure.meaning if measure else "",
        least=least if isfinite(least) else None,
        most=most if isfinite(most) else None,
        **own,
    )


def _option(option: Option) -> OptionDescription:
    return OptionDescription(
        name=option.flag,
        help=option.help,
        placeholder=option.placeholder,
        choices=() if option.switch else tuple(option.choices),
        switch=option.switch,
        repeatable=option.repeatable,
        commands=tuple(name for name in _COMMANDS if option.available_in(name)),
    )


def formats_json() -> str:
    """The formats and what they support, as one JSON object."""
    found = converters.summaries().items()
    return encoded("formats", formats=[_format(name, form) for name, form in found])


def _format(name: str, form: converters.Summary) -> FormatDescription:
    return FormatDescription(
        name=name,
        title=form.title,
        suffixes=tuple(form.suffixes),
        reads=form.reads,
        writes=form.writes,
        everything=form.everything,
        tables=tuple(form.tables),
        settings=tuple(_setting(item) for item in form.settings),
    )


def _setting(item: converters.SettingSummary) -> SettingDescription:
    return msgspec.convert(item._asdict(), SettingDescription)


def codes_json(code: str) -> str:
    """A code, or those with a prefix, as one JSON object.

    Raises:
        UnknownCodeError: if no code of the catalogue matches.

    Examples:
        >>> codes_json("STD302")[:54]
        '{"schema":"codes","version":1,"codes":[{"code":"STD302'
    """
    return encoded("codes", codes=[*map(_code, matching(code))])


def _code(entry: Entry) -> CodeDescription:
    return CodeDescription(
        code=entry.code,
        name=entry.name,
        title=entry.title,
        severity=entry.severity,
        blocking=entry.blocking,
        fixable=bool(entry.fixer),
        why=_prose(entry.why),
        fix=_prose(entry.fix),
        clause=_prose(entry.clause),
        wrong=entry.bad.strip("\n"),
        right=entry.good.strip("\n"),
    )


def _prose(text: str) -> str:
    """A text with an empty line between its paragraphs, each on one line."""
    return "\n\n".join(paragraphs(text))
