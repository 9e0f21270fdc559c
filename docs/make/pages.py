"""The pages docs/tasks.md and docs/formats.md, made from the declarations of tasks and formats."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import groupby
from typing import Literal

from docs.make.conversions import holding_table, pair_table, partial_support, support_table
from docs.make.markdown import code, table
from docs.make.origins import origins
from hlteval import converters, tasks
from hlteval.converters import Format
from hlteval.converters.format import Setting
from hlteval.grammars import vocabulary
from hlteval.reports.scores import MANY
from hlteval.reports.terminal import visible
from hlteval.scoring.metric import Metric
from hlteval.tasks.options import metric_options
from hlteval.tasks.task import Option, Task
from hlteval.validators.generic.schema import Allowed
from hlteval.validators.seedev.schema import EventSchema, EventType

_TASKS = """\
# Tasks

<!-- Made from the declarations in hlteval/tasks/ by docs.make.pages; do not edit. -->

`hlteval tasks` lists all tasks, and `hlteval score TASK --help` the options of a task. The profile
`plan` follows the written specification, `official` the public software, bugs included;
[Differences](differences.md) lists where they differ, and why.

Every task also reads submissions and references saved as `jsonl` or `corpus` (Parquet), with the
same findings and scores as the original files.
"""

_FORMATS = """\
# Formats

<!-- Made from the declarations in converters/ by docs.make.pages; do not edit. -->

