"""Tasks in files: a built-in task with the formats, labels and options that a file declares.

What a key means is a field of that name in the `Options` of the metric of the unit. A preset
(presets.toml) fills fields in the profile `official` only: `plan` is one definition everywhere.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache, cached_property, partial
from hashlib import sha256
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, ClassVar, get_type_hints

import msgspec

from hlteval.converters import Summary, summaries
from hlteval.extensions import Tables, read_tables, resolve
from hlteval.findings import Finding, Severity, entry
from hlteval.scoring.metric import Metric
from hlteval.syntax.json_text import schema_errors
from hlteval.tasks import SUFFIX, load
from hlteval.tasks.generic.task_file import BUILTIN_OF, TaskFile, TaskTable
from hlteval.tasks.task import Task, has_code
from hlteval.tasks.toml_file import TomlFile, read_toml
from hlteval.validators.generic.schema import Allowed, with_kind

if TYPE_CHECKING:
    from hlteval.tasks.agreement import Agreement

#: The tables whose keys are options of the metric, beside that of the unit's arguments.
_TABLES = ("labels", "match", "scores", "relations", "events")
#: Keys of the table `read` that are no settings of a format, and those of them that are options.
READ_KEYS = frozenset(
    {"format", "reference", "system", "suffixes", "evaluated", "mode", "documents"}
)
READ_OPTIONS = ("mode", "scheme")
#: Averages, which are the first parts of the names of metrics.
AVERAGES = frozenset({"micro", "macro", "weighted", "samples"})
#: The metrics of labels that are numbers.
NUMBERS = ("pearson", "spearman", "mse", "mae")

#: What no tool of a preset looks at: in the profile `official`, nothing of it blocks.
_IGNORED = frozenset({"GEN101", "GEN201", "GEN202", "GEN203", "GEN301", "GEN405"})


class WrongTask(ValueError):
    """A declaration with errors.

    Attributes:
        findings: all that is wrong with it.
    """

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        errors = [item for item in findings if item.severity == Severity.ERROR]
        lines = (
            f"{f'{item.file}{item.position}: ' if item.file else ''}{item.message}"
            f"{f'; {item.help}' if item.help else ''}"
            for item in errors
        )
        super().__init__("\n".join(lines))
        self.findings = findings


class Declaration(TomlFile):
    """The file of a task, as it was read."""

    called: ClassVar[str] = "the declaration"
    notations: ClassVar[Mapping[str, str]] = {
        "unit": 'unit = "mentions", "relations", "events", "clusters", "links", "labels", '
        '"segments" or "transcripts"',
        "task": 'a table [task] with unit = "mentions"',
    }

    def finding(
        self, code: str, *path: str | int, of_key: bool = False, **values: object
    ) -> Finding:
        """Return a finding at a value; of what Python declares, nothing has a place."""
        if self.path.startswith("{"):
            return entry(code).finding(values)
        return super().finding(code, *path, of_key=of_key, **values)

    def hint_of_key(self, name: str, keys: Sequence[str]) -> str:
        """Return the help about an unknown key: another table may have it."""
        if name in tables_with_keys():
            return f"it is a table of its own: begin it with [{name}], after the keys of this one"
        homes = (table for table, own in tables_with_keys().items() if name in own)
        hint = super().hint_of_key(name, keys)
        home = next(homes, "")
        return f"move it to [{home}]" if home and "did you mean" not in hint else hint

    def table(self, name: str) -> Tables:
        """One of its tables; empty if it has none of the name."""
        found: Tables = (self.content or {}).get(name, {})
        return found

    @cached_property
    def unit(self) -> str:
        """The unit of the task."""
        return str(self.table("task")["unit"])

    @cached_property
    def builtin(self) -> Task:
        """The built-in task of the unit."""
        return load(BUILTIN_OF.get(self.unit, self.unit))

    @cached_property
    def defaults(self) -> Any:
        """The default options of the metric."""
        return self.builtin.metric_options() if self.builtin.metric_options else None

    @cached_property
    def option_types(self) -> Mapping[str, Any]:
        """The types of the options of the metric, by name."""
        return {} if self.defaults is None else get_type_hints(type(self.defaults))

    @cached_property
    def preset(self) -> Tables:
        """The preset, as presets.toml has it; empty if there is none."""
        found: Tables = presets().get(self.table("task").get("preset", ""), {})
        return found

    @property
    def folder(self) -> FilePath:
        """The folder that its paths are relative to."""
        return FilePath(self.path).parent if not self.path.startswith("{") else FilePath()

    @cached_property
    def format(self) -> str:
        """The name of its format."""
        return str(self.table("read").get("format", self.builtin.format))

    def side(self, name: str) -> Tables:
        """The keys of `read` for a side, with those that both sides share."""
        read = self.table("read")
        shared = {key: value for key, value in read.items() if not isinstance(value, dict)}
        return {**shared, **read.get(name, {})}

    def settings(self, side: str) -> dict[str, str]:
        """The settings of the format of a side, by name, as text."""
        names = self.side(side)
        return {
            key.replace("_", "-"): setting_text(value)
            for key, value in names.items()
            if key not in READ_KEYS and key not in self.option_keys
        }

    @cached_property
    def option_keys(self) -> frozenset[str]:
        """The keys of `read` that are options of the metric, and no settings of the format."""
        names = {item.name for item in self.form("reference").settings}
        return frozenset(k for k in READ_OPTIONS if k in self.option_types and k not in names)

    def form(self, side: str) -> Summary:
        """The format of a side in short."""
        return summaries()[str(self.side(side).get("format", self.format))]

    def declared_keys(self) -> Iterator[tuple[tuple[str, str], str, object]]:
        """Each key that is an option of the metric if there is one: path, name and value.

        Of credit it is the kind: `ontology` has the rest.
        """
        for table in _TABLES:
            for key, value in self.table(table).items():
                kind = value.partition(":")[0] if key == "credit" else value
                yield (table, key), key.replace("-", "_"), kind
        for key, value in self.table("read").items():
            if key in READ_OPTIONS:
                yield ("read", key), key, value

    @cached_property
    def options(self) -> Mapping[str, object]:
        """The options of the metric that it declares, as the metric takes them."""
        declared = {name: value for _, name, value in self.declared_keys()}
        if self.labels:
            declared["declared"] = list(self.labels)
        if "map" in declared:
            declared["map"] = self.map
        if self.conf is not None:
            declared.setdefault("symmetric", list(self.conf.symmetric))
        if "also" in self.option_types:  # measures are what is beside the averages
            declared["also"] = self.parts
        for name in ("roles", "from", "by"):
            declared.pop(name, None)
        return {
            name: msgspec.convert(value, self.option_types[name])
            for name, value in declared.items()
            if name in self.option_types
        }

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """The metrics of its unit; of labels, those of names or those of numbers."""
        if self.unit != "labels":
            return self.builtin.metrics
        of_numbers = self.table("labels").get("kind") == "numbers"
        return tuple(name for name in self.builtin.metrics if (name in NUMBERS) == of_numbers)

    @property
    def parts(self) -> list[str]:
        """The measures that it wants, and what else it does; empty for all."""
        scores = self.table("scores")
        also = scores.get("also", ()) if "also" in self.option_types else ()
        return [*scores.get("measures", ()), *also]

    @property
    def option_values(self) -> dict[str, str]:
        """The values of options of the task, by name: files with their paths, and groups."""
        files = {path[1]: name for path, name in self.named_files.items()}
        options = {"evaluated": "evaluated", "ontology": "credit"}
        paths = {
            name: str(self.folder / files[key]) for name, key in options.items() if files.get(key)
        }
        # labels are always given; the measures of links know them as types, and one kind of groups
        by = self.table("scores").get("by", ())
        by = (
            [{"label": "type"}.get(name, name) for name in by[:1]]
            if self.unit == "links"
            else [name for name in by if name != "label"]
        )
        groups = {"by": ",".join(by)} if by else {}
        groups |= {"step_weight": self.ontology[1]} if self.ontology[1] else {}
        names = {option.name for option in self.builtin.options}
        return {name: value for name, value in (paths | groups).items() if name in names}

    @cached_property
    def ontology(self) -> tuple[str, str]:
        """The file of the ontology by which links are similar, and the weight of a step, as text.

        Both are empty without one.
        """
        kind, _, rest = str(self.table("match").get("credit", "")).partition(":")
        file, _, weight = rest.partition(":")
        return (file, weight) if kind == "wang" else ("", "")

    @property
    def named_files(self) -> dict[tuple[str, ...], str]:
        """The files that it names, relative to its folder, by the paths of their keys."""
        evaluated = self.table("read").get("evaluated", {})
        files = {
            ("labels", "from"): self.table("labels").get("from", ""),
            ("read", "evaluated", "path"): evaluated.get("path", "")
            if isinstance(evaluated, dict)
            else "",
            ("match", "credit"): self.ontology[0],
        }
        return {path: name for path, name in files.items() if name}

    @cached_property
    def conf(self) -> Any:
        """The annotation.conf that it names; None if it names none, or none that is there."""
        from hlteval.converters.standoff.annotation_conf import read_conf

        path = self.folder / str(self.table("labels").get("from", ""))
        return read_conf(str(path)) if "from" in self.table("labels") and path.is_file() else None

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels that it declares, or that its annotation.conf does."""
        labels = self.table("labels")
        if "declared" in labels or self.conf is None:
            return tuple(labels.get("declared", ()))
        ignored = set(labels.get("ignore", ()))
        return tuple(label for label in self.conf.labels(self.unit) if label not in ignored)

    @cached_property
    def map(self) -> Mapping[str, str]:
        """The label as which each label counts that it maps, at the end of a chain of them."""
        ends: dict[str, str] = dict(self.table("labels").get("map", {}))
        for _ in range(len(ends).bit_length()):  # each time, chains have half as many steps
            ends = {label: ends.get(end, end) for label, end in ends.items()}
        return ends

    @cached_property
    def roles(self) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        """The labels that may fill a role, by label and role."""
        own = self.table(self.unit).get("roles", {})
        if not own and self.conf is not None:
            roles: Mapping[str, Mapping[str, tuple[str, ...]]] = self.conf.roles(self.unit)
            return roles
        return {
            label: {role: tuple(types) for role, types in roles.items()}
            for label, roles in own.items()
        }

    @cached_property
    def overrides(self) -> Mapping[str, object]:
        """The keys that fill otherwise than the preset does, by name."""
        filled, free = self.preset.get("values", {}), self.preset.get("free", ())
        return {
            name: value
            for _, name, value in self.declared_keys()
            if name in filled and value != filled[name] and name not in free
        }

    @property
    def signature(self) -> dict[str, str]:
        """Its parts of a signature: its digest, and the preset with the keys that override it."""
        parts = {"declaration": sha256(self.text.encode()).hexdigest()[:16]}
        if preset := self.table("task").get("preset"):
            other = (f"+{name}={setting_text(value)}" for name, value in self.overrides.items())
            parts["preset"] = "".join([preset, *other])
        return parts


