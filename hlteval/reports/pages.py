"""The pages docs/tasks.md and docs/formats.md, made from the declarations of tasks and formats."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module

from hlteval import converters, tasks
from hlteval.converters import Format
from hlteval.grammars import vocabulary
from hlteval.reports.display import visible
from hlteval.representation import TABLES
from hlteval.tasks.task import Task
from hlteval.validators.events import EventSchema, EventType

_TASKS = """\
# Tasks

<!-- Made from the declarations in hlteval/tasks/ by hlteval.reports.pages; do not edit. -->

`hlteval tasks` lists them. Every task has its own options: `hlteval score TASK --help`. The profile
`plan` follows the written specification, `official` the public software, quirks included; where
they differ, and why, is told in [differences.md](differences.md).
"""

_FORMATS = """\
# Formats

<!-- Made from the declarations in converters/ by hlteval.reports.pages; do not edit. -->

`hlteval formats` lists them. A format is told from the files themselves; `--from` and `--to` name
it. What a format has no place for is listed when something is converted to it (CNV101), and
`--strict-loss` then writes nothing. The tables are those of [representation.md](representation.md).
"""


def task_page() -> str:
    """The page docs/tasks.md, in Markdown.

    Examples:
        >>> task_page().splitlines()[0]
        '# Tasks'
    """
    return "\n".join([_TASKS, *(_task(tasks.load(name)) for name in tasks.BUILTIN)])


def format_page() -> str:
    """The page docs/formats.md, in Markdown.

    Examples:
        >>> format_page().splitlines()[0]
        '# Formats'
    """
    listed = [converters.load(name) for name in converters.BUILTIN]
    return "\n".join([_FORMATS, _carried(listed), *map(_format, listed)])


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _task(task: Task) -> str:
    """One task: what is submitted, what is measured, what is allowed."""
    parts = [f"## {task.name}\n\n{task.title}.\n", _facts(task), _scorings(task)]
    schema = task.schema()
    if isinstance(schema, EventSchema):
        parts.append(_events(schema, _groups(task.name)))
    return "\n".join(parts)


def _facts(task: Task) -> str:
    ranked = "; ".join(f"{profile}: `{metric}`" for profile, metric in task.primary.items())
    rows = [
        ("specification", task.specification),
        ("format", f"[{task.format}](formats.md#{task.format})"),
        ("given with the task", _code(task.given)),
        ("submitted", _code(task.predicted)),
        ("profiles", ", ".join(task.primary)),
        ("ranked by", ranked),
        ("metrics", _code(task.metrics)),
        *((f"option `--{option.name} FILE`", option.help) for option in task.options),
    ]
    if task.crashes:
        rows.append(("no official number where", _code(sorted(task.crashes))))
    return _table(("", ""), rows)


def _scorings(task: Task) -> str:
    """The evaluations of each profile with what they score, and the measures of the profile."""
    options = frozenset(option.name for option in task.options)
    rows = [
        (profile, evaluation, scorings, measures)
        for profile in task.primary
        for evaluation, scorings, measures in _evaluations(task, profile, options)
    ]
    return "### Scorings\n\n" + _table(("profile", "evaluation", "scorings", "measures"), rows)


def _evaluations(
    task: Task, profile: str, options: frozenset[str]
) -> Iterator[tuple[str, str, str]]:
    """Each evaluation of a profile; one that needs an option is marked by it."""
    metric = task.metric(profile, options)
    _, rows = metric.score(metric.total([]))
    bare = task.metric(profile, frozenset())
    always = {str(row["evaluation"]) for row in bare.score(bare.total([]))[1]}
    for name in dict.fromkeys(str(row["evaluation"]) for row in rows):
        own = [row for row in rows if row["evaluation"] == name]
        first, *others = dict.fromkeys(str(row["scoring"]) for row in own)
        measures = ", ".join(dict.fromkeys(str(row["measure"]) for row in own))
        condition = "" if name in always else f" (with {_code('--' + o for o in sorted(options))})"
        yield name + condition, _and_types(first, len(others)), measures


def _and_types(first: str, others: int) -> str:
    return f"{first}, and {others} by type" if others else first


def _groups(name: str) -> Mapping[frozenset[str], str]:
    """The names that the vocabulary of a task gives to sets of types."""
    groups: Mapping[str, Sequence[str]] = vocabulary(name.partition("-")[0])["groups"]

    def members(part: str) -> frozenset[str]:
        return frozenset().union(*map(members, groups[part])) if part in groups else {part}  # type: ignore[return-value]

    return {members(group): group for group in groups}


def _events(schema: EventSchema, groups: Mapping[frozenset[str], str]) -> str:
    """The types of a task, and what an event of each type may hold."""
    used = {
        types
        for event in schema.events.values()
        for types in event.roles.values()
        if types is not None and len(types) > 1
    }
    shown = {groups[types]: _code(sorted(types)) for types in used}
    rows = [_event(event, schema, groups) for event in schema.events.values()]
    parts = [
        f"### Types of {schema.task}\n\nText spans: {_code(sorted(schema.mentions))}.\n",
        "In the tables, a name in capital letters is one of these groups, and ANY is any type:\n",
        _table(("group", "types"), sorted(shown.items())),
        _table(("event", "mandatory roles", "exactly one of", "arguments may change places"), rows),
        *_conditions(schema, groups),
        *_modifiers(schema),
    ]
    return "\n".join(parts)


def _event(
    event: EventType, schema: EventSchema, groups: Mapping[frozenset[str], str]
) -> tuple[str, ...]:
    note = "" if set(schema.conditions) <= event.roles.keys() else " (1)"
    return (
        f"`{event.label}`{note}",
        _roles(event.mandatory, event, groups),
        _roles(event.one_of, event, groups),
        "yes" if event.commutative else "",
    )


def _roles(roles: Iterable[str], event: EventType, groups: Mapping[frozenset[str], str]) -> str:
    return ", ".join(f"`{role}`: {_types(event.roles[role], groups)}" for role in roles)


def _types(types: frozenset[str] | None, groups: Mapping[frozenset[str], str]) -> str:
    if types is None:
        return "ANY"
    return groups[types] if len(types) > 1 else next(iter(types))


def _conditions(schema: EventSchema, groups: Mapping[frozenset[str], str]) -> Iterator[str]:
    """The optional roles, and which events take none."""
    if not schema.conditions:
        yield "Events take no optional roles.\n"
        return
    taking = [e for e in schema.events.values() if set(schema.conditions) <= e.roles.keys()]
    yield "Every event may have each of these optional roles once; those marked (1) take none:\n"
    rows = [(f"`{role}`", _types(taking[0].roles[role], groups)) for role in schema.conditions]
    yield _table(("optional role", "filled by"), rows)


def _modifiers(schema: EventSchema) -> Iterator[str]:
    allowed = [f"`{name}`, at most {most} an event" for name, most in schema.modifiers.items()]
    yield f"Modifiers: {'; '.join(allowed) or 'none'}.\n"


def _carried(listed: Sequence[Format]) -> str:
    """Which tables each format carries, and whether it is written."""
    rows = [
        (f"[{form.name}](#{form.name})", "yes", "yes" if form.write else "-")
        + tuple("yes" if table in form.carries else "-" for table in TABLES)
        for form in listed
    ]
    return _table(("format", "read", "written", *TABLES), rows)


def _format(form: Format) -> str:
    """One format: what its declaration says, and what its module tells of it."""
    title, _, details = inspect.cleandoc(_told(form.name)).partition("\n")
    rows = [("files", _code(form.suffixes)), ("what it is", form.title)]
    rows.append(("not kept", form.loses or "nothing"))
    return "\n".join([f"## {form.name}\n\n{title}\n", _table(("", ""), rows), _sections(details)])


def _told(name: str) -> str:
    return import_module(converters.BUILTIN[name]).__doc__ or ""


def _sections(details: str) -> str:
    """The sections of a module's docstring: prose as prose, example lines as they stand."""
    parts = re.split(r"^([A-Z][a-z ]+):$", details, flags=re.M)
    return "\n".join(
        f"{_section(title, textwrap.dedent(body).strip())}\n"
        for title, body in zip(parts[1::2], parts[2::2], strict=True)
    )


def _section(title: str, body: str) -> str:
    if title.startswith("Example"):
        body = "\n".join(["```text", *map(visible, body.split("\n\n")[0].split("\n")), "```"])
    return f"**{title}.** {body}" if "```" not in body else f"**{title}**, a tab as `→`:\n\n{body}"
