"""Lists of the codes, tasks, formats and schemas as text and JSON, and the explanation of a code.

What commands print as JSON is declared once: by the fields of the result
(`results.verdict.Output`), or by a class of this module or of `docs/make/schema_outputs.py` where
JSON has other members. `docs.make.schemas` makes the JSON Schemas of them,
`reports/schemas/NAME-VERSION.schema.json`; `results/schemas.toml` lists them with their versions,
and every test that prints JSON is held to them (`tests/json_outputs.py`). A version never changes
its shape (`tests/golden/schema_shapes.json`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import resources
from itertools import chain
from math import isfinite
from typing import Literal

import msgspec
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.text import Text

from hlteval import converters, tasks
from hlteval.findings import Entry, Severity, catalogue, entry
from hlteval.findings.suggest import closest, did_you_mean
from hlteval.reports.findings import STYLES
from hlteval.reports.tables import FIXED, Column, Table, Tables, fields_of
from hlteval.reports.terminal import Prose, json_text, visible, wrap
from hlteval.results.verdict import Profile, declared_schemas, head
from hlteval.tasks.task import MeasureInfo, Option, StatisticInfo, Task

#: Maximum line length of prose, which longer lines make hard to read, and of definitions.
_WIDEST, _NARROW = 88, 80


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
    if not entries:
        raise UnknownCodeError(code, closest(prefix, catalogue(), cutoff=60))
    return entries


class Explanation(msgspec.Struct, frozen=True):
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


class MetricDescription(msgspec.Struct, frozen=True, kw_only=True):
    """A metric of a task.

    Attributes:
        name: as in the `metrics` of scores.
        meaning: what it says.
        compared: what it compares, where the task measures several things; empty otherwise.
        formula: how it is computed, in plain text; empty if it is counted.
        values: its range, and its unit where it has one.
        least: its minimum; null without a limit.
        most: its maximum; null without a limit.
        better: which values are better, if either are.
        ranks: the profiles in which it ranks.
    """

    name: str
    meaning: str
    compared: str
    formula: str
    values: str
    least: float | None
    most: float | None
    better: Literal["more", "less", "neither"]
    ranks: tuple[Profile, ...]


class OptionDescription(msgspec.Struct, frozen=True, kw_only=True):
    """An option that a task has beside those of all tasks.

    Attributes:
        name: its name on the command line, without the two hyphens.
        help: what it does.
        placeholder: the placeholder of its value in the help; empty for a switch.
        choices: the values that it can have; empty if there are others, or for a switch.
        switch: whether it takes no value.
        repeatable: whether it can be repeated.
        commands: the commands that have it.
    """

    name: str
    help: str
    placeholder: str
    choices: tuple[str, ...]
    switch: bool
    repeatable: bool
    commands: tuple[str, ...]


class TaskDescription(msgspec.Struct, frozen=True, kw_only=True):
    """A task.

    Attributes:
        name: as on the command line.
        title: what it is, in one line.
        specification: the document that the profile `plan` follows.
        formats: the formats of submissions, the usual one first.
        references: the formats of references.
        profiles: its profiles.
        ranking: the metric that ranks, by profile; empty if the task has no scores.
        metrics: its metrics; empty if the task has no scores.
        options: its own options.
    """

    name: str
    title: str
    specification: str
    formats: tuple[str, ...]
    references: tuple[str, ...]
    profiles: tuple[Profile, ...]
    ranking: Mapping[str, str]
    metrics: tuple[MetricDescription, ...]
    options: tuple[OptionDescription, ...]


class SettingDescription(msgspec.Struct, frozen=True, kw_only=True):
    """A setting of a format, for `--set NAME=VALUE`.

    Attributes:
        name: its name.
        help: what it does.
        default: its default value.
        of: whether it is a setting of reading or of writing.
        choices: the values that it can have; empty if there are others.
    """

    name: str
    help: str
    default: str
    of: Literal["read", "write"]
    choices: tuple[str, ...]


class FormatDescription(msgspec.Struct, frozen=True, kw_only=True):
    """A format.

    Attributes:
        name: as given to `--from` and `--to`.
        title: what it is, in one line.
        suffixes: of the files that hold it.
        reads: whether it can be read.
        writes: whether it can be written.
        everything: whether it can represent all tables with all columns.
        tables: the tables of the representation that it can represent.
        settings: what can be set.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    reads: bool
    writes: bool
    everything: bool
    tables: tuple[str, ...]
    settings: tuple[SettingDescription, ...]