@cache
def tables_with_keys() -> Mapping[str, tuple[str, ...]]:
    """The tables of a declaration that have keys of their own, with these."""
    hints = get_type_hints(TaskFile)
    return {
        name: tuple(item.encode_name for item in msgspec.structs.fields(kind))
        for name, kind in hints.items()
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct)
    }


@cache
def presets() -> Tables:
    """The presets by name."""
    return read_tables("hlteval.scoring.generic", "presets")


def setting_text(value: object) -> str:
    """A value as a setting of a format has it.

    Examples:
        >>> setting_text(-1), setting_text(True), setting_text(["a", "b"])
        ('-1', 'yes', 'a,b')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def read_declaration(path: str) -> Declaration:
    """Read and check a declaration.

    Args:
        path: of the file; or a declaration as JSON, for those that Python makes.

    Raises:
        FileNotFoundError: if there is no such file.
        hlteval.tasks.toml_file.NotToml: if it is not one file.
    """
    from hlteval.tasks.generic.checks import check

    if path.startswith("{"):
        content = json.loads(path)
        file = Declaration(path, path, content)
        problems = tuple(file.schema_findings(content, "task", "TSK"))
        file = replace(file, findings=problems, content=None if problems else content)
    else:
        file = read_toml(path, "task", "TSK", Declaration)
    if file.content is not None:
        return replace(file, findings=(*file.findings, *check(file)))
    rest = _sound_part(file.text)
    if "unit" in rest.get("task", {}):  # what is wrong beside wrong keys is found in one run, too
        file = replace(file, findings=(*file.findings, *check(replace(file, content=rest))))
    return file


def _sound_part(text: str) -> Tables:
    """The content of a declaration without what breaks its structure."""
    try:
        content = json.loads(text) if text.startswith("{") else tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}
    for error in schema_errors("task", "task", content):
        unknown = error.keyword == "additionalProperties"
        names = set(error.given) - {*error.schema["properties"]} if unknown else ()
        # of a list, all is left out: what is wrong with an item is reported
        wrong = next((at for at, step in enumerate(error.path) if isinstance(step, int)), None)
        for path in [(*error.path, name) for name in names] if unknown else [error.path[:wrong]]:
            table: Any = content
            for step in path[:-1]:
                table = table[step] if isinstance(table, dict) else {}
            if path and isinstance(table, dict):
                table.pop(path[-1], None)
    sound: Tables = content
    return sound


def declared_task(path: str) -> Task:
    """The task that a file declares.

    Raises:
        WrongTask: if the declaration has errors.
        FileNotFoundError: if there is no such file.
    """
    if path.startswith("{"):
        return _cached_task(path, 0, 0)
    state = FilePath(path).stat()
    return _cached_task(path, state.st_mtime_ns, state.st_size)


@cache
def _cached_task(path: str, time: int, size: int) -> Task:  # noqa: ARG001 - of this state of the file
    """The task of a file as it is at a time."""
    file = read_declaration(path)
    if any(item.severity == Severity.ERROR for item in file.findings):
        raise WrongTask(file.findings)
    return make_task(file)


def task(declaration: str | os.PathLike[str] | None = None, **keys: object) -> Task:
    """A task that a file declares, or that keywords do: the keys of its table `task`, and tables.

    It goes wherever the name of a task goes.

    Args:
        declaration: path of the file.
        **keys: what the file would have.

    Raises:
        WrongTask: a ValueError, for a declaration with errors; its `findings` are all of them.
        TypeError: for a file and keywords, or neither.

    Examples:
        >>> people = task(unit="mentions", name="people", labels={"declared": ["Person"]})
        >>> people.display_name, people.primary["plan"]
        ('people', 'micro.f1')
    """
    if (declaration is None) != bool(keys):
        raise TypeError("task(): expected the path of a declaration, or its keys as keywords")
    if declaration is not None:
        return declared_task(os.fspath(declaration))
    about = {item.encode_name for item in msgspec.structs.fields(TaskTable)}
    content: dict[str, object] = {"task": {k: keys[k] for k in keys if k in about}}
    content |= {key: value for key, value in keys.items() if key not in about}
    return declared_task(json.dumps(content, ensure_ascii=False))


def make_task(file: Declaration) -> Task:
    """The task of a declaration without errors."""
    about, labels, builtin = file.table("task"), file.table("labels"), file.builtin
    options = None if file.defaults is None else replace(file.defaults, **file.options)
    scores, preset = file.table("scores"), about.get("preset", "")
    computed = computed_metrics(file)
    primary = scores.get("primary") or builtin.primary["plan"]
    if primary not in computed:  # of the averages that are computed, the first
        last = primary.rpartition(".")[2]
        alike = (name for name in computed if name.rpartition(".")[2] == last)
        primary = next(alike, computed[0])
    own = {name: about[name] for name in ("title", "specification") if name in about}
    allowed = Allowed(
        labels=file.labels,
        ignored=tuple(labels.get("ignore", ())),
        unit=builtin.name,
        roles=file.roles,
        at_most=file.table(file.unit).get("at_most", {}),
        undeclared=labels.get("undeclared", "error"),
        documents=file.table("read").get("documents", "both"),
        several="separator" in file.settings("system"),
        **{name: labels[name] for name in ("kind", "range") if name in labels} | {"map": file.map},
    )
    reference = str(file.side("reference").get("format", ""))
    system = str(file.side("system").get("format", file.format))
    passed, refused = frozenset(file.preset.get("passes", ())), frozenset[str]()
    if getattr(options, "mode", "") == "strict":
        passed, refused = refused, passed
    return msgspec.structs.replace(
        builtin,
        name=file.path,
        called=about.get("name") or FilePath(file.path).name.removesuffix(SUFFIX),
        signed=file.signature,
        **own,
        format=system,
        submitted=() if "format" in file.table("read") else builtin.submitted,
        references=(reference,) if reference else builtin.references,
        submission_suffixes=tuple(file.table("read").get("suffixes", builtin.submission_suffixes)),
        submission_settings={**builtin.submission_settings, **file.settings("system")},
        reference_settings={**builtin.reference_settings, **file.settings("reference")},
        scored_documents=allowed.documents,
        metric=partial(_metric, file=file, metric=builtin.metric),
        metric_options=None if options is None else partial(replace, options),
        primary={"plan": primary} | ({"official": primary} if preset else {}),
        schema=partial(replace, allowed),
        schema_for=builtin.schema_for and partial(with_kind, allowed=allowed),
        agreement=partial(_agreement, builtin.agreement, primary, file.table("agreement")),
        official_ignores=partial(has_code, codes=_IGNORED | passed) if preset else None,
        official_crashes_on=frozenset(file.preset.get("crashes", ())) | refused,
        official_settings=file.preset.get("settings", {}),
        option_defaults=file.option_values,
        measures=tuple(
            item
            for item in builtin.measures
            if any(name.startswith(f"{item.name}.") for name in computed)
        ),
        statistics=tuple(
            item for item in builtin.statistics if builtin.measures or item.name in computed
        ),
    )


def _agreement(builtin: Callable[[], Agreement] | None, primary: str, own: Tables) -> Agreement:
    """The agreement of annotators: the units of the built-in task, or the one that is declared."""
    from hlteval.tasks.agreement import Agreement

    known = builtin() if builtin else Agreement()
    wanted = own.get("unit", "")
    units = tuple(unit for unit in known.units if wanted in {"", unit.name})
    if primary in NUMBERS:
        return replace(known, measures=(primary,))
    measures = tuple(dict.fromkeys((primary, *known.measures)))
    if own.get("coefficient") == "f1":
        return replace(known, units=(), measures=measures, why="the declaration asks for none")
    return replace(known, units=units, measures=measures)


def _metric(profile: str, options: Any, *, file: Declaration, metric: Any) -> Metric:
    """The metric of a profile; a preset fills what is open in the profile `official`."""
    if profile == "official":
        names = {item.name for item in fields(options)}
        filled = {**file.preset.get("values", {}), "preset": file.table("task")["preset"]}
        missing = filled.keys() & names - file.options.keys()
        values = {n: msgspec.convert(filled[n], file.option_types[n]) for n in missing}
        options = replace(options, **values)
        metric = resolve(file.preset["metric"]) if "metric" in file.preset else metric
    made: Metric = metric(profile, options)
    return made


def computed_metrics(file: Declaration) -> tuple[str, ...]:
    """The metrics of the unit that are computed with the declared averages and measures."""
    scores = file.table("scores")
    averages = scores.get("average", getattr(file.defaults, "average", AVERAGES))
    chosen = file.parts
    return tuple(
        name
        for name in file.metrics
        if (
            first in averages
            if (first := name.partition(".")[0]) in AVERAGES
            else not chosen or first in chosen
        )
    )
