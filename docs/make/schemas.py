"""The files of hlteval/reports/schemas, made of the classes that declare the outputs.

A class gives the types; the section `Attributes` of its docstring says what its members mean.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_type_hints

import msgspec
import polars as pl

from docs.make.schema_outputs import FolderDefaults, RefusalOutput, VerdictOutput
from hlteval import grammars
from hlteval.extensions import resolve
from hlteval.findings import Findings, Item
from hlteval.reports.lists import SCHEMAS, Schema
from hlteval.results.evaluation import (
    Campaign,
    CampaignTask,
    Condition,
    Ensemble,
    Evaluation,
    Limit,
    Listed,
    TaskSettings,
    Team,
)
from hlteval.results.systems import Interval, RefusedSystem
from hlteval.results.verdict import Counts, Output, OverVerdict, Profile
from hlteval.tasks.generic import task_file

FOLDER = Path(__file__).parents[2] / "hlteval" / "reports" / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_SCHEMA = "Name of the schema of this object."
_VERSION = "Version of the schema; any change of what this object can contain raises it."
_ATTRIBUTE = re.compile(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", re.M)
_HEADED = {schema.shape.partition(":")[2]: schema for schema in SCHEMAS.values() if schema.headed}

_Cell = str | float | bool | list[str | float | bool | None] | None
"""A value in a row of a table."""
_AS_JSON: Mapping[Any, Any] = {
    Findings: tuple[Item, ...],
    dict[str, dict[str, int]]: Counts,
    dict[str, RefusedSystem]: Mapping[str, RefusalOutput],
    Mapping[str, tuple[float, float]]: Mapping[str, Interval],
    Mapping[str, pl.DataFrame]: Mapping[str, tuple[Mapping[str, _Cell], ...]],
}
"""The types of members in JSON that are others than those of the results."""
_TABLES: Mapping[str, Mapping[str, type]] = {
    "config": {"config": FolderDefaults},
    "task": {
        "task": task_file.TaskFile,
        "about": task_file.TaskTable,
        "labels": task_file.LabelTable,
        "match": task_file.MatchTable,
        "frames": task_file.FrameTable,
        "scores": task_file.ScoreTable,
        "agreement": task_file.AgreementTable,
    },
    "campaign": {"campaign": Campaign, "task": CampaignTask, "condition": Condition},
    "manifest": {
        "manifest": Evaluation,
        "task": TaskSettings,
        "team": Team,
        "limit": Limit,
        "submission": Listed,
        "ensemble": Ensemble,
    },
}
"""The classes of the tables of files that people write, by grammar and definition."""


_SUMMARIES: Mapping[str, str] = {
    "Conversion": "What a conversion read, wrote and lost.",
    "Defaults": "What a command took from a file of defaults.",
    "Inspection": "What an archive, a folder or a file is, without a reference.",
    "Judgment": "What one annotator says of a unit.",
    "Loss": "What the output format cannot represent.",
}
"""The descriptions of classes that are others than the first sentence of their docstrings."""


def files() -> dict[str, str]:
    """The text of each file by its name.

    Examples:
        >>> json.loads(files()["scores-1.schema.json"])["title"]
        'Scores of a submission'
    """
    return {
        schema.file: json.dumps(made(schema), indent=1, ensure_ascii=False) + "\n"
        for schema in SCHEMAS.values()
    }


def made(schema: Schema) -> dict[str, Any]:
    """A schema as JSON Schema, draft 2020-12."""
    first = {"$schema": DIALECT, "$id": schema.id, "title": schema.title}
    if schema.grammar:
        definitions = _of_grammar(schema.grammar)
        return {
            **first,
            "description": f"It describes: {'; '.join(schema.of)}.",
            "$ref": f"#/definitions/{schema.grammar}",
            "definitions": definitions,
        }
    whole = _of_output(schema)
    return {**first, **json.loads(json.dumps(whole).replace("#/$defs/Item", "#/$defs/Finding"))}


def _of_grammar(name: str) -> dict[str, Any]:
    """The definitions of a grammar, with what the keys mean."""
    found: dict[str, Any] = {}
    for part, own in grammars.schema(name)["definitions"].items():
        kind = _TABLES[name].get(part)
        found[part] = {**own, **_described(own, kind)} if kind else own
    return found


def _described(own: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """The description of a table, and its keys with theirs."""
    meanings = {name.rstrip("_").replace("_", "-"): text for name, text in _meanings(kind).items()}
    keys = own["properties"].items()
    properties = {
        name: {"description": meanings[name.replace("_", "-")], **value} for name, value in keys
    }
    return {"description": _summary(kind), "properties": properties}


def _of_output(schema: Schema) -> dict[str, Any]:
    """The schema of an output, from its class and those of its parts."""
    shape = _shape(resolve(_path(schema.shape)))
    (_,), parts = msgspec.json.schema_components([shape], ref_template="#/$defs/{name}")
    done = {
        name: _part(part, kind, schema)
        for (name, part), kind in zip(parts.items(), _kinds(shape, parts), strict=True)
    }
    own = done.pop(shape.__name__)
    own["description"] = f"{own['description']} It describes: {'; '.join(schema.of)}."
    if "Item" in done:
        done["Finding"] = done.pop("Item")
    more = {"$defs": dict(sorted(done.items()))} if done else {}
    return {**own, **more}


def _path(shape: str) -> str:
    """Where a class is: of a result, or of an output that is declared beside this module."""
    return shape if shape.startswith("docs.") else f"hlteval.{shape}"


def _shape(kind: type) -> type:
    """The class of an output: of a result, one whose fields are the members of its JSON."""
    if not issubclass(kind, Output):
        return kind
    hints, text, fields = get_type_hints(kind, include_extras=True), inspect.getdoc(kind), []
    names = kind.json_members or kind.__struct_fields__
    # Schemas have the counts of findings before the findings, wherever an output has them.
    for name in sorted(names, key=lambda name: name == "findings" and "counts" in names):
        derived = getattr(kind, f"member_{name}", None) or getattr(kind, name)
        if isinstance(derived, property):
            hints[name] = get_type_hints(derived.fget, include_extras=True)["return"]
            text = f"{text}\n    {name}: {_summary(derived)}"
        hint = Profile if name == "profile" else hints[name]
        fields.append((name, _AS_JSON.get(hint, hint)))
    bases = (VerdictOutput if issubclass(kind, OverVerdict) else msgspec.Struct,)
    return msgspec.defstruct(
        kind.__name__, fields, bases=bases, namespace={"__doc__": text}, kw_only=True
    )


def _kinds(shape: type, parts: Mapping[str, Any]) -> Iterator[type]:
    """The classes of the parts of a schema, found below the class of the whole."""
    found: dict[str, type] = {}
    _collect(msgspec.inspect.type_info(shape), found)
    return (found[name] for name in parts)


def _collect(info: Any, found: dict[str, type]) -> None:
    kind = getattr(info, "cls", None)
    if kind is not None:
        if kind.__name__ in found:
            return
        found[kind.__name__] = kind
    for name in ("fields", "types", "item_types"):
        for inner in getattr(info, name, ()):
            _collect(getattr(inner, "type", inner), found)
    for name in ("item_type", "key_type", "value_type", "type"):
        if (inner := getattr(info, name, None)) is not None:
            _collect(inner, found)


def _part(part: dict[str, Any], kind: type, schema: Schema) -> dict[str, Any]:
    """A definition with descriptions, closed to other members; all are required but optional."""
    summary = _summary(kind)
    if not issubclass(kind, msgspec.Struct):
        return {**part, "description": summary}
    meanings = _meanings(kind)
    names = {field.name: field.encode_name for field in msgspec.structs.fields(kind)}
    properties: dict[str, Any] = {}
    for name, written in names.items():
        own = {key: value for key, value in part["properties"][written].items() if key != "default"}
        properties[written] = {"description": meanings[name], **own}
    optional = {names[name] for name in _optional(kind)}
    required = [name for name in properties if name not in optional]
    if (headed := _HEADED.get(kind.__name__)) and (headed is schema or kind.__name__ != "Item"):
        first = {
            "schema": {"description": _SCHEMA, "const": headed.name},
            "version": {"description": _VERSION, "const": headed.version},
        }
        properties, required = {**first, **properties}, [*first, *required]
    return {
        "description": summary,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _summary(kind: object) -> str:
    """What a class is, in a sentence."""
    sentence = (inspect.getdoc(kind) or "").partition("\n\n")[0].replace("\n", " ")
    return _SUMMARIES.get(getattr(kind, "__name__", ""), sentence)


def _optional(kind: type[msgspec.Struct]) -> Iterator[str]:
    """The members that an object need not have."""
    hints = get_type_hints(kind, include_extras=True)
    for field in msgspec.structs.fields(kind):
        unset = msgspec.UnsetType in getattr(hints[field.name], "__args__", ())
        if unset or (kind.__struct_config__.omit_defaults and not field.required):
            yield field.name


def _meanings(kind: type) -> dict[str, str]:
    """What the members of a class mean, from its docstring and those that it extends."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        _, _, section = (inspect.getdoc(base) or "").partition("\nAttributes:\n")
        for name, text in _ATTRIBUTE.findall(section.partition("\nExamples:")[0]):
            words = re.sub(r"\bNone\b", "null", " ".join(text.split()).rstrip("."))
            found[name] = f"{words[:1].upper()}{words[1:]}."
    return found
