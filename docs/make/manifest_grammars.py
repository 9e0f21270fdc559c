"""The schemas of manifests in grammars/, made of the classes that declare what manifests have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from hlteval.results.evaluation import (
    Campaign,
    CampaignTask,
    Condition,
    Ensemble,
    Evaluation,
    Limit,
    Listed,
    Name,
    Names,
    Part,
    Paths,
    Profiles,
    SomeNames,
    TaskSettings,
    Team,
)
from hlteval.results.packages import Phase, Positive, Publication
from hlteval.tasks.generic import task_file

GRAMMARS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "manifest": (
        "Manifest of an evaluation",
        {
            "name": Name,
            "names": Names,
            "paths": Paths,
            "team": Team,
            "task": TaskSettings,
            "part": Part,
            "limit": Limit,
            "submission": Listed,
            "ensemble": Ensemble,
            "manifest": Evaluation,
        },
    ),
    "campaign": (
        "Manifest of a campaign",
        {
            "name": Name,
            "names": SomeNames,
            "profiles": Profiles,
            "condition": Condition,
            "task": CampaignTask,
            "campaign": Campaign,
        },
    ),
    "publish": (
        "Settings of a competition",
        {
            "name": Name,
            "names": SomeNames,
            "count": Positive,
            "phase": Phase,
            "publish": Publication,
        },
    ),
    "task": (
        "Declaration of a task",
        {
            "name": task_file.Name,
            "names": task_file.Names,
            "some_names": task_file.SomeNames,
            "about": task_file.TaskTable,
            "labels": task_file.LabelTable,
            "match": task_file.MatchTable,
            "frames": task_file.FrameTable,
            "scores": task_file.ScoreTable,
            "agreement": task_file.AgreementTable,
            "task": task_file.TaskFile,
        },
    ),
}
"""The title and the definitions of each schema: types and classes by name."""
_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean"}
_WIDTH = 100


def text(name: str) -> str:
    """The text of a schema.

    Examples:
        >>> json.loads(text("campaign"))["definitions"]["name"]
        {'type': 'string', 'minLength': 1}
    """
    title, kinds = GRAMMARS[name]
    definitions = {part: _schema(kind, kinds, part) for part, kind in kinds.items()}
    return _layout({"title": title, "definitions": definitions}) + "\n"


def _schema(kind: Any, known: Mapping[str, Any], of: str = "") -> dict[str, Any]:
    """The schema of a type; a type with a name is a reference, but where its definition is made."""
    for name, other in known.items():
        if kind == other and name != of:
            return {"$ref": f"#/definitions/{name}"}
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return _table(kind, known)
    origin, parts = get_origin(kind), get_args(kind)
    made: dict[str, Any] = {"type": _PLAIN.get(kind, "object")}
    if origin is Annotated:
        made = _schema(parts[0], known) | _limits(parts[1])
    elif origin is Literal:
        made = {"enum": list(parts)}
    elif origin is tuple:
        made = {"type": "array", "items": _schema(parts[0], known)}
    elif origin in {Union, UnionType}:
        each = [_schema(part, known) for part in parts if part is not NoneType]
        made = {"oneOf": each} if len(each) > 1 else each[0]
    elif parts and parts[1] is not object:
        made["additionalProperties"] = _schema(parts[1], known)
    return made


def _table(kind: type[msgspec.Struct], known: Mapping[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    fields = msgspec.structs.fields(kind)
    required = [field.encode_name for field in fields if field.required]
    return {
        "type": "object",
        "additionalProperties": False,
        **({"required": required} if required else {}),
        "properties": {field.encode_name: _schema(hints[field.name], known) for field in fields},
    }


def _limits(meta: msgspec.Meta) -> dict[str, Any]:
    """The keywords of limits; a sequence has its other ones in `extra_json_schema`."""
    extra = meta.extra_json_schema or {}
    least = "minItems" if "uniqueItems" in extra else "minLength"
    limits = {least: meta.min_length, "minimum": meta.ge, "maximum": meta.le}
    limits |= {"pattern": meta.pattern}
    return {name: limit for name, limit in limits.items() if limit is not None} | extra


def _layout(value: Any, indent: int = 0, used: int = 0) -> str:
    """A value as JSON: in one line where that is short enough, else a line for each part."""
    line = json.dumps(value)
    if not isinstance(value, dict | list) or (indent + used + len(line) < _WIDTH and indent):
        return line
    inner, outer = " " * (indent + 2), " " * indent
    if isinstance(value, list):
        items = [_layout(item, indent + 2) for item in value]
    else:
        keys = {key: json.dumps(key) + ": " for key in value}
        items = [keys[key] + _layout(value[key], indent + 2, len(keys[key])) for key in value]
    first, last = "[]" if isinstance(value, list) else "{}"
    return f"{first}\n" + ",\n".join(f"{inner}{item}" for item in items) + f"\n{outer}{last}"
