"""Checks of declarations beyond their structure: all findings of a file, each at its place."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import get_args

import msgspec

from hlteval.converters import Summary, summaries
from hlteval.findings import Finding
from hlteval.findings.suggest import did_you_mean
from hlteval.tasks import task_names
from hlteval.tasks.generic.declaration import (
    AVERAGES,
    READ_KEYS,
    READ_OPTIONS,
    Declaration,
    computed_metrics,
    presets,
    setting_text,
)
from hlteval.tasks.generic.task_file import Average
from hlteval.tasks.options import to_number

#: The ways to compare spans that have a threshold, and those that have partial credit.
_SHARES: Mapping[str, tuple[str, ...]] = {
    "threshold": ("overlap", "iou"),
    "credit": ("overlap", "iou", "contains"),
}
#: Keys that rules, tables or reports use, and no metric needs.
_USED = frozenset(
    {
        *(("labels", key) for key in ("declared", "from", "ignore", "undeclared")),
        *((table, key) for table in ("relations", "events") for key in ("roles", "at_most")),
        *(("scores", key) for key in ("primary", "by", "average", "measures")),
    }
)
#: Keys without effect where labels are numbers.
_OF_NAMES = frozenset(
    {
        *("declared", "from", "undeclared", "parents", "threshold"),
        *("average", "average_labels", "macro_over", "undefined"),
    }
)
#: Other names of schemes of tags.
_SCHEMES: Mapping[str, str] = {"BIO": "IOB2", "IOB": "IOB1", "BIOES": "IOBES", "BILUO": "BILOU"}
#: The most names that a hint lists.
_SHOWN = 8
#: The tables of units: that of another unit has no effect.
_OF_UNITS = ("relations", "events")


def check(file: Declaration) -> Iterator[Finding]:
    """Yield the findings of a declaration whose structure is right."""
    read_well = []
    for item in _read(file):
        read_well.append(item)
        yield item
    if (name := file.table("task").get("name", "")) in task_names():
        yield file.finding("TSK117", "task", "name", name=name)
    yield from _preset(file)
    yield from _files(file)
    yield from _labels(file)
    yield from _scores(file)
    yield from _weight(file)
    yield from _agreement(file)
    if not any(item.blocking for item in read_well):
        yield from _effects(file)
    if file.conf is not None:
        yield from file.conf.findings(file.unit)
        if not file.conf.labels(file.unit) and "declared" not in file.table("labels"):
            yield file.conf.empty(file.unit)


def _preset(file: Declaration) -> Iterator[Finding]:
    """Yield the findings about the preset, and about keys that differ from it."""
    name = file.table("task").get("preset", "")
    units = {preset: table["unit"] for preset, table in presets().items()}
    fitting = [preset for preset, unit in units.items() if unit == file.unit]
    hint = f"presets for {file.unit}: {', '.join(fitting)}" if fitting else "remove the key"
    if name and name not in units:
        hint = did_you_mean(name, fitting, hint)
        yield file.finding("TSK106", "task", "preset", reason=f"unknown preset {name}", hint=hint)
    elif name and file.unit == "labels" and _kind(file) == "numbers":
        reason = f"preset {name} scores names, not numbers"
        yield file.finding("TSK106", "task", "preset", reason=reason, hint="remove the key")
    elif name and units[name] != file.unit:
        reason = f"preset {name} scores {units[name]}, not {file.unit}"
        yield file.finding("TSK106", "task", "preset", reason=reason, hint=hint)
    if "mode" in file.table("read") and "mode" not in file.preset.get("values", {}):
        yield _no_effect(file, "read", "mode", "without a preset that has modes")
    for path, key, value in file.declared_keys():
        if key in file.overrides and path[1].replace("-", "_") == key:
            due = file.preset["values"][key]
            yield file.finding(
                "TSK110", *path, key=key, given=_notation(value), preset=name, due=_notation(due)
            )


def _notation(value: object) -> str:
    """A value as TOML has it, for messages."""
    return f'"{value}"' if isinstance(value, str) else setting_text(value)


def _read(file: Declaration) -> Iterator[Finding]:
    """Yield the findings about formats, and their settings."""
    table = file.builtin.scored_table
    units = "units" if file.unit == "clusters" else file.unit
    fitting = [name for name, form in summaries().items() if table in form.tables and form.reads]
    usual = dict.fromkeys((file.builtin.format, *file.builtin.submitted))
    hint = f"formats with {units}: {', '.join(usual)}"
    for side in ("", *({"reference", "system"} & file.table("read").keys())):
        own = file.table("read").get(side, {}) if side else file.table("read")
        path = ("read", side) if side else ("read",)
        if not isinstance(own, dict):
            reason = f"read.{side} is not a table"
            due = (
                f'write {side} = {{ format = "{own}" }}' if isinstance(own, str) else "use a table"
            )
            yield file.finding("TSK108", *path, reason=reason, hint=due)
            continue
        name = str(own.get("format", file.format))
        if name not in summaries():
            if side and "format" not in own:
                continue
            meant = did_you_mean(name, summaries(), hint)
            reason = f"unknown format {name}"
            yield file.finding("TSK107", *path, "format", reason=reason, hint=meant)
            continue
        if "format" in own and name not in fitting:
            reason = f"{name} has no {units}"
            yield file.finding("TSK107", *path, "format", reason=reason, hint=hint)
            continue
        yield from _settings(file, path, own, name)


def _settings(
    file: Declaration, path: Sequence[str], own: Mapping[str, object], name: str
) -> Iterator[Finding]:
    """Yield the findings about the settings of a format."""
    form: Summary = summaries()[name]
    settings = {item.name: item for item in form.settings if item.of == "read"}
    for key, value in own.items():
        flag = key.replace("_", "-")
        if key == "documents" and (len(path) > 1 or value not in ("both", "reference")):
            reason = "documents is a key of [read]" if len(path) > 1 else _unknown(key, value)
            hint = f'write documents = "both" or "reference"{" there" if len(path) > 1 else ""}'
            yield file.finding("TSK108", *path, key, reason=reason, hint=hint)
        if key in READ_KEYS or (key in READ_OPTIONS and key in file.option_types):
            continue
        if isinstance(value, dict) or flag not in settings:
            names = [*settings, *READ_KEYS]
            listed = f"{name} has {', '.join(settings) or 'no settings'}"
            hint = did_you_mean(flag, names, listed)
            reason = f"unknown setting {key} of the format {name}"
            yield file.finding("TSK108", *path, key, of_key=True, reason=reason, hint=hint)
            continue
        choices, text = settings[flag].choices, setting_text(value)
        if choices and text not in choices:
            hint = did_you_mean(text, choices, f"use {', '.join(choices)}")
            hint = f"use {_SCHEMES[text]}" if text in _SCHEMES else hint
            yield file.finding("TSK108", *path, key, reason=_unknown(key, value), hint=hint)


def _unknown(key: str, value: object) -> str:
    return f"{key}: unknown value {_notation(value)}"


def _files(file: Declaration) -> Iterator[Finding]:
    """Yield the findings about files that are not there, or outside of the folder."""
    evaluated = file.table("read").get("evaluated", {})
    if not isinstance(evaluated, dict):
        place, key = ("read", "evaluated"), "read.evaluated"
        wanted = 'a table, such as { format = "uem", path = "all.uem" }'
        yield file.finding("TSK103", *place, key=key, given="text", wanted=wanted)
    elif evaluated.get("format", "uem") != "uem":
        reason = f"evaluated stretches are no {evaluated['format']}"
        hint = 'use format = "uem"'
        yield file.finding("TSK107", "read", "evaluated", "format", reason=reason, hint=hint)
    for path, name in file.named_files.items():
        outside = PurePath(name).is_absolute() or ".." in PurePath(name).parts
        if outside:
            reason = f"{name} is outside of the folder of the declaration"
            hint = "put it into the folder, and write the path from there, without .."
            yield file.finding("TSK116", *path, reason=reason, hint=hint)
        elif not (file.folder / name).is_file():
            kind = "not a file" if (file.folder / name).is_dir() else "no such file"
            reason, hint = f"{kind}: {name}", "write the path relative to the declaration"
            yield file.finding("TSK116", *path, reason=reason, hint=hint)


def _labels(file: Declaration) -> Iterator[Finding]:
    """Yield the findings about labels that contradict each other."""
    labels = file.table("labels")
    declared, ignored = set(file.labels), set(labels.get("ignore", ()))
    own = labels.get("declared", ())
    for at, label in enumerate(own):
        if label in ignored:
            reason = f"label {label} is in declared and ignore"
            hint = "remove it from one of them"
            yield file.finding("TSK112", "labels", "declared", at, reason=reason, hint=hint)
    if "declared" in labels and "from" in labels:
        hint = "remove it, or declared"
        yield file.finding(
            "TSK109", "labels", "from", of_key=True, key="from", reason="beside declared", hint=hint
        )
    for name in ("map", "parents"):
        yield from _cycles(file, name, labels.get(name, {}))
    for source, target in labels.get("map", {}).items():
        if source in declared:
            reason = f"label {source} is declared, and mapped to {target}"
            hint = f"remove {source} from declared: it never counts"
            yield file.finding("TSK112", "labels", "map", source, reason=reason, hint=hint)
        elif source in ignored:
            reason = f"label {source} is in map and ignore"
            hint = f"remove it from one of them; it counts as {target}"
            yield file.finding("TSK112", "labels", "map", source, reason=reason, hint=hint)
        elif declared and target not in declared | ignored | labels["map"].keys():
            yield _of_no_label(file, target, "labels", "map", source)
    yield from _of_labels(file, declared)


def _of_labels(file: Declaration, declared: set[str]) -> Iterator[Finding]:
    """Yield the findings about undeclared labels in other tables."""
    if not declared:
        return
    for at, label in enumerate(file.table("scores").get("average_labels", ())):
        if label not in declared:
            yield _of_no_label(file, label, "scores", "average_labels", at)
    frames = file.table(file.unit) if file.unit in _OF_UNITS else {}
    for at, label in enumerate(frames.get("symmetric", ())):
        if label not in declared:
            yield _of_no_label(file, label, file.unit, "symmetric", at)
    for key in ("roles", "at_most"):
        for label in frames.get(key, {}):
            if label not in declared:
                yield _of_no_label(file, label, file.unit, key, label, of_key=True)


def _of_no_label(file: Declaration, label: str, *path: str | int, of_key: bool = False) -> Finding:
    """Return the finding about an undeclared label."""
    hint = did_you_mean(label, file.labels, f"declare it, or use {', '.join(file.labels[:_SHOWN])}")
    where = ".".join(str(part) for part in path[:2])
    reason = f"label {label} of {where} is not declared"
    return file.finding("TSK112", *path, of_key=of_key, reason=reason, hint=hint)


def _cycles(file: Declaration, name: str, steps: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the finding about each cycle of labels, at its first step."""
    known: set[str] = set()
    for first in steps:
        chain_of, label = [first], steps[first]
        while label in steps and label not in chain_of and label not in known:
            chain_of.append(label)
            label = steps[label]
        if label in chain_of and label not in known:
            cycle = " -> ".join([*chain_of[chain_of.index(label) :], label])
            yield file.finding("TSK113", "labels", name, label, key=name, cycle=cycle)
        known |= {*chain_of}