class CodeDescription(msgspec.Struct, frozen=True, kw_only=True):
    """A code of findings.

    Attributes:
        code: the code.
        name: a name in words with hyphens, as stable as the code.
        title: what it means, in one line.
        severity: its severity, unless the command line or a file of defaults sets another.
        blocking: whether a submission with it cannot be scored.
        fixable: whether `hlteval validate --fix` can correct it.
        why: why it is reported.
        fix: how to fix it.
        clause: the clause of the specification; empty without one.
        wrong: an example with the problem; empty without one.
        right: the same without the problem; empty without one.
    """

    code: str
    name: str
    title: str
    severity: Severity
    blocking: bool
    fixable: bool
    why: str
    fix: str
    clause: str
    wrong: str
    right: str


class SchemaDescription(msgspec.Struct, frozen=True):
    """A schema of an output or of a file that you write.

    Attributes:
        name: its name, which is `schema` in the output.
        version: its version, which is `version` in the output.
        title: its subject, in one line.
        of: the commands that print such an output, or the files that have this form.
        file: the name of its file in the documentation.
        id: its `$id`.
    """

    name: str
    version: int
    title: str
    of: tuple[str, ...]
    file: str
    id: str


class Schema(SchemaDescription, frozen=True, kw_only=True):
    """A schema of an output, or of a file that you write; its `$id` names no place.

    Attributes:
        shape: the class of the output, as `module:name` below `hlteval`; or the name of the grammar
            of a file, in grammars/.
        headed: whether the output begins with `schema` and `version`.

    Examples:
        >>> SCHEMAS["scores"].file, SCHEMAS["scores"].id
        ('scores-1.schema.json', 'urn:hlteval:schema:scores:1')
    """

    shape: str
    headed: bool = True

    @property
    def grammar(self) -> str:
        """The name of the grammar of a file; empty for an output."""
        return "" if ":" in self.shape else self.shape


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
        **{name: getattr(task, name) for name in ("name", "title", "specification", "profiles")},
        formats=formats,
        references=() if task.scored_alone else task.references or formats,
        ranking=dict(task.primary),
        metrics=tuple(_metric(task, *pair) for pair in task.metric_parts.items()),
        options=tuple(map(_option, task.options)),
    )


def _metric(
    task: Task, name: str, parts: tuple[MeasureInfo | None, StatisticInfo]
) -> MetricDescription:
    (measure, info), limits = parts, task.limits(name)
    least, most = (limit if isfinite(limit) else None for limit in limits)
    return MetricDescription(
        **{key: getattr(info, key) for key in ("meaning", "formula", "better")},
        name=name,
        compared=measure.meaning if measure else "",
        values=info.values.text,
        least=least,
        most=most,
        ranks=tuple(profile for profile, ranking in task.primary.items() if ranking == name),  # type: ignore[misc]
    )