`hlteval formats` lists all formats. Input formats are auto-detected; override them with `--from`
and `--to`. When you convert data, anything the output format cannot represent is reported
([CNV101](codes.md#cnv101)); with `--strict-loss` nothing is written in that case. The tables below
are described in [The tables of a corpus](representation.md); *part* means that some columns of a
table are not supported. In the examples, `→` is a tab.
"""


FEW = 3
"""Scorings that are named."""


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
    return "\n".join([_FORMATS, support_table(listed), pair_table(listed), *map(_format, listed)])


def with_region(text: str, name: str, content: str) -> str:
    r"""A page with the content between two comments, `NAME: made by ...` and `end of NAME`.

    Examples:
        >>> with_region("<!-- x: made -->\nold\n<!-- end of x -->", "x", "new")
        '<!-- x: made -->\nnew\n<!-- end of x -->'
    """
    before, begin, rest = text.partition(f"<!-- {name}:")
    line, _, rest = rest.partition("\n")
    _, end, after = rest.partition(f"<!-- end of {name} -->")
    return f"{before}{begin}{line}\n{content}\n{end}{after}"


def moving_page(text: str) -> str:
    """The page docs/how-to/moving-data.md with its table of formats."""
    listed = [converters.load(name) for name in converters.BUILTIN]
    return with_region(text, "formats", holding_table(listed).strip())


def _task(task: Task) -> str:
    """One task: what is submitted, what is measured, what is allowed."""
    parts = [f"## {task.name}\n\n{task.title}.\n", _facts(task)]
    if task.metric is not None:
        parts.append(_scorings(task))
    schema = task.schema()
    if isinstance(schema, EventSchema):
        parts.append(_Types(schema, _groups(task.name)).part())
    return "\n".join(parts)


def _unnamed(task: Task) -> str:
    """What is submitted, where files may have any name."""
    return "a file or a folder" if isinstance(task.schema(), Allowed) else "one file"


def _facts(task: Task) -> str:
    ranked = "; ".join(f"{profile}: `{metric}`" for profile, metric in task.primary.items())
    rows = [
        ("specification", task.specification),
        ("format", ", ".join(_linked(dict.fromkeys((task.format, *task.submitted))))),
        *_references(task),
        ("provided files", code(task.provided_suffixes) or "nothing"),
        ("submission files", code(task.submission_suffixes) or _unnamed(task)),
        ("[archive](packages.md)", _archive(task)),
        ("profiles", ", ".join(task.profiles)),
        ("ranking metric", ranked or "not scored (validation only)"),
        ("[metrics](metrics.md)", _metrics(task.metrics) or "none"),
        *_draws(task),
        ("[findings](codes.md)", found_by(task.name, "tasks")),
        *((_option(option), option.help) for option in task.options),
    ]
    if task.official_crashes_on:
        codes = ", ".join(f"[{c}](codes.md#{c.lower()})" for c in sorted(task.official_crashes_on))
        rows.append(("no `official` scores", f"{codes}: the software crashes"))
    return table(("", ""), rows)


def _archive(task: Task) -> str:
    """What `hlteval pack` makes of a submission."""
    packaging = task.packaging
    named = f" named `{packaging.name}`" if packaging.name else ""
    return f"{code(packaging.suffixes)}{named}: {packaging.layout}".replace("|", "\\|")


def found_by(name: str, kind: Literal["formats", "tasks"]) -> str:
    """The codes that a format or a task finds, by their letters; those of all files are left out.

    Examples:
        >>> found_by("seedev-sentences", "formats")
        '[SNT](codes.md#snt) 101'
    """
    found = [code for code, where in origins().items() if name in getattr(where, kind)]
    links = []
    for prefix, codes in groupby(found, lambda code: code.rstrip("0123456789")):
        if prefix not in {"SRC", "REF"}:
            numbers = ", ".join(code.removeprefix(prefix) for code in codes)
            links.append(f"[{prefix}](codes.md#{prefix.lower()}) {numbers}")
    return "; ".join(links) or "only codes common to all formats"


def _draws(task: Task) -> Iterator[tuple[str, str]]:
    """How intervals are computed, by profile where profiles differ."""
    methods = {profile: _methods(task.scorer(profile)) for profile in task.primary}
    if len(set(methods.values())) > 1:
        both = "; ".join(f"{name}: {what}" for name, what in methods.items())
        yield "[intervals](intervals.md)", both
    elif methods:
        yield "[intervals](intervals.md)", next(iter(methods.values()))


def _methods(metric: Metric) -> str:
    """The methods of intervals of a metric, with what is resampled."""
    methods = dict.fromkeys(part.interval_method for part in metric.decompose())
    units = f"bootstrap over {metric.resampling_units}"
    return " and ".join(units if name == "bootstrap" else name for name in methods)


def _metrics(names: Sequence[str]) -> str:
    """The metrics; where there are many, what they measure and the figures that each of it has."""
    if len(names) <= MANY:
        return code(names)
    alone = [name for name in names if "." not in name]
    endings: dict[str, list[str]] = {}
    for name in (name for name in names if "." in name):
        measure, _, ending = name.rpartition(".")
        endings.setdefault(measure, []).append(f".{ending}")
    alike: dict[tuple[str, ...], list[str]] = {}
    for measure, own in endings.items():
        alike.setdefault(tuple(own), []).append(measure)
    parts = [f"for each of {code(measured)}: {code(own)}" for own, measured in alike.items()]
    return "; ".join([code(alone), *parts] if alone else parts)


def _option(option: Option) -> str:
    taken = option.placeholder.replace("|", "\\|")
    return f"option `--{option.flag} {taken}`" if taken else f"option `--{option.flag}`"


def _references(task: Task) -> Iterator[tuple[str, str]]:
    """The formats of a reference, where they are others."""
    if task.references:
        yield "reference formats", ", ".join(_linked(task.references))


def _linked(formats: Iterable[str]) -> Iterator[str]:
    return (f"[{name}](formats.md#{name})" for name in formats)


def _scorings(task: Task) -> str:
    """The evaluations of each profile with what they score, and the measures of the profile."""
    rows = [(profile, *row) for profile in task.primary for row in _evaluations(task, profile)]
    return "### Scorings\n\n" + table(("profile", "evaluation", "scorings", "measures"), rows)


def _evaluations(task: Task, profile: str) -> Iterator[tuple[str, str, str]]:
    """Each evaluation of a profile; one that needs lists of options is marked by these."""
    always = {str(row["evaluation"]) for row in _listed(task.scorer(profile))}
    lists = {option.name: option.name for option in task.options if option.format}
    needed = f" (with {code(f'--{name}' for name in sorted(lists))})"
    rows = _listed(task.scorer(profile, metric_options(task, lists)))
    for name in dict.fromkeys(str(row["evaluation"]) for row in rows):
        own = [row for row in rows if row["evaluation"] == name]
        scorings = tuple(dict.fromkeys(str(row["scoring"]) for row in own))
        measures = ", ".join(dict.fromkeys(str(row["measure"]) for row in own))
        yield name + ("" if name in always else needed), _scored(task, scorings), measures


def _scored(task: Task, scorings: Sequence[str]) -> str:
    """What an evaluation scores: named where it is little, else counted."""
    if scorings == tuple(measure.name for measure in task.measures):
        return f"each of the {len(scorings)} [measures](metrics.md#{task.name})"
    if len(scorings) <= FEW:
        return ", ".join(scorings)
    others = "more" if isinstance(task.schema(), Allowed) else "types of events"
    return f"{scorings[0]}, and {len(scorings) - 1} {others}"


def _listed(metric: Metric) -> Sequence[Mapping[str, object]]:
    """The scorings of a metric: those of nothing at all."""
    return metric.score(metric.total([]))[1]["scorings"].to_dicts()


def _groups(name: str) -> Mapping[frozenset[str], str]:
    """The names that the vocabulary of a task gives to sets of types."""
    groups: Mapping[str, Sequence[str]] = vocabulary(name.partition("-")[0])["groups"]

    def members(part: str) -> set[str]:
        return set().union(*map(members, groups[part])) if part in groups else {part}

    return {frozenset(members(group)): group for group in groups}


@dataclass(frozen=True, slots=True)
class _Types:
    """The part of the page about the types of a task, and what an event of each may hold."""

    schema: EventSchema
    groups: Mapping[frozenset[str], str]

    def part(self) -> str:
        heads = ("event", "mandatory roles", "exactly one of", "commutative")
        parts = [
            f"### Types of {self.schema.task}\n",
            f"Text spans: {code(sorted(self.schema.mentions))}.\n",
            "In the tables, names in capitals are these groups of types, and ANY is any type:\n",
            table(("group", "types"), sorted(self.used())),
            table(heads, map(self.event, self.schema.events.values())),
            *self.conditions(),
            self.modifiers(),
        ]
        return "\n".join(parts)

    def used(self) -> set[tuple[str, str]]:
        """The groups that fill a role, with their types."""
        fillers = {t for event in self.schema.events.values() for t in event.roles.values() if t}
        return {(self.named(types), code(sorted(types))) for types in fillers if len(types) > 1}

    def event(self, event: EventType) -> tuple[str, ...]:
        note = "" if self.takes_conditions(event) else " (1)"
        return (
            f"`{event.label}`{note}",
            self.roles(event, event.mandatory),
            self.roles(event, event.one_of),
            "yes" if event.commutative else "",
        )

    def roles(self, event: EventType, roles: Iterable[str]) -> str:
        return ", ".join(f"`{role}`: {self.named(event.roles[role])}" for role in roles)

    def named(self, types: frozenset[str] | None) -> str:
        if types is None:
            return "ANY"
        return self.groups[types] if len(types) > 1 else next(iter(types))

    def takes_conditions(self, event: EventType) -> bool:
        return set(self.schema.conditions) <= event.roles.keys()

    def conditions(self) -> Iterator[str]:
        """The optional roles, the same for all events that take any."""
        if not self.schema.conditions:
            yield "Events take no optional roles.\n"
            return
        yield "Events may have each of these optional roles once, except those marked (1):\n"
        taking = next(filter(self.takes_conditions, self.schema.events.values()))
        roles = [(f"`{role}`", self.named(taking.roles[role])) for role in self.schema.conditions]
        yield table(("optional role", "filled by"), roles)

    def modifiers(self) -> str:
        listed = self.schema.modifiers.items()
        allowed = [f"`{name}`, at most {most} per event" for name, most in listed]
        return f"Modifiers: {'; '.join(allowed) or 'none'}.\n"


def _format(form: Format) -> str:
    """One format: what its declaration says, and what its module says of it."""
    title, _, details = _description(form.name).partition("\n")
    files = code(form.suffixes) or "named by `--from` and `--to`"
    rows = [("files", files), ("not preserved", form.known_losses or "nothing")]
    if form.tables and (part := partial_support(form)):
        rows.insert(1, ("partly supported", part))
    rows.append(("[findings](codes.md)", found_by(form.name, "formats")))
    rows += map(_setting, form.settings)
    return "\n".join([f"## {form.name}\n\n{title}\n", table(("", ""), rows), *_sections(details)])


def _setting(setting: Setting) -> tuple[str, str]:
    """A setting, as `--set` takes it, with what stands where it is not given."""
    values = "\\|".join(setting.choices) or setting.name.upper()
    otherwise = f" (`{setting.default}`)" if setting.default else ""
    at = "reading" if setting.of == "read" else "writing"
    return f"`--set {setting.name}={values}`, {at}", f"{setting.help}{otherwise}"


def _description(name: str) -> str:
    """The docstring of a format's module as in the source.

    The attribute `__doc__` differs between versions of Python: 3.13 expands tabs there.
    """
    source = inspect.getsource(import_module(converters.BUILTIN[name]))
    return ast.get_docstring(ast.parse(source), clean=False) or ""


def _sections(details: str) -> Iterator[str]:
    """The sections of a module's docstring: prose as prose, example lines as they stand."""
    parts = re.split(r"^([A-Z][a-z ]+): *", details, flags=re.M)
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        text = textwrap.dedent(body.strip("\n")).strip()
        if title.startswith("Example"):
            yield "\n".join([f"{title}:\n", "```text", *map(visible, text.split("\n")), "```\n"])
        else:
            yield f"{title}: {text.replace('``', '`')}\n"
