"""Lists of the codes, tasks and formats as text and JSON, and the explanation of a code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from math import isfinite

import msgspec
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.text import Text

from hlteval import converters, tasks
from hlteval.findings import Entry, catalogue, entry
from hlteval.findings.suggest import closest
from hlteval.reports.findings import STYLES
from hlteval.reports.schemas.declared import (
    CodeDescription,
    FormatDescription,
    MetricDescription,
    OptionDescription,
    TaskDescription,
)
from hlteval.reports.tables import FIXED, Column, Table, Tables
from hlteval.reports.terminal import Prose, json_text, visible, wrap
from hlteval.results.verdict import head
from hlteval.tasks.task import HIGH, LOW, NORMAL, Option, Task

#: Maximum line length of prose, which longer lines make hard to read.
_WIDEST = 88


class UnknownCodeError(ValueError):
    """An unknown code; `suggestion` is the closest known code, or None if none is similar."""

    def __init__(self, code: str, suggestion: str | None) -> None:
        prefixes = ", ".join(dict.fromkeys(known[:3] for known in catalogue()))
        hint = f"did you mean {suggestion}?" if suggestion else f"codes start with {prefixes}"
        super().__init__(f"unknown code {visible(code)}; {hint}")
        self.code, self.suggestion = code, suggestion


def explain(code: str) -> RenderableType:
    """The meaning of a code, why it matters and how to fix it, with an example.

    Args:
        code: a code, or a prefix of codes, of which a list is given; case does not matter.

    Raises:
        UnknownCodeError: if no code of the catalogue matches.
    """
    entries = matching_entries(code)
    if len(entries) == 1 and entries[0].code == code.strip().upper():
        return Explanation(entries[0])
    columns = [Column("code", "name"), Column("severity", "name"), Column("title", "prose")]
    rows = [
        [(each.code, STYLES[each.severity]), each.severity.value, each.title] for each in entries
    ]
    return Tables([Table(columns, rows)])


def matching_entries(code: str) -> list[Entry]:
    """The entry of a code, or those of the codes with a prefix; case does not matter.

    Raises:
        UnknownCodeError: if no code of the catalogue matches.

    Examples:
        >>> [entry.code for entry in matching_entries("std30")][:2]
        ['STD301', 'STD302']
    """
    prefix = code.strip().upper()
    if re.fullmatch("[A-Z]{3}[0-9]{3}", prefix):
        with suppress(KeyError):
            return [entry(prefix)]
    entries = [known for name, known in catalogue().items() if name.startswith(prefix)]
    return entries or [look_up(code, catalogue())]


def look_up(code: str, entries: Mapping[str, Entry]) -> Entry:
    """The entry of a code; case does not matter.

    Raises:
        UnknownCodeError: if there is no such entry.
    """
    name = code.strip().upper()
    if name in entries:
        return entries[name]
    raise UnknownCodeError(code, closest(name, entries, cutoff=60))


@dataclass(frozen=True, slots=True)
class Explanation:
    """An entry of the catalogue, rendered as text for people."""

    entry: Entry

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        entry, width = self.entry, min(options.max_width, _WIDEST)
        title, *more = wrap(f": {entry.title}", width, len(entry.code))
        head = Text().append(entry.code, STYLES[entry.severity]).append(title, "bold")
        yield head.append("".join(f"\n{line}" for line in more), "bold")
        yield Text("\n".join(wrap(status(entry), width)))
        for label, text in prose(entry):
            lines = (["", *wrap(paragraph, width - 2)] for paragraph in paragraphs(text))
            yield _section(label, *list(chain.from_iterable(lines))[1:])
        for label, example in examples(entry):
            yield _section(label, *map(visible, example.split("\n")))


def status(entry: Entry) -> str:
    """The name and severity of an entry, and whether it is fixable and blocking."""
    text = f"{entry.name}, {entry.severity}{', fixable' if entry.fixer else ''}"
    return f"{text}, blocking: the submission cannot be scored" if entry.blocking else text


def prose(entry: Entry) -> list[tuple[str, str]]:
    """The label and text of each prose section of an entry."""
    sections = [("Why", entry.why), ("Fix", entry.fix), ("Rule", entry.clause)]
    return [(label, text) for label, text in sections if text.strip()]


def examples(entry: Entry) -> list[tuple[str, str]]:
    """The label and text of each example of an entry."""
    sections = [("Wrong", entry.bad), ("Right", entry.good)]
    return [(label, example.strip("\n")) for label, example in sections if example.strip()]


def _section(label: str, *lines: str) -> Text:
    body = "\n".join(f"  {line}".rstrip() for line in lines)
    return Text(f"\n{label}\n", style="bold").append(body, "not bold")


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text, each on one line."""
    return [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text.strip())]