def _scores(file: Declaration) -> Iterator[Finding]:
    """Yield the findings about measures, averages and the metric that ranks."""
    scores, match = file.table("scores"), file.table("match")
    metrics, computed = file.metrics, computed_metrics(file)
    averages = set(scores.get("average", ()))
    names = [n for n in dict.fromkeys(n.partition(".")[0] for n in metrics) if n not in AVERAGES]
    for key in ("measures", "also"):
        for at, name in enumerate(scores.get(key, ())):
            if name not in names:
                hint = did_you_mean(
                    name, names, f"use {', '.join(names)}" if names else "remove it"
                )
                if name in file.builtin.metrics:  # of labels of the other kind
                    other = {"names": "numbers", "numbers": "names"}[_kind(file)]
                    hint = f'declare kind = "{other}" in [labels], or {hint}'
                path, problem = ("scores", key, at), f"unknown measure {name}"
                yield file.finding("TSK105", *path, key=key, problem=problem, hint=hint)
    known = [name for name in get_args(Average) if f"{name}.f1" in metrics]
    for at, name in enumerate(scores.get("average", ())):
        if known and name not in known and name in AVERAGES:
            problem = f"there is no average {name} of {file.unit}"
            hint, path = f"use {', '.join(known)}", ("scores", "average", at)
            yield file.finding("TSK105", *path, key="average", problem=problem, hint=hint)
    primary = scores.get("primary", "")
    if primary and primary not in metrics:
        alike = [name for name in metrics if name.endswith(f".{primary}")]
        listed = ", ".join((alike or metrics)[:_SHOWN])
        hint = did_you_mean(primary, metrics, f"use a metric of the unit, such as {listed}")
        yield file.finding("TSK114", "scores", "primary", name=primary, reason="", hint=hint)
    elif primary and primary not in computed:
        first = primary.partition(".")[0]
        table = "average" if first in AVERAGES else "measures"
        reason, hint = f"; {table} has no {first}", f'add "{first}" to {table}'
        yield file.finding("TSK114", "scores", "primary", name=primary, reason=reason, hint=hint)
    if (
        scores.get("macro_over") == "declared"
        and not file.labels
        and "from" not in file.table("labels")
    ):
        yield file.finding("TSK115", "scores", "macro_over", key="macro_over")
    if averages and "macro" not in averages and "macro_over" in scores:
        yield _no_effect(file, "scores", "macro_over", "without the average macro", "add it")
    extent = file.table("labels").get("range", ())
    if extent and not extent[0] <= extent[1]:
        problem, hint = "the first number is the least", "exchange the two"
        yield file.finding("TSK105", "labels", "range", key="range", problem=problem, hint=hint)
    threshold = match.get("threshold")
    if threshold is not None and not 0 < threshold <= 1:
        yield file.finding("TSK111", "match", "threshold", given=threshold)