def _option(option: Option) -> OptionDescription:
    return OptionDescription(
        **{name: getattr(option, name) for name in ("help", "placeholder", "switch", "repeatable")},
        name=option.flag,
        choices=() if option.switch else tuple(option.choices),
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
    plain, prose = ("code", "name", "title", "severity", "blocking"), ("why", "fix", "clause")
    members = {name: getattr(entry, name) for name in plain}
    members |= {name: "\n\n".join(paragraphs(getattr(entry, name))) for name in prose}
    return CodeDescription(
        **members,
        fixable=bool(entry.fixer),
        wrong=entry.bad.strip("\n"),
        right=entry.good.strip("\n"),
    )


def formats() -> Table:
    """A table of the formats: whether each is read and written, and the tables it supports."""
    rows = []
    for name, form in converters.summaries().items():
        directions = ("yes" if supported else "-" for supported in (form.reads, form.writes))
        supports = "everything" if form.everything else " ".join(form.tables)
        description = "; ".join([form.title, *(item.text for item in form.settings)])
        rows.append([name, *directions, supports, description])
    return Table([field.column for field in fields_of("formats")], rows)


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
    return Table([field.column for field in fields_of("tasks")], rows)


class Definitions(msgspec.Struct, frozen=True):
    """Names with their meanings, the meanings beside or below the names and wrapped.

    Attributes:
        title: a line above them.
        rows: the names and meanings.
    """

    title: str
    rows: Sequence[tuple[str, str]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        width = min(options.max_width, _NARROW)
        margin = min(max(cell_len(name) for name, _ in self.rows), width // 3) + 4
        yield Text(f"\n{self.title}", "bold")
        for name, meaning in self.rows:
            head = f"  {name}"
            if cell_len(head) > margin - 2:
                yield Text(head)
                head = ""
            for line in wrap(meaning, width - margin):
                yield Text(f"{head}{' ' * (margin - cell_len(head))}{line}")
                head = ""


def task(name: str) -> RenderableType:
    """The title and specification of a task, its measures, statistics or metrics, and its options.

    Raises:
        KeyError: for an unknown task.
    """
    task = tasks.load(name)
    by_metric: dict[str, list[str]] = {}
    for profile, metric in task.primary.items():
        by_metric.setdefault(metric, []).append(profile)
    every = len(by_metric) == 1
    marks = {
        metric: " (primary)" if every else f" (primary, profile {' and '.join(profiles)})"
        for metric, profiles in by_metric.items()
    }
    parts: list[RenderableType] = [Prose(task.title), Prose(task.specification)]
    if task.measures:
        ranking = ", ".join(f"{metric}{mark}" for metric, mark in marks.items())
        parts.append(Prose(f"Metrics are named MEASURE.STATISTIC: {ranking}"))
        measures = []
        for each in task.measures:
            only = f" Statistics: {', '.join(each.statistics)}." if each.statistics else ""
            measures.append((each.name, f"{each.meaning}{only}"))
        parts.append(Definitions("Measures", measures))
    statistics = [
        (
            f"{each.name}{marks.get(each.name, '')}",
            f"{each.meaning}{' Lower is better.' if each.better == 'less' else ''}",
        )
        for each in task.statistics
    ]
    title = "Statistics" if task.measures else "Metrics"
    parts += [Definitions(title, statistics)] if statistics else []
    options = [
        (f"{f'-{each.short}, ' if each.short else ''}--{each.flag} {each.placeholder}", each.help)
        for each in task.options
    ]
    parts += [Definitions("Options", options)] if options else []
    return Group(*parts)


#: The schemas by name, in the order of the documentation.
SCHEMAS: Mapping[str, Schema] = {
    name: msgspec.convert(
        {
            "name": name,
            "file": f"{name}-{schema['version']}.schema.json",
            "id": f"urn:hlteval:schema:{name}:{schema['version']}",
            **schema,
        },
        Schema,
    )
    for name, schema in declared_schemas().items()
}


class UnknownSchemaError(ValueError):
    """There is no schema of that name: an error of usage."""


def schema_text(name: str) -> str:
    """A schema, as its file has it.

    Args:
        name: its name, without a version.

    Raises:
        UnknownSchemaError: if there is none.

    Examples:
        >>> schema_text("scores").splitlines()[2]
        ' "$id": "urn:hlteval:schema:scores:1",'
    """
    if name not in SCHEMAS:
        hint = did_you_mean(name, SCHEMAS, "`hlteval schema` lists them")
        raise UnknownSchemaError(f"unknown schema {name}; {hint}")
    file = resources.files("hlteval.reports") / "schemas" / SCHEMAS[name].file
    return file.read_text("utf-8")


def schema_table() -> Tables:
    """A table of the schemas: name, version, and what each describes."""
    rows = [
        [each.name, str(each.version), f"{each.title}: {'; '.join(each.of)}"]
        for each in SCHEMAS.values()
    ]
    columns = (Column("schema", "name"), Column("version"), Column("describes", "prose", FIXED))
    return Tables([Table(columns, rows)])


def schemas_json() -> str:
    """The list of the schemas as one JSON object."""
    every = [*SCHEMAS.values()]
    descriptions = msgspec.convert(every, list[SchemaDescription], from_attributes=True)
    return encode("schemas", schemas=descriptions)
