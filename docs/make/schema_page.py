"""The page docs/schemas.md: the members of every output, from its schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from docs.make.markdown import table
from docs.make.schemas import made
from hlteval.reports.lists import SCHEMAS, Schema

_PAGE = """\
# Schemas

<!-- Made from hlteval/reports/schemas/ by docs.make.schema_page; do not edit. -->

All JSON that `hlteval` prints has a [JSON Schema](https://json-schema.org) (draft 2020-12).
`hlteval schema` lists the schemas, and `hlteval schema NAME` prints one of them:

```console
$ hlteval schema scores > scores.schema.json
$ hlteval score seedev-full -r reference -s system --format json > scores.json
$ grep -o '"schema":"[a-z]*","version":[0-9]*' scores.json
"schema":"scores","version":1
```

Any validator of JSON Schema can check an output, for example
`check-jsonschema --schemafile scores.schema.json scores.json`.

## Versions

Each object begins with the name of its schema and a version:

```json
{"schema": "scores", "version": 1, "task": "…"}
```

- Every change of what an output can contain raises its version by one: a member that is added,
  removed or renamed, another type, another value of an enumeration. The [changes](../CHANGELOG.md)
  name it.
- New tasks, metrics, tables of scores, formats and codes raise no version, and neither do other
  words in a `message`, `help` or `notes`.
- Within a version, all members are always there, except for those marked *optional*, and there are
  no others. A value that is undefined or unknown is null.

A program should check `schema` and `version`, and stop at a version that it does not know. If
nothing was scored, `score`, `compare`, `leaderboard` and `agreement` print a `refusal` in place of
their own object.

## List

"""
_OTHERS = """
These outputs have no schema:

| output | form |
|---|---|
| `validate --format sarif` | SARIF 2.1.0, which has a schema of its own. |
| `validate --format junit` | JUnit XML, as CI servers read it. |
| `validate --format github` | Workflow commands of GitHub Actions. |
| `score --format tsv` | Metric, value, and the limits of its interval; no header. |
| `compare --format tsv` | Systems, an empty line, pairs; each with a header. |
| `leaderboard --format tsv` | Systems, an empty line, pairs by metric; each with a header. |
| `agreement --format tsv` | Measures, coefficients and differences, each with a header. |
| `manifest best --format tsv` | The members of `best`, with a header. |
| `jsonl` and Parquet of `convert` | The tables of [representation.md](representation.md). |

Editors that complete TOML by a schema can use `hlteval schema hlteval-toml` for files of defaults,
and `campaign-manifest` and `evaluation-manifest` for manifests.
"""
_SHARED: Mapping[str, str] = MappingProxyType(
    {"Finding": "finding", "Counts": "verdict", "SeverityCounts": "verdict", "Defaults": "verdict"}
)
"""What several outputs have, with the part of the page that describes it."""
_KINDS: Mapping[str, str] = MappingProxyType(
    {"string": "text", "integer": "integer", "number": "number", "boolean": "true or false"}
)


def page() -> str:
    """The page docs/schemas.md, in Markdown.

    Examples:
        >>> page().splitlines()[0]
        '# Schemas'
    """
    rows = [
        (f"[{each.name}](#{each.name})", str(each.version), f"`{'`, `'.join(each.of)}`")
        for each in SCHEMAS.values()
    ]
    parts = [_PAGE + table(("schema", "version", "of"), rows) + _OTHERS]
    return "\n".join([*parts, *map(_section, SCHEMAS.values())])


def _section(schema: Schema) -> str:
    """What the members of an output are."""
    whole = made(schema)
    link = f"[{schema.file}](../hlteval/reports/schemas/{schema.file})"
    definitions: dict[str, Any] = whole.get("$defs") or whole.get("definitions", {})
    root = definitions.pop(schema.grammar) if schema.grammar else whole
    described = whole["description"].partition(" It describes:")[0] if not schema.grammar else ""
    lines = [f"## {schema.name}\n", f"{described or root['description']} File: {link}.\n"]
    lines.append(_members(root, schema, definitions))
    for name, part in definitions.items():
        if "properties" in part and _SHARED.get(name, schema.name) == schema.name:
            lines += [f"**{name}**: {part['description']}\n", _members(part, schema, definitions)]
    return "\n".join(lines)


def _members(part: Mapping[str, Any], schema: Schema, definitions: Mapping[str, Any]) -> str:
    """A table of the members of an object."""
    required = set(part.get("required", ()))
    rows = []
    for name, own in part["properties"].items():
        optional = "" if name in required or schema.grammar else "*optional.* "
        needed = "*required.* " if name in required and schema.grammar else ""
        kind = _kind(own, schema, definitions)
        rows.append((f"`{name}`", kind, f"{optional}{needed}{own['description']}"))
    return table(("member", "type", "meaning"), rows)


def _kind(own: Mapping[str, Any], schema: Schema, definitions: Mapping[str, Any]) -> str:
    """What values a member has, in a few words."""
    return " or ".join(dict.fromkeys(_kinds(own, schema, definitions)))


def _kinds(own: Mapping[str, Any], schema: Schema, definitions: Mapping[str, Any]) -> Iterator[str]:
    if "$ref" in own:
        name = own["$ref"].rpartition("/")[2]
        part = definitions.get(name, {})
        if name in _SHARED and _SHARED[name] != schema.name:
            yield f"[{name}](#{_SHARED[name]})"
        elif "properties" in part:
            yield name
        else:
            yield from _kinds(part, schema, definitions)
    elif "const" in own:
        yield f"`{own['const']}`"
    elif "enum" in own:
        yield from (f"`{value}`" if value else "empty" for value in own["enum"])
    elif "anyOf" in own or "oneOf" in own:
        for each in own.get("anyOf") or own["oneOf"]:
            yield from _kinds(each, schema, definitions)
    else:
        yield _simple(own, schema, definitions)


def _simple(own: Mapping[str, Any], schema: Schema, definitions: Mapping[str, Any]) -> str:
    kind = own.get("type", "")
    if "prefixItems" in own:
        return f"list of {len(own['prefixItems'])} numbers"
    if kind == "array":
        return f"list of {_kind(own['items'], schema, definitions)}"
    if kind == "object" and isinstance(own.get("additionalProperties"), dict):
        inner = _kind(own["additionalProperties"], schema, definitions)
        return f"object: {inner} by name" if inner else "object"
    return _KINDS.get(kind, kind or "any value")