def _weight(file: Declaration) -> Iterator[Finding]:
    """Yield the finding about the weight of a step in an ontology."""
    weight = file.ontology[1]
    if weight and not 0 < to_number(weight) < 1:
        problem = f"the weight {weight} is not a number between 0 and 1"
        hint = f"write wang:{file.ontology[0]}:0.65, or leave the weight out for 0.65"
        yield file.finding(
            "TSK105", "match", "credit", key="match.credit", problem=problem, hint=hint
        )


def _no_effect(file: Declaration, table: str, key: str, reason: str, other: str = "") -> Finding:
    """Return the finding about a key without effect."""
    hint = f"remove it, or {other}" if other else "remove it"
    return file.finding("TSK109", table, key, of_key=True, key=key, reason=reason, hint=hint)


def _effects(file: Declaration) -> Iterator[Finding]:
    """Yield the findings about keys without effect."""
    types = file.option_types
    for name in _OF_UNITS:
        if file.table(name) and name != file.unit:
            reason = f"where the unit is {file.unit}"
            yield file.finding(
                "TSK109", name, of_key=True, key=f"[{name}]", reason=reason, hint="remove it"
            )
    for path, name, value in file.declared_keys():
        if path[0] in _OF_UNITS and path[0] != file.unit:
            continue
        if name in types and name != "by":
            yield from _value(file, path, value, types[name])
        usual = (name, value) == ("span", "exact")  # which all units compare that have spans
        if name not in types and path not in _USED and path[0] != "read" and not usual:
            yield _no_effect(file, *path, f"on {file.unit}")
    yield from _of_kind(file)
    evaluated = file.table("read").get("evaluated")
    known = {option.name for option in file.builtin.options}
    if isinstance(evaluated, dict) and "path" in evaluated and "evaluated" not in known:
        yield _no_effect(file, "read", "evaluated", f"on {file.unit}")
    if "span" in types:
        yield from _of_pairs(file)
    by = file.table("scores").get("by", ())
    if file.unit == "links" and len(by) > 1:
        only = f'beside by = ["{by[0]}"]: the measures of links are given by one'
        yield file.finding(
            "TSK109", "scores", "by", 1, key=f'by "{by[1]}"', reason=only, hint="remove it"
        )
    elif "label" in by and not (file.unit == "links" or "declared" in types):
        at, reason = by.index("label"), f"on {file.unit}, which have none"
        hint = "remove it, or use document"
        yield file.finding("TSK109", "scores", "by", at, key='by "label"', reason=reason, hint=hint)
    labels = file.table("labels")
    if "undeclared" in labels and not file.labels and "from" not in labels:
        yield _no_effect(file, "labels", "undeclared", "without declared labels", "add declared")