_COMMANDS = ("validate", "score", "compare", "leaderboard", "agreement", "pack")


def encode(schema: str, **members: object) -> str:
    """One JSON object with its schema, its version and other members."""
    return json_text(head(schema) | msgspec.to_builtins(members))


def tasks_json(names: Sequence[str]) -> str:
    """The tasks of some names with their metrics and options, as one JSON object.

    Raises:
        KeyError: for an unknown task.

    Examples:
        >>> tasks_json(["ltf"])[:54]
        '{"schema":"tasks","version":1,"tasks":[{"name":"ltf","'
    """
    return encode("tasks", tasks=[_task(tasks.load(name)) for name in names])


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
    return MetricDescription(
        name=name,
        meaning=info.meaning if info else "",
        compared=measure.meaning if measure else "",
        formula=info.formula if info else "",
        values=info.values.text if info else "a number",
        least=least if isfinite(least) else None,
        most=most if isfinite(most) else None,
        better=info.better if info else "neither",
        ranks=tuple(profile for profile, ranking in task.primary.items() if ranking == name),  # type: ignore[misc]
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
    descriptions = [
        {"name": name, **form._asdict(), "settings": [item._asdict() for item in form.settings]}
        for name, form in converters.summaries().items()
    ]
    return encode("formats", formats=msgspec.convert(descriptions, list[FormatDescription]))


def codes_json(code: str) -> str:
    """A code, or those with a prefix, as one JSON object.

    Raises:
        UnknownCodeError: if no code of the catalogue matches.

    Examples:
        >>> codes_json("STD302")[:54]
        '{"schema":"codes","version":1,"codes":[{"code":"STD302'
    """
    return encode("codes", codes=[*map(_code, matching_entries(code))])


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


#: The columns of the list of formats.
FORMAT_COLUMNS = (
    Column("format", "name"),
    Column("reads", "name", HIGH),
    Column("writes", "name", HIGH),
    Column("supports", "prose", LOW),
    Column("description", "prose", FIXED),
)

#: The columns of the list of tasks.
TASK_COLUMNS = (
    Column("task", "name"),
    Column("format", "prose", NORMAL),
    Column("profiles", "prose", HIGH),
    Column("ranked by", "name", NORMAL),
    Column("metrics", "number", LOW),
    Column("description", "prose", FIXED),
)


def formats() -> Table:
    """A table of the formats: whether each is read and written, and the tables it supports."""
    rows = []
    for name, form in converters.summaries().items():
        directions = ("yes" if supported else "-" for supported in (form.reads, form.writes))
        supports = "everything" if form.everything else " ".join(form.tables)
        description = "; ".join([form.title, *(item.text for item in form.settings)])
        rows.append([name, *directions, supports, description])
    return Table(FORMAT_COLUMNS, rows)


def task_table() -> Table:
    """A table of the tasks: formats, profiles, ranking metric and number of metrics."""
    rows = [
        [
            task.name,
            " ".join(dict.fromkeys([task.format, *task.references])),
            " ".join(task.profiles),
            ", ".join(dict.fromkeys(task.primary.values())) or "-",
            str(len(task.metrics) or "-"),
            task.title,
        ]
        for task in map(tasks.load, tasks.usable())
    ]
    return Table(TASK_COLUMNS, rows)


def task(name: str) -> RenderableType:
    """The title, specification and metrics of a task, one metric per line.

    Raises:
        KeyError: for an unknown task.
    """
    task = tasks.load(name)
    ranking = set(task.primary.values())
    lines = (f"{name}  ranks" if name in ranking else name for name in task.metrics)
    return Group(Prose(task.title), Prose(task.specification), *map(Text, lines))
