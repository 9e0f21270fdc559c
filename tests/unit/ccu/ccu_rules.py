"""Small submissions and references of CCU as corpora, and what rules find in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from hlteval.representation import Corpus, align
from hlteval.tasks import load
from hlteval.validators.rule import Rule, RuleContext

Rows = Iterable[Mapping[str, Any]]
TEXT, AUDIO = "T1", "A1"
REFERENCE = Corpus(
    documents=[
        {"row": 0, "name": AUDIO, "modality": "audio", "length": 30.0},
        {"row": 1, "name": TEXT, "modality": "text", "length": 100.0},
    ]
)
"""A recording of 30 seconds and a text of 100 characters."""
KINDS = {"nd": "norm", "ed": "emotion", "vd": "valence", "ad": "arousal"}


def corpus(table: str, rows: Rows, names: Sequence[str] = (), **more: Any) -> Corpus:
    """A corpus of rows with `doc`, numbered from line 2 on."""
    rows = list(rows)
    found = [*names, *(row["doc"] for row in rows if row.get("doc"))]
    numbers = {name: row for row, name in enumerate(dict.fromkeys(found))}
    placed = []
    for number, row in enumerate(rows):
        own = {name: value for name, value in row.items() if name != "doc"}
        place = {"row": number, "document": numbers.get(row.get("doc", "")), "origin": 0}
        placed.append({**place, "record": number + 2, **own})
    documents = [
        {"row": row, "name": name, "processed": True, "origin": 0} for name, row in numbers.items()
    ]
    return Corpus(**{"documents": documents, table: placed}, **more)


def instance(doc: str, start: float, end: float, label: str = "001", **more: Any) -> dict[str, Any]:
    kind = more.pop("kind", "norm")
    row = {"doc": doc, "kind": kind, "label": label, "start": start, "end": end}
    return {**row, "status": "adhere", "llr": 0.5, **more}


def level(doc: str, start: float, end: float, value: float = 500.0, **more: Any) -> dict[str, Any]:
    return {"doc": doc, "kind": "valence", "level": value, "start": start, "end": end, **more}


def change(doc: str, at: float, **more: Any) -> dict[str, Any]:
    return {"doc": doc, "at": at, "llr": 0.5, **more}


def context(
    task: str,
    system: Corpus,
    reference: Corpus | None = REFERENCE,
    lists: Mapping[str, Corpus] | None = None,
    **options: str,
) -> RuleContext:
    """What the rules of a task check."""
    schema = load(f"ccu-{task}").allows(options)
    if reference is None:
        return RuleContext(system, system, schema, lists or {})
    against, own = align(reference, system)
    return RuleContext(own, against, schema, lists or {})


def found(looked_at: RuleContext, code: str) -> list[dict[str, Any]]:
    """The rows that the rule of a code returns."""
    (rule,) = (rule for rule in rules(looked_at) if rule.code == code)
    return rule.check(looked_at).collect().to_dicts()


def codes(looked_at: RuleContext) -> dict[str, int]:
    """How many rows each rule returns, if any."""
    counts = {rule.code: rule.check(looked_at).collect().height for rule in rules(looked_at)}
    return {code: count for code, count in sorted(counts.items()) if count}


def rules(looked_at: RuleContext) -> list[Rule]:
    """The rules that run."""
    every: tuple[Rule, ...] = load(f"ccu-{looked_at.schema.task}").rules()
    return [rule for rule in every if getattr(looked_at.system, rule.runs_on).height]


def places(rows: pl.DataFrame | list[dict[str, Any]]) -> list[tuple[int, str]]:
    """The records and fields of rows."""
    each = rows.to_dicts() if isinstance(rows, pl.DataFrame) else rows
    return [(row["record"], row["field"]) for row in each]