def _kind(file: Declaration) -> str:
    """Return whether its labels are names or numbers."""
    return str(file.table("labels").get("kind", "names"))


def _of_kind(file: Declaration) -> Iterator[Finding]:
    """Yield the findings about keys of names where labels are numbers, and the reverse."""
    numbers = file.unit == "labels" and _kind(file) == "numbers"
    for path, name, _ in file.declared_keys():
        if numbers and name in _OF_NAMES:
            yield _no_effect(file, *path, 'with kind = "numbers"')
    if not numbers and file.unit == "labels" and "range" in file.table("labels"):
        yield _no_effect(file, "labels", "range", "without numbers", 'add kind = "numbers"')
    for key in file.table("agreement") if numbers else ():
        yield _no_effect(file, "agreement", key, 'with kind = "numbers"')
    if numbers and "label" in (by := file.table("scores").get("by", ())):
        key, reason = 'by "label"', 'with kind = "numbers"'
        at = by.index("label")
        yield file.finding("TSK109", "scores", "by", at, key=key, reason=reason, hint="remove it")


def _agreement(file: Declaration) -> Iterator[Finding]:
    """Yield the finding about a unit of agreement that annotators of the task do not judge."""
    unit, builtin = file.table("agreement").get("unit", ""), file.builtin.agreement
    of_names = (each for each in (builtin().units if builtin else ()) if each.scale == "nominal")
    known = [each.name for each in of_names]
    if unit and _kind(file) == "names" and unit not in known:
        problem = f"{_notation(unit)} is not known for {file.unit}"
        hint = did_you_mean(unit, known, f"use {', '.join(known)}" if known else "remove the key")
        yield file.finding(
            "TSK105", "agreement", "unit", key="agreement.unit", problem=problem, hint=hint
        )


def _of_pairs(file: Declaration) -> Iterator[Finding]:
    """Yield the findings about what decides nothing about pairs of spans."""
    match = {**file.preset.get("values", {}), **file.table("match")}
    span, label = match.get("span", file.defaults.span), match.get("label", "equal")
    for key, spans in _SHARES.items():
        if key in file.table("match") and key in file.option_types and span not in spans:
            yield _no_effect(file, "match", key, f'with span = "{span}"', 'use span = "iou"')
    if "pairing" in file.option_types and "preset" not in file.table("task"):
        pairing = match.get("pairing", "set")
        if pairing != "set" and (span, label) == ("exact", "equal"):
            reason = "where spans and labels are equal"
            yield _no_effect(file, "match", "pairing", reason, 'use span = "overlap"')
        elif "pairing" in match and pairing == "set" and span in _SHARES["credit"]:
            yield _no_effect(file, "match", "pairing", f'with span = "{span}"', 'use "optimal"')
    if (
        "label" in file.option_types
        and label == "ancestor"
        and "parents" not in file.table("labels")
    ):
        yield _no_effect(file, "match", "label", "without [labels] parents", "add them")


def _value(
    file: Declaration, path: tuple[str, str], value: object, kind: object
) -> Iterator[Finding]:
    """Yield the finding about a value that the unit does not know, but others do."""
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        written = {"wang": "wang:FILE:0.65"}
        names = (written.get(each, each) for each in get_args(kind))
        known = ", ".join(str(each) for each in names if isinstance(each, str | int))
        problem = f"{_notation(value)} is not known for {file.unit}"
        hint = f"use {known}" if known else "correct the value"
        hint = f"use {_SCHEMES[str(value)]}" if str(value) in _SCHEMES else hint
        yield file.finding("TSK105", *path, key=".".join(path), problem=problem, hint=hint)
